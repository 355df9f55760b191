"""Keys and values decoded inside the source: plans of decoding, and batches of columns made with them.

Loaded where keys or values are decoded only: raw records need neither codecs nor a registry. Must not know of sessions.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from pipeline.client.letter_box import LetterBox
from pipeline.columns.dead_letters import letters
from pipeline.columns.decoding import shared_decoder
from pipeline.columns.modes import Fault
from pipeline.columns.plan import DecodeArguments, DecodePlan, plan_for
from pipeline.columns.resolver import client_of
from pipeline.errors import PlanError, RowError
from pipeline.source.options import Decoding, ReadOptions
from registry import SchemaRegistryError
from serdes.frames.schema_id import KEY_HEADER, VALUE_HEADER


@dataclass(frozen=True)
class FieldPlan:
    """The plan to decode keys or values; travels to executors.

    Attributes:
        field: `key` or `value`.
        plan: of decoding.
    """

    field: str
    plan: DecodePlan

    @property
    def arrow_type(self) -> pa.DataType:
        """The Arrow type of decoded keys or values."""
        return shared_decoder(self.plan).arrow_type


def decoded(
    raw: pa.RecordBatch, fields: Sequence[FieldPlan], schema: pa.Schema, options: ReadOptions, box: LetterBox | None
) -> pa.RecordBatch:
    """A batch with keys and values decoded.

    Args:
        raw: of `read_split`, with `headers`: ids may stand there, and dead letters take them along.
        fields: how keys and values are decoded.
        schema: of the result.
        options: of the read.
        box: where rows go that can't be decoded, in mode DEADLETTER.

    Raises:
        RowError: mode FAILFAST, and a payload can't be decoded; the text has its topic, partition and offset.
        LookupFailedError, PlanError: as `BatchDecoder.read`.
    """
    columns = {name: raw.column(name) for name in raw.schema.names}
    faults: list[tuple[str, Sequence[Fault]]] = []
    for one in fields:
        decoded = shared_decoder(one.plan).read(raw.column(one.field), _named_in(raw.column("headers"), one.field))
        columns[one.field] = decoded.values
        if decoded.faults:
            faults.append((one.field, decoded.faults))
    if options.error_field is not None:
        columns[options.error_field] = _reasons(raw.num_rows, faults)
    made = pa.RecordBatch.from_arrays([columns[name] for name in schema.names], schema=schema)
    if not faults or options.mode == "PERMISSIVE":
        return made
    if box is None:
        raise _row_error(raw, *faults[0])
    bad = [False] * raw.num_rows
    for field, found in faults:
        box.post(letters(raw, found, field))
        for fault in found:
            bad[fault.row] = True
    return made.filter(pc.invert(pa.array(bad)))


def _named_in(headers: pa.Array, field: str) -> pa.Array | None:
    """The value of the first header of each row that names a schema, null where there is none; None if none has one."""
    name = KEY_HEADER if field == "key" else VALUE_HEADER
    entries = headers.flatten()
    naming = pc.and_(pc.equal(entries.field("key"), name), pc.is_valid(entries.field("value")))
    if not pc.any(naming).as_py():
        return None
    rows = pc.list_parent_indices(headers).filter(naming)
    first = pc.index_in(pa.array(range(len(headers)), rows.type), value_set=rows)
    return entries.field("value").filter(naming).take(first)


def _reasons(rows: int, faults: Sequence[tuple[str, Sequence[Fault]]]) -> pa.Array:
    if not faults:
        return pa.nulls(rows, pa.string())
    texts: list[str | None] = [None] * rows
    for field, found in faults:
        for fault in found:
            texts[fault.row] = "; ".join(filter(None, (texts[fault.row], f"{field}: {fault}")))
    return pa.array(texts, pa.string())


def _row_error(raw: pa.RecordBatch, field: str, faults: Sequence[Fault]) -> RowError:
    fault = faults[0]
    return RowError(
        fault.row,
        f"{field}: {fault}",
        code=fault.code.value,
        schema_id=fault.schema_id,
        path=fault.path,
        topic=raw.column("topic")[fault.row].as_py(),
        partition=raw.column("partition")[fault.row].as_py(),
        offset=raw.column("offset")[fault.row].as_py(),
    )


def field_plans(options: ReadOptions) -> tuple[FieldPlan, ...]:
    """Asks the registry what keys and values are decoded to.

    Raises:
        PlanError: the registry can't be reached, has no such subject, or its schema has no columns.
        OptionError: the subject has another format.
    """
    given = [(field, how) for field, how in (("key", options.key), ("value", options.value)) if how is not None]
    return tuple(_field_plan(field, how, options) for field, how in given)


def _field_plan(field: str, how: Decoding, options: ReadOptions) -> FieldPlan:
    arguments = DecodeArguments(
        subject=how.subject,
        field=field,
        format=how.format or "auto",
        reader_schema=how.reader_schema,
        columns=how.columns,
        message_type=how.message_type,
        unnamed=how.unnamed,
        mode="PERMISSIVE",  # faults are dealt with here, where a row's place is known
    )
    # Spark plans in processes that live on: a stream that stopped for a newer version must not get the plan that such a
    # process remembers.
    return FieldPlan(field, plan_for(options.registry, arguments, anew=options.stop_on_evolution))


def newer_version(fields: Sequence[FieldPlan], options: ReadOptions) -> str | None:
    """A sentence on a version that is newer than the plans, if there is one that their reader would see.

    Raises:
        PlanError: the registry can't be asked.
    """
    hows = {"key": options.key, "value": options.value}
    for one in fields:
        how = hows[one.field]
        if how is None or how.reader_schema is not None:
            continue  # the user said what to read as
        snapshot = one.plan.parts[0].snapshot
        try:
            client = client_of(options.registry)
            versions = client.get_versions(snapshot.subject)  # is asked every time, as the newest one is not
            latest = client.get_version(snapshot.subject, max(versions))
        except SchemaRegistryError as error:
            raise PlanError(f"the newest version of {snapshot.subject!r} can't be asked for: {error}") from error
        if latest.schema_id not in snapshot.schemas:
            return (
                f"subject {snapshot.subject!r} has a newer version ({latest.version}, schema id"
                f" {latest.schema_id}) than the columns of this stream were made of: start the query again from its"
                ' checkpoint to read with it (evolution="ignore" goes on with the old columns)'
            )
    return None
