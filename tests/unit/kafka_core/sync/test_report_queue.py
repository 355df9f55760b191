"""kafka_core.sync.report_queue: order, counting, waiting; with batches that are only numbers."""

import threading
import time
from collections.abc import Callable
from typing import Any

import pytest

from kafka_core.engine.producing.batcher import Settled
from kafka_core.errors import KafkaError
from kafka_core.sync.precedence import Precedence
from kafka_core.sync.report_queue import ReportQueue
from tests.contract.clusters import wait_for
from tests.later import later
from tests.unit.kafka_core.engine.producer_parts import FakeBatch


class Account:
    """Counts what is settled."""

    def __init__(self) -> None:
        self.queued_records = 100
        self.settled: list[tuple[int, int]] = []

    def settle(self, records: int, size_bytes: int) -> None:
        self.queued_records -= records
        self.settled.append((records, size_bytes))


class Patient(Precedence):
    """Gives way for as long as it takes."""

    def give(self, wake: Callable[[], object] | None = None) -> None:
        self._wakeup.clear()
        self.given = True
        assert wake is not None
        wake()
        while not self._wakeup.wait(1):
            continue
        self.given = False


def batch(name: str, count: int = 2, *, callbacks: bool = True) -> FakeBatch:
    return FakeBatch(name, count=count, has_callbacks=callbacks)


def test_reports_come_in_order_with_their_offsets_and_settle_when_all_are_served() -> None:
    account, seen = Account(), []
    queue = ReportQueue(account, lambda error, message: seen.append(message), only_errors=False)
    queue.put_verdicts([Settled(batch("a"), None, 5), Settled(batch("b"), None, 9)])
    assert (len(queue), account.settled) == (2, [])
    assert queue.serve() == 4
    assert seen == [("a", None, 5), ("a", None, 6), ("b", None, 9), ("b", None, 10)]
    assert account.settled == [(2, 1000), (2, 1000)]


def test_batches_without_callbacks_are_settled_at_once() -> None:
    account = Account()
    queue = ReportQueue(account, None, only_errors=False)
    queue.put_verdicts([Settled(batch("a", callbacks=False))])
    assert (len(queue), account.settled) == (0, [(2, 1000)])


def test_only_errors_leaves_out_successes() -> None:
    account, seen = Account(), []
    queue = ReportQueue(account, lambda error, message: seen.append(error), only_errors=True)
    failure = KafkaError(KafkaError.INVALID_RECORD)
    queue.put_verdicts([Settled(batch("a")), Settled(batch("b", 1), failure)])
    assert queue.serve() == 1
    assert seen == [failure]


def test_after_an_exception_the_rest_of_the_batch_comes_next_and_is_settled_once() -> None:
    account, seen = Account(), []

    def report(error: KafkaError | None, message: Any) -> None:
        seen.append(message[2])
        if message[2] == 0:
            raise ValueError("mine")

    queue = ReportQueue(account, report, only_errors=False)
    queue.put_verdicts([Settled(batch("a", 3), None, 0), Settled(batch("b", 1), None, 7)])
    with pytest.raises(ValueError, match="mine"):
        queue.serve()
    assert account.settled == []
    assert queue.serve() == 3
    assert seen == [0, 1, 2, 7]
    assert account.settled == [(3, 1000), (1, 1000)]


def test_other_events_are_served_between_reports_in_the_order_of_arrival() -> None:
    seen: list[Any] = []
    queue = ReportQueue(Account(), lambda error, message: seen.append(message[0]), only_errors=False)
    queue.put_call(seen.append, "before")
    queue.put_verdicts([Settled(batch("a", 1))])
    queue.put_call(seen.append, "after")
    assert queue.calls == 2
    assert queue.serve() == 3
    assert seen == ["before", "a", "after"]


def test_reports_added_by_callbacks_wait_for_the_next_call() -> None:
    queue = ReportQueue(Account(), None, only_errors=False)
    queue.put_call(lambda _: queue.put_call(lambda _: None, None), None)
    assert queue.serve() == 1
    assert len(queue) == 1


def test_waiting_ends_with_an_event_with_the_condition_or_with_the_time() -> None:
    queue = ReportQueue(Account(), None, only_errors=False)
    began_s = time.monotonic()
    assert not queue.wait(lambda: False, began_s + 0.03)
    assert time.monotonic() - began_s >= 0.03
    assert queue.wait(lambda: True, None)
    with later(0.02, queue.put_call, print, None):
        assert queue.wait(lambda: False, time.monotonic() + 10)


def test_who_waits_for_a_report_serves_it_before_the_loop_goes_on() -> None:
    """Ten threads wait, one after the other; each has served when `put_alone` returns, or its time was over."""
    order: list[str] = []
    queue = ReportQueue(Account(), lambda error, message: order.append("served"), only_errors=False)
    queue._precedence = Patient()
    for _ in range(10):
        waiter = threading.Thread(target=lambda: queue.wait(lambda: False, None) and queue.serve())
        waiter.start()
        wait_for(lambda: len(queue._waiting) == 1, "the thread waits")
        queue.put_alone(Settled(batch("a", 1), None, 5))
        order.append("goes on")
        waiter.join()
    assert order == ["served", "goes on"] * 10


def test_nobody_gives_way_where_there_is_nothing_to_serve_or_nobody_waits() -> None:
    queue = ReportQueue(Account(), None, only_errors=False)
    queue._precedence = Patient()
    queue.put_alone(Settled(batch("a", 1)))
    assert len(queue) == 1
    assert queue.serve() == 1
    done: list[bool] = []
    waiter = threading.Thread(target=lambda: done.append(queue.wait(lambda: bool(queue.calls), None)))
    waiter.start()
    wait_for(lambda: len(queue._waiting) == 1, "the thread waits")
    queue.put_alone(Settled(batch("b", 1, callbacks=False)))  # would not return: nobody serves it
    queue.put_call(print, None)
    waiter.join()
    assert done == [True]


def test_several_who_wait_are_all_woken_and_those_with_nothing_wait_on() -> None:
    queue = ReportQueue(Account(), None, only_errors=False)
    open_for: list[int] = []
    ended: list[int] = []

    def wait(number: int) -> None:
        queue.wait(lambda: number in open_for, None)
        ended.append(number)

    waiters = [threading.Thread(target=wait, args=(number,)) for number in range(5)]
    for waiter in waiters:
        waiter.start()
    for number in (3, 0, 4, 1, 2):
        wait_for(lambda: len(queue._waiting) == 5 - len(ended), "the others wait")
        open_for.append(number)
        queue.wake()
        waiters[number].join()
    assert ended == [3, 0, 4, 1, 2]
    assert not queue._waiting


def test_one_who_waits_for_room_is_woken_when_another_thread_has_served() -> None:
    account = Account()
    queue = ReportQueue(account, lambda error, message: None, only_errors=False)
    queue.put_verdicts([Settled(batch("a", 100))])
    item = queue._items.popleft()  # as if another thread were at it
    with later(0.02, queue._serve_reports, item):
        assert queue.wait(lambda: account.queued_records == 0, time.monotonic() + 10)
