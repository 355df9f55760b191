"""Reports that wait for poll() and flush(): verdicts on batches and other events, served on the caller's thread.

Must not know the loop or Kafka: the loop's thread puts items in, callers serve them and wait without spinning.
Spec: DESIGN §3 (delivery reports become Messages only here); confluent_kafka's Producer.poll for the semantics.
"""

import contextlib
import logging
import operator
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final, Literal, Protocol

from kafka_core.engine.producing.batcher import Settled
from kafka_core.errors import KafkaError
from kafka_core.sync.precedence import Precedence
from kserdes_base.waiting import Wakeup

logger: Final = logging.getLogger("kafka_core.producer")

DeliveryCallback = Callable[[KafkaError | None, Any], object]

MAX_DEPTH: Final = 2
"""The greatest depth of callbacks inside each other: a callback may have others served (by flush, say), and those may
not. Else a thousand reports whose callbacks all call flush() would be a thousand calls inside each other."""
_GIVEN_UP: Final = frozenset({KafkaError._PURGE_QUEUE, KafkaError._PURGE_INFLIGHT})


class Account(Protocol):
    """The part of the accumulator that the queue needs: the bound on records counts those with a report to serve."""

    @property
    def queued_records(self) -> int:
        """Records from produce() to their verdict (and report, if they want one)."""
        ...

    def settle(self, records: int, size_bytes: int) -> None:
        """So many records are done with."""
        ...


class _Reports:
    """The delivery reports of one batch; opened into Messages when its turn comes."""

    __slots__ = ("error", "latency_s", "rest", "settled", "settled_bytes", "verdict")
    of_records: Final[Literal[True]] = True

    def __init__(self, verdict: Settled) -> None:
        self.verdict = verdict
        self.latency_s = time.monotonic() - verdict.batch.opened_at_s  # until the answer, not until the next poll
        self.error = verdict.error
        self.rest: Iterator[tuple[DeliveryCallback | None, Any]] | None = None
        self.settled = 0  # records that were settled before the batch was through, because a callback waits for others
        self.settled_bytes = 0

    @property
    def unserved(self) -> int:
        """Records whose callback was not called yet."""
        return self.verdict.batch.count if self.rest is None else operator.length_hint(self.rest)


class _Serving(threading.local):
    """This thread's serving: batches whose callbacks run, the outermost first, and its depth."""

    def __init__(self) -> None:
        self.items: list[_Reports] = []
        self.depth = 0


class _Call:
    """Any other event: a callback with its argument."""

    __slots__ = ("argument", "callback")
    of_records: Final[Literal[False]] = False

    def __init__(self, callback: Callable[[Any], object], argument: object) -> None:
        self.callback = callback
        self.argument = argument


class ReportQueue:
    """Items in order; several threads may serve and wait at once. Callbacks may call into it again.

    Args:
        account: Told when records are done with.
        default: on_delivery of the configuration: for records without a callback of their own.
        only_errors: delivery.report.only.error.
    """

    def __init__(self, account: Account, default: DeliveryCallback | None, *, only_errors: bool) -> None:
        self._account = account
        self._default = default
        self._only_errors = only_errors
        self._items: deque[_Reports | _Call] = deque()
        self._lock = threading.RLock()
        self._serving = _Serving()
        self._early: set[_Reports] = set()
        self._told = 0  # records that have their verdict and are not settled
        self._waiting: deque[Wakeup] = deque()  # of threads inside `wait`: noted before each look
        self._precedence = Precedence()
        self._ended = False

    # ---- the loop's side

    def put_verdicts(self, verdicts: Sequence[Settled]) -> None:
        """Batches are settled: their reports wait here; without anybody to report to they are done with at once."""
        for verdict in verdicts:
            self._put(verdict)
        self.wake()

    def put_alone(self, verdict: Settled) -> None:
        """The same for a record on its own: who waits for its report serves it first, then this returns."""
        if self._put(verdict) and self._waiting:
            self._precedence.give(self.wake)
        else:
            self.wake()

    def _put(self, verdict: Settled) -> bool:
        """Whether there is a report to serve."""
        batch = verdict.batch
        if self._wanted(verdict):
            with self._lock:
                self._told += batch.count
                self._items.append(_Reports(verdict))
            return True
        self._account.settle(batch.count, batch.size_bytes)
        _log_loss(verdict)
        return False

    def put_call(self, callback: Callable[[Any], object], argument: object) -> None:
        """Have `callback(argument)` called by the next poll."""
        self._items.append(_Call(callback, argument))
        self.wake()

    def wake(self) -> None:
        """Let all who wait look again: called after what they wait for has changed."""
        try:
            while self._waiting:
                self._waiting.popleft().set()
        except IndexError:  # another thread has woken the last one
            return

    def end(self) -> None:
        """Nothing more will come: whoever serves now serves all that is left. The queue may be used as before."""
        self._ended = True
        self.wake()

    def _wanted(self, verdict: Settled) -> bool:
        if verdict.error is None and self._only_errors:
            return False
        return self._default is not None or verdict.batch.has_callbacks

    # ---- the callers' side

    def __len__(self) -> int:
        return len(self._items)

    @property
    def calls(self) -> int:
        """Events that are no delivery reports."""
        return sum(isinstance(item, _Call) for item in tuple(self._items))

    @property
    def in_callback(self) -> bool:
        """Whether this thread is inside a callback that this queue has called."""
        return self._serving.depth > 0

    @property
    def too_deep(self) -> bool:
        """Whether this thread is so deep in callbacks that `serve` calls no more of them."""
        return self._serving.depth >= MAX_DEPTH

    def pending(self) -> bool:
        """Whether records are left that a flush on this thread can wait for.

        For a thread inside callbacks those whose callbacks it runs are done with, and too deep inside them all that
        have their verdict. Elsewhere also the callbacks that other threads run must have ended.
        """
        if self.too_deep:
            return self._account.queued_records > self._told
        if self._account.queued_records:
            return True
        return bool(self._early) and not self.in_callback

    def enter(self) -> None:
        """To be called before this thread looks at the account: what it has been told of counts as done with, the
        record whose callback makes the call included, for that must not wait for itself. `serve` does it, too."""
        for item in self._serving.items:
            self._early.add(item)
            self._settle_so_far(item)

    def serve(self) -> int:
        """Call the callbacks of waiting reports; returns their number.

        Inside a callback the rest of its own batch comes first. What a callback raises comes out of here; the reports
        behind it stay queued, in order.
        """
        serving = self._serving
        if not serving.depth and not self._items:
            return 0
        self.enter()
        if serving.depth >= MAX_DEPTH:
            return 0
        served = 0
        serving.depth += 1
        try:
            for open_item in tuple(serving.items):
                served += self._call_rest(open_item)
                self._settle_so_far(open_item)
            for _ in range(len(self._items)):
                served += self._serve_next()
            while self._ended and self._items:
                served += self._serve_next()
        finally:
            serving.depth -= 1
            if self._precedence.given:
                self._precedence.done()
        return served

    def _serve_next(self) -> int:
        """Serve the first item.

        Ctrl-C may come at any call. From the queue into this thread's hands an item goes without one (`del` and `+=` of
        lists are none), and what was not served of it, or not settled, goes back whatever happens then.
        """
        serving, items = self._serving, self._items
        try:
            item = items[0]
            del items[0]
        except IndexError:  # another thread was quicker
            return 0
        if not item.of_records:
            item.callback(item.argument)
            return 1
        serving.items += [item]
        try:
            return self._serve_reports(item)
        except Exception:  # of a callback
            if item.unserved:
                items.appendleft(item)
            else:
                self._settle_so_far(item)
            raise
        except BaseException:
            items.appendleft(item)
            raise
        finally:
            del serving.items[-1]
            self._early.discard(item)
            self.wake()  # another thread may wait for room, or for the last record

    def _serve_reports(self, item: _Reports) -> int:
        verdict = item.verdict
        if item.rest is None:
            item.rest = iter(
                verdict.batch.reports(
                    item.error, verdict.base_offset, verdict.log_append_time_ms, latency_s=item.latency_s
                )
            )
        served = self._call_rest(item)
        self._settle_so_far(item)
        return served

    def _call_rest(self, item: _Reports) -> int:
        served, error, default = 0, item.error, self._default
        assert item.rest is not None
        for own, message in item.rest:
            callback = default if own is None else own
            served += 1
            if callback is not None:
                callback(error, message)
        return served

    def _settle_so_far(self, item: _Reports) -> None:
        """Settle what was served of this batch, the record whose callback runs included."""
        batch = item.verdict.batch
        left = item.unserved
        records = batch.count - left - item.settled
        if not records:
            return
        size_bytes = batch.size_bytes * (batch.count - left) // batch.count - item.settled_bytes
        with self._lock:
            item.settled += records
            item.settled_bytes += size_bytes
            self._told -= records
            self._account.settle(records, size_bytes)
        self.wake()

    def wait(self, until: Callable[[], bool], deadline_s: float | None) -> bool:
        """Sleep until something can be served or `until()` holds; False when `deadline_s` (monotonic) came first.

        Ctrl-C interrupts it.
        """
        mine = Wakeup()
        try:
            while True:
                if mine not in self._waiting:
                    self._waiting.append(mine)
                if (self._items and not self.too_deep) or until():
                    return True
                left_s = None if deadline_s is None else deadline_s - time.monotonic()
                if left_s is not None and left_s <= 0:
                    return False
                mine.wait(left_s)
        finally:
            with contextlib.suppress(ValueError):  # it was woken
                self._waiting.remove(mine)


def _log_loss(verdict: Settled) -> None:
    """Records failed and nobody asked to be told: at least the log says so. To be given up on purpose is no failure."""
    if verdict.error is not None:
        batch = verdict.batch
        level = logging.DEBUG if verdict.error.code() in _GIVEN_UP else logging.ERROR
        logger.log(
            level, "%d records for %s[%d] failed: %s", batch.count, batch.topic, batch.partition, verdict.error.str()
        )
