"""Avro schemas in one order: what `normalize=true` makes of schemas that differ only in what has no meaning.

Must not know of stores. Source: `AvroSchemaUtils.toNormalizedString` of Confluent's registry, and the conversions of
Java's `JacksonUtils` that it goes through.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Mapping, Sequence
from typing import Any, Final

from registry.errors import InvalidSchemaError
from registry.schemas.avro.types import (
    ArrayType,
    AvroType,
    EnumType,
    Field,
    FixedType,
    MapType,
    NamedType,
    Primitive,
    RecordType,
    TypeName,
    UnionType,
)
from registry.schemas.avro.writer import Piece, TypePrinter, java_order
from registry.schemas.documents import dumps, quoted

INT: Final = range(-(2**31), 2**31)
LONG: Final = range(-(2**63), 2**63)


class Normal(TypePrinter):
    """As `toNormalizedString`."""

    def _mention(self, avro: NamedType, namespace: str) -> str:
        return avro.name

    def _primitive(self, avro: Primitive) -> str:
        if not avro.props:
            return quoted(avro.kind.value)
        return f'{{"type":"{avro.kind.value}"{self._in_order(_logical_first(avro))}}}'

    def _props(self, props: Mapping[str, Any]) -> str:
        return self._in_order({name: props[name] for name in sorted(props, key=java_order)})

    def _in_order(self, props: Mapping[str, Any]) -> str:
        return super()._props({name: _sorted(props[name]) for name in props})

    def _definition(self, avro: RecordType | EnumType | FixedType, namespace: str) -> Sequence[Piece]:
        pieces: list[Piece] = [f'{{"name":{quoted(avro.name)},"type":"{avro.kind.value}"']
        if isinstance(avro, RecordType):
            pieces += self._fields(avro)
        elif isinstance(avro, EnumType):
            pieces.append(f',"symbols":{dumps(avro.symbols)}')
        else:
            pieces.append(f',"size":{avro.size}')
        if avro.doc:
            pieces.append(f',"doc":{quoted(avro.doc)}')
        if avro.aliases:
            pieces.append(f',"aliases":{dumps(sorted(avro.aliases, key=java_order))}')
        if isinstance(avro, EnumType) and avro.default is not None:
            pieces.append(f',"default":{quoted(avro.default)}')
        props = self._in_order(_logical_first(avro)) if isinstance(avro, FixedType) else self._props(avro.props)
        return [*pieces, props, "}"]

    def _field(self, item: Field, namespace: str) -> list[Piece]:
        pieces: list[Piece] = [f'{{"name":{quoted(item.name)},"type":', (item.type, namespace)]
        pieces.append(f',"order":"{item.order}"')
        if item.doc is not None:
            pieces.append(f',"doc":{quoted(item.doc)}')
        if item.aliases:
            pieces.append(f',"aliases":{dumps(sorted(set(item.aliases), key=java_order))}')
        default = _default(item) if item.has_default else UNFIT
        if default is not UNFIT:
            pieces.append(f',"default":{dumps(_sorted(default))}')
        return [*pieces, self._props(item.props), "}"]


LOGICAL: Final[dict[str, tuple[str, int | None]]] = {
    "date": ("int", None),
    "time-millis": ("int", None),
    "time-micros": ("long", None),
    "timestamp-millis": ("long", None),
    "timestamp-micros": ("long", None),
    "timestamp-nanos": ("long", None),
    "local-timestamp-millis": ("long", None),
    "local-timestamp-micros": ("long", None),
    "local-timestamp-nanos": ("long", None),
    "big-decimal": ("bytes", None),
    "duration": ("fixed", 12),
}
"""Logical type → the kind it must annotate, and the size of a fixed. `decimal` and `uuid` have rules of their own."""


def _logical_first(avro: Primitive | FixedType) -> dict[str, Any]:
    """Properties by name; those of a valid logical type before them."""
    first: dict[str, Any] = {}
    if _is_logical(avro):
        first["logicalType"] = avro.props["logicalType"]
        if first["logicalType"] == "decimal":
            first["precision"] = avro.props["precision"]
            first |= {"scale": avro.props["scale"]} if avro.props.get("scale") else {}
    return first | {name: avro.props[name] for name in sorted(avro.props, key=java_order)}


def _is_logical(avro: Primitive | FixedType) -> bool:
    name, size = avro.props.get("logicalType"), avro.size if isinstance(avro, FixedType) else None
    if name == "uuid":
        return avro.kind is TypeName.STRING or size == 16
    if name == "decimal":
        precision: Any = avro.props.get("precision")
        scale: Any = avro.props.get("scale", 0)
        if avro.kind not in (TypeName.BYTES, TypeName.FIXED) or not (_is_int(precision) and _is_int(scale)):
            return False
        digits = INT[-1] if size is None else math.floor(math.log10(2) * (8 * size - 1)) if size else 0
        return bool(0 < precision <= digits and 0 <= scale <= precision)
    return isinstance(name, str) and LOGICAL.get(name) == (avro.kind.value, size)


def _is_int(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value in INT


def _sorted(value: Any) -> Any:
    """The value with the members of its objects in order."""
    whole: list[Any] = [value]
    todo: list[tuple[Any, Any]] = [(whole, 0)]
    while todo:
        parent, key = todo.pop()
        item = parent[key]
        if isinstance(item, dict):
            parent[key] = {name: item[name] for name in sorted(item, key=java_order)}
            todo += [(parent[key], name) for name in item]
        elif isinstance(item, list):
            parent[key] = list(item)
            todo += [(parent[key], at) for at in range(len(item))]
    return whole[0]


UNFIT: Final = object()
"""A default that is not of its field's type."""


def _default(item: Field) -> Any:
    try:
        return _fitting(item.default, item.type)
    except RecursionError:
        raise InvalidSchemaError.local(f"default of field {item.name!r} is nested too deep") from None


def _fitting(value: Any, avro: AvroType) -> Any:
    """A default as Java reads it for a type (`JacksonUtils.toObject`), or `UNFIT`."""
    while isinstance(avro, UnionType) and avro.branches:
        avro = avro.branches[0]
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, (int, float)):
        return _number(value, avro.kind)
    if isinstance(value, str):
        if avro.kind in (TypeName.BYTES, TypeName.FIXED):
            return value.encode("latin-1", "replace").decode("latin-1")
        return value if avro.kind in (TypeName.STRING, TypeName.ENUM) else UNFIT
    return _compound(value, avro)


def _number(value: float, kind: TypeName) -> Any:
    if isinstance(value, int) and value not in LONG:
        return UNFIT
    if kind is TypeName.DOUBLE:
        return float(value)
    if kind is TypeName.FLOAT:
        return _float32(float(value))
    if isinstance(value, int) and (kind in (TypeName.INT, TypeName.LONG) or value not in INT):
        return value
    return UNFIT


def _float32(value: float) -> float:
    """The double with the shortest text that is the same float of 32 bits."""
    packed = struct.pack("f", value)
    (rounded,) = struct.unpack("f", packed)
    texts = (f"{rounded:.{digits}g}" for digits in range(1, 10))
    return next((float(text) for text in texts if struct.pack("f", float(text)) == packed), float(rounded))


def _compound(value: Any, avro: AvroType) -> Any:
    """Members of a default, by the type around them; where Java's conversion would fail, all of it is unfit."""
    if isinstance(value, list):
        if not isinstance(avro, ArrayType):
            return UNFIT if value else value
        fitted: Any = [_fitting(member, avro.items) for member in value]
        return UNFIT if any(member is UNFIT for member in fitted) else fitted
    if isinstance(avro, RecordType):
        kinds = {item.name: item.type for item in avro.fields}
        if not value.keys() <= kinds.keys():
            return UNFIT
        fitted = {name: _fitting(member, kinds[name]) for name, member in value.items()}
    elif isinstance(avro, MapType):
        fitted = {name: _fitting(member, avro.values) for name, member in value.items()}
    else:
        fitted = value
    return UNFIT if any(member is UNFIT for member in fitted.values()) else fitted
