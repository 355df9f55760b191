"""The writers of the data source `kserdes`: frames to topics, at least or exactly once.

A task sends its rows and waits until all are delivered, or committed; only then it is done. At least once, a task that
fails may leave rows in the topic, and another try writes them again; exactly once, see `pipeline.client.once`.
API: `pyspark.sql.datasource` (4.0; streams 4.1).
"""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import pyarrow as pa
from pyspark import TaskContext
from pyspark.sql.datasource import DataSourceArrowWriter, WriterCommitMessage

from pipeline.client.once import Turn
from pipeline.columns.schema import arrow_schema_of
from pipeline.errors import OptionError, WriteError
from pipeline.sink.options import WriteOptions
from pipeline.sink.writing import WritePlan, Written, check_tries, plan_write, write_rows
from pipeline.workers import Arrival

try:
    from pyspark.sql.datasource import DataSourceStreamArrowWriter
except ImportError:  # Spark 4.0 streams rows, not columns, to Python
    DataSourceStreamArrowWriter = None  # type: ignore[assignment,misc]

if TYPE_CHECKING:
    from pyspark.sql.datasource import DataSourceStreamWriter
    from pyspark.sql.types import StructType

PREFIX: Final = "kserdes-"
"""Of transactional ids and groups: rules of access may name it."""
QUERY_ID: Final = "sql.streaming.queryId"
BATCH_ID: Final = "streaming.sql.batchId"
RUN_ID: Final = "spark.jobGroup.id"
"""Local properties that Spark's `StreamExecution` and `MicroBatchExecution` set; the last one is the id of the run."""


@dataclass
class Told(WriterCommitMessage):
    """A task's message to the driver."""

    done: Written


class KserdesWriter(DataSourceArrowWriter):
    """Writes a frame.

    Args:
        plan: of the write.
    """

    def __init__(self, plan: WritePlan) -> None:
        self._plan = plan
        self._arrival = Arrival()
        named = plan.options.delivery_id
        self._write = f"{PREFIX}{named or uuid.uuid4()}"  # made on the driver: the same in all tries of a task

    def write(self, iterator: Iterator[pa.RecordBatch]) -> WriterCommitMessage:
        """Sends the rows of a task and waits for their delivery.

        Raises:
            WriteError: see `write_rows`.
        """
        turn = Turn(self._write, task().partitionId(), 1) if self._plan.options.exactly_once else None
        return _written(iterator, self._plan, turn, self._arrival)

    def commit(self, messages: Sequence[WriterCommitMessage | None]) -> None:
        """All tasks have ended.

        Raises:
            WriteError: see `check_tries`.
        """
        if self._plan.options.delivery_id is not None:
            check_tries(_told(messages), self._plan.options)


def make_writer(options: Mapping[str, str], schema: StructType, overwrite: bool) -> KserdesWriter:
    """The writer of a frame.

    Raises:
        OptionError, PlanError: see `plan_write`; or the mode is `overwrite`.
    """
    return KserdesWriter(_planned(options, schema, overwrite))


def make_stream_writer(options: Mapping[str, str], schema: StructType, overwrite: bool) -> DataSourceStreamWriter:
    """The writer of a stream.

    Raises:
        OptionError, PlanError: as `make_writer`; or this Spark has no writers of columns for streams.
    """
    if DataSourceStreamArrowWriter is None:  # type: ignore[redundant-expr,unused-ignore]
        raise OptionError("streams are written with Spark 4.1 or later: use foreachBatch and write each batch")

    class KserdesStreamWriter(DataSourceStreamArrowWriter):
        """Writes the batches of a stream."""

        def __init__(self, plan: WritePlan) -> None:
            self._plan = plan
            self._arrival = Arrival()

        def write(self, iterator: Iterator[pa.RecordBatch]) -> WriterCommitMessage:
            """As `KserdesWriter.write`; a turn is a batch of the query, which its checkpoint names."""
            turn = stream_turn(task()) if self._plan.options.exactly_once else None
            return _written(iterator, self._plan, turn, self._arrival)

        def commit(self, messages: Sequence[WriterCommitMessage | None], batchId: int) -> None:
            """All tasks of a batch have ended.

            Raises:
                WriteError: see `check_tries`.
            """
            check_tries(_told(messages), self._plan.options)

    plan = _planned(options, schema, overwrite)
    if plan.options.delivery_id is not None:
        raise OptionError(
            'option "deliveryId" is for batches: a stream\'s checkpoint names what it writes', property="deliveryId"
        )
    return KserdesStreamWriter(plan)


def _written(rows: Iterator[pa.RecordBatch], plan: WritePlan, turn: Turn | None, arrival: Arrival) -> Told:
    told = Told(write_rows(rows, plan, turn))
    arrival.settle()
    return told


def stream_turn(context: TaskContext) -> Turn:
    """The turn of a task of a stream: the query's id is in its checkpoint, and goes on after a restart.

    Raises:
        WriteError: Spark does not say which batch this is.
    """
    query, batch = context.getLocalProperty(QUERY_ID), context.getLocalProperty(BATCH_ID)
    if query is None or batch is None:
        raise WriteError(f"Spark does not say which batch of which query this is ({QUERY_ID}, {BATCH_ID})")
    run = context.getLocalProperty(RUN_ID) or ""
    return Turn(f"{PREFIX}{query}", context.partitionId(), int(batch) + 1, run)


def task() -> TaskContext:
    """The task that runs here.

    Raises:
        WriteError: none does.
    """
    found = TaskContext.get()
    if found is None:
        raise WriteError("rows are written in tasks of Spark")
    return found


def _told(messages: Sequence[WriterCommitMessage | None]) -> list[Written]:
    return [one.done for one in messages if isinstance(one, Told)]


def _planned(options: Mapping[str, str], schema: StructType, overwrite: bool) -> WritePlan:
    if overwrite:
        raise OptionError('a topic can\'t be overwritten: use mode("append"), or outputMode("append") or "update"')
    columns = {column.name: column.dataType.simpleString() for column in schema.fields}
    return plan_write(WriteOptions.parse(options), columns, arrow_schema_of(schema))
