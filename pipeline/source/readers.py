"""The readers that Spark calls for a batch: splits on the driver, Arrow batches on an executor.

One Spark partition reads a range of one topic partition between two offsets fixed while the plan is made. Clients are
loaded where they are used: Spark makes these objects in processes that ask nothing, too.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import pyarrow as pa
from pyspark.sql.datasource import DataSourceReader, InputPartition

from kafka_core.config import Role
from pipeline.client.options import for_role
from pipeline.source.filters import Narrowing
from pipeline.source.formats import ReadPlan
from pipeline.source.splits import Split
from pipeline.workers import Arrival

if TYPE_CHECKING:
    from pyspark.sql.datasource import Filter

    from pipeline.client.letter_box import LetterBox


class SplitPartition(InputPartition):
    """A split as Spark carries it to an executor."""

    def __init__(self, split: Split) -> None:
        super().__init__(split)


class KserdesReader(DataSourceReader):
    """Plans the splits on the driver, reads one on an executor."""

    def __init__(self, plan: ReadPlan) -> None:
        self._plan = plan
        self._narrowing = Narrowing()
        self._arrival = Arrival()

    def partitions(self) -> Sequence[InputPartition]:
        """One split for each topic partition that holds anything between its start and end offset, or several.

        Raises:
            PlanError: the cluster can't be reached, a topic is not there, or offsets are out of range.
        """
        from pipeline.source.planning import plan_splits

        return [SplitPartition(split) for split in plan_splits(self._plan.options, self._narrowing)]

    def read(self, partition: InputPartition | None) -> Iterator[pa.RecordBatch]:
        """All records of the split, as Arrow batches.

        Raises:
            ReadError: the end offset is not reached in time, or the broker reports an error.
            RowError: mode FAILFAST, and a payload can't be decoded.
        """
        # Of an empty plan Spark makes one partition without a value, before 4.2 no partition at all: None.
        if partition is not None and partition.value is not None:
            yield from read_task(partition.value, self._plan, self._arrival)


class FilteringReader(KserdesReader):
    """The reader that takes filters. A class of its own: with it Spark insists on the setting for filters."""

    def pushFilters(self, filters: list[Filter]) -> Iterator[Filter]:
        """Takes the filters on topics, partitions, offsets and times; returns those that Spark has to check itself."""
        self._narrowing = Narrowing.of(filters)
        return iter(filters)


def read_task(split: Split, plan: ReadPlan, arrival: Arrival) -> Iterator[pa.RecordBatch]:
    """The rows of a split, as a task of Spark; see `read_columns`."""
    try:
        yield from read_columns(split, plan)
    finally:
        arrival.settle()


def read_columns(split: Split, plan: ReadPlan) -> Iterator[pa.RecordBatch]:
    """The rows of a split with the columns of the plan; on an executor."""
    from pipeline.source.reading import read_split

    options = plan.options
    raw = read_split(split, options, headers=bool(plan.fields) or options.include_headers)
    if not plan.fields:
        yield from raw
        return
    with contextlib.ExitStack() as stack:
        letters: LetterBox | None = None
        if options.dead_letter_topic is not None:
            from pipeline.client.letter_box import LetterBox

            conf = {"client.id": "kserdes-spark-letters", **for_role(options.client, Role.PRODUCER)}
            letters = stack.enter_context(LetterBox(conf, options.dead_letter_topic, options.timeout_s))
        yield from plan.columns(raw, letters)
