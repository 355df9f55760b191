"""The topics that a consumer needs metadata of, and those of them that the cluster does not have.

Must not know who changes the subscription or the assignment.
Spec: confluent_kafka: a subscribed topic that is not there is told once, as a Message.
"""

from __future__ import annotations

from kafka_core.aio.cluster.client import ClusterClient
from kafka_core.aio.consuming.events import Notice
from kafka_core.aio.consuming.inbox import Inbox
from kafka_core.engine.consuming.subscription import Assignment, Subscription
from kafka_core.engine.groups.membership import GroupMembership
from kafka_core.engine.metadata import ClusterView
from kafka_core.engine.retry import classify
from kafka_core.errors import KafkaError
from kafka_core.kernels import Message


class NeededTopics:
    """Subscribed topics, assigned ones, and as the leader of a group those of all its members.

    Attributes:
        subscription: what was subscribed to; None without a subscription.
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

    def unknown_assigned(self) -> list[str]:
        """Assigned topics that the metadata does not have yet."""
        return [name for name in self._assignment.topics() if name not in self._client.metadata.topics]

    def tell_missing(self, view: ClusterView) -> None:
        """Tells once about every topic that the cluster does not have (or does not let us see)."""
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
