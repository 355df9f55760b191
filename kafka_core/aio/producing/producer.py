"""The asyncio producer: ProducerCore on the caller's own loop; no thread anywhere.

Must not know the protocol or threads: it turns verdicts into futures.
Spec: confluent_kafka.aio.AIOProducer for names and arguments; DESIGN §2.
"""

import asyncio
import contextlib
import inspect
import logging
import os
import time
import weakref
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any, Final, Self, TypeVar

from kafka_core.aio.cluster.client import ClusterClient
from kafka_core.aio.producing.core import ProducerCore, close_limit_s, tell_lost
from kafka_core.aio.producing.record_columns import ColumnFeed
from kafka_core.aio.producing.transaction_calls import AIOTransactionCalls
from kafka_core.aio.tasks.dropped import Leash, LoopOf
from kafka_core.aio.tasks.handover import weakly
from kafka_core.aio.tasks.timeouts import limit_s
from kafka_core.config import Config, Role, parse
from kafka_core.engine.producing.batcher import Settled
from kafka_core.errors import PRODUCER_CLOSED, KafkaError, KafkaException, StateError
from kafka_core.kernels import Accumulator, Message
from kafka_core.model import ThrottleEvent, Uuid
from kserdes_base.forks import FORKED, share_no_fork

if TYPE_CHECKING:
    import pyarrow

    from kafka_core.listings import ClusterMetadata

logger: Final = logging.getLogger("kafka_core.producer")

T = TypeVar("T")

CALLBACKS_LIMIT_S: Final = 5.0
"""Seconds that `close()` waits for callbacks that are coroutine functions."""

Payload = bytes | bytearray | memoryview | str
Headers = Mapping[str, bytes | str | None] | Sequence[tuple[str, bytes | str | None]]
DeliveryCallback = Callable[[KafkaError | None, Message], object]


class _Pending:
    """A record's callback as the accumulator keeps it: resolves the future its caller holds."""

    __slots__ = ("future", "on_delivery")

    def __init__(self, future: "asyncio.Future[Message]", on_delivery: DeliveryCallback | None) -> None:
        self.future = future
        self.on_delivery = on_delivery

    def __call__(self, error: KafkaError | None, message: Message) -> None:
        if self.future.done():  # cancelled: nobody waits
            return
        if error is None:
            self.future.set_result(message)
        else:
            self.future.set_exception(KafkaException(error))


class _PendingRows(_Pending):
    """The callback of all rows of one `produce_arrow`: counts down, then resolves the one future."""

    __slots__ = ("_done", "_error", "_left", "_rows")

    def __init__(self, rows: "asyncio.Future[int]", on_delivery: DeliveryCallback | None) -> None:
        self._rows = rows
        self.on_delivery = on_delivery
        self._done = 0
        self._left: int | None = None
        self._error: KafkaError | None = None

    def __call__(self, error: KafkaError | None, message: Message) -> None:
        self._done += 1
        self._error = self._error or error
        self._settle()

    def all_queued(self, rows: int) -> None:
        """No more rows will come than these."""
        self._left = rows
        self._settle()

    def _settle(self) -> None:
        if self._done != self._left or self._rows.done():
            return
        if self._error is None:
            self._rows.set_result(self._done)
        else:
            self._rows.set_exception(KafkaException(self._error))


class _Deliveries:
    """Takes the core's events on the loop: resolves futures and calls callbacks.

    Does not hold the producer: the core's tasks hold this, and a producer that is dropped must be seen to be.
    """

    def __init__(self, config: Config) -> None:
        self.on_delivery: DeliveryCallback | None = config.callback("on_delivery")
        self.loop: asyncio.AbstractEventLoop | None = None
        self._only_errors = config.flag("delivery.report.only.error")
        self._callbacks = {name: config.callback(name) for name in ("error_cb", "throttle_cb", "stats_cb")}
        self._changed: asyncio.Future[None] | None = None
        self._tasks: set[asyncio.Future[None]] = set()

    def of(self, core: ProducerCore) -> None:
        """The core that this belongs to; before anything else."""
        self._core = core
        core.client.on_error(self._on_error)

    async def flush(self, timeout: float | None) -> int:
        """See `AIOProducer.flush`."""
        core = self._core
        accumulator = core.accumulator
        flush = object()
        core.begin_flush(flush)
        try:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(limit_s(timeout)):
                    while accumulator.queued_records:
                        await self.change()
        finally:
            core.end_flush(flush)
        return accumulator.queued_records

    async def end(self, limit_s: float) -> None:
        """For a dropped producer: delivers its records, then closes."""
        try:
            if await self.flush(limit_s):
                tell_lost(self._core.accumulator, os.getpid())
        finally:
            await self._core.close()

    def wake(self) -> None:
        """The accumulator has news: drain once this round of the loop's callbacks is over."""
        if self.loop is not None:
            self.loop.call_soon(self._core.drain)

    def on_settled(self, verdicts: Sequence[Settled]) -> None:
        """Batches have their verdict: resolve their futures."""
        for verdict in verdicts:
            batch, error = verdict.batch, verdict.error
            latency_s = time.monotonic() - batch.opened_at_s
            reports = batch.reports(error, verdict.base_offset, verdict.log_append_time_ms, latency_s=latency_s)
            for pending, message in reports:
                told = pending
                if isinstance(pending, _Pending):
                    pending(error, message)
                    told = pending.on_delivery
                if error is not None or not self._only_errors:
                    self._call(told, error, message)
            self._core.accumulator.settle(batch.count, batch.size_bytes)
        if self._changed is not None and not self._changed.done():
            self._changed.set_result(None)

    def on_throttle(self, event: ThrottleEvent) -> None:
        """A broker asked us to slow down."""
        self._call(self._callbacks["throttle_cb"], event)

    def on_statistics(self, text: str) -> None:
        """statistics.interval.ms has passed."""
        self._call(self._callbacks["stats_cb"], text)

    def _on_error(self, error: KafkaError) -> None:
        self._call(self._callbacks["error_cb"], error)

    def _call(self, callback: Callable[..., object] | None, *arguments: object) -> None:
        if callback is None:
            return
        try:
            result = callback(*arguments)
        except Exception:
            logger.exception("a callback of the producer failed")
            return
        if result is not None and inspect.isawaitable(result):
            task = asyncio.ensure_future(_finished(result))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def end_of_callbacks(self) -> None:
        """Wait for what callbacks gave to await, but not for the caller, who may be one of them."""
        running = [task for task in self._tasks if task is not asyncio.current_task()]
        if running:
            _, late = await asyncio.wait(running, timeout=CALLBACKS_LIMIT_S)
            if late:
                logger.warning("the producer was closed while %d of its callbacks were still running", len(late))

    async def change(self) -> None:
        """Wait until something was settled."""
        if self._changed is None or self._changed.done():
            self._changed = asyncio.get_running_loop().create_future()
        await asyncio.shield(self._changed)


class AIOProducer(AIOTransactionCalls):
    """Writes records to Kafka from asyncio code; everything happens on the running loop.

    `await produce(…)` queues a record and gives a future; awaiting that one waits for its delivery. Belongs to the loop
    on which it was used first; not thread-safe. Use it as `async with AIOProducer(conf) as producer:`.

    One that is dropped without `close()` gives a ResourceWarning; what it was given is still delivered, as long as the
    loop runs.

    Args:
        producer_conf: Properties by their librdkafka names (docs/configuration.md). Callbacks (`error_cb`,
            `throttle_cb`, `stats_cb`, `on_delivery`) are called on the loop; one that gives something to await (a
            coroutine function) runs as a task of its own, and may await `flush()` and `close()`. What callbacks raise
            is logged.
        max_workers: Taken for confluent_kafka's sake, as are `executor`, `batch_size` and `buffer_timeout`; without
            effect: there are no threads, and batches are made by `batch.size` and `linger.ms`.

    Raises:
        ConfigError: unknown, ill-typed or contradictory properties.
    """

    def __init__(
        self,
        producer_conf: Mapping[str, object],
        max_workers: int | None = None,
        executor: object = None,
        batch_size: int | None = None,
        buffer_timeout: float | None = None,
        *,
        client: ClusterClient | None = None,
    ) -> None:
        del max_workers, executor, batch_size, buffer_timeout
        config, self._own_callbacks = weakly(parse(producer_conf, Role.PRODUCER), awaits=True)
        self._deliveries = deliveries = _Deliveries(config)
        self._core = ProducerCore(config, deliveries, wake=deliveries.wake, client=client)
        deliveries.of(self._core)
        self._accumulator = self._core.accumulator
        self._max_block_s = config.seconds("max.block.ms")
        self._on_delivery = deliveries.on_delivery
        self._close_limit_s = limit_s = close_limit_s(config)
        self._loop: asyncio.AbstractEventLoop | None = None
        self._closed = self._forked = False
        loop_of = self._core.client.loop if client is None else _no_loop  # whoever gave the client ends it
        self._leash = Leash(self, loop_of, lambda: deliveries.end(limit_s))
        self._lost = weakref.finalize(self, _tell_lost_if_ended, self._accumulator, loop_of, os.getpid())
        share_no_fork(self)

    # ---- records in

    async def produce(
        self,
        topic: str,
        value: Payload | None = None,
        key: Payload | None = None,
        partition: int = -1,
        on_delivery: DeliveryCallback | None = None,
        timestamp: int = 0,
        headers: Headers | None = None,
        *,
        callback: DeliveryCallback | None = None,
    ) -> "asyncio.Future[Message]":
        """Queue one record; when the queue is full, wait for room (up to max.block.ms if that is set).

        Args:
            topic: As `kafka_core.Producer.produce`.
            value: As `kafka_core.Producer.produce`.
            key: As `kafka_core.Producer.produce`.
            partition: As `kafka_core.Producer.produce`.
            timestamp: As `kafka_core.Producer.produce`.
            headers: As `kafka_core.Producer.produce`.
            on_delivery: Also called, on the loop, with (KafkaError or None, Message).
            callback: Another name for `on_delivery`.

        Returns:
            A future of the delivered Message; it raises KafkaException when the record failed. Cancelling it does not
            take the record back.

        Raises:
            BufferError: No room within max.block.ms.
            KafkaException: MSG_SIZE_TOO_LARGE; _UNKNOWN_PARTITION.
            StateError: Closed, or failed for good.
        """
        loop = self._loop or await self._start()
        future: asyncio.Future[Message] = loop.create_future()
        chosen = callback if on_delivery is None else on_delivery
        pending = _Pending(future, self._on_delivery if chosen is None else chosen)
        try:
            self._accumulator.produce(topic, value, key, partition, pending, None, timestamp, headers)
        except BufferError as error:
            await self._retry(
                lambda: self._accumulator.produce(topic, value, key, partition, pending, None, timestamp, headers),
                error,
            )
        return future

    def produce_nowait(
        self,
        topic: str,
        value: Payload | None = None,
        key: Payload | None = None,
        partition: int = -1,
        on_delivery: DeliveryCallback | None = None,
        timestamp: int = 0,
        headers: Headers | None = None,
    ) -> None:
        """Queue one record without waiting and without a future: `on_delivery` gets the report.

        The producer must have been started, by `async with` or any call that is awaited. confluent_kafka has no such
        method.

        Args:
            on_delivery: As for `produce`; without it, and without one in the configuration, nobody is told.

        Raises:
            BufferError: The queue is full; `wait_for_room()` waits.
            KafkaException: MSG_SIZE_TOO_LARGE; _UNKNOWN_PARTITION.
            StateError: Not started, closed, or failed for good.
        """
        if self._loop is None:
            raise StateError("the producer has not been started: use `async with`, or await one of its calls first")
        told = self._on_delivery if on_delivery is None else on_delivery
        self._accumulator.produce(topic, value, key, partition, told, None, timestamp, headers)

    async def wait_for_room(self) -> None:
        """Wait until some records are delivered or failed, after `produce_nowait` found the queue full."""
        await self._start()
        if self._accumulator.queued_records:
            await self._deliveries.change()

    async def produce_batch(
        self, topic: str, messages: Sequence[Mapping[str, Any]], partition: int = -1
    ) -> "list[asyncio.Future[Message]]":
        """Queue many records; one future each, in order. Waits for room as `produce`.

        Args:
            messages: Dicts with `value`, `key`, `headers`, `timestamp`, `partition`, `callback`, all optional; not
                changed. The future of one that cannot be queued raises at once.
        """
        futures = []
        for message in messages:
            try:
                # By name: a producer that serializes takes the key before the value.
                future = await self.produce(
                    topic,
                    value=message.get("value"),
                    key=message.get("key"),
                    partition=message.get("partition", partition),
                    on_delivery=message.get("callback") or message.get("on_delivery"),
                    timestamp=message.get("timestamp", 0),
                    headers=message.get("headers"),
                )
            except StateError:
                raise
            except KafkaException as error:
                future = asyncio.get_running_loop().create_future()
                future.set_exception(error)
            futures.append(future)
        return futures

    async def produce_arrow(
        self,
        topic: str,
        records: "pyarrow.RecordBatch | pyarrow.Table",
        partition: int = -1,
        on_delivery: DeliveryCallback | None = None,
    ) -> "asyncio.Future[int]":
        """Queue the rows of Arrow columns, in order, as `kafka_core.Producer.produce_arrow`; waits for room.

        Args:
            topic: Where to.
            records: See `kafka_core.Producer.produce_arrow`.
            partition: For rows that have none.
            on_delivery: Also called, on the loop, for every row with (KafkaError or None, Message).

        Returns:
            A future of the number of rows, all delivered; it raises KafkaException with the first error if one failed.

        Raises:
            TypeError, ValueError: A column has another name or type; no row was queued.
            BufferError: No room within max.block.ms; the rows before are queued.
            KafkaException, ValueError: A row can't be queued; the text has its number, and those before it are queued.
            StateError: Closed, or failed for good.

        Each of these exceptions, and CancelledError, has an attribute `queued_rows`: how many rows were queued.
        """
        loop = self._loop or await self._start()
        future: asyncio.Future[int] = loop.create_future()
        pending = _PendingRows(future, self._on_delivery if on_delivery is None else on_delivery)
        with ColumnFeed(self._accumulator, topic, records, partition, pending) as feed:
            try:
                feed.go_on()
            except BufferError as error:
                await self._retry(feed.go_on, error)
        pending.all_queued(feed.queued)
        return future

    async def _retry(self, attempt: Callable[[], None], refusal: BufferError) -> None:
        """The queue was full: try again whenever something was settled."""
        try:
            async with asyncio.timeout(self._max_block_s or None):
                while True:
                    await self._deliveries.change()
                    try:
                        return attempt()
                    except BufferError as error:
                        refusal = error
        except TimeoutError:
            text = f"{refusal}; there was no room within max.block.ms ({self._max_block_s * 1000:g})"
            raise BufferError(text) from None

    # ---- waiting

    async def flush(self, timeout: float | None = None) -> int:
        """Send everything now and wait until all is delivered or failed.

        Args:
            timeout: Seconds; None or -1 waits until every record has its verdict.

        Returns:
            How many records are left.
        """
        if not self._accumulator.queued_records and not self._forked:
            return 0
        await self._start()
        return await self._deliveries.flush(timeout)

    async def _transact(self, work: Callable[[], Coroutine[Any, Any, T]], timeout_s: float) -> T:
        del timeout_s  # the work itself ends in time
        if self._closed:
            raise StateError("the producer is closed")
        await self._start()
        return await work()

    async def _step(self, call: Callable[[], None], timeout_s: float) -> None:
        del timeout_s
        if self._closed:
            raise StateError("the producer is closed")
        await self._start()
        call()

    async def _settle_records(self, deadline_s: float) -> int:
        return await self.flush(max(0.0, deadline_s - time.monotonic()))

    async def poll(self, timeout: float = 0) -> int:
        """Give the loop a turn (callbacks need no polling here); always 0. For code written for confluent_kafka."""
        await asyncio.sleep(max(timeout, 0))
        return 0

    async def purge(self, in_queue: bool = True, in_flight: bool = True, blocking: bool = True) -> None:
        """Give records up; their futures raise KafkaException with _PURGE_QUEUE or _PURGE_INFLIGHT."""
        del blocking
        await self._start()
        self._core.purge(in_queue=in_queue, in_flight=in_flight)

    def __len__(self) -> int:
        """Records without a verdict."""
        return self._accumulator.queued_records

    def __bool__(self) -> bool:
        """True: a producer is not false because nothing waits."""
        return True

    # ---- the cluster

    async def list_topics(self, topic: str | None = None, timeout: float = -1) -> "ClusterMetadata":
        """Metadata of one topic, or of all; KafkaException if no broker answers in time."""
        await self._start()
        return await self._core.list_topics(topic, limit_s(timeout))

    async def cluster_id(self, timeout: float = -1) -> str | None:
        """The cluster's id."""
        await self._start()
        return await self._core.cluster_id(limit_s(timeout))

    async def client_instance_id(self, timeout: float = -1) -> Uuid:
        """The id that the cluster has given this client, by which its telemetry is known there (KIP-714); waits for it.

        Java's `clientInstanceId`; confluent_kafka has nothing like it.

        Args:
            timeout: Seconds; negative for socket.timeout.ms.

        Raises:
            StateError: `enable.metrics.push` is false, or the client is closed.
            UnsupportedVersionError: The cluster takes no telemetry.
            KafkaException: The cluster refuses to give an id, or nobody answered in time.
        """
        await self._start()
        return await self._core.client.client_instance_id(timeout_s=limit_s(timeout))

    async def set_sasl_credentials(self, username: str, password: str) -> None:
        """Use these from the next authentication on (PLAIN, SCRAM)."""
        self._core.set_sasl_credentials(username, password)

    # ---- life

    async def close(self, timeout: float | None = None) -> None:
        """Flush, then stop; futures of records that are left raise. May be called twice.

        Args:
            timeout: Seconds for the flush; None waits until every record has its verdict (at most message.timeout.ms).

        Callbacks that are coroutine functions get up to 5 s more to end. In a forked child it does nothing.
        """
        if self._closed or self._forked:
            return
        self._closed = True
        self._accumulator.closed_reason = PRODUCER_CLOSED
        left = 0
        try:
            left = await self.flush(self._close_limit_s if limit_s(timeout) is None else timeout)
        finally:
            await self._core.close()
            self._lost.detach()
            self._leash.closed()
            await self._deliveries.end_of_callbacks()
            if left:
                logger.warning("the producer was closed with %d records not delivered", left)

    async def __aenter__(self) -> Self:
        await self._start()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        await self.close()

    def _after_fork(self) -> None:
        """In a forked child: see `kserdes_base.forks`. Records that wait here are the parent's."""
        if self._loop is not None and not self._closed:
            self._forked = True
            self._accumulator.closed_reason = FORKED

    async def _start(self) -> asyncio.AbstractEventLoop:
        if self._forked:
            raise StateError(FORKED)
        loop = asyncio.get_running_loop()
        if self._loop is None:
            self._loop = self._deliveries.loop = loop
            await self._core.start()
        elif self._loop is not loop:
            raise StateError("this producer belongs to another event loop: make one per loop")
        return loop


def _no_loop() -> None:
    return None


def _tell_lost_if_ended(accumulator: Accumulator, loop_of: LoopOf, pid: int) -> None:
    """Records of a producer that is gone are delivered as long as its loop runs (see `Leash`), and lost without it."""
    loop = loop_of()
    if loop is None or loop.is_closed():
        tell_lost(accumulator, pid)


async def _finished(work: Awaitable[object]) -> None:
    """Awaits a callback's result; logs its exception."""
    try:
        await work
    except Exception:
        logger.exception("a callback of the producer failed")
