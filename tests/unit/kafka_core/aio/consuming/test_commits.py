"""kafka_core.aio.consuming.commits: what is committed when, in which order, and who hears of it."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from kafka_core.aio.consuming.commits import Committer, with_errors
from kafka_core.aio.consuming.events import CommitDone, Item
from kafka_core.engine.consuming.offsets import Commits, Committed, ConsumerGroupMetadata
from kafka_core.engine.consuming.subscription import Assignment, Key
from kafka_core.errors import BrokerError, ConfigError, KafkaError, KafkaException, NetworkError
from kafka_core.model import OFFSET_BEGINNING, OFFSET_END, OFFSET_INVALID, OFFSET_STORED, TopicPartition
from tests.faults.loop import on_loop, outcome, until

T0, T1 = ("t", 0), ("t", 1)


class FakeRpc:
    """Takes commits; `answers` are error codes per partition or exceptions, then everything succeeds."""

    def __init__(self) -> None:
        self.taken: list[dict[Key, int]] = []
        self.answers: list[dict[Key, int] | Exception] = []
        self.gate = asyncio.Event()
        self.gate.set()

    def limit_s(self, timeout_s: float | None) -> float:
        return 60.0 if timeout_s is None else timeout_s

    async def commit(
        self, identity: Callable[[], ConsumerGroupMetadata], commits: Commits, timeout_s: float | None = None
    ) -> dict[Key, int]:
        identity()
        self.taken.append({key: item.offset for key, item in commits.items()})
        await self.gate.wait()
        answer = self.answers.pop(0) if self.answers else {}
        if isinstance(answer, Exception):
            raise answer
        return answer


class FakeMembership:
    def __init__(self) -> None:
        self.rejected: list[int] = []
        self.generation = self.named = 3
        self.wants_membership = True
        self.in_rebalance = False

    def identity(self) -> ConsumerGroupMetadata:
        return ConsumerGroupMetadata("g", self.named, "m")

    @property
    def term(self) -> ConsumerGroupMetadata:
        return self.identity()

    def commit_rejected(self, code: int, member_id: str, generation: int) -> None:
        assert (member_id, generation) == ("m", self.generation)
        self.rejected.append(code)


class Rig:
    """A committer for two assigned partitions, and all it says."""

    def __init__(self) -> None:
        self.assignment = Assignment()
        self.assignment.add([TopicPartition(topic, number, 0) for topic, number in (T0, T1)])
        self.rpc, self.membership = FakeRpc(), FakeMembership()
        self.told: list[CommitDone] = []
        self.group_changed = asyncio.Event()
        membership: Any = self.membership
        rpc: Any = self.rpc
        self.progress = asyncio.Event()
        self.committer = Committer(self.assignment, membership, rpc, self.tell, self.group_changed, self.progress)

    def tell(self, item: Item) -> None:
        assert isinstance(item, CommitDone)
        self.told.append(item)

    def store(self, **offsets: int) -> None:
        """`p0=5`: the offset stored for partition 0."""
        for name, offset in offsets.items():
            self.state(int(name[1:])).stored = offset

    def state(self, number: int) -> Any:
        return self.assignment.require(("t", number), "")


# ---- what


@on_loop
async def test_without_arguments_it_is_what_is_stored_and_new() -> None:
    rig = Rig()
    rig.store(p0=5, p1=7)
    rig.state(1).committed = 7
    assert rig.committer.pick(None) == {T0: Committed(5)}
    rig.state(0).committed = 5
    assert rig.committer.pick(None) == {}


@on_loop
async def test_nothing_to_commit_is_raised_to_who_waits_and_told_to_who_does_not() -> None:
    rig = Rig()
    error = await outcome(rig.committer.commit({}))
    assert isinstance(error, KafkaException)
    assert error.code == KafkaError._NO_OFFSET
    await rig.committer.commit_later({})
    await rig.committer.commit_later({}, [TopicPartition("u", 3)])
    assert [(item.error and item.error.code(), item.partitions) for item in rig.told] == [
        (KafkaError._NO_OFFSET, [TopicPartition("t", 0), TopicPartition("t", 1)]),
        (KafkaError._NO_OFFSET, [TopicPartition("u", 3)]),
    ]
    await rig.committer.auto_commit()
    assert len(rig.told) == 2, "an automatic one says nothing"
    assert rig.rpc.taken == []


@on_loop
async def test_given_offsets_are_taken_as_they_are() -> None:
    rig = Rig()
    given = [TopicPartition("u", 3, 9, "note", 2), TopicPartition("t", 0, OFFSET_INVALID)]
    assert rig.committer.pick(given) == {("u", 3): Committed(9, 2, "note")}
    with pytest.raises(ConfigError):
        rig.committer.pick([TopicPartition("t", 0, -7)])
    assert rig.committer.pick([]) == {}
    logical = (OFFSET_INVALID, OFFSET_STORED, OFFSET_BEGINNING, OFFSET_END)
    assert rig.committer.pick([TopicPartition("t", 0, offset) for offset in logical]) == {}


# ---- how


@on_loop
async def test_a_commit_gives_each_partition_its_own_error_and_remembers_the_rest() -> None:
    rig = Rig()
    rig.rpc.answers = [{T0: 0, T1: KafkaError.OFFSET_METADATA_TOO_LARGE}]
    done = await rig.committer.commit({T0: Committed(5), T1: Committed(6)})
    assert [(item.partition, item.offset, item.error and item.error.code()) for item in done] == [
        (0, 5, None),
        (1, 6, KafkaError.OFFSET_METADATA_TOO_LARGE),
    ]
    assert (rig.state(0).committed, rig.state(1).committed) == (5, OFFSET_INVALID)
    assert rig.told == [], "whoever waits is told by the result"


@on_loop
async def test_a_commit_that_fails_as_a_whole_is_raised_and_the_membership_hears_of_it() -> None:
    rig = Rig()
    rig.rpc.answers = [BrokerError(KafkaError.ILLEGAL_GENERATION)]
    error = await outcome(rig.committer.commit({T0: Committed(5)}))
    assert isinstance(error, BrokerError)
    assert rig.membership.rejected == [KafkaError.ILLEGAL_GENERATION]
    assert rig.group_changed.is_set()
    assert rig.state(0).committed == OFFSET_INVALID


@on_loop
async def test_a_commit_that_came_between_join_and_sync_is_made_in_the_generation_that_these_lead_to() -> None:
    rig = Rig()
    rig.membership.in_rebalance = True
    rig.rpc.answers = [BrokerError(KafkaError.ILLEGAL_GENERATION), BrokerError(KafkaError.REBALANCE_IN_PROGRESS)]
    commit = asyncio.ensure_future(rig.committer.commit({T0: Committed(5)}))
    await until(lambda: len(rig.rpc.taken) == 1)
    rig.progress.set()  # the join was answered
    await until(lambda: not rig.progress.is_set())
    assert len(rig.rpc.taken) == 1, "it waits for the end"
    rig.membership.named = rig.membership.generation = 4
    rig.membership.in_rebalance = False
    rig.progress.set()
    error = await outcome(commit)
    assert isinstance(error, BrokerError), "no other generation since: that refusal is final"
    assert error.code == KafkaError.REBALANCE_IN_PROGRESS
    assert rig.rpc.taken == [{T0: 5}, {T0: 5}]
    assert rig.membership.rejected == [KafkaError.REBALANCE_IN_PROGRESS]


@on_loop
async def test_what_was_given_up_is_not_tried_again_in_the_next_generation() -> None:
    """Seed 1492 of the simulator (group): it was, without a pause and without an end."""
    rig = Rig()
    membership: Any = rig.membership
    membership.commit_rejected = lambda *_: None
    rig.store(p0=5)
    rig.rpc.gate.clear()
    first = asyncio.ensure_future(rig.committer.commit(rig.committer.pick(None)))
    later = asyncio.ensure_future(rig.committer.commit(rig.committer.pick(None)))
    await until(lambda: rig.rpc.taken)
    rig.assignment.remove([T0])
    rig.membership.named = rig.membership.generation = 4
    rig.rpc.gate.set()
    await first
    error = await outcome(asyncio.wait_for(later, 60))
    assert isinstance(error, KafkaException)
    assert error.code == KafkaError.ILLEGAL_GENERATION


@on_loop
async def test_a_commit_waits_for_a_rebalance_no_longer_than_it_may_take() -> None:
    rig = Rig()
    rig.membership.in_rebalance = True
    rig.rpc.answers = [BrokerError(KafkaError.REBALANCE_IN_PROGRESS)]
    error = await outcome(rig.committer.commit({T0: Committed(5)}, 0.01))
    assert isinstance(error, BrokerError)
    assert error.code == KafkaError.REBALANCE_IN_PROGRESS


@on_loop
async def test_what_was_given_up_before_its_commit_was_sent_is_not_committed_by_the_next_membership() -> None:
    rig = Rig()
    rig.store(p0=5, p1=6)
    rig.rpc.gate.clear()
    first = asyncio.ensure_future(rig.committer.commit(rig.committer.pick(None)))
    later = asyncio.ensure_future(rig.committer.commit(rig.committer.pick(None)))
    given = asyncio.ensure_future(rig.committer.commit(rig.committer.pick([TopicPartition("t", 0, 5)])))
    elsewhere = asyncio.ensure_future(rig.committer.commit(rig.committer.pick([TopicPartition("u", 0, 5)])))
    await until(lambda: rig.rpc.taken)
    rig.assignment.remove([T0])
    rig.assignment.add([TopicPartition("t", 0, 0)])  # it was somebody else's meanwhile, who may have committed more
    rig.membership.named = 4
    rig.rpc.gate.set()
    await first
    for call in (later, given):
        error = await outcome(call)
        assert isinstance(error, KafkaException)
        assert error.code == KafkaError.ILLEGAL_GENERATION
    await elsewhere
    assert rig.rpc.taken == [{T0: 5, T1: 6}, {("u", 0): 5}]
    assert rig.state(0).committed == OFFSET_INVALID, "the answer is about the partition's former life"
    assert rig.state(1).committed == 6


@on_loop
async def test_a_membership_that_kept_its_partitions_commits_in_its_next_generation() -> None:
    rig = Rig()
    rig.store(p0=5)
    commits = rig.committer.pick(None)
    rig.membership.named = 4
    await rig.committer.commit(commits)
    assert rig.rpc.taken == [{T0: 5}]


@on_loop
async def test_commits_go_one_after_the_other_in_the_order_of_the_calls() -> None:
    rig = Rig()
    rig.rpc.gate.clear()
    calls = [asyncio.ensure_future(rig.committer.commit({T0: Committed(offset)})) for offset in (1, 2, 3)]
    await until(lambda: rig.rpc.taken)
    await asyncio.sleep(0.01)
    assert rig.rpc.taken == [{T0: 1}]
    rig.rpc.gate.set()
    await asyncio.gather(*calls)
    assert rig.rpc.taken == [{T0: 1}, {T0: 2}, {T0: 3}]
    assert rig.state(0).committed == 3


@on_loop
async def test_a_cancelled_commit_lets_the_next_one_go() -> None:
    rig = Rig()
    rig.rpc.gate.clear()
    first = asyncio.ensure_future(rig.committer.commit({T0: Committed(1)}))
    await until(lambda: rig.rpc.taken)
    first.cancel()
    await asyncio.gather(first, return_exceptions=True)
    rig.rpc.gate.set()
    await rig.committer.commit({T0: Committed(2)})
    assert rig.rpc.taken == [{T0: 1}, {T0: 2}]


# ---- who hears


@on_loop
async def test_a_commit_nobody_waits_for_is_told_with_its_first_error() -> None:
    rig = Rig()
    await rig.committer.commit_later({T0: Committed(5)})
    rig.rpc.answers = [{T0: 0, T1: KafkaError.OFFSET_METADATA_TOO_LARGE}, NetworkError("cut")]
    await rig.committer.commit_later({T0: Committed(6), T1: Committed(6)})
    await rig.committer.commit_later({T0: Committed(7)})
    assert [item.error and item.error.code() for item in rig.told] == [
        None,
        KafkaError.OFFSET_METADATA_TOO_LARGE,
        KafkaError._TRANSPORT,
    ]
    assert [[part.offset for part in item.partitions] for item in rig.told] == [[5], [6, 6], [7]]


@on_loop
async def test_automatic_commits_happen_only_when_something_is_new_and_none_is_under_way() -> None:
    rig = Rig()
    await rig.committer.auto_commit()
    assert rig.rpc.taken == []
    rig.store(p0=5)
    await rig.committer.auto_commit()
    await rig.committer.auto_commit()
    assert rig.rpc.taken == [{T0: 5}]
    rig.rpc.gate.clear()
    waiting = asyncio.ensure_future(rig.committer.commit({T1: Committed(1)}))
    await until(lambda: len(rig.rpc.taken) == 2)
    rig.store(p0=6)
    await rig.committer.auto_commit()
    assert len(rig.rpc.taken) == 2, "the next interval does it"
    rig.rpc.gate.set()
    await waiting


# ---- the end of partitions


@on_loop
async def test_partitions_that_go_are_committed_and_remembered() -> None:
    rig = Rig()
    rig.store(p0=5, p1=6)
    rig.state(1).committed = 6
    states = rig.assignment.remove([T0, T1])
    await rig.committer.commit_last(states, 1.0)
    assert rig.rpc.taken == [{T0: 5}]
    assert states[0].committed == 5
    (told,) = rig.told
    assert told.error is None
    await rig.committer.commit_last(states, 1.0)
    assert len(rig.rpc.taken) == 1, "nothing is new"


@on_loop
async def test_a_last_commit_that_fails_is_told_and_does_not_stop_the_rebalance(
    caplog: pytest.LogCaptureFixture,
) -> None:
    rig = Rig()
    rig.store(p0=5)
    rig.rpc.answers = [NetworkError("cut"), {T0: KafkaError.TOPIC_AUTHORIZATION_FAILED}]
    states = list(rig.assignment)
    await rig.committer.commit_last(states, 1.0)
    assert "the last commit before giving up partitions failed: cut" in caplog.text
    await rig.committer.commit_last(states, 1.0)
    assert states[0].committed == OFFSET_INVALID
    assert [item.error and item.error.code() for item in rig.told] == [KafkaError._TRANSPORT, None]
    failed = rig.told[1].partitions[0].error
    assert failed is not None
    assert failed.code() == KafkaError.TOPIC_AUTHORIZATION_FAILED


@on_loop
async def test_commits_are_noted_with_their_epochs() -> None:
    rig = Rig()
    await rig.committer.commit({T0: Committed(5, 2)})
    assert (rig.state(0).committed, rig.state(0).committed_epoch) == (5, 2)
    rig.state(0).stored, rig.state(0).stored_epoch = 6, 3
    states = rig.assignment.remove([T0])  # the last commit comes when the partition is given up already
    await rig.committer.commit_last(states, 1.0)
    assert (states[0].committed, states[0].committed_epoch) == (6, 3)


def test_answers_are_put_beside_what_was_asked() -> None:
    commits = {T0: Committed(5, 2, "note"), T1: Committed(6)}
    assert with_errors(commits, {T1: 3}) == {T0: Committed(5, 2, "note"), T1: Committed(6, error_code=3)}


@on_loop
async def test_the_last_commit_comes_behind_those_that_wait() -> None:
    rig = Rig()
    rig.rpc.gate.clear()
    earlier = [asyncio.ensure_future(rig.committer.commit_later({T0: Committed(offset)})) for offset in (1, 2)]
    await until(lambda: rig.rpc.taken)
    rig.store(p0=9)
    last = asyncio.ensure_future(rig.committer.commit_last([rig.state(0)], 10.0))
    await asyncio.sleep(0.01)
    rig.rpc.gate.set()
    await asyncio.gather(*earlier, last)
    assert rig.rpc.taken == [{T0: 1}, {T0: 2}, {T0: 9}]


@on_loop
async def test_a_membership_that_is_lost_commits_nothing_of_its_partitions() -> None:
    rig = Rig()
    rig.membership.named = rig.membership.generation = -1
    rig.store(p0=5)
    commits = rig.committer.pick(None)
    error = await outcome(rig.committer.commit(commits))
    assert isinstance(error, KafkaException)
    assert error.code == KafkaError.ILLEGAL_GENERATION
    assert rig.rpc.taken == []
    rig.membership.wants_membership = False  # assigned by hand, no group is joined
    await rig.committer.commit(commits)
    assert rig.rpc.taken == [{T0: 5}]
