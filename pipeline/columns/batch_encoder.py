"""Columns in, frames out: batches of one schema, whose rules run over the frames that columns gave.

Must not know of sessions, nor where a plan comes from.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from typing import Any, Final, NoReturn

import pyarrow as pa
import pyarrow.compute as pc

from pipeline.columns.encode_plan import EncodePlan
from pipeline.columns.modes import Fault, Mode, RowCode, fault_of
from pipeline.columns.resolver import Rules, bare
from pipeline.columns.roots import ROOT, wrapped
from pipeline.columns.ruled_frames import RuledFrames
from pipeline.columns.schema_types import OUT_OF_RANGE, as_schema_types, levels_of, with_schema_types
from pipeline.errors import LookupFailedError, PlanError, RowError
from registry import Schema
from serdes import SerializationError
from serdes.columnar import ColumnarDecoder, ColumnarEncoder, ColumnOptions, writing_rules


class BatchEncoder:
    """Encodes batches for one plan; safe to share between threads.

    Raises:
        PlanError: the schema is not valid, or has rules and they are refused.
    """

    def __init__(self, plan: EncodePlan) -> None:
        self._plan = plan
        self._lock = threading.Lock()
        self._ruled = bool(writing_rules(plan.schema)) and plan.rules is Rules.RUN
        self._schema = bare(plan.schema) if self._ruled else plan.schema
        self._rules: RuledFrames | None = None
        try:
            self._records = self._encoder(self._schema)
        except (SerializationError, ValueError) as error:
            told = f"subject {plan.subject!r}, schema id {plan.schema_id}"
            raise PlanError(f"{told}: the schema can't be written from columns: {error}") from error
        self._roots: ColumnarEncoder | None = None
        self._kinds: dict[pa.DataType, pa.DataType] = {}

    def _encoder(self, schema: Schema) -> ColumnarEncoder:
        plan = self._plan
        return ColumnarEncoder(
            schema, plan.schema_id, plan.reference, message_type=plan.message_type, unnamed=plan.unnamed
        )

    def check(self, kind: pa.DataType) -> None:
        """Checks that columns of this type can be written.

        Raises:
            PlanError: they can't.
        """
        try:
            if pa.types.is_struct(kind):
                self._records.encoder(self._kind(kind))
        except SerializationError as error:
            subject = self._plan.subject
            raise PlanError(
                f"columns of type {kind} can't be written as subject {subject!r} wants it: {error}"
            ) from error

    def encode(self, values: pa.Array) -> pa.Array:
        """One frame for each value; a null value (a tombstone) is null.

        Raises:
            RowError: mode FAILFAST, and a row can't be written.
            PlanError: no row of this type can be written.
            LookupFailedError: rules need the registry or a key service, which is away.
        """
        frames, faults = self.read(values)
        if self._plan.mode is Mode.FAILFAST and faults:
            raise row_error(faults[0])
        return frames

    def read(self, values: pa.Array) -> tuple[pa.Array, list[Fault]]:
        """Frames and faults, whatever the mode; raises as `encode` does, but for RowError."""
        frames, faults = self._by_columns(values)
        return self._by_rules(frames, faults) if self._ruled else (frames, faults)

    def _by_columns(self, values: pa.Array) -> tuple[pa.Array, list[Fault]]:
        outside: list[int] = []
        if values.type != (kind := self._kind(values.type)):
            values, outside = as_schema_types(values, kind)
        try:
            if pa.types.is_struct(values.type):
                result = self._records.encode(values)
            else:
                result = self._root_encoder().encode(_as_records(values))
        except SerializationError as error:
            raise PlanError(f"columns of type {values.type} can't be written: {error}") from error
        errors = result.errors
        bad = pc.indices_nonzero(errors.is_valid()).to_pylist() if errors.null_count < len(errors) else []
        faults = [self._fault(row, errors[row].as_py()) for row in bad]
        faults += [self._fault(row, OUT_OF_RANGE) for row in outside]
        return result.frames, sorted(faults, key=lambda fault: fault.row) if outside else faults

    def _kind(self, kind: pa.DataType) -> pa.DataType:
        """The type in which columns of Spark's type are written."""
        found = self._kinds.get(kind)
        if found is None:
            found = kind
            if pa.types.is_struct(kind) and self._schema.schema_type != "AVRO":
                found = with_schema_types(kind, self._decoded(levels_of(kind)))
            self._kinds[kind] = found
        return found

    def _decoded(self, levels: int) -> pa.DataType:
        """The type in which the schema's values are read; one without fields if columns can't be made of them."""
        options = ColumnOptions(message_type=self._plan.message_type, recursive_max_depth=levels)
        try:
            return ColumnarDecoder(no_schema, bare(self._schema), self._plan.reference, options=options).arrow_type
        except SerializationError:
            return pa.struct([])

    def _fault(self, row: int, text: str) -> Fault:
        return fault_of(row, RowCode.BAD_VALUE, text, self._plan.schema_id)

    def _root_encoder(self) -> ColumnarEncoder:
        if self._roots is None:
            if self._schema.schema_type != "AVRO":
                raise SerializationError(f"{self._schema.schema_type} is written from structs")
            self._roots = self._encoder(wrapped(self._schema))
        return self._roots

    def _by_rules(self, frames: pa.Array, faults: list[Fault]) -> tuple[pa.Array, list[Fault]]:
        """Runs the rules over the rows that columns gave, one by one; with FAILFAST up to the first bad one."""
        with self._lock:
            if self._rules is None:
                self._rules = RuledFrames(self._plan, self._schema)
        found = {fault.row: fault for fault in faults}
        made: list[bytes | None] = [None] * len(frames)
        for row, frame in enumerate(frames.to_pylist()):
            if frame is not None:
                try:
                    made[row] = self._rules.frame(frame)
                except SerializationError as error:
                    if error.registry_away:
                        raise LookupFailedError(f"rules need a service that is away: {error}") from error
                    found[row] = self._fault(row, str(error))
            if row in found and self._plan.mode is Mode.FAILFAST:
                break
        return pa.array(made, pa.binary()), [found[row] for row in sorted(found)]


def no_schema(schema_id: int) -> NoReturn:
    """The writer schema of an id, where nothing is decoded."""
    raise AssertionError(f"schema id {schema_id} was asked for")


def row_error(fault: Fault) -> RowError:
    """The error that FAILFAST raises."""
    facts: dict[str, Any] = {"code": fault.code.value, "schema_id": fault.schema_id, "path": fault.path}
    return RowError(fault.row, str(fault), verb="encoded", **facts)


def _as_records(values: pa.Array) -> pa.Array:
    return pa.StructArray.from_arrays([values], names=[ROOT], mask=pc.is_null(values))


_encoders: OrderedDict[str, BatchEncoder] = OrderedDict()
_lock = threading.Lock()
_KEPT: Final = 64


def shared_encoder(plan: EncodePlan) -> BatchEncoder:
    """The encoder of this plan in this process."""
    with _lock:
        encoder = _encoders.get(plan.key)
        if encoder is None:
            encoder = _encoders[plan.key] = BatchEncoder(plan)
            while len(_encoders) > _KEPT:
                _encoders.popitem(last=False)
        return encoder
