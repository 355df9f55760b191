"""Our range and round-robin assignors give what Kafka's own give, over random groups; our sticky ones no less nearness.

Half of the groups have racks (KIP-881)."""

from __future__ import annotations

import random
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from kafka_core.engine.groups.assignors import ASSIGNORS, GroupMember, Plan, nearness_of, partitions_of
from kafka_core.engine.groups.racks import Nearness
from tests.patience import PROCESS_S
from tools.real_kafka import java

pytestmark = pytest.mark.broker
PROGRAM = Path(__file__).with_name("AssignGroups.java")
GROUPS = 1000


@dataclass(frozen=True)
class Case:
    """A group, and what it shares."""

    strategy: str
    counts: dict[str, int]
    members: list[GroupMember]
    racks: dict[tuple[str, int], frozenset[str]]

    def as_line(self) -> str:
        topics = []
        for topic, count in self.counts.items():
            places = [".".join(sorted(self.racks.get((topic, number), ())) or ["-"]) for number in range(count)]
            topics.append(f"{topic}={'/'.join(places)}")
        rows = [
            f"{item.member_id}|{item.instance_id or '-'}|{item.rack or '-'}|{','.join(sorted(item.topics))}"
            for item in self.members
        ]
        return ";".join([self.strategy, ",".join(topics), *rows])

    def answer(self) -> Plan:
        return ASSIGNORS[self.strategy].assign(self.members, self.counts, self.racks)

    def nearness(self) -> Nearness:
        return nearness_of(self.members, self.racks)

    def near(self, plan: Plan) -> int:
        """The number of partitions that are read from a replica in the same rack."""
        nearness = self.nearness()
        return sum(nearness.near(member_id, key) for member_id, keys in plan.items() for key in keys)


def random_case(rng: random.Random, strategies: Sequence[str], *, same: bool | None = None) -> Case:
    topics = ["a", "b", "c", "d"][: rng.randint(1, 4)]
    counts = {topic: rng.randint(1, 7) for topic in topics if rng.random() < 0.9} or {"a": 1}
    if rng.random() < 0.3:  # as many partitions each: the range assignor keeps equal numbers together
        counts = dict.fromkeys(counts, rng.randint(2, 7))
    same = rng.random() < 0.5 if same is None else same
    shared = frozenset(rng.sample(topics, rng.randint(1, len(topics))))
    with_racks = rng.random() < 0.7
    names = ["x", "y", "z"][: rng.randint(1, 3)]
    members = []
    for number in range(rng.randint(1, 6)):
        chosen = shared if same else frozenset(rng.sample(topics, rng.randint(1, len(topics))))
        instance = f"i{rng.randint(0, 99)}-{number}" if rng.random() < 0.4 else None
        rack = rng.choice([*names, *names, "elsewhere", None]) if with_racks else None
        members.append(GroupMember(f"m{rng.randint(0, 99)}-{number}", chosen, instance, rack=rack))
    racks = {}
    if rng.random() < 0.9:
        replicas = rng.randint(1, len(names))
        for key in partitions_of([GroupMember("", frozenset(topics))], counts):
            racks[key] = frozenset(rng.sample(names, replicas if rng.random() < 0.9 else 0))
    return Case(rng.choice(strategies), counts, members, racks)


def theirs(cases: Sequence[Case], jars: Path) -> list[Plan]:
    """The plans of Kafka's own assignors."""
    done = subprocess.run(
        [java(), "-cp", f"{jars}/*", str(PROGRAM)],
        input="".join(f"{case.as_line()}\n" for case in cases),
        capture_output=True,
        text=True,
        timeout=PROCESS_S,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    plans: list[Plan] = []
    for line in done.stdout.splitlines():
        plan: Plan = {}
        for part in line.split(";"):
            member_id, _, words = part.partition("=")
            pairs = [word.split(":") for word in words.split(",") if word]
            plan[member_id] = [(topic, int(number)) for topic, number in pairs]
        plans.append(plan)
    assert len(plans) == len(cases)
    return plans


def test_range_and_roundrobin_equal_the_java_clients(kafka_jars: Path) -> None:
    rng = random.Random(4)
    cases = [random_case(rng, ["range", "range", "roundrobin"]) for _ in range(GROUPS)]
    for case, plan in zip(cases, theirs(cases, kafka_jars), strict=True):
        ours = {member_id: sorted(keys) for member_id, keys in case.answer().items()}
        assert ours == plan, case.as_line()


def test_sticky_assignments_are_as_balanced_as_those_of_the_java_clients_and_no_farther(kafka_jars: Path) -> None:
    """The members' partitions differ, but not the sizes of shares, nor are fewer read in their own rack."""
    rng = random.Random(5)
    drawn = [random_case(rng, ["sticky", "cooperative-sticky"], same=True) for _ in range(GROUPS)]
    cases = [case for case in drawn if case.nearness().matters(partitions_of(case.members, case.counts))]
    nearer = 0
    for case, plan in zip(cases, theirs(cases, kafka_jars), strict=True):
        ours = case.answer()
        assert sorted(map(len, ours.values())) == sorted(map(len, plan.values())), case.as_line()
        assert case.near(ours) >= case.near(plan), case.as_line()
        nearer += case.near(ours) > case.near(plan)
    assert len(cases) > GROUPS / 4
    assert nearer < len(cases) / 4, "Java's leave many far away: is it given the racks at all?"
