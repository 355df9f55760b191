"""Our range and round-robin assignors give what Kafka's own give, over random groups."""

from __future__ import annotations

import random
import subprocess
from pathlib import Path

import pytest

from kafka_core.engine.groups.assignors import ASSIGNORS, GroupMember
from tests.patience import PROCESS_S
from tools.real_kafka import java

pytestmark = pytest.mark.broker
PROGRAM = Path(__file__).with_name("AssignGroups.java")
GROUPS = 400


def random_group(rng: random.Random) -> tuple[str, dict[str, int], list[GroupMember]]:
    topics = ["a", "b", "c", "d"][: rng.randint(1, 4)]
    counts = {topic: rng.randint(1, 7) for topic in topics if rng.random() < 0.9} or {"a": 1}
    same = rng.random() < 0.5
    shared = frozenset(rng.sample(topics, rng.randint(1, len(topics))))
    members = []
    for number in range(rng.randint(1, 6)):
        chosen = shared if same else frozenset(rng.sample(topics, rng.randint(1, len(topics))))
        instance = f"i{rng.randint(0, 99)}-{number}" if rng.random() < 0.4 else None
        members.append(GroupMember(f"m{rng.randint(0, 99)}-{number}", chosen, instance))
    return rng.choice(["range", "roundrobin"]), counts, members


def as_line(strategy: str, counts: dict[str, int], members: list[GroupMember]) -> str:
    topics = ",".join(f"{topic}={count}" for topic, count in counts.items())
    rows = [f"{item.member_id}|{item.instance_id or '-'}|{','.join(sorted(item.topics))}" for item in members]
    return ";".join([strategy, topics, *rows])


def our_answer(strategy: str, counts: dict[str, int], members: list[GroupMember]) -> str:
    plan = ASSIGNORS[strategy].assign(members, counts)
    rows = []
    for member in members:
        keys = ",".join(f"{topic}:{number}" for topic, number in sorted(plan[member.member_id]))
        rows.append(f"{member.member_id}={keys}")
    return ";".join(rows)


def test_range_and_roundrobin_equal_the_java_clients(kafka_jars: Path) -> None:
    rng = random.Random(4)
    groups = [random_group(rng) for _ in range(GROUPS)]
    done = subprocess.run(
        [java(), "-cp", f"{kafka_jars}/*", str(PROGRAM)],
        input="\n".join(as_line(*group) for group in groups) + "\n",
        capture_output=True,
        text=True,
        timeout=PROCESS_S,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    answers = done.stdout.splitlines()
    assert len(answers) == GROUPS
    for group, answer in zip(groups, answers, strict=True):
        assert our_answer(*group) == answer, as_line(*group)
