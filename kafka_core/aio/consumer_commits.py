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

from kafka_core.aio.consumer_events import CommitDone, Item
from kafka_core.aio.consumer_rpc import ConsumerRpc
from kafka_core.engine import offsets
from kafka_core.engine.group_classic import Membership
from kafka_core.engine.offsets import Commits, ConsumerGroupMetadata
from kafka_core.engine.subscription import Assignment, Key, PartitionState
from kafka_core.errors import KafkaError, KafkaException
from kafka_core.model import TopicPartition

logger: Final = logging.getLogger("kafka_core.consumer")


class Committer:
    """One commit at a time, in the order of the calls: a later offset is never overwritten by an earlier one."""

    def __init__(
        self,
        assignment: Assignment,
        membership: Membership,
        rpc: ConsumerRpc,
        identity: Callable[[], ConsumerGroupMetadata],
        tell: Callable[[Item], None],
        poke_group: Callable[[], None],
    ) -> None:
        self._assignment = assignment
        self._membership = membership
        self._rpc = rpc
        self._identity = identity
        self._tell = tell
        self._poke_group = poke_group
        self._turn = asyncio.Lock()

    def pick(self, partitions: Sequence[TopicPartition] | None) -> Commits:
        """What to commit: the given offsets, or those that are stored. Any thread.

        Raises:
            KafkaException: code _NO_OFFSET, there is nothing to commit.
            ConfigError: a negative offset.
        """
        if partitions is None:
            commits = offsets.storable(self._assignment)
        else:
            commits = offsets.from_partitions(partitions)
        if not commits:
            raise KafkaException(KafkaError(KafkaError._NO_OFFSET, "Commit failed: Local: No offset stored"))
        return commits

    async def commit(self, commits: Commits, timeout_s: float | None = None) -> list[TopicPartition]:
        """Commits and gives back the partitions, each with its own error if it failed alone.

        Raises:
            KafkaException: the commit failed as a whole: fenced, a rebalance is under way, nobody answered in time.
        """
        async with self._turn:
            try:
                errors = await self._rpc.commit(self._identity, commits, timeout_s)
            except KafkaException as error:
                self._membership.commit_rejected(error.code)
                self._poke_group()
                raise
            offsets.committed(self._assignment, commits, errors)
        return offsets.to_partitions(with_errors(commits, errors))

    async def commit_later(self, commits: Commits) -> None:
        """An asynchronous commit: the result goes to on_commit."""
        try:
            done = await self.commit(commits)
        except KafkaException as error:
            logger.warning("commit failed: %s", error)
            self._tell(CommitDone(error.error, offsets.to_partitions(commits)))
        else:
            first = next((item.error for item in done if item.error is not None), None)
            self._tell(CommitDone(first, done))

    async def auto_commit(self) -> None:
        """Commits what is stored, if anything is new."""
        commits = offsets.storable(self._assignment)
        if commits and not self._turn.locked():
            await self.commit_later(commits)

    async def commit_last(self, states: Sequence[PartitionState], timeout_s: float) -> None:
        """Commits what is stored of partitions that are given up; failing is only told, not raised."""
        commits: Commits = {
            state.key: offsets.Committed(state.stored, state.stored_epoch, state.stored_metadata)
            for state in states
            if state.stored >= 0 and state.stored != state.committed
        }
        if not commits:
            return
        try:
            async with asyncio.timeout(timeout_s), self._turn:  # asynchronous commits that wait must not come behind it
                errors = await self._rpc.commit(self._identity, commits, timeout_s)
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
                state.committed = commits[state.key].offset
        self._tell(CommitDone(None, offsets.to_partitions(with_errors(commits, errors))))


def with_errors(commits: Commits, errors: dict[Key, int]) -> Commits:
    """The commits with the answers' error codes."""
    return {key: replace(item, error_code=errors.get(key, 0)) for key, item in commits.items()}
