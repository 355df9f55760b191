"""Consumer groups on every kind of cluster, in both protocols: sharing, rebalances with callbacks, commits, membership.

What only one of the protocols does is in `test_groups_classic.py` and `test_consumer_protocol.py`.
"""

from __future__ import annotations

import threading
import time
from contextlib import ExitStack
from dataclasses import replace

import pytest

from kafka_core import OFFSET_INVALID, Consumer, KafkaError, KafkaException, StateError, TopicPartition
from tests.contract.clusters import (
    LIMIT_S,
    Cluster,
    consumer,
    fill,
    poll_until,
    producer,
    take,
    unique,
    values_of,
    wait_for,
)
from tests.contract.groups import Callbacks, committed, numbers, partitions_of, shared, short_sessions
from tests.patience import judged_by

STRATEGIES = ["range", "roundrobin", "cooperative-sticky"]
EMBEDDED = pytest.param(("embedded", "classic"), id="embedded")
CAPPED = pytest.param(("capped", "classic"), id="capped")
REAL = pytest.param(("real", "classic"), id="real", marks=pytest.mark.broker)
OLD = pytest.param(("old", "classic"), id="old", marks=[pytest.mark.broker, pytest.mark.slow])
ASSIGNED_BY_BROKER = [
    pytest.param(("embedded", "consumer"), id="embedded-consumer"),
    pytest.param(("real", "consumer"), id="real-consumer", marks=pytest.mark.broker),
]


@pytest.fixture(params=[EMBEDDED, CAPPED, REAL, OLD, *ASSIGNED_BY_BROKER])
def cluster(request: pytest.FixtureRequest) -> Cluster:
    """Every kind of cluster with groups of the classic protocol, and those that have it with the newer one."""
    kind, protocol = request.param
    return replace(request.getfixturevalue(kind), protocol=protocol)


@pytest.fixture(params=[EMBEDDED, REAL, OLD, *ASSIGNED_BY_BROKER])
def modern_cluster(request: pytest.FixtureRequest) -> Cluster:
    """All but the capped one: for what brokers of Kafka 2.1 can't do."""
    kind, protocol = request.param
    return replace(request.getfixturevalue(kind), protocol=protocol)


# ---- sharing


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_members_share_the_partitions_and_every_record_comes_once(cluster: Cluster, strategy: str) -> None:
    topic, group = cluster.topic(6), unique("group")
    conf = {"partition.assignment.strategy": strategy}
    with ExitStack() as stack:
        readers = [stack.enter_context(consumer(cluster, group, **conf)) for _ in range(3)]
        for reader in readers:
            reader.subscribe([topic])
        early = poll_until(readers, shared(readers, topic, 6), "each has two")
        assert early == []
        assert [len(partitions_of(reader)) for reader in readers] == [2, 2, 2]
        for partition in range(6):
            fill(cluster, topic, numbers(50, partition * 50), partition)
        found: list = []
        found += poll_until(readers, lambda: True, "")
        deadline_s = time.monotonic() + LIMIT_S
        while len(found) < 300 and time.monotonic() < deadline_s:
            for reader in readers:
                mine = partitions_of(reader)
                messages = reader.consume(100, 0.05)
                assert {(message.topic(), message.partition()) for message in messages} <= mine
                found += messages
    assert sorted(values_of(found)) == sorted(numbers(300))


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_a_member_that_leaves_hands_its_partitions_over_without_loss_or_double(cluster: Cluster, strategy: str) -> None:
    topic, group = cluster.topic(4), unique("group")
    for partition in range(4):
        fill(cluster, topic, numbers(20, partition * 20), partition)
    conf = {"partition.assignment.strategy": strategy}
    with consumer(cluster, group, **conf) as stays:
        leaves = consumer(cluster, group, **conf)
        for reader in (stays, leaves):
            reader.subscribe([topic])
        found = poll_until([stays, leaves], shared([stays, leaves], topic, 4), "each has two")
        found += leaves.consume(10, 0.5)
        leaves.close()  # commits what it handed out
        found += poll_until([stays], lambda: len(partitions_of(stays)) == 4, "one has all")
        found += take(stays, 80 - len(found))
        assert stays.poll(0.1) is None
    assert sorted(values_of(found)) == sorted(numbers(80))


def test_a_cooperative_member_keeps_what_it_has(cluster: Cluster) -> None:
    topic, group = cluster.topic(4), unique("group")
    first, second = Callbacks(), Callbacks()
    conf = {"partition.assignment.strategy": "cooperative-sticky"}
    with consumer(cluster, group, **conf) as one, consumer(cluster, group, **conf) as two:
        first.subscribe(one, topic)
        poll_until([one], lambda: len(partitions_of(one)) == 4, "one has all")
        second.subscribe(two, topic)
        poll_until([one, two], shared([one, two], topic, 4), "each has two")
        kept = {number for _, number in partitions_of(one)}
    revoked = [call for call in first.calls if call[0] == "revoke"]
    given_up = set(revoked[0][1])
    assert len(given_up) == 2  # the others were read on all the time
    assert kept == {0, 1, 2, 3} - given_up
    assert ("assign", sorted(given_up)) in second.calls


def test_more_members_than_partitions(cluster: Cluster) -> None:
    topic, group = cluster.topic(1), unique("group")
    fill(cluster, topic, numbers(10))
    with consumer(cluster, group) as one, consumer(cluster, group) as two:
        for reader in (one, two):
            reader.subscribe([topic])
        found = poll_until(
            [one, two],
            lambda: (
                all(reader.health().state == "stable" for reader in (one, two))
                and len(partitions_of(one)) + len(partitions_of(two)) == 1
            ),
            "one of both has it",
        )
        deadline_s = time.monotonic() + LIMIT_S
        while len(found) < 10 and time.monotonic() < deadline_s:
            found += one.consume(10, 0.05) + two.consume(10, 0.05)
    assert values_of(found) == numbers(10)


def test_members_with_different_topics(cluster: Cluster) -> None:
    one_topic, two_topic, group = cluster.topic(2), cluster.topic(2), unique("group")
    with consumer(cluster, group) as one, consumer(cluster, group) as two:
        one.subscribe([one_topic])
        two.subscribe([one_topic, two_topic])
        both = [(one_topic, 0), (one_topic, 1), (two_topic, 0), (two_topic, 1)]
        poll_until(
            [one, two],
            lambda: sorted([*partitions_of(one), *partitions_of(two)]) == sorted(both) and bool(partitions_of(one)),
            "all are assigned",
        )
        assert {topic for topic, _ in partitions_of(one)} == {one_topic}


# ---- commits


def test_the_next_one_goes_on_behind_the_commit(cluster: Cluster) -> None:
    topic, group = cluster.topic(2), unique("group")
    fill(cluster, topic, numbers(10))
    with consumer(cluster, group, enable_auto_commit=False) as reader:
        reader.subscribe([topic])
        messages = take(reader, 10)
        result = reader.commit(message=messages[3], asynchronous=False)
        assert [(item.topic, item.partition, item.offset, item.error) for item in result] == [(topic, 0, 4, None)]
        assert committed(reader, topic, 2) == [4, OFFSET_INVALID]
    with consumer(cluster, group) as reader:
        reader.subscribe([topic])
        assert values_of(take(reader, 6)) == numbers(6, 4)


def test_polled_offsets_are_committed_at_close(cluster: Cluster) -> None:
    topic, group = cluster.topic(), unique("group")
    fill(cluster, topic, numbers(10))
    for start in (0, 5):
        with consumer(cluster, group) as reader:
            reader.subscribe([topic])
            assert values_of(take(reader, 5)) == numbers(5, start)
    with consumer(cluster, group) as reader:
        assert committed(reader, topic) == [10]


def test_nothing_is_committed_without_auto_commit(cluster: Cluster) -> None:
    topic, group = cluster.topic(), unique("group")
    fill(cluster, topic, numbers(10))
    for _ in range(2):
        with consumer(cluster, group, enable_auto_commit=False) as reader:
            reader.subscribe([topic])
            assert values_of(take(reader, 10)) == numbers(10)
            assert committed(reader, topic) == [OFFSET_INVALID]


def test_auto_commit_happens_while_it_polls(cluster: Cluster) -> None:
    topic, group = cluster.topic(), unique("group")
    fill(cluster, topic, numbers(10))
    with consumer(cluster, group, auto_commit_interval_ms=100) as reader, consumer(cluster, group) as other:
        reader.subscribe([topic])
        take(reader, 10)
        poll_until([reader], lambda: committed(other, topic) == [10], "the commit")


def test_only_what_was_stored_is_committed(cluster: Cluster) -> None:
    topic, group = cluster.topic(), unique("group")
    fill(cluster, topic, numbers(10))
    with consumer(cluster, group, enable_auto_offset_store=False) as reader:
        reader.subscribe([topic])
        messages = take(reader, 10)
        reader.store_offsets(messages[2])
        reader.store_offsets(offsets=[TopicPartition(topic, 0, 7)])
        with pytest.raises(StateError):
            reader.store_offsets(offsets=[TopicPartition(topic, 1, 4)])
    with consumer(cluster, group) as reader:
        assert committed(reader, topic) == [7]


def test_a_commit_of_nothing_says_so(cluster: Cluster) -> None:
    topic = cluster.topic()
    with consumer(cluster, enable_auto_commit=False) as reader:
        reader.subscribe([topic])
        with pytest.raises(KafkaException) as caught:
            reader.commit(asynchronous=False)
    assert caught.value.args[0].code() == KafkaError._NO_OFFSET


def test_an_asynchronous_commit_is_told_by_the_callback(cluster: Cluster) -> None:
    topic, told = cluster.topic(), []
    fill(cluster, topic, numbers(3))
    conf = {"on_commit": lambda error, partitions: told.append((error, partitions)), "enable.auto.commit": False}
    with consumer(cluster, **conf) as reader:
        reader.subscribe([topic])
        take(reader, 3)
        assert reader.commit() is None
        poll_until([reader], lambda: bool(told), "on_commit")
    ((error, partitions),) = told
    assert error is None
    assert [(item.topic, item.offset, item.error) for item in partitions] == [(topic, 3, None)]


def test_commits_carry_metadata(cluster: Cluster) -> None:
    topic, group = cluster.topic(), unique("group")
    with consumer(cluster, group) as reader:
        reader.commit(offsets=[TopicPartition(topic, 0, 5, "by hand")], asynchronous=False)
        (found,) = reader.committed([TopicPartition(topic, 0)], LIMIT_S)
    assert (found.offset, found.metadata) == (5, "by hand")


def test_a_group_may_be_used_for_commits_only(cluster: Cluster) -> None:
    topic, group = cluster.topic(), unique("group")
    fill(cluster, topic, numbers(10))
    with consumer(cluster, group, enable_auto_commit=False) as reader:
        reader.assign([TopicPartition(topic, 0)])
        take(reader, 6)
        reader.commit(asynchronous=False)
    with consumer(cluster, group) as reader:
        reader.assign([TopicPartition(topic, 0)])
        assert values_of(take(reader, 4)) == numbers(4, 6)


def test_offsets_committed_in_the_revoke_callback_are_where_the_other_begins(cluster: Cluster) -> None:
    topic, group = cluster.topic(2), unique("group")
    for partition in range(2):
        fill(cluster, topic, numbers(30, partition * 30), partition)
    conf = {"enable.auto.commit": False, "enable.auto.offset.store": True}
    seen: list[bytes] = []

    def on_revoke(reader: Consumer, partitions: list[TopicPartition]) -> None:
        positions = [item for item in reader.position(partitions) if item.offset >= 0]
        if positions:
            reader.commit(offsets=positions, asynchronous=False)

    with consumer(cluster, group, **conf) as one, consumer(cluster, group, **conf) as two:
        one.subscribe([topic], on_revoke=on_revoke)
        seen += values_of(take(one, 25))
        two.subscribe([topic], on_revoke=on_revoke)
        seen += values_of(poll_until([one, two], shared([one, two], topic, 2), "each has one"))
        deadline_s = time.monotonic() + LIMIT_S
        while len(seen) < 60 and time.monotonic() < deadline_s:
            seen += values_of(one.consume(60, 0.05) + two.consume(60, 0.05))
    assert sorted(seen) == sorted(numbers(60))


def test_offsets_set_in_the_assign_callback_win(cluster: Cluster) -> None:
    topic = cluster.topic()
    fill(cluster, topic, numbers(10))

    def on_assign(reader: Consumer, partitions: list[TopicPartition]) -> None:
        for item in partitions:
            item.offset = 8
        reader.assign(partitions)

    with consumer(cluster) as reader:
        reader.subscribe([topic], on_assign=on_assign)
        assert values_of(take(reader, 2)) == numbers(2, 8)


# ---- membership


def test_errors_of_rebalance_callbacks_are_raised_by_poll_and_the_group_goes_on(cluster: Cluster) -> None:
    topic = cluster.topic()
    fill(cluster, topic, numbers(3))

    def on_assign(reader: Consumer, partitions: list[TopicPartition]) -> None:
        raise LookupError("mine")

    with consumer(cluster) as reader:
        reader.subscribe([topic], on_assign=on_assign)
        with pytest.raises(LookupError, match="mine"):
            poll_until([reader], lambda: False, "the callback")
        assert values_of(take(reader, 3)) == numbers(3)


def test_unsubscribe_gives_up_the_partitions_and_a_new_subscription_gets_them(cluster: Cluster) -> None:
    topic, other, seen = cluster.topic(2), cluster.topic(1), Callbacks()
    fill(cluster, other, [b"other"])
    with consumer(cluster) as reader:
        seen.subscribe(reader, topic)
        poll_until([reader], lambda: len(partitions_of(reader)) == 2, "assigned")
        reader.unsubscribe()
        poll_until([reader], lambda: not partitions_of(reader), "given up")
        assert seen.calls == [("assign", [0, 1]), ("revoke", [0, 1])]
        assert reader.subscription() == []
        reader.subscribe([other])
        assert values_of(take(reader, 1)) == [b"other"]
        assert partitions_of(reader) == {(other, 0)}


def test_a_subscription_can_be_changed(cluster: Cluster) -> None:
    topic, other = cluster.topic(), cluster.topic()
    fill(cluster, topic, [b"one"])
    fill(cluster, other, [b"two"])
    with consumer(cluster) as reader:
        reader.subscribe([topic])
        assert values_of(take(reader, 1)) == [b"one"]
        reader.subscribe([topic, other])
        assert values_of(take(reader, 1)) == [b"two"]
        assert partitions_of(reader) == {(topic, 0), (other, 0)}


def test_heartbeats_go_on_while_the_application_is_busy(cluster: Cluster) -> None:
    judged_by(1.0, busy_for_longer_than_its_session, cluster)


def busy_for_longer_than_its_session(session_s: float, cluster: Cluster) -> None:
    topic, group, seen = cluster.topic(), unique("group"), Callbacks()
    fill(cluster, topic, numbers(5))
    conf = {"session.timeout.ms": round(session_s * 1000)}
    if cluster.protocol == "consumer":
        short_sessions(cluster, group, session_s)
    with consumer(cluster, group, **conf) as reader:
        seen.subscribe(reader, topic)
        take(reader, 2)
        member = reader.memberid()
        end_s = time.monotonic() + 2 * session_s
        while time.monotonic() < end_s:  # longer than the session, and no poll
            sum(range(10_000))
        assert values_of(take(reader, 3)) == numbers(3, 2)
        assert reader.memberid() == member
    assert seen.calls == [("assign", [0]), ("revoke", [0])]


def test_too_long_without_a_poll_is_told_and_mended(cluster: Cluster) -> None:
    judged_by(1.0, too_long_without_a_poll, cluster)


def too_long_without_a_poll(limit_s: float, cluster: Cluster) -> None:
    topic, seen = cluster.topic(), Callbacks()
    fill(cluster, topic, numbers(5))
    limit_ms = round(limit_s * 1000)
    conf = {"session.timeout.ms": limit_ms, "max.poll.interval.ms": limit_ms, "enable.auto.commit": False}
    with consumer(cluster, **conf) as reader:
        seen.subscribe(reader, topic)
        take(reader, 2)
        wait_for(lambda: any("poll" in problem for problem in reader.health().problems), "the health says it")
        wait_for(lambda: reader.health().state != "stable", "expelled")
        event = reader.poll(LIMIT_S)
        assert event is not None
        assert event.error().code() == KafkaError._MAX_POLL_EXCEEDED
        assert "max.poll.interval.ms" in event.error().str()
        found = poll_until([reader], lambda: seen.calls[-1] == ("assign", [0]) and len(seen.calls) > 1, "back again")
        assert [name for name, _ in seen.calls] == ["assign", "lost", "assign"]
        found += take(reader, 5 - len(found))
        assert values_of(found) == numbers(5)  # nothing was committed, so it begins again


def test_a_member_that_vanishes_is_replaced_after_its_session(cluster: Cluster) -> None:
    judged_by(1.0, vanishes_and_is_replaced, cluster)


def vanishes_and_is_replaced(limit_s: float, cluster: Cluster) -> None:
    topic, group = cluster.topic(2), unique("group")
    limit_ms = round(limit_s * 1000)
    conf = {"session.timeout.ms": limit_ms, "max.poll.interval.ms": limit_ms}
    with consumer(cluster, group, **conf) as stays, consumer(cluster, group, **conf) as sleeps:
        for reader in (stays, sleeps):
            reader.subscribe([topic])
        poll_until([stays, sleeps], shared([stays, sleeps], topic, 2), "each has one")
        poll_until([stays], lambda: len(partitions_of(stays)) == 2, "one has both")  # the other polls no more


def test_a_static_member_comes_back_without_a_rebalance(modern_cluster: Cluster) -> None:
    topic, group, seen = modern_cluster.topic(2), unique("group"), Callbacks()
    with consumer(modern_cluster, group, group_instance_id="a") as stays:
        goes = consumer(modern_cluster, group, group_instance_id="b")
        seen.subscribe(stays, topic)
        goes.subscribe([topic])
        poll_until([stays, goes], shared([stays, goes], topic, 2), "each has one")
        before, its = list(seen.calls), partitions_of(goes)
        goes.close()
        with consumer(modern_cluster, group, group_instance_id="b") as back:
            back.subscribe([topic])
            poll_until([stays, back], lambda: partitions_of(back) == its, "it has what it had")
        assert seen.calls == before


def test_a_commit_of_a_member_that_was_thrown_out_is_refused(cluster: Cluster) -> None:
    judged_by(1.0, commit_when_thrown_out, cluster)


def commit_when_thrown_out(limit_s: float, cluster: Cluster) -> None:
    topic, group = cluster.topic(), unique("group")
    fill(cluster, topic, numbers(5))
    limit_ms = round(limit_s * 1000)
    conf = {"session.timeout.ms": limit_ms, "max.poll.interval.ms": limit_ms, "enable.auto.commit": False}
    with consumer(cluster, group, **conf) as late, consumer(cluster, group, enable_auto_commit=False) as other:
        late.subscribe([topic], on_revoke=lambda *_: None)  # which is never called, so it does not rejoin
        take(late, 5)
        other.subscribe([topic])
        found = poll_until([other], lambda: len(partitions_of(other)) == 1, "the other has it")
        take(other, 5 - len(found))
        other.commit(offsets=[TopicPartition(topic, 0, 2)], asynchronous=False)
        with pytest.raises(KafkaException) as caught:
            late.commit(offsets=[TopicPartition(topic, 0, 5)], asynchronous=False)
        assert caught.value.args[0].code() in (
            KafkaError.UNKNOWN_MEMBER_ID,
            KafkaError.ILLEGAL_GENERATION,
            KafkaError.REBALANCE_IN_PROGRESS,
            KafkaError._STATE,
        )
        assert committed(other, topic) == [2]


def test_the_membership_is_told(cluster: Cluster) -> None:
    topic, group = cluster.topic(), unique("group")
    with consumer(cluster, group) as reader:
        assert (reader.memberid() is None) == (cluster.protocol == "classic")  # KIP-1082: the client makes its own
        reader.subscribe([topic])
        poll_until([reader], lambda: bool(partitions_of(reader)) and reader.health().state == "stable", "stable")
        assert reader.memberid()
        health = reader.health()
        assert (health.member_id, health.healthy) == (reader.memberid(), True)
        assert reader.consumer_group_metadata() is not None


def test_many_groups_read_the_same_records(cluster: Cluster) -> None:
    topic = cluster.topic()
    fill(cluster, topic, numbers(20))
    with ExitStack() as stack:
        for _ in range(4):
            reader = stack.enter_context(consumer(cluster))
            reader.subscribe([topic])
            assert values_of(take(reader, 20)) == numbers(20)


def test_members_come_and_go_while_records_flow(cluster: Cluster) -> None:
    """Every record reaches the group; what was committed is not read again."""
    topic, group, total = cluster.topic(4), unique("group"), 1500
    seen: list[bytes] = []
    stop = threading.Event()

    def write() -> None:
        with producer(cluster) as writer:
            for number in range(total):
                writer.produce(topic, b"%d" % number, partition=number % 4)
                if number % 15 == 0:
                    stop.wait(0.01)

    thread = threading.Thread(target=write)
    thread.start()
    try:
        readers: list[Consumer] = []
        strategy = {"partition.assignment.strategy": "cooperative-sticky"}
        deadline_s = time.monotonic() + LIMIT_S
        turn = 0
        while len(seen) < total and time.monotonic() < deadline_s:
            turn += 1
            if turn % 5 == 1 and len(readers) < 3:
                readers.append(consumer(cluster, group, **strategy))
                readers[-1].subscribe([topic])
            elif turn % 7 == 0 and len(readers) == 3:
                readers.pop(0).close()
            for reader in readers:
                seen += values_of(reader.consume(100, 0.05))
    finally:
        stop.set()
        thread.join(LIMIT_S)
        for reader in readers:
            reader.close()
    assert sorted(seen, key=int) == numbers(total)
