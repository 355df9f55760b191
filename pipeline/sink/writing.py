"""Rows to records: which columns a frame must have, how structs are encoded, and what a task sends.

The plan is made on the driver (the registry is asked there, once) and travels to executors. Must not know of sessions.
Columns are those of Spark's own Kafka sink, and `timestamp`.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc

from pipeline.client.delivery import Delivery
from pipeline.client.letter_box import LetterBox
from pipeline.client.once import OnceDelivery, Turn, check_parts
from pipeline.columns.dead_letters import letters
from pipeline.columns.modes import Fault, RowCode
from pipeline.columns.resolver import client_of
from pipeline.errors import OptionError, PlanError, WriteError
from pipeline.sink.options import Encoding, WriteOptions
from registry import Schema, SchemaReference, SchemaRegistryClient, SchemaRegistryError
from registry.schemas.references import resolve_all
from serdes import SerializationError
from serdes.columnar import ColumnarEncoder, avro_schema_of, json_schema_of

FIELDS: Final = ("key", "value")
TIMES: Final = ("timestamp", "timestamp_ntz", "bigint")


@dataclass(frozen=True)
class EncodePlan:
    """How keys or values are encoded; travels to executors.

    Attributes:
        field: `key` or `value`.
        subject: of the schema.
        schema: what they are written with.
        schema_id: its id.
        references: what it refers to, by subject and version.
        message_type: Protobuf's.
    """

    field: str
    subject: str
    schema: Schema
    schema_id: int
    references: Mapping[tuple[str, int], Schema]
    message_type: str = ""

    def encoder(self) -> ColumnarEncoder:
        """A new encoder.

        Raises:
            PlanError: the schema can't be written from columns.
        """

        def resolve(reference: SchemaReference) -> Schema:
            return self.references[reference.subject, reference.version]

        try:
            return ColumnarEncoder(self.schema, self.schema_id, resolve, message_type=self.message_type)
        except (SerializationError, ValueError) as error:
            raise PlanError(
                f"subject {self.subject!r}: {self.field}s can't be written with its schema: {error}"
            ) from error


@dataclass(frozen=True)
class WritePlan:
    """What a task does with its rows; travels to executors."""

    options: WriteOptions
    fields: tuple[EncodePlan, ...] = field(default=())


def plan_write(options: WriteOptions, columns: Mapping[str, str], schema: pa.Schema) -> WritePlan:
    """Checks the columns of a frame, and asks the registry what structs are written with.

    Args:
        options: of the write.
        columns: name and Spark type of each column, as Spark's `simpleString` has it.
        schema: the same as Arrow has it.

    Raises:
        OptionError: a column is missing or has the wrong type.
        PlanError: the registry can't be reached, has no such subject, or its schema does not fit the column.
    """
    _check_columns(options, columns)
    hows = {"key": options.key, "value": options.value}
    plans = []
    for name in FIELDS:
        how = hows[name]
        if how is not None and name in columns:
            plans.append(_encode_plan(name, how, schema.field(name).type, options))
    return WritePlan(options, tuple(plans))


def _check_columns(options: WriteOptions, columns: Mapping[str, str]) -> None:
    if "value" not in columns:
        listed = ", ".join(columns) or "none"
        raise OptionError(f"a column 'value' is needed: the columns are {listed}")
    if options.topic is None and "topic" not in columns:
        raise OptionError('where do rows go? Give the option "topic", or a column of that name')
    wanted: dict[str, Sequence[str]] = {
        "topic": ("string",),
        "partition": ("int",),
        "timestamp": TIMES,
        "headers": ("array<struct<key:string,value:binary>>",),
    }
    encoded = {"key": options.key, "value": options.value}
    for name in FIELDS:
        how = encoded[name]
        if how is None:
            wanted[name] = ("binary", "string")
        elif not columns.get(name, "struct<").startswith("struct<"):
            raise OptionError(f"column {name!r} must be a struct to be encoded as {how.format}, not {columns[name]}")
    for name, types in wanted.items():
        kind = columns.get(name)
        if kind is not None and kind not in types:
            hint = f'; option "{name}.format" encodes structs' if name in FIELDS and kind.startswith("struct<") else ""
            raise OptionError(f"column {name!r} must be {' or '.join(types)}, not {kind}{hint}")


def _encode_plan(name: str, how: Encoding, kind: pa.DataType, options: WriteOptions) -> EncodePlan:
    references: dict[tuple[str, int], Schema] = {}
    try:
        client = client_of(options.registry)
        schema, schema_id = _schema(client, how, kind, register=options.auto_register)

        def remember(reference: SchemaReference) -> Schema:
            key = (reference.subject, reference.version)
            if key not in references:
                references[key] = client.get_version(*key).schema
            return references[key]

        resolve_all(schema, remember)
    except (SchemaRegistryError, ValueError) as error:
        raise PlanError(f"the schema of subject {how.subject!r} can't be had from the registry: {error}") from error
    plan = EncodePlan(name, how.subject, schema, schema_id, references, how.message_type)
    try:
        plan.encoder().encoder(kind)
    except SerializationError as error:
        raise PlanError(f"column {name!r} can't be written as subject {how.subject!r} wants it: {error}") from error
    return plan


def _schema(client: SchemaRegistryClient, how: Encoding, kind: pa.DataType, *, register: bool) -> tuple[Schema, int]:
    """What is written with, and its id."""
    text = how.schema
    if text is None and not register:
        latest = client.get_latest_version(how.subject)
        found = latest.schema.schema_type or "AVRO"
        if found != how.format:
            raise OptionError(f"the schemas of subject {how.subject!r} are {found}, not {how.format}")
        return latest.schema, latest.schema_id
    if text is None:
        text = _derived(how, kind)
    schema = Schema(text, how.format)
    if register:
        return schema, client.register_schema(how.subject, schema)
    return schema, client.lookup_schema(how.subject, schema).schema_id


def _derived(how: Encoding, kind: pa.DataType) -> str:
    if how.format == "PROTOBUF":
        raise OptionError('a Protobuf schema is not made of columns: give "value.schema", or register one')
    name = "".join(part.capitalize() for part in how.subject.replace(".", "-").split("-")) or "Row"
    return avro_schema_of(kind, name=name) if how.format == "AVRO" else json_schema_of(kind)


# ---- on executors


@dataclass(frozen=True, slots=True)
class Written:
    """What a task has done.

    Attributes:
        rows: how many rows it had.
        turn: exactly once: which part of what it has written; None: at least once.
        maybe_cut_off: whether an earlier try of the turn may have ended before all its tasks had.
    """

    rows: int
    turn: Turn | None = None
    maybe_cut_off: bool = False


def write_rows(batches: Iterable[pa.RecordBatch], plan: WritePlan, turn: Turn | None = None) -> Written:
    """Sends all rows of a task, and waits until they are delivered.

    Args:
        batches: the rows.
        plan: of the write.
        turn: exactly once: what the task is called, and which of its turns it is; None: at least once.

    Raises:
        WriteError: a row can't be sent, or was not delivered. Rows of the task may be in the topic all the same, with
            a turn in a transaction that is aborted.
    """
    options = plan.options
    encoders = {one.field: one.encoder() for one in plan.fields}
    once = (
        None
        if turn is None
        else OnceDelivery(options.producer_config(), options.timeout_s, turn, options.admin_config())
    )
    delivery = once or Delivery(options.producer_config(), options.timeout_s)
    box = None
    if options.dead_letter_topic is not None:  # letters of a transaction are in the transaction
        box = LetterBox(options.producer_config(), options.dead_letter_topic, options.timeout_s, shared=once)
    rows = 0
    try:
        for batch in batches:
            rows += batch.num_rows
            for topic, records in _by_topic(_encoded(batch, encoders, options, box), options):
                delivery.send(topic, records)
        if box is not None:
            box.close()
    except BaseException:
        delivery.abort()
        raise
    delivery.finish()
    return Written(rows, turn, once is not None and (once.written_before or once.begins_a_run))


def check_tries(done: Sequence[Written], options: WriteOptions) -> None:
    """Checks, when all tasks of a turn have ended, that no earlier try of it had more tasks: they have written, too.

    Args:
        done: what the tasks have told.
        options: of the write.

    Raises:
        WriteError: see `check_parts`.
    """
    turns = [one.turn for one in done if one.turn is not None]
    if turns and any(one.maybe_cut_off for one in done):
        first = turns[0]
        check_parts(options.admin_config(), first.write, first.number, len(done), options.timeout_s)


def _encoded(
    batch: pa.RecordBatch, encoders: Mapping[str, ColumnarEncoder], options: WriteOptions, box: LetterBox | None
) -> pa.RecordBatch:
    """The columns of records, structs encoded."""
    kept = ["key", "value", "topic", "partition", "timestamp", *(["headers"] if options.headers else [])]
    columns = {name: batch.column(name) for name in kept if name in batch.schema.names}
    good: pa.Array | None = None
    for name, encoder in encoders.items():
        result = encoder.encode(columns[name])
        if result.errors.null_count < len(result.errors):
            _report(batch, name, result.errors, box)
            fine = result.errors.is_null()
            good = fine if good is None else pc.and_(good, fine)
        columns[name] = result.frames
    made = pa.RecordBatch.from_pydict(columns)
    return made if good is None else made.filter(good)


def _report(batch: pa.RecordBatch, name: str, errors: pa.Array, box: LetterBox | None) -> None:
    rows = pc.indices_nonzero(errors.is_valid()).to_pylist()
    if box is None:
        raise WriteError(f"row {rows[0]} of a batch: the {name} can't be encoded: {errors[rows[0]]}")
    faults = [Fault(row, RowCode.BAD_PAYLOAD, errors[row].as_py()) for row in rows]
    box.post(letters(_as_texts(batch), faults, name))


def _as_texts(batch: pa.RecordBatch) -> pa.RecordBatch:
    """The rows with what is no bytes as JSON: there are no other bytes of it."""
    nothing = pa.nulls(batch.num_rows)
    found: dict[str, Any] = {}
    for name in ("key", "value", "topic", "partition", "offset", "timestamp"):
        column = batch.column(name) if name in batch.schema.names else nothing
        if name in FIELDS and pa.types.is_struct(column.type):
            texts = [None if row is None else json.dumps(row, default=str).encode() for row in column.to_pylist()]
            column = pa.array(texts, pa.binary())
        found[name] = pa.nulls(batch.num_rows, pa.int64()) if name == "offset" else column
    if "headers" in batch.schema.names:
        found["headers"] = batch.column("headers")
    return pa.RecordBatch.from_pydict(found)


def _by_topic(batch: pa.RecordBatch, options: WriteOptions) -> Iterator[tuple[str, pa.RecordBatch]]:
    """The rows of each topic, in order."""
    names = batch.schema.names
    rest = batch.select([name for name in names if name != "topic"])
    if options.topic is not None:
        yield options.topic, rest
        return
    column = batch.column("topic")
    for topic in pc.unique(column).to_pylist():
        if topic is None:
            raise WriteError('a row has no topic: its column "topic" is null, and the option "topic" is not given')
        yield topic, rest.filter(pc.equal(column, topic))
