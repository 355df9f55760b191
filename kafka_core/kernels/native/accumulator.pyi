from collections.abc import Callable, Container, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any

from kafka_core.errors import KafkaError
from kafka_core.kernels.abc import RecordColumns
from kafka_core.kernels.native.message import Message

Buffer = bytes | bytearray | memoryview
DeliveryCallback = Callable[[KafkaError | None, Message], Any]

PARTITIONERS: dict[str, tuple[int, bool, bool]]

class Batch:
    topic: str
    partition: int
    count: int
    opened_at_s: float
    max_timestamp_ms: int
    has_callbacks: bool
    @property
    def size_bytes(self) -> int: ...
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
        self, error: KafkaError | None, base_offset: int, log_append_time_ms: int = -1, latency_s: float | None = None
    ) -> list[tuple[DeliveryCallback | None, Message]]: ...
    def split(self) -> list[Batch]: ...

class PreparedRequest:
    quiet: bool
    batch: Batch | None
    frame: bytes | None
    sent_bytes: int
    def __init__(
        self,
        fileno: Callable[[], int],
        head: bytes,
        tail: bytes,
        producer_id: int,
        producer_epoch: int,
        base_sequence: int,
    ) -> None: ...
    def withdraw(self) -> bool: ...

class Accumulator:
    queued_records: int
    queued_bytes: int
    closed_reason: str | None
    def __init__(
        self,
        *,
        batch_size_bytes: int,
        batch_max_records: int,
        max_queue_records: int,
        max_queue_bytes: int,
        max_message_bytes: int,
        partitioner: str = "murmur2_random",
        wake: Callable[[], object] | None = None,
        time_ms: Callable[[], int] | None = None,
        monotonic: Callable[[], float] | None = None,
        seed: int = 1,
        lock: AbstractContextManager[Any] | None = None,
    ) -> None: ...
    def produce(
        self,
        topic: str,
        value: Buffer | str | None = None,
        key: Buffer | str | None = None,
        partition: int = -1,
        callback: DeliveryCallback | None = None,
        on_delivery: DeliveryCallback | None = None,
        timestamp: int = 0,
        headers: Mapping[str, Any] | Sequence[tuple[str, Any]] | None = None,
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
    def fail_topic(self, topic: str) -> Batch | None: ...
    def take_ready(
        self,
        now_s: float,
        linger_s: float,
        force: bool = False,
        held: Container[tuple[str, int]] | None = None,
        hold_s: float = 0.0,
    ) -> tuple[list[Batch], float | None]: ...
    def prepare(self, topic: str, partition: int, request: PreparedRequest) -> bool: ...
    def settle(self, records: int, size_bytes: int) -> None: ...
    def purge(self) -> list[Batch]: ...
    @property
    def has_open(self) -> bool: ...
