"""kafka_core.engine.producing.pacing: how many requests are in flight to a broker of which kind."""

from collections import deque

from kafka_core.engine.producing.batcher import BatcherRules
from kafka_core.engine.producing.pacing import Window
from tests.unit.kafka_core.engine.producer_parts import Driver, names


def size_at(*, way_s: float, work_s: float, requests: int = 200, most: int = 5) -> int:
    """The window after so many requests to a broker that handles one after the other; `way_s` is there and back."""
    window = Window(most)
    sent: deque[tuple[float, bool, float]] = deque()
    now_s = free_at_s = 0.0
    for _ in range(requests):
        while len(sent) >= window.size:
            began_s, alone, answered_s = sent.popleft()
            now_s = max(now_s, answered_s)
            window.answered(answered_s - began_s, alone=alone)
        free_at_s = max(free_at_s, now_s + way_s / 2) + work_s
        sent.append((now_s, not sent, free_at_s + way_s / 2))
    return window.size


def test_where_the_way_is_long_all_that_is_allowed_is_in_flight() -> None:
    assert size_at(way_s=0.1, work_s=0.001) == 5
    assert size_at(way_s=0.1, work_s=0.001, most=1000) > 50


def test_requests_beyond_the_window_are_not_sent() -> None:
    assert size_at(way_s=0.001, work_s=0.05) <= 3
    assert size_at(way_s=0.0, work_s=0.05) <= 3


def test_between_them_the_broker_always_has_one_more_to_do() -> None:
    assert 2 <= size_at(way_s=0.01, work_s=0.01) <= 4


def test_a_way_that_becomes_longer_is_learnt() -> None:
    window = Window(5)
    window.answered(0.001, alone=True)
    for _ in range(10):
        window.answered(0.1, alone=False)
    assert window.size == 1
    for _ in range(10):
        window.answered(0.1, alone=True)
    assert window.size == 5
    for _ in range(3):
        window.answered(0.1, alone=False)
    assert window.size == 5


def test_a_partition_s_only_batch_waits_while_the_broker_has_enough_to_do() -> None:
    driver = Driver(BatcherRules(max_in_flight=5))
    driver.add("alone")
    shipment = driver.take()
    driver.clock.advance(1.0)
    driver.answer(shipment)
    driver.add(*(f"b{number}" for number in range(8)))
    sent = [driver.take() for _ in range(5)]  # more than one batch waits: they are full
    for _ in range(2):  # answers come ever later
        driver.clock.advance(5.0)
        driver.answer(sent.pop(0))
        sent.append(driver.take())
    driver.clock.advance(5.0)
    driver.answer(sent.pop(0))
    driver.answer(sent.pop(0))
    assert driver.batcher.requests_in_flight(1) == 3
    assert driver.nothing(), "b7 is the partition's only one, and does not go before the others are answered"
    driver.add("b8")
    sent.append(driver.take())
    assert names(sent[-1]) == ["b7"], "one that another one waits behind is full"
    for shipment in sent:
        driver.answer(shipment)
    assert names(driver.take()) == ["b8"]
