"""The classic group protocol with its time-outs; answers were compared with a real Kafka 4.3.1."""

from __future__ import annotations

import random
from typing import Any

import pytest

from kafka_core.broker.codes import Code
from kafka_core.broker.groups.classic_coordinator import (
    NEW_MEMBER_JOIN_TIMEOUT_MS,
    GroupCoordinator,
    GroupSettings,
    JoinCall,
)
from kafka_core.broker.groups.classic_groups import Group, GroupState, JoinResult, Protocols, SyncResult
from kafka_core.broker.parking import Pending, Timers
from kafka_core.clock import ManualClock

SESSION_MS = 10_000
REBALANCE_MS = 5_000
RANGE: Protocols = [("range", b"r")]


class Coordination:
    """A coordinator and its clock."""

    def __init__(self, initial_delay_ms: int = 0, max_size: int = 100) -> None:
        self.clock = ManualClock()
        self.timers = Timers(self.clock)
        settings = GroupSettings(6_000, 60_000, initial_delay_ms, max_size, 100)
        self.coordinator = GroupCoordinator(self.clock, self.timers, random.Random(1), settings)

    @property
    def group(self) -> Group:
        return self.coordinator.groups["g"]

    def join(self, member_id: str = "", **changes: Any) -> Pending[JoinResult]:
        facts: dict[str, Any] = {
            "group_id": "g",
            "member_id": member_id,
            "instance_id": None,
            "client_id": "c",
            "client_host": "/h",
            "session_timeout_ms": SESSION_MS,
            "rebalance_timeout_ms": REBALANCE_MS,
            "protocol_type": "consumer",
            "protocols": RANGE,
            "requires_known_id": False,
            "supports_skipping_assignment": True,
        }
        return self.coordinator.join(JoinCall(**{**facts, **changes}))

    def sync(self, result: JoinResult, assignments: dict[str, bytes] | None = None) -> Pending[SyncResult]:
        return self.coordinator.sync("g", result.member_id, None, result.generation, None, None, assignments or {})

    def beat(self, result: JoinResult) -> Code:
        return self.coordinator.heartbeat("g", result.member_id, None, result.generation)

    def advance(self, seconds: float) -> None:
        self.clock.advance(seconds)
        self.timers.run_due()

    def stable(self, **changes: Any) -> JoinResult:
        """A group of one member that has its assignment."""
        result = self.join(**changes).value
        synced = self.coordinator.sync(
            "g", result.member_id, changes.get("instance_id"), result.generation, None, None, {result.member_id: b"A"}
        )
        assert synced.value.assignment == b"A"
        return result

    def pair(self) -> tuple[JoinResult, JoinResult]:
        """A stable group of two."""
        first = self.stable()
        other = self.join()
        again = self.join(first.member_id).value
        waiting = self.sync(other.value)
        assert not waiting.done
        self.sync(again, {again.member_id: b"A", other.value.member_id: b"B"})
        assert waiting.value.assignment == b"B"
        return again, other.value


@pytest.fixture
def it() -> Coordination:
    return Coordination()


def test_the_first_member_leads_and_is_told_all(it: Coordination) -> None:
    result = it.join().value
    assert result.code is Code.NONE
    assert (result.generation, result.leader, result.protocol_name) == (1, result.member_id, "range")
    assert [member.metadata for member in result.members] == [b"r"]
    assert result.member_id.startswith("c-")
    assert it.group.state is GroupState.COMPLETING


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"group_id": ""}, Code.INVALID_GROUP_ID),
        ({"session_timeout_ms": 5_999}, Code.INVALID_SESSION_TIMEOUT),
        ({"session_timeout_ms": 60_001}, Code.INVALID_SESSION_TIMEOUT),
        ({"member_id": "nobody"}, Code.UNKNOWN_MEMBER_ID),
        ({"protocols": []}, Code.INCONSISTENT_GROUP_PROTOCOL),
        ({"protocol_type": ""}, Code.INCONSISTENT_GROUP_PROTOCOL),
    ],
)
def test_joins_that_are_refused(it: Coordination, changes: dict[str, Any], code: Code) -> None:
    assert it.join(**changes).value.code is code


def test_a_full_group_takes_nobody_else() -> None:
    it = Coordination(max_size=1)
    it.stable()
    assert it.join().value.code is Code.GROUP_MAX_SIZE_REACHED


def test_a_new_client_first_gets_an_id_to_come_back_with(it: Coordination) -> None:
    promise = it.join(requires_known_id=True).value
    assert promise.code is Code.MEMBER_ID_REQUIRED
    assert it.group.members == {}
    assert it.join(promise.member_id, requires_known_id=True).value.code is Code.NONE
    assert it.group.promised_ids == {}


def test_a_promised_id_is_waited_for_and_forgotten_in_time(it: Coordination) -> None:
    first = it.stable()
    promise = it.join(requires_known_id=True).value
    it.join()
    again = it.join(first.member_id)
    assert not again.done
    it.advance(REBALANCE_MS / 1000)
    assert again.value.code is Code.NONE
    it.advance(SESSION_MS / 1000)
    assert it.group.promised_ids == {}
    assert it.join(promise.member_id).value.code is Code.UNKNOWN_MEMBER_ID


def test_a_promised_id_can_be_given_back(it: Coordination) -> None:
    promise = it.join(requires_known_id=True).value
    assert it.coordinator.leave("g", promise.member_id, None) is Code.NONE
    assert it.join(promise.member_id).value.code is Code.UNKNOWN_MEMBER_ID


def test_two_members_share_one_generation(it: Coordination) -> None:
    first, second = it.pair()
    assert (first.generation, second.generation) == (2, 2)
    assert {member.member_id for member in first.members} == {first.member_id, second.member_id}
    assert second.members == ()
    assert it.beat(first) is Code.NONE


def test_members_hear_of_a_rebalance_by_their_heartbeats(it: Coordination) -> None:
    first = it.stable()
    waiting = it.join()
    assert it.beat(first) is Code.REBALANCE_IN_PROGRESS
    assert it.sync(first).value.code is Code.REBALANCE_IN_PROGRESS
    assert not waiting.done
    it.join(first.member_id)
    assert waiting.value.code is Code.NONE
    assert it.beat(first) is Code.ILLEGAL_GENERATION


def test_a_member_that_misses_the_rebalance_is_out(it: Coordination) -> None:
    first = it.stable()
    waiting = it.join()
    it.advance(REBALANCE_MS / 1000)
    assert waiting.value.leader == waiting.value.member_id
    assert it.beat(first) is Code.UNKNOWN_MEMBER_ID
    assert list(it.group.members) == [waiting.value.member_id]


def test_a_member_without_heartbeats_is_out_and_the_others_rebalance(it: Coordination) -> None:
    first, second = it.pair()
    it.advance(SESSION_MS / 1000 - 1)
    assert it.beat(first) is Code.NONE
    it.advance(1)
    assert list(it.group.members) == [first.member_id]
    assert it.beat(second) is Code.UNKNOWN_MEMBER_ID
    assert it.beat(first) is Code.REBALANCE_IN_PROGRESS


def test_members_that_wait_are_not_timed_out(it: Coordination) -> None:
    first = it.stable(rebalance_timeout_ms=60_000)
    second = it.join()
    again = it.join(first.member_id, rebalance_timeout_ms=60_000).value
    it.sync(second.value)
    it.advance(SESSION_MS / 1000 + 1)
    assert second.value.member_id in it.group.members
    assert again.member_id not in it.group.members


def test_a_new_member_whose_group_never_completes_is_dropped_after_five_minutes() -> None:
    it = Coordination(initial_delay_ms=3_600_000)
    waiting = it.join(rebalance_timeout_ms=3_600_000)
    it.advance(NEW_MEMBER_JOIN_TIMEOUT_MS / 1000)
    assert waiting.value.code is Code.UNKNOWN_MEMBER_ID


def test_members_that_do_not_sync_in_time_are_out(it: Coordination) -> None:
    result = it.join().value
    it.advance(REBALANCE_MS / 1000)
    assert it.group.members == {}
    assert it.group.state is GroupState.EMPTY
    assert it.sync(result).value.code is Code.UNKNOWN_MEMBER_ID


def test_a_sync_that_waits_is_called_off_by_a_new_rebalance(it: Coordination) -> None:
    first = it.stable()
    second = it.join()
    it.join(first.member_id)
    waiting = it.sync(second.value)
    it.join()
    assert waiting.value.code is Code.REBALANCE_IN_PROGRESS


def test_leaving_starts_a_rebalance(it: Coordination) -> None:
    first, second = it.pair()
    assert it.coordinator.leave("g", second.member_id, None) is Code.NONE
    assert it.coordinator.leave("g", second.member_id, None) is Code.UNKNOWN_MEMBER_ID
    assert it.beat(first) is Code.REBALANCE_IN_PROGRESS
    again = it.join(first.member_id).value
    assert again.generation == 3
    assert it.coordinator.leave("g", first.member_id, None) is Code.NONE
    assert it.group.state is GroupState.EMPTY
    assert it.coordinator.leave("nope", "m", None) is Code.UNKNOWN_MEMBER_ID


def test_leaving_while_others_wait_lets_them_go_on(it: Coordination) -> None:
    first, second = it.pair()
    waiting = it.join(first.member_id)
    assert not waiting.done
    it.coordinator.leave("g", second.member_id, None)
    assert waiting.value.code is Code.NONE


def test_joining_again_unchanged_repeats_the_answer_to_a_follower_only(it: Coordination) -> None:
    first, second = it.pair()
    assert it.join(second.member_id).value.generation == 2
    before = it.group.state
    assert not it.join(first.member_id).done
    assert (before, it.group.state) == (GroupState.STABLE, GroupState.PREPARING)


def test_joining_again_with_other_metadata_starts_a_rebalance(it: Coordination) -> None:
    _, second = it.pair()
    it.join(second.member_id, protocols=[("range", b"other")])
    assert it.group.state is GroupState.PREPARING


def test_joining_again_before_the_sync_repeats_the_answer(it: Coordination) -> None:
    result = it.join().value
    assert it.join(result.member_id).value == result


def test_a_join_sent_twice_answers_the_first_so_that_nothing_hangs(it: Coordination) -> None:
    it.stable()
    lost = it.join(requires_known_id=False)
    member_id = next(reversed(it.group.members))
    found = it.join(member_id)
    assert lost.value.code is Code.REBALANCE_IN_PROGRESS
    assert not found.done


@pytest.mark.parametrize(
    ("generation", "protocol_type", "protocol_name", "code"),
    [
        (9, None, None, Code.ILLEGAL_GENERATION),
        (1, "connect", "range", Code.INCONSISTENT_GROUP_PROTOCOL),
        (1, "consumer", "rr", Code.INCONSISTENT_GROUP_PROTOCOL),
        (1, "consumer", "range", Code.NONE),
    ],
)
def test_a_sync_must_fit(
    it: Coordination, generation: int, protocol_type: str | None, protocol_name: str | None, code: Code
) -> None:
    result = it.stable()
    answer = it.coordinator.sync("g", result.member_id, None, generation, protocol_type, protocol_name, {})
    assert answer.value.code is code


def test_a_first_rebalance_waits_for_more_members_within_the_limit() -> None:
    it = Coordination(initial_delay_ms=3_000)
    first = it.join()
    it.advance(2)
    second = it.join()
    it.advance(1)
    assert not first.done
    it.advance(2)
    assert first.value.generation == second.value.generation == 1
    assert len(first.value.members) == 2


def test_a_first_rebalance_ends_at_once_when_nobody_else_comes() -> None:
    it = Coordination(initial_delay_ms=3_000)
    first = it.join()
    it.advance(3)
    assert first.value.code is Code.NONE


# ---- static members ------------------------------------------------------------------------------------------------


def test_a_static_member_comes_back_without_a_rebalance(it: Coordination) -> None:
    first = it.stable(instance_id="i")
    back = it.join(instance_id="i").value
    assert back.member_id.startswith("i-")
    assert back.member_id != first.member_id
    assert (back.generation, back.skip_assignment, back.leader) == (1, True, back.member_id)
    assert len(back.members) == 1
    assert it.group.state is GroupState.STABLE
    assert it.coordinator.heartbeat("g", first.member_id, "i", 1) is Code.FENCED_INSTANCE_ID
    assert it.coordinator.heartbeat("g", back.member_id, "i", 1) is Code.NONE
    assert it.coordinator.heartbeat("g", "m", "other", 1) is Code.UNKNOWN_MEMBER_ID


def test_an_older_static_leader_is_told_that_its_old_self_leads(it: Coordination) -> None:
    first = it.stable(instance_id="i")
    back = it.join(instance_id="i", supports_skipping_assignment=False).value
    assert (back.leader, back.members, back.skip_assignment) == (first.member_id, (), False)


def test_a_static_member_with_another_protocol_starts_a_rebalance(it: Coordination) -> None:
    it.stable(instance_id="i", protocols=[("range", b""), ("rr", b"")])
    back = it.join(instance_id="i", protocols=[("rr", b""), ("range", b"")]).value
    assert (back.generation, back.protocol_name) == (2, "rr")


def test_the_requests_of_the_old_self_are_fenced(it: Coordination) -> None:
    it.stable(rebalance_timeout_ms=60_000)
    old = it.join(instance_id="i")
    back = it.join(instance_id="i")
    assert old.value.code is Code.FENCED_INSTANCE_ID
    assert not back.done
    first_id = next(iter(it.group.members))
    it.join(first_id, rebalance_timeout_ms=60_000)
    waiting = it.coordinator.sync("g", back.value.member_id, "i", 2, None, None, {})
    it.join(instance_id="i")
    assert waiting.value.code is Code.FENCED_INSTANCE_ID


def test_static_members_keep_their_places_when_nobody_comes_back(it: Coordination) -> None:
    first = it.stable(instance_id="i", session_timeout_ms=60_000)
    it.coordinator.join(
        JoinCall("g", "", None, "c", "/h", 6_000, 1_000, "consumer", RANGE, False, True)  # someone makes it rebalance
    )
    dynamic_id = next(reversed(it.group.members))
    it.coordinator.leave("g", dynamic_id, None)
    it.advance(REBALANCE_MS / 1000)
    assert it.group.state is GroupState.PREPARING
    assert list(it.group.static_ids) == ["i"]
    again = it.join(first.member_id, instance_id="i")
    assert again.value.code is Code.NONE


def test_a_static_member_leaves_by_its_instance_id(it: Coordination) -> None:
    it.stable(instance_id="i")
    assert it.coordinator.leave("g", "", "other") is Code.UNKNOWN_MEMBER_ID
    assert it.coordinator.leave("g", "", "i") is Code.NONE
    assert it.group.state is GroupState.EMPTY


# ---- offsets and administration ------------------------------------------------------------------------------------


def admit(it: Coordination, member_id: str, generation: int, instance_id: str | None = None) -> Code:
    return it.coordinator.admit_commit("g", member_id, instance_id, generation, unknown=Code.GROUP_ID_NOT_FOUND)


def test_commits_are_admitted_by_member_and_generation(it: Coordination) -> None:
    assert admit(it, "m", 3) is Code.GROUP_ID_NOT_FOUND
    assert admit(it, "", -1) is Code.NONE
    joined = it.join().value
    assert admit(it, joined.member_id, 1) is Code.REBALANCE_IN_PROGRESS
    it.sync(joined, {})
    assert admit(it, joined.member_id, 1) is Code.NONE
    assert admit(it, joined.member_id, 0) is Code.ILLEGAL_GENERATION
    assert admit(it, "other", 1) is Code.UNKNOWN_MEMBER_ID
    assert admit(it, "", -1) is Code.UNKNOWN_MEMBER_ID


def test_a_commit_is_a_sign_of_life(it: Coordination) -> None:
    joined = it.stable()
    for _ in range(3):
        it.advance(SESSION_MS / 1000 - 1)
        assert admit(it, joined.member_id, 1) is Code.NONE


def test_positions_are_kept_until_their_topic_or_group_goes(it: Coordination) -> None:
    admit(it, "", -1)
    assert it.coordinator.commit("g", "t", 0, 5, 1, None) is Code.NONE
    assert it.coordinator.commit("g", "u", 0, 6, 1, "x" * 101) is Code.OFFSET_METADATA_TOO_LARGE
    entry = it.coordinator.committed("g", "t", 0)
    assert entry is not None
    assert (entry.offset, entry.leader_epoch, entry.metadata) == (5, 1, "")
    assert it.coordinator.committed("g", "u", 0) is None
    assert it.coordinator.committed("nope", "t", 0) is None
    it.coordinator.forget_topic("t")
    assert it.coordinator.committed("g", "t", 0) is None


def test_only_empty_groups_are_deleted(it: Coordination) -> None:
    joined = it.stable()
    assert it.coordinator.delete("g") is Code.NON_EMPTY_GROUP
    it.coordinator.leave("g", joined.member_id, None)
    it.join(requires_known_id=True)
    assert it.coordinator.delete("g") is Code.NONE
    assert it.coordinator.delete("g") is Code.GROUP_ID_NOT_FOUND
    it.advance(SESSION_MS / 1000)


def test_groups_are_listed_by_state(it: Coordination) -> None:
    it.stable()
    it.coordinator.admit_commit("h", "", None, -1, unknown=Code.GROUP_ID_NOT_FOUND)
    assert [group.group_id for group in it.coordinator.list()] == ["g", "h"]
    assert [group.group_id for group in it.coordinator.list(["STABLE", "dead"])] == ["g"]
