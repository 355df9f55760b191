"""Arrow columns in, framed bytes and row errors out: the counterpart of `serdes.columnar.decoder`.

Must not know of Spark or Kafka. Needs pyarrow (the extra `arrow`). The format is that of the schema.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, Literal, TypeAlias

import pyarrow as pa

from registry import RuleMode, Schema
from registry.schemas.references import Resolver
from serdes.columnar.contract import MAX_ROW_BYTES, EncodeResult, FrameEncoder
from serdes.columnar.decoder import UnappliedRulesError, rules_of
from serdes.errors import SerializationError
from serdes.formats.avro.codec import load as load_avro
from serdes.frames.framing import frame_prefix

WRITING: Final = (None, RuleMode.WRITE, RuleMode.WRITEREAD)
MakeEncoder: TypeAlias = Callable[[pa.DataType, bytes, int], FrameEncoder]
"""Arrow type, prefix, longest frame → encoder."""


def writing_rules(schema: Schema) -> list[str]:
    """The names of a schema's rules that are needed to write its values.

    They are: what transforms or checks while writing, and what encrypts.
    """
    return rules_of(schema, WRITING)


class ColumnarEncoder:
    """Encodes the rows of struct arrays as frames of one schema.

    How an Arrow type is written is found out at its first batch and kept; threads may share an encoder.

    Args:
        schema: of the rows. `avro_schema_of` and `json_schema_of` make one of an Arrow type.
        schema_id: stands in front of every payload, after the magic byte 0; None for payloads alone, whose id travels
            in a header.
        resolve_reference: gives the schema behind a reference; needed where the schema has references.
        max_row_bytes: a longer frame is an error of its row.
        message_type: the name of Protobuf's message type; empty for the first one of the schema.
        unnamed: with `map`, the entries of a map called `additionalProperties` are members of the JSON object that it
            stands in, unless the schema names a member so, as `ColumnOptions.unnamed` reads them; with None it is a
            member like others.

    Raises:
        SerializationError: the schema is not valid, or its format can't be written from columns.
        UnappliedRulesError: it has rules that run when values are written.
    """

    def __init__(
        self,
        schema: Schema,
        schema_id: int | None = None,
        resolve_reference: Resolver | None = None,
        *,
        max_row_bytes: int = MAX_ROW_BYTES,
        message_type: str = "",
        unnamed: Literal["map"] | None = None,
    ) -> None:
        names = writing_rules(schema)
        if names:
            listed = ", ".join(map(repr, names))
            raise UnappliedRulesError(
                f"the schema has rules ({listed}), and columns are encoded without rules: nothing would be checked or"
                " encrypted. Encode these values with the format's serializer, which runs the rules"
            )
        if max_row_bytes <= 0:
            raise ValueError(f"max_row_bytes={max_row_bytes}: it is a positive number")
        made = FORMATS.get(str(schema.schema_type))
        if made is None:
            raise SerializationError(f"columns can't be written as {schema.schema_type}: {', '.join(FORMATS)} can")
        self.schema = schema
        self._prefix = b"" if schema_id is None else frame_prefix(schema_id)
        self._max_row_bytes = max_row_bytes
        if message_type and schema.schema_type != "PROTOBUF":
            raise ValueError(f"message_type={message_type!r}: only Protobuf schemas have message types")
        if unnamed not in (None, "map"):
            raise ValueError(f"unnamed={unnamed!r}: it is None or 'map'")
        if unnamed is not None and schema.schema_type != "JSON":
            raise ValueError(f"unnamed={unnamed!r}: only JSON objects have members without a name in their schema")
        self._make = made(schema, resolve_reference, message_type, unnamed is not None)
        self._encoders: dict[pa.DataType, FrameEncoder] = {}

    def encode(self, struct: pa.StructArray | pa.ChunkedArray | pa.RecordBatch | pa.Table) -> EncodeResult:
        """Encodes a batch.

        Args:
            struct: the rows; they are read in place. A null row gives a null frame without error. Arrays of any kind of
                layout may be in it: sliced, dictionary-encoded, of views, of large offsets.

        Returns:
            A frame or an error for each row. `frames` is a `binary` array, or `large_binary` if the frames take more
            than 2 GiB together.

        Raises:
            SerializationError: no row could be written: a column's type does not fit, a required field has no column,
                or a column no field; `path` says which. Or Protobuf's frames take more than 2 GiB together.
            TypeError: `struct` is something else.
            MemoryError: there is not enough for the frames.
        """
        if isinstance(struct, pa.Table):
            struct = pa.chunked_array([_rows(batch) for batch in struct.to_batches()], pa.struct(list(struct.schema)))
        elif isinstance(struct, pa.RecordBatch):
            struct = _rows(struct)
        if not isinstance(struct, (pa.StructArray, pa.ChunkedArray)) or not pa.types.is_struct(struct.type):
            raise TypeError(f"rows are a struct array, not {getattr(struct, 'type', type(struct).__name__)}")
        return self.encoder(struct.type).encode(struct)

    def encoder(self, arrow_type: pa.DataType) -> FrameEncoder:
        """The encoder of one Arrow type: made at the first call, kept. `str` of its `plan` shows it.

        Raises:
            SerializationError: no row of that type can be written.
        """
        found = self._encoders.get(arrow_type)
        if found is None:
            found = self._encoders[arrow_type] = self._make(arrow_type, self._prefix, self._max_row_bytes)
        return found


def _rows(batch: pa.RecordBatch) -> pa.StructArray:
    if not batch.num_columns:
        return pa.array([{}] * batch.num_rows, pa.struct([]))
    return batch.to_struct_array()


def _avro(schema: Schema, resolve: Resolver | None, _: str, __: bool) -> MakeEncoder:
    from serdes.columnar.avro.encode import AvroFrames
    from serdes.columnar.avro.writing import plan_of

    model = load_avro(schema, resolve).model
    return lambda kind, prefix, longest: AvroFrames(plan_of(kind, model), prefix, longest)


def _json(schema: Schema, resolve: Resolver | None, _: str, rest: bool) -> MakeEncoder:
    from serdes.columnar.json.format import JsonColumns
    from serdes.columnar.json.writing import JsonFrames

    parsed = JsonColumns().load(schema, resolve)
    return lambda kind, prefix, longest: JsonFrames(kind, parsed, prefix, longest, rest)


def _protobuf(schema: Schema, resolve: Resolver | None, message_type: str, _: bool) -> MakeEncoder:
    from serdes.columnar.protobuf.encode import ProtobufFrames
    from serdes.columnar.protobuf.format import load_resolved

    parsed = load_resolved(schema, resolve)
    return lambda kind, prefix, longest: ProtobufFrames(parsed, kind, prefix, longest, message_type)


FORMATS: Final[dict[str, Callable[[Schema, Resolver | None, str, bool], MakeEncoder]]] = {
    "AVRO": _avro,
    "JSON": _json,
    "PROTOBUF": _protobuf,
}
