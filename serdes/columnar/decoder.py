"""Framed bytes in, Arrow columns and row errors out: the interface pipelines decode through.

Must not know of Spark or Kafka. Needs pyarrow (the extra `arrow`). Rows are decoded as objects for now: a decoder that
fills columns takes their place behind the same interface.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import pyarrow as pa

from registry import InvalidSchemaError, RuleMode, Schema, SchemaRegistryError
from registry.schemas.references import Resolver
from serdes.columnar.avro.types import arrow_type, value_converter
from serdes.errors import SerializationError
from serdes.formats.avro.codec import AvroSchema, Decode, Tags, decoder, load
from serdes.frames.framing import PREFIX_BYTES, schema_id_of

__all__ = [
    "ColumnarDecoder",
    "DecodeResult",
    "SchemaResolver",
    "UnappliedRulesError",
    "reading_rules",
    "rules_refused",
]

MAX_UNKNOWN_IDS = 1000
"""So many schema ids of one batch may be unknown; further ones are not looked up."""

SchemaResolver: TypeAlias = Callable[[int], Schema]
"""Schema id → writer schema; raises `SchemaRegistryError` for an unknown id or if it can't tell."""


ENCRYPTION = ("ENCRYPT", "ENCRYPT_PAYLOAD")
READING = (None, RuleMode.READ, RuleMode.WRITEREAD)


class UnappliedRulesError(SerializationError):
    """A schema has rules that change what is read, and columns are decoded without running rules."""


def reading_rules(schema: Schema) -> list[str]:
    """The names of a schema's rules without which values do not come out as they are meant.

    They are: what transforms or checks while reading, what was encrypted, and migrations between versions.
    """
    rules = schema.rule_set
    if rules is None:
        return []
    found = [
        rule
        for rule in (*(rules.domain_rules or ()), *(rules.encoding_rules or ()))
        if rule.mode in READING or rule.type in ENCRYPTION
    ]
    return [str(rule.name) for rule in (*(rules.migration_rules or ()), *found) if not rule.disabled]


def rules_refused(names: Sequence[str]) -> str:
    """Why values of a schema with such rules are not decoded, and what to do."""
    listed = ", ".join(map(repr, names))
    return (
        f"the schema has rules ({listed}), and columns are decoded without rules: encrypted fields stay encrypted,"
        " migrations are left out. Decode these values with AvroDeserializer, which runs the rules"
    )


@dataclass(frozen=True, slots=True)
class DecodeResult:
    """One decoded batch; both arrays have a row for every frame.

    Attributes:
        struct: the values; null where the frame was null or could not be decoded.
        errors: what was wrong with a row; null where it is fine.
    """

    struct: pa.StructArray
    errors: pa.StringArray


class ColumnarDecoder:
    """Decodes frames of any number of schema ids into columns of one reader schema.

    Writer schemas are resolved and compiled once per id and kept. Threads may share a decoder: what two of them
    find at once is the same.

    Args:
        resolve: gives the writer schema of an id.
        reader_schema: what all values are resolved to; a record.
        resolve_reference: gives the schema behind a reference; needed where schemas have references.

    Attributes:
        arrow_type: the struct type of the columns.

    Raises:
        SerializationError: the reader schema is not a valid Avro record, or is recursive.
        UnappliedRulesError: it has rules that run when values are read.
    """

    def __init__(
        self, resolve: SchemaResolver, reader_schema: Schema, resolve_reference: Resolver | None = None
    ) -> None:
        names = reading_rules(reader_schema)
        if names:
            raise UnappliedRulesError(rules_refused(names))
        self._resolve = resolve
        self._resolve_reference = resolve_reference
        self._reader: AvroSchema = load(reader_schema, resolve_reference)
        kind = arrow_type(self._reader.model)
        if not pa.types.is_struct(kind):
            raise SerializationError(f"columns need a record schema, not {self._reader.model.kind.value}")
        self.arrow_type: pa.StructType = kind
        self._convert = value_converter(self._reader.model)
        self._decoders: dict[int, Decode] = {}

    def decode(self, frames: pa.Array) -> DecodeResult:
        """Decodes a batch.

        Args:
            frames: a binary (large, view or fixed-size binary) array; a null frame gives a null row without error.

        A batch may be junk in which every frame names another schema: after `MAX_UNKNOWN_IDS` unknown ids the others
        are not asked for. Ids of many rows come first, so junk does not take the place of a schema in use.

        Raises:
            SchemaRegistryError: a writer schema could not be looked up (registry not reached, or something else answers
                in its place): that is no row's fault.
            UnappliedRulesError: a writer schema has rules that run when values are read: nulls would hide that.
            TypeError: `frames` is not a binary array.
        """
        if isinstance(frames, pa.ChunkedArray):
            frames = frames.combine_chunks()
        payloads = _payloads(frames)
        rows: list[Any] = [None] * len(payloads)
        errors: list[str | None] = [None] * len(payloads)
        unknown = 0
        for schema_id, positions in self._in_order(self._groups(payloads, errors)):
            try:
                decode = self._decoder(schema_id, unknown)
            except UnappliedRulesError:
                raise
            except SerializationError as error:
                unknown += isinstance(error.__cause__, SchemaRegistryError)
                for at in positions:
                    errors[at] = str(error)
                continue
            self._decode_group(schema_id, decode, positions, payloads, rows, errors)
        struct = self._to_arrow(rows, errors)
        return DecodeResult(struct, pa.array(errors, pa.string()))

    def _groups(self, payloads: Sequence[bytes | None], errors: list[str | None]) -> dict[int, list[int]]:
        """Schema id → positions of its rows; frames without an id get their error."""
        groups: dict[int, list[int]] = {}
        for at, frame in enumerate(payloads):
            if frame is None:
                continue
            try:
                groups.setdefault(schema_id_of(frame), []).append(at)
            except SerializationError as error:
                errors[at] = str(error)
        return groups

    def _in_order(self, groups: dict[int, list[int]]) -> list[tuple[int, list[int]]]:
        """The groups: those whose schema is known first, then those of many rows."""
        return sorted(groups.items(), key=lambda group: (group[0] not in self._decoders, -len(group[1])))

    def _decode_group(
        self,
        schema_id: int,
        decode: Decode,
        positions: Sequence[int],
        payloads: Sequence[bytes | None],
        rows: list[Any],
        errors: list[str | None],
    ) -> None:
        """Decodes the rows of one writer schema."""
        convert = self._convert
        for at in positions:
            try:
                value = decode(payloads[at] or b"")  # null frames are in no group
                rows[at] = value if convert is None else convert(value)
            except SerializationError as error:
                errors[at] = str(error.located(None, None, schema_id))

    def _decoder(self, schema_id: int, unknown: int) -> Decode:
        """The decoder of one writer schema.

        Args:
            schema_id: its id.
            unknown: how many ids of this batch are unknown already.

        Raises:
            SerializationError: the id is unknown, or its schema can't be used, or too many ids are unknown.
            SchemaRegistryError: it may be there, but can't be looked up now.
        """
        found = self._decoders.get(schema_id)
        if found is None:
            if unknown >= MAX_UNKNOWN_IDS:
                reason = f"not looked up, for {unknown} schema ids of this batch are unknown: are these framed values?"
                raise SerializationError(reason, schema_id=schema_id)
            try:
                schema = self._resolve(schema_id)
                writer = load(schema, self._resolve_reference)
            except SchemaRegistryError as error:
                if not error.not_found and not isinstance(error, InvalidSchemaError):
                    raise
                raise SerializationError(error.error_message, schema_id=schema_id) from error
            except SerializationError as error:
                raise error.located(None, None, schema_id) from error
            names = reading_rules(schema)
            if names:
                raise UnappliedRulesError(rules_refused(names), schema_id=schema_id)
            found = decoder(writer, self._reader, skip=PREFIX_BYTES, tags=Tags.PLACES)
            self._decoders[schema_id] = found
        return found

    def _to_arrow(self, rows: list[Any], errors: list[str | None]) -> pa.StructArray:
        """The rows as columns; a row with a value Arrow has no place for becomes an error."""
        try:
            return pa.array(rows, self.arrow_type)
        except (pa.ArrowException, ValueError, TypeError, OverflowError):
            for at, row in enumerate(rows):
                if row is not None:
                    errors[at] = self._arrow_error(row)
                    rows[at] = row if errors[at] is None else None
            return pa.array(rows, self.arrow_type)

    def _arrow_error(self, row: Any) -> str | None:
        try:
            pa.array([row], self.arrow_type)
        except (pa.ArrowException, ValueError, TypeError, OverflowError) as error:
            return f"the value does not fit its column: {error}"
        return None


def _payloads(frames: pa.Array) -> list[bytes | None]:
    kind = frames.type
    if not (
        pa.types.is_binary(kind)
        or pa.types.is_large_binary(kind)
        or pa.types.is_binary_view(kind)
        or pa.types.is_fixed_size_binary(kind)
        or pa.types.is_null(kind)
    ):
        raise TypeError(f"framed payloads are a binary array, not {kind}")
    payloads: list[bytes | None] = frames.to_pylist()
    return payloads
