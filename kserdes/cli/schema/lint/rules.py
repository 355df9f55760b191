"""The table of lint rules, and what those of all formats share: complaints, and the forms of names.

Must not know any format. A rule has an id that never changes, one sentence, and is on or off by default.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from kserdes.cli.shell.settings import LintSettings
from kserdes.cli.shell.unusable import Unusable
from kserdes_base.config.table import did_you_mean


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule.

    Attributes:
        name: its id.
        text: its requirement.
        default: whether it is on unless it is disabled.
    """

    name: str
    text: str
    default: bool = True


@dataclass(frozen=True, slots=True)
class Complaint:
    """A place that breaks a rule.

    Attributes:
        rule: the rule's id.
        message: the fault.
        steps: where in a JSON document.
        offset: where in a text; used for .proto files.
    """

    rule: str
    message: str
    steps: tuple[str, ...] = ()
    offset: int | None = None


RULES = {
    rule.name: rule
    for rule in (
        Rule("avro-namespace", "a named top-level type has a namespace"),
        Rule("avro-type-name", "names of records, enums and fixed types are in PascalCase"),
        Rule("avro-field-name", "names of fields are in the configured case (snake_case by default)"),
        Rule("avro-enum-symbol", "symbols of enums are in UPPER_CASE"),
        Rule("avro-doc", "records and enums have a doc"),
        Rule("avro-field-doc", "fields have a doc", default=False),
        Rule("avro-optional-default", "a field that may be null has a default, so that it can be added and removed"),
        Rule("avro-enum-default", "an enum has a default, so that symbols can be added", default=False),
        Rule("json-dialect", "the schema names its dialect in $schema"),
        Rule("json-id", "the schema has an $id", default=False),
        Rule("json-title", "the schema has a title"),
        Rule("json-description", "the schema has a description"),
        Rule("json-property-name", "names of properties are in the configured case (snake_case by default)"),
        Rule("json-property-description", "properties have a description", default=False),
        Rule("json-required", "required properties are described in properties"),
        Rule("json-open", "additionalProperties is set, so that open objects are deliberate", default=False),
        Rule(
            "repeated-key", "no object of Avro or JSON Schema repeats a key: the last one counts, the others are lost"
        ),
        Rule("proto-valid", "protoc takes the file: types, imports and custom options are there and spelled right"),
        Rule("proto-syntax", "the file declares its syntax or edition"),
        Rule("proto-package", "the file has a package"),
        Rule("proto-message-name", "names of messages, enums and services are in PascalCase"),
        Rule("proto-field-name", "names of fields are in lower_snake_case"),
        Rule("proto-enum-value", "enum values are in UPPER_CASE and start with the enum's name"),
        Rule("proto-enum-zero", "an enum's value 0 ends in _UNSPECIFIED"),
        Rule("proto-doc", "messages, enums and services have a comment"),
        Rule("proto-field-doc", "fields have a comment", default=False),
    )
}

SNAKE = re.compile(r"_?[a-z][a-z0-9]*(?:_[a-z0-9]+)*\Z")
CAMEL = re.compile(r"_?[a-z][a-zA-Z0-9]*\Z")
PASCAL = re.compile(r"[A-Z][a-zA-Z0-9]*\Z")
UPPER = re.compile(r"[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)*\Z")
WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+|[A-Z]")


def enabled(settings: LintSettings, disable: Iterable[str] = (), enable: Iterable[str] = ()) -> frozenset[str]:
    """The ids of the rules that are on.

    Args:
        settings: of the configuration.
        disable: off, over the configuration; `all` for all of them.
        enable: on, over everything else.

    Raises:
        Unusable: there is no rule of an id.
    """
    found = {name for name, rule in RULES.items() if rule.default}
    found |= _known(settings.enable)
    found -= _known(settings.disable)
    found -= _known(disable)
    return frozenset(found | _known(enable))


def _known(names: Iterable[str]) -> set[str]:
    found: set[str] = set()
    for name in names:
        if name == "all":
            found |= RULES.keys()
        elif name in RULES:
            found.add(name)
        else:
            hint = did_you_mean(name, RULES, "see kserdes schema lint --list-rules")
            raise Unusable(f"there is no lint rule {name!r}{hint}", kind="CONFIGURATION")
    return found


def snake(name: str) -> bool:
    """Whether a name is in snake_case."""
    return SNAKE.match(name) is not None


def camel(name: str) -> bool:
    """Whether a name is in camelCase."""
    return CAMEL.match(name) is not None


def pascal(name: str) -> bool:
    """Whether a name is in PascalCase."""
    return PASCAL.match(name) is not None


def upper(name: str) -> bool:
    """Whether a name is in UPPER_CASE."""
    return UPPER.match(name) is not None


def right_case(name: str, case: str) -> bool:
    """Whether a field's name is in the configured case."""
    return case == "any" or (snake if case == "snake" else camel)(name)


def field_case_text(case: str) -> str:
    """The name of a case for people."""
    return "snake_case" if case == "snake" else "camelCase"


def words(name: str) -> list[str]:
    """The words of a name in any case."""
    return WORDS.findall(name)
