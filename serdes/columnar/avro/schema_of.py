"""The Avro schema of an Arrow type.

Must not know of values. Source: Avro specification 1.12, "Names", "Logical Types"; the table is in
docs/guide/columns.md.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from typing import Any, Final

import pyarrow as pa

from serdes.errors import SerializationError

ORIGINAL_NAME: Final = "arrowName"
"""Property of a field: its name in Arrow, where that is no name in Avro."""
SPAN_UNIT: Final = "arrowDuration"
"""Property of a long: it is a time span in this unit (s, ms, us, ns). Avro's own duration has neither signs nor
microseconds."""
MAX_DEPTH: Final = 100
MAX_DIGITS: Final = 76
ILLEGAL: Final = re.compile("[^A-Za-z0-9_]")
DATE: Final = {"type": "int", "logicalType": "date"}
TIME_MILLIS: Final = {"type": "int", "logicalType": "time-millis"}
TIME_MICROS: Final = {"type": "long", "logicalType": "time-micros"}
PRIMITIVES: Final[dict[pa.DataType, Any]] = {
    pa.null(): "null",
    pa.bool_(): "boolean",
    **dict.fromkeys((pa.int8(), pa.int16(), pa.int32(), pa.uint8(), pa.uint16()), "int"),
    **dict.fromkeys((pa.int64(), pa.uint32(), pa.uint64()), "long"),
    **dict.fromkeys((pa.float16(), pa.float32()), "float"),
    pa.float64(): "double",
    **dict.fromkeys((pa.string(), pa.large_string(), pa.string_view()), "string"),
    **dict.fromkeys((pa.binary(), pa.large_binary(), pa.binary_view()), "bytes"),
    **dict.fromkeys((pa.date32(), pa.date64()), DATE),
    **dict.fromkeys((pa.time32("s"), pa.time32("ms")), TIME_MILLIS),
    **dict.fromkeys((pa.time64("us"), pa.time64("ns")), TIME_MICROS),
}
INSTANTS: Final = {"s": "timestamp-millis", "ms": "timestamp-millis", "us": "timestamp-micros", "ns": "timestamp-nanos"}


def avro_schema_of(arrow_type: pa.DataType | pa.Schema, *, name: str = "Record", namespace: str = "") -> str:
    """The Avro schema that columns of an Arrow type are written with, as JSON.

    Names are cleaned of what Avro does not allow and made unique; a changed name stays as the property `arrowName`, by
    which the encoder finds the column. Nested records are named after their path (`Record_address`). A field that may
    be null becomes `["null", T]` with the default null. Dictionary-encoded columns are what their values are, and no
    enums: a dictionary is of one batch, the schema is of all. Unsigned whole numbers become the next wider signed type:
    a `uint64` of 2^63 or more is an error of its row. Times and points in time keep their unit where Avro has it.
    Time spans are a long with the property `arrowDuration`, intervals Avro's duration.

    Args:
        arrow_type: a struct type, or a schema.
        name: of the record.
        namespace: of the record and what is in it; empty for none.

    Raises:
        SerializationError: Avro has no such type: run-end encoded, a decimal of more than 76 digits, a union of two
            members of one type, or one nested deeper than 100 levels.
        ValueError: the name or the namespace is none in Avro.
    """
    kind = pa.struct(list(arrow_type)) if isinstance(arrow_type, pa.Schema) else arrow_type
    for part in (name, *(namespace.split(".") if namespace else ())):
        if cleaned(part) != part:
            raise ValueError(f"{part!r} is no name in Avro: letters, digits and underscores, no digit first")
    if not pa.types.is_struct(kind):
        raise SerializationError(f"a record is made of a struct, not of {kind}")
    made = _Schemas().record(kind, name, 0)
    if namespace:
        made = {"type": "record", "name": name, "namespace": namespace, "fields": made["fields"]}
    return json.dumps(made, ensure_ascii=False)


def cleaned(name: str) -> str:
    """A name with underscores in place of what Avro does not allow."""
    made = ILLEGAL.sub("_", name) or "_"
    return f"_{made}" if made[0].isdigit() else made


def unique_names(names: Iterable[str]) -> list[str]:
    """Cleaned names, those that would come twice with a number behind; names that need no change keep theirs."""
    given = list(names)
    taken = {name for name in given if cleaned(name) == name}
    made = []
    kept: set[str] = set()
    for name in given:
        found, n = cleaned(name), 2
        while (found in taken and found != name) or found in kept:
            found, n = f"{cleaned(name)}_{n}", n + 1
        kept.add(found)
        made.append(found)
    return made


class _Schemas:
    def __init__(self) -> None:
        self._named: set[str] = set()

    def _name(self, wanted: str) -> str:
        name, n = wanted, 2
        while name in self._named:
            name, n = f"{wanted}_{n}", n + 1
        self._named.add(name)
        return name

    def record(self, kind: pa.DataType, name: str, depth: int) -> dict[str, Any]:
        if depth > MAX_DEPTH:
            raise SerializationError(f"the Arrow type is nested deeper than {MAX_DEPTH} levels")
        own = self._name(name)
        fields = [kind.field(at) for at in range(kind.num_fields)]
        made = []
        for one, clean in zip(fields, unique_names(field.name for field in fields), strict=True):
            avro = self.field(one, f"{own}_{clean}", depth)
            entry: dict[str, Any] = {"name": clean, "type": avro}
            if avro == "null" or (isinstance(avro, list) and avro[0] == "null"):
                entry["default"] = None
            if clean != one.name:
                entry[ORIGINAL_NAME] = one.name
            made.append(entry)
        return {"type": "record", "name": own, "fields": made}

    def field(self, one: pa.Field, name: str, depth: int) -> Any:
        """The type of a field, with null if it may be."""
        avro = self.of(one.type, name, depth + 1)
        if not one.nullable or avro == "null":
            return avro
        return ["null", *(branch for branch in avro if branch != "null")] if isinstance(avro, list) else ["null", avro]

    def of(self, kind: pa.DataType, name: str, depth: int) -> Any:
        types = pa.types
        if depth > MAX_DEPTH:
            raise SerializationError(f"the Arrow type is nested deeper than {MAX_DEPTH} levels")
        if isinstance(kind, pa.BaseExtensionType):
            if kind.extension_name == "arrow.uuid":
                return {"type": "string", "logicalType": "uuid"}
            return self.of(kind.storage_type, name, depth + 1)
        if types.is_dictionary(kind):
            return self.of(kind.value_type, name, depth + 1)
        if kind in PRIMITIVES:
            return PRIMITIVES[kind]
        if types.is_struct(kind):
            return self.record(kind, name, depth)
        if types.is_map(kind):
            return self._map(kind, name, depth)
        if types.is_union(kind):
            return self._union(kind, name, depth)
        if types.is_decimal(kind):
            return _decimal(kind)
        if types.is_timestamp(kind):
            local = "" if kind.tz is not None else "local-"
            return {"type": "long", "logicalType": local + INSTANTS[kind.unit]}
        if types.is_duration(kind):
            return {"type": "long", SPAN_UNIT: kind.unit}
        if types.is_interval(kind):
            return {"type": "fixed", "name": self._name(name), "size": 12, "logicalType": "duration"}
        if types.is_fixed_size_binary(kind):
            return {"type": "fixed", "name": self._name(name), "size": kind.byte_width}
        if hasattr(kind, "value_field"):
            return {"type": "array", "items": self.field(kind.value_field, f"{name}_item", depth)}
        raise SerializationError(f"Avro has no type for {kind}")

    def _map(self, kind: pa.DataType, name: str, depth: int) -> Any:
        """A map if the keys are texts, else an array of records of key and value."""
        if PRIMITIVES.get(kind.key_type) == "string":
            return {"type": "map", "values": self.field(kind.item_field, f"{name}_value", depth)}
        entry = pa.struct([kind.key_field.with_name("key"), kind.item_field.with_name("value")])
        return {"type": "array", "items": self.record(entry, f"{name}_entry", depth + 1)}

    def _union(self, kind: pa.DataType, name: str, depth: int) -> Any:
        branches: list[Any] = []
        nullable = False
        for at in range(kind.num_fields):
            one = kind.field(at)
            made = self.of(one.type, f"{name}_{cleaned(one.name)}", depth + 1)
            if isinstance(made, list):
                raise SerializationError(f"Avro has no unions in unions: {kind}")
            nullable = nullable or one.nullable or made == "null"
            if made != "null":
                branches.append(made)
        shapes = [branch if isinstance(branch, str) else branch.get("name", branch["type"]) for branch in branches]
        if len(set(shapes)) < len(shapes):
            raise SerializationError(f"two members of a union have the same type in Avro: {kind}")
        return ["null", *branches] if nullable else branches


def _decimal(kind: pa.DataType) -> dict[str, Any]:
    """With a scale that Avro has: not negative, and no greater than the precision."""
    precision, scale = kind.precision, kind.scale
    if scale < 0:
        precision, scale = precision - scale, 0
    precision = max(precision, scale)
    if precision > MAX_DIGITS:
        raise SerializationError(f"{kind} has more than {MAX_DIGITS} digits")
    return {"type": "bytes", "logicalType": "decimal", "precision": precision, "scale": scale}
