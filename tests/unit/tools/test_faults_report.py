"""The tables say what the verdicts say, and every missed goal has its line."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest

from tools.faults.cluster import java_hash
from tools.faults.judge import Change, GroupVerdict, MemberHistory, ProducerVerdict
from tools.faults.report import WRONG_GROUP, WRONG_PRODUCER, Seconds, is_slower, report
from tools.faults.round import PROTOCOLS, RoundResult, as_json, from_json, group_name
from tools.faults.scenarios import FAULTS, NODES, PARTITIONS, spread

RIGHT_PRODUCER = ProducerVerdict(
    acked=100, lost=0, doubled=0, disordered=0, failed=0, unreported=0, silence_s=9.0, wait_s=9.5
)
RIGHT_GROUP = GroupVerdict(
    delivered=200, lost=0, skipped=0, doubled=0, again=3, disordered=0, unknown=0,
    silence_s=9.2, lag_s=0.3, commit_silence_s=5.0,
)  # fmt: skip


def result(number: int = 0, **of_ours: Any) -> RoundResult:
    """A round of `leader` in which all went well, but for what is said of ours."""
    crashes = of_ours.pop("crashes", [])
    producer = {name: of_ours.pop(name) for name in list(of_ours) if name.startswith("producer_")}
    ours = replace(RIGHT_PRODUCER, **{name.removeprefix("producer_"): value for name, value in producer.items()})
    groups = {(client, protocol): RIGHT_GROUP for client in ("kserdes", "confluent") for protocol in PROTOCOLS}
    groups["kserdes", "eager"] = replace(RIGHT_GROUP, **of_ours)
    return RoundResult("leader", number, 1, {"kserdes": ours, "confluent": RIGHT_PRODUCER}, groups, crashes, {})


def misses(*results: RoundResult) -> list[str]:
    return report(FAULTS, results, "").misses


def test_all_is_well() -> None:
    made = report(FAULTS, [result(0), result(1), result(2)], "This machine.")
    assert made.misses == []
    assert "Every goal is met." in made.page
    assert "This machine." in made.page
    row = "| kill -9 of a leader | kserdes | 3 | 300 | 0, 0, kept | 0, 0, kept | 0, 0, kept | 9 / 9 |  |"
    assert row in made.page
    assert "| kill -9 of a leader | 9.0 (9.0 to 9.0) / 9.0 (9.0 to 9.0) |" in made.page
    assert "rolling restart |" not in made.page  # no rounds, no row


@pytest.mark.parametrize("name", WRONG_PRODUCER)
def test_an_error_of_the_producer_in_one_round_is_a_miss(name: str) -> None:
    assert misses(result(), result(**{f"producer_{name}": 2})) == [f"kill -9 of a leader: 2 {name}"]


@pytest.mark.parametrize("name", WRONG_GROUP)
def test_an_error_of_a_group_in_one_round_is_a_miss(name: str) -> None:
    assert misses(result(), result(**{name: 2})) == [f"kill -9 of a leader: 2 {name}"]


def test_a_process_that_ended_by_itself_is_a_miss_if_it_is_ours() -> None:
    crashed = result(crashes=["kserdes-eager-1 ended with -11: no words", "confluent-producer ended with 1: oh"])
    assert misses(crashed) == ["kill -9 of a leader: kserdes-eager-1 ended with -11: no words"]


def test_a_slower_median_is_a_miss_and_bold() -> None:
    slow = [result(silence_s=12.0), result(silence_s=9.0), result(silence_s=12.5)]
    made = report(FAULTS, slow, "")
    assert made.misses == ["kill -9 of a leader, eager group: 12.0 (9.0 to 12.5) s, confluent-kafka 9.2 (9.2 to 9.2) s"]
    assert "| **12.0 (9.0 to 12.5)** / 9.2 (9.2 to 9.2) |" in made.page


@pytest.mark.parametrize(
    ("ours", "peer", "slower"),
    [
        ([0.6], [0.2], False),  # half a second is noise
        ([0.8], [0.2], True),
        ([10.9], [10.0], False),  # a tenth is noise
        ([11.2], [10.0], True),
        ([12.0], [9.0, 10.0, 13.0], False),  # the peer's own spread is noise
        ([14.5], [9.0, 10.0, 13.0], True),
        ([1.0, 1.0, 60.0], [1.0], False),  # the median counts
    ],
)
def test_slower_is_more_than_noise(ours: list[float], peer: list[float], slower: bool) -> None:
    assert is_slower(Seconds(tuple(ours)), Seconds(tuple(peer))) is slower


def test_results_are_kept_whole() -> None:
    one = result(crashes=["kserdes-producer ended with 1: oh"])
    assert from_json(json.loads(json.dumps(as_json(one)))) == one


def test_a_group_s_name_leads_to_its_coordinator() -> None:
    assert (java_hash("hello"), java_hash("polygenelubricants")) == (99162322, -(2**31))
    for slot in range(4):
        assert abs(java_hash(group_name("some", slot, 4))) % 4 == slot


def test_a_members_changes_add_up_to_its_partitions() -> None:
    changes = [("assigned", (0, 1, 2)), ("revoked", (1,)), ("assigned", ()), ("assigned", (5,)), ("lost", (0, 2))]
    assert MemberHistory(changes=[Change(0.0, kind, parts) for kind, parts in changes]).owned() == {5}


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name)
def test_the_victim_leads_a_third_or_nothing(fault: Any) -> None:
    for victim in NODES:
        replicas = fault.replicas(victim)
        assert len(replicas) == PARTITIONS
        assert all(len(set(nodes)) == fault.copies for nodes in replicas)
        assert sum(nodes[0] == victim for nodes in replicas) == (PARTITIONS // 3 if fault.leads else 0)


def test_each_move_changes_every_leader() -> None:
    plans = [spread(NODES, 2, shift) for shift in (0, 1, 2, 0)]
    for before, after in pairwise(plans):
        assert all(old[0] != new[0] for old, new in zip(before, after, strict=True))
