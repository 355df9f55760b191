"""Plans that write JSON from Arrow columns: made once per (Arrow type, JSON Schema).

Must not know of frames or registries. The kernel `serdes.kernels.native.json_frames` runs a plan over a batch. While a
plan is made it is looked whether all it can write is valid: the schema's types, members, items and symbols are compared
with the columns', and a null that is not allowed makes its row a fault. A schema with any other rule needs a look at
every document afterwards. Sources: JSON Schema draft-04 to 2020-12.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Final

import orjson
import pyarrow as pa

from serdes.columnar.arrays import OCTETS, REAL, TEXT, WHOLE, Column, columns_of, is_list, list_source
from serdes.formats.json.codec import JsonSchema, resolver_of
from serdes.kernels.arrays import Source
from serdes.kernels.json_frames import Null, Op

AS_JSON: Final = "as JSON"
"""Instead of members that are left out: a text that is written as the JSON it is."""


@dataclass(frozen=True, slots=True)
class Unnamed:
    """Of a struct's map, instead of whether null leaves it out: its entries are members of the object itself.

    Attributes:
        names: the names that they must not have, for others have them.
    """

    names: frozenset[str]


SIGNED: Final = "with a sign"
"""The same of whole numbers without a sign that are read back as 64 bits with one: larger ones are errors."""
UNITS: Final = {"s": 0, "ms": 3, "us": 6, "ns": 9}
DAY_MILLIS: Final = 86_400_000
HARMLESS: Final = frozenset(
    (
        *("title", "description", "default", "examples", "$schema", "$comment", "definitions", "$defs", "deprecated"),
        *("readOnly", "writeOnly", "arrowType", "arrowDuration"),
    )
)
"""Keywords that judge nothing."""
KINDS: Final = {
    Op.BOOLEAN: "boolean", Op.WHOLE: "integer", Op.REAL: "number", Op.LIST: "array", Op.OBJECT: "object",
    Op.MAP: "object",
}  # fmt: skip
"""The JSON types of what steps write; all others write strings."""
KNOWN: Final = {
    "boolean": (),
    "integer": (),
    "number": (),
    "string": ("enum", "format", "contentEncoding"),
    "array": ("items",),
    "object": ("properties", "required", "additionalProperties"),
}
FORMATS: Final = {Op.DATE: "date", Op.UUID: "uuid", Op.DECIMAL: "decimal", Op.TIME: "time-local"}


@dataclass(frozen=True, slots=True)
class Step:
    """The step that writes one column.

    Attributes:
        op: the form written.
        source: how Arrow holds it.
        column: the column's number.
        null: what becomes of a null.
        width: bytes of a value in Arrow, or items of a fixed-size list.
        units: of a point in time in a second, of a date in a day.
        digits: of a second's fraction; of a decimal's; binary ones, if not 0, of a whole number without a sign.
        zone: whether a point in time ends in Z.
        kids: numbers of the steps of its parts, all higher than its own.
        data: members' names as JSON, each with its colon; the symbols that a text must be one of; the names that
            members without a name in the schema must not have.
    """

    op: Op
    source: Source = Source.I8
    column: int = 0
    null: Null = Null.WRITTEN
    width: int = 0
    units: int = 1
    digits: int = 0
    zone: bool = False
    kids: tuple[int, ...] = ()
    data: tuple[bytes, ...] = ()

    def table(self) -> tuple[Any, ...]:
        """The row of the kernel's table."""
        return (
            int(self.op), int(self.source), self.column, int(self.null), self.width, self.units, self.digits, self.zone,
            self.kids, self.data,
        )  # fmt: skip


@dataclass(frozen=True, slots=True)
class Plan:
    """The plan to write rows of an Arrow type.

    Attributes:
        steps: parents first.
        columns: the arrays of the type.
        proved: whether all it writes is valid; if not, documents have to be judged.
    """

    steps: tuple[Step, ...]
    columns: tuple[Column, ...]
    proved: bool


def plan_of(kind: pa.DataType, schema: JsonSchema, left_out: Any) -> Plan | None:
    """The plan of a struct type; None if the kernel doesn't know one of its types.

    Args:
        kind: a type that `json_schema_of` has a schema for.
        schema: what the documents have to be.
        left_out: of members, whether null leaves them out, and what is so inside of them.
    """
    columns = columns_of(kind)
    compiler = _Compiler()
    try:
        compiler.step(columns[0], schema.document, resolver_of(schema), left_out, False)
    except _UnknownTypeError:
        return None
    return Plan(tuple(compiler.steps), columns, compiler.proved)


class _UnknownTypeError(Exception):
    """The kernel doesn't write this type."""


@dataclass(frozen=True, slots=True)
class _Rules:
    """A schema's requirements: keyword → operand, without those that judge nothing; whether null is valid too."""

    given: dict[str, Any]
    resolver: Any
    nullable: bool


class _Compiler:
    def __init__(self) -> None:
        self.steps: list[Step] = []
        self.proved = True

    def step(
        self, column: Column, schema: Any, resolver: Any, left_out: Any, missing: bool, needed: bool = False
    ) -> int:
        """Adds the step of a column and those of its parts; gives its number.

        Args:
            column: what is written.
            schema: what it has to be.
            resolver: of its references.
            left_out: see `plan_of`.
            missing: whether null leaves it out.
            needed: whether it must not be left out then.
        """
        number = len(self.steps)
        self.steps.append(Step(Op.NULL))
        if pa.types.is_dictionary(column.type):
            kid = self.step(column.kids[0], schema, resolver, left_out, missing, needed)
            null = self.steps[kid].null
            self.steps[number] = Step(Op.DICTIONARY, WHOLE[column.type.index_type], column.number, null, kids=(kid,))
            return number
        rules = self._rules(schema, resolver)
        if missing:
            null = Null.LEFT_TO_OBJECTS if needed else Null.LEFT_OUT
        else:
            null = Null.WRITTEN if rules.nullable else Null.LEFT_TO_OBJECTS
        self.steps[number] = self._made(column, rules, left_out, null)
        return number

    def _made(self, column: Column, rules: _Rules, left_out: Any, null: Null) -> Step:
        kind, types = column.type, pa.types
        if types.is_null(kind):
            if not rules.given.keys() <= {"type", "enum"}:
                self.proved = False
            return Step(Op.NULL, column=column.number, null=null)
        if types.is_struct(kind):
            return self._object(column, rules, left_out, null)
        if types.is_map(kind):
            return self._map(column, rules, left_out, null)
        if is_list(kind):
            self._judge(Op.LIST, rules)
            source, width = list_source(kind)
            items = rules.given.get("items", True)
            kid = self.step(column.kids[0], items, rules.resolver, left_out, False)
            return Step(Op.LIST, source, column.number, null, width, kids=(kid,))
        if left_out is AS_JSON:
            raise _UnknownTypeError
        made = _leaf(column, null)
        if left_out is SIGNED:
            made = replace(made, digits=63)
        return self._checked(made, kind, rules)

    def _object(self, column: Column, rules: _Rules, left_out: Any, null: Null) -> Step:
        self._judge(Op.OBJECT, rules)
        named, more = rules.given.get("properties", {}), rules.given.get("additionalProperties", True)
        needed = set(rules.given.get("required", ()))
        kids: dict[str, int] = {}
        rest = []
        for at, kid in enumerate(column.kids):
            name = column.type.field(at).name
            missing, inside = (left_out or {}).get(name, (False, None))
            if isinstance(missing, Unnamed):
                rest.append(self._unnamed(kid, more, rules.resolver, inside, missing))
            else:
                kids[name] = self.step(kid, named.get(name, more), rules.resolver, inside, missing, name in needed)
        if not needed <= kids.keys():
            self.proved = False
        data = tuple(orjson.dumps(name) + b":" for name in kids)
        return Step(Op.OBJECT, column=column.number, null=null, kids=(*kids.values(), *rest), data=data)

    def _unnamed(self, column: Column, more: Any, resolver: Any, left_out: Any, unnamed: Unnamed) -> int:
        """Adds the steps of a map whose entries are members of the object that it is in; gives the map's number."""
        number = self.step(column, {"type": "object", "additionalProperties": more}, resolver, left_out, True)
        names = tuple(name.encode() for name in unnamed.names)
        self.steps[number] = replace(self.steps[number], op=Op.UNNAMED, data=names)
        return number

    def _map(self, column: Column, rules: _Rules, left_out: Any, null: Null) -> Step:
        """An object, or a list of objects of key and value."""
        entries = column.kids[0]
        if column.type.key_type not in TEXT:
            self._judge(Op.LIST, rules)
            inside = {"value": (False, left_out)}
            kid = self.step(entries, rules.given.get("items", True), rules.resolver, inside, False)
            return Step(Op.LIST, Source.OFFSETS_32, column.number, null, kids=(kid,))
        self._judge(Op.MAP, rules)
        if rules.given.get("properties") or rules.given.get("required"):
            self.proved = False
        more = rules.given.get("additionalProperties", True)
        key = self.step(entries.kids[0], True, rules.resolver, None, False)
        value = self.step(entries.kids[1], more, rules.resolver, left_out, False)
        return Step(Op.MAP, Source.OFFSETS_32, column.number, null, kids=(key, value))

    def _checked(self, made: Step, kind: pa.DataType, rules: _Rules) -> Step:
        """A step without parts, with the symbols of its schema."""
        self._judge(made.op, rules)
        given = rules.given
        wanted = FORMATS.get(made.op)
        if made.op is Op.MOMENT:
            wanted = "date-time" if made.zone else "date-time-local"
        if given.get("format", wanted) != wanted:
            self.proved = False
        if given.get("contentEncoding", "base64") != "base64" or ("contentEncoding" in given and made.op != Op.BASE64):
            self.proved = False
        if "enum" not in given:
            return made
        symbols = [one for one in given["enum"] if isinstance(one, str)]
        if made.op is not Op.TEXT or not symbols:
            self.proved = False
            return made
        try:
            data = tuple(dict.fromkeys(one.encode() for one in symbols))
        except UnicodeEncodeError:
            self.proved = False
            return made
        return Step(Op.TEXT, made.source, made.column, made.null, data=data)

    def _judge(self, op: Op, rules: _Rules) -> None:
        """Compares what a step writes with the types and the other keywords of a schema."""
        kind = KINDS.get(op, "string")
        named = rules.given.get("type", kind)
        listed = named if isinstance(named, list) else [named]
        if kind not in listed and not (kind == "integer" and "number" in listed):
            self.proved = False
        if not {*rules.given} <= {"type", *KNOWN[kind]}:
            self.proved = False
        shapes = (("properties", dict), ("required", list), ("additionalProperties", (dict, bool)))
        for keyword, shape in (*shapes, ("items", (dict, bool)), ("enum", list)):
            if keyword in rules.given and not isinstance(rules.given[keyword], shape):
                self.proved = False
                del rules.given[keyword]

    def _rules(self, schema: Any, resolver: Any) -> _Rules:
        if schema is True:
            return _Rules({}, resolver, True)
        if not isinstance(schema, dict):
            self.proved = False
            return _Rules({}, resolver, True)
        given = _asked(schema)
        if "$ref" in given:
            if len(given) > 1:
                self.proved = False
            found = resolver.lookup(given["$ref"])
            return self._rules(found.contents, found.resolver)
        choice = [key for key in ("oneOf", "anyOf") if key in given]
        if len(given) == 1 and choice:
            return self._choice(given[choice[0]], resolver)
        nullable = "type" not in given or given["type"] == "null" or "null" in given["type"]
        if isinstance(given.get("enum"), list):
            nullable = nullable and None in given["enum"]
        return _Rules(given, resolver, nullable)

    def _choice(self, branches: Any, resolver: Any) -> _Rules:
        """Null or something else; of any other choice it is not known what is valid."""
        others = [one for one in branches if not (isinstance(one, dict) and _asked(one) == {"type": "null"})]
        if len(branches) == 2 and len(others) == 1:
            rules = self._rules(others[0], resolver)
            if not rules.nullable:
                return _Rules(rules.given, rules.resolver, True)
        self.proved = False
        return _Rules({}, resolver, True)


def _asked(schema: dict[str, Any]) -> dict[str, Any]:
    """A schema without what judges nothing."""
    return {key: value for key, value in schema.items() if key not in HARMLESS}


def _leaf(column: Column, null: Null) -> Step:
    """The step of a type without parts, before its schema is looked at."""
    kind, types, number = column.type, pa.types, column.number
    if column.uuid:
        return Step(Op.UUID, Source.WIDTH, number, null, 16)
    if types.is_boolean(kind):
        return Step(Op.BOOLEAN, column=number, null=null)
    for op, sources in ((Op.WHOLE, WHOLE), (Op.REAL, REAL), (Op.TEXT, TEXT), (Op.BASE64, OCTETS)):
        if kind in sources:
            return Step(op, sources[kind], number, null)
    if types.is_fixed_size_binary(kind):
        return Step(Op.BASE64, Source.WIDTH, number, null, kind.byte_width)
    if types.is_duration(kind):
        return Step(Op.WHOLE, Source.I64, number, null)
    if types.is_decimal(kind) and kind.scale >= 0:
        return Step(Op.DECIMAL, column=number, null=null, width=kind.bit_width // 8, digits=kind.scale)
    if types.is_date32(kind):
        return Step(Op.DATE, Source.I32, number, null)
    if types.is_date64(kind):
        return Step(Op.DATE, Source.I64, number, null, units=DAY_MILLIS)
    if types.is_time(kind):
        digits = UNITS[kind.unit]
        source = Source.I32 if types.is_time32(kind) else Source.I64
        return Step(Op.TIME, source, number, null, units=10**digits, digits=digits)
    if types.is_timestamp(kind):
        digits = UNITS[kind.unit]
        return Step(
            Op.MOMENT, Source.I64, number, null, units=10**digits, digits=digits, zone=kind.tz is not None
        )  # fmt: skip
    raise _UnknownTypeError
