"""Commits of a consumer: asked for, automatic, and the last ones before partitions go.

Must not know threads or callbacks: results go to the inbox.
Spec: confluent_kafka.Consumer.commit; `enable.auto.commit`, `auto.commit.interval.ms`, `on_commit`.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Final

from kafka_core.aio.consuming.events import CommitDone, Item
from kafka_core.aio.consuming.rpc import ConsumerRpc
from kafka_core.engine.consuming import offsets
from kafka_core.engine.consuming.offsets import Commits, ConsumerGroupMetadata
from kafka_core.engine.consuming.subscription import Assignment, Key, PartitionState
from kafka_core.engine.groups.membership import GroupMembership
from kafka_core.engine.groups.states import NO_GENERATION
from kafka_core.errors import BrokerError, KafkaError, KafkaException
from kafka_core.model import TopicPartition

logger: Final = logging.getLogger("kafka_core.consumer")


MOVED_ON: Final = (
    "the partitions were given up before their offsets could be committed: their new owner may have committed more"
)


BETWEEN_GENERATIONS: Final = frozenset({KafkaError.ILLEGAL_GENERATION, KafkaError.REBALANCE_IN_PROGRESS})
"""A coordinator's refusals of a commit while the member is between the join and the sync of a rebalance."""


class Member:
    """The member that commits: the membership as it is at each try, as long as it still has the partitions.

    Asked for in one membership and sent in the next, a commit would be taken by the coordinator, which does not look
    whose partitions they are, and undo what their new owner has committed.

    Attributes:
        last: the member named last.
    """

    def __init__(
        self,
        commits: Commits,
        assignment: Assignment,
        membership: GroupMembership,
    ) -> None:
        self._membership = membership
        self._commits = commits
        self._assignment = assignment
        self._began = membership.term
        self.last = membership.identity()

    def identity(self) -> ConsumerGroupMetadata:
        """The membership now.

        Raises:
            KafkaException: ILLEGAL_GENERATION, it is another one and partitions were given up meanwhile; or it is lost
                and the partitions with it, though they are not given up yet: without a generation the coordinator
                would take the commit as soon as the group is empty.
        """
        now = self._membership.identity()
        if now.generation_id < 0 and self._membership.wants_membership and any(c.life for c in self._commits.values()):
            raise KafkaException(KafkaError(KafkaError.ILLEGAL_GENERATION, MOVED_ON))
        if self._membership.term != self._began and offsets.given_up(self._commits, self._assignment):
            raise KafkaException(KafkaError(KafkaError.ILLEGAL_GENERATION, MOVED_ON))  # says nothing about `now`
        self.last = now
        return now


class Committer:
    """One commit at a time, in the order of the calls: a later offset is never overwritten by an earlier one.

    Args:
        group_changed: set when a commit was refused for its membership.
        progress: set when the membership has taken a step.
    """

    def __init__(
        self,
        assignment: Assignment,
        membership: GroupMembership,
        rpc: ConsumerRpc,
        tell: Callable[[Item], None],
        group_changed: asyncio.Event,
        progress: asyncio.Event,
    ) -> None:
        self._assignment = assignment
        self._membership = membership
        self._rpc = rpc
        self._tell = tell
        self._group_changed = group_changed
        self._progress = progress
        self._turn = asyncio.Lock()

    def pick(self, partitions: Sequence[TopicPartition] | None) -> Commits:
        """The offsets to commit: the given ones, or those that are stored; maybe none. Any thread.

        Raises:
            ConfigError: a negative offset.
        """
        if partitions is None:
            return offsets.storable(self._assignment)
        return offsets.of_assigned(offsets.from_partitions(partitions), self._assignment)

    async def commit(self, commits: Commits, timeout_s: float | None = None) -> list[TopicPartition]:
        """Commits and gives back the partitions, each with its own error if it failed alone.

        Refused between the join and the sync of a rebalance, it is tried again in the generation that these lead to.

        Raises:
            KafkaException: _NO_OFFSET, there is nothing to commit; or the commit failed as a whole: fenced, a rebalance
                is under way, nobody answered in time.
        """
        if not commits:
            raise KafkaException(KafkaError(KafkaError._NO_OFFSET, "Commit failed: Local: No offset stored"))
        member = Member(commits, self._assignment, self._membership)
        async with self._turn:
            try:
                errors = await self._commit(member, commits, timeout_s)
            except KafkaException as error:
                self._membership.commit_rejected(error.code, member.last.member_id, member.last.generation_id)
                self._group_changed.set()
                raise
            offsets.committed(self._assignment, commits, errors)
        return offsets.to_partitions(with_errors(commits, errors))

    async def _commit(self, member: Member, commits: Commits, timeout_s: float | None) -> dict[Key, int]:
        until_s = asyncio.get_running_loop().time() + self._rpc.limit_s(timeout_s)
        while True:
            try:
                return await self._rpc.commit(member.identity, commits, left_s(until_s))
            except BrokerError as error:  # the coordinator's word: what `identity` refuses stays refused
                named = member.last.generation_id
                if error.code not in BETWEEN_GENERATIONS or not await self._rebalanced(named, left_s(until_s)):
                    raise

    async def _rebalanced(self, generation: int, timeout_s: float) -> bool:
        """Waits for the end of a rebalance, if one is under way; whether another try may go better.

        Since the commit was sent the join may have been answered, and the sync too: then there is another generation.
        """
        membership = self._membership
        another = membership.in_rebalance
        try:
            async with asyncio.timeout(timeout_s):
                while membership.in_rebalance:
                    self._progress.clear()
                    await self._progress.wait()
        except TimeoutError:
            return False
        another = another or membership.generation != generation
        return another and membership.generation != NO_GENERATION

    async def commit_later(self, commits: Commits, partitions: Sequence[TopicPartition] | None = None) -> None:
        """An asynchronous commit: the result goes to on_commit, also that there was nothing to commit.

        Args:
            partitions: the user's; None for the stored offsets.
        """
        if not commits:
            named = self._assignment.partitions() if partitions is None else list(partitions)
            self._tell(CommitDone(KafkaError(KafkaError._NO_OFFSET, "Local: No offset stored"), named))
            return
        try:
            done = await self.commit(commits)
        except KafkaException as error:
            logger.warning("commit failed: %s", error)
            self._tell(CommitDone(error.error, offsets.to_partitions(commits)))
        else:
            first = next((item.error for item in done if item.error is not None), None)
            self._tell(CommitDone(first, done))

    async def auto_commit(self) -> None:
        """Commits the stored offsets, if any is new."""
        commits = offsets.storable(self._assignment)
        if commits and not self._turn.locked():
            await self.commit_later(commits)

    async def commit_last(self, states: Sequence[PartitionState], timeout_s: float) -> None:
        """Commits stored offsets of partitions given up; a failure is reported, not raised."""
        commits = offsets.storable(states)
        if not commits:
            return
        term = self._membership.term  # a later membership must not commit what this one gives up

        def identity() -> ConsumerGroupMetadata:
            if self._membership.term != term:
                raise KafkaException(KafkaError(KafkaError.ILLEGAL_GENERATION, MOVED_ON))
            return self._membership.identity()

        try:
            async with asyncio.timeout(timeout_s), self._turn:  # asynchronous commits that wait must not come behind it
                errors = await self._rpc.commit(identity, commits, timeout_s)
        except TimeoutError:
            logger.warning("the last commit before giving up partitions waited %g s for earlier ones", timeout_s)
            return
        except KafkaException as error:
            logger.warning("the last commit before giving up partitions failed: %s", error)
            self._tell(CommitDone(error.error, offsets.to_partitions(commits)))
            return
        offsets.committed(self._assignment, commits, errors)
        for state in states:
            if state.key in commits and not errors.get(state.key):
                item = commits[state.key]
                state.committed, state.committed_epoch = item.offset, item.leader_epoch
        self._tell(CommitDone(None, offsets.to_partitions(with_errors(commits, errors))))


def left_s(until_s: float) -> float:
    """Seconds until that time of the loop; 0 when it is over."""
    return max(0.0, until_s - asyncio.get_running_loop().time())


def with_errors(commits: Commits, errors: dict[Key, int]) -> Commits:
    """The commits with the answers' error codes."""
    return {key: replace(item, error_code=errors.get(key, 0)) for key, item in commits.items()}
