"""Values of users as Avro's encoder takes them, and back: objects, enums, nanoseconds, durations, UUIDs in fixed types.

Must not know of bytes or frames. Conversions are compiled once per schema; plain values come back as the same object.
Source: Avro specification 1.12, "Logical Types".
"""

from __future__ import annotations

import dataclasses
import datetime
import enum
import struct
import uuid
from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple, TypeAlias

from registry.compat.avro_model import (
    ArrayType,
    AvroType,
    EnumType,
    FixedType,
    Kind,
    MapType,
    Primitive,
    RecordType,
    UnionType,
    type_name,
)
from serdes.errors import SerializationError

__all__ = ["Duration", "as_dict", "reading", "writing"]

Convert: TypeAlias = Callable[[Any], Any]
NANOS: Final = ("timestamp-nanos", "local-timestamp-nanos")
TIMES: Final = {
    "date",
    "timestamp-millis",
    "timestamp-micros",
    "local-timestamp-millis",
    "local-timestamp-micros",
}
EPOCH: Final = datetime.datetime(1970, 1, 1)
DURATION: Final = struct.Struct("<3I")


class Duration(NamedTuple):
    """A value of Avro's logical type `duration`: three numbers that don't add up to one another."""

    months: int
    days: int
    milliseconds: int


def as_dict(value: Any) -> dict[str, Any] | None:
    """The fields of a dataclass, attrs or pydantic object (not of objects in it); None for anything else."""
    if isinstance(value, type):
        return None
    if dataclasses.is_dataclass(value):
        return {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    if hasattr(value, "__attrs_attrs__"):
        return {field.name: getattr(value, field.name) for field in value.__attrs_attrs__}
    if hasattr(type(value), "model_fields"):
        return {name: getattr(value, name) for name in type(value).model_fields}
    return None


def writing(avro: AvroType) -> Convert:
    """A function that makes of a value what the encoder takes; what it does not know it leaves as it is."""
    return _Writing().of(avro)


def reading(avro: AvroType) -> Convert | None:
    """A function that makes of a decoded value what users get; None if there is nothing to do."""
    reader = _Reading()
    return reader.of(avro) if reader.concerns(avro, set()) else None


class _Writing:
    """Compiles conversions; recursive records refer to the function of their record."""

    def __init__(self) -> None:
        self._records: dict[int, Convert] = {}

    def of(self, avro: AvroType) -> Convert:
        logical = avro.props.get("logicalType") if hasattr(avro, "props") else None
        if isinstance(avro, RecordType):
            return self._record(avro)
        if isinstance(avro, ArrayType):
            return _items(self.of(avro.items))
        if isinstance(avro, MapType):
            return _values(self.of(avro.values))
        if isinstance(avro, UnionType):
            return self._union(avro)
        if isinstance(avro, EnumType):
            return _member
        if isinstance(avro, FixedType):
            return _duration_bytes if logical == "duration" else _uuid_bytes if logical == "uuid" else _same
        return _nanos if avro.kind is Kind.LONG and logical in NANOS else _same

    def _record(self, avro: RecordType) -> Convert:
        found = self._records.get(id(avro))
        if found is not None:
            return found
        parts: list[tuple[str, Convert]] = []

        def convert(value: Any) -> Any:
            if not isinstance(value, Mapping):
                fields = as_dict(value)
                if fields is None:
                    return value
                value = fields
            changed = None
            for name, part in parts:
                if name in value:
                    old = value[name]
                    new = part(old)
                    if new is not old:
                        changed = dict(value) if changed is None else changed
                        changed[name] = new
            return value if changed is None else changed

        self._records[id(avro)] = convert
        parts += [(field.name, self.of(field.type)) for field in avro.fields]
        return convert

    def _union(self, avro: UnionType) -> Convert:
        records = [branch for branch in avro.branches if isinstance(branch, RecordType)]
        converts = {branch.name: self._record(branch) for branch in records}
        others = [(branch, self.of(branch)) for branch in avro.branches if not isinstance(branch, RecordType)]
        native = _native(avro)

        def convert(value: Any) -> Any:
            if value is None or isinstance(value, native):
                return value
            if isinstance(value, tuple) and len(value) == 2 and value[0] in converts:
                return (value[0], converts[value[0]](value[1]))
            if records and (isinstance(value, Mapping) or as_dict(value) is not None):
                meant = _branch(records, value)
                if meant is not None:
                    made = converts[meant.name](value)
                    return made if isinstance(value, Mapping) or len(records) == 1 else (meant.name, made)
            for branch, part in others:
                if _may_be(branch, value):
                    made = part(value)
                    if made is not value:  # the branch is named: another one might take what was made of it
                        return (type_name(branch), made)
            return value

        return convert


def _native(avro: UnionType) -> tuple[type, ...]:
    """The types of values that a union takes as they are, though one of its branches converts them too."""
    logical = {branch.props.get("logicalType") for branch in avro.branches if isinstance(branch, Primitive)}
    times = (datetime.datetime,) if logical & TIMES else ()
    return (str, *times, *((uuid.UUID,) if "uuid" in logical else ()))


def _branch(records: list[RecordType], value: Any) -> RecordType | None:
    """The record meant by an object: the one of its class's name; else the first that has just its fields."""
    if not isinstance(value, Mapping):
        name = type(value).__name__
        for record in records:
            aliases = [alias.rpartition(".")[2] for alias in record.aliases]
            if name == record.short_name or name in aliases:
                return record
    names = set(value if isinstance(value, Mapping) else as_dict(value) or ())
    fitting = [record for record in records if names == {field.name for field in record.fields}]
    if fitting or not isinstance(value, Mapping):
        return fitting[0] if fitting else None
    return records[0] if len(records) == 1 else None


def _may_be(branch: AvroType, value: Any) -> bool:
    if isinstance(branch, ArrayType):
        return isinstance(value, (list, tuple))
    if isinstance(branch, MapType):
        return isinstance(value, Mapping)
    return not isinstance(value, (list, Mapping))


def _same(value: Any) -> Any:
    return value


def _items(convert: Convert) -> Convert:
    if convert is _same:
        return _same

    def all_of(value: Any) -> Any:
        if not isinstance(value, (list, tuple)):
            return value
        made = [convert(item) for item in value]
        return value if all(map(lambda new, old: new is old, made, value)) else made

    return all_of


def _values(convert: Convert) -> Convert:
    if convert is _same:
        return _same

    def all_of(value: Any) -> Any:
        if not isinstance(value, Mapping):
            return value
        made = {key: convert(item) for key, item in value.items()}
        return value if all(made[key] is item for key, item in value.items()) else made

    return all_of


def _member(value: Any) -> Any:
    if not isinstance(value, enum.Enum):
        return value
    return value.value if isinstance(value.value, str) else value.name


def _nanos(value: Any) -> Any:
    """Nanoseconds since 1970: numbers as they are, points in time exactly; without a time zone as they read."""
    if not isinstance(value, datetime.datetime):
        return value
    if value.tzinfo is not None:
        value = value.astimezone(datetime.UTC).replace(tzinfo=None)
    gone = value - EPOCH
    return ((gone.days * 86_400 + gone.seconds) * 1_000_000 + gone.microseconds) * 1000


def _uuid_bytes(value: Any) -> Any:
    return value.bytes if isinstance(value, uuid.UUID) else value


def _duration_bytes(value: Any) -> Any:
    if isinstance(value, datetime.timedelta):
        if value.microseconds % 1000:
            raise SerializationError("a duration has milliseconds, this one is finer")
        value = Duration(0, value.days, value.seconds * 1000 + value.microseconds // 1000)
    if isinstance(value, tuple) and len(value) == 3:
        try:
            return DURATION.pack(*value)
        except struct.error as error:
            raise SerializationError(f"a duration is three numbers of 32 bits without sign: {error}") from error
    return value


class _Reading:
    """Compiles conversions of decoded values."""

    def __init__(self) -> None:
        self._records: dict[int, Convert] = {}

    def concerns(self, avro: AvroType, seen: set[int]) -> bool:
        """Whether a value of this type may hold something to convert."""
        if id(avro) in seen:
            return False
        seen.add(id(avro))
        if isinstance(avro, FixedType):
            return avro.props.get("logicalType") in ("duration", "uuid")
        if isinstance(avro, RecordType):
            return any(self.concerns(field.type, seen) for field in avro.fields)
        if isinstance(avro, ArrayType):
            return self.concerns(avro.items, seen)
        if isinstance(avro, MapType):
            return self.concerns(avro.values, seen)
        return isinstance(avro, UnionType) and any(self.concerns(branch, seen) for branch in avro.branches)

    def of(self, avro: AvroType) -> Convert:
        if isinstance(avro, FixedType):
            logical = avro.props.get("logicalType")
            return _as_duration if logical == "duration" else _as_uuid if logical == "uuid" else _same
        if isinstance(avro, RecordType):
            return self._record(avro)
        if isinstance(avro, ArrayType):
            return _items(self.of(avro.items))
        if isinstance(avro, MapType):
            return _values(self.of(avro.values))
        return self._union(avro) if isinstance(avro, UnionType) else _same

    def _record(self, avro: RecordType) -> Convert:
        found = self._records.get(id(avro))
        if found is not None:
            return found
        parts: list[tuple[str, Convert]] = []

        def convert(value: Any) -> Any:
            if isinstance(value, tuple):  # with its name
                return (value[0], convert(value[1]))
            for name, part in parts:
                if name in value:
                    value[name] = part(value[name])
            return value

        self._records[id(avro)] = convert
        parts += [(field.name, self.of(field.type)) for field in avro.fields if self.concerns(field.type, set())]
        return convert

    def _union(self, avro: UnionType) -> Convert:
        parts = [branch for branch in avro.branches if self.concerns(branch, set())]
        converts = [(branch, self.of(branch)) for branch in parts]
        plain = [branch for branch in avro.branches if branch.kind in (Kind.BYTES, Kind.FIXED) and branch not in parts]

        def convert(value: Any) -> Any:
            for branch, part in converts:
                if isinstance(branch, FixedType):
                    if isinstance(value, bytes) and len(value) == branch.size and not plain:
                        return part(value)
                elif isinstance(branch, RecordType):
                    named = value[0] if isinstance(value, tuple) else None
                    fields = value[1] if isinstance(value, tuple) else value
                    if isinstance(fields, dict) and (
                        named == branch.name
                        or (named is None and fields.keys() == {field.name for field in branch.fields})
                    ):
                        return part(value)
                elif _may_be(branch, value):
                    return part(value)
            return value

        return convert


def _as_duration(value: Any) -> Any:
    return Duration(*DURATION.unpack(value)) if isinstance(value, bytes) and len(value) == DURATION.size else value


def _as_uuid(value: Any) -> Any:
    return uuid.UUID(bytes=value) if isinstance(value, bytes) and len(value) == 16 else value
