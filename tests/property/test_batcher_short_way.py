"""kafka_core.engine.producing.batcher: the short way of a batch on its own leaves what `add` and `take` would leave."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from kafka_core.engine.producing.batcher import BatcherRules, Settled, Shipment
from kafka_core.engine.producing.sequences import ProducerIdentity
from kafka_core.errors import KafkaError
from tests.unit.kafka_core.engine.producer_parts import Driver, FakeBatch, names, numbers, view

STEPS = st.one_of(
    st.tuples(st.just("settle"), st.just(0), st.just(0)),  # all that flies is written: the next batch may be at rest
    st.tuples(st.just("add"), st.integers(0, 1), st.just(1)),
    st.tuples(st.just("add"), st.integers(0, 2), st.integers(1, 3)),
    st.tuples(st.just("answer"), st.sampled_from([0, 0, 0, 3, 6, 45, 46, 87]), st.booleans()),
    st.tuples(st.just("lose"), st.just(0), st.just(0)),
    st.tuples(st.just("wait"), st.sampled_from([1, 90, 400, 310_000]), st.just(0)),
    st.tuples(st.just("move"), st.integers(0, 2), st.sampled_from([None, 1, 2])),
    st.tuples(st.just("renew"), st.just(0), st.just(0)),
)


KNOWN: list[tuple[str, int, int | bool | None]] = [("add", 0, 1), ("add", 1, 1), ("settle", 0, 0)]
"""The partitions' first batches always go the long way."""


class Side:
    """One batcher, which takes the short way wherever it may, or never."""

    def __init__(self, rules: BatcherRules, *, short: bool) -> None:
        self.driver = Driver(rules, fresh=True)
        self.short = short
        self.short_ways = 0
        self.flying: list[Shipment] = []

    def add(self, batches: list[FakeBatch]) -> None:
        batcher, now_s = self.driver.batcher, self.driver.clock.monotonic()
        lane = batcher.at_rest(batches[0], now_s) if self.short and len(batches) == 1 else None
        if lane is None:
            batcher.add(batches)
            self.send()
        else:
            self.short_ways += 1
            self.flying.append(batcher.take_alone(lane, batches[0], now_s))

    def send(self) -> None:
        batcher = self.driver.batcher
        for node_id in batcher.nodes():
            while (shipment := batcher.take(node_id, self.driver.clock.monotonic())) is not None:
                self.flying.append(shipment)

    def do(self, kind: str, first: int, second: int | bool | None, leaders: dict[int, int | None]) -> None:
        driver = self.driver
        if kind in ("answer", "lose") and self.flying:
            shipment = self.flying.pop(-1 if second and len(self.flying) > 1 else 0)
            driver.lose(shipment) if kind == "lose" else driver.answer(shipment, first, 5)
        elif kind == "settle":
            while self.flying:
                driver.answer(self.flying.pop(0), 0, 5)
        elif kind == "wait":
            driver.clock.advance(first / 1000)
            driver.expire()
        elif kind == "move":
            driver.batcher.use_view(view(leaders))
        elif kind == "renew" and driver.rules.idempotent:
            identity = driver.batcher.ids.identity
            driver.batcher.ids.identity = identity and ProducerIdentity(identity.producer_id, identity.epoch + 1)
        self.send()

    def seen(self) -> object:
        batcher = self.driver.batcher
        lanes = [
            (
                str(lane),
                lane.leader,
                [
                    (str(each.batch), each.order, each.attempts, each.sequence)
                    for each in (*lane.in_flight, *lane.queue)
                ],
                [(each.identity, each.deadline_s) for each in (*lane.in_flight, *lane.queue)],
                lane.in_flight and (lane.flight_node, lane.flight_topic_id),
                (lane.failures, lane.retry_at_s, lane.broken),
                lane.sequence and (lane.sequence.next, lane.sequence.expected, lane.sequence.known),
            )
            for lane in sorted(batcher.lanes(), key=lambda lane: lane.partition)
        ]
        flying = [(each.node_id, names(each), numbers(each), each.taken_at_s, each.alone) for each in self.flying]
        in_flight = [batcher.requests_in_flight(node_id) for node_id in (1, 2)]
        return lanes, flying, in_flight, batcher.next_deadline_s(), self.driver.outcome(), batcher.waiting()


@given(st.lists(STEPS, max_size=40), st.sampled_from([(True, -1), (False, -1), (False, 1), (False, 0)]))
def test_the_short_way_leaves_what_the_long_one_leaves(
    steps: list[tuple[str, int, int | bool | None]], kind: tuple[bool, int]
) -> None:
    rules = BatcherRules(idempotent=kind[0], acks=kind[1])
    sides = Side(rules, short=True), Side(rules, short=False)
    leaders: dict[int, int | None] = {0: 1, 1: 1, 2: 2}
    for number, (what, first, second) in enumerate(KNOWN + steps):
        if what == "move":
            leaders[first] = second  # type: ignore[assignment]  # the strategy of moves gives a node or None
        for side in sides:
            if what == "add":
                now_s = side.driver.clock.monotonic()
                side.add([FakeBatch(f"{number}.{each}", first, 2, now_s) for each in range(second or 0)])
            else:
                side.do(what, first, second, leaders)
        assert sides[0].seen() == sides[1].seen()


ALONE = st.one_of(
    st.tuples(st.just("alone"), st.integers(0, 2), st.integers(1, 400)),
    st.tuples(st.just("alone"), st.integers(0, 2), st.integers(1, 400)),
    STEPS,
)


@given(st.lists(ALONE, max_size=40), st.booleans())
def test_a_batch_that_is_written_in_one_step_leaves_what_two_steps_leave(
    steps: list[tuple[str, int, int | bool | None]], idempotent: bool
) -> None:
    """`wrote_alone` beside `take_alone` and `answered`."""
    sides = Side(BatcherRules(idempotent=idempotent), short=True), Side(BatcherRules(idempotent=idempotent), short=True)
    leaders: dict[int, int | None] = {0: 1, 1: 1, 2: 2}
    for number, (what, first, second) in enumerate(KNOWN + steps):
        if what == "move":
            leaders[first] = second  # type: ignore[assignment]  # as above
        for side in sides:
            driver = side.driver
            began_s = driver.clock.monotonic()
            if what == "add":
                side.add([FakeBatch(f"{number}.{each}", first, 2, began_s) for each in range(second or 0)])
            elif what != "alone":
                side.do(what, first, second, leaders)
            else:
                batch = FakeBatch(str(number), first, 1, began_s)
                lane = driver.batcher.at_rest(batch, began_s)
                driver.clock.advance((second or 0) / 1000)
                if lane is None:
                    continue
                if side is sides[0]:
                    driver.answer(driver.batcher.take_alone(lane, batch, began_s), 0, 5)
                else:
                    driver.batcher.wrote_alone(lane, batch, driver.clock.monotonic() - began_s)
                    driver.settled.append(Settled(batch, None, 5))
        assert sides[0].seen() == sides[1].seen()
        windows = [{node: window.size for node, window in side.driver.batcher._windows.items()} for side in sides]
        assert windows[0] == windows[1]


def test_a_partition_that_recovers_is_not_at_rest() -> None:
    side = Side(BatcherRules(), short=True)
    side.add([FakeBatch("a", 0, 1)])
    side.do("settle", 0, 0, {})
    batcher, now_s, batch = side.driver.batcher, side.driver.clock.monotonic(), FakeBatch("b", 0, 1)
    lane = batcher.at_rest(batch, now_s)
    assert lane is not None
    lane.retry_at_s = now_s + 0.1
    assert batcher.at_rest(batch, now_s) is None
    assert batcher.at_rest(batch, now_s + 0.1) is lane
    lane.broken = True
    assert batcher.at_rest(batch, now_s + 0.1) is None
    lane.broken = False
    assert lane.sequence is not None
    lane.sequence.take(1)
    assert batcher.at_rest(batch, now_s + 0.1) is None, "a number that nobody acknowledged"


def test_the_short_way_is_taken_when_batches_come_one_at_a_time() -> None:
    side = Side(BatcherRules(), short=True)
    for number in range(4):
        side.add([FakeBatch(str(number), 0, 1)])
        side.do("answer", KafkaError.NO_ERROR, False, {})
    assert side.short_ways == 3, "the first makes the lane"
