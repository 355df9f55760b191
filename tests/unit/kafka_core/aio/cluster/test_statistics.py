"""Parts of the statistics that all clients have: words and ages of a group's member."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any, Final

import pytest

from kafka_core import Producer, ShareConsumer
from kafka_core.aio.cluster.statistics import brokers
from kafka_core.aio.cluster.traffic import Traffic
from kafka_core.aio.consuming.member_history import JOIN_STATES, MemberHistory, group_state
from kafka_core.broker import EmbeddedCluster
from kafka_core.clock import ManualClock
from kafka_core.engine.groups.states import State
from kafka_core.engine.metadata import BrokerAddress

LIMIT_S: Final = 60.0


class Member:
    """A membership as far as its history looks at it."""

    def __init__(self) -> None:
        self.state, self.coordinator = State.IDLE, None
        self.rebalances, self.rebalance_reason = 0, ""


@pytest.fixture
def servers() -> Iterator[str]:
    with EmbeddedCluster() as cluster:
        cluster.create_topic("records")
        yield cluster.bootstrap_servers


def test_every_state_has_a_word() -> None:
    assert set(JOIN_STATES) == set(State)


@pytest.mark.parametrize(
    ("state", "coordinator", "word"),
    [
        (State.IDLE, None, "init"),
        (State.IDLE, 1, "init"),
        (State.JOINING, None, "query-coord"),
        (State.STABLE, 0, "up"),
        (State.FATAL, 1, "term"),
    ],
)
def test_word_for_a_member_and_its_coordinator(state: State, coordinator: int | None, word: str) -> None:
    assert group_state(state, coordinator) == word


def test_ages_begin_with_changes() -> None:
    clock, member = ManualClock(), Member()
    history = MemberHistory(member, clock)  # type: ignore[arg-type]  # no more is looked at
    clock.advance(1.0)
    assert (history.shown(0)["stateage"], history.shown(0)["rebalance_age"]) == (1000, 0)
    member.state, member.coordinator = State.JOINING, 1  # type: ignore[assignment]
    history.look()
    clock.advance(2.0)
    member.state, member.rebalances, member.rebalance_reason = State.STABLE, 1, "why"
    history.look()
    clock.advance(4.0)
    history.look()
    assert history.shown(3) == {
        "state": "up",
        "stateage": 6000,
        "join_state": "steady",
        "rebalance_age": 4000,
        "rebalance_cnt": 1,
        "rebalance_reason": "why",
        "assignment_size": 3,
    }


def test_brokers_have_their_requests_and_the_partitions_that_they_lead() -> None:
    known = {number: BrokerAddress(number, "host", 9090 + number) for number in (1, 2)}
    view = SimpleNamespace(brokers=known, leader=lambda topic, partition: {0: 1, 1: 2}.get(partition))
    client: Any = SimpleNamespace(metadata=view, connected_to=lambda: frozenset({1}), unanswered=lambda: {1: (3, 4)})
    first, second = brokers(client, Traffic(ManualClock()), [("t", 0), ("t", 1), ("t", 2)]).values()
    assert (first["state"], first["outbuf_cnt"], first["waitresp_cnt"]) == ("UP", 3, 4)
    assert (second["state"], second["outbuf_cnt"], second["waitresp_cnt"]) == ("INIT", 0, 0)
    assert (set(first["toppars"]), set(second["toppars"])) == ({"t-0"}, {"t-1"})


def test_statistics_of_a_share_consumer(servers: str) -> None:
    heard: list[dict[str, Any]] = []
    writer = Producer({"bootstrap.servers": servers})
    reader = ShareConsumer(
        {
            "bootstrap.servers": servers,
            "group.id": "sharing",
            "statistics.interval.ms": 50,
            "stats_cb": lambda text: heard.append(json.loads(text)),
        }
    )
    reader.subscribe(["records"])
    deadline_s = time.monotonic() + LIMIT_S
    while not heard or heard[-1]["rxmsgs"] < 1:  # the group begins at the end of the log
        assert time.monotonic() < deadline_s, heard[-1:]
        writer.produce("records", b"x")
        writer.flush()
        reader.poll(0.1)
    told = heard[-1]
    (broker,) = told["brokers"].values()
    assert broker["state"] == "UP"
    assert broker["req"]["ShareFetch"] >= 1
    assert told["rx_bytes"] >= broker["rxbytes"] > 0
    assert broker["toppars"] == {"records-0": {"topic": "records", "partition": 0}}
    assert told["topics"]["records"]["partitions"] == {"0": {"partition": 0, "leader": broker["nodeid"]}}
    assert (told["cgrp"]["state"], told["cgrp"]["join_state"], told["cgrp"]["assignment_size"]) == ("up", "steady", 1)
    assert told["cgrp"]["rebalance_reason"] == "the coordinator assigned other partitions"
    assert told["type"] == "share consumer"
    reader.close()
    writer.close()
