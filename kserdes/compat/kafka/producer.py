"""KafkaProducer of kafka-python 3.0 on `kafka_core.Producer`.

Must not hold any protocol. A thread of its own takes the delivery reports, so futures are settled, and their callbacks
run, without a call of the application. docs/guide/migrating-kafka-python.md says what differs.
"""

from __future__ import annotations

import json
import logging
import re
import threading
import time
import weakref
from collections.abc import Callable, Mapping
from types import TracebackType
from typing import Any, Final, Self

from kafka_core import KafkaException, Producer, StateError, TopicPartition
from kafka_core.admin import ClusterMetadata
from kafka_core.model import ConsumerGroupMetadata
from kserdes.compat.kafka import structs
from kserdes.compat.kafka.cluster import ClusterMetadata as ClusterView
from kserdes.compat.kafka.errors import (
    IllegalStateError,
    KafkaConfigurationError,
    KafkaTimeoutError,
)
from kserdes.compat.kafka.failures import translated, translating
from kserdes.compat.kafka.future import FutureRecordMetadata
from kserdes.compat.kafka.partitioner import DefaultPartitioner, StickyPartitioner
from kserdes.compat.kafka.settings import PRODUCER, check_common, check_delivery

__all__ = ["KafkaProducer", "check_topic"]

logger: Final = logging.getLogger("kserdes.compat")

EXIT_LIMIT_S: Final = 5.0
"""Seconds for sending the rest when a producer is dropped, or the process ends."""
FIRST_WAIT_S: Final = 0.05
STATISTICS_MS: Final = 1000
PAYLOADS: Final = (bytes, bytearray, memoryview)
LEGAL: Final = re.compile(r"[a-zA-Z0-9._-]+")
IDEMPOTENCE: Final[dict[str, Callable[[Any], bool]]] = {
    "acks": lambda acks: acks in (-1, "all"),
    "retries": lambda retries: retries > 0,
    "max_in_flight_requests_per_connection": lambda count: count <= 5,
}
"""Requirements of idempotence for other arguments."""


class KafkaProducer:
    """Writes records; `send` gives a future for each. Thread-safe.

    Args:
        **configs: `DEFAULT_CONFIG` has all of them with their defaults.

    Raises:
        ValueError: there is no such argument. KafkaConfigurationError: arguments contradict each other.
        KafkaTimeoutError: no broker answered within `bootstrap_timeout_ms`.
    """

    DEFAULT_CONFIG: Final = PRODUCER.defaults()
    DEPRECATED_CONFIGS: Final = ()

    def __init__(self, **configs: Any) -> None:
        if unknown := PRODUCER.unknown(configs):
            raise ValueError(f"Unrecognized configs: { {name: configs[name] for name in unknown} }")
        PRODUCER.tell_unused(configs)
        self.config = {**self.DEFAULT_CONFIG, **configs}
        check_common(self.config)
        check_delivery(self.config)
        settle_idempotence(self.config, configs)
        codec = self.config["compression_type"]
        if codec not in (None, "gzip", "snappy", "lz4", "zstd"):
            raise ValueError(f"Not supported codec: {codec}")
        self._closed = False
        self._statistics: dict[str, Any] = {}
        self._key_serializer = serializing(self.config["key_serializer"])
        self._value_serializer = serializing(self.config["value_serializer"])
        partitioner = self.config["partitioner"]
        self._choose = None if type(partitioner) in (DefaultPartitioner, StickyPartitioner) else choosing(partitioner)
        self._max_block_s = self.config["max_block_ms"] / 1000
        self._topics: dict[str, tuple[float, ClusterMetadata]] = {}
        if self.config["transactional_id"]:  # a transaction ends before its records may be given up
            limit_ms = min(self.config["delivery_timeout_ms"], self.config["transaction_timeout_ms"])
            self.config["delivery_timeout_ms"] = limit_ms
        properties = {**PRODUCER.properties(self.config), "partitioner": "murmur2_random"}
        if self.config["metrics_enabled"]:
            statistics = self._statistics
            properties["statistics.interval.ms"] = STATISTICS_MS
            properties["stats_cb"] = lambda text: statistics.update(json.loads(text))
        with translating():
            self._producer = Producer(properties)
        self._produce = self._producer.produce
        try:
            bootstrap(self._producer.cluster_id, self.config)
        except BaseException:
            self._producer.close(0)
            raise
        self._reports = threading.Thread(
            target=serve, args=(self._producer,), name="kafka-producer-reports", daemon=True
        )
        self._reports.start()
        self._dropped = weakref.finalize(self, end, self._producer, EXIT_LIMIT_S)

    # ---- records

    def send(
        self,
        topic: str,
        value: Any = None,
        key: Any = None,
        headers: list[tuple[str, bytes]] | None = None,
        partition: int | None = None,
        timestamp_ms: int | None = None,
    ) -> FutureRecordMetadata:
        """Queues a record and gives the future of its delivery.

        Raises:
            KafkaTimeoutError: the topic is unknown, or there is no room, for `max_block_ms`.
            TypeError: topic, key, value or headers are of a wrong type, after serializing.
            ValueError: neither key nor value; a topic's name or a partition that cannot be.
            IllegalStateError: closed.
        """
        if self._closed:
            raise IllegalStateError("KafkaProducer already closed!")
        if key is None and value is None:
            raise ValueError("Need at least one: key or value")
        known = self._topics.get(topic) if type(topic) is str else None
        if known is None:
            check_topic(topic)
            known = self._metadata_of(topic)
        payload, name = value, key
        if self._key_serializer is not None:
            name = self._key_serializer(topic, headers, key)
        if self._value_serializer is not None:
            payload = self._value_serializer(topic, headers, value)
        if name is not None and type(name) is not bytes and not isinstance(name, PAYLOADS):
            raise TypeError(f"Unsupported type for serialized key: {type(name)}")
        if payload is not None and type(payload) is not bytes and not isinstance(payload, PAYLOADS):
            raise TypeError(f"Unsupported type for serialized value: {type(payload)}")
        header_size = -1 if headers is None else size_of_headers(headers)
        number = -1
        if partition is not None:
            number = self._check_partition(topic, partition)
        elif self._choose is not None:
            number = self._choose(topic, key, name, value, payload, ClusterView.of(self._fresh(topic, known)))
        future = FutureRecordMetadata(
            (-1 if name is None else len(name), -1 if payload is None else len(payload), header_size)
        )
        try:
            self._produce(topic, payload, name, number, future.report, None, timestamp_ms or 0, headers or None)
        except BufferError:
            self._produce_later(topic, payload, name, number, future, timestamp_ms or 0, headers or None)
        except StateError as failure:
            raise IllegalStateError(str(failure)) from failure
        except KafkaException as failure:
            raise translated(failure) from failure
        return future

    def _produce_later(
        self,
        topic: str,
        payload: Any,
        name: Any,
        number: int,
        future: FutureRecordMetadata,
        timestamp: int,
        headers: Any,
    ) -> None:
        """Queues a record when there is room for it."""
        deadline_s = time.monotonic() + self._max_block_s
        while True:
            left_s = deadline_s - time.monotonic()
            if left_s <= 0:
                raise KafkaTimeoutError("Failed to allocate memory within the configured max blocking time")
            with translating():
                self._producer.poll(left_s)  # comes back as soon as there is room
            try:
                return self._produce(topic, payload, name, number, future.report, None, timestamp, headers)
            except BufferError:
                continue

    def flush(self, timeout: float | None = None) -> None:
        """Sends everything and waits until each record has its verdict, so many seconds at most.

        Raises:
            KafkaTimeoutError: some have none by then.
        """
        if self._closed:
            return
        with translating():
            left = self._producer.flush(timeout)
        if left:
            raise KafkaTimeoutError(f"Timeout waiting for {left} records")

    def close(self, timeout: float | None = None, null_logger: bool = False) -> None:
        """Sends queued records for at most so many seconds, and ends; the rest fails. May be called again."""
        self._closed = True
        if self._dropped.detach() is not None:
            end(self._producer, timeout)
            for each in (self.config["key_serializer"], self.config["value_serializer"]):
                if callable(getattr(each, "close", None)):
                    each.close()
        if self._reports is not threading.current_thread():
            self._reports.join(EXIT_LIMIT_S)

    # ---- the cluster

    def partitions_for(self, topic: str) -> set[int]:
        """The numbers of a topic's partitions.

        Raises:
            KafkaTimeoutError: it is unknown for `max_block_ms`.
        """
        known = self._topics.get(topic)
        metadata = self._fresh(topic, known) if known is not None else self._metadata_of(topic)[1]
        return set(metadata.topics[topic].partitions)

    def bootstrap_connected(self) -> bool:
        """Whether the first contact was made, and the producer is open."""
        return not self._closed

    def _fresh(self, topic: str, known: tuple[float, ClusterMetadata]) -> ClusterMetadata:
        """A topic's metadata, asked for anew when it is too old."""
        if time.monotonic() - known[0] < self.config["metadata_max_age_ms"] / 1000 or self._closed:
            return known[1]
        return self._metadata_of(topic)[1]

    def _metadata_of(self, topic: str) -> tuple[float, ClusterMetadata]:
        """Asks for a topic until it has partitions."""
        if self._closed:
            raise IllegalStateError("KafkaProducer already closed!")
        deadline_s, wait_s = time.monotonic() + self._max_block_s, FIRST_WAIT_S
        while True:
            left_s = max(0.001, deadline_s - time.monotonic())
            with translating():
                metadata = self._producer.list_topics(topic, left_s)
            found = metadata.topics.get(topic)
            if found is not None and found.partitions and all(each.leader >= 0 for each in found.partitions.values()):
                self._topics[topic] = (time.monotonic(), metadata)
                return self._topics[topic]
            if time.monotonic() + wait_s >= deadline_s:
                raise KafkaTimeoutError(f"Failed to update metadata of {topic!r} after {self._max_block_s:g} secs.")
            threading.Event().wait(wait_s)
            wait_s = min(1.0, wait_s * 2)

    def _check_partition(self, topic: str, partition: int) -> int:
        if partition < 0:
            raise ValueError("partition must be >= 0")
        if partition not in self._topics[topic][1].topics[topic].partitions and (
            partition not in self._metadata_of(topic)[1].topics[topic].partitions
        ):
            raise ValueError(f"Unrecognized partition {partition} for topic {topic}")
        return partition

    # ---- transactions

    def init_transactions(self) -> None:
        """Makes this producer the only one with its `transactional_id`; once, before the others."""
        if not self.config["transactional_id"]:
            raise IllegalStateError("Cannot call init_transactions without setting a transactional_id.")
        with translating():
            self._producer.init_transactions(self._max_block_s)

    def begin_transaction(self) -> None:
        """Opens a transaction."""
        with self._transacting():
            self._producer.begin_transaction()

    def send_offsets_to_transaction(
        self,
        offsets: Mapping[structs.TopicPartition, structs.OffsetAndMetadata],
        group_metadata: structs.ConsumerGroupMetadata | str,
    ) -> None:
        """Commits offsets of a consumer's group as part of the transaction."""
        if isinstance(group_metadata, str):
            group_metadata = structs.ConsumerGroupMetadata(group_metadata)
        if group_metadata.group_id is None:
            raise IllegalStateError("the consumer has no group")
        member = ConsumerGroupMetadata(
            group_metadata.group_id,
            group_metadata.generation_id,
            group_metadata.member_id,
            group_metadata.group_instance_id,
        )
        positions = [
            TopicPartition(each.topic, each.partition, given.offset or 0, given.metadata)
            for each, given in offsets.items()
        ]
        with self._transacting():
            self._producer.send_offsets_to_transaction(positions, member)

    def commit_transaction(self) -> None:
        """Sends queued records and commits."""
        with self._transacting():
            self._producer.commit_transaction()

    def abort_transaction(self) -> None:
        """Drops the transaction."""
        with self._transacting():
            self._producer.abort_transaction()

    def _transacting(self) -> Any:
        if not self.config["transactional_id"]:
            raise IllegalStateError("Cannot use transactional methods without enabling transactions")
        return translating()

    # ---- the rest

    def metrics(self, raw: bool = False) -> dict[str, dict[str, Any]]:
        """Totals of the last second's statistics, under kafka-python's names."""
        numbers = self._statistics
        if not self.config["metrics_enabled"]:
            return {}
        return {
            "producer-metrics": {
                "record-send-total": numbers.get("txmsgs", 0),
                "byte-total": numbers.get("txmsg_bytes", 0),
                "request-total": numbers.get("tx", 0),
                "outgoing-byte-total": numbers.get("tx_bytes", 0),
                "incoming-byte-total": numbers.get("rx_bytes", 0),
                "records-waiting": len(self._producer),
            }
        }

    @classmethod
    def max_usable_produce_magic(cls, api_version: tuple[int, ...]) -> int:
        """The format of batches that is written: 2, always."""
        return 2

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, exc_type: type[BaseException] | None, exc_val: BaseException | None, exc_tb: TracebackType | None
    ) -> None:
        self.close()


def serve(producer: Producer) -> None:
    """Takes reports until the producer is closed; knows no KafkaProducer, so that one can be dropped."""
    while True:
        try:
            producer.poll(None)
        except Exception as error:
            if isinstance(error, StateError) and producer._closed:
                return
            logger.exception("a callback failed")


def end(producer: Producer, timeout: float | None) -> None:
    """Closes a producer whose KafkaProducer may be gone already."""
    with translating():
        producer.close(timeout)


def bootstrap(ask: Callable[[float], object], config: Mapping[str, Any], timeout_ms: float | None = None) -> None:
    """Makes the first contact, within `bootstrap_timeout_ms`."""
    limit_ms = config["bootstrap_timeout_ms"] if timeout_ms is None else timeout_ms
    try:
        ask(limit_ms / 1000)
    except KafkaException as failure:
        error = translated(failure)
        if getattr(error, "errno", None) is not None and not error.retriable:
            raise error from failure
        raise KafkaTimeoutError(f"Unable to bootstrap from {config['bootstrap_servers']}: {failure}") from failure


def settle_idempotence(config: dict[str, Any], given: Mapping[str, Any]) -> None:
    """Turns idempotence off where an argument forbids it and nobody asked for it; else the contradiction is refused."""
    if not config["enable_idempotence"]:
        if config["transactional_id"]:
            raise KafkaConfigurationError("enable_idempotence=False is incompatible with transactional_id")
        return
    for name, fits in IDEMPOTENCE.items():
        if not fits(config[name]):
            if given.get("enable_idempotence") or config["transactional_id"]:
                raise KafkaConfigurationError(
                    f"enable_idempotence=True is incompatible with user-provided {name}={config[name]}"
                )
            logger.warning("idempotence is off, because %s=%s was given", name, config[name])
            config["enable_idempotence"] = False


def serializing(given: Any) -> Callable[[str, Any, Any], Any] | None:
    """A serializer or a function as one kind of call."""
    if given is None:
        return None
    if callable(getattr(given, "serialize", None)):
        return lambda topic, headers, data: given.serialize(topic, headers, data)
    if not callable(given):
        raise TypeError(f"a serializer is a function or has serialize(), which {given!r} has not")
    return lambda topic, headers, data: given(data)


def choosing(given: Any) -> Callable[..., int]:
    """A partitioner, or a function (serialized key, all partitions, those with a leader), as one kind of call."""
    if callable(getattr(given, "partition", None)):
        partition: Callable[..., int] = given.partition
        return partition

    def choose(
        topic: str, key: Any, serialized_key: Any, value: Any, serialized_value: Any, cluster: ClusterView
    ) -> int:
        everything = sorted(cluster.partitions_for_topic(topic) or ())
        number: int = given(serialized_key, everything, sorted(cluster.available_partitions_for_topic(topic) or ()))
        return number

    return choose


def size_of_headers(headers: Any) -> int:
    """Bytes of names and values. TypeError: headers are no list of (str, bytes)."""
    if not isinstance(headers, list):
        raise TypeError("headers must be list-type")
    if not all(
        isinstance(item, tuple) and len(item) == 2 and isinstance(item[0], str) and isinstance(item[1], bytes)
        for item in headers
    ):
        raise TypeError("All headers items must be (str, bytes) tuples")
    return sum(len(name.encode()) + len(value) for name, value in headers) if headers else -1


def check_topic(topic: Any) -> None:
    """TypeError, ValueError: what cannot be a topic's name."""
    if not isinstance(topic, str):
        raise TypeError("All topics must be strings")
    if not topic:
        raise ValueError("All topics must be non-empty strings")
    if topic in (".", ".."):
        raise ValueError('Topic name cannot be "." or ".."')
    if len(topic) > 249:
        raise ValueError(f'Topic name is illegal, it can\'t be longer than 249 characters, topic name: "{topic}"')
    if not LEGAL.fullmatch(topic):
        raise ValueError(
            f'Topic name "{topic}" is illegal, it contains a character other than ASCII alphanumerics, ".", "_" and "-"'
        )
