"""aiokafka's producer on `kafka_core.aio.AIOProducer`.

Must not know the protocol: it maps arguments, futures and errors.
Spec: aiokafka 0.14's signatures and behaviour; docs/guide/migrating-aiokafka.md lists the differences.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any, Final, Self

from kafka_core import KafkaError as CoreError
from kafka_core import KafkaException, Message, StateError
from kafka_core.aio import AIOProducer
from kafka_core.model import ConsumerGroupMetadata
from kserdes.compat.aiokafka.arguments import PRODUCER, UNSET
from kserdes.compat.aiokafka.batch import BatchBuilder
from kserdes.compat.aiokafka.connecting import FirstContact, properties, translating
from kserdes.compat.aiokafka.errors import (
    IllegalOperation,
    KafkaTimeoutError,
    ProducerClosed,
    ProducerFenced,
    UnknownTopicOrPartitionError,
    for_code,
    translated,
)
from kserdes.compat.aiokafka.partitioner import DefaultPartitioner
from kserdes.compat.aiokafka.structs import OffsetAndMetadata, RecordMetadata, TopicPartition
from kserdes.compat.aiokafka.values import core_offsets, metadata_of

if TYPE_CHECKING:
    import ssl

    from kserdes.compat.aiokafka.interfaces import AbstractTokenProvider

__all__ = ["AIOKafkaProducer", "TransactionContext"]

COMPRESSIONS: Final = (None, "gzip", "snappy", "lz4", "zstd")
ACKS: Final = {0: 0, 1: 1, -1: -1, "all": -1}
_DEFAULT_PARTITIONER: Final = PRODUCER.rows["partitioner"].default
_UNLIMITED_MS: Final = 2**31 - 1
TURN_RECORDS: Final = 1000
"""After so many records in a row `send` lets the loop take a turn, in which full batches leave: else a task that only
sends would fill the queue before its first batch is written, and broker and client would wait for each other."""

Partitioner = Callable[[bytes | None, Sequence[int], Sequence[int]], int]
Serializer = Callable[[Any], Any]
Headers = Sequence[tuple[str, bytes | None]]


class Delivery:
    """A record's callback: resolves the future that its sender holds."""

    __slots__ = ("future",)

    def __init__(self, future: asyncio.Future[RecordMetadata]) -> None:
        self.future = future

    def __call__(self, error: CoreError | None, message: Message) -> None:
        if self.future.done():  # cancelled: nobody waits
            return
        if error is None:
            self.future.set_result(metadata_of(message))
        else:
            self.future.set_exception(translated(error))


class UnknownDelivery(Delivery):
    """The same without acknowledgements: nobody knows where it was written, and the result is None."""

    __slots__ = ()

    def __call__(self, error: CoreError | None, message: Message) -> None:
        if error is None and not self.future.done():
            self.future.set_result(None)  # type: ignore[arg-type]  # as aiokafka has it
        else:
            super().__call__(error, message)


class BatchDelivery:
    """The callback of all records of a batch: resolves the one future with the place of the first."""

    __slots__ = ("_first", "_left", "future")

    def __init__(self, future: asyncio.Future[RecordMetadata], count: int) -> None:
        self.future = future
        self._left = count
        self._first: RecordMetadata | None = None

    def __call__(self, error: CoreError | None, message: Message) -> None:
        self._left -= 1
        if self.future.done():
            return
        if error is not None:
            self.future.set_exception(translated(error))
            return
        if self._first is None:
            self._first = metadata_of(message)
        if not self._left:
            self.future.set_result(self._first)


class AIOKafkaProducer:
    """Writes records to Kafka; arguments are those of aiokafka 0.14 (`arguments.PRODUCER` says what each does).

    Belongs to the loop on which `start()` is awaited. Records of a partition stay in order.

    Raises:
        ValueError: arguments that make no sense.
    """

    def __init__(
        self,
        *,
        loop: asyncio.AbstractEventLoop | None = None,
        bootstrap_servers: str | list[str] = "localhost",
        client_id: str | None = None,
        metadata_max_age_ms: int = 300000,
        request_timeout_ms: int = 40000,
        api_version: str | None = None,
        acks: object = UNSET,
        key_serializer: Serializer | None = None,
        value_serializer: Serializer | None = None,
        compression_type: str | None = None,
        max_batch_size: int = 16384,
        partitioner: Partitioner = _DEFAULT_PARTITIONER,  # type: ignore[assignment]
        max_request_size: int = 1048576,
        linger_ms: float = 0,
        retry_backoff_ms: int = 100,
        security_protocol: str = "PLAINTEXT",
        ssl_context: ssl.SSLContext | None = None,
        connections_max_idle_ms: int | None = 540000,
        enable_idempotence: bool = False,
        transactional_id: str | None = None,
        transaction_timeout_ms: int = 60000,
        sasl_mechanism: str = "PLAIN",
        sasl_plain_password: str | None = None,
        sasl_plain_username: str | None = None,
        sasl_kerberos_service_name: str = "kafka",
        sasl_kerberos_domain_name: str | None = None,
        sasl_oauth_token_provider: AbstractTokenProvider | None = None,
        send_backoff_ms: int = 100,
    ) -> None:
        values = {name: value for name, value in locals().items() if name in PRODUCER.rows}
        idempotent = enable_idempotence or transactional_id is not None
        chosen_acks = (-1 if idempotent else 1) if acks is UNSET else acks
        if chosen_acks not in ACKS:
            raise ValueError("Invalid ACKS parameter")
        if idempotent and ACKS[chosen_acks] != -1:
            raise ValueError(f"acks={acks} not supported if enable_idempotence=True")
        if compression_type not in COMPRESSIONS:
            raise ValueError("Invalid compression type!")
        self._contact = FirstContact(bootstrap_servers)
        conf = properties(PRODUCER, values, self._own_loop)
        conf.setdefault("client.id", "aiokafka-producer")
        conf["acks"] = ACKS[chosen_acks]
        conf["enable.idempotence"] = idempotent
        conf["request.timeout.ms"] = max(1, min(request_timeout_ms, 900_000))
        if idempotent:
            conf["message.timeout.ms"] = 0
            if transactional_id is not None:
                conf["transactional.id"] = transactional_id
                conf["message.timeout.ms"] = conf["transaction.timeout.ms"]
        else:
            conf["message.timeout.ms"] = min(request_timeout_ms, _UNLIMITED_MS)
            conf["max.in.flight.requests.per.connection"] = 1  # the order stays, though requests are sent again
        conf["error_cb"] = self._contact.on_error
        try:
            self._producer = AIOProducer(conf)
        except KafkaException as error:
            raise translated(error) from error
        self._queue = self._producer.produce_nowait
        self._delivery = UnknownDelivery if conf["acks"] == 0 else Delivery
        self._loop: asyncio.AbstractEventLoop | None = None
        self._closed = False
        self._in_transaction = False
        self._transactional = transactional_id is not None
        self._timeout_s = request_timeout_ms / 1000
        self._retry_s = retry_backoff_ms / 1000
        self._age_s = metadata_max_age_ms / 1000
        self._key_serializer = key_serializer
        self._value_serializer = value_serializer
        self._compression = compression_type
        self._batch_size = max_batch_size
        self._partitioner = None if isinstance(partitioner, DefaultPartitioner) else partitioner
        self._topics: dict[str, tuple[frozenset[int], list[int], list[int]]] = {}
        self._known_until_s = 0.0
        self._unbroken = 0

    def _own_loop(self) -> asyncio.AbstractEventLoop:
        if self._loop is None:
            raise StateError("the producer has not been started")
        return self._loop

    # ---- life

    async def start(self) -> None:
        """Connects, and for a transactional producer makes it the only one with its id.

        Raises:
            KafkaConnectionError: no broker can be reached.
        """
        self._loop = asyncio.get_running_loop()
        await self._contact.make(self._producer.cluster_id(self._timeout_s))
        if self._transactional:
            with translating():
                await self._producer.init_transactions()

    async def flush(self) -> None:
        """Waits until every record has its verdict."""
        with translating():
            await self._producer.flush()

    async def stop(self) -> None:
        """Sends queued records and closes all connections; harmless when called again."""
        if self._closed:
            return
        self._closed = True
        with translating():
            await self._producer.close()

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(
        self, exc_type: type[BaseException] | None, exc: BaseException | None, tb: TracebackType | None
    ) -> None:
        await self.stop()

    # ---- the cluster

    async def partitions_for(self, topic: str) -> set[int]:
        """The numbers of a topic's partitions.

        Raises:
            UnknownTopicOrPartitionError: nobody knew the topic within request_timeout_ms.
        """
        known = self._topics.get(topic) if self._closed else None
        return set((known or await self._learn(topic))[0])

    async def _learn(self, topic: str) -> tuple[frozenset[int], list[int], list[int]]:
        """All partitions of a topic, in order, and those with a leader; the topic may be made just now."""
        loop = asyncio.get_running_loop()
        deadline_s = loop.time() + self._timeout_s
        while True:
            with translating():
                metadata = await self._producer.list_topics(topic, max(0.01, deadline_s - loop.time()))
            found = metadata.topics.get(topic)
            if found is not None and found.error is None and found.partitions:
                numbers = sorted(found.partitions)
                available = [number for number in numbers if found.partitions[number].leader >= 0]
                known = self._topics[topic] = frozenset(numbers), numbers, available
                if loop.time() > self._known_until_s:
                    self._known_until_s = loop.time() + self._age_s
                return known
            error = None if found is None else found.error
            if error is not None and not for_code(error.code()).retriable:
                raise translated(error)
            if loop.time() + self._retry_s >= deadline_s:
                raise UnknownTopicOrPartitionError(topic) if error is None else translated(error)
            await asyncio.sleep(self._retry_s)

    # ---- records

    async def send(
        self,
        topic: str,
        value: Any = None,
        key: Any = None,
        partition: int | None = None,
        timestamp_ms: int | None = None,
        headers: Headers | None = None,
    ) -> asyncio.Future[RecordMetadata]:
        """Queues a record, waiting for room if there is none; the future tells where it was written.

        Raises:
            ProducerClosed: the producer has been stopped.
            IllegalOperation: it has not been started, or is transactional and in no transaction.
            KafkaTimeoutError: there was no room for the record in time.
            MessageSizeTooLargeError: the record is larger than `max_request_size`.
        """
        self._unbroken += 1
        if self._unbroken >= TURN_RECORDS:
            self._unbroken = 0
            await asyncio.sleep(0)
        loop = self._loop
        if loop is None or self._closed or (self._transactional and not self._in_transaction):
            self._check()
            loop = self._own_loop()
        if value is None and key is None:
            raise AssertionError("Need at least one: key or value")
        known = self._topics.get(topic)
        if known is None:
            known = await self._learn(topic)
        if self._key_serializer is not None:
            key = self._key_serializer(key)
        if self._value_serializer is not None:
            value = self._value_serializer(value)
        if value.__class__ is str or key.__class__ is str:
            raise TypeError("a bytes-like object is required, not 'str'")
        if partition is None:
            partition = -1 if self._partitioner is None else await self._choose(topic, key)
        elif partition not in known[0]:
            await self._check_partition(topic, partition)
        if headers:
            check_headers(headers)
        future: asyncio.Future[RecordMetadata] = loop.create_future()
        try:
            self._queue(topic, value, key, partition, self._delivery(future), timestamp_ms or 0, headers)
        except BufferError:
            await self._send_with_room(topic, value, key, partition, self._delivery(future), timestamp_ms or 0, headers)
        except KafkaException as error:
            raise translated(error) from error
        return future

    async def send_and_wait(
        self,
        topic: str,
        value: Any = None,
        key: Any = None,
        partition: int | None = None,
        timestamp_ms: int | None = None,
        headers: Headers | None = None,
    ) -> RecordMetadata:
        """`send`, and waits until the record was written."""
        return await (await self.send(topic, value, key, partition, timestamp_ms, headers))

    def create_batch(self) -> BatchBuilder:
        """An empty batch, to be filled and given to `send_batch`."""
        return BatchBuilder(
            self._batch_size,
            self._compression,
            is_transactional=self._transactional,
            key_serializer=self._key_serializer,
            value_serializer=self._value_serializer,
        )

    async def send_batch(self, batch: BatchBuilder, topic: str, *, partition: int) -> asyncio.Future[RecordMetadata]:
        """Queues the records of a batch, in order, and closes it.

        They may travel in two batches, if one of `send()` is open for the partition.

        Returns:
            A future of the place of the first record, once all were written.
        """
        self._check()
        batch.close()
        if topic not in self._topics:
            await self._learn(topic)
        if partition not in self._topics[topic][0]:
            await self._check_partition(topic, partition)
        future: asyncio.Future[RecordMetadata] = self._own_loop().create_future()
        told = BatchDelivery(future, len(batch.records))
        for timestamp, key, value, headers in batch.records:
            await self._send_with_room(topic, value, key, partition, told, timestamp, headers or None)
        return future

    def _check(self) -> None:
        if self._closed:
            raise ProducerClosed
        if self._loop is None:
            raise IllegalOperation("start() has not been awaited")
        if self._transactional and not self._in_transaction:
            raise IllegalOperation("Can't send messages while not in transaction")

    async def _check_partition(self, topic: str, partition: int) -> None:
        if partition < 0:
            raise AssertionError("partition must not be negative")
        if partition not in (await self._learn(topic))[0]:  # it may be new
            raise AssertionError("Unrecognized partition")

    async def _choose(self, topic: str, key: bytes | None) -> int:
        """The partition that the application's partitioner chooses."""
        assert self._partitioner is not None
        if asyncio.get_running_loop().time() > self._known_until_s:
            self._topics.clear()
        _, every, available = self._topics.get(topic) or await self._learn(topic)
        return self._partitioner(key, list(every), list(available))

    async def _send_with_room(
        self,
        topic: str,
        value: Any,
        key: Any,
        partition: int,
        told: Callable[[CoreError | None, Message], object],
        timestamp: int,
        headers: Headers | None,
    ) -> None:
        """Queues a record, and waits for room if need be."""
        try:
            async with asyncio.timeout(self._timeout_s):
                while True:
                    try:
                        return self._queue(topic, value, key, partition, told, timestamp, headers)
                    except BufferError:
                        await self._producer.wait_for_room()
        except TimeoutError:
            raise KafkaTimeoutError("there was no room for the record within request_timeout_ms") from None
        except KafkaException as error:
            raise translated(error) from error

    # ---- transactions

    async def begin_transaction(self) -> None:
        """Opens a transaction."""
        self._check_transactional()
        if self._in_transaction:
            raise AssertionError("there is a transaction already")  # the class that aiokafka raises
        with translating():
            await self._producer.begin_transaction()
        self._in_transaction = True

    async def commit_transaction(self) -> None:
        """Sends queued records, and makes the transaction's records and offsets visible."""
        await self._end_transaction(self._producer.commit_transaction)

    async def abort_transaction(self) -> None:
        """Drops the transaction's records and offsets."""
        await self._end_transaction(self._producer.abort_transaction)

    async def _end_transaction(self, end: Callable[[], Awaitable[None]]) -> None:
        self._check_transactional()
        if not self._in_transaction:
            raise AssertionError("there is no transaction")  # the class that aiokafka raises
        with translating():
            await end()
        self._in_transaction = False

    def transaction(self) -> TransactionContext:
        """A transaction as a block: committed at its end, aborted when an exception leaves it."""
        return TransactionContext(self)

    async def send_offsets_to_transaction(
        self, offsets: Mapping[TopicPartition, int | tuple[int, str] | OffsetAndMetadata], group_id: str
    ) -> None:
        """Commits offsets of a group with the transaction.

        Raises:
            ValueError: no group, or no offsets.
        """
        self._check_transactional()
        if not self._in_transaction:
            raise IllegalOperation("Not in the middle of a transaction")
        if not group_id or not isinstance(group_id, str):
            raise ValueError(group_id)
        with translating():
            await self._producer.send_offsets_to_transaction(core_offsets(offsets), ConsumerGroupMetadata(group_id))

    def _check_transactional(self) -> None:
        if not self._transactional:
            raise IllegalOperation("You need to configure transaction_id to use transactions")


class TransactionContext:
    """One transaction as a block; see `AIOKafkaProducer.transaction`."""

    def __init__(self, producer: AIOKafkaProducer) -> None:
        self._producer = producer

    async def __aenter__(self) -> Self:
        await self._producer.begin_transaction()
        return self

    async def __aexit__(
        self,
        exc_type: type[BaseException] | None,
        exc_value: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if exc_type is None:
            await self._producer.commit_transaction()
        elif not isinstance(exc_value, ProducerFenced):
            await self._producer.abort_transaction()


def check_headers(headers: Headers) -> None:
    """TypeError for headers that are no pairs of a text and bytes."""
    for name, content in headers:
        if not isinstance(name, str):
            raise TypeError(f"Expected str, got {type(name).__name__}")
        if content is not None and not isinstance(content, bytes | bytearray | memoryview):
            raise TypeError(f"Expected bytes, got {type(content).__name__}")
