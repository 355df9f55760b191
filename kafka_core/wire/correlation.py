"""One connection's book-keeping: its state, correlation ids, what is in flight in which order, and deadlines.

Must not know sockets, loops or clocks: times are handed in as monotonic seconds, bytes are returned, not sent.
Spec: https://kafka.apache.org/protocol#protocol_messages (correlation, order of responses), KIP-219 (throttling).
"""

import enum
from collections import deque
from dataclasses import dataclass
from typing import Any, Final, Generic, TypeVar

from kafka_core.errors import ProtocolError, StateError
from kafka_core.limits import MAX_THROTTLE_S
from kafka_core.protocol import (
    REQUESTS,
    ApiKey,
    ApiMessage,
    ApiRequest,
    Buffer,
    api_name,
    decode_response,
    encode_request,
)
from kafka_core.protocol.frames import EncodedRequest, head_of

TokenT = TypeVar("TokenT")

_MAX_CORRELATION_ID: Final = 2**31 - 1


class ConnectionPhase(enum.Enum):
    """The phase of a connection's life."""

    CONNECTING = "connecting"
    """TCP and TLS are being set up; nothing may be sent."""
    HANDSHAKING = "handshaking"
    """ApiVersions and SASL; only the handshake's own requests may be sent."""
    READY = "ready"
    """Requests may be sent."""
    REAUTHENTICATING = "reauthenticating"
    """KIP-368: only the handshake's requests may be sent; answers to earlier ones still come in."""
    CLOSED = "closed"
    """For good; everything in flight was handed back."""


ALLOWED_MOVES: Final[dict[ConnectionPhase, frozenset[ConnectionPhase]]] = {
    ConnectionPhase.CONNECTING: frozenset({ConnectionPhase.HANDSHAKING, ConnectionPhase.CLOSED}),
    ConnectionPhase.HANDSHAKING: frozenset({ConnectionPhase.READY, ConnectionPhase.CLOSED}),
    ConnectionPhase.READY: frozenset({ConnectionPhase.REAUTHENTICATING, ConnectionPhase.CLOSED}),
    ConnectionPhase.REAUTHENTICATING: frozenset({ConnectionPhase.READY, ConnectionPhase.CLOSED}),
    ConnectionPhase.CLOSED: frozenset(),
}
"""The only moves there are; any other one raises StateError."""

_HANDSHAKES: Final = frozenset({ConnectionPhase.HANDSHAKING, ConnectionPhase.REAUTHENTICATING})
"""Phases in which only the handshake's own requests may be sent; others are sent in READY alone."""


@dataclass(slots=True)
class InFlight(Generic[TokenT]):
    """A request that was sent and not answered yet.

    `token` is whatever the caller wants back with the answer (a future). Times are monotonic seconds.
    """

    correlation_id: int
    request_type: type[ApiRequest[Any]]
    version: int
    sent_at_s: float
    deadline_s: float
    sent_bytes: int
    token: TokenT

    @property
    def name(self) -> str:
        """`Metadata`: the API's name as hooks and metrics have it."""
        return REQUESTS[self.request_type.API_KEY].__name__.removesuffix("Request")

    @property
    def api(self) -> str:
        """`METADATA (3) v13`, for texts."""
        return f"{api_name(self.request_type.API_KEY)} v{self.version}"


@dataclass(slots=True)
class Reply(Generic[TokenT]):
    """An answer with the request it belongs to.

    Attributes:
        throttle_s: Seconds that the broker asks this client to stay silent (KIP-219); 0.0 when it does not.
    """

    request: InFlight[TokenT]
    message: ApiMessage
    size_bytes: int
    throttle_s: float


def expects_response(request: ApiMessage) -> bool:
    """False for a Produce request with acks=0, the only request that a broker never answers."""
    return request.API_KEY != ApiKey.PRODUCE or getattr(request, "acks", -1) != 0


def _answer_version(request: InFlight[Any], frame: bytearray) -> int:
    """The version a response to an ApiVersions request is written in: the request's, but a broker that does not know
    it says so (error 35) in version 0 (KIP-511)."""
    return 0 if frame[4:6] == b"\x00\x23" else request.version


class ConnectionState(Generic[TokenT]):
    """Sans-IO core of a connection. A broker answers a connection's requests in the order it got them.

    Args:
        client_id: Sent in every request header; None sends a null.
        max_throttle_s: Longest silence that a broker's throttle time leads to.
    """

    __slots__ = ("_client_id", "_in_flight", "_max_throttle_s", "_next_correlation_id", "phase", "throttled_until_s")

    def __init__(self, client_id: str | None, max_throttle_s: float = MAX_THROTTLE_S) -> None:
        self._max_throttle_s = max_throttle_s
        self._client_id = client_id
        self._in_flight: deque[InFlight[TokenT]] = deque()
        self._next_correlation_id = 0
        self.phase = ConnectionPhase.CONNECTING
        self.throttled_until_s = 0.0

    def move(self, phase: ConnectionPhase) -> None:
        """Go to another phase; StateError when the table does not allow it."""
        if phase not in ALLOWED_MOVES[self.phase]:
            raise StateError(f"a connection cannot go from {self.phase.value} to {phase.value}")
        self.phase = phase

    @property
    def in_flight(self) -> int:
        """The number of requests waiting for their answer."""
        return len(self._in_flight)

    def encode(
        self,
        request: ApiRequest[Any],
        version: int,
        token: TokenT,
        *,
        now_s: float,
        timeout_s: float,
        handshake: bool = False,
    ) -> list[Buffer]:
        """The bytes of a request, as buffers to send in this order; it is in flight from now on.

        A request without an answer (`expects_response`) is encoded but never in flight: the caller settles its token.

        Args:
            handshake: The request belongs to the handshake or the re-authentication.
            timeout_s: Seconds from `now_s` until `next_deadline_s`.

        Raises:
            StateError: not in a phase in which such a request may be sent.
            ProtocolError: (or UnsupportedVersionError) it cannot be encoded in that version; nothing was changed.
        """
        if self.phase not in _HANDSHAKES if handshake else self.phase is not ConnectionPhase.READY:
            raise StateError(f"{api_name(request.API_KEY)} cannot be sent while the connection is {self.phase.value}")
        buffers = encode_request(request, version, self._next_correlation_id, self._client_id)
        if expects_response(request):
            self.sent(type(request), version, sum(map(len, buffers)), token, now_s=now_s, timeout_s=timeout_s)
        else:
            self._take_correlation_id()
        return buffers

    def _take_correlation_id(self) -> int:
        correlation_id = self._next_correlation_id
        self._next_correlation_id = correlation_id + 1 if correlation_id < _MAX_CORRELATION_ID else 0
        return correlation_id

    def head_of_next(self, request: type[EncodedRequest[Any]], version: int) -> bytes:
        """The header of the next request, without the frame's size: for who encodes one before it is to be sent.

        It is right until another request is encoded; if it was sent by then, `sent` must have said so.
        """
        return head_of(request, version, self._next_correlation_id, self._client_id)

    def sent(
        self,
        request: type[ApiRequest[Any]],
        version: int,
        size_bytes: int,
        token: TokenT,
        *,
        now_s: float,
        timeout_s: float,
    ) -> None:
        """A request with the next correlation id is on its way, in flight from now on."""
        correlation_id = self._take_correlation_id()
        self._in_flight.append(InFlight(correlation_id, request, version, now_s, now_s + timeout_s, size_bytes, token))

    def passed(self) -> None:
        """A request with the next correlation id was sent, and has its answer: `sent` and `receive` in one."""
        self._take_correlation_id()

    def receive(self, frame: bytearray, *, now_s: float) -> Reply[TokenT]:
        """Match a response frame (without its size) with the oldest request and decode it.

        The message may hold views into `frame`. After an error the connection must be closed: the stream cannot be
        trusted any more, and the request concerned is still among those that `abandon` returns.

        Raises:
            ProtocolError: nothing is in flight, another correlation id than the oldest request's, or malformed.
        """
        if not self._in_flight:
            raise ProtocolError(f"a response of {len(frame)} bytes came, but no request waits for one")
        request = self._in_flight[0]
        if len(frame) < 4:
            raise ProtocolError(f"{request.api}: a response of {len(frame)} bytes is too short for its header")
        version = request.version
        if request.request_type.API_KEY == ApiKey.API_VERSIONS:
            version = _answer_version(request, frame)
        correlation_id = int.from_bytes(frame[:4], "big", signed=True)
        if correlation_id != request.correlation_id:
            raise ProtocolError(
                f"{request.api}: the response has correlation id {correlation_id}, but the oldest request has "
                f"{request.correlation_id}; answers on this connection cannot be trusted any more"
            )
        _, message = decode_response(request.request_type, version, frame)
        self._in_flight.popleft()
        throttle_s: float = getattr(message, "throttle_time_ms", 0) / 1000
        if throttle_s > 0:
            silent_s = min(throttle_s, self._max_throttle_s)
            self.throttled_until_s = max(self.throttled_until_s, now_s + silent_s)
        return Reply(request, message, len(frame), throttle_s)

    def oldest_sent_s(self) -> float | None:
        """The time of sending the request that has waited longest; None when nothing is in flight."""
        return self._in_flight[0].sent_at_s if self._in_flight else None

    def next_deadline_s(self) -> float | None:
        """The first time-out of the requests in flight; None when nothing is in flight. Costs O(in flight)."""
        return min((request.deadline_s for request in self._in_flight), default=None)

    def expired(self, now_s: float) -> InFlight[TokenT] | None:
        """The oldest request that is past its deadline, if any. The connection must then be closed: its late answer
        would otherwise be taken for another's."""
        return next((request for request in self._in_flight if request.deadline_s <= now_s), None)

    def abandon(self) -> list[InFlight[TokenT]]:
        """Close: go to CLOSED and hand back all that is in flight, oldest first. May be called again (then empty)."""
        if self.phase is not ConnectionPhase.CLOSED:
            self.move(ConnectionPhase.CLOSED)
        lost = list(self._in_flight)
        self._in_flight.clear()
        return lost
