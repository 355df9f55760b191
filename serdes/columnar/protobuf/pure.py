"""Protobuf ↔ columns through messages of `google.protobuf`: the readable reference of the kernel, and the fallback.

Must not know of frames: it takes payloads and gives payloads. What is in a message is decided by `google.protobuf`.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Any, Final

import pyarrow as pa
from google.protobuf.message import DecodeError
from google.protobuf.message_factory import GetMessageClass

from serdes.columnar.protobuf.plan import ReaderType
from serdes.columnar.protobuf.texts import json_of, payload_of
from serdes.columnar.protobuf.tree import Field, FieldType, Message, Shape, Symbols
from serdes.columnar.protobuf.writing import LENGTHS, PER_SECOND, WritingPlan
from serdes.errors import SerializationError

FIRST_SECOND: Final = -62_135_596_800
LAST_SECOND: Final = 253_402_300_799
LONGEST_SECONDS: Final = 315_576_000_000
NS_SECONDS: Final = 9_223_372_036
NANOS: Final = 1_000_000_000
SCALARS: Final = frozenset(set(FieldType) - LENGTHS | {FieldType.STRING, FieldType.BYTES})
TOO_LARGE_FOR_FLOAT: Final = 3.4028235677973366e38
SIGNED_32, SIGNED_64 = (-(2**31), 2**31 - 1), (-(2**63), 2**63 - 1)
RANGES: Final[Mapping[FieldType, tuple[int, int]]] = {
    **dict.fromkeys((FieldType.INT32, FieldType.SINT32, FieldType.SFIXED32), SIGNED_32),
    **dict.fromkeys((FieldType.INT64, FieldType.SINT64, FieldType.SFIXED64), SIGNED_64),
    **dict.fromkeys((FieldType.UINT32, FieldType.FIXED32), (0, 2**32 - 1)),
    **dict.fromkeys((FieldType.UINT64, FieldType.FIXED64), (0, 2**64 - 1)),
}
DIGITS: Final = re.compile(r"0|-?[1-9][0-9]{0,9}|-0", re.ASCII)


def read_payload(reader: ReaderType, payload: bytes) -> dict[str, Any]:
    """A payload as a value that pyarrow takes for `reader.type`.

    Raises:
        SerializationError: it is no message of the type, or one that columns have no place for.
    """
    kind: Any = GetMessageClass(reader.descriptor)
    try:
        message = kind.FromString(payload)
    except DecodeError as error:
        raise SerializationError(
            f"the payload of {len(payload)} bytes is not a message of type {reader.tree.full_name}"
        ) from error
    try:
        return _Row(reader).of(reader.tree, message, "")
    except UnicodeDecodeError as error:  # proto2 does not check, columns of text have to
        raise SerializationError("text that is not UTF-8") from error


class _Row:
    def __init__(self, reader: ReaderType) -> None:
        self._nanoseconds = reader.nanoseconds
        self._pool = reader.descriptor.file.pool

    def of(self, tree: Message, message: Any, path: str) -> dict[str, Any]:
        return {field.name: self._field(field, message, f"{path}.{field.name}".lstrip(".")) for field in tree.columns}

    def _field(self, field: Field, message: Any, path: str) -> Any:
        if field.required and not message.HasField(field.name):
            raise SerializationError("the required field is missing", path=path)
        value = getattr(message, field.name)
        if field.shape is Shape.LIST:
            return [self._one(field, item, f"{path}[{at}]") for at, item in enumerate(value)]
        if field.shape is Shape.MAP:
            assert field.message is not None
            held = field.message.fields[1]
            return [(key, self._one(held, value[key], f"{path}.value")) for key in value]
        if not field.implicit and not message.HasField(field.name):
            return None
        return self._one(field, value, path)

    def _one(self, field: Field, value: Any, path: str) -> Any:
        if field.wrapped:
            value = value.value
        if field.kind is FieldType.MESSAGE:
            assert field.message is not None
            return self.of(field.message, value, path)
        if field.symbols is not None and not field.symbols.as_numbers:
            return field.symbols.names.get(value, str(value))
        if field.kind in (FieldType.TIMESTAMP, FieldType.DURATION):
            return self._time(field.kind, value.seconds, value.nanos, path)
        if field.json is not None:
            try:
                return json_of(field.json, value.SerializeToString(), self._pool)
            except SerializationError as error:
                error.path = path
                raise
        if isinstance(value, bytes) and field.kind is FieldType.STRING:
            raise SerializationError("text that is not UTF-8", path=path)
        return value

    def _time(self, kind: FieldType, seconds: int, nanos: int, path: str) -> int:
        if not time_fits(kind, seconds, nanos, self._nanoseconds):
            raise SerializationError(f"{seconds} s and {nanos} ns are out of range", path=path)
        return seconds * NANOS + nanos if self._nanoseconds else seconds * 1_000_000 + int(nanos / 1000)


def time_fits(kind: FieldType, seconds: int, nanos: int, nanoseconds: bool) -> bool:
    """Whether a Timestamp or Duration is a valid one that a column has place for."""
    if kind is FieldType.TIMESTAMP:
        valid = FIRST_SECOND <= seconds <= LAST_SECOND and 0 <= nanos < NANOS
    else:
        valid = abs(seconds) <= LONGEST_SECONDS and abs(nanos) < NANOS and seconds * nanos >= 0
    return valid and (not nanoseconds or abs(seconds) < NS_SECONDS)


# --- writing


def write_row(plan: WritingPlan, row: dict[str, Any]) -> bytes:
    """A row as a payload, with fields in the order of their numbers.

    Args:
        plan: how rows are written.
        row: values as pyarrow gives them; times as the whole numbers of their columns.

    Raises:
        SerializationError: a value does not fit its field; `path` says which.
    """
    message: Any = GetMessageClass(plan.descriptor)()
    _Writing(plan.descriptor.file.pool).fill(message, plan.tree, plan.type, row, "")
    return bytes(message.SerializeToString(deterministic=True))


class _Writing:
    def __init__(self, pool: Any) -> None:
        self._pool = pool

    def fill(self, message: Any, tree: Message, kind: pa.StructType, row: dict[str, Any], path: str) -> None:
        seen: set[int] = set()
        for field in sorted(tree.columns, key=lambda field: -field.number):
            here = f"{path}.{field.name}".lstrip(".")
            value = row[field.name]
            if value is None:
                if field.required:
                    raise SerializationError("null in a required field", path=here)
                continue
            if field.oneof >= 0:
                if field.oneof in seen:
                    raise SerializationError("two fields of one oneof are set", path=here)
                seen.add(field.oneof)
            self._field(message, field, kind.field(field.name).type, value, here)

    def _field(self, message: Any, field: Field, kind: pa.DataType, value: Any, path: str) -> None:
        if field.shape is Shape.LIST:
            held = getattr(message, field.name)
            for at, item in enumerate(value):
                self._item(held, field, kind.value_type, item, f"{path}[{at}]")
        elif field.shape is Shape.MAP:
            self._map(getattr(message, field.name), field, kind, value, path)
        elif field.kind in SCALARS and not field.wrapped:
            setattr(message, field.name, self._scalar(field, value, path))
        else:
            held = getattr(message, field.name)
            held.SetInParent()
            self._message(held, field, kind, value, path)

    def _item(self, held: Any, field: Field, kind: pa.DataType, item: Any, path: str) -> None:
        if item is None:
            raise SerializationError("null among the items of a repeated field", path=path)
        if field.kind in SCALARS and not field.wrapped:
            held.append(self._scalar(field, item, path))
        else:
            self._message(held.add(), field, kind, item, path)

    def _map(self, held: Any, field: Field, kind: pa.MapType, entries: Any, path: str) -> None:
        assert field.message is not None
        key, value = field.message.fields
        for at, (name, item) in enumerate(entries):
            here = f"{path}[{at}].{value.name}"
            if item is None:
                raise SerializationError("null in a required field", path=here)
            name = self._scalar(key, name, f"{path}[{at}].{key.name}")
            if value.kind in SCALARS and not value.wrapped:
                held[name] = self._scalar(value, item, here)
            else:
                held[name].Clear()
                self._message(held[name], value, kind.item_type, item, here)

    def _message(self, held: Any, field: Field, kind: pa.DataType, value: Any, path: str) -> None:
        if field.wrapped:
            held.value = self._scalar(field, value, path)
        elif field.kind is FieldType.MESSAGE:
            assert field.message is not None
            self.fill(held, field.message, kind, value, path)
        elif field.json is not None:
            try:
                held.ParseFromString(payload_of(field.json, value, self._pool))
            except SerializationError as error:
                raise SerializationError("the text is not the JSON of such a message", path=path) from error
        else:
            held.seconds, held.nanos = _parts(field.kind, kind.unit, value, path)

    def _scalar(self, field: Field, value: Any, path: str) -> Any:
        if field.symbols is not None:
            return _number_of(field.symbols, value, path)
        if field.kind in RANGES and not RANGES[field.kind][0] <= value <= RANGES[field.kind][1]:
            raise SerializationError("the number does not fit the field", path=path)
        if field.kind is FieldType.FLOAT and math.isfinite(value) and abs(value) >= TOO_LARGE_FOR_FLOAT:
            raise SerializationError("the number does not fit the field", path=path)
        return value


def _number_of(symbols: Symbols, value: Any, path: str) -> int:
    if isinstance(value, int):
        if (value in symbols.names) if symbols.closed else (-(2**31) <= value < 2**31):
            return value
        reason = "the enum has no such name or number" if symbols.closed else "the number does not fit the field"
        raise SerializationError(reason, path=path)
    number = symbols.numbers.get(value)
    if number is None and not symbols.closed and DIGITS.fullmatch(value) and -(2**31) <= int(value) < 2**31:
        number = int(value)
    if number is None:
        raise SerializationError("the enum has no such name or number", path=path)
    return number


def _parts(kind: FieldType, unit: str, value: int, path: str) -> tuple[int, int]:
    """Seconds and nanoseconds of a time; a Duration's have one sign."""
    nanos = value * (NANOS // PER_SECOND[unit])
    seconds, rest = divmod(nanos, NANOS)
    if kind is FieldType.DURATION and seconds < 0 and rest:
        seconds, rest = seconds + 1, rest - NANOS
    if not time_fits(kind, seconds, rest, False):
        raise SerializationError("the time is out of the range that Protobuf has for it", path=path)
    return seconds, rest
