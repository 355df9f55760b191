"""Behaviour of the classic protocol's groups alone, on every kind of cluster."""

from __future__ import annotations

from kafka_core import KafkaError
from tests.contract.clusters import Cluster, consumer, fill, poll_until, take, unique, values_of, wait_for
from tests.contract.groups import Callbacks, partitions_of, shared


def test_a_member_that_comes_takes_a_share(cluster: Cluster) -> None:
    topic, group = cluster.topic(4), unique("group")
    first, second = Callbacks(), Callbacks()
    with consumer(cluster, group) as one, consumer(cluster, group) as two:
        first.subscribe(one, topic)
        poll_until([one], lambda: len(partitions_of(one)) == 4, "one has all")
        second.subscribe(two, topic)
        poll_until([one, two], shared([one, two], topic, 4), "each has two")
        assert first.calls[0] == ("assign", [0, 1, 2, 3])
        assert first.calls[1] == ("revoke", [0, 1, 2, 3])
        assert first.calls[2][0] == "assign"
        assert sorted(first.calls[2][1] + second.calls[0][1]) == [0, 1, 2, 3]


def test_a_second_one_with_the_same_static_name_fences_the_first(modern_cluster: Cluster) -> None:
    topic, group = modern_cluster.topic(), unique("group")
    conf = {"group.instance.id": "same"}
    with consumer(modern_cluster, group, **conf) as first, consumer(modern_cluster, group, **conf) as second:
        first.subscribe([topic])
        poll_until([first], lambda: len(partitions_of(first)) == 1, "assigned")
        second.subscribe([topic])
        poll_until([second], lambda: len(partitions_of(second)) == 1, "assigned")
        errors: list[KafkaError] = []

        def fenced() -> bool:
            message = first.poll(0.1)
            if message is not None:
                errors.append(message.error())
            return bool(errors)

        wait_for(fenced, "the first is told")
        assert errors[0].code() in (KafkaError._FENCED, KafkaError.FENCED_INSTANCE_ID)
        assert errors[0].fatal()


def test_no_common_strategy_is_told(cluster: Cluster) -> None:
    topic, group = cluster.topic(), unique("group")
    with (
        consumer(cluster, group, partition_assignment_strategy="range") as one,
        consumer(cluster, group, partition_assignment_strategy="roundrobin") as two,
    ):
        one.subscribe([topic])
        poll_until([one], lambda: len(partitions_of(one)) == 1, "assigned")
        two.subscribe([topic])
        message = wait_for(lambda: two.poll(0.1), "an error")
        assert message.error().code() == KafkaError.INCONSISTENT_GROUP_PROTOCOL
        fill(cluster, topic, [b"x"])
        assert values_of(take(one, 1)) == [b"x"]


def test_a_sticky_group_gives_up_all_and_takes_back_what_it_had(cluster: Cluster) -> None:
    topic, group = cluster.topic(6), unique("group")
    conf = {"partition.assignment.strategy": "sticky"}
    one, two, three = (consumer(cluster, group, **conf) for _ in range(3))
    first = Callbacks()
    with one, two, three:
        first.subscribe(one, topic)
        two.subscribe([topic])
        poll_until([one, two], shared([one, two], topic, 6), "each has three")
        had = partitions_of(one), partitions_of(two)
        revocations = [call for call in first.calls if call[0] == "revoke"]
        three.subscribe([topic])
        poll_until([one, two, three], shared([one, two, three], topic, 6), "each has two")
        assert [partitions_of(reader) <= before for reader, before in zip((one, two), had, strict=True)] == [True, True]
        given_up = [call for call in first.calls if call[0] == "revoke"][len(revocations) :]
        assert given_up[0] == ("revoke", sorted(number for _, number in had[0]))
