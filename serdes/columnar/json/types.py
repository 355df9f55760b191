"""The columns of a JSON Schema: a tree of what is expected where, and the Arrow type of each part.

Must not know of payloads or frames. Whatever has no type of its own in Arrow is kept as JSON text, exactly as it was
written. The table is in docs/guide/columns.md. Source: JSON Schema draft 4 to 2020-12.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import pyarrow as pa
import referencing.exceptions

from serdes.errors import SerializationError
from serdes.formats.json.codec import JsonSchema, resolver_of
from serdes.kernels.json_columns import Expected

MAX_LEVELS: Final = 100
MAX_PARTS: Final = 10_000
MAX_DIGITS: Final = 76
FORMATS: Final = {
    "date": (Expected.DATE, pa.date32()),
    "date-time": (Expected.INSTANT, pa.timestamp("us", "UTC")),
    "date-time-local": (Expected.LOCAL_TIMESTAMP, pa.timestamp("us")),
    "time": (Expected.TIME, pa.time64("us")),
    "time-local": (Expected.LOCAL_TIME, pa.time64("us")),
    "uuid": (Expected.UUID, pa.string()),
}
NEW_DRAFTS: Final = re.compile("2019-09|2020-12")
UNNAMED: Final = "additionalProperties"
"""The column of the members that an object's schema does not name, if there is one."""
DECIMAL: Final = re.compile(r"decimal\((\d{1,2}), (\d{1,2})\)")


@dataclass(frozen=True, slots=True)
class Part:
    """One column.

    Attributes:
        expected: what stands there, or null.
        type: of the column.
        members: of an object, by name; of an array or a map its one kind of item, with an empty name.
        digits: of a decimal.
        scale: of a decimal.
        unwanted: of an object, the members that its schema names and that have no column here.
        rest: of an object, the map of the members that its schema does not name; its column is the last one.
    """

    expected: Expected
    type: pa.DataType
    members: tuple[tuple[str, Part], ...] = ()
    digits: int = 0
    scale: int = 0
    unwanted: tuple[str, ...] = ()
    rest: Part | None = None

    def inner(self) -> tuple[tuple[str, Part], ...]:
        """The parts that it has columns of, in their order."""
        return self.members if self.rest is None else (*self.members, (UNNAMED, self.rest))

    def every(self) -> Iterator[Part]:
        """This part and all in it, parents first."""
        yield self
        for _, part in self.inner():
            yield from part.every()


ANY: Final = Part(Expected.ANY, pa.string())
BOOLEAN: Final = Part(Expected.BOOLEAN, pa.bool_())
INTEGER: Final = Part(Expected.INTEGER, pa.int64())
UNSIGNED: Final = Part(Expected.UNSIGNED, pa.uint64())
NUMBER: Final = Part(Expected.NUMBER, pa.float64())
TEXT: Final = Part(Expected.TEXT, pa.string())
PLAIN: Final = {"boolean": BOOLEAN, "integer": INTEGER, "number": NUMBER}


def parts_of(schema: JsonSchema, columns: Sequence[str] | None = None, rest: bool = False) -> Part:
    """The columns of a schema.

    Args:
        schema: of objects with named properties.
        columns: dotted paths of those that are wanted; None for all.
        rest: whether members without a name in the schema have a column, `UNNAMED`, where the schema admits them.

    Raises:
        SerializationError: it is no schema of objects with properties, a reference leads nowhere, or a column is not
            in it; with `rest`, it names a member as that column is called.
    """
    root = _Types(_heeds_siblings(schema.document), rest).of(schema.document, resolver_of(schema), ())
    if root.expected is not Expected.OBJECT:
        raise SerializationError("columns need a schema of objects with properties")
    return root if columns is None else _narrowed(root, [path.split(".") for path in columns], columns)


def _narrowed(part: Part, paths: Sequence[list[str]], given: Sequence[str]) -> Part:
    """The part with those members alone that a path leads to; arrays and maps are passed through."""
    if part.expected in (Expected.ARRAY, Expected.MAP):
        inner = _narrowed(part.members[0][1], paths, given)
        return replace(part, members=(("", inner),), type=_around(part.expected, inner.type))
    wanted: dict[str, list[list[str]]] = {}
    for path in paths:
        wanted.setdefault(path[0], []).append(path[1:])
    known = dict(part.inner())
    for name in wanted:
        if name not in known:
            raise SerializationError(f"no column {name!r} is in the schema: columns={list(given)}")
    kept: dict[str, Part] = {}
    for name, member in known.items():
        if name in wanted:
            inside = wanted[name]
            kept[name] = member if [] in inside else _narrowed(member, inside, given)
    rest = None if part.rest is None else kept.pop(UNNAMED, None)
    made = _object_of(kept, rest)
    return replace(made, unwanted=tuple(name for name, _ in part.members if name not in wanted))


def _object_of(members: Mapping[str, Part], rest: Part | None) -> Part:
    """An object with these members, and perhaps a map of others.

    Raises:
        SerializationError: a member is called as the column of the others.
    """
    if rest is not None and UNNAMED in members:
        raise SerializationError(
            f"the JSON Schema names a member {UNNAMED!r}, as the column of members without a name would be called"
        )
    part = Part(Expected.OBJECT, pa.struct([]), tuple(members.items()), rest=rest)
    return replace(part, type=pa.struct([pa.field(name, inner.type) for name, inner in part.inner()]))


def _map_of(values: Part) -> Part:
    return Part(Expected.MAP, pa.map_(pa.string(), values.type), (("", values),))


def _around(expected: Expected, kind: pa.DataType) -> pa.DataType:
    return pa.list_(kind) if expected is Expected.ARRAY else pa.map_(pa.string(), kind)


def _heeds_siblings(document: Any) -> bool:
    """Whether what stands beside a `$ref` counts: since draft 2019-09; draft 7 is meant where none is named."""
    return isinstance(document, dict) and bool(NEW_DRAFTS.search(str(document.get("$schema"))))


class _Types:
    """Finds the columns of schemas.

    Args:
        siblings: whether what stands beside a `$ref` counts.
        rest: whether objects have a map of the members that they admit and do not name.
    """

    def __init__(self, siblings: bool, rest: bool) -> None:
        self._left = MAX_PARTS
        self._siblings = siblings
        self._has_rest = rest

    def of(self, schema: Any, resolver: Any, inside: tuple[int, ...]) -> Part:
        """The type of a schema's values; JSON text where there are several types, or the schema holds itself."""
        self._left -= 1
        if self._left < 0:
            raise SerializationError(f"the JSON Schema has more than {MAX_PARTS} parts")
        if not isinstance(schema, dict) or id(schema) in inside or len(inside) > MAX_LEVELS:
            return ANY
        inside = (*inside, id(schema))
        if isinstance(schema.get("$ref"), str):
            beside = {key: part for key, part in schema.items() if key not in ("$ref", "$defs")}
            found = _resolved(schema["$ref"], resolver)
            part = self.of(found.contents, found.resolver, inside)
            return self._together([part, self.of(beside, resolver, inside)]) if self._siblings and beside else part
        kinds = _kinds(schema)
        if kinds:
            return self._typed(kinds, schema, resolver, inside)
        if isinstance(schema.get("allOf"), list):
            return self._all_of(schema, resolver, inside)
        for rule in ("oneOf", "anyOf"):
            if isinstance(schema.get(rule), list):
                return self._one_of(schema[rule], resolver, inside)
        values = schema.get("enum", [schema["const"]] if "const" in schema else None)
        return ANY if not isinstance(values, list) else _values(values)

    def _typed(self, kinds: list[str], schema: dict[str, Any], resolver: Any, inside: tuple[int, ...]) -> Part:
        if set(kinds) == {"integer", "number"}:
            return NUMBER
        if len(kinds) != 1:
            return ANY
        if kinds[0] == "integer" and schema.get("arrowType") == "uint64":
            return UNSIGNED
        if kinds[0] in PLAIN:
            return PLAIN[kinds[0]]
        if kinds[0] == "string":
            return _text(schema)
        if kinds[0] == "array":
            return self._array(schema, resolver, inside)
        if isinstance(schema.get("allOf"), list):
            return self._all_of(schema, resolver, inside)
        return self._object(schema, resolver, inside)

    def _array(self, schema: dict[str, Any], resolver: Any, inside: tuple[int, ...]) -> Part:
        items = schema.get("items", True)
        if isinstance(items, list) or "prefixItems" in schema:
            return ANY
        part = self.of(items, resolver, inside)
        return Part(Expected.ARRAY, pa.list_(part.type), (("", part),))

    def _object(self, schema: dict[str, Any], resolver: Any, inside: tuple[int, ...]) -> Part:
        named = schema.get("properties")
        if isinstance(named, dict) and named:
            own = [(name, self.of(part, resolver, inside)) for name, part in named.items()]
            members = dict([*own, *self._of_alternatives(set(named), schema, resolver, inside)])
            return _object_of(members, self._rest(schema, resolver, inside))
        more = schema.get("additionalProperties")
        if not isinstance(more, dict) or not more or "patternProperties" in schema:
            return ANY
        return _map_of(self.of(more, resolver, inside))

    def _rest(self, schema: Any, resolver: Any, inside: tuple[int, ...]) -> Part | None:
        """The map of the members that an object's schema admits and does not name; None without."""
        if not self._has_rest:
            return None
        patterns = schema.get("patternProperties")
        admitted = [*patterns.values()] if isinstance(patterns, dict) else []
        admitted.append(schema.get("additionalProperties", schema.get("unevaluatedProperties", True)))
        parts = [self.of(one, resolver, inside) for one in admitted if one is not False]
        return _map_of(_alike(parts)) if parts else None

    def _of_alternatives(
        self, known: set[str], schema: Any, resolver: Any, inside: tuple[int, ...]
    ) -> list[tuple[str, Part]]:
        """The members of an object that only its alternatives name; JSON text where these differ."""
        members: dict[str, Part] = {}
        for branch in alternatives_of(schema) if isinstance(schema, dict) else ():
            part = self.of(branch, resolver, inside)
            for name, member in part.members if part.expected is Expected.OBJECT else ():
                if name not in known:
                    members[name] = member if members.get(name, member) == member else ANY
        question = schema.get("if") if isinstance(schema, dict) else None
        asked = self.of(question, resolver, inside) if question is not None else ANY
        for name, _ in asked.members if asked.expected is Expected.OBJECT else ():
            if name not in known:  # otherwise it may be anything
                members.setdefault(name, ANY)
        return list(members.items())

    def _all_of(self, schema: dict[str, Any], resolver: Any, inside: tuple[int, ...]) -> Part:
        """The one alternative, or the members of all objects together."""
        own = {key: part for key, part in schema.items() if key != "allOf"}
        parts = [self._one_of_all(one, resolver, inside) for one in schema["allOf"]]
        if _kinds(own):
            parts.insert(0, self._object(own, resolver, inside) if _kinds(own) == ["object"] else ANY)
        return self._together(parts)

    def _one_of_all(self, schema: Any, resolver: Any, inside: tuple[int, ...]) -> Part:
        """A schema of several that all hold; of alternatives alone, an object with the members of all of them."""
        part = self.of(schema, resolver, inside)
        while isinstance(schema, dict) and isinstance(schema.get("$ref"), str) and part is ANY:
            if id(schema) in inside or len(inside) > MAX_LEVELS:
                return ANY
            inside = (*inside, id(schema))
            found = _resolved(schema["$ref"], resolver)
            schema, resolver = found.contents, found.resolver
        members = self._of_alternatives(set(), schema, resolver, inside) if part is ANY else []
        return _object_of(dict(members), self._rest(schema, resolver, inside)) if members else part

    def _together(self, parts: list[Part]) -> Part:
        """The type of a value that is each of several parts."""
        parts = [part for part in parts if part is not ANY]
        if parts and all(part == parts[0] for part in parts):
            return parts[0]
        if not parts or any(part.expected is not Expected.OBJECT for part in parts):
            return ANY
        members: dict[str, Part] = {}
        for part in parts:
            for name, member in part.members:
                members[name] = member if members.get(name, member) == member else ANY
        rests = [part.rest for part in parts if part.rest is not None]  # the strictest one counts
        values = [rest.members[0][1] for rest in rests]
        return _object_of(members, _map_of(_alike(values)) if len(rests) == len(parts) else None)

    def _one_of(self, branches: list[Any], resolver: Any, inside: tuple[int, ...]) -> Part:
        """The one alternative beside null; one column for alternatives that have the same."""
        parts = [self.of(one, resolver, inside) for one in branches if not _is_null(one)]
        if parts and all(part == parts[0] for part in parts):
            return parts[0]
        return NUMBER if parts and all(part in (INTEGER, NUMBER) for part in parts) else ANY


def _alike(parts: Sequence[Part]) -> Part:
    """The type of values each of which is one of some parts."""
    return parts[0] if all(part == parts[0] for part in parts) else ANY


def alternatives_of(schema: dict[str, Any]) -> list[Any]:
    """The schemas of which some may hold, beside the schema they are in."""
    lists = [schema[rule] for rule in ("oneOf", "anyOf") if isinstance(schema.get(rule), list)]
    found = [one for branches in lists for one in branches]
    found += [schema[rule] for rule in ("then", "else") if rule in schema]
    for rule in ("dependentSchemas", "dependencies"):
        depending = schema.get(rule)
        found += depending.values() if isinstance(depending, dict) else ()
    return found


def _resolved(reference: str, resolver: Any) -> Any:
    try:
        return resolver.lookup(reference)
    except (referencing.exceptions.Unresolvable, ValueError) as error:
        raise SerializationError(f"the JSON Schema refers to {reference!r}, which does not exist") from error


def _kinds(schema: dict[str, Any]) -> list[str]:
    """The types that a schema names beside null, or that its keywords are about."""
    named = schema.get("type")
    if isinstance(named, str):
        return [named] if named != "null" else []
    if isinstance(named, list):
        return [name for name in named if name != "null"]
    if isinstance(schema.get("properties"), dict) or isinstance(schema.get("additionalProperties"), dict):
        return ["object"]
    return ["array"] if "items" in schema else []


def _is_null(schema: Any) -> bool:
    if not isinstance(schema, dict):
        return False
    return (
        schema.get("type") == "null" or schema.get("enum") == [None] or ("const" in schema and schema["const"] is None)
    )


def _values(values: list[Any]) -> Part:
    """The type of an enum's values, if they are alike."""
    found = {type(value) for value in values if value is not None}
    if found == {int}:
        return INTEGER
    if found == {str}:
        return TEXT
    if found == {bool}:
        return BOOLEAN
    return NUMBER if found and found <= {int, float} else ANY


def _text(schema: dict[str, Any]) -> Part:
    if schema.get("contentEncoding") == "base64":
        return Part(Expected.BASE64, pa.binary())
    named = schema.get("format")
    decimal = DECIMAL.fullmatch(str(schema.get("arrowType"))) if named == "decimal" else None
    if decimal is not None:
        digits, scale = int(decimal[1]), int(decimal[2])
        if 0 < digits <= MAX_DIGITS and scale <= digits:
            kind = pa.decimal128(digits, scale) if digits <= 38 else pa.decimal256(digits, scale)
            return Part(Expected.DECIMAL, kind, (), digits, scale)
    expected, kind = FORMATS.get(str(named), (Expected.TEXT, pa.string()))
    return Part(expected, kind)
