"""Sticky groups of kafka-python's consumers and of those of its dialect, on a real broker: who leads, and who stays."""

from __future__ import annotations

import importlib
import threading
import warnings
from collections import Counter
from collections.abc import Collection, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from typing import Any, Final

import pytest

from kafka_core import Producer
from kafka_core.admin import AdminClient, NewTopic
from kserdes.compat.kafka.table import DIALECT
from tests.contract.clusters import unique, wait_until_led
from tests.interop.peers import LIMIT_S, wait_until
from tools.real_kafka import RealKafka

pytestmark = [
    pytest.mark.interop,
    pytest.mark.broker,
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]
with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # it reads its schemas by a deprecated function when imported
    pytest.importorskip("kafka")

PARTITIONS: Final = 6
RECORDS: Final = 10
ASSIGNORS: Final = {
    "sticky": ("coordinator.assignors.sticky.sticky_assignor", "StickyPartitionAssignor"),
    "cooperative-sticky": ("coordinator.assignors.cooperative_sticky", "CooperativeStickyAssignor"),
}


def named(side: str, module: str, name: str) -> Any:
    """A class of kafka-python, or the dialect's of that name."""
    if side == "theirs":
        return getattr(importlib.import_module(f"kafka.{module}".rstrip(".")), name)
    homes = (importlib.import_module(home) for home in DIALECT.homes[module])
    return next(getattr(home, name) for home in homes if hasattr(home, name))


class Member:
    """A consumer of one of both packages, in a thread of its own until the block ends.

    Attributes:
        side: "ours" or "theirs".
        partitions: which it has.
        given_up: which it was told to give up, in the order of the calls.
    """

    def __init__(self, side: str, servers: str, topic: str, group: str, strategy: str) -> None:
        self.side = side
        self.values: list[bytes] = []
        self.partitions: frozenset[int] = frozenset()
        self.given_up: list[int] = []
        self._stop = threading.Event()
        self._thread = ThreadPoolExecutor(1)
        self._done = self._thread.submit(self._run, side, servers, topic, group, strategy)

    def __enter__(self) -> Member:
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.shutdown(wait=False)
        self._done.result(LIMIT_S)

    def on_revoked(self, revoked: Collection[Any]) -> None:
        self.given_up += sorted(each.partition for each in revoked)

    def _run(self, side: str, servers: str, topic: str, group: str, strategy: str) -> None:
        base = named(side, "consumer.subscription_state", "ConsumerRebalanceListener")
        heard = self.on_revoked

        class Listener(base):  # type: ignore[misc, valid-type]
            def on_partitions_revoked(self, revoked: Collection[Any]) -> None:
                heard(revoked)

            def on_partitions_assigned(self, assigned: Collection[Any]) -> None:
                """Positions are those that were committed."""

        reader = named(side, "", "KafkaConsumer")(
            bootstrap_servers=servers,
            group_id=group,
            auto_offset_reset="earliest",
            heartbeat_interval_ms=300,
            metadata_max_age_ms=1000,
            partition_assignment_strategy=[named(side, *ASSIGNORS[strategy])],
        )
        wait_until(lambda: reader.partitions_for_topic(topic), "the topic is known")
        reader.subscribe([topic], listener=Listener())
        while not self._stop.is_set():
            # A second: kafka-python sometimes never takes its share if a poll ends while it joins.
            for messages in reader.poll(1000).values():
                self.values += [message.value for message in messages]
            self.partitions = frozenset(item.partition for item in reader.assignment())
        reader.close()


@pytest.fixture(scope="module")
def admin(real_kafka: RealKafka) -> Iterator[AdminClient]:
    with AdminClient({"bootstrap.servers": real_kafka.bootstrap_servers}) as client:
        yield client


class Group:
    """Members that share a topic, in the order in which they joined, and what they are to have read.

    The one that has been there longest leads. kafka-python writes a version in front of what a sticky member says that
    it has, which no other client does: led by it, ours are even, but it knows nothing of what they had.
    """

    def __init__(self, servers: str, topic: str, strategy: str, members: ExitStack) -> None:
        self.members: list[Member] = []
        self.expected = Counter[bytes]()
        self.read: list[bytes] = []
        self._own = (servers, topic, unique("sticky"), strategy)
        self._open = members

    def keep(self) -> dict[Member, frozenset[int]]:
        """Members whose partitions the leader knows, with those."""
        knows_all = self._own[-1] == "cooperative-sticky" or self.members[0].side == "ours"
        return {each: each.partitions for each in self.members if knows_all or each.side == "theirs"}

    def join(self, side: str) -> Member:
        """Comes in, and waits for shares that are even; those who were there keep what they have of theirs."""
        before = self.keep() if self.members else {}
        member = self._open.enter_context(Member(side, *self._own))
        self.members.append(member)
        self._even()
        for each, partitions in before.items():
            assert each.partitions < partitions
        return member

    def leave(self, member: Member) -> None:
        """Goes, and waits for shares that are even; those who stay keep all that they have."""
        self.members.remove(member)
        before = self.keep()
        member.__exit__()
        self.read += member.values
        self._even()
        for each, partitions in before.items():
            assert each.partitions > partitions

    def _even(self) -> None:
        share = PARTITIONS // len(self.members)

        def shared() -> bool:
            shares = [member.partitions for member in self.members]
            return [len(each) for each in shares] == [share] * len(shares) and len(
                frozenset.union(*shares)
            ) == PARTITIONS

        wait_until(shared, f"{len(self.members)} members have {share} partitions each")

    def write(self) -> None:
        """Records for all partitions, each of which is read by somebody, once."""
        servers, topic, *_ = self._own
        rows = {b"%d-%d-%d" % (len(self.expected), at, n): at for at in range(PARTITIONS) for n in range(RECORDS)}
        with Producer({"bootstrap.servers": servers}) as writer:
            for value, partition in rows.items():
                writer.produce(topic, value, partition=partition)
        self.expected.update(list(rows))
        wait_until(lambda: len(self.seen()) >= sum(self.expected.values()), "all are read")
        assert Counter(self.seen()) == self.expected

    def seen(self) -> list[bytes]:
        """All values read, also by members that have left."""
        return self.read + [value for member in self.members for value in member.values]


@pytest.mark.parametrize("strategy", ASSIGNORS)
@pytest.mark.parametrize("sides", [("ours", "theirs"), ("theirs", "ours")], ids="-".join)
def test_members_of_both_keep_what_they_have(
    admin: AdminClient, real_kafka: RealKafka, sides: tuple[str, str], strategy: str
) -> None:
    """The first leads, until only the second is left. What stays where it is is not even given up for a moment, if the
    assignor is cooperative."""
    topic = unique("topic")
    admin.create_topics([NewTopic(topic, PARTITIONS, 1)])[topic].result(LIMIT_S)
    wait_until_led(admin, {topic: PARTITIONS})
    with ExitStack() as members:
        group = Group(real_kafka.bootstrap_servers, topic, strategy, members)
        first, second = (group.join(side) for side in sides)
        group.write()
        third = group.join(sides[0])
        group.write()
        if strategy == "cooperative-sticky":
            assert not first.partitions & set(first.given_up)
            assert not second.partitions & set(second.given_up)
            assert third.given_up == []
        group.leave(third)
        group.write()
        group.leave(first)
        group.write()
        group.join(sides[0])
        group.write()
