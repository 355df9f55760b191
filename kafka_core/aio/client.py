"""The cluster client: who leads what, which connection a request takes, coordinators, errors; all clients stand on it.

Must not know records, groups or transactions: it moves requests; what a response means is the caller's business.
Spec: KIP-219 (throttling), KIP-511/482 (versions), KIP-699 (batched FindCoordinator), KIP-899/1102 (re-bootstrap).
"""

import enum
import random
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from kafka_core.clock import Clock
from kafka_core.config import Config
from kafka_core.errors import KafkaError, KafkaException
from kafka_core.hooks import Hooks
from kafka_core.protocol import ApiMessage

if TYPE_CHECKING:
    from kafka_core.aio.connection import BrokerConnection
    from kafka_core.engine.metadata import ClusterView


class Lane(enum.Enum):
    """Which of a broker's connections a request takes: one that waits must not hold up the others."""

    MAIN = "main"
    FETCH = "fetch"
    GROUP = "group"


class CoordinatorKind(enum.IntEnum):
    """What a coordinator coordinates (FindCoordinator's key type)."""

    GROUP = 0
    TRANSACTION = 1


class ClusterClient:
    """See CONTRACT: signatures first, bodies follow."""

    metadata: "ClusterView"
    last_error: KafkaException | None

    def __init__(
        self,
        config: Config,
        *,
        clock: Clock | None = None,
        rng: random.Random | None = None,
        hooks: Hooks | None = None,
    ) -> None:
        raise NotImplementedError

    async def start(self) -> None: ...
    async def close(self, timeout_s: float = 5.0) -> None: ...
    async def send(
        self, node_id: int, request: ApiMessage, *, timeout_s: float | None = None, lane: Lane = Lane.MAIN
    ) -> ApiMessage:
        raise NotImplementedError

    async def connection(self, node_id: int, lane: Lane = Lane.MAIN) -> "BrokerConnection":
        raise NotImplementedError

    async def send_any(self, request: ApiMessage, *, timeout_s: float | None = None) -> ApiMessage:
        raise NotImplementedError

    async def send_controller(self, request: ApiMessage, *, timeout_s: float | None = None) -> ApiMessage:
        raise NotImplementedError

    async def refresh_metadata(
        self,
        topics: Iterable[str] | None = None,
        *,
        timeout_s: float | None = None,
        allow_auto_create: bool | None = None,
    ) -> "ClusterView":
        raise NotImplementedError

    def invalidate(self, topic: str | None = None) -> None: ...
    def track_topics(self, topics: Iterable[str]) -> None: ...
    def on_metadata(self, listener: Callable[["ClusterView"], None]) -> None: ...
    async def coordinator(self, kind: CoordinatorKind, key: str, *, timeout_s: float | None = None) -> int:
        raise NotImplementedError

    def forget_coordinator(self, kind: CoordinatorKind, key: str) -> None: ...
    def on_error(self, listener: Callable[[KafkaError], None]) -> None: ...
