"""Arrow in, Arrow out: one batch of framed payloads becomes one struct array of Spark's types.

The one place that joins a snapshot, the columnar decoder and the mode; runs on executors. Must not know of sessions.
"""

from __future__ import annotations

import enum
import threading
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc

from pipeline.errors import LookupFailedError, OptionError, PlanError, RowError
from pipeline.resolver import Snapshot, SnapshotResolver
from pipeline.schema import spark_arrow_type
from registry import SchemaRegistryError
from serdes import SerializationError
from serdes.columnar import ColumnarDecoder, ColumnOptions, DecodeResult, UnappliedRulesError

__all__ = ["BatchDecoder", "Mode", "shared_decoder"]

DEFAULTS: Final = ColumnOptions()


class Mode(enum.Enum):
    """What happens to a payload that can't be decoded."""

    PERMISSIVE = "PERMISSIVE"
    """It becomes null; its error is in the error field, if one is asked for."""
    FAILFAST = "FAILFAST"
    """The job stops with RowError."""

    @classmethod
    def of(cls, name: str) -> Mode:
        """The mode of this name, in any case.

        Raises:
            OptionError: there is no such mode.
        """
        try:
            return cls(name.upper())
        except ValueError:
            raise OptionError(f"mode {name!r} is unknown: PERMISSIVE or FAILFAST") from None


class BatchDecoder:
    """Decodes batches for one snapshot; safe to share between threads.

    Args:
        snapshot: the subject's schemas.
        mode: what happens to bad rows.
        error_field: name of the field with their errors.
        options: which columns, and how they are read.

    Attributes:
        arrow_type: what `decode` returns: the reader schema's fields, and the error field (a string) at the end.

    Raises:
        PlanError: the reader schema is not a record that has a Spark type, or has not the columns.
        OptionError: the error field is already a field of the schema (Spark does not tell names apart by their case).
    """

    def __init__(
        self, snapshot: Snapshot, mode: Mode, error_field: str | None = None, options: ColumnOptions = DEFAULTS
    ) -> None:
        resolver = SnapshotResolver(snapshot)
        try:
            self._decoder = ColumnarDecoder(resolver, snapshot.reader, resolver.reference, options=options)
        except SerializationError as error:
            raise PlanError(f"subject {snapshot.subject!r}: the reader schema can't be used: {error}") from error
        self._mode = mode
        self._error_field = error_field
        self._value_type: pa.StructType = spark_arrow_type(self._decoder.arrow_type)
        fields = list(self._value_type)
        if error_field is not None:
            if any(field.name.lower() == error_field.lower() for field in fields):
                raise OptionError(f"error_field {error_field!r} is a field of the schema: choose another name")
            fields.append(pa.field(error_field, pa.string()))
        self.arrow_type: pa.StructType = pa.struct(fields)

    def decode(self, frames: pa.Array) -> pa.StructArray:
        """One row for each frame; a null frame (a tombstone) is a null row and no error.

        Raises:
            RowError: mode FAILFAST, and a row can't be decoded.
            LookupFailedError: a schema is not in the snapshot, and the registry can't be reached.
            PlanError: such a schema has rules that run when values are read.
        """
        result = self._decoded(frames)
        if self._mode is Mode.FAILFAST and result.errors.null_count < len(result.errors):
            row = next(index for index, error in enumerate(result.errors) if error.is_valid)
            raise RowError(row, result.errors[row].as_py())
        struct = result.struct.cast(self._value_type)
        if self._error_field is None:
            return struct
        return self._with_errors(struct, result.errors)

    def _decoded(self, frames: pa.Array) -> DecodeResult:
        try:
            return self._decoder.decode(frames)
        except UnappliedRulesError as error:
            raise PlanError(f"a schema that was registered after the job was planned can't be used: {error}") from error
        except SchemaRegistryError as error:
            raise LookupFailedError(
                f"a payload's schema is not among those the job was planned with, and can't be looked up: {error}"
            ) from error

    def _with_errors(self, struct: pa.StructArray, errors: pa.Array) -> pa.StructArray:
        """The struct with the error as its last field: a bad row is not null then, only all its values are."""
        tombstone = pc.and_(struct.is_null(), errors.is_null())
        children = [*struct.flatten(), errors]
        return pa.StructArray.from_arrays(children, fields=list(self.arrow_type), mask=tombstone)


_decoders: dict[str, BatchDecoder] = {}
_decoders_lock = threading.Lock()
_KEPT = 64


def shared_decoder(
    plan_id: str, snapshot: Snapshot, mode: Mode, error_field: str | None, options: ColumnOptions = DEFAULTS
) -> BatchDecoder:
    """The decoder of this plan in this process: Python workers live on over tasks, so schemas are compiled once."""
    with _decoders_lock:
        decoder = _decoders.get(plan_id)
        if decoder is None:
            if len(_decoders) >= _KEPT:
                _decoders.pop(next(iter(_decoders)))
            decoder = _decoders[plan_id] = BatchDecoder(snapshot, mode, error_field, options)
        return decoder
