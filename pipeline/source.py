"""The Spark data source `kserdes`: a topic as a DataFrame, read through `kafka_core`, no jar needed.

One Spark partition reads a range of one topic partition between two offsets fixed while the plan is made. Opens nothing
in `__init__`: Spark builds and pickles these objects. What `schema()` finds out travels with the pickled source, so the
registry is asked once. API: `pyspark.sql.datasource` (Spark 4.0 and later).
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import pyarrow as pa
from pyspark.sql.datasource import DataSource, DataSourceReader, InputPartition
from pyspark.sql.types import StructType

from kafka_core.config import Role
from pipeline.client_options import for_role
from pipeline.filters import Narrowing
from pipeline.formats import ReadPlan, plan_read
from pipeline.letter_box import LetterBox
from pipeline.options import ReadOptions
from pipeline.planning import plan_splits
from pipeline.reading import read_split
from pipeline.schema import spark_fields
from pipeline.splits import Split

if TYPE_CHECKING:
    from pyspark.sql.datasource import DataSourceStreamReader, DataSourceStreamWriter, DataSourceWriter, Filter

__all__ = ["KserdesSource", "SplitPartition", "read_columns"]


class KserdesSource(DataSource):
    """`spark.read.format("kserdes")`; the options are those of Spark's own Kafka source, see `ReadOptions`."""

    _plan: ReadPlan | None = None

    @classmethod
    def name(cls) -> str:
        return "kserdes"

    def schema(self) -> StructType:
        """The columns; everything that can be wrong with the options is said here, where Spark shows it well."""
        return spark_fields(self._planned().arrow_schema)

    def reader(self, schema: StructType) -> DataSourceReader:
        plan = self._planned()
        return FilteringReader(plan) if plan.options.push_filters else KserdesReader(plan)

    def streamReader(self, schema: StructType) -> DataSourceStreamReader:
        from pipeline.stream import KserdesStreamReader

        return KserdesStreamReader(self._planned())

    def writer(self, schema: StructType, overwrite: bool) -> DataSourceWriter:
        from pipeline.sink import make_writer

        return make_writer(dict(self.options), schema, overwrite)

    def streamWriter(self, schema: StructType, overwrite: bool) -> DataSourceStreamWriter:
        from pipeline.sink import make_stream_writer

        return make_stream_writer(dict(self.options), schema, overwrite)

    def _planned(self) -> ReadPlan:
        if self._plan is None:
            self._plan = plan_read(ReadOptions.parse(dict(self.options)))
        return self._plan


class SplitPartition(InputPartition):
    """A split as Spark carries it to an executor."""

    def __init__(self, split: Split) -> None:
        super().__init__(split)


class KserdesReader(DataSourceReader):
    """Plans the splits on the driver, reads one on an executor."""

    def __init__(self, plan: ReadPlan) -> None:
        self._plan = plan
        self._narrowing = Narrowing()

    def partitions(self) -> Sequence[InputPartition]:
        """One split for each topic partition that holds anything between its start and end offset, or several.

        Raises:
            PlanError: the cluster can't be reached, a topic is not there, or offsets are out of range.
        """
        return [SplitPartition(split) for split in plan_splits(self._plan.options, self._narrowing)]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """All records of the split, as Arrow batches.

        Raises:
            ReadError: the end offset is not reached in time, or the broker reports an error.
            RowError: mode FAILFAST, and a payload can't be decoded.
        """
        if partition.value is not None:  # Spark makes one partition without a value of an empty plan
            yield from read_columns(partition.value, self._plan)


class FilteringReader(KserdesReader):
    """The reader that takes filters. A class of its own: with it Spark insists on the setting for filters."""

    def pushFilters(self, filters: list[Filter]) -> Iterator[Filter]:
        """Takes what narrows topics, partitions, offsets and times; gives back what Spark has to check itself."""
        self._narrowing = Narrowing.of(filters)
        return iter(filters)


def read_columns(split: Split, plan: ReadPlan) -> Iterator[pa.RecordBatch]:
    """The rows of a split with the columns of the plan; on an executor."""
    options = plan.options
    raw = read_split(split, options)
    if not plan.fields:
        yield from raw
        return
    with contextlib.ExitStack() as stack:
        letters: LetterBox | None = None
        if options.dead_letter_topic is not None:
            conf = {"client.id": "kserdes-spark-letters", **for_role(options.client, Role.PRODUCER)}
            letters = stack.enter_context(LetterBox(conf, options.dead_letter_topic, options.timeout_s))
        yield from plan.columns(raw, letters)
