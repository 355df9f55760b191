"""The kinds of incompatibilities between JSON Schemas, which of them each policy allows, and their messages.

Must not know of nodes. Source: `Difference.Type` and the two sets of allowed changes in Confluent's `SchemaDiff`; kinds
that are always allowed (`MAX_LENGTH_INCREASED`, …) have no name here, `docs/compatibility-json.md` lists them.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping
from typing import Final

from registry.compat.difference import Roles


class JsonKind(enum.StrEnum):
    """Differences that keep the reader's schema from accepting the writer's data; names are Confluent's registry's."""

    TYPE_CHANGED = "TYPE_CHANGED"
    TYPE_NARROWED = "TYPE_NARROWED"
    SCHEMA_ADDED = "SCHEMA_ADDED"

    MAX_LENGTH_ADDED = "MAX_LENGTH_ADDED"
    MAX_LENGTH_DECREASED = "MAX_LENGTH_DECREASED"
    MIN_LENGTH_ADDED = "MIN_LENGTH_ADDED"
    MIN_LENGTH_INCREASED = "MIN_LENGTH_INCREASED"
    PATTERN_ADDED = "PATTERN_ADDED"
    PATTERN_CHANGED = "PATTERN_CHANGED"

    MAXIMUM_ADDED = "MAXIMUM_ADDED"
    MAXIMUM_DECREASED = "MAXIMUM_DECREASED"
    MINIMUM_ADDED = "MINIMUM_ADDED"
    MINIMUM_INCREASED = "MINIMUM_INCREASED"
    EXCLUSIVE_MAXIMUM_ADDED = "EXCLUSIVE_MAXIMUM_ADDED"
    EXCLUSIVE_MAXIMUM_DECREASED = "EXCLUSIVE_MAXIMUM_DECREASED"
    EXCLUSIVE_MINIMUM_ADDED = "EXCLUSIVE_MINIMUM_ADDED"
    EXCLUSIVE_MINIMUM_INCREASED = "EXCLUSIVE_MINIMUM_INCREASED"
    MULTIPLE_OF_ADDED = "MULTIPLE_OF_ADDED"
    MULTIPLE_OF_EXPANDED = "MULTIPLE_OF_EXPANDED"
    MULTIPLE_OF_CHANGED = "MULTIPLE_OF_CHANGED"

    REQUIRED_ATTRIBUTE_ADDED = "REQUIRED_ATTRIBUTE_ADDED"
    MAX_PROPERTIES_ADDED = "MAX_PROPERTIES_ADDED"
    MAX_PROPERTIES_DECREASED = "MAX_PROPERTIES_DECREASED"
    MIN_PROPERTIES_ADDED = "MIN_PROPERTIES_ADDED"
    MIN_PROPERTIES_INCREASED = "MIN_PROPERTIES_INCREASED"
    ADDITIONAL_PROPERTIES_REMOVED = "ADDITIONAL_PROPERTIES_REMOVED"
    ADDITIONAL_PROPERTIES_NARROWED = "ADDITIONAL_PROPERTIES_NARROWED"
    UNEVALUATED_PROPERTIES_REMOVED = "UNEVALUATED_PROPERTIES_REMOVED"
    UNEVALUATED_PROPERTIES_NARROWED = "UNEVALUATED_PROPERTIES_NARROWED"
    DEPENDENCY_ARRAY_ADDED = "DEPENDENCY_ARRAY_ADDED"
    DEPENDENCY_ARRAY_EXTENDED = "DEPENDENCY_ARRAY_EXTENDED"
    DEPENDENCY_ARRAY_CHANGED = "DEPENDENCY_ARRAY_CHANGED"
    DEPENDENCY_SCHEMA_ADDED = "DEPENDENCY_SCHEMA_ADDED"
    REQUIRED_PROPERTY_ADDED_TO_OPEN_CONTENT_MODEL = "REQUIRED_PROPERTY_ADDED_TO_OPEN_CONTENT_MODEL"
    REQUIRED_PROPERTY_WITH_DEFAULT_ADDED_TO_OPEN_CONTENT_MODEL = (
        "REQUIRED_PROPERTY_WITH_DEFAULT_ADDED_TO_OPEN_CONTENT_MODEL"
    )
    OPTIONAL_PROPERTY_ADDED_TO_OPEN_CONTENT_MODEL = "OPTIONAL_PROPERTY_ADDED_TO_OPEN_CONTENT_MODEL"
    REQUIRED_PROPERTY_ADDED_TO_UNOPEN_CONTENT_MODEL = "REQUIRED_PROPERTY_ADDED_TO_UNOPEN_CONTENT_MODEL"
    PROPERTY_REMOVED_FROM_CLOSED_CONTENT_MODEL = "PROPERTY_REMOVED_FROM_CLOSED_CONTENT_MODEL"
    PROPERTY_REMOVED_NOT_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL = (
        "PROPERTY_REMOVED_NOT_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL"
    )
    PROPERTY_ADDED_NOT_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL = (
        "PROPERTY_ADDED_NOT_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL"
    )

    MAX_ITEMS_ADDED = "MAX_ITEMS_ADDED"
    MAX_ITEMS_DECREASED = "MAX_ITEMS_DECREASED"
    MIN_ITEMS_ADDED = "MIN_ITEMS_ADDED"
    MIN_ITEMS_INCREASED = "MIN_ITEMS_INCREASED"
    MAX_CONTAINS_ADDED = "MAX_CONTAINS_ADDED"
    MAX_CONTAINS_DECREASED = "MAX_CONTAINS_DECREASED"
    MIN_CONTAINS_ADDED = "MIN_CONTAINS_ADDED"
    MIN_CONTAINS_INCREASED = "MIN_CONTAINS_INCREASED"
    UNIQUE_ITEMS_ADDED = "UNIQUE_ITEMS_ADDED"
    ADDITIONAL_ITEMS_REMOVED = "ADDITIONAL_ITEMS_REMOVED"
    ADDITIONAL_ITEMS_NARROWED = "ADDITIONAL_ITEMS_NARROWED"
    UNEVALUATED_ITEMS_REMOVED = "UNEVALUATED_ITEMS_REMOVED"
    UNEVALUATED_ITEMS_NARROWED = "UNEVALUATED_ITEMS_NARROWED"
    ITEM_ADDED_TO_OPEN_CONTENT_MODEL = "ITEM_ADDED_TO_OPEN_CONTENT_MODEL"
    ITEM_REMOVED_FROM_CLOSED_CONTENT_MODEL = "ITEM_REMOVED_FROM_CLOSED_CONTENT_MODEL"
    ITEM_REMOVED_NOT_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL = (
        "ITEM_REMOVED_NOT_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL"
    )
    ITEM_ADDED_NOT_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL = "ITEM_ADDED_NOT_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL"

    ENUM_ARRAY_NARROWED = "ENUM_ARRAY_NARROWED"
    ENUM_ARRAY_CHANGED = "ENUM_ARRAY_CHANGED"

    COMBINED_TYPE_CHANGED = "COMBINED_TYPE_CHANGED"
    PRODUCT_TYPE_EXTENDED = "PRODUCT_TYPE_EXTENDED"
    SUM_TYPE_NARROWED = "SUM_TYPE_NARROWED"
    COMBINED_TYPE_SUBSCHEMAS_CHANGED = "COMBINED_TYPE_SUBSCHEMAS_CHANGED"
    NOT_TYPE_EXTENDED = "NOT_TYPE_EXTENDED"


LENIENT: Final = frozenset(
    {
        JsonKind.ADDITIONAL_PROPERTIES_NARROWED,
        JsonKind.ADDITIONAL_PROPERTIES_REMOVED,
        JsonKind.UNEVALUATED_PROPERTIES_NARROWED,
        JsonKind.UNEVALUATED_PROPERTIES_REMOVED,
        JsonKind.REQUIRED_PROPERTY_WITH_DEFAULT_ADDED_TO_OPEN_CONTENT_MODEL,
        JsonKind.OPTIONAL_PROPERTY_ADDED_TO_OPEN_CONTENT_MODEL,
        JsonKind.PROPERTY_REMOVED_FROM_CLOSED_CONTENT_MODEL,
        JsonKind.PROPERTY_ADDED_NOT_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL,
        JsonKind.PROPERTY_REMOVED_NOT_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL,
    }
)
"""Kinds the policy LENIENT allows on top of what STRICT does."""

# The difference; the remedy if the reader's schema is the new one; the remedy if the writer's is.
# {old} and {new} are the values of the writer's and the reader's schema, {writer} is how the writer's schema is called.
Words = tuple[str, str, str]

ADDED: Final[Words] = (
    "{word} {new} is asked for, in {writer} there is no {word}",
    "leave {word} out",
    "say {word} {new} too, or a stricter one, before the data is written so",
)
SMALLER: Final[Words] = (
    "{word} is {new}, in {writer} it is {old}",
    "keep {word} {old} or raise it",
    "lower {word} to {new}",
)
LARGER: Final[Words] = (
    "{word} is {new}, in {writer} it is {old}",
    "keep {word} {old} or lower it",
    "raise {word} to {new}",
)
CLOSED: Final[Words] = (
    "{word} closes the {thing}, in {writer} it is open to more",
    "leave the {thing} open, or let {word} describe what may come",
    "close it too",
)
NARROWED: Final[Words] = (
    "{word} asks for a schema, in {writer} anything may come",
    "leave {word} out",
    "say the same of {word}",
)
NOT_COVERED: Final[Words] = (
    "{name} is described on one side only, and what the other says of unnamed {thing} does not fit it",
    "describe {name} so that all that was allowed for it is accepted",
    "describe {name} so that it fits the reader's schema",
)

BOUNDS: Final = {
    "MAX_LENGTH": "maxLength",
    "MIN_LENGTH": "minLength",
    "MAXIMUM": "maximum",
    "MINIMUM": "minimum",
    "EXCLUSIVE_MAXIMUM": "exclusiveMaximum",
    "EXCLUSIVE_MINIMUM": "exclusiveMinimum",
    "MAX_PROPERTIES": "maxProperties",
    "MIN_PROPERTIES": "minProperties",
    "MAX_ITEMS": "maxItems",
    "MIN_ITEMS": "minItems",
    "MAX_CONTAINS": "maxContains",
    "MIN_CONTAINS": "minContains",
}


def _bounds() -> dict[JsonKind, Words]:
    found: dict[JsonKind, Words] = {}
    for name, keyword in BOUNDS.items():
        change, words = ("DECREASED", SMALLER) if "MAX" in name else ("INCREASED", LARGER)
        for ending, said in (("ADDED", ADDED), (change, words)):
            found[JsonKind(f"{name}_{ending}")] = _with(said, word=keyword)
    return found


def _with(words: Words, **values: str) -> Words:
    what, reader, writer = words
    for name, value in values.items():
        what, reader, writer = (text.replace(f"{{{name}}}", value) for text in (what, reader, writer))
    return what, reader, writer


WORDS: Final[Mapping[JsonKind, Words]] = {
    **_bounds(),
    JsonKind.TYPE_CHANGED: (
        "it is {new}, in {writer} it is {old}",
        "keep {old}, or allow both with anyOf",
        "keep {new}, or use another property for {old}",
    ),
    JsonKind.TYPE_NARROWED: ("only integers are accepted, {writer} has any number", "keep number", "use integer there"),
    JsonKind.SCHEMA_ADDED: (
        "there is a schema for all items, {writer} has none",
        "leave it out, or use the empty schema",
        "describe the items there too",
    ),
    JsonKind.PATTERN_ADDED: _with(ADDED, word="pattern"),
    JsonKind.PATTERN_CHANGED: (
        "the pattern is {new}, in {writer} it is {old}; whether one accepts what the other does is not looked into",
        "keep the pattern {old}, or leave it out",
        "keep the pattern {new}",
    ),
    JsonKind.MULTIPLE_OF_ADDED: _with(ADDED, word="multipleOf"),
    JsonKind.MULTIPLE_OF_EXPANDED: (
        "numbers are multiples of {new}, in {writer} of {old}",
        "keep multipleOf {old}, or a number that divides it",
        "use multipleOf {new} there",
    ),
    JsonKind.MULTIPLE_OF_CHANGED: (
        "numbers are multiples of {new}, in {writer} of {old}, and neither divides the other",
        "keep multipleOf {old}, or a number that divides it",
        "use multipleOf {new} there",
    ),
    JsonKind.REQUIRED_ATTRIBUTE_ADDED: (
        "property {name} is required, in {writer} it may be missing",
        "leave it optional, or give it a default",
        "require it there too",
    ),
    JsonKind.ADDITIONAL_PROPERTIES_REMOVED: _with(CLOSED, word="additionalProperties", thing="object"),
    JsonKind.ADDITIONAL_PROPERTIES_NARROWED: _with(NARROWED, word="additionalProperties"),
    JsonKind.UNEVALUATED_PROPERTIES_REMOVED: _with(CLOSED, word="unevaluatedProperties", thing="object"),
    JsonKind.UNEVALUATED_PROPERTIES_NARROWED: _with(NARROWED, word="unevaluatedProperties"),
    JsonKind.DEPENDENCY_ARRAY_ADDED: (
        "with {name} other properties are required ({new}), in {writer} they are not",
        "leave the dependency out",
        "require them there too",
    ),
    JsonKind.DEPENDENCY_ARRAY_EXTENDED: (
        "with {name} more properties are required ({new}) than in {writer} ({old})",
        "keep the dependency as it was",
        "require them there too",
    ),
    JsonKind.DEPENDENCY_ARRAY_CHANGED: (
        "with {name} other properties are required ({new}) than in {writer} ({old})",
        "keep the dependency, or drop names from it",
        "require these there too",
    ),
    JsonKind.DEPENDENCY_SCHEMA_ADDED: (
        "with {name} the object has to meet a schema, in {writer} it has not",
        "leave the dependency out",
        "add the dependency there too",
    ),
    JsonKind.REQUIRED_PROPERTY_ADDED_TO_OPEN_CONTENT_MODEL: (
        "property {name} is described and required; {writer} does not know it, allows any value under this name, "
        "and may leave it out",
        "leave it undescribed; in a closed object (additionalProperties false from the first version on) an optional "
        "property could be added",
        "keep property {name} with its schema",
    ),
    JsonKind.REQUIRED_PROPERTY_WITH_DEFAULT_ADDED_TO_OPEN_CONTENT_MODEL: (
        "property {name} is described; {writer} does not know it and allows any value under this name",
        "leave it undescribed, use the policy LENIENT, or close objects (additionalProperties false) from the first "
        "version on",
        "keep property {name} with its schema",
    ),
    JsonKind.OPTIONAL_PROPERTY_ADDED_TO_OPEN_CONTENT_MODEL: (
        "property {name} is described; {writer} does not know it and allows any value under this name",
        "give it the empty schema, use the policy LENIENT, or close objects (additionalProperties false) from the "
        "first version on",
        "keep property {name} with its schema",
    ),
    JsonKind.REQUIRED_PROPERTY_ADDED_TO_UNOPEN_CONTENT_MODEL: (
        "property {name} is new and required; data of {writer} does not have it",
        "make it optional, or give it a default",
        "keep property {name}, and required",
    ),
    JsonKind.PROPERTY_REMOVED_FROM_CLOSED_CONTENT_MODEL: (
        "property {name} is gone and the object takes no others; {writer} has it",
        "keep it, or let additionalProperties allow it",
        "leave the property out",
    ),
    JsonKind.PROPERTY_REMOVED_NOT_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL: _with(NOT_COVERED, thing="properties"),
    JsonKind.PROPERTY_ADDED_NOT_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL: _with(NOT_COVERED, thing="properties"),
    JsonKind.UNIQUE_ITEMS_ADDED: (
        "items have to be unique, in {writer} they may repeat",
        "leave uniqueItems out",
        "say uniqueItems there too",
    ),
    JsonKind.ADDITIONAL_ITEMS_REMOVED: _with(CLOSED, word="additionalItems", thing="array"),
    JsonKind.ADDITIONAL_ITEMS_NARROWED: _with(NARROWED, word="additionalItems"),
    JsonKind.UNEVALUATED_ITEMS_REMOVED: _with(CLOSED, word="unevaluatedItems", thing="array"),
    JsonKind.UNEVALUATED_ITEMS_NARROWED: _with(NARROWED, word="unevaluatedItems"),
    JsonKind.ITEM_ADDED_TO_OPEN_CONTENT_MODEL: (
        "item {name} is described; {writer} does not, and allows anything there",
        "give it the empty schema, or leave it out",
        "describe the item there too",
    ),
    JsonKind.ITEM_REMOVED_FROM_CLOSED_CONTENT_MODEL: (
        "item {name} is gone and the array takes no more; {writer} has it",
        "keep it, or let additional items allow it",
        "leave the item out",
    ),
    JsonKind.ITEM_REMOVED_NOT_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL: _with(NOT_COVERED, thing="items"),
    JsonKind.ITEM_ADDED_NOT_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL: _with(NOT_COVERED, thing="items"),
    JsonKind.ENUM_ARRAY_NARROWED: (
        "the values {old} of {writer} are no longer accepted",
        "keep them",
        "leave them out there",
    ),
    JsonKind.ENUM_ARRAY_CHANGED: (
        "the accepted values are others: {writer} also has {old}",
        "keep the values that were accepted, and add to them",
        "keep to the values the reader's schema accepts",
    ),
    JsonKind.COMBINED_TYPE_CHANGED: (
        "it is {new}, in {writer} it is {old}",
        "keep {old}, or use anyOf",
        "keep {new}",
    ),
    JsonKind.PRODUCT_TYPE_EXTENDED: (
        "allOf has {new} branches, in {writer} {old}",
        "add no branches to allOf",
        "add the branches there too",
    ),
    JsonKind.SUM_TYPE_NARROWED: (
        "{new} branches are left, {writer} has {old}",
        "keep all branches",
        "leave the branches out there too",
    ),
    JsonKind.COMBINED_TYPE_SUBSCHEMAS_CHANGED: (
        "branch {name} can't be paired with a branch of the other schema that fits: each branch of {writer} needs "
        "one of its own that accepts its data",
        "keep the branches as they were, and add new ones",
        "keep to branches the reader's schema has",
    ),
    JsonKind.NOT_TYPE_EXTENDED: (
        "what must not hold rules out more than in {writer}",
        "let not rule out the same or less",
        "let not rule out the same or more there",
    ),
}


def sentence(kind: JsonKind, where: str, roles: Roles, details: Mapping[str, str]) -> str:
    """The message of a difference.

    Args:
        kind: its kind.
        where: its path.
        roles: how the two schemas are called.
        details: `name`, `old` and `new`, as far as the kind has them.
    """
    values = {"name": "it", "old": "another", "new": "another", "writer": roles.writer, **details}
    what, reader_helps, writer_helps = (_filled(text, values) for text in WORDS[kind])
    return roles.sentence(where, what, reader_helps, writer_helps)


def _filled(text: str, values: Mapping[str, str]) -> str:
    """The text with its names replaced; what stands in braces inside a value stays."""
    first, *rest = text.split("{")
    pieces = [first]
    for part in rest:
        name, _, after = part.partition("}")
        pieces += [values[name], after]
    return "".join(pieces)
