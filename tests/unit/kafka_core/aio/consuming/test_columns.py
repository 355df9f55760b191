"""kafka_core.aio.consuming.columns: one consume_arrow, its rows and the events between them."""

from array import array
from collections import deque
from typing import Any

import pytest

from kafka_core.aio.consuming.columns import ColumnTaker, error_of
from kafka_core.aio.consuming.events import Notice
from kafka_core.errors import ConsumeError, KafkaError
from kafka_core.kernels import Message


class FakeQueue:
    """Numbers are runs of rows, messages are events."""

    def __init__(self, *items: int | Message) -> None:
        self.items: deque[int | Message] = deque(items)

    def take_columns(self, sink: Any, limit: int, first: dict[tuple[str, int], int]) -> int:
        taken = 0
        while self.items and isinstance(self.items[0], int) and taken < limit:
            run = self.items.popleft()
            assert isinstance(run, int)
            now = min(run, limit - taken)
            if now < run:
                self.items.appendleft(run - now)
            taken += now
        sink.rows += taken
        return taken

    def peek_event(self) -> Message | None:
        first = self.items[0] if self.items else None
        return first if isinstance(first, Message) else None

    def next(self) -> object:
        return self.items.popleft()


class FakeCore:
    def __init__(self, *items: int | Message, more: bool = False) -> None:
        self.queue = FakeQueue(*items)
        self.inbox: deque[Any] = deque()
        self.more = more
        self.positions = self

    def more_expected(self, only: object = None) -> bool:
        return self.more


class FakeSink:
    rows = 0

    def take(self) -> Any:
        class Columns:
            runs = [("t", 0, 2), ("u", 1, 1), ("t", 0, 2), ("t", 1, 1)]
            offset = array("q", [7, 8, 100, 9, 10, 55])

        return Columns()


def taker(core: FakeCore, limit: int = 100) -> ColumnTaker:
    given: Any = core
    return ColumnTaker(given, FakeSink(), limit)


def event(code: int) -> Message:
    return Message("t", 0, error=KafkaError(code, "bad"))


END = KafkaError._PARTITION_EOF


def test_it_is_content_with_all_there_is_or_with_the_limit() -> None:
    columns = taker(FakeCore(5))
    assert columns.attempt(None)
    assert columns.sink.rows == 5
    waiting = taker(FakeCore(5, more=True))
    assert not waiting.attempt(None), "the brokers have more"
    full = taker(FakeCore(5, 5, more=True), limit=7)
    assert full.attempt(None)
    assert full.sink.rows == 7


def test_nothing_is_not_enough() -> None:
    assert not taker(FakeCore()).attempt(None)


def test_ends_of_partitions_are_passed_over() -> None:
    core = FakeCore(2, event(END), 3, event(END))
    columns = taker(core)
    assert columns.attempt(None)
    assert columns.sink.rows == 5
    assert not core.queue.items


def test_an_event_that_comes_first_is_raised_and_used_up() -> None:
    core = FakeCore(event(KafkaError._BAD_MSG), 3)
    with pytest.raises(ConsumeError) as caught:
        taker(core).attempt(None)
    assert caught.value.code == KafkaError._BAD_MSG
    columns = taker(core)
    assert columns.attempt(None)
    assert columns.sink.rows == 3


def test_an_event_behind_rows_waits_for_the_next_call() -> None:
    core = FakeCore(3, event(KafkaError._BAD_MSG))
    columns = taker(core)
    assert columns.attempt(None)
    assert columns.sink.rows == 3
    with pytest.raises(ConsumeError):
        taker(core).attempt(None)


def test_a_notice_is_raised_or_kept_behind_rows() -> None:
    core = FakeCore(3, more=True)
    notice = event(KafkaError._ALL_BROKERS_DOWN)
    columns = taker(core)
    assert not columns.attempt(None)
    assert columns.attempt(notice)
    assert list(core.inbox) == [Notice(notice)]
    with pytest.raises(ConsumeError) as caught:
        taker(core).attempt(notice)
    assert caught.value.kafka_message is notice


def test_an_event_without_an_error_has_one_all_the_same() -> None:
    assert error_of(Message("t", 0)).code() == KafkaError._FAIL
    assert error_of(event(END)).code() == END
