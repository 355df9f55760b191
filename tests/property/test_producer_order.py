"""Whatever the cluster does, an idempotent producer loses nothing, doubles nothing and keeps every partition's order.

The batcher runs against a model of two brokers: logs and the sequence check of the real one (`broker.producers`), with
lost requests, lost answers, refusals, leader changes and time in between, all drawn by Hypothesis.
"""

from dataclasses import dataclass, field

from hypothesis import given
from hypothesis import strategies as st

from kafka_core.broker.partitions.producers import ProducerStates
from kafka_core.engine.producing.batcher import BatcherRules, Shipment
from kafka_core.engine.producing.lane import Delivery
from kafka_core.errors import KafkaError
from tests.unit.kafka_core.engine.producer_parts import Driver, view

PARTITIONS = 2
REFUSALS = (KafkaError.NOT_ENOUGH_REPLICAS, KafkaError.NOT_LEADER_FOR_PARTITION, KafkaError.UNKNOWN_TOPIC_OR_PART)


@dataclass
class Partition:
    """A log of batch names behind the broker's sequence check."""

    log: list[str] = field(default_factory=list)
    states: ProducerStates = field(default_factory=ProducerStates)

    def append(self, name: str, producer_id: int, epoch: int, sequence: int, count: int) -> int:
        """The answer's error code."""
        if self.states.duplicate(producer_id, epoch, sequence, count) is not None:
            return KafkaError.NO_ERROR
        code, _ = self.states.check(producer_id, epoch, sequence)
        if code == 0:
            self.states.record(producer_id, epoch, sequence, count, len(self.log), 0)
            self.log.append(name)
        return int(code)


class Cluster:
    """Two brokers that share the logs; a leader change only moves the address."""

    def __init__(self, driver: Driver) -> None:
        self.driver = driver
        self.partitions = [Partition() for _ in range(PARTITIONS)]
        self.leaders = dict.fromkeys(range(PARTITIONS), 1)
        self.epoch = 0
        self.added = 0
        self.in_flight: list[Shipment] = []

    def add(self, partition: int) -> None:
        self.added += 1
        self.driver.add(str(self.added), partition=partition, count=1 + self.added % 3)

    def burst(self, partition: int, count: int) -> None:
        """Several batches, sent at once as far as they may be."""
        for _ in range(count):
            self.add(partition)
        self.send()

    def send(self) -> None:
        for node_id in (1, 2):
            while (shipment := self.driver.batcher.take(node_id, self.driver.clock.monotonic())) is not None:
                self.in_flight.append(shipment)

    def oldest(self) -> Shipment | None:
        """Brokers answer the requests of a connection in order."""
        return self.in_flight.pop(0) if self.in_flight else None

    def answer(self, refusal: int) -> None:
        shipment = self.oldest()
        if shipment is not None:
            codes = [refusal or self._append(shipment.node_id, lane.partition, item) for lane, item in shipment.items]
            self.driver.answer_each(shipment, [(code, 0) for code in codes])

    def lose(self, arrived: bool) -> None:
        """A connection breaks: all of its requests fail; the first of them may have been written before."""
        shipment = self.oldest()
        if shipment is None:
            return
        broken = [shipment, *(other for other in self.in_flight if other.node_id == shipment.node_id)]
        self.in_flight = [other for other in self.in_flight if other.node_id != shipment.node_id]
        if arrived:
            for lane, item in shipment.items:
                self._append(shipment.node_id, lane.partition, item)
        for lost in broken:
            self.driver.lose(lost)

    def move(self, partition: int) -> None:
        self.epoch += 1
        self.leaders[partition] = 3 - self.leaders[partition]
        self.driver.batcher.use_view(view(dict(self.leaders), epoch=self.epoch))

    def _append(self, node_id: int, partition: int, item: Delivery) -> int:
        if self.leaders[partition] != node_id:
            return KafkaError.NOT_LEADER_FOR_PARTITION
        identity, batch = item.identity, item.batch
        assert identity is not None
        return self.partitions[partition].append(
            str(batch),
            identity.producer_id,
            identity.epoch,
            item.sequence,
            batch.count,
        )

    def settle(self) -> None:
        """From here on nothing fails: everything must come through."""
        for _ in range(200):
            self.send()
            while self.in_flight:
                self.answer(0)
            if self.driver.batcher.empty:
                return
            self.driver.back_off()


partition = st.integers(0, PARTITIONS - 1)
step = st.one_of(
    st.tuples(st.just("add"), partition),
    st.tuples(st.just("burst"), partition, st.integers(1, 4)),
    st.tuples(st.just("send")),
    st.tuples(st.just("answer"), st.sampled_from((0, 0, *REFUSALS))),
    st.tuples(st.just("lose"), st.booleans()),
    st.tuples(st.just("move"), partition),
)


def run(steps: list[tuple[object, ...]], *, timeout_s: float) -> tuple[Driver, Cluster]:
    leaders: dict[int, int | None] = dict.fromkeys(range(PARTITIONS), 1)
    driver = Driver(BatcherRules(message_timeout_s=timeout_s), leaders=leaders, fresh=True)
    cluster = Cluster(driver)
    for name, *arguments in steps:
        getattr(cluster, str(name))(*arguments)
        driver.clock.advance(0.2)
        driver.expire()
    cluster.settle()
    return driver, cluster


@given(st.lists(step, max_size=60))
def test_all_is_delivered_once_and_in_order(steps: list[tuple[object, ...]]) -> None:
    driver, cluster = run(steps, timeout_s=1e9)
    assert driver.batcher.empty
    assert all(code == 0 for _, code in driver.outcome())
    assert sorted(int(name) for name, _ in driver.outcome()) == list(range(1, cluster.added + 1))
    for item in cluster.partitions:
        assert [int(name) for name in item.log] == sorted(int(name) for name in set(item.log))
    assert sum(len(item.log) for item in cluster.partitions) == cluster.added


@given(st.lists(step, max_size=60), st.sampled_from((0.3, 1.0, 3.0)))
def test_with_time_outs_there_is_one_verdict_each_and_no_doubles_and_the_order_stands(
    steps: list[tuple[object, ...]], timeout_s: float
) -> None:
    driver, cluster = run(steps, timeout_s=timeout_s)
    assert driver.batcher.empty
    assert sorted(int(name) for name, _ in driver.outcome()) == list(range(1, cluster.added + 1))
    logged = [name for item in cluster.partitions for name in item.log]
    assert len(logged) == len(set(logged))
    for item in cluster.partitions:
        assert [int(name) for name in item.log] == sorted(map(int, item.log))
    assert {name for name, code in driver.outcome() if code == 0} <= set(logged)
