"""The Spark data source `kserdes`: a topic as a DataFrame, read through `kafka_core`, no jar needed.

One Spark partition reads one topic partition between two offsets fixed while the plan is made. Opens nothing in
`__init__`: Spark builds and pickles these objects. API: `pyspark.sql.datasource` (Spark 4.0 and later).
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql.datasource import DataSource, DataSourceReader, InputPartition
from pyspark.sql.types import StructType

from kafka_core import OFFSET_BEGINNING, Consumer, KafkaException, TopicPartition
from pipeline.errors import PlanError, ReadError
from pipeline.options import ReadOptions
from pipeline.splits import EARLIEST, LATEST, Split

__all__ = ["KserdesSource"]

SCHEMA = (
    "key binary, value binary, topic string, partition int, offset bigint, timestamp timestamp, timestampType int,"
    " headers array<struct<key: string, value: binary>>"
)
HEADERS = pa.list_(pa.struct([("key", pa.string()), ("value", pa.binary())]))
ARROW_SCHEMA = pa.schema(
    [
        ("key", pa.binary()),
        ("value", pa.binary()),
        ("topic", pa.string()),
        ("partition", pa.int32()),
        ("offset", pa.int64()),
        ("timestamp", pa.timestamp("us", tz="UTC")),
        ("timestampType", pa.int32()),
        ("headers", HEADERS),
    ]
)
SOURCE_NAMES = {"timestampType": "timestamp_type"}


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
            PlanError: the cluster can't be reached, or a topic is not there.
        """
        try:
            with Consumer(self._options.client_config("plan")) as consumer:
                found = [
                    split for topic in self._options.topics for split in _plan_topic(consumer, topic, self._options)
                ]
        except KafkaException as error:
            raise PlanError(f"the offsets of {', '.join(self._options.topics)} can't be read: {error}") from error
        return [SplitPartition(split) for split in found if split.start < split.end]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """All records of the split, as Arrow batches; none where Spark got no splits (it makes an empty one then).

        Raises:
            ReadError: the end offset is not reached in time, or the broker reports an error.
        """
        if partition.value is not None:
            yield from read_split(partition.value, self._options)


def _plan_topic(consumer: Consumer, topic: str, options: ReadOptions) -> Iterator[Split]:
    metadata = consumer.list_topics(topic, timeout=options.timeout_s).topics[topic]
    if metadata.error is not None:
        raise PlanError(f"topic {topic!r} can't be read: {metadata.error}")
    for number in sorted(metadata.partitions):
        low, high = consumer.get_watermark_offsets(TopicPartition(topic, number), timeout=options.timeout_s)
        logical = {EARLIEST: low, LATEST: high}
        start = options.starting.get(topic, {}).get(number, options.default_start)
        end = options.ending.get(topic, {}).get(number, LATEST)
        start, end = logical.get(start, start), logical.get(end, end)
        if end > high or start < low:
            raise PlanError(
                f"{topic}[{number}] holds the offsets {low} to {high}, but {start} to {end} were asked for:"
                " records were deleted, or the offsets belong to another topic"
            )
        yield Split(topic, number, start, end)


def read_split(split: Split, options: ReadOptions) -> Iterator[pa.RecordBatch]:
    """Reads `split.start` to `split.end` (exclusive); gaps (compaction, transaction markers) are stepped over."""
    where = f"{split.topic}[{split.partition}]"
    target = TopicPartition(split.topic, split.partition, split.start)
    try:
        with Consumer(options.client_config("read")) as consumer:
            consumer.assign([target])
            position, deadline = split.start, time.monotonic() + options.timeout_s
            while position < split.end:
                batch = consumer.consume_arrow(options.rows_per_batch, timeout=1.0)
                reached = max(position, _position(consumer, target, position))
                if reached > position:
                    position, deadline = reached, time.monotonic() + options.timeout_s
                elif time.monotonic() > deadline:
                    raise ReadError(f"{where}: nothing came for {options.timeout_s:.0f} s at offset {position}")
                if batch.num_rows:
                    yield _to_spark(batch, split.end)
    except KafkaException as error:
        raise ReadError(f"{where}: reading failed: {error}") from error


def _position(consumer: Consumer, target: TopicPartition, default: int) -> int:
    offset = consumer.position([target])[0].offset
    return offset if offset > OFFSET_BEGINNING else default


def _to_spark(batch: pa.RecordBatch, end: int) -> pa.RecordBatch:
    """The columns in Spark's order and types; records at or past `end` are left out."""
    offsets = batch.column("offset")
    if offsets[-1].as_py() >= end:
        batch = batch.filter(pc.less(offsets, end))
    columns = [batch.column(SOURCE_NAMES.get(field.name, field.name)).cast(field.type) for field in ARROW_SCHEMA]
    return pa.RecordBatch.from_arrays(columns, schema=ARROW_SCHEMA)
