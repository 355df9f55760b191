"""Rebalances: what the group wants changed, the application's callback for it, and what the callback leaves undone.

Must not know requests or threads: the group driver brings events, a face runs the callbacks between `begin` and
`finish`.
Spec: confluent_kafka.Consumer.subscribe: on_assign, on_revoke, on_lost; KIP-429.
"""

from __future__ import annotations

import asyncio
import logging
from typing import Final

from kafka_core.aio.consuming.assigning import Assigning
from kafka_core.aio.consuming.events import Notice, Rebalance, RebalanceCallbacks
from kafka_core.aio.consuming.inbox import Inbox
from kafka_core.aio.consuming.polls import Polls
from kafka_core.aio.consuming.running import Running
from kafka_core.aio.consuming.topics import NeededTopics
from kafka_core.engine.consuming.subscription import Assignment
from kafka_core.engine.groups.membership import GroupMembership
from kafka_core.engine.groups.states import Event, EventKind, State
from kafka_core.errors import KafkaError, KafkaException
from kafka_core.hooks import Hooks
from kafka_core.kernels import Message
from kafka_core.model import TopicPartition

logger: Final = logging.getLogger("kafka_core.consumer")


class Rebalancing:
    """Carries out the events of a group membership; the listener of its `GroupDriver`. On the loop.

    Args:
        group_changed: set when the membership should look for its next step.

    Attributes:
        callbacks: those given to the last subscribe().
    """

    def __init__(
        self,
        membership: GroupMembership,
        assignment: Assignment,
        assigning: Assigning,
        topics: NeededTopics,
        running: Running,
        inbox: Inbox,
        polls: Polls,
        hooks: Hooks,
        group_changed: asyncio.Event,
    ) -> None:
        self.callbacks = RebalanceCallbacks()
        self._membership = membership
        self._assignment = assignment
        self._assigning = assigning
        self._topics = topics
        self._running = running
        self._inbox = inbox
        self._polls = polls
        self._hooks = hooks
        self._group_changed = group_changed

    # ---- from the group driver

    def on_group_error(self, error: KafkaError) -> None:
        """Hands an error of the membership to the application as a message, as librdkafka does."""
        self._polls.expelled = self._membership.state is State.EXPELLED
        self._inbox.tell(Notice(Message(error=error)))

    def on_event(self, event: Event) -> None:
        """Partitions change hands: puts the event into the inbox, for the face to run the application's callback.

        Where there is no callback for it, the event is carried out at once, in the background.
        """
        if self.callbacks.for_event(event) is not None:
            self._inbox.tell(Rebalance(event))
        else:
            self._running.spawn(self._carry_out(event))

    async def _carry_out(self, event: Event) -> None:
        if await self.begin(event):
            await self.finish(event)

    # ---- from the face

    async def begin(self, event: Event) -> bool:
        """The application's callback is about to run; False if the event is no longer true."""
        if self._membership.event is None or self._membership.event.token != event.token:
            return False
        self._membership.started(event)
        self._assigning.begin(event)
        group_id = self._membership.settings.group_id
        self._hooks.on_rebalance(group_id, event.kind.value, sorted(event.partitions))
        return True

    async def finish(self, event: Event) -> None:
        """The callback has returned: assigns or gives up the event's partitions, unless it did so itself.

        Then the membership goes on. Harmless when called again for the same event.
        """
        if self._assigning.event is not event:
            return  # done already
        try:
            if not self._assigning.decided:
                self._assigning.decided = True
                await self._change_assignment(event)
        except KafkaException as error:
            logger.warning("rebalance: %s", error)
        finally:
            self._assigning.event = None
            self._membership.done(event)
            self._topics.track()
            self._group_changed.set()

    async def _change_assignment(self, event: Event) -> None:
        if event.kind is not EventKind.ASSIGN:
            # One that the application has assigned since the subscription ended is not the group's to take.
            states = map(self._assignment.get, event.partitions)
            keys = [state.key for state in states if state is not None and state.from_group]
            await self._assigning.give_up(keys, commit=event.kind is EventKind.REVOKE)
            return
        partitions = [TopicPartition(topic, number) for topic, number in sorted(event.partitions)]
        if event.incremental:
            for state in map(self._assignment.get, event.partitions):
                if state is not None:
                    state.from_group = True
            new = [item for item in partitions if (item.topic, item.partition) not in self._assignment]
            self._assigning.add(new, event.partitions)
        else:
            await self._assigning.replace(partitions, event.partitions)

    def polled(self) -> None:
        """The application polls again after `max.poll.interval.ms` ended its membership: it may join anew."""
        self._membership.polled()
        self._polls.expelled = self._membership.state is State.EXPELLED
        self._group_changed.set()
