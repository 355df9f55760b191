"""Behaviour of `group.protocol=consumer` (KIP-848) alone, on the embedded cluster and on Kafka 4."""

from __future__ import annotations

import asyncio
import time
from contextlib import ExitStack
from dataclasses import replace

import pytest

from kafka_core import (
    OFFSET_INVALID,
    Consumer,
    ConsumerGroupState,
    ConsumerGroupTopicPartitions,
    ConsumerGroupType,
    KafkaError,
    TopicPartition,
)
from kafka_core.admin import NewTopic
from kafka_core.aio import AIOConsumer
from tests.contract.clusters import (
    LIMIT_S,
    Cluster,
    consumer,
    consumer_conf,
    fill,
    poll_until,
    take,
    take_error,
    unique,
    values_of,
    wait_for,
)
from tests.contract.groups import Callbacks, committed, numbers, partitions_of, shared, short_sessions
from tests.patience import judged_by

KINDS = [pytest.param("embedded"), pytest.param("real", marks=pytest.mark.broker)]


@pytest.fixture(params=KINDS)
def cluster(request: pytest.FixtureRequest) -> Cluster:
    return replace(request.getfixturevalue(request.param), protocol="consumer")


def classic(cluster: Cluster) -> Cluster:
    return replace(cluster, protocol="classic")


def test_only_what_changes_is_told_and_the_rest_is_read_on(cluster: Cluster) -> None:
    topic, group = cluster.topic(4), unique("group")
    first, second = Callbacks(), Callbacks()
    with consumer(cluster, group) as one, consumer(cluster, group) as two:
        first.subscribe(one, topic)
        poll_until([one], lambda: len(partitions_of(one)) == 4, "one has all")
        second.subscribe(two, topic)
        poll_until([one, two], shared([one, two], topic, 4), "each has two")
        given_up = first.calls[1][1]
        assert first.calls == [("assign", [0, 1, 2, 3]), ("revoke", given_up)]
        assert len(given_up) == 2
        assert sorted(number for _, numbers_ in second.calls for number in numbers_) == given_up


def test_patterns_are_matched_by_the_broker_whole_and_follow_new_topics(cluster: Cluster) -> None:
    name = unique("match")
    admin = cluster.admin

    def make(topic: str) -> None:
        admin.create_topics([NewTopic(topic, 1, 1)])[topic].result(LIMIT_S)

    make(f"{name}-a")
    by_name = cluster.topic()
    with consumer(cluster) as reader, consumer(cluster) as half:
        reader.subscribe([f"^{name}-.*", by_name])
        half.subscribe([f"^{name}"])
        poll_until([reader], lambda: partitions_of(reader) == {(f"{name}-a", 0), (by_name, 0)}, "both")
        make(f"{name}-b")
        poll_until([reader], lambda: (f"{name}-b", 0) in partitions_of(reader), "the new one", 2 * LIMIT_S)
        poll_until([half], lambda: half.health().state == "stable", "a member")
        assert partitions_of(half) == set()  # a pattern must match the whole name
        reader.subscribe([by_name])
        poll_until([reader], lambda: partitions_of(reader) == {(by_name, 0)}, "the pattern is given up")


@pytest.mark.parametrize(
    ("topic", "conf", "code"),
    [
        ("^(?=x)y", {}, KafkaError.INVALID_REGULAR_EXPRESSION),
        ("t", {"group.remote.assignor": "nonsense"}, KafkaError.UNSUPPORTED_ASSIGNOR),
    ],
)
def test_refusals_of_the_coordinator_reach_the_application(
    cluster: Cluster, topic: str, conf: dict[str, object], code: int
) -> None:
    with consumer(cluster, **conf) as reader:
        reader.subscribe([topic])
        errors = [take_error(reader)]
        while errors[-1].code() == KafkaError.UNKNOWN_TOPIC_OR_PART:
            errors.append(take_error(reader))
        assert errors[-1].code() == code
        assert reader.health().state == "fatal"
        other = cluster.topic()
        if not conf:
            reader.subscribe([other])
            poll_until([reader], lambda: bool(partitions_of(reader)), "another subscription helps")


def test_a_static_name_in_use_waits_until_it_is_free(cluster: Cluster) -> None:
    topic, group = cluster.topic(), unique("group")
    conf = {"group.instance.id": "same"}
    first = consumer(cluster, group, **conf)
    first.subscribe([topic])
    poll_until([first], lambda: len(partitions_of(first)) == 1, "assigned")
    with consumer(cluster, group, **conf) as second:
        second.subscribe([topic])
        assert take_error(second).code() == KafkaError.UNRELEASED_INSTANCE_ID
        first.close()
        poll_until([second], lambda: len(partitions_of(second)) == 1, "it has the place")


def test_a_static_member_that_stays_away_loses_its_place_with_its_session(cluster: Cluster) -> None:
    judged_by(3.0, loses_its_place, cluster)


def loses_its_place(session_s: float, cluster: Cluster) -> None:
    topic, group = cluster.topic(2), unique("group")
    short_sessions(cluster, group, session_s)
    with consumer(cluster, group) as stays:
        goes = consumer(cluster, group, group_instance_id="b")
        for reader in (stays, goes):
            reader.subscribe([topic])
        poll_until([stays, goes], shared([stays, goes], topic, 2), "each has one")
        began_s = time.monotonic()
        goes.close()
        poll_until([stays], lambda: len(partitions_of(stays)) == 2, "one has both")
        assert time.monotonic() - began_s > session_s / 3  # not at once


def test_a_consumer_of_a_cluster_without_it_is_told_what_to_do(capped: Cluster) -> None:
    with consumer(replace(capped, protocol="consumer")) as reader:
        reader.subscribe([capped.topic()])
        error = take_error(reader)
        assert error.code() == KafkaError._UNSUPPORTED_FEATURE
        assert "set group.protocol=classic" in error.str()


def test_a_group_goes_over_to_the_new_protocol_and_back_without_a_duplicate_or_a_gap(cluster: Cluster) -> None:
    """One member after the other is replaced while records flow, first by new ones and then by classic ones again."""
    topic, group, seen = cluster.topic(4), unique("group"), []
    cooperative = {"partition.assignment.strategy": "cooperative-sticky"}
    written = 0

    def flow(readers: list[Consumer], what: str) -> None:
        nonlocal written
        for partition in range(4):
            fill(cluster, topic, numbers(20, written), partition)
            written += 20
        deadline_s = time.monotonic() + LIMIT_S
        while len(seen) < written and time.monotonic() < deadline_s:
            for reader in readers:
                seen.extend(values_of(reader.consume(50, 0.05)))
        assert sorted(seen, key=int) == numbers(written), what
        seen.extend(values_of(poll_until(readers, shared(readers, topic, 4), f"{what}: shared")))

    with ExitStack() as stack:
        readers: list[Consumer] = []

        def comes(kind: Cluster) -> None:
            conf = cooperative if kind.protocol == "classic" else {}
            readers.append(stack.enter_context(consumer(kind, group, **conf)))
            readers[-1].subscribe([topic])
            flow(readers, f"{kind.protocol} comes, {len(readers)} members")

        def oldest_goes() -> None:
            readers.pop(0).close()
            flow(readers, f"one goes, {len(readers)} members")

        comes(classic(cluster))
        comes(classic(cluster))
        comes(cluster)  # the group is upgraded
        oldest_goes()
        comes(cluster)
        oldest_goes()  # nobody is classic any more
        comes(classic(cluster))
        oldest_goes()
        oldest_goes()  # the last one of the new protocol: the group is downgraded
        comes(classic(cluster))
        assert committed(readers[0], topic, 4) != [OFFSET_INVALID] * 4


@pytest.mark.parametrize("strategy", ["range", "roundrobin"])
def test_an_eager_group_goes_over_too(cluster: Cluster, strategy: str) -> None:
    topic, group = cluster.topic(4), unique("group")
    with consumer(classic(cluster), group, partition_assignment_strategy=strategy) as old:
        old.subscribe([topic])
        poll_until([old], lambda: len(partitions_of(old)) == 4, "all")
        with consumer(cluster, group) as new:
            new.subscribe([topic])
            poll_until([old, new], shared([old, new], topic, 4), "each has two")
            fill(cluster, topic, numbers(4))
        found = poll_until([old], lambda: len(partitions_of(old)) == 4, "all again")
        found += take(old, 4 - len(found))
        assert sorted(values_of(found), key=int) == numbers(4)


def test_the_administrator_sees_kind_and_state(cluster: Cluster) -> None:
    topic, group = cluster.topic(2), unique("group")
    admin = cluster.admin
    with consumer(cluster, group) as reader:
        reader.subscribe([topic])
        poll_until([reader], lambda: len(partitions_of(reader)) == 2 and reader.health().state == "stable", "assigned")
        listed = {
            item.group_id: item
            for item in admin.list_consumer_groups(types={ConsumerGroupType.CONSUMER}).result(LIMIT_S).valid
        }
        assert (listed[group].type, listed[group].state) == (ConsumerGroupType.CONSUMER, ConsumerGroupState.STABLE)
        only_classic = admin.list_consumer_groups(types={ConsumerGroupType.CLASSIC}).result(LIMIT_S).valid
        assert group not in {item.group_id for item in only_classic}
        described = admin.describe_consumer_groups([group])[group].result(LIMIT_S)
        assert (described.type, described.state) == (ConsumerGroupType.CONSUMER, ConsumerGroupState.STABLE)
        assert described.partition_assignor == "uniform"
        (member,) = described.members
        assert member.member_id == reader.memberid()
        assert {(item.topic, item.partition) for item in member.assignment.topic_partitions} == partitions_of(reader)
        with pytest.raises(Exception, match=r"(?i)non.?empty|not empty"):
            admin.delete_consumer_groups([group])[group].result(LIMIT_S)
    wait_for(lambda: admin.delete_consumer_groups([group])[group].exception(LIMIT_S) is None, "deleted when empty")


def test_the_asyncio_face_has_it_too(cluster: Cluster) -> None:
    asyncio.run(asyncio_face(cluster))


async def asyncio_face(cluster: Cluster) -> None:
    topic, group = cluster.topic(2), unique("group")
    for partition in range(2):
        fill(cluster, topic, numbers(10, partition * 10), partition)
    calls: list[str] = []

    async def on_assign(_: AIOConsumer, partitions: list[TopicPartition]) -> None:
        calls.append(f"assign {len(partitions)}")

    async with AIOConsumer(consumer_conf(cluster, group, enable_auto_commit=False)) as reader:
        await reader.subscribe([topic], on_assign=on_assign)
        found = []
        deadline_s = time.monotonic() + LIMIT_S
        while len(found) < 20 and time.monotonic() < deadline_s:
            found += await reader.consume(20, 0.5)
        assert sorted(values_of(found), key=int) == numbers(20)
        await reader.commit(asynchronous=False)
    assert calls == ["assign 2"]


def test_offsets_of_a_group_with_members_cannot_be_altered(cluster: Cluster) -> None:
    topic, group = cluster.topic(), unique("group")
    with consumer(cluster, group) as reader:
        reader.subscribe([topic])
        poll_until([reader], lambda: bool(partitions_of(reader)), "assigned")
        request = ConsumerGroupTopicPartitions(group, [TopicPartition(topic, 0, 3)])
        failed = cluster.admin.alter_consumer_group_offsets([request])[group].exception(LIMIT_S)
        assert failed is not None
        assert failed.args[0].code() == KafkaError.UNKNOWN_MEMBER_ID
    alter = cluster.admin.alter_consumer_group_offsets
    wait_for(lambda: alter([request])[group].exception(LIMIT_S) is None, "altered when the member has left")
    assert [item.error for item in alter([request])[group].result(LIMIT_S).topic_partitions] == [None]
