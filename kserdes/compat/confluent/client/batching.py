"""Batches beside a blocking producer, by the names of confluent_kafka's private modules in `aio.producer`.

Our `AIOProducer` batches by itself and needs none of it; it is for code that imports it. Stands on `produce_batch`,
`poll` and `flush` of whatever producer it is given.
"""

from __future__ import annotations

import asyncio
import logging
import time
import weakref
from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from typing import Any, NamedTuple, Protocol

from kafka_core import KafkaException
from kserdes.compat.confluent.client.loop_calls import async_call

__all__ = [
    "BufferTimeoutManager",
    "MessageBatch",
    "ProducerBatchExecutor",
    "ProducerBatchManager",
    "create_message_batch",
]

logger = logging.getLogger(__name__)

Fields = dict[str, Any]
"""One message: topic, value, key and, where given, partition, timestamp and headers."""


class MessageBatch(NamedTuple):
    """Messages of one topic and partition, and the futures of their delivery.

    Attributes:
        topic: where to.
        messages: their fields without the topic, each with a `callback`.
        futures: one per message.
        partition: where to; -1 leaves it to the partitioner.
    """

    topic: str
    messages: Sequence[Fields]
    futures: Sequence[asyncio.Future[Any]]
    partition: int = -1

    @property
    def size(self) -> int:
        """The number of messages."""
        return len(self.messages)

    @property
    def info(self) -> str:
        """A description for logs."""
        return f"MessageBatch(topic='{self.topic}', partition={self.partition}, size={self.size})"


def create_message_batch(
    topic: str,
    messages: Sequence[Fields],
    futures: Sequence[asyncio.Future[Any]],
    callbacks: Any = None,
    partition: int = -1,
) -> MessageBatch:
    """A batch that holds tuples; `callbacks` has no effect."""
    return MessageBatch(topic, tuple(messages), tuple(futures), partition)


class BlockingProducer(Protocol):
    """The methods of a producer that are used."""

    def produce_batch(self, topic: str, messages: list[Fields], *, partition: int) -> Any:
        """Queues messages; those that were not queued get an `_error`."""

    def poll(self, timeout: float) -> int:
        """Runs callbacks."""

    def flush(self, timeout: float) -> int:
        """Waits for deliveries."""


class ProducerBatchExecutor:
    """Gives batches to a blocking producer, in an executor's thread.

    Args:
        producer: takes the batches.
        executor: its threads wait.
    """

    def __init__(self, producer: BlockingProducer, executor: Executor) -> None:
        self._producer = producer
        self._executor = executor

    async def execute_batch(self, topic: str, batch_messages: Sequence[Fields], partition: int = -1) -> int:
        """Queues a batch, tells the messages that were not queued, and runs callbacks that are due.

        Returns:
            How many callbacks `poll` ran.
        """

        def queue() -> int:
            messages = batch_messages if isinstance(batch_messages, list) else list(batch_messages)
            self._producer.produce_batch(topic, messages, partition=partition)
            self._handle_partial_failures(messages)
            return self._producer.poll(0)

        return await asyncio.get_running_loop().run_in_executor(self._executor, queue)

    async def flush_librdkafka_queue(self, timeout: float = -1) -> int:
        """Waits until everything is delivered; returns how many are not.

        Args:
            timeout: seconds; 0 does not wait, -1 has no end.
        """
        return await async_call(self._executor, self._producer.flush, timeout)

    def _handle_partial_failures(self, batch_messages: Sequence[Fields]) -> None:
        for message in batch_messages:
            callback = message.get("callback")
            if "_error" in message and callback:
                try:
                    callback(message["_error"], None)
                except Exception:
                    logger.warning("a callback failed for a message that was not queued", exc_info=True)
                    raise


class ProducerBatchManager:
    """Holds messages until they are made into batches.

    Args:
        kafka_executor: takes the batches.
    """

    def __init__(self, kafka_executor: ProducerBatchExecutor) -> None:
        self._kafka_executor = kafka_executor
        self._message_buffer: list[Fields] = []
        self._buffer_futures: list[asyncio.Future[Any]] = []

    def add_message(self, msg_data: Fields, future: asyncio.Future[Any]) -> None:
        """Takes a message; its future gets the delivered message, or a KafkaException."""
        self._message_buffer.append(msg_data)
        self._buffer_futures.append(future)

    def get_buffer_size(self) -> int:
        """The number of waiting messages."""
        return len(self._message_buffer)

    def is_buffer_empty(self) -> bool:
        """Whether none waits."""
        return not self._message_buffer

    def clear_buffer(self) -> None:
        """Forgets what waits; its futures stay as they are."""
        self._message_buffer.clear()
        self._buffer_futures.clear()

    def cancel_pending_futures(self) -> None:
        """Cancels the futures of what waits."""
        for future in self._buffer_futures:
            if not future.done():
                future.cancel()

    def create_batches(self, target_topic: str | None = None) -> list[MessageBatch]:
        """One batch per topic and partition of what waits, which goes on waiting.

        Args:
            target_topic: this topic alone.
        """
        batches = []
        for (topic, partition), group in self._group_messages_by_topic_and_partition().items():
            if target_topic in (None, topic):
                messages, futures = self._prepare_batch_messages(group["messages"]), group["futures"]
                self._assign_future_callbacks(messages, futures)
                batches.append(create_message_batch(topic, messages, futures, partition=partition))
        return batches

    async def flush_buffer(self, target_topic: str | None = None) -> None:
        """Gives what waits to the producer. What it does not take waits again.

        Args:
            target_topic: this topic alone.
        """
        if self.is_buffer_empty():
            return
        batches = self.create_batches(target_topic)
        if target_topic is None:
            self.clear_buffer()
        else:
            self._clear_topic_from_buffer(target_topic)
        try:
            await self._execute_batches(batches, target_topic)
        except Exception:
            self._add_batches_back_to_buffer(batches)
            raise

    def _clear_topic_from_buffer(self, target_topic: str) -> None:
        waiting = zip(self._message_buffer, self._buffer_futures, strict=True)
        kept = [(message, future) for message, future in waiting if message["topic"] != target_topic]
        self._message_buffer = [message for message, _ in kept]
        self._buffer_futures = [future for _, future in kept]

    async def _execute_batches(self, batches: Sequence[MessageBatch], target_topic: str | None = None) -> None:
        for batch in batches:
            try:
                await self._kafka_executor.execute_batch(batch.topic, batch.messages, batch.partition)
            except Exception as error:
                self._handle_batch_failure(error, batch.futures)
                raise

    def _add_batches_back_to_buffer(self, batches: Sequence[MessageBatch]) -> None:
        optional = ("partition", "timestamp", "headers")
        for batch in batches:
            for message, future in zip(batch.messages, batch.futures, strict=True):
                fields = {"topic": batch.topic, "value": message.get("value"), "key": message.get("key")}
                self.add_message({**fields, **{name: message[name] for name in optional if name in message}}, future)

    def _group_messages_by_topic_and_partition(self) -> dict[tuple[str, int], dict[str, list[Any]]]:
        groups: dict[tuple[str, int], dict[str, list[Any]]] = {}
        for message, future in zip(self._message_buffer, self._buffer_futures, strict=True):
            place = (message["topic"], message.get("partition", -1))
            group = groups.setdefault(place, {"messages": [], "futures": []})
            group["messages"].append(message)
            group["futures"].append(future)
        return groups

    def _prepare_batch_messages(self, messages: Sequence[Fields]) -> list[Fields]:
        return [{name: value for name, value in message.items() if name != "topic"} for message in messages]

    def _assign_future_callbacks(
        self, batch_messages: Sequence[Fields], futures: Sequence[asyncio.Future[Any]]
    ) -> None:
        for message, future in zip(batch_messages, futures, strict=True):
            message["callback"] = _settling(future)

    def _handle_batch_failure(self, exception: Exception, batch_futures: Sequence[asyncio.Future[Any]]) -> None:
        for future in batch_futures:
            if not future.done():
                future.set_exception(exception)


def _settling(future: asyncio.Future[Any]) -> Callable[[Any, Any], None]:
    """A delivery callback that settles a future."""

    def settle(error: Any, message: Any) -> None:
        if future.done():
            return
        if error:
            future.set_exception(KafkaException(error))
        else:
            future.set_result(message)

    return settle


class BufferTimeoutManager:
    """Flushes a buffer in which nothing happened for a while.

    Args:
        batch_processor: the buffer.
        kafka_executor: takes the batches.
        timeout: seconds without activity; 0 never flushes.
    """

    def __init__(
        self, batch_processor: ProducerBatchManager, kafka_executor: ProducerBatchExecutor, timeout: float
    ) -> None:
        self._batch_processor = batch_processor
        self._kafka_executor = kafka_executor
        self._timeout = timeout
        self._last_activity = time.monotonic()
        self._timeout_task: asyncio.Task[None] | None = None
        self._running = False

    def start_timeout_monitoring(self) -> None:
        """Starts the task that looks after the buffer, on the running loop."""
        if self._timeout and self._timeout > 0:
            self._running = True
            self._timeout_task = asyncio.create_task(self._monitor_timeout())

    def stop_timeout_monitoring(self) -> None:
        """Ends it."""
        self._running = False
        if self._timeout_task and not self._timeout_task.done():
            self._timeout_task.cancel()
            self._timeout_task = None

    def mark_activity(self) -> None:
        """Something happened to the buffer."""
        self._last_activity = time.monotonic()

    async def _monitor_timeout(self) -> None:
        """Ends when the manager is stopped or gone: the task alone does not keep it alive."""
        found = weakref.ref(self)
        del self
        while True:
            manager = found()
            if manager is None or not manager._running:
                return
            pause_s = max(0.1, min(1.0, manager._timeout / 2))
            del manager
            await asyncio.sleep(pause_s)
            manager = found()
            if manager is None or not manager._running:
                return
            await manager._flush_if_idle()
            del manager

    async def _flush_if_idle(self) -> None:
        if time.monotonic() - self._last_activity < self._timeout:
            return
        try:
            await self._flush_buffer_due_to_timeout()
        except Exception:
            logger.error("Error flushing buffer due to timeout", exc_info=True)
            raise
        self.mark_activity()

    async def _flush_buffer_due_to_timeout(self) -> None:
        await self._batch_processor.flush_buffer()
        await self._kafka_executor.flush_librdkafka_queue(0)
