"""Listeners of rebalances, as kafka-python has them.

Must not know groups. Spec: `kafka.consumer.subscription_state` of kafka-python 3.0.
"""

from __future__ import annotations

import abc
from collections.abc import Iterable

from kserdes.compat.kafka.structs import TopicPartition

__all__ = ["AsyncConsumerRebalanceListener", "ConsumerRebalanceListener"]


class ConsumerRebalanceListener(abc.ABC):
    """Hears, inside `poll`, which partitions go and come."""

    @abc.abstractmethod
    def on_partitions_revoked(self, revoked: Iterable[TopicPartition]) -> None:
        """These are about to be given up: offsets can still be committed."""

    @abc.abstractmethod
    def on_partitions_assigned(self, assigned: Iterable[TopicPartition]) -> None:
        """These have come: positions can be set."""

    def on_partitions_lost(self, lost: Iterable[TopicPartition]) -> None:
        """These are somebody else's already."""
        self.on_partitions_revoked(lost)


class AsyncConsumerRebalanceListener(abc.ABC):
    """The same with coroutines; each is run to its end inside `poll`."""

    @abc.abstractmethod
    async def on_partitions_revoked(self, revoked: Iterable[TopicPartition]) -> None:
        """These are about to be given up."""

    @abc.abstractmethod
    async def on_partitions_assigned(self, assigned: Iterable[TopicPartition]) -> None:
        """These have come."""

    async def on_partitions_lost(self, lost: Iterable[TopicPartition]) -> None:
        """These are somebody else's already."""
        await self.on_partitions_revoked(lost)
