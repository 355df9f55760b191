"""Behaviour of clients on a real broker and on the embedded one, beside confluent_kafka's."""

from __future__ import annotations

from collections.abc import Iterator
from types import ModuleType
from typing import Any, Final

import pytest

import kafka_core
from kafka_core.broker import EmbeddedCluster

pytestmark = pytest.mark.interop
confluent = pytest.importorskip("confluent_kafka")

LIMIT_S: Final = 30.0


@pytest.fixture(scope="module", params=["embedded", pytest.param("real", marks=pytest.mark.broker)])
def servers(request: pytest.FixtureRequest) -> Iterator[str]:
    if request.param == "real":
        yield request.getfixturevalue("real_kafka").bootstrap_servers
        return
    with EmbeddedCluster() as cluster:
        yield cluster.bootstrap_servers


@pytest.fixture(scope="module", autouse=True)
def filled(servers: str) -> None:
    with kafka_core.Producer({"bootstrap.servers": servers}) as producer:
        for word in ("one", "two"):
            producer.produce("behaviour", word, partition=0)
        assert producer.flush(LIMIT_S) == 0


def alike(run: Any) -> Any:
    """The result of a scenario, which must be the same on both."""
    theirs, ours = run(confluent), run(kafka_core)
    assert ours == theirs
    return ours


@pytest.mark.parametrize("metadata", [None, "why"])  # confluent_kafka sends "" as a NUL
def test_the_metadata_of_commits(servers: str, metadata: str | None) -> None:
    def run(core: ModuleType) -> Any:
        group = f"metadata-{metadata}-{core.__name__}"
        consumer = core.Consumer({"bootstrap.servers": servers, "group.id": group})
        place = core.TopicPartition("behaviour", 0)
        before = consumer.committed([place], timeout=LIMIT_S)
        offset = (
            core.TopicPartition("behaviour", 0, 1)
            if metadata is None
            else core.TopicPartition("behaviour", 0, 1, metadata)
        )
        consumer.commit(offsets=[offset], asynchronous=False)
        after = consumer.committed([place], timeout=LIMIT_S)
        consumer.close()
        return [(item.offset, item.metadata, item.error, item.leader_epoch) for item in (*before, *after)]

    alike(run)


def test_callbacks_that_wait_are_served_by_close(servers: str) -> None:
    def run(core: ModuleType) -> Any:
        told: list[Any] = []
        consumer = core.Consumer(
            {
                "bootstrap.servers": servers,
                "group.id": f"close-{core.__name__}",
                "auto.offset.reset": "earliest",
                "enable.auto.commit": False,
                "on_commit": lambda error, items: told.append(("commit", error, [item.offset for item in items])),
            }
        )
        consumer.subscribe(["behaviour"], on_revoke=lambda _, items: told.append(("revoke", len(items))))
        found = consumer.consume(2, LIMIT_S)
        assert [message.value() for message in found] == [b"one", b"two"]
        consumer.commit(found[0])
        consumer.close()
        return sorted(told)

    assert alike(run) == [("commit", None, [1]), ("revoke", 1)]


def test_an_error_in_a_callback_of_close_comes_out_and_the_consumer_is_closed(servers: str) -> None:
    def run(core: ModuleType) -> Any:
        def refuse(*_: object) -> None:
            raise ValueError("not now")

        conf = {"bootstrap.servers": servers, "group.id": f"raises-{core.__name__}", "auto.offset.reset": "earliest"}
        consumer = core.Consumer(conf)
        consumer.subscribe(["behaviour"], on_revoke=refuse)
        assert consumer.consume(1, LIMIT_S)
        with pytest.raises(ValueError, match="not now"):
            consumer.close()
        with pytest.raises(RuntimeError, match="Consumer closed"):
            consumer.poll(0)
        return consumer.close()

    alike(run)


def test_a_record_that_times_out_says_so() -> None:
    for core in (confluent, kafka_core):
        told: list[str] = []
        producer = core.Producer({"message.timeout.ms": 50})
        producer.produce("t", b"x", on_delivery=lambda error, _, told=told: told.append(error.str()))
        assert producer.flush(LIMIT_S) == 0
        assert ["Message timed out" in text for text in told] == [True]


def test_storing_nothing_is_refused() -> None:
    for core in (confluent, kafka_core):
        consumer = core.Consumer({"group.id": "g"})
        with pytest.raises(ValueError, match="expected either message or offsets"):
            consumer.store_offsets()
        consumer.close()


def test_a_pause_outlives_assignments_and_rebalances(servers: str) -> None:
    def values(consumer: Any, wait_s: float) -> list[bytes]:
        return [message.value() for message in consumer.consume(2, wait_s)]

    def run(core: ModuleType) -> Any:
        group = f"pause-{core.__name__}"
        config = {"auto.offset.reset": "earliest", "enable.auto.commit": False}
        consumer = core.Consumer({"bootstrap.servers": servers, "group.id": group, **config})
        begin = core.TopicPartition("behaviour", 0, 0)
        consumer.assign([begin])
        seen = [values(consumer, LIMIT_S)]
        consumer.pause([begin])
        consumer.assign([begin])
        seen.append(values(consumer, 1.0))
        consumer.unassign()
        assigned: list[int] = []
        consumer.subscribe(
            ["behaviour"], on_assign=lambda _, places: assigned.extend(each.partition for each in places)
        )
        for _ in range(round(LIMIT_S * 10)):
            seen += [[message.value()] for message in consumer.consume(1, 0.1)]
            if assigned:
                break
        seen.append(values(consumer, 1.0))
        consumer.resume([begin])
        seen.append(values(consumer, LIMIT_S))
        consumer.close()
        return seen, assigned

    assert alike(run)[0] == [[b"one", b"two"], [], [], [b"one", b"two"]]
