"""Frames of Protobuf into columns: `ProtobufColumns` is the `ColumnFormat`, over the kernel or the pure reference.

Must not know of registries. What a row's error says is put together here; the kernel gives codes and places.
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from functools import lru_cache
from typing import Any, Final

import pyarrow as pa
from google.protobuf.message import DecodeError
from google.protobuf.message_factory import GetMessageClass

from registry import InvalidSchemaError, Schema
from registry.schemas.references import Resolver, resolve_all
from serdes.columnar.assemble import errors_of
from serdes.columnar.contract import ColumnOptions, DecodeResult
from serdes.columnar.frames import Frames
from serdes.columnar.protobuf.lowered import LoweredTree
from serdes.columnar.protobuf.plan import ProtobufPlan, ReaderType, arrow_type, frame_paths, plan
from serdes.columnar.protobuf.pure import read_payload
from serdes.columnar.protobuf.texts import json_of
from serdes.columnar.protobuf.tree import Message
from serdes.columnar.room import Room
from serdes.errors import SerializationError
from serdes.formats.protobuf.codec import ProtobufSchema, load
from serdes.frames.framing import unpack_indexes
from serdes.kernels import IMPL

REPEATED_KEY: Final = 13
OTHER_TYPE: Final = 12
BAD_UTF8, MISSING, OUT_OF_RANGE = 4, 7, 8
TOO_LARGE: Final = 9
LONG_NAME: Final = 256
"""A byte of a payload may be a symbol of an enum, whose name is no longer than that in all likelihood."""
MAY_NOT_COUNT: Final = frozenset((BAD_UTF8, MISSING, OUT_OF_RANGE, REPEATED_KEY))
BAD_PATH: Final = 11
REASONS: Final = {
    1: "the payload ends inside a value",
    2: "a number of more than ten bytes",
    3: "no field has such a tag",
    4: "text that is not UTF-8",
    5: "the end of a group that was not open",
    6: "nested deeper than 100 levels",
    7: "the required field is missing",
    8: "a time that is out of range",
    TOO_LARGE: "the row takes more bytes in the columns than max_row_bytes allows",
    10: "the column has no room: decode fewer rows at a time",
    REPEATED_KEY: "a map has a key twice, and fields that are not read make the payload no message",
    BAD_PATH: "the frame's path of the message type is cut short or not a path",
}


class ProtobufColumns:
    """Protobuf as a `serdes.columnar.contract.ColumnFormat`.

    Args:
        impl: `native` or `pure`.
    """

    def __init__(self, impl: str = IMPL) -> None:
        self._native = impl == "native"

    def load(self, schema: Schema, resolve: Resolver | None) -> ProtobufSchema:
        """Builds the descriptors of a schema with all it imports.

        Raises:
            SerializationError: it is not a Protobuf schema, or a reference can't be resolved.
        """
        return load_resolved(schema, resolve)

    def arrow_type(self, reader: ProtobufSchema, options: ColumnOptions) -> pa.StructType:
        """See `serdes.columnar.protobuf.plan.arrow_type`."""
        return arrow_type(reader, options)

    def plan(self, writer: ProtobufSchema, reader: ProtobufSchema, options: ColumnOptions) -> ProtobufPlan:
        """See `serdes.columnar.protobuf.plan.plan`."""
        return plan(writer, reader, options)

    def decode(
        self, frames: Frames, plans: Sequence[ProtobufPlan], plan_of_row: bytes, options: ColumnOptions
    ) -> DecodeResult:
        """Decodes a batch, rows in order; there is at least one plan.

        Raises:
            MemoryError: there is none for the columns.
        """
        run = _native if self._native else _pure
        return run(frames, plans, plan_of_row, options)


def load_resolved(schema: Schema, resolve: Resolver | None) -> ProtobufSchema:
    """Builds the descriptors of a schema with all it imports.

    Raises:
        SerializationError: it is not a Protobuf schema, or a reference can't be resolved.
    """
    if schema.schema_type != "PROTOBUF":
        raise SerializationError(f"the schema is {schema.schema_type}, PROTOBUF is needed")
    try:
        return load(schema, resolve_all(schema, resolve))
    except InvalidSchemaError as error:
        raise SerializationError(error.error_message) from error


# --- the kernel


@lru_cache(maxsize=64)
def _kernel(reader: ReaderType) -> tuple[Any, list[tuple[int, str, str]]]:
    """The kernel that reads batches, and the columns that are made texts of JSON afterwards."""
    from serdes.kernels.native import protobuf_columns

    made = LoweredTree(reader.tree).verify()
    tables = made.messages(), made.columns(), made.scopes(), made.symbols()
    return protobuf_columns.ColumnReader(*tables, reader.nanoseconds), made.json_columns


class Capsule:
    """A capsule of Arrow's C data interface and its type, as `pa.array` takes them."""

    def __init__(self, kind: pa.DataType, capsule: Any) -> None:
        self._kind, self._capsule = kind, capsule

    def __arrow_c_array__(self, requested_schema: Any = None) -> tuple[Any, Any]:
        return self._kind.__arrow_c_schema__(), self._capsule


def _native(frames: Any, plans: Sequence[ProtobufPlan], plan_of_row: bytes, options: ColumnOptions) -> DecodeResult:
    reader = plans[0].reader
    kernel, json_columns = _kernel(reader)
    paths, starts = frame_paths(plans)
    chosen = memoryview(plan_of_row).cast("i")
    errors: dict[int, str] = {}
    replaced: dict[int, bytes] = {}
    judged: dict[int, str] = {}
    while True:
        batch = kernel.read(frames, chosen, paths, starts, options.max_row_bytes, replaced)
        again = _errors(batch, frames, plans, chosen, reader, errors, replaced, judged)
        again |= bool(json_columns) and _as_json(batch, json_columns, frames, reader, errors)
        if not again:
            break
        left = array("i", chosen)
        for row in errors:
            left[row] = -1
        chosen = memoryview(left)
    return DecodeResult(pa.array(Capsule(reader.type, batch.finish())), errors_of(frames.rows, errors))


def _errors(
    batch: Any,
    frames: Any,
    plans: Sequence[ProtobufPlan],
    chosen: Sequence[int],
    reader: ReaderType,
    errors: dict[int, str],
    replaced: dict[int, bytes],
    judged: dict[int, str],
) -> bool:
    """Notes the errors of rows; true if rows have to be read again from other bytes.

    Those are rows with a key that comes twice in a map, and rows with a part that is not valid but may not count in the
    end, since another part takes its place: `google.protobuf` writes them again, with what counts only.
    """
    again = False
    for row, code, offset, path in batch.errors():
        one = plans[chosen[row]]
        reason = _other_type(frames, row, one) if code == OTHER_TYPE else f"{REASONS[code]}, at byte {offset}"
        text = judged.get(row) or _text(reason, frames, row, path_of(reader.tree, path))
        if code in MAY_NOT_COUNT and row not in judged:
            judged[row] = text
            try:
                replaced[row] = _what_counts(reader, _payload(frames, row))
                again = True
                continue
            except DecodeError:
                again |= code == REPEATED_KEY
        errors[row] = text
    return again


def _payload(frames: Any, row: int) -> bytes:
    """A row's message, without the path of its type."""
    payload: bytes = frames.payload(row)
    return payload if frames.tail(row) is not None else payload[unpack_indexes(payload, 0)[1] :]


def _what_counts(reader: ReaderType, payload: bytes) -> bytes:
    message: Any = GetMessageClass(reader.descriptor)
    made = message.FromString(payload)
    made.DiscardUnknownFields()
    return bytes(made.SerializePartialToString())


def _as_json(
    batch: Any, columns: Sequence[tuple[int, str, str]], frames: Any, reader: ReaderType, errors: dict[int, str]
) -> bool:
    """Makes text of the messages that are columns of JSON; true if rows have to be left out for that."""
    pool = reader.descriptor.file.pool
    again = False
    for column, full_name, path in columns:
        texts: list[bytes | None] = []
        for slot, payload in enumerate(batch.texts(column)):
            try:
                texts.append(None if payload is None else json_of(full_name, payload, pool).encode())
            except SerializationError as error:
                row = batch.row_of(column, slot)
                errors[row] = _text(error.reason, frames, row, path)
                again = True
        if not again:
            batch.replace(column, texts)
    return again


def _other_type(frames: Any, row: int, one: ProtobufPlan) -> str:
    tail = frames.tail(row)
    indexes = unpack_indexes(frames.payload(row) if tail is None else tail, 0)[0]
    try:
        found = one.writer.at(indexes).DESCRIPTOR.full_name
    except SerializationError as error:
        return error.reason
    return f"the frame has a message of type {found}, not {one.reader.tree.full_name}"


def path_of(tree: Message, places: Sequence[tuple[int, int]]) -> str:
    """An error's path as text: `items[3].price`; entries of maps are numbered too."""
    parts: list[str] = []
    current: Message | None = tree
    for place, index in places:
        assert current is not None
        field = current.fields[place]
        parts.append(field.name if index < 0 else f"{field.name}[{index}]")
        current = field.message
    return ".".join(parts)


def _text(reason: str, frames: Any, row: int, path: str) -> str:
    name = frames.name_of(row)
    if isinstance(name, int):
        return str(SerializationError(reason, schema_id=name, path=path))
    return str(SerializationError(f"schema GUID {name.hex()}: {reason}", path=path))


# --- the reference


def _pure(frames: Any, plans: Sequence[ProtobufPlan], plan_of_row: bytes, options: ColumnOptions) -> DecodeResult:
    reader = plans[0].reader
    rows: list[Any] = [None] * frames.rows
    errors: dict[int, str] = {}
    room = Room(reader.type, options.max_row_bytes, texts=True)
    for row, place in enumerate(memoryview(plan_of_row).cast("i")):
        if place < 0:
            continue
        try:
            value = _read(reader, frames, row, plans[place])
            if not room.holds(value, len(frames.payload(row)) * LONG_NAME):
                raise SerializationError(REASONS[TOO_LARGE])
            rows[row] = value
        except SerializationError as error:
            errors[row] = _text(error.reason, frames, row, error.path or "")
    return DecodeResult(pa.array(rows, reader.type), errors_of(frames.rows, errors))


def _read(reader: ReaderType, frames: Any, row: int, one: ProtobufPlan) -> dict[str, Any]:
    tail = frames.tail(row)
    payload = frames.payload(row)
    indexes, start = unpack_indexes(payload if tail is None else tail, 0)
    if tuple(indexes) not in one.paths:
        raise SerializationError(_other_type(frames, row, one))
    return read_payload(reader, payload[start:] if tail is None else payload)
