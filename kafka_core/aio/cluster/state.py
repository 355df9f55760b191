"""The state of a cluster as its client knows it: the view, when to refresh it, and the listeners to changes.

Must not know connections or requests: answers and events are brought here.
Spec: engine/metadata.py merges answers and says when the next refresh is due.
"""

import asyncio
import logging
from collections.abc import Callable, Iterable
from typing import Final

from kafka_core.aio.cluster.failures import Failures
from kafka_core.clock import Clock
from kafka_core.engine.metadata import BrokerAddress, ClusterView, RefreshPlan, merge, without_old_topics
from kafka_core.errors import KafkaException
from kafka_core.protocol.messages.metadata import MetadataResponse

logger: Final = logging.getLogger("kafka_core.aio")


class ClusterState:
    """Made before everything that connects or asks; those tell it what they found, and listen to it.

    Attributes:
        view: the newest snapshot.
        changed: set when the time of the next refresh may have changed.
    """

    def __init__(self, plan: RefreshPlan, failures: Failures, clock: Clock) -> None:
        self.view = ClusterView()
        self.plan = plan
        self.changed = asyncio.Event()
        self._failures = failures
        self._clock = clock
        self._metadata_listeners: list[Callable[[ClusterView], object]] = []
        self._down_listeners: list[Callable[[BrokerAddress], object]] = []

    def on_metadata(self, listener: Callable[[ClusterView], object]) -> None:
        """Has `listener` called with every new view, in the order of these calls."""
        self._metadata_listeners.append(listener)

    def on_broker_down(self, listener: Callable[[BrokerAddress], object]) -> None:
        """Has `listener` called when a broker could not be connected to or was lost."""
        self._down_listeners.append(listener)

    def take(
        self, response: MetadataResponse, topics: frozenset[str] | None, address: tuple[str, int], asked: int
    ) -> None:
        """Merges an answer into the view.

        Args:
            topics: those asked for; None: all.
            address: who answered.
            asked: the number of the request in the order of sending.
        """
        now_s = self._clock.monotonic()
        view = merge(self.view, response, now_s=now_s, all_topics=topics is None, address=address, asked=asked)
        view = without_old_topics(view, now_s=now_s, max_age_s=self.plan.max_age_s, keep=self.plan.tracked)
        self.plan.observed(now_s, topics)
        self._failures.keep_only(view.brokers)
        self.publish(view)
        self.changed.set()

    def publish(self, view: ClusterView) -> None:
        """There is a new view: tells the listeners."""
        self.view = view
        for listener in self._metadata_listeners:
            try:
                listener(view)
            except Exception:
                logger.exception("a metadata listener failed")

    def invalidate(self, topic: str | None = None) -> None:
        """A leader (of that topic; None: anything) is not what the view says."""
        self.plan.invalidate(topic, self._clock.monotonic())
        self.changed.set()

    def track(self, topics: Iterable[str]) -> None:
        """The topics to keep up to date; replaces the earlier ones."""
        self.plan.track(topics)
        self.changed.set()

    def broker_down(self, broker: BrokerAddress, error: KafkaException) -> None:
        """A broker could not be connected to, or its connection was lost: it may have been replaced."""
        self._failures.broker_failed(broker, error)
        for listener in self._down_listeners:
            listener(broker)
        self.invalidate()
        known = self.view.brokers
        if known and self._failures.all_fail(known):
            self._failures.tell_all_down(len(known))
