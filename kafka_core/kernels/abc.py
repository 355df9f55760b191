"""The interface of a kernel implementation: the values and Protocols that `pure/` and `native/` both satisfy.

Must not know which implementation is in use, nor config, I/O or callbacks of the client.
Spec: https://kafka.apache.org/documentation/#recordbatch (KIP-98), KIP-32 (timestamps), KIP-480 (sticky partitions).
"""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

from kafka_core.errors import KafkaError

Buffer = bytes | bytearray | memoryview
"""Contiguous bytes. Kernels never write to a buffer that they are given."""

Text = str  # `Message` has methods named like builtins; one name for text keeps signatures readable
Payload = bytes | bytearray | memoryview | str | None
"""A key, value or header value as the application gives it; `str` is encoded as UTF-8."""

Headers = Mapping[str, Payload] | Sequence[tuple[str, Payload]] | None
MessageRow = tuple[str | None, int, int, int, int, Any, Any, tuple[tuple[str, Any], ...]]
"""The fields of a message, as `message_rows` gives them."""
DeliveryCallback = Callable[[KafkaError | None, Any], object]


HEADER_BYTES = 61
"""Size of a batch's header; records follow it."""

CODEC_MASK = 0x07
LOG_APPEND_FLAG = 0x08
TRANSACTIONAL_FLAG = 0x10
CONTROL_FLAG = 0x20
"""Bits of a batch's attributes."""

TIMESTAMP_NOT_AVAILABLE = 0
TIMESTAMP_CREATE_TIME = 1
TIMESTAMP_LOG_APPEND_TIME = 2


class BatchHeader(NamedTuple):
    """One batch in a records buffer, header fields as on the wire.

    For magic 0 and 1 there is one entry per outer message: position, size_bytes, magic, attributes, base_offset (its
    offset field) and payload_position (position + 12) are set, count is 1, last_offset_delta 0, and the rest is -1.

    Attributes:
        position: of the batch's first byte in the buffer.
        size_bytes: whole batch, the 12 bytes of base offset and length included.
        payload_position: of the first byte of the (compressed) records: position + 61.
    """

    position: int
    size_bytes: int
    magic: int
    attributes: int
    base_offset: int
    last_offset_delta: int
    base_timestamp_ms: int
    max_timestamp_ms: int
    producer_id: int
    producer_epoch: int
    base_sequence: int
    count: int  # type: ignore[assignment]
    partition_leader_epoch: int
    payload_position: int


class Columns(NamedTuple):
    """Records as Arrow buffers.

    Validity bitmaps are bit-packed, least significant bit first, 1 = present. `*_offsets` are int32 with one entry
    more than there are items. Numbers are little-endian.

    Attributes:
        rows: number of records.
        runs: (topic, partition, rows) in order; neighbours differ.
        offset: int64 per row.
        timestamp_ms: int64 per row; -1 where there is none.
        timestamp_type: int8 per row: 0 none, 1 create time, 2 log append time.
        header_offsets: int32 per row + 1: where a row's headers begin among all headers.
        header_count: number of all headers; their keys are never null.
    """

    rows: int
    runs: list[tuple[str, int, int]]
    offset: Buffer
    timestamp_ms: Buffer
    timestamp_type: Buffer
    key_validity: Buffer
    key_offsets: Buffer
    key_data: Buffer
    key_null_count: int
    value_validity: Buffer
    value_offsets: Buffer
    value_data: Buffer
    value_null_count: int
    header_offsets: Buffer
    header_key_offsets: Buffer
    header_key_data: Buffer
    header_value_validity: Buffer
    header_value_offsets: Buffer
    header_value_data: Buffer
    header_value_null_count: int
    header_count: int


class ByteColumn(NamedTuple):
    """An Arrow column of bytes or text, as its buffers; numbers in them are little-endian.

    Attributes:
        first: the row of the buffers that is row 0 here.
        validity: bit-packed, least significant bit first, 1 = present; None: all are.
        ends: where each row begins in `data`, and after the last one where it ends: int32, or int64.
        data: the bytes of all rows.
        wide: whether `ends` are int64.
    """

    first: int
    validity: Any
    ends: Any
    data: Any
    wide: bool = False


class NumberColumn(NamedTuple):
    """An Arrow column of int32 or int64; see `ByteColumn`."""

    first: int
    validity: Any
    data: Any


class HeaderColumn(NamedTuple):
    """An Arrow column of lists of headers; see `ByteColumn`.

    Attributes:
        ends: where the headers of each row begin among all, int32.
        items: how many headers there are.
        names: UTF-8; none is null.
        values: of the headers.
    """

    first: int
    validity: Any
    ends: Any
    items: int
    names: ByteColumn
    values: ByteColumn


class RecordColumns(NamedTuple):
    """Records to be sent, as Arrow buffers; a column that is None has no values.

    Attributes:
        rows: number of records; every column has as many.
        partition: int32; null leaves the choice to the partitioner.
        timestamp_ms: int64; null is now.
    """

    rows: int
    value: ByteColumn | None = None
    key: ByteColumn | None = None
    partition: NumberColumn | None = None
    timestamp_ms: NumberColumn | None = None
    headers: HeaderColumn | None = None


class MessageLike(Protocol):
    """`confluent_kafka.Message`: one record, one delivery report, or one event (`error()` is not None)."""

    def topic(self) -> Text | None: ...
    def partition(self) -> int | None: ...
    def offset(self) -> int | None: ...
    def key(self) -> Any: ...
    def value(self) -> Any: ...
    def headers(self) -> Any: ...
    def error(self) -> KafkaError | None: ...
    def timestamp(self) -> tuple[int, int]: ...
    def latency(self) -> float | None: ...
    def deserialized_key(self) -> Any: ...
    def deserialized_value(self) -> Any: ...
    def delivery_count(self) -> int | None: ...
    def leader_epoch(self) -> int | None: ...
    def __len__(self) -> int: ...


class ColumnSinkLike(Protocol):
    """Growing columns that cursors write to."""

    @property
    def rows(self) -> int: ...
    @property
    def runs(self) -> list[tuple[str, int, int]]: ...
    def fill(self, cursor: Any, limit: int) -> int: ...
    def take(self) -> Columns: ...


class RecordCursorLike(Protocol):
    """A place in one (decompressed) batch: decodes records one after the other."""

    @property
    def position(self) -> int: ...
    @property
    def exhausted(self) -> bool: ...
    def next(self) -> Any | None: ...
    def take(self, out: list[Any], limit: int) -> int: ...
    def take_columns(self, sink: Any, limit: int) -> int: ...


class BatchLike(Protocol):
    """A sealed batch of one partition, on its way to the broker."""

    @property
    def topic(self) -> str: ...
    @property
    def partition(self) -> int: ...
    @property
    def count(self) -> int: ...
    @property
    def size_bytes(self) -> int: ...
    @property
    def opened_at_s(self) -> float: ...
    @property
    def max_timestamp_ms(self) -> int: ...
    @property
    def has_callbacks(self) -> bool: ...
    def encode(
        self,
        *,
        codec_id: int = 0,
        compress: Callable[[memoryview], Buffer] | None = None,
        producer_id: int = -1,
        producer_epoch: int = -1,
        base_sequence: int = -1,
        transactional: bool = False,
    ) -> Buffer: ...
    def reports(
        self,
        error: KafkaError | None,
        base_offset: int,
        log_append_time_ms: int = -1,
        latency_s: float | None = None,
    ) -> list[tuple[Any, Any]]: ...
    def split(self) -> list[Any]: ...


class PreparedRequestLike(Protocol):
    """A request for one record of one partition, made before there is the record; `produce` may send it, once."""

    quiet: bool

    @property
    def batch(self) -> Any | None: ...
    @property
    def frame(self) -> bytes | None: ...
    @property
    def sent_bytes(self) -> int: ...
    def withdraw(self) -> bool: ...


class AccumulatorLike(Protocol):
    """The memory behind `produce()`: filled by callers, emptied by the event loop."""

    closed_reason: str | None

    @property
    def queued_records(self) -> int: ...
    @property
    def queued_bytes(self) -> int: ...
    @property
    def has_open(self) -> bool: ...
    def produce(
        self,
        topic: str,
        value: Payload = None,
        key: Payload = None,
        partition: int = -1,
        callback: DeliveryCallback | None = None,
        on_delivery: DeliveryCallback | None = None,
        timestamp: int = 0,
        headers: Headers = None,
    ) -> None: ...
    def produce_batch(
        self,
        topic: str,
        messages: list[dict[str, Any]],
        partition: int = -1,
        callback: DeliveryCallback | None = None,
        on_delivery: DeliveryCallback | None = None,
    ) -> int: ...
    def produce_columns(
        self,
        topic: str,
        columns: RecordColumns,
        start: int,
        stop: int,
        partition: int = -1,
        callback: DeliveryCallback | None = None,
    ) -> int: ...
    def new_topics(self) -> list[str]: ...
    def set_partition_count(self, topic: str, count: int) -> None: ...
    def fail_topic(self, topic: str) -> Any | None: ...
    def take_ready(
        self,
        now_s: float,
        linger_s: float,
        force: bool = False,
        held: Container[tuple[str, int]] | None = None,
        hold_s: float = 0.0,
    ) -> tuple[list[Any], float | None]: ...
    def prepare(self, topic: str, partition: int, request: Any) -> bool: ...
    def settle(self, records: int, size_bytes: int) -> None: ...
    def purge(self) -> list[Any]: ...
