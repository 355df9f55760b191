"""The blocking producer: a thin facade over ProducerCore on a loop thread. `produce` is the compiled append itself.

Must not know the protocol: it starts the loop, serves reports and other events on the caller's thread, and waits.
Spec: confluent_kafka.Producer for names, arguments and semantics; DESIGN §3; docs/decisions/0003-compiled-produce.md.
"""

import contextlib
import logging
import os
import threading
import time
import weakref
from collections.abc import Callable, Coroutine, Mapping, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any, Final, Self, TypeVar

from kafka_core.aio.producing.core import ProducerCore, close_limit_s, tell_lost
from kafka_core.aio.producing.record_columns import ColumnFeed
from kafka_core.aio.tasks.handover import weakly
from kafka_core.aio.tasks.timeouts import deadline_after, limit_s
from kafka_core.config import Config, Role, joined, parse
from kafka_core.engine.producing.batcher import Settled
from kafka_core.errors import HANDLE_CLOSED, PRODUCER_CLOSED, KafkaError, KafkaException, StateError
from kafka_core.kernels import Accumulator
from kafka_core.model import ThrottleEvent, Uuid
from kafka_core.sync.loop_thread import LoopThread
from kafka_core.sync.report_queue import DeliveryCallback, ReportQueue
from kafka_core.sync.transaction_calls import TransactionCalls
from kserdes_base.forks import share_no_fork

if TYPE_CHECKING:
    import pyarrow

    from kafka_core.listings import ClusterMetadata

T = TypeVar("T")
Payload = bytes | bytearray | memoryview | str
Headers = Mapping[str, bytes | str | None] | Sequence[tuple[str, bytes | str | None]]

logger: Final = logging.getLogger("kafka_core.producer")

CLOSE_TIMEOUT_S: Final = 5.0
"""Seconds that close() allows for closing connections, after the flush."""

_FORKED: Final = (
    "this producer was made before the process forked, and its thread did not come along; make a new one in the child "
    "process (for example in a worker's post-fork hook)"
)


_NOBODY_HOLDS_IT: Final = (
    "a record was given to an unreferenced producer, and is not delivered: keep the producer in a "
    "variable and call flush() or close() at the end"
)


class _Listener:
    """Passes the loop's events on to the report queue; knows no Producer, so that one can be dropped."""

    def __init__(self, config: Config) -> None:
        self.reports: Callable[[], ReportQueue | None] = lambda: None  # a weak reference: it holds callbacks
        self._throttle_cb = config.callback("throttle_cb")
        self._stats_cb = config.callback("stats_cb")
        self._error_cb = config.callback("error_cb")

    def on_settled(self, verdicts: Sequence[Settled]) -> None:
        reports = self.reports()
        if reports is not None:
            reports.put_verdicts(verdicts)

    def on_settled_alone(self, verdict: Settled) -> None:
        """`on_settled` for a record on its own: a thread that waits for its report serves it first."""
        reports = self.reports()
        if reports is not None:
            reports.put_alone(verdict)

    def on_throttle(self, event: ThrottleEvent) -> None:
        self._put(self._throttle_cb, event)

    def on_statistics(self, text: str) -> None:
        self._put(self._stats_cb, text)

    def on_error(self, error: KafkaError) -> None:
        self._put(self._error_cb, error)

    def _put(self, callback: Callable[[Any], object] | None, argument: object) -> None:
        reports = self.reports()
        if callback is not None and reports is not None:
            reports.put_call(callback, argument)


class Producer(TransactionCalls):
    """Writes records to Kafka: `produce` queues them, a background thread sends them, `poll` and `flush` report.

    Thread-safe: several threads may produce, poll and flush at once. The background thread starts with the first
    call that needs it and belongs to that process; in a forked child every call but close() raises StateError.

    Callbacks run only inside `poll`, `flush`, `close` and a waiting `produce`, on the caller's thread. What one raises
    comes out of that call: at once, and the reports behind it stay queued; out of `flush` and `close` when all is done.

    A callback may call the producer: `flush` and `close` there serve the other reports and wait for all records but
    those whose callbacks are running, and `poll` serves what is there. In callbacks that are called in this way (two
    deep) they wait but serve no more, and `close` during a `close` leaves the work to that one.

    Args:
        conf: Configuration properties by their librdkafka names (docs/configuration.md).
        **properties: More of them, for names without dots: `Producer(conf, logger=…, on_delivery=…)`.

    Raises:
        ConfigError: unknown, ill-typed or contradictory properties.
    """

    def __init__(self, conf: Mapping[str, object] | None = None, /, **properties: object) -> None:
        config = parse(joined(conf, properties), Role.PRODUCER)
        self._thread = LoopThread("kafka-core-producer")
        weak_config, self._own_callbacks = weakly(config)
        self._listener = _Listener(weak_config)
        self._core = self._make_core(weak_config, _waker(self._thread, self))
        accumulator = self._core.accumulator
        self._accumulator: Accumulator = accumulator
        self._reports = ReportQueue(
            accumulator, config.callback("on_delivery"), only_errors=config.flag("delivery.report.only.error")
        )
        self._listener.reports = weakref.ref(self._reports)
        self._core.client.on_error(self._listener.on_error)
        self._max_block_s = config.seconds("max.block.ms")
        self._max_records = config.integer("queue.buffering.max.messages")
        self._max_bytes = config.integer("queue.buffering.max.kbytes") * 1024
        self._close_limit_s = close_limit_s(config)
        self._closing = threading.Lock()
        self._closed = False
        self._bind_compiled()
        self._lost = weakref.finalize(self, _dropped, accumulator, self._thread, os.getpid())
        share_no_fork(self)
        cluster = self._core.client
        if cluster.needs_token or config.has_listeners():
            self._thread.begin(_begin(self._core), waits=cluster.awaits_token)

    def _make_core(self, config: Config, wake: Callable[[], None]) -> ProducerCore:
        return ProducerCore(
            config, self._listener, wake=wake, lock=threading.Lock(), on_alone=self._listener.on_settled_alone
        )

    def _bind_compiled(self) -> None:
        """Let `self.produce` be the accumulator's own method: no Python frame per record.

        A subclass that has its own `produce` is left alone; its super() call comes to ours. With max.block.ms ours is
        needed too, for the waiting. See docs/decisions/0003-compiled-produce.md.
        """
        if not self._max_block_s and type(self).produce is Producer.produce:
            self.__dict__["produce"] = self._accumulator.produce

    # ---- records in

    def produce(
        self,
        topic: str,
        value: Payload | None = None,
        key: Payload | None = None,
        partition: int = -1,
        callback: DeliveryCallback | None = None,
        on_delivery: DeliveryCallback | None = None,
        timestamp: int = 0,
        headers: Headers | None = None,
    ) -> None:
        """Queue one record; the value and key are copied before this returns.

        Args:
            topic: Where to.
            value: Its payload; str is sent as UTF-8. None is a tombstone.
            key: Decides the partition (see `partitioner`) unless `partition` is given.
            partition: -1 leaves the choice to the partitioner.
            callback: Called with (KafkaError or None, Message) by poll() or flush() when there is a verdict.
            on_delivery: Another name for `callback`.
            timestamp: Milliseconds since 1970-01-01 UTC, below -1 before it; 0 is now, -1 none.
            headers: Pairs or a dict of str to bytes, str or None.

        Raises:
            BufferError: The queue is full (queue.buffering.max.messages or .kbytes): poll() and try again. With
                max.block.ms it waits so long first, serving callbacks meanwhile.
            KafkaException: MSG_SIZE_TOO_LARGE; _UNKNOWN_PARTITION.
            StateError: Closed, forked, or failed for good.
        """
        if not self._max_block_s:
            return self._accumulator.produce(topic, value, key, partition, callback, on_delivery, timestamp, headers)
        deadline_s = None
        while True:
            try:
                return self._accumulator.produce(
                    topic, value, key, partition, callback, on_delivery, timestamp, headers
                )
            except BufferError as error:
                deadline_s = deadline_s or time.monotonic() + self._max_block_s
                if not self._wait_for_room(deadline_s):
                    text = f"{error}; there was no room within max.block.ms ({self._max_block_s * 1000:g})"
                    raise BufferError(text) from None

    def produce_batch(
        self,
        topic: str,
        messages: list[dict[str, Any]],
        partition: int = -1,
        callback: DeliveryCallback | None = None,
        on_delivery: DeliveryCallback | None = None,
    ) -> int:
        """Queue many records; one that can't be queued does not stop the others.

        Args:
            topic: Where to.
            messages: Dicts with `value`, `key`, `headers`, `timestamp`, `partition`, `callback`, all optional. One that
                was not queued gets its KafkaError as `_error` (_QUEUE_FULL when there is no room).
            partition: For messages that have none.
            callback: For messages that have none, as in `produce`.
            on_delivery: Another name for `callback`.

        Returns:
            How many were queued.

        Raises:
            StateError: Closed, forked, or failed for good.
            TypeError: It is no list, or a message has a value, key, header or partition of a wrong type; the others
                are queued.
        """
        given: object = messages  # callers in untyped code hand in anything
        if isinstance(given, dict):
            raise TypeError("messages must be a list")
        accepted = self._accumulator.produce_batch(topic, messages, partition, callback, on_delivery)
        if accepted == len(messages):
            return accepted
        for place, item in enumerate(messages):
            if item.get("_error") == KafkaError._INVALID_ARG:
                raise TypeError(f"Message at index {place}: {item['_error'].str()}")
        if not self._max_block_s:
            return accepted
        deadline_s = time.monotonic() + self._max_block_s
        while (left := [item for item in messages if item.get("_error") == KafkaError._QUEUE_FULL]) and (
            self._wait_for_room(deadline_s)
        ):
            for item in left:
                del item["_error"]
            accepted += self._accumulator.produce_batch(topic, left, partition, callback, on_delivery)
        return accepted

    def produce_arrow(
        self,
        topic: str,
        records: "pyarrow.RecordBatch | pyarrow.Table",
        partition: int = -1,
        callback: DeliveryCallback | None = None,
        on_delivery: DeliveryCallback | None = None,
    ) -> int:
        """Queue the rows of Arrow columns, in order; their bytes are copied, and no Python object is made for a row.

        Needs pyarrow. Callbacks cost an object for each record all the same: to hear of failures only, set
        `on_delivery` and `delivery.report.only.error` in the configuration.

        Args:
            topic: Where to.
            records: Columns `value`, `key` (bytes or text), `headers` (lists of structs of key and value, or maps),
                `timestamp` (timestamps, or whole numbers of ms since 1970; null is now) and `partition` (null leaves
                the choice to the partitioner); all optional.
            partition: For rows that have none, as in `produce`.
            callback: Called for every record, as in `produce`.
            on_delivery: Another name for `callback`.

        Returns:
            How many rows were queued: fewer than there are when the queue is full. With max.block.ms it waits so long
            for room. Go on with `records.slice(n)`.

        Raises:
            TypeError, ValueError: A column has another name or type; no row was queued.
            KafkaException, ValueError: A row can't be queued (MSG_SIZE_TOO_LARGE; _UNKNOWN_PARTITION); the text has its
                number, and the rows before it are queued.
            StateError: Closed, forked, or failed for good.
            BaseException: Whatever a callback raises that is served while this waits for room; Ctrl-C. Each of these
                exceptions has an attribute `queued_rows`: how many rows were queued. Go on with those after them.
        """
        deadline_s = None
        with ColumnFeed(self._accumulator, topic, records, partition, callback, on_delivery) as feed:
            while True:
                try:
                    feed.go_on()
                    return feed.queued
                except BufferError:
                    deadline_s = deadline_s or time.monotonic() + self._max_block_s
                    if not self._max_block_s or not self._wait_for_room(deadline_s):
                        return feed.queued

    # ---- reports out

    def poll(self, timeout: float | None = None) -> int:
        """Serve callbacks: delivery reports, errors, throttling, statistics.

        Args:
            timeout: Seconds to wait for the first one; 0 does not wait, None or -1 waits for ever. When the queue of
                records is full it also returns as soon as there is room again.

        Returns:
            How many callbacks were served.

        Raises:
            StateError: Closed or forked; or it would wait inside `oauth_cb`, and there is no valid token yet.
            Exception: Whatever a callback raises.
        """
        self._check()
        served = self._reports.serve()
        if served or timeout == 0 or self._reports.too_deep:
            return served
        self._may_wait()
        deadline_s = deadline_after(timeout)
        was_full = self._full()
        while self._reports.wait(lambda: self._closed or (was_full and not self._full()), deadline_s):
            served = self._reports.serve()
            if served or self._closed or was_full:
                break
        return served

    def flush(self, timeout: float | None = None) -> int:
        """Send everything now, without lingering, and serve callbacks until all is delivered or failed.

        Args:
            timeout: Seconds; None or -1 waits until every record has its verdict (message.timeout.ms sees to that).

        Returns:
            How many records are left. Inside a callback, those whose callbacks run do not count.

        Raises:
            StateError: Closed or forked; or inside `oauth_cb`, and there is no valid token yet.
            Exception: The last thing that a callback raised, after all is done, as confluent_kafka has it.
        """
        self._check()
        failures: list[Exception] = []
        left = self._flush(deadline_after(timeout), failures)
        if failures:
            raise failures[-1]
        return left

    def _flush(self, deadline_s: float | None, failures: list[Exception] | None = None) -> int:
        accumulator, reports = self._accumulator, self._reports
        if not reports.pending() and not len(reports):
            return 0
        self._may_wait()
        flush = object()
        try:
            self._thread.post(self._core.begin_flush, flush)
            while True:
                self._serve(failures)
                if not reports.pending():
                    break
                if not reports.wait(lambda: not reports.pending(), deadline_s):
                    break
        finally:
            with contextlib.suppress(StateError):  # a callback, or another thread, has closed it meanwhile
                self._thread.post(self._core.end_flush, flush)
        self._serve(failures)
        return accumulator.queued_records

    def _serve(self, failures: list[Exception] | None) -> None:
        """Serve waiting events; exceptions of callbacks are raised, or collected."""
        while True:
            try:
                self._reports.serve()
            except Exception as error:
                if failures is None:
                    raise
                failures.append(error)
            else:
                return

    def _transact(self, work: Callable[[], Coroutine[Any, Any, T]], timeout_s: float) -> T:
        self._check()
        self._may_wait()
        return self._run(work, timeout_s)

    def _step(self, call: Callable[[], None], timeout_s: float) -> None:
        self._check()
        self._may_wait()
        if self._core.running:
            self._thread.call(call, timeout_s)
            return

        async def step() -> None:
            call()

        self._run(step, timeout_s)

    def _settle_records(self, deadline_s: float) -> int:
        self._check()
        return self._flush(deadline_s)

    def __len__(self) -> int:
        """Records without a verdict, those whose report was not served yet, and other events that wait for poll()."""
        return self._accumulator.queued_records + self._reports.calls

    def __bool__(self) -> bool:
        """True: a producer is not false because nothing waits."""
        return True

    def purge(self, in_queue: bool = True, in_flight: bool = True, blocking: bool = True) -> None:
        """Give records up; poll() or flush() then report them with _PURGE_QUEUE or _PURGE_INFLIGHT.

        Args:
            in_queue: Those not sent yet.
            in_flight: Those sent and not answered; they may be in the log all the same.
            blocking: Wait until it is done.

        Raises:
            StateError: Closed or forked.
        """
        self._check()
        if blocking:
            self._run(lambda: self._purge(in_queue, in_flight), None)
        else:
            self._thread.post(lambda: self._core.purge(in_queue=in_queue, in_flight=in_flight))

    async def _purge(self, in_queue: bool, in_flight: bool) -> None:
        self._core.purge(in_queue=in_queue, in_flight=in_flight)

    # ---- the cluster

    def list_topics(self, topic: str | None = None, timeout: float = -1) -> "ClusterMetadata":
        """Metadata of one topic, or of all.

        Args:
            timeout: Seconds; negative for socket.timeout.ms.

        Raises:
            KafkaException: Nobody answered; the text names the first cause. StateError: closed or forked.
        """
        self._check(HANDLE_CLOSED)
        timeout_s = limit_s(timeout)
        return self._run(lambda: self._core.list_topics(topic, timeout_s), timeout_s)

    def cluster_id(self, timeout: float = -1) -> str | None:
        """The cluster's id; raises as `list_topics`."""
        self._check(HANDLE_CLOSED)
        timeout_s = limit_s(timeout)
        return self._run(lambda: self._core.cluster_id(timeout_s), timeout_s)

    def client_instance_id(self, timeout: float = -1) -> Uuid:
        """The id that the cluster has given this client, by which its telemetry is known there (KIP-714); waits for it.

        Java's `clientInstanceId`; confluent_kafka has nothing like it.

        Args:
            timeout: Seconds; negative for socket.timeout.ms.

        Raises:
            StateError: `enable.metrics.push` is false, or the client is closed.
            UnsupportedVersionError: The cluster takes no telemetry.
            KafkaException: The cluster refuses to give an id, or nobody answered in time.
        """
        self._check(HANDLE_CLOSED)
        timeout_s = limit_s(timeout)
        return self._run(lambda: self._core.client.client_instance_id(timeout_s=timeout_s), timeout_s)

    def set_sasl_credentials(self, username: str, password: str) -> None:
        """Use these from the next authentication on (PLAIN, SCRAM); open connections stay as they are.

        Raises:
            StateError: Closed or forked.
        """
        self._check(HANDLE_CLOSED)
        self._core.set_sasl_credentials(username, password)

    # ---- the end

    def close(self, timeout: float | None = None) -> bool:
        """Flush, then stop; records that are left are given up, reported and counted in the log. May be called twice.

        In a forked child it only marks the producer as closed.

        Args:
            timeout: Seconds for the flush; None or -1 waits until every record has its verdict, which takes no longer
                than message.timeout.ms (five minutes when that is off): what is not delivered then is reported with
                _MSG_TIMED_OUT, what a shorter timeout leaves with _PURGE_QUEUE or _PURGE_INFLIGHT. Closing takes up to
                5 s more.

        Inside a callback it is safe; while another close() runs (the one that serves this callback, say) it returns at
        once and leaves the rest to that.

        Returns:
            Whether nothing was lost (so far, where another close() goes on).

        Raises:
            Exception: The first thing that a callback raised, after all is done.
        """
        if not self._thread.pid_ok():
            self._closed = True  # in a forked child: the records are the parent's, which goes on sending them
            return True
        self._may_wait()
        reports = self._reports
        if not self._closing.acquire(blocking=not reports.in_callback):
            reports.enter()
            return not self._accumulator.queued_records
        try:
            return self._closed or self._close(timeout)
        finally:
            self._closing.release()

    def _close(self, timeout: float | None) -> bool:
        self._accumulator.closed_reason = PRODUCER_CLOSED
        failures: list[Exception] = []
        left = 0
        try:
            left = self._flush(deadline_after(self._close_limit_s if limit_s(timeout) is None else timeout), failures)
        finally:
            self._stop()
        self._serve(failures)
        if left:
            logger.warning("the producer was closed with %d records not delivered", left)
        if failures:
            raise failures[0]
        return not left

    def _stop(self) -> None:
        try:
            if self._thread.running:
                self._thread.run(self._core.close(CLOSE_TIMEOUT_S), CLOSE_TIMEOUT_S + 1)
        except KafkaException as error:
            logger.warning("the producer did not close cleanly: %s", error)
        finally:
            self._closed = True
            self._lost.detach()
            self._thread.stop()
            self._reports.end()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    # ---- inside

    def _check(self, what: str = PRODUCER_CLOSED) -> None:
        if self._closed:
            raise StateError(what)
        self._thread.check()

    def _may_wait(self) -> None:
        """Refuse to wait for itself: on the loop's thread (hooks, log handlers) and in `oauth_cb` without a token."""
        if self._thread.can_wait():
            return
        self._thread.check_can_wait()
        if self._thread.on_loop_thread():
            raise StateError(
                "the producer was called on its own background thread (from a hook, a log handler or a finalizer), "
                "where waiting would never end; call it from another thread"
            )

    def _run(self, work: Callable[[], Coroutine[Any, Any, T]], timeout_s: float | None) -> T:
        """Run a coroutine of the core on its loop, started; the extra second is for its own time-out to come first."""
        core = self._core

        async def started() -> T:
            await core.start()
            return await work()

        return self._thread.run(started(), None if timeout_s is None else timeout_s + 1)

    def _full(self) -> bool:
        """Whether there is (about) no room: `produce` was refused a moment ago, or would be soon."""
        accumulator = self._accumulator
        if self._max_records and accumulator.queued_records >= self._max_records:
            return True
        return accumulator.queued_bytes >= self._max_bytes

    def _wait_for_room(self, deadline_s: float) -> bool:
        """Serve callbacks and sleep until there is room; False when the time is over. StateError when closed."""
        self._check()
        self._reports.serve()
        if self._full():
            self._may_wait()
            self._reports.wait(lambda: self._closed or not self._full(), deadline_s)
        self._check()
        return time.monotonic() < deadline_s

    def _after_fork(self) -> None:
        """In the child: records are refused (see `share_no_fork`)."""
        if not self._closed and not self._thread.pid_ok():
            self._accumulator.closed_reason = _FORKED


async def _begin(core: ProducerCore) -> None:
    """Begins a new producer's work: statistics, a token, a first connection."""
    await core.start()
    await core.client.connect_early()


def _waker(thread: LoopThread, producer: Producer) -> Callable[[], None]:
    """The function that `produce` calls when the loop has work: starts the loop at the first call.

    It holds neither the thread nor the producer: the loop holds it, and must not keep its own owner alive.
    """
    thread_ref, producer_ref = weakref.ref(thread), weakref.ref(producer)
    drain: Callable[[], None] | None = None

    def wake() -> None:
        nonlocal drain
        thread = thread_ref()
        if thread is None:
            logger.warning(_NOBODY_HOLDS_IT)
            return
        if drain is None:
            producer = producer_ref()
            if producer is None:
                logger.warning(_NOBODY_HOLDS_IT)
                return
            thread.submit(producer._core.start())
            drain = producer._core.drain
        thread.post(drain)

    return wake


def _dropped(accumulator: Accumulator, thread: LoopThread, pid: int) -> None:
    """For a producer that nobody holds any more, or that is still there at exit.

    One that was never used may yet get a record: in `Producer(conf).produce(…)` the compiled method is looked up, then
    the producer goes, then the method is called. As in confluent_kafka that is no error; `wake` says what it leads to.
    """
    if accumulator.queued_records or thread.running:
        tell_lost(accumulator, pid)
