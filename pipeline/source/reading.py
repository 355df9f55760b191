"""A split to Arrow batches: what an executor does through `kafka_core`.

Must not know of Spark: it gives Arrow batches with the columns of `raw`.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc

from kafka_core import (
    OFFSET_BEGINNING,
    TIMESTAMP_CREATE_TIME,
    Consumer,
    KafkaError,
    KafkaException,
    TopicPartition,
    Uuid,
)
from pipeline.errors import ReadError
from pipeline.source.consumers import borrowed_consumer
from pipeline.source.options import ReadOptions
from pipeline.source.raw import HEADERS, RAW_SCHEMA, raw_schema, slices
from pipeline.source.splits import Split

logger: Final = logging.getLogger("pipeline")

SOURCE_NAMES: Final = {"timestampType": "timestamp_type"}
CREATE_TIME: Final = TIMESTAMP_CREATE_TIME
"""1 in librdkafka, which our client follows; 0 in Java, which Spark follows: there none is -1, the broker's time 1.

No scalar of Arrow: the first one that is made imports pandas, which planning does not need.
"""
FIRST_ROWS: Final = 500
GROWTH: Final = 8
POLL_S: Final = 1.0
ASKED_FOR_ID: Final = 5
ASKED_AGAIN_S: Final = 0.2


class BatchSize:
    """The number of rows to ask for next, so that a batch stays near a number of bytes whatever the records' size is.

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


def read_split(split: Split, options: ReadOptions, *, headers: bool = False) -> Iterator[pa.RecordBatch]:
    """Reads `split.start` to `split.end` (exclusive); gaps (compaction, transaction markers) are stepped over.

    Memory: about one batch (`rows_per_batch`, `bytes_per_batch`) and the client's queue
    (`queued.max.messages.kbytes`), whatever the size of the partition. No batch has more than `bytes_per_batch` bytes,
    unless one record alone has.

    Args:
        split: the range.
        options: of the read.
        headers: whether there is a column `headers` in any case: who decodes may need it.

    Raises:
        ReadError: the end offset is not reached in time, or the broker reports an error.
    """
    where = f"{split.topic}[{split.partition}]"
    size = BatchSize(options.rows_per_batch, options.bytes_per_batch)
    schema = RAW_SCHEMA.append(HEADERS) if headers else raw_schema(options)
    try:
        with borrowed_consumer(options.consumer_config()) as consumer:
            for batch in _taken(consumer, split, options, size):
                size.seen(batch.num_rows, batch.get_total_buffer_size())
                yield from slices(_to_spark(batch, split.end, schema), options.bytes_per_batch)
    except KafkaException as error:
        raise ReadError(f"{where}: reading failed: {error}") from error


def _taken(consumer: Consumer, split: Split, options: ReadOptions, size: BatchSize) -> Iterator[pa.RecordBatch]:
    """The batches of the consumer, until the end of the split."""
    where = f"{split.topic}[{split.partition}]"
    target = TopicPartition(split.topic, split.partition, split.start)
    consumer.assign([target])
    position, deadline_s = split.start, time.monotonic() + options.idle_s
    asked_again_at = -1
    is_compared = split.topic_id is None
    while position < split.end:
        try:
            batch = consumer.consume_arrow(min(size.rows, split.end - position), timeout=POLL_S)
        except KafkaException as error:
            if error.args[0].code() != KafkaError._AUTO_OFFSET_RESET:
                raise
            if asked_again_at != position and not (options.fail_on_data_loss and position > split.start):
                # A consumer that has read before may know a topic of this name that was deleted before the plan.
                asked_again_at = position
                is_compared = split.topic_id is None
                consumer.assign([TopicPartition(split.topic, split.partition, position)])
                continue
            if options.fail_on_data_loss:
                raise
            position = _first_left(consumer, target, max(position, split.start), split.end)
            continue
        reached = max(position, _position(consumer, target, position))
        if reached > position:
            position, deadline_s = reached, time.monotonic() + options.idle_s
        elif time.monotonic() > deadline_s:
            raise ReadError(f"{where}: nothing came for {options.idle_s:g} s at offset {position}")
        if not batch.num_rows:
            continue
        if not is_compared:
            # From here on the consumer itself sees when the topic becomes another one.
            is_compared = True
            if _is_another(consumer, split, options):
                return
        yield batch


def _is_another(consumer: Consumer, split: Split, options: ReadOptions) -> bool:
    """Whether the topic was deleted and created again since the plan: nothing of the split is left then.

    Raises:
        ReadError: it was, and `failOnDataLoss` is on.
    """
    found: Uuid | None = None
    for _ in range(ASKED_FOR_ID):  # a broker that lags behind may name another topic for a moment
        found = consumer.list_topics(split.topic, timeout=options.timeout_s).topics[split.topic].topic_id
        if found is None or found == split.topic_id:
            return False
        time.sleep(ASKED_AGAIN_S)
    what = (
        f"{split.topic}[{split.partition}]: the topic was deleted and created again after offsets {split.start} to"
        f" {split.end} were planned (its id was {split.topic_id} and is {found})"
    )
    if options.fail_on_data_loss:
        raise ReadError(f'{what} (failOnDataLoss="false" would leave them out)')
    logger.warning("%s; they are left out, for failOnDataLoss is off", what)
    return True


def _first_left(consumer: Consumer, target: TopicPartition, position: int, end: int) -> int:
    """Goes to the first offset that is still held, from the position on; the end if there is none."""
    low, high = consumer.get_watermark_offsets(target)
    left = low if position < low < end and low <= high else end
    what = f"{target.topic}[{target.partition}]: offset {position} is gone, and {left} comes next"
    logger.warning("%s; going on with what is left, for failOnDataLoss is off", what)
    if left < end:
        consumer.seek(TopicPartition(target.topic, target.partition, left))
    return left


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


def _to_spark(batch: pa.RecordBatch, end: int, schema: pa.Schema) -> pa.RecordBatch:
    """The columns in Spark's order and types; records at or past `end` are left out."""
    offsets = batch.column("offset")
    if offsets[-1].as_py() >= end:
        batch = batch.filter(pc.less(offsets, end))
    columns = [batch.column(SOURCE_NAMES.get(field.name, field.name)).cast(field.type) for field in schema]
    types = schema.get_field_index("timestampType")
    columns[types] = pc.subtract(columns[types], pa.scalar(CREATE_TIME, pa.int32()))
    at = schema.get_field_index(HEADERS.name)
    if at >= 0:  # null for a record without headers, as Spark's own source has it
        given = columns[at]
        none = pc.equal(pc.list_value_length(given), 0)
        columns[at] = pa.ListArray.from_arrays(given.offsets, given.values, type=HEADERS.type, mask=none)
    return pa.RecordBatch.from_arrays(columns, schema=schema)
