"""Arrow in, Arrow out: one batch of framed payloads becomes one column of Spark's types.

The one place that joins a plan, the columnar decoders and the mode; runs on executors. Must not know of sessions.
"""

from __future__ import annotations

import dataclasses
import threading
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa
import pyarrow.compute as pc

from pipeline.columns.modes import Fault, Mode, RowCode, fault_of
from pipeline.columns.plan import DecodePlan, Part
from pipeline.columns.resolver import Rules, SnapshotResolver, bare, client_of
from pipeline.columns.roots import ROOT, framed_as_objects, has_record, path_in_root, wrapped
from pipeline.columns.ruled import RuledRows
from pipeline.columns.schema import as_kind, spark_arrow_type
from pipeline.errors import LookupFailedError, OptionError, PlanError, RowError, SchemaChangedError
from registry import Schema, SchemaRegistryError
from registry.schemas.references import within
from serdes import SerializationError
from serdes.columnar import MAX_UNKNOWN_IDS, ColumnarDecoder, ColumnOptions, DecodeResult, UnappliedRulesError
from serdes.columnar.frames import Frames, frames_of

if TYPE_CHECKING:
    from pyspark.sql.types import DataType

ERROR_TYPE: Final = pa.struct(
    [
        ("code", pa.string()),
        ("reason", pa.string()),
        ("schema_id", pa.int64()),
        ("path", pa.string()),
        ("raw", pa.binary()),
    ]
)
"""Field `error` of mode DEADLETTER: null for good rows."""
OTHER_TYPE: Final = "the frame has a message of type "


@dataclass(frozen=True, slots=True)
class Decoded:
    """One decoded batch.

    Attributes:
        values: a row for every frame; null where the frame is null, bad, or of a type that was not asked for.
        faults: the bad rows, in order.
    """

    values: pa.Array
    faults: Sequence[Fault] = ()


class PartDecoder:
    """Decodes one record type.

    Attributes:
        type: of the values, as Spark has it.
    """

    def __init__(self, plan: DecodePlan, part: Part) -> None:
        self._plan = plan
        self.part = part
        snapshot = part.snapshot
        self.resolver = SnapshotResolver(snapshot, self._arrived)
        options = plan.options
        if part.name and snapshot.reader.schema_type == "PROTOBUF":
            options = dataclasses.replace(options, message_type=part.name)
        self._ruled: RuledRows | None = None
        reader = snapshot.reader
        if plan.rules is Rules.RUN:
            reader = bare(reader)
            if snapshot.rules():
                self._ruled = RuledRows(plan, snapshot, self.resolver)
        self._root = False
        self._reader, self._options = reader, options
        try:
            self._decoder = self._made(reader, options)
        except SerializationError as error:
            self._root = True
            self._options = _below(options)
            try:
                self._decoder = self._made(reader, self._options)
            except (SerializationError, ValueError):
                told = f"subject {snapshot.subject!r}: the reader schema can't be used: {error}"
                raise PlanError(told) from error
        kind = self._decoder.arrow_type
        self._kind = spark_arrow_type(kind, plan.times)
        self.type: pa.DataType = self._kind.field(0).type if self._root else self._kind

    def _made(self, reader: Schema, options: ColumnOptions) -> ColumnarDecoder:
        """A decoder; of rows whose rules have run, if rules run over the rows of this part."""
        resolver, ruled = self.resolver, self._ruled is not None

        def shape(schema: Schema) -> Schema:
            return self._shape(bare(schema) if ruled else schema)

        return ColumnarDecoder(
            lambda schema_id: shape(resolver(schema_id)),
            shape(reader),
            resolver.reference,
            resolve_guid=lambda guid: shape(resolver.guid(guid)),
            options=options,
        )

    def _shape(self, schema: Schema) -> Schema:
        """A schema as the decoder takes it."""
        if not self._root:
            return schema
        if schema.schema_type == "PROTOBUF":
            raise SerializationError("a message is a record")
        try:
            return wrapped(schema)
        except ValueError as error:
            raise SerializationError(f"the schema is no JSON text: {error}") from error

    def read(self, frames: pa.Array, ids: pa.Array | None) -> Decoded:
        """Decodes a batch.

        Raises:
            LookupFailedError, PlanError, SchemaChangedError: see `BatchDecoder.read`.
        """
        given = frames, ids
        faults: Sequence[Fault] = ()
        try:
            if self._ruled is not None:
                frames, ids, faults = self._ruled.run(frames, ids)
            if self._root and self.part.snapshot.reader.schema_type == "JSON":
                frames = framed_as_objects(frames, ids)
            result = self._decoder.decode(frames, ids)
        except UnappliedRulesError as error:
            if self._plan.rules is Rules.RUN and self._ruled is None:
                self._ruled = RuledRows(self._plan, self.part.snapshot, self.resolver)
                self._decoder = self._made(self._reader, self._options)
                return self.read(*given)
            raise PlanError(f"a schema that was registered after the job was planned can't be used: {error}") from error
        except SchemaRegistryError as error:
            raise LookupFailedError(
                f"a payload's schema is not among those the job was planned with, and can't be looked up: {error}"
            ) from error
        values = as_kind(result.struct, self._kind)
        if self._root:
            values = pc.struct_field(values, [0])
        found = self._faults(result, frames, ids)
        return Decoded(values, sorted((*faults, *found), key=lambda fault: fault.row) if faults else found)

    def _faults(self, result: DecodeResult, frames: pa.Array, ids: pa.Array | None) -> Sequence[Fault]:
        errors = result.errors
        if errors.null_count == len(errors):
            return ()
        rows = frames_of(frames, ids)
        return [
            self._fault(rows, row, errors[row].as_py()) for row in pc.indices_nonzero(errors.is_valid()).to_pylist()
        ]

    def _fault(self, rows: Frames, row: int, text: str) -> Fault:
        name = rows.name_of(row)
        fault = fault_of(row, self._code(name), text, name if isinstance(name, int) else None)
        if self._root and fault.path is not None:
            fault = dataclasses.replace(fault, path=path_in_root(fault.path))
        return fault

    def _code(self, name: int | bytes | None) -> RowCode:
        if name is None:
            return RowCode.NOT_FRAMED
        if not self.resolver.knows(name if isinstance(name, int) else str(uuid.UUID(bytes=name))):
            return RowCode.UNKNOWN_SCHEMA
        return RowCode.BAD_PAYLOAD if self._decoder.reads(name) else RowCode.UNFIT_SCHEMA

    def _arrived(self, schema: Schema) -> Schema:
        """A schema that was not in the snapshot.

        Raises:
            SchemaChangedError: the subject's newest version has other columns, and the plan is to stop then.
        """
        snapshot = self.part.snapshot
        if self._plan.evolution == "restart" and snapshot.newest and snapshot.subject:
            client = client_of(snapshot.registry)
            newest = client.get_version(snapshot.subject, max(client.get_versions(snapshot.subject)))
            latest = within(newest.schema, snapshot.subject)
            later = dataclasses.replace(snapshot, reader=latest, schemas={}, guids={})
            plan = dataclasses.replace(self._plan, parts=(Part("", "", later),), evolution="ignore")
            if latest != snapshot.reader and PartDecoder(plan, plan.parts[0]).type != self.type:
                raise SchemaChangedError(
                    f"subject {snapshot.subject!r} has version {newest.version} (schema id {newest.schema_id}) since"
                    " the plan was made, and its columns are others: start the job again to have them"
                    " (evolution='ignore' would go on with the columns of the plan)"
                )
        return bare(schema) if self._plan.rules is Rules.IGNORE else schema


def _below(options: ColumnOptions) -> ColumnOptions:
    """The options with all paths one level deeper."""
    if options.columns is None:
        return options
    return dataclasses.replace(options, columns=tuple(f"{ROOT}.{path}" for path in options.columns))


class BatchDecoder:
    """Decodes batches for one plan; safe to share between threads.

    Attributes:
        value_type: of `Decoded.values`: what good rows have.
        arrow_type: what `decode` returns; with an error field it is the last field, or beside `value` if the values are
            no records.

    Raises:
        PlanError: the reader schema has no Spark type, or has not the columns.
        OptionError: the error field is already a field of the schema (Spark does not tell names apart by their case).
    """

    def __init__(self, plan: DecodePlan) -> None:
        self._plan = plan
        self._parts = [PartDecoder(plan, part) for part in plan.parts]
        if plan.parts[0].name:
            self.value_type: pa.DataType = pa.struct([pa.field(one.part.field, one.type) for one in self._parts])
        else:
            self.value_type = self._parts[0].type
        self.arrow_type: pa.DataType = _column_type(plan, self.value_type)

    def decode(
        self, frames: pa.Array, ids: pa.Array | None = None, origin: Mapping[str, pa.Array] | None = None
    ) -> pa.Array:
        """One row for each frame; a null frame (a tombstone) is a null row and no error.

        Args:
            frames: a binary array.
            ids: values of the header that names the schema, null where it stands in front of the payload; None for no
                headers.
            origin: arrays `topic`, `partition` and `offset`, for errors.

        Raises:
            RowError: mode FAILFAST, and a row can't be decoded.
            LookupFailedError: a schema is not in the snapshot, and the registry can't be reached.
            PlanError: such a schema has rules that run when values are read, and they are refused.
            SchemaChangedError: a newer schema has other columns, and the plan is to stop then.
        """
        return self.column(self.read(frames, ids), frames, origin)

    def read(self, frames: pa.Array, ids: pa.Array | None = None) -> Decoded:
        """Values and faults, whatever the mode; raises as `decode` does, but for RowError."""
        if not self._plan.parts[0].name:
            return self._parts[0].read(frames, ids)
        return self._types(frames, ids)

    def column(self, decoded: Decoded, frames: pa.Array, origin: Mapping[str, pa.Array] | None = None) -> pa.Array:
        """The column of a decoded batch, by the plan's mode.

        Raises:
            RowError: mode FAILFAST, and there is a fault.
        """
        plan, values, faults = self._plan, decoded.values, decoded.faults
        if plan.mode is Mode.FAILFAST and faults:
            raise _row_error(faults[0], origin)
        if plan.mode is Mode.DEADLETTER:
            errors = _error_structs(len(values), faults, frames)
            return pa.StructArray.from_arrays([values, errors], fields=list(self.arrow_type))
        if plan.error_field is None and (not faults or plan.bad_row == "null"):
            return values
        texts: list[str | None] = [None] * len(values) if faults else []
        for fault in faults:
            texts[fault.row] = str(fault)
        errors = pa.array(texts, pa.string()) if faults else pa.nulls(len(values), pa.string())
        children = values.flatten() if pa.types.is_struct(values.type) else [values]
        if plan.error_field is not None:
            children.append(errors)
        nothing = pc.and_(values.is_null(), errors.is_null())
        return pa.StructArray.from_arrays(children, fields=list(self.arrow_type), mask=nothing)

    def _types(self, frames: pa.Array, ids: pa.Array | None) -> Decoded:
        """Each row as its own type; a row of a type that was not asked for is null and no fault."""
        rows = frames_of(frames, ids)
        candidates = self._candidates(rows)
        settled = frames.is_null()
        columns, faults = [], list[Fault]()
        for number, part in enumerate(self._parts):
            places = [0 if number in one else 1 for one in candidates]
            place = pa.Array.from_buffers(pa.int32(), rows.rows, [None, pa.py_buffer(rows.plan_of_row(places))])
            nameless = pc.less(place, 0) if number == 0 else pa.scalar(False)
            mine = pc.and_not(pc.or_(pc.equal(place, 0), nameless), settled)
            decoded = part.read(pc.if_else(mine, frames, None), ids)
            others = [fault.row for fault in decoded.faults if fault.reason.startswith(OTHER_TYPE)]
            faults += [fault for fault in decoded.faults if not fault.reason.startswith(OTHER_TYPE)]
            columns.append(decoded.values)
            if others:
                mine = pc.and_not(mine, pc.is_in(pa.array(range(rows.rows)), pa.array(others)))
            settled = pc.or_(settled, mine)
        empty = columns[0].is_null()
        for column in columns[1:]:
            empty = pc.and_(empty, column.is_null())
        values = pa.StructArray.from_arrays(columns, fields=list(self.value_type), mask=empty)
        return Decoded(values, sorted(faults, key=lambda fault: fault.row))

    def _candidates(self, rows: Frames) -> list[list[int]]:
        """For each name in the batch, the parts that may read it; the first for what is unknown, which then says so."""
        made: list[list[int]] = []
        unknown = 0
        for name, _ in rows.names():
            found = None
            if unknown < MAX_UNKNOWN_IDS:
                found = self._schema(name)
                unknown += found is None
            if found is None:
                made.append([0])
                continue
            schema, resolver = found
            numbers = enumerate(self._parts)
            made.append([n for n, part in numbers if has_record(schema, resolver.reference, part.part.name)])
        return made

    def _schema(self, name: int | bytes) -> tuple[Schema, SnapshotResolver] | None:
        known: int | str = name if isinstance(name, int) else str(uuid.UUID(bytes=name))
        resolvers = [part.resolver for part in self._parts]
        resolver = next((one for one in resolvers if one.knows(known)), resolvers[0])
        try:
            return (resolver(known) if isinstance(known, int) else resolver.guid(known)), resolver
        except SchemaRegistryError as error:
            if error.not_found:
                return None
            raise LookupFailedError(f"a payload's schema can't be looked up: {error}") from error


def _column_type(plan: DecodePlan, value: pa.DataType) -> pa.DataType:
    if plan.mode is Mode.DEADLETTER:
        return pa.struct([pa.field("value", value), pa.field("error", ERROR_TYPE)])
    if plan.error_field is None:
        if plan.bad_row == "struct" and not pa.types.is_struct(value):
            raise OptionError(f"bad_row='struct' needs records; the values are {value}")
        return value
    fields = list(value) if pa.types.is_struct(value) else [pa.field(ROOT, value)]
    if any(field.name.lower() == plan.error_field.lower() for field in fields):
        raise OptionError(f"error_field {plan.error_field!r} is a field of the schema: choose another name")
    return pa.struct([*fields, pa.field(plan.error_field, pa.string())])


def _row_error(fault: Fault, origin: Mapping[str, pa.Array] | None) -> RowError:
    place: dict[str, Any] = {}
    if origin is not None:
        place = {name: origin[name][fault.row].as_py() for name in ("topic", "partition", "offset")}
    facts: dict[str, Any] = {"code": fault.code.value, "schema_id": fault.schema_id, "path": fault.path}
    return RowError(fault.row, str(fault), **facts, **place)


def _error_structs(rows: int, faults: Sequence[Fault], frames: pa.Array) -> pa.Array:
    if not faults:
        return pa.nulls(rows, ERROR_TYPE)
    made: list[dict[str, Any] | None] = [None] * rows
    for fault in faults:
        facts = {"code": fault.code.value, "reason": fault.reason, "schema_id": fault.schema_id, "path": fault.path}
        made[fault.row] = {**facts, "raw": frames[fault.row].as_py()}
    return pa.array(made, ERROR_TYPE)


_decoders: dict[str, BatchDecoder] = {}
_decoders_lock = threading.Lock()
_KEPT = 64


def shared_decoder(plan: DecodePlan) -> BatchDecoder:
    """The decoder of this plan in this process: Python workers live on over tasks, so schemas are compiled once."""
    with _decoders_lock:
        decoder = _decoders.get(plan.key)
        if decoder is None:
            if len(_decoders) >= _KEPT:
                _decoders.pop(next(iter(_decoders)))
            decoder = _decoders[plan.key] = BatchDecoder(plan)
        return decoder


def spark_type_of(plan: DecodePlan) -> DataType:
    """The Spark type of the decoded column.

    Raises:
        PlanError: the reader schema has no Spark type.
        OptionError: the error field is already a field of it.
    """
    from pipeline.columns.schema import spark_type

    return spark_type(shared_decoder(plan).arrow_type)
