"""The telemetry of one client as a state machine: asks for a subscription, pushes what it asks for, and says goodbye.

Must not know connections, loops or clocks: time and answers go in, requests and the time of the next one come out.
Spec: KIP-714, "Client behavior" and its table of errors.
"""

from __future__ import annotations

import enum
import logging
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final
from uuid import UUID

from kafka_core.engine.telemetry.meters import Interval, Meters
from kafka_core.errors import KafkaError, StateError
from kafka_core.protocol import ZERO_UUID, ApiRequest
from kafka_core.protocol.messages.telemetry import (
    GetTelemetrySubscriptionsRequest,
    GetTelemetrySubscriptionsResponse,
    PushTelemetryRequest,
    PushTelemetryResponse,
)
from kafka_core.protocol.otlp import metrics_data
from kafka_core.records.codecs import Codec
from kafka_core.records.compression import compress

logger: Final = logging.getLogger("kafka_core.telemetry")

DEFAULT_INTERVAL_S: Final = 300.0
FIRST_PUSH: Final = (0.5, 1.5)
"""The first push comes after a random part of the interval between these: clients do not push all at once."""
FIRST_RETRY_S: Final = 1.0
EVERYTHING: Final = frozenset({"", "*"})
"""The names of all metrics in a subscription: the first as KIP-714 has it, the second as Kafka 4 sends it."""

_AT_ONCE: Final = frozenset({KafkaError.UNKNOWN_SUBSCRIPTION_ID, KafkaError.UNSUPPORTED_COMPRESSION_TYPE})
_NEXT_TIME: Final = frozenset({KafkaError.TELEMETRY_TOO_LARGE, KafkaError.THROTTLING_QUOTA_EXCEEDED})


class Phase(enum.Enum):
    """The phase of a client's telemetry."""

    UNSUBSCRIBED = "unsubscribed"
    ASKING = "asking"
    SUBSCRIBED = "subscribed"
    PUSHING = "pushing"
    LEAVING = "leaving"
    ENDED = "ended"


MOVES: Final[Mapping[Phase, frozenset[Phase]]] = {
    Phase.UNSUBSCRIBED: frozenset({Phase.ASKING, Phase.ENDED}),
    Phase.ASKING: frozenset({Phase.SUBSCRIBED, Phase.UNSUBSCRIBED, Phase.ENDED}),
    Phase.SUBSCRIBED: frozenset({Phase.PUSHING, Phase.LEAVING, Phase.ENDED}),
    Phase.PUSHING: frozenset({Phase.SUBSCRIBED, Phase.UNSUBSCRIBED, Phase.LEAVING, Phase.ENDED}),
    Phase.LEAVING: frozenset({Phase.ENDED}),
    Phase.ENDED: frozenset(),
}
"""Allowed moves. A subscription that asks for no metrics leaves the client unsubscribed: it asks again later."""


@dataclass(frozen=True, slots=True)
class Subscription:
    """The cluster's wishes for this client's telemetry.

    Attributes:
        codecs: what pushes may be compressed with, the one the broker likes best first.
        delta: sums cover the time since the last push; else all time.
        prefixes: of the names of the metrics; without any none is asked for.
    """

    subscription_id: int
    interval_s: float
    max_bytes: int
    codecs: tuple[Codec, ...]
    delta: bool
    prefixes: tuple[str, ...]

    def wants(self, name: str) -> bool:
        """Whether a metric is asked for."""
        return any(prefix in EVERYTHING or name.startswith(prefix) for prefix in self.prefixes)


class Reporter:
    """The telemetry of one client.

    Drive it: when `due_s` has come, send `request` and tell how it went, by `answered` or `failed`. Before the
    connections are closed send `last_push`, if there is one.

    Args:
        scope: name and version of this library.
        now_s: monotonic time.

    Attributes:
        phase: where it stands.
        client_instance_id: which the first broker asked gave this client; None before.
        subscription: the one in force, with or without metrics; None before the first.
        refusal: the error code that ended it; 0 if none did.
    """

    def __init__(self, meters: Meters, scope: tuple[str, str], rng: random.Random, now_s: float) -> None:
        self.phase = Phase.UNSUBSCRIBED
        self.client_instance_id: UUID | None = None
        self.subscription: Subscription | None = None
        self.refusal = 0
        self._meters = meters
        self._scope = scope
        self._rng = rng
        self._due_s = now_s
        self._retries = 0
        self._slim = False
        self._refused: set[Codec] = set()
        self._taken: Interval | None = None

    @property
    def wants_metrics(self) -> bool:
        """Whether the subscription asks for anything."""
        return self.phase is not Phase.ENDED and self.subscription is not None and bool(self.subscription.prefixes)

    def due_s(self) -> float | None:
        """The time of the next request; None while one is under way, and at the end."""
        return self._due_s if self.phase in (Phase.UNSUBSCRIBED, Phase.SUBSCRIBED) else None

    def request(self, now_s: float, now_ms: int) -> ApiRequest[Any]:
        """The request that is due. Its answer, or its failure, must be told.

        Raises:
            StateError: none is due.
        """
        if self.phase is Phase.UNSUBSCRIBED:
            self._move(Phase.ASKING)
            return GetTelemetrySubscriptionsRequest(self.client_instance_id or ZERO_UUID)
        self._move(Phase.PUSHING)
        return self._push(now_s, now_ms, terminating=False)

    def last_push(self, now_s: float, now_ms: int) -> PushTelemetryRequest | None:
        """The end: what was measured since the last push, if anybody wants it. Needs no answer.

        A push that is under way is taken to arrive.
        """
        if self.phase is Phase.ENDED:
            return None
        wanted = self.phase in (Phase.SUBSCRIBED, Phase.PUSHING) and self.wants_metrics
        self._move(Phase.LEAVING if wanted else Phase.ENDED)
        return self._push(now_s, now_ms, terminating=True) if wanted else None

    def end(self) -> None:
        """Nothing is sent any more; harmless when called again."""
        if self.phase is not Phase.ENDED:
            self._move(Phase.ENDED)

    # ---- answers

    def answered(self, response: object, now_s: float) -> None:
        """The broker's answer to the last request."""
        if isinstance(response, GetTelemetrySubscriptionsResponse) and self.phase is Phase.ASKING:
            self._retries = 0
            if response.error_code:
                self._refuse(response.error_code, now_s)
            else:
                self._subscribe(response, now_s)
        elif isinstance(response, PushTelemetryResponse) and self.phase is Phase.PUSHING:
            self._settle(arrived=not response.error_code)
            if response.error_code:
                self._refuse(response.error_code, now_s)
            else:
                self._move(Phase.SUBSCRIBED)
                self._due_s = now_s + self._interval_s

    def failed(self, now_s: float) -> None:
        """There was no answer: tries again, at another broker maybe, with growing pauses."""
        if self.phase is Phase.PUSHING:
            self._settle(arrived=False)
            self._move(Phase.SUBSCRIBED)
        elif self.phase is Phase.ASKING:
            self._move(Phase.UNSUBSCRIBED)
        self._due_s = now_s + min(self._interval_s, FIRST_RETRY_S * 2**self._retries)
        self._retries = min(self._retries + 1, 16)

    def _subscribe(self, response: GetTelemetrySubscriptionsResponse, now_s: float) -> None:
        if response.client_instance_id != ZERO_UUID:
            self.client_instance_id = response.client_instance_id
        interval_s = response.push_interval_ms / 1000 if response.push_interval_ms > 0 else DEFAULT_INTERVAL_S
        self.subscription = Subscription(
            response.subscription_id,
            interval_s,
            response.telemetry_max_bytes,
            _codecs(response.accepted_compression_types),
            response.delta_temporality,
            tuple(response.requested_metrics),
        )
        self._slim = False
        if self.wants_metrics:
            self._move(Phase.SUBSCRIBED)
            self._due_s = now_s + interval_s * self._rng.uniform(*FIRST_PUSH)
        else:
            self._move(Phase.UNSUBSCRIBED)
            self._due_s = now_s + interval_s

    def _refuse(self, code: int, now_s: float) -> None:
        """Handles an error; see the table in decision 0087."""
        logger.debug("the broker refuses telemetry: %s", KafkaError(code).name())
        pushed = self.phase is Phase.PUSHING
        if code in _AT_ONCE and pushed:
            if code == KafkaError.UNSUPPORTED_COMPRESSION_TYPE:
                self._refused.add(self._codec())
            self._move(Phase.UNSUBSCRIBED)
            self._due_s = now_s
        elif code in _NEXT_TIME or code in _AT_ONCE:
            self._slim = self._slim or code == KafkaError.TELEMETRY_TOO_LARGE
            self._move(Phase.SUBSCRIBED if pushed else Phase.UNSUBSCRIBED)
            self._due_s = now_s + self._interval_s
        else:
            self.refusal = code
            self._move(Phase.ENDED)

    # ---- pushes

    def _push(self, now_s: float, now_ms: int, *, terminating: bool) -> PushTelemetryRequest:
        assert self.subscription is not None
        assert self.client_instance_id is not None
        if self._taken is not None:
            self._settle(arrived=True)
        self._taken = self._meters.take(now_s, now_ms)
        codec = self._codec()
        return PushTelemetryRequest(
            client_instance_id=self.client_instance_id,
            subscription_id=self.subscription.subscription_id,
            terminating=terminating,
            compression_type=codec,
            metrics=self._payload(self.subscription, self._taken, codec, now_s, now_ms),
        )

    def _payload(self, wanted: Subscription, taken: Interval, codec: Codec, now_s: float, now_ms: int) -> bytes:
        """The metrics; without those of single brokers where all of them are too much, none where these are too."""
        found = [item for item in self._meters.metrics(taken, now_s, delta=wanted.delta) if wanted.wants(item.name)]
        few = [item for item in found if not item.attributes]
        for metrics in (few,) if self._slim else (found, few):
            data = metrics_data(self._meters.labels(), self._scope, metrics, now_ms * 1_000_000) if metrics else b""
            if data and (len(data) <= wanted.max_bytes or wanted.max_bytes <= 0):
                return bytes(compress(codec, data))
        return b""

    def _codec(self) -> Codec:
        codecs = self.subscription.codecs if self.subscription is not None else ()
        return next((codec for codec in codecs if codec not in self._refused), Codec.NONE)

    def _settle(self, *, arrived: bool) -> None:
        if self._taken is not None:
            (self._meters.pushed if arrived else self._meters.give_back)(self._taken)
            self._taken = None

    # ---- inside

    @property
    def _interval_s(self) -> float:
        return DEFAULT_INTERVAL_S if self.subscription is None else self.subscription.interval_s

    def _move(self, to: Phase) -> None:
        if to not in MOVES[self.phase]:
            raise StateError(f"client telemetry can't go from {self.phase.value} to {to.value}")
        self.phase = to


def _codecs(numbers: Sequence[int]) -> tuple[Codec, ...]:
    """Those that we know."""
    known = {codec.value: codec for codec in Codec}
    return tuple(known[number] for number in numbers if number in known)
