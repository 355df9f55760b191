"""The Spark data source `kserdes`: a topic as a DataFrame, read through `kafka_core`, no jar needed.

One Spark partition reads one topic partition between two offsets fixed while the plan is made. Opens nothing in
`__init__`: Spark builds and pickles these objects. API: `pyspark.sql.datasource` (Spark 4.0 and later).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pyarrow as pa
from pyspark.sql.datasource import DataSource, DataSourceReader, InputPartition
from pyspark.sql.types import StructType

from pipeline.options import ReadOptions
from pipeline.reading import plan_splits, read_split
from pipeline.splits import Split

__all__ = ["KserdesSource"]

SCHEMA = (
    "key binary, value binary, topic string, partition int, offset bigint, timestamp timestamp, timestampType int,"
    " headers array<struct<key: string, value: binary>>"
)


class KserdesSource(DataSource):
    """`spark.read.format("kserdes")`; the options are those of Spark's own Kafka source, see `ReadOptions`."""

    @classmethod
    def name(cls) -> str:
        return "kserdes"

    def schema(self) -> str:
        return SCHEMA

    def reader(self, schema: StructType) -> DataSourceReader:
        return KserdesReader(ReadOptions.parse(dict(self.options)))


class SplitPartition(InputPartition):
    """A split as Spark carries it to an executor."""

    def __init__(self, split: Split) -> None:
        super().__init__(split)


class KserdesReader(DataSourceReader):
    """Plans the splits on the driver, reads one on an executor."""

    def __init__(self, options: ReadOptions) -> None:
        self._options = options

    def partitions(self) -> Sequence[InputPartition]:
        """One split for each topic partition that holds anything between its start and end offset.

        Raises:
            PlanError: the cluster can't be reached, a topic is not there, or offsets are out of range.
        """
        return [SplitPartition(split) for split in plan_splits(self._options)]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """All records of the split, as Arrow batches.

        Raises:
            ReadError: the end offset is not reached in time, or the broker reports an error.
        """
        if partition.value is not None:  # Spark makes one partition without a value of an empty plan
            yield from read_split(partition.value, self._options)
