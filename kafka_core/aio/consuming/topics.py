"""The topics that a consumer needs metadata of, and those of them that the cluster does not have.

Must not know who changes the subscription or the assignment.
Spec: confluent_kafka: a subscribed topic that is not there is told once, as a Message; an assigned partition that its
topic does not have is told to error_cb.
"""

from __future__ import annotations

import logging
import math
from typing import Final

from kafka_core.aio.cluster.client import ClusterClient
from kafka_core.aio.consuming.events import Notice
from kafka_core.aio.consuming.inbox import Inbox
from kafka_core.engine.consuming.subscription import Assignment, Key, Subscription
from kafka_core.engine.groups.membership import GroupMembership
from kafka_core.engine.metadata import ClusterView
from kafka_core.engine.retry import classify
from kafka_core.errors import KafkaError
from kafka_core.kernels import Message

logger: Final = logging.getLogger("kafka_core.consumer")


class NeededTopics:
    """Subscribed topics, assigned ones, and as the leader of a group those of all its members.

    Attributes:
        subscription: its topics; None without one.
    """

    def __init__(
        self, client: ClusterClient, assignment: Assignment, membership: GroupMembership, inbox: Inbox
    ) -> None:
        self.subscription: Subscription | None = None
        self._client = client
        self._assignment = assignment
        self._membership = membership
        self._inbox = inbox
        self._missing: set[str] = set()
        self._suspected: set[Key] = set()
        self._lacking: set[Key] = set()

    def subscribe(self, subscription: Subscription) -> None:
        """There is another subscription; topics that are missing are told again."""
        self.subscription = subscription
        self._missing.clear()

    def track(self) -> None:
        """The subscription, the assignment or the group changed: has the metadata of these topics kept fresh."""
        names = set(self._assignment.topics())
        if self.subscription is not None:
            names |= self.subscription.matching(self._client.metadata.topics)  # plain names only, if the server matches
        if self._membership.is_leader:
            names |= self._membership.group_topics()
        self._client.track_topics(names)
        for name, _ in self._lacked(self._client.metadata) - self._lacking:
            self._client.invalidate(name)

    def unknown_assigned(self) -> list[str]:
        """Assigned topics that the metadata does not have yet."""
        return [name for name in self._assignment.topics() if name not in self._client.metadata.topics]

    def _lacked(self, view: ClusterView) -> set[Key]:
        """Assigned partitions that their topics do not have."""
        counts = {name: view.partition_count(name) for name in self._assignment.topics()}
        return {state.key for state in self._assignment if state.partition >= (counts[state.topic] or math.inf)}

    def tell_missing(self, view: ClusterView) -> None:
        """Tells once about every topic and partition that the cluster does not have (or does not let us see)."""
        lacked = self._lacked(view)
        for name, _ in lacked - self._suspected:
            self._client.invalidate(name)  # it may be new, and the broker that was asked behind: the next one counts
        told, self._suspected = lacked & self._suspected, lacked
        for name, number in sorted(told - self._lacking):
            text = f"{name} [{number}]: the topic has {view.partition_count(name)} partitions, there is no such one"
            logger.warning("%s", text)
            self._inbox.tell_client_error(KafkaError(KafkaError._UNKNOWN_PARTITION, text))
        self._lacking = (self._lacking & lacked) | told
        names = set(self._assignment.topics())
        if self.subscription is not None:
            names |= self.subscription.names
        for name in names:
            topic = view.topics.get(name)
            code = topic.error_code if topic is not None else 0
            if code == KafkaError.UNKNOWN_TOPIC_OR_PART:
                self._client.invalidate(name)  # it may come, or come again: look for it now and then
            if topic is None or (code and classify(code).tries_again and code != KafkaError.UNKNOWN_TOPIC_OR_PART):
                continue
            if not code:
                self._missing.discard(name)
            elif name not in self._missing:
                self._missing.add(name)
                known = KafkaError.from_code(code)
                text = f"Subscribed topic not available: {name}: {known.str()}"
                self._inbox.tell(Notice(Message(topic=name, error=KafkaError(known.code(), text))))
