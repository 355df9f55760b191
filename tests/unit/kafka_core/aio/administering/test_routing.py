"""kafka_core.aio.administering.routing: trying again, deadlines, and who is asked; whole calls are in test_admin.py."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Collection
from typing import Any, cast

import pytest

from kafka_core import KafkaError as E
from kafka_core.admin import AIOAdminClient
from kafka_core.admin_model import Outcome
from kafka_core.aio.administering.routing import Deadline, Router, group_by_leader, retriable
from kafka_core.aio.cluster.client import ClusterClient, CoordinatorKind
from kafka_core.broker import EmbeddedCluster
from kafka_core.broker.codes import Code
from kafka_core.config import Role, parse
from kafka_core.engine.metadata import ClusterView, PartitionView, TopicView
from kafka_core.errors import AuthError, BrokerError, KafkaError, KafkaException, NetworkError
from kafka_core.model import TopicPartition
from kafka_core.protocol import ApiKey
from tests.patience import judged_by
from tests.unit.kafka_core.fake_cluster import BROKERS, FakeCluster


def router(cluster: FakeCluster) -> Router:
    conf: dict[str, object] = {"bootstrap.servers": "b", "retry.backoff.ms": 1, "retry.backoff.max.ms": 1}
    return Router(cast(ClusterClient, cluster), parse(conf, Role.ADMIN), random.Random(1))


@pytest.mark.parametrize(
    ("error", "again"),
    [
        (BrokerError(KafkaError.NOT_CONTROLLER), True),
        (BrokerError(KafkaError.COORDINATOR_LOAD_IN_PROGRESS), True),
        (BrokerError(KafkaError.THROTTLING_QUOTA_EXCEEDED), True),
        (NetworkError("lost"), True),
        (BrokerError(KafkaError.UNKNOWN_TOPIC_OR_PART), False),
        (BrokerError(KafkaError.REQUEST_TIMED_OUT), False),
        (BrokerError(KafkaError.TOPIC_ALREADY_EXISTS), False),
        (NetworkError("no such broker", KafkaError._UNKNOWN_BROKER), False),
        (AuthError("no"), False),
        (None, False),
    ],
)
def test_retriable_admin_errors(error: KafkaException | None, again: bool) -> None:
    assert list(retriable({"k": Outcome(error=error)}, ["k"])) == (["k"] if again else [])


def test_outcomes_of_earlier_tries_are_kept() -> None:
    tries: list[list[str]] = []

    async def attempt(keys: Collection[str], deadline: Deadline) -> dict[str, Outcome[int]]:
        tries.append(list(keys))
        done = len(tries)
        return {key: Outcome(done) if key == f"k{done}" else Outcome.of(14, None) for key in keys}

    outcomes = asyncio.run(router(FakeCluster()).keyed("call", ["k1", "k2", "k3"], attempt, 5.0))
    assert [outcome.value for outcome in outcomes.values()] == [1, 2, 3]
    assert tries == [["k1", "k2", "k3"], ["k2", "k3"], ["k3"]]


def test_metadata_that_can_not_be_refreshed_does_not_end_the_call() -> None:
    class Blind(FakeCluster):
        async def refresh_metadata(self, *arguments: Any, **more: Any) -> ClusterView:
            raise NetworkError("nobody answers")

    answers: list[Outcome[int]] = [Outcome.of(41, None), Outcome(7)]

    async def attempt(keys: Collection[str], deadline: Deadline) -> dict[str, Outcome[int]]:
        return {"k": answers.pop(0)}

    assert asyncio.run(router(Blind()).keyed("call", ["k"], attempt, 5.0))["k"].result() == 7


def test_mistakes_of_ours_are_not_swallowed() -> None:
    async def attempt(keys: Collection[str], deadline: Deadline) -> dict[str, Outcome[int]]:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        asyncio.run(router(FakeCluster()).keyed("call", ["k"], attempt, 5.0))


def test_connection_that_does_not_come_in_time_names_the_cause() -> None:
    cluster = FakeCluster()
    cluster.last_error = NetworkError("b:9092: refused")

    async def wait(limit_s: float) -> None:
        deadline = await router(cluster).begin("delete_topics", limit_s)
        await router(cluster).in_time(asyncio.Event().wait, deadline)

    def named_within(limit_s: float) -> None:
        with pytest.raises(NetworkError, match="delete_topics: no connection in time: b:9092: refused") as caught:
            asyncio.run(wait(limit_s))
        assert caught.value.code == KafkaError._TIMED_OUT

    judged_by(0.02, named_within)


def test_partitions_by_leader() -> None:
    partitions = {0: PartitionView(0, 1), 1: PartitionView(1, None), 2: PartitionView(2, 2), 3: PartitionView(3, 1)}
    view = ClusterView(
        BROKERS, {"t": TopicView("t", partitions=partitions), "secret": TopicView("secret", error_code=29)}
    )
    wanted = [TopicPartition("t", number) for number in range(5)] + [TopicPartition("secret", 0)]
    leaders, missing = group_by_leader(view, wanted)
    assert {leader: [item.partition for item in items] for leader, items in leaders.items()} == {1: [0, 3], 2: [2]}
    codes = [(item.topic, item.partition, outcome.error.code) for item, outcome in missing.items() if outcome.error]
    assert codes == [("t", 1, 5), ("t", 4, 3), ("secret", 0, 29)]


def test_without_time_left_no_connection_is_begun() -> None:
    """A coroutine made for it would never be awaited, which Python complains about when it collects it."""
    begun: list[bool] = []

    async def connect() -> None:
        begun.append(True)

    async def wait() -> None:
        await router(FakeCluster()).in_time(connect, Deadline("delete_topics", 0.0))

    with pytest.raises(NetworkError, match="delete_topics: no time is left"):
        asyncio.run(wait())
    assert begun == []


# ---- a coordinator that moves


def test_a_coordinator_of_transactions_that_moved_is_looked_up_again() -> None:
    async def run(servers: str) -> list[tuple[CoordinatorKind, str]]:
        forgotten = []
        async with AIOAdminClient({"bootstrap.servers": servers}) as admin:
            forget = admin.client.forget_coordinator

            def note(kind: CoordinatorKind, key: str) -> None:
                forgotten.append((kind, key))
                forget(kind, key)

            admin.client.forget_coordinator = note  # type: ignore[method-assign]
            outcome = (await admin.describe_transactions(["tx"]))["tx"]
            assert outcome.error is not None
            assert outcome.error.error.code() == E.TRANSACTIONAL_ID_NOT_FOUND
        return forgotten

    with EmbeddedCluster() as cluster:
        cluster.intercept(ApiKey.DESCRIBE_TRANSACTIONS, lambda *_: Code.NOT_COORDINATOR, times=1)
        assert asyncio.run(run(cluster.bootstrap_servers)) == [(CoordinatorKind.TRANSACTION, "tx")]
