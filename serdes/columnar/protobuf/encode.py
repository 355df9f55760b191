"""Columns into frames of Protobuf: `ProtobufFrames` is the `FrameEncoder`, over the kernel or the pure reference.

Must not know of registries. What a row's error says is put together here; the kernel gives codes and places.
"""

from __future__ import annotations

from typing import Any, Final

import pyarrow as pa

from serdes.columnar.assemble import errors_of
from serdes.columnar.contract import MAX_ROW_BYTES, EncodeResult
from serdes.columnar.protobuf.format import Capsule, path_of
from serdes.columnar.protobuf.layouts import in_plain_layout
from serdes.columnar.protobuf.pure import write_row
from serdes.columnar.protobuf.texts import payload_of
from serdes.columnar.protobuf.tree import Field, FieldType, Message, Shape, is_list
from serdes.columnar.protobuf.writing import Lowered, writing_plan
from serdes.errors import SerializationError
from serdes.formats.protobuf.codec import ProtobufSchema
from serdes.kernels import IMPL

REASONS: Final = {
    1: "null in a required field",
    2: "null among the items of a repeated field",
    3: "the enum has no such name or number",
    4: "the number does not fit the field",
    5: "the time is out of the range that Protobuf has for it",
    6: "text that is not UTF-8",
    7: "two fields of one oneof are set",
    8: "the text is not the JSON of such a message",
    11: "the frame is longer than max_row_bytes allows",
}


class ProtobufFrames:
    """Rows of one Arrow type as frames of one schema. Threads may share it.

    Args:
        schema: what the rows are written with.
        kind: the type of the rows.
        prefix: what stands in front of every frame: magic byte and id; empty if a header has it, and with it the path
            of the message type.
        max_row_bytes: a longer frame is an error of its row.
        message_type: its name; empty for the one that was chosen with the schema, else the first one.
        impl: `native` or `pure`.

    Attributes:
        plan: how rows are written; `str` of it shows it.

    Raises:
        SerializationError: no row can be written; `path` says which column is in the way.
    """

    def __init__(
        self,
        schema: ProtobufSchema,
        kind: pa.DataType,
        prefix: bytes = b"",
        max_row_bytes: int = MAX_ROW_BYTES,
        message_type: str = "",
        impl: str = IMPL,
    ) -> None:
        self.plan = writing_plan(schema, kind, bool(prefix), message_type)
        self._prefix = prefix + self.plan.path
        self._longest = max_row_bytes
        self._json = _has_json(self.plan.tree)
        self._kernel: Any = None
        if impl == "native":
            from serdes.kernels.native import protobuf_frames

            made = Lowered(self.plan)
            self._kernel = protobuf_frames.FrameWriter(
                made.messages(), made.sources(), made.symbols(), self._prefix, max_row_bytes
            )

    def encode(self, struct: pa.StructArray | pa.ChunkedArray) -> EncodeResult:
        """Encodes a batch, rows in order; null rows are null frames without an error.

        Raises:
            SerializationError: the frames are more than 2 GiB together.
            TypeError: the rows are of another type.
        """
        if struct.type != self.plan.given:
            raise TypeError(f"the rows are {struct.type}, not {self.plan.given}")
        if isinstance(struct, pa.ChunkedArray):
            parts = [self.encode(chunk) for chunk in struct.chunks]
            if not parts:
                return EncodeResult(pa.array([], pa.binary()), pa.array([], pa.string()))
            frames = pa.concat_arrays([part.frames for part in parts])
            return EncodeResult(frames, pa.concat_arrays([part.errors for part in parts]))
        if self.plan.type != self.plan.given:
            struct = in_plain_layout(struct, self.plan.type)
        return self._pure(struct) if self._kernel is None else self._native(struct)

    def _native(self, struct: pa.StructArray) -> EncodeResult:
        texts: dict[int, str] = {}
        if self._json:
            struct = _with_payloads(struct, self.plan.tree, self.plan.descriptor.file.pool)
        try:
            capsule, found = self._kernel.write(struct.__arrow_c_array__()[1])
        except OverflowError as error:
            raise SerializationError(str(error)) from error
        for row, code, path in reversed(found):
            texts[row] = str(SerializationError(REASONS[code], path=path_of(self.plan.tree, path)))
        return EncodeResult(pa.array(Capsule(pa.binary(), capsule)), errors_of(len(struct), texts))

    def _pure(self, struct: pa.StructArray) -> EncodeResult:
        frames: list[bytes | None] = []
        errors: dict[int, str] = {}
        for row, value in enumerate(plain_rows(struct)):
            frames.append(None)
            if value is None:
                continue
            try:
                frame = self._prefix + write_row(self.plan, value)
                if len(frame) > self._longest:
                    raise SerializationError(REASONS[11])
                frames[-1] = frame
            except SerializationError as error:
                errors[row] = str(error)
        return EncodeResult(pa.array(frames, pa.binary()), errors_of(len(struct), errors))


def plain_rows(struct: pa.StructArray) -> list[Any]:
    """Rows as Python values, times as the whole numbers they are in their columns."""
    kind = _counted(struct.type)
    rows: list[Any] = (
        struct if kind == struct.type else pa.array(Capsule(kind, struct.__arrow_c_array__()[1]))
    ).to_pylist()
    return rows


def _counted(kind: pa.DataType) -> pa.DataType:
    if pa.types.is_timestamp(kind) or pa.types.is_duration(kind):
        return pa.int64()
    if pa.types.is_struct(kind):
        return pa.struct([pa.field(field.name, _counted(field.type)) for field in kind])
    if pa.types.is_map(kind):
        return pa.map_(kind.key_type, _counted(kind.item_type))
    if is_list(kind):
        of_items = _counted(kind.value_type)
        return pa.large_list(of_items) if pa.types.is_large_list(kind) else pa.list_(of_items)
    return kind


def _has_json(tree: Message) -> bool:
    return any(
        field.kind is FieldType.JSON or (field.message is not None and _has_json(field.message))
        for field in tree.columns
    )


def _with_payloads(array: Any, tree: Message, pool: Any) -> pa.StructArray:
    """The rows with messages in place of JSON texts: a byte 0 and the message, or a byte 1 for what is not one."""
    children = []
    for at, column in enumerate(array.type):
        field = next(one for one in tree.fields if one.name == column.name)
        children.append(_column(array.field(at), field, pool))
    mask = array.is_null()
    return pa.StructArray.from_arrays(children, [column.name for column in array.type], mask=mask)


def _column(array: Any, field: Field, pool: Any) -> pa.Array:
    if pa.types.is_null(array.type):
        return array
    if field.kind is not FieldType.JSON and (field.message is None or not _has_json(field.message)):
        return array
    if field.shape is Shape.ONE:
        return _values(array, field, pool)
    offsets = _offsets(array)
    if field.shape is Shape.LIST:
        of_lists = pa.LargeListArray if pa.types.is_large_list(array.type) else pa.ListArray
        return of_lists.from_arrays(offsets, _values(array.values, field, pool), mask=_mask(array))
    assert field.message is not None
    held = field.message.fields[1]
    return pa.MapArray.from_arrays(offsets, array.keys, _values(array.items, held, pool), mask=_mask(array))


def _offsets(array: Any) -> pa.Array:
    """The offsets of a list's or map's rows, without those before a slice."""
    kind = pa.int64() if pa.types.is_large_list(array.type) else pa.int32()
    found = pa.Array.from_buffers(kind, len(array) + 1, [None, array.buffers()[1]], offset=array.offset)
    return pa.array(found.to_pylist(), kind) if array.offset and array.null_count else found  # no mask with slices


def _mask(array: Any) -> pa.Array | None:
    return array.is_null() if array.null_count else None


def _values(array: Any, field: Field, pool: Any) -> pa.Array:
    if field.json is None:
        assert field.message is not None
        return _with_payloads(array, field.message, pool)
    made: list[bytes | None] = []
    for text in array.to_pylist():
        try:
            made.append(None if text is None else b"\x00" + payload_of(field.json, text, pool))
        except SerializationError:
            made.append(b"\x01")
    of_texts = pa.large_binary() if pa.types.is_large_string(array.type) else pa.binary()
    return pa.array(made, of_texts)
