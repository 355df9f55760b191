"""Changes of the assignment, by the application (assign() and its kin) or for a rebalance.

Must not know the group but for what it owns: a rebalance says here what it wants (`rebalancing.py`).
Spec: confluent_kafka.Consumer.assign, unassign, incremental_assign, incremental_unassign; KIP-429.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Iterable, Sequence
from contextvars import ContextVar
from typing import Final

from kafka_core.aio.cluster.client import ClusterClient
from kafka_core.aio.consuming.commits import Committer
from kafka_core.aio.consuming.running import Running
from kafka_core.aio.consuming.settings import checked
from kafka_core.aio.consuming.topics import NeededTopics
from kafka_core.aio.tasks.signals import Signal
from kafka_core.engine.consuming.fetch_queue import FetchQueue
from kafka_core.engine.consuming.subscription import Assignment, Key, PartitionState
from kafka_core.engine.groups.states import Event, EventKind
from kafka_core.errors import ConfigError, KafkaException
from kafka_core.model import TopicPartition

caller: Final[ContextVar[Event | None]] = ContextVar("caller", default=None)
"""The rebalance event whose callback makes the call, in whatever thread or task that runs."""


class Assigning:
    """Changes of the assignment. On the loop.

    Args:
        owned: the partitions that the group has given, as long as there is a subscription.
        commit_limit_s: how long the last commit of partitions that are given up may take; None: commits are not
            automatic.
        fetch_again: set when other partitions are to be fetched.

    Attributes:
        event: the rebalance event whose callback runs now.
        decided: that callback has made the assignment itself.
        ended: that callback has ended the subscription.
    """

    def __init__(
        self,
        assignment: Assignment,
        queue: FetchQueue,
        client: ClusterClient,
        running: Running,
        topics: NeededTopics,
        committer: Committer,
        fetch_again: Signal,
        owned: Callable[[], frozenset[Key]],
        commit_limit_s: float | None,
    ) -> None:
        self.event: Event | None = None
        self.decided = False
        self.ended = False
        self._assignment = assignment
        self._queue = queue
        self._client = client
        self._running = running
        self._topics = topics
        self._committer = committer
        self._fetch_again = fetch_again
        self._owned = owned
        self._commit_limit_s = commit_limit_s
        self._changing = asyncio.Lock()

    # ---- for the application

    async def assign(self, partitions: Sequence[TopicPartition]) -> None:
        """Reads exactly these partitions from now on, each from its `offset` (OFFSET_INVALID: the committed one).

        Partitions read now are given up first, with a last commit of stored offsets, as in `give_up`.

        Raises:
            TypeError: not a list of TopicPartition.
            ConfigError: a partition is named twice, or cannot be read from its offset; nothing has changed then.
            StateError: closed.
        """
        items = checked(partitions)
        await self._running.start()
        mine = self._groups_part()
        self.decided = True
        await self.replace(items, mine)

    async def unassign(self) -> None:
        """Gives up all partitions, with a last commit of stored offsets."""
        await self.assign([])

    async def incremental_assign(self, partitions: Sequence[TopicPartition]) -> None:
        """Reads these partitions as well; a cooperative rebalance adds its share so (KIP-429).

        One that a group has given which is being left begins anew, as the application's own.

        Raises:
            TypeError: not a list of TopicPartition.
            ConfigError: a partition is assigned already; nothing has changed then.
            StateError: closed.
        """
        items = checked(partitions)
        await self._running.start()
        mine = self._groups_part()
        keys = {(item.topic, item.partition) for item in items}
        left = {state.key for state in self._assignment if state.from_group} & (keys - mine)
        self._assignment.check(items, besides=left)
        if left:
            await self.give_up(left, commit=self._may_commit())
        self.add(items, mine)
        self.decided = True

    async def incremental_unassign(self, partitions: Sequence[TopicPartition]) -> None:
        """Gives up these partitions, with a last commit of stored offsets; the others are read on (KIP-429).

        Raises:
            TypeError: not a list of TopicPartition.
            ConfigError: a partition is not assigned; nothing has changed then.
            StateError: closed.
        """
        keys = [(item.topic, item.partition) for item in checked(partitions)]
        await self._running.start()
        if keys and not len(self._assignment):
            raise ConfigError("Can't subtract from empty assignment")
        for topic, number in keys:
            if (topic, number) not in self._assignment:
                raise ConfigError(f"{topic} [{number}] can't be unassigned since it is not in the current assignment")
        self.decided = True
        await self.give_up(keys, commit=self._may_commit())

    # ---- for rebalances, too

    def begin(self, event: Event) -> None:
        """The callback of a rebalance is about to run."""
        self.event, self.decided, self.ended = event, False, False

    def subscription_ends(self) -> None:
        """Later assignments are the application's: not the group's, unless a callback makes one just now."""
        self.ended = self.ended or self._in_callback()

    def _in_callback(self) -> bool:
        return self.event is not None and caller.get() is self.event

    def _groups_part(self) -> frozenset[Key]:
        """The partitions that the group has given, or gives with the event whose callback makes this call."""
        event = self.event
        if event is None or event.kind is not EventKind.ASSIGN or self.ended or not self._in_callback():
            return self._owned()
        return self._owned() | event.partitions

    async def replace(self, partitions: Sequence[TopicPartition], from_group: frozenset[Key]) -> None:
        """Replaces the partitions read by these; `assign` without its checks of the argument.

        Calls are carried out in their order. One that is cancelled while the last commit runs replaces all the same.
        """
        Assignment().add(partitions)  # refuses what can't be assigned before anything is given up
        async with self._changing:
            try:
                await self.give_up([state.key for state in self._assignment], commit=self._may_commit())
            finally:
                if not self._running.closing:
                    self.add(partitions, from_group)

    def add(self, partitions: Sequence[TopicPartition], from_group: frozenset[Key]) -> None:
        """Reads these partitions as well, at once; metadata of topics that are not known yet is fetched meanwhile.

        Args:
            from_group: the group's partitions; others are the application's alone.
        """
        for state in self._assignment.add(partitions):
            state.from_group = state.key in from_group
        self._topics.track()
        if unknown := self._topics.unknown_assigned():
            self._running.spawn(self._learn(unknown))
        self._fetch_again.set()

    async def give_up(self, keys: Iterable[Key], *, commit: bool) -> None:
        """Forgets these partitions and their queued records; unassigned keys are skipped.

        Args:
            commit: commit their stored offsets, if commits are automatic. A failure is logged, not raised.
        """
        removed = self._assignment.remove(keys)
        for state in removed:
            self._queue.drop(state)
        self._fetch_again.set()
        if commit:
            await self.commit_stored(removed)

    async def commit_stored(self, states: Sequence[PartitionState]) -> None:
        """Commits stored offsets of partitions given up, if commits are automatic."""
        if self._commit_limit_s is not None:
            await self._committer.commit_last(states, self._commit_limit_s)

    # ---- inside

    def _may_commit(self) -> bool:
        return self.event is None or self.event.kind is not EventKind.LOST

    async def _learn(self, topics: Sequence[str]) -> None:
        with contextlib.suppress(KafkaException):  # told by on_error, and tried again by the position finder
            await self._client.refresh_metadata(topics)
