"""Interfaces that applications implement for aiokafka's clients: `aiokafka.abc`.

Must not know clients.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from typing import Any

from kserdes.compat.aiokafka.structs import TopicPartition

__all__ = ["AbstractTokenProvider", "ConsumerRebalanceListener"]


class ConsumerRebalanceListener(ABC):
    """Is told of rebalances; functions or coroutine functions, which are awaited.

    Nothing is handed out while they run, and the group waits for them.
    """

    @abstractmethod
    def on_partitions_revoked(self, revoked: Iterable[TopicPartition]) -> Any:
        """A rebalance begins, and these partitions are given up: the last moment to commit. Not called by `stop()`."""

    @abstractmethod
    def on_partitions_assigned(self, assigned: Iterable[TopicPartition]) -> Any:
        """A rebalance is over: these partitions are read now. `seek()` may be called."""


class AbstractTokenProvider(ABC):
    """Gives the tokens of SASL/OAUTHBEARER."""

    @abstractmethod
    async def token(self) -> str:
        """A token, awaited on the client's loop whenever one is needed."""

    def extensions(self) -> Mapping[str, str]:
        """Extensions that are sent with the token."""
        return {}
