"""Topics to splits, a split to Arrow batches: what the data source does through `kafka_core`.

Must not know of Spark: it gives Arrow batches with the columns of `ARROW_SCHEMA`. Columns are those of Spark's own
Kafka source (https://spark.apache.org/docs/latest/structured-streaming-kafka-integration.html).
"""

from __future__ import annotations

import time
from collections.abc import Iterator

import pyarrow as pa
import pyarrow.compute as pc

from kafka_core import OFFSET_BEGINNING, Consumer, KafkaException, TopicPartition
from kafka_core.errors import ConfigError
from pipeline.errors import OptionError, PlanError, ReadError
from pipeline.options import ReadOptions
from pipeline.splits import EARLIEST, LATEST, Split, plan_split

__all__ = ["ARROW_SCHEMA", "BatchSize", "plan_splits", "read_split"]

ARROW_SCHEMA = pa.schema(
    [
        ("key", pa.binary()),
        ("value", pa.binary()),
        ("topic", pa.string()),
        ("partition", pa.int32()),
        ("offset", pa.int64()),
        ("timestamp", pa.timestamp("us", tz="UTC")),
        ("timestampType", pa.int32()),
        ("headers", pa.list_(pa.struct([("key", pa.string()), ("value", pa.binary())]))),
    ]
)
SOURCE_NAMES = {"timestampType": "timestamp_type"}
FIRST_ROWS = 500
GROWTH = 8
POLL_S = 1.0


class BatchSize:
    """How many rows to ask for next, so that a batch stays near a number of bytes whatever the records' size is.

    The first batch is small; each later one grows at most eightfold over the one before it.
    """

    def __init__(self, most_rows: int, target_bytes: int) -> None:
        self._most_rows = most_rows
        self._target_bytes = target_bytes
        self.rows = min(FIRST_ROWS, most_rows)

    def seen(self, rows: int, size_bytes: int) -> None:
        """Takes a batch of more than 0 rows into account."""
        fitting = self._target_bytes * rows // max(size_bytes, 1)
        self.rows = max(1, min(fitting, self.rows * GROWTH, self._most_rows))


def plan_splits(options: ReadOptions) -> list[Split]:
    """One split for each topic partition that holds anything between its start and end offset.

    Raises:
        PlanError: the cluster can't be reached, a topic or partition is not there, or offsets are out of range.
        OptionError: the client refuses an option `kafka.…`.
    """
    try:
        with Consumer(options.client_config("plan")) as consumer:
            found = [split for topic in options.topics for split in _plan_topic(consumer, topic, options)]
    except ConfigError as error:
        raise OptionError(f"an option kafka.… is refused: {error}") from error
    except KafkaException as error:
        raise PlanError(f"the offsets of {', '.join(options.topics)} can't be read: {error}") from error
    return [split for split in found if split.start < split.end]


def _plan_topic(consumer: Consumer, topic: str, options: ReadOptions) -> Iterator[Split]:
    metadata = consumer.list_topics(topic, timeout=options.timeout_s).topics[topic]
    if metadata.error is not None:
        raise PlanError(f"topic {topic!r} can't be read: {metadata.error}")
    starting, ending = options.starting.get(topic, {}), options.ending.get(topic, {})
    unknown = sorted((starting.keys() | ending.keys()) - metadata.partitions.keys())
    if unknown:
        raise PlanError(f"topic {topic!r} has {len(metadata.partitions)} partitions, but offsets name {unknown}")
    for number in sorted(metadata.partitions):
        low, high = consumer.get_watermark_offsets(TopicPartition(topic, number), timeout=options.timeout_s)
        wanted = (starting.get(number, EARLIEST), ending.get(number, LATEST))
        yield plan_split(topic, number, held=(low, high), wanted=wanted)


def read_split(split: Split, options: ReadOptions) -> Iterator[pa.RecordBatch]:
    """Reads `split.start` to `split.end` (exclusive); gaps (compaction, transaction markers) are stepped over.

    Memory: about one batch (`rows_per_batch`, `bytes_per_batch`) and the client's queue
    (`queued.max.messages.kbytes`), whatever the size of the partition.

    Raises:
        ReadError: the end offset is not reached in time, or the broker reports an error.
    """
    where = f"{split.topic}[{split.partition}]"
    target = TopicPartition(split.topic, split.partition, split.start)
    size = BatchSize(options.rows_per_batch, options.bytes_per_batch)
    try:
        with Consumer(options.client_config("read")) as consumer:
            consumer.assign([target])
            position, deadline_s = split.start, time.monotonic() + options.timeout_s
            while position < split.end:
                batch = consumer.consume_arrow(min(size.rows, split.end - position), timeout=POLL_S)
                reached = max(position, _position(consumer, target, position))
                if reached > position:
                    position, deadline_s = reached, time.monotonic() + options.timeout_s
                elif time.monotonic() > deadline_s:
                    raise ReadError(f"{where}: nothing came for {options.timeout_s:g} s at offset {position}")
                if batch.num_rows:
                    size.seen(batch.num_rows, batch.get_total_buffer_size())
                    yield _to_spark(batch, split.end)
    except KafkaException as error:
        raise ReadError(f"{where}: reading failed: {error}") from error


def _position(consumer: Consumer, target: TopicPartition, default: int) -> int:
    """The next offset to come; it also moves over what is no record, such as a transaction's marker."""
    offset = consumer.position([target])[0].offset
    if offset > OFFSET_BEGINNING:
        return offset
    # Nothing was handed out yet, perhaps because there is nothing: then only the lag tells how far it got. The end is
    # read first: if a fetch moves both in between, the result is too small, never too large.
    _, high = consumer.get_watermark_offsets(target, cached=True)
    lag = consumer.health().lag.get((target.topic, target.partition))
    return default if lag is None or high < 0 else high - lag


def _to_spark(batch: pa.RecordBatch, end: int) -> pa.RecordBatch:
    """The columns in Spark's order and types; records at or past `end` are left out."""
    offsets = batch.column("offset")
    if offsets[-1].as_py() >= end:
        batch = batch.filter(pc.less(offsets, end))
    columns = [batch.column(SOURCE_NAMES.get(field.name, field.name)).cast(field.type) for field in ARROW_SCHEMA]
    return pa.RecordBatch.from_arrays(columns, schema=ARROW_SCHEMA)
