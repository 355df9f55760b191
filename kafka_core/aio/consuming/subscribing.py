"""Subscriptions: topics and patterns become the topics with which a consumer takes part in its group.

Must not know partitions: the group hands those out (`group.py`, `rebalancing.py`).
Spec: confluent_kafka.Consumer.subscribe and unsubscribe; `topic.metadata.refresh.interval.ms` for patterns.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Final

from kafka_core.aio.cluster.client import ClusterClient
from kafka_core.aio.consuming.assigning import Assigning
from kafka_core.aio.consuming.events import Notice, RebalanceCallbacks
from kafka_core.aio.consuming.group import GroupDriver
from kafka_core.aio.consuming.inbox import Inbox
from kafka_core.aio.consuming.polls import Polls
from kafka_core.aio.consuming.rebalancing import Rebalancing
from kafka_core.aio.consuming.running import Running
from kafka_core.aio.consuming.topics import NeededTopics
from kafka_core.aio.tasks.signals import Signal
from kafka_core.clock import Clock
from kafka_core.config import Config
from kafka_core.engine.consuming.subscription import Subscription
from kafka_core.engine.groups.membership import GroupMembership
from kafka_core.engine.metadata import ClusterView
from kafka_core.engine.retry import Backoff, classify
from kafka_core.errors import KafkaException
from kafka_core.kernels import Message

_MS: Final = 1000


class Subscribing:
    """The one subscription of a consumer, kept true to the cluster's metadata. On the loop.

    Args:
        fetch_again: set with new metadata: leaders may have moved.
        group_changed: set when the membership should look for its next step.
    """

    def __init__(
        self,
        config: Config,
        client: ClusterClient,
        clock: Clock,
        backoff: Backoff,
        running: Running,
        topics: NeededTopics,
        assigning: Assigning,
        membership: GroupMembership,
        group: GroupDriver,
        rebalancing: Rebalancing,
        inbox: Inbox,
        polls: Polls,
        fetch_again: Signal,
        group_changed: asyncio.Event,
    ) -> None:
        self._blacklist = config.names("topic.blacklist")
        self._interval_s = config.integer("topic.metadata.refresh.interval.ms") / _MS
        self._client = client
        self._clock = clock
        self._backoff = backoff
        self._running = running
        self._topics = topics
        self._assigning = assigning
        self._membership = membership
        self._group = group
        self._rebalancing = rebalancing
        self._inbox = inbox
        self._polls = polls
        self._fetch_again = fetch_again
        self._group_changed = group_changed
        client.on_metadata(self._on_metadata)

    async def subscribe(self, topics: Sequence[str], callbacks: RebalanceCallbacks) -> None:
        """Replaces the subscription and its callbacks; the group is joined, or rebalances, in the background.

        Raises:
            TypeError: not a list of strings.
            ConfigError: no topic, an empty name, or a pattern that is not a regular expression.
            StateError: closed.
        """
        subscription = Subscription(topics, self._blacklist, by_server=self._membership.server_patterns)
        await self._running.start()
        self._rebalancing.callbacks = callbacks
        self._topics.subscribe(subscription)
        self._polls.last_s = self._clock.monotonic()
        self._group.start()
        if not subscription.has_patterns:
            self._membership.subscribe(subscription.names, subscription.server_pattern)
            self._group_changed.set()
        self._topics.track()
        self._running.spawn(self._watch_topics(subscription))

    async def unsubscribe(self) -> None:
        """Ends the subscription; the group is left in the background, after the callback for its partitions."""
        await self._running.start()
        self.end()
        self._topics.track()

    def end(self) -> None:
        """Ends the subscription, if there is one; the group asks for the partitions back."""
        self._topics.subscription = None
        self._assigning.subscription_ends()
        self._membership.unsubscribe()
        self._group_changed.set()

    async def _watch_topics(self, subscription: Subscription) -> None:
        """Keeps the metadata of a subscription fresh; for patterns that is all topics, now and every interval."""
        attempt = 0
        while self._topics.subscription is subscription:
            try:
                await self._client.refresh_metadata(None if subscription.has_patterns else subscription.names)
            except KafkaException as error:
                if not classify(error).tries_again:
                    self._inbox.tell(Notice(Message(error=error.error)))
                await asyncio.sleep(self._backoff.delay_s(attempt))
                attempt += 1
                continue
            attempt = 0
            if not subscription.has_patterns or self._interval_s <= 0:
                return
            await asyncio.sleep(self._interval_s)

    def _on_metadata(self, view: ClusterView) -> None:
        subscription = self._topics.subscription
        if subscription is not None and not self._running.closing:
            matching = subscription.matching(name for name, topic in view.topics.items() if not topic.is_internal)
            if matching or not subscription.has_patterns:
                self._membership.subscribe(matching, subscription.server_pattern)
            self._membership.metadata_changed(view, self._clock.monotonic())
            self._group_changed.set()
            if subscription.has_patterns:
                self._topics.track()
        self._topics.tell_missing(view)
        self._fetch_again.set()
