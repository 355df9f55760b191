"""Rows to records: which columns a frame must have, how structs are encoded, and what a task sends.

The plan is made on the driver (the registry is asked there, once) and travels to executors. Must not know of sessions.
Columns are those of Spark's own Kafka sink, and `timestamp`.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc

from pipeline.client.delivery import Delivery
from pipeline.client.letter_box import LetterBox
from pipeline.client.once import OnceDelivery, Turn, check_parts
from pipeline.columns.batch_encoder import shared_encoder
from pipeline.columns.by_row import ByRowPlan, write_leniently, writing_plan
from pipeline.columns.dead_letters import letters
from pipeline.columns.encode_plan import EncodePlan
from pipeline.columns.encoding import EncodeArguments
from pipeline.columns.modes import Fault
from pipeline.errors import OptionError, PlanError, WriteError
from pipeline.sink.options import Encoding, WriteOptions
from serdes import SerializationError
from serdes.columnar import avro_schema_of, json_schema_of

FIELDS: Final = ("key", "value")
TIMES: Final = ("timestamp", "timestamp_ntz", "bigint")


@dataclass(frozen=True)
class FieldPlan:
    """The plan to encode keys or values; travels to executors.

    Attributes:
        field: `key` or `value`.
        plan: of encoding. Faults are dealt with here, where a row's place is known.
    """

    field: str
    plan: EncodePlan | ByRowPlan

    def encode(self, batch: pa.RecordBatch) -> tuple[pa.Array, list[Fault]]:
        """Frames, and what is wrong with rows.

        Raises:
            PlanError, LookupFailedError: see `ByRowEncoder.encode`.
        """
        by_topic = isinstance(self.plan, ByRowPlan)
        return write_leniently(self.plan, batch.column(self.field), batch.column("topic") if by_topic else None)


@dataclass(frozen=True)
class WritePlan:
    """The plan of a task for its rows; travels to executors.

    Attributes:
        options: of the write; what is there of the registry has been used, and stays on the driver.
        fields: how keys and values are encoded, as far as they are.
    """

    options: WriteOptions
    fields: tuple[FieldPlan, ...] = field(default=())


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
            plans.append(_field_plan(name, how, schema.field(name).type, options))
    return WritePlan(dataclasses.replace(options, registry={}), tuple(plans))


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


def _field_plan(name: str, how: Encoding, kind: pa.DataType, options: WriteOptions) -> FieldPlan:
    named: dict[str, Any] = {"strategy": how.strategy}
    if how.subject:
        named = {"subject": how.subject}
    else:
        named |= {"by": "topic"} if options.topic is None else {"topic": options.topic}
    schema = how.schema
    if schema is None and options.auto_register:
        schema = _derived(name, how, kind, options.topic)
    arguments = EncodeArguments(
        **named,
        field=name,
        schema=schema,
        format=how.format,
        auto_register=options.auto_register,
        message_type=how.message_type,
        mode="PERMISSIVE",
        unnamed=how.unnamed,
    )
    plan = writing_plan(options.registry, arguments)
    if isinstance(plan, EncodePlan):
        shared_encoder(plan).check(kind)
    return FieldPlan(name, plan)


def _derived(field: str, how: Encoding, kind: pa.DataType, topic: str | None) -> str:
    if how.unnamed is not None:
        name = f"{field}.unnamed"
        raise OptionError(f'"{name}" needs "{field}.schema", or one that is registered', property=name)
    if how.format == "PROTOBUF":
        raise OptionError(f'a Protobuf schema is not made of columns: give "{field}.schema", or register one')
    subject = how.subject or (field if topic is None else f"{topic}-{field}")
    name = "".join(part.capitalize() for part in subject.replace(".", "-").split("-")) or "Row"
    try:
        return avro_schema_of(kind, name=name) if how.format == "AVRO" else json_schema_of(kind)
    except (SerializationError, ValueError) as error:
        raise PlanError(f"no schema can be made of the column {field!r}: {error}") from error


# ---- on executors


@dataclass(frozen=True, slots=True)
class Written:
    """The result of a task.

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
            for topic, records in _by_topic(_encoded(batch, plan, box), options):
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
        done: the tasks' results.
        options: of the write.

    Raises:
        WriteError: see `check_parts`.
    """
    turns = [one.turn for one in done if one.turn is not None]
    if turns and any(one.maybe_cut_off for one in done):
        first = turns[0]
        check_parts(options.admin_config(), first.write, first.number, len(done), options.timeout_s)


def _encoded(batch: pa.RecordBatch, plan: WritePlan, box: LetterBox | None) -> pa.RecordBatch:
    """The columns of records, structs encoded."""
    kept = ["key", "value", "topic", "partition", "timestamp", *(["headers"] if plan.options.headers else [])]
    columns = {name: batch.column(name) for name in kept if name in batch.schema.names}
    bad: set[int] = set()
    for one in plan.fields:
        columns[one.field], faults = one.encode(batch)
        if faults:
            _report(batch, one.field, faults, box)
            bad.update(fault.row for fault in faults)
    made = pa.RecordBatch.from_pydict(columns)
    return made.filter(pa.array([row not in bad for row in range(batch.num_rows)])) if bad else made


def _report(batch: pa.RecordBatch, name: str, faults: Sequence[Fault], box: LetterBox | None) -> None:
    first = min(faults, key=lambda fault: fault.row)
    if box is None:
        raise WriteError(f"row {first.row} of a batch: the {name} can't be encoded: {first}")
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
