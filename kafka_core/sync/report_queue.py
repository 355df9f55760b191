"""What waits for poll() and flush(): verdicts on batches and other events, served on the caller's thread.

Must not know the loop or Kafka: the loop's thread puts items in, callers serve them and wait without spinning.
Spec: DESIGN §3 (delivery reports become Messages only here); confluent_kafka's Producer.poll for the semantics.
"""

import logging
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final, Protocol

from kafka_core.engine.batcher import Settled
from kafka_core.errors import KafkaError

logger: Final = logging.getLogger("kafka_core.producer")

DeliveryCallback = Callable[[KafkaError | None, Any], object]


class Account(Protocol):
    """What the queue needs of the accumulator: the bound on records counts those whose report was not served yet."""

    @property
    def queued_records(self) -> int:
        """Records from produce() to their verdict (and report, if they want one)."""
        ...

    def settle(self, records: int, size_bytes: int) -> None:
        """So many records are done with."""
        ...


class _Reports:
    """The delivery reports of one batch; opened into Messages when its turn comes."""

    __slots__ = ("error", "latency_s", "left", "rest", "verdict")

    def __init__(self, verdict: Settled) -> None:
        self.verdict = verdict
        self.latency_s = time.monotonic() - verdict.batch.opened_at_s  # until the answer, not until the next poll
        self.error = verdict.error
        self.rest: Iterator[tuple[DeliveryCallback | None, Any]] | None = None
        self.left = verdict.batch.count


class _Call:
    """Any other event: a callback with its argument."""

    __slots__ = ("argument", "callback")

    def __init__(self, callback: Callable[[Any], object], argument: object) -> None:
        self.callback = callback
        self.argument = argument


class ReportQueue:
    """Items in order; several threads may serve and wait at once.

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
        self._changed = threading.Condition()

    # ---- the loop's side

    def put_verdicts(self, verdicts: Sequence[Settled]) -> None:
        """Batches are settled: their reports wait here; without anybody to report to they are done with at once."""
        for verdict in verdicts:
            if self._wanted(verdict):
                self._items.append(_Reports(verdict))
            else:
                self._account.settle(verdict.batch.count, verdict.batch.size_bytes)
                _log_loss(verdict)
        self.wake()

    def put_call(self, callback: Callable[[Any], object], argument: object) -> None:
        """Have `callback(argument)` called by the next poll."""
        self._items.append(_Call(callback, argument))
        self.wake()

    def wake(self) -> None:
        """Let all who wait look again."""
        with self._changed:
            self._changed.notify_all()

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

    def serve(self) -> int:
        """Call the callbacks of what is there now; returns how many were called.

        What a callback raises comes out of here; the reports behind it stay queued, in order.
        """
        served = 0
        for _ in range(len(self._items)):
            try:
                item = self._items.popleft()
            except IndexError:  # another thread was quicker
                break
            if isinstance(item, _Call):
                item.callback(item.argument)
                served += 1
            else:
                served += self._serve_reports(item)
        return served

    def _serve_reports(self, item: _Reports) -> int:
        verdict, error, default = item.verdict, item.error, self._default
        if item.rest is None:
            reports = verdict.batch.reports(
                error, verdict.base_offset, verdict.log_append_time_ms, latency_s=item.latency_s
            )
            item.rest = iter(reports)
            item.left = len(reports)
        served = 0
        try:
            for own, message in item.rest:
                callback = default if own is None else own
                served += 1
                if callback is not None:
                    callback(error, message)
        except BaseException:
            item.left -= served
            self._items.appendleft(item)
            raise
        self._account.settle(verdict.batch.count, verdict.batch.size_bytes)
        self.wake()  # another thread may wait for room, or for the last record
        return served

    def wait(self, until: Callable[[], bool], deadline_s: float | None) -> bool:
        """Sleep until something is queued or `until()` holds; False when `deadline_s` (monotonic) came first.

        Ctrl-C interrupts it.
        """
        with self._changed:
            while not self._items and not until():
                left_s = None if deadline_s is None else deadline_s - time.monotonic()
                if left_s is not None and left_s <= 0:
                    return False
                self._changed.wait(left_s)
        return True


def _log_loss(verdict: Settled) -> None:
    """Records failed and nobody asked to be told: at least the log says so."""
    if verdict.error is not None:
        batch = verdict.batch
        logger.error("%d records for %s[%d] failed: %s", batch.count, batch.topic, batch.partition, verdict.error.str())
