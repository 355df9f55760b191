"""Record batches as a whole: open those of a fetch response for reading, build one from records.

Must not know requests or brokers. Format 2 is read here, the older ones in legacy.py.
Spec: https://kafka.apache.org/documentation/#recordbatch.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from kafka_core import kernels
from kafka_core.errors import CorruptRecordError, KafkaException, UnknownCodecError
from kafka_core.kernels import BatchHeader, Buffer, RecordCursor
from kafka_core.kernels.abc import CODEC_MASK, CONTROL_FLAG, LOG_APPEND_FLAG, TRANSACTIONAL_FLAG
from kafka_core.kernels.pure.record_batch import encode_headers, encode_record, seal_batch
from kafka_core.limits import MAX_DECOMPRESSED_BYTES
from kafka_core.records.codecs import Codec, codec_of
from kafka_core.records.compression import compress, decompress
from kafka_core.records.control import ControlType, parse_control_key
from kafka_core.records.legacy import read_message_set


@dataclass(frozen=True, slots=True)
class OpenBatch:
    """One batch, checked and decompressed, ready to be read.

    Attributes:
        header: as on the wire; for formats 0 and 1 one that says the same in terms of format 2.
        cursor: at the first record that is wanted.
        memory_bytes: of the decompressed records.
        control_type: what a control batch says; None for data and for control records of other kinds.
    """

    header: BatchHeader
    cursor: RecordCursor
    memory_bytes: int
    control_type: ControlType | None = None

    @property
    def is_control(self) -> bool:
        """Whether its records are not for applications."""
        return bool(self.header.attributes & CONTROL_FLAG)

    @property
    def is_transactional(self) -> bool:
        """Whether it belongs to a transaction."""
        return bool(self.header.attributes & TRANSACTIONAL_FLAG)

    @property
    def end_offset(self) -> int:
        """The offset behind the batch, records that were compacted away included."""
        return self.header.base_offset + self.header.last_offset_delta + 1


def open_batches(
    buffer: Buffer,
    topic: str,
    partition: int,
    from_offset: int,
    *,
    check_crcs: bool = True,
    max_bytes: int = MAX_DECOMPRESSED_BYTES,
) -> list[OpenBatch]:
    """Opens the batches of a records buffer that hold something at or past `from_offset`. O(size).

    An incomplete last batch is left out: brokers cut responses off. Cursors of uncompressed batches read from the
    buffer, which must not change while they live.

    Args:
        max_bytes: bound of one batch's decompressed records.

    Raises:
        CorruptRecordError: a batch is damaged; names topic, partition and base offset.
        UnknownCodecError: a batch is compressed in a way we do not know.
    """
    try:
        headers = kernels.scan_batches(buffer, 0, -1, check_crcs)
    except CorruptRecordError as error:
        raise CorruptRecordError(f"{topic}[{partition}]: {error}") from error
    opened = []
    for header in headers:
        if header.base_offset + header.last_offset_delta < from_offset:
            continue
        try:
            opened.append(_open(buffer, header, topic, partition, from_offset, check_crcs, max_bytes))
        except (CorruptRecordError, UnknownCodecError) as error:
            kind: type[KafkaException] = type(error)
            text = f"{topic}[{partition}]: the batch with base offset {header.base_offset}: {error}"
            raise kind(text) from error
    return opened


def _open(
    buffer: Buffer,
    header: BatchHeader,
    topic: str,
    partition: int,
    from_offset: int,
    check_crcs: bool,
    max_bytes: int,
) -> OpenBatch:
    start, end = header.payload_position, header.position + header.size_bytes
    if header.magic < 2:
        message_set = memoryview(buffer)[header.position : end]
        header, buffer = read_message_set(message_set, header, check_crcs, max_bytes)
        start, end = 0, len(buffer)
    elif header.attributes & CODEC_MASK and start < end:
        buffer = decompress(codec_of(header.attributes), memoryview(buffer)[start:end], max_bytes)
        start, end = 0, len(buffer)
    control_type = None
    if header.attributes & CONTROL_FLAG and header.count:
        marker = RecordCursor(buffer, start, end, header, topic, partition, header.base_offset).next()
        control_type = None if marker is None else parse_control_key(marker.key())
    cursor = RecordCursor(buffer, start, end, header, topic, partition, from_offset)
    return OpenBatch(header, cursor, end - start, control_type)


@dataclass(frozen=True, slots=True)
class NewRecord:
    """A record for `build_batch`.

    Attributes:
        timestamp_ms: since the epoch; -1 for none.
        offset_delta: to the batch's base offset; by default its place in the batch.
    """

    value: bytes | None = None
    key: bytes | None = None
    headers: Sequence[tuple[str, bytes | None]] = ()
    timestamp_ms: int = -1
    offset_delta: int | None = None


def build_batch(
    records: Iterable[NewRecord],
    *,
    base_offset: int = 0,
    codec: Codec = Codec.NONE,
    level: int | None = None,
    last_offset_delta: int | None = None,
    partition_leader_epoch: int = -1,
    producer_id: int = -1,
    producer_epoch: int = -1,
    base_sequence: int = -1,
    transactional: bool = False,
    control: bool = False,
    log_append_time_ms: int | None = None,
) -> bytes:
    """A whole batch of format 2 from its records. For brokers and tests; producers write through the accumulator.

    Args:
        last_offset_delta: larger than the last record's for a batch whose end was compacted away.
        log_append_time_ms: the broker's time, which then counts for all records.

    Raises:
        OverflowError, struct.error: a number does not fit its field.
    """
    rows = list(records)
    deltas = [row.offset_delta if row.offset_delta is not None else place for place, row in enumerate(rows)]
    base_ms = rows[0].timestamp_ms if rows else -1
    payload = b"".join(
        encode_record(delta, row.timestamp_ms - base_ms, row.key, row.value, _header_section(row.headers))
        for delta, row in zip(deltas, rows, strict=True)
    )
    attributes = codec | (TRANSACTIONAL_FLAG if transactional else 0) | (CONTROL_FLAG if control else 0)
    latest_ms = max((row.timestamp_ms for row in rows), default=-1)
    if log_append_time_ms is not None:
        attributes, latest_ms = attributes | LOG_APPEND_FLAG, log_append_time_ms
    batch = seal_batch(
        compress(codec, payload, level) if rows else b"",
        count=len(rows),
        base_timestamp_ms=base_ms,
        max_timestamp_ms=latest_ms,
        attributes=attributes,
        base_offset=base_offset,
        last_offset_delta=max(deltas, default=0) if last_offset_delta is None else last_offset_delta,
        partition_leader_epoch=partition_leader_epoch,
        producer_id=producer_id,
        producer_epoch=producer_epoch,
        base_sequence=base_sequence,
    )
    return bytes(batch)


def _header_section(headers: Sequence[tuple[str, bytes | None]]) -> bytes:
    return encode_headers([(name.encode(), value) for name, value in headers])
