"""One connection to one broker on the loop: handshake, pipelined requests, time-outs, re-authentication, idle close.

Must not know metadata or routing; book-keeping is in wire/correlation.py, framing in wire/framing.py.
Spec: DESIGN §3/§4 (buffers are not joined or copied), KIP-219 (throttling), KIP-368 (re-authentication).
"""

import asyncio
import logging
import random
import ssl
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, TypeVar

from kafka_core.aio.net.answers import Answer, DirectAnswer
from kafka_core.aio.net.tls_errors import tls_error
from kafka_core.aio.net.tokens import TokenSource
from kafka_core.aio.net.transport import OpenTransport, TransportSettings, open_transport, write_buffers
from kafka_core.aio.tasks.background import background
from kafka_core.aio.tasks.race import in_daemon_thread
from kafka_core.clock import Clock
from kafka_core.config import Config, Role
from kafka_core.errors import AuthError, KafkaError, KafkaException, NetworkError, ProtocolError
from kafka_core.hooks import Hooks
from kafka_core.limits import MAX_THROTTLE_S
from kafka_core.protocol import ApiMessage, ApiRequest, BrokerVersions, negotiate
from kafka_core.protocol.frames import EncodedRequest
from kafka_core.wire.correlation import (
    ConnectionPhase,
    ConnectionState,
    InFlight,
    Reply,
    expects_response,
)
from kafka_core.wire.framing import FrameReader
from kafka_core.wire.handshake import HandshakeResult, Negotiation, handshake, reauthenticate
from kafka_core.wire.sasl import Proof, Token

if TYPE_CHECKING:
    from kafka_core.kerberos.login import Login

ResponseT = TypeVar("ResponseT", bound=ApiMessage)

logger: Final = logging.getLogger("kafka_core.aio")

_HIGH_WATER_BYTES: Final = 1 << 20
_LOW_WATER_BYTES: Final = 1 << 18
_REAUTHENTICATE_AT: Final = (0.85, 0.95)
"""Part of the session's life after which to authenticate again, drawn evenly between (as the Java client does)."""


@dataclass(frozen=True, slots=True)
class ConnectionSettings:
    """Settings of all connections of a client; times in seconds, `idle_s` 0 never closes an idle connection."""

    config: Config
    transport: TransportSettings
    client_id: str | None
    request_timeout_s: float
    max_frame_bytes: int
    idle_s: float
    max_throttle_s: float = MAX_THROTTLE_S

    @classmethod
    def from_config(cls, config: Config) -> "ConnectionSettings":
        """Read the properties (and TLS files); ConfigError when something in them cannot be used."""
        return cls(
            config=config,
            transport=TransportSettings.from_config(config),
            client_id=config.optional_text("client.id"),
            request_timeout_s=config.seconds("socket.timeout.ms"),
            max_frame_bytes=config.integer("receive.message.max.bytes"),
            idle_s=config.seconds("connections.max.idle.ms"),
            max_throttle_s=max_throttle_s(config),
        )


def max_throttle_s(config: Config) -> float:
    """The longest silence a broker may ask for: a request that waits for its end must still be answered within
    socket.timeout.ms, and a member's heartbeat come within session.timeout.ms."""
    limits_s = [MAX_THROTTLE_S, config.seconds("socket.timeout.ms") / 2]
    if config.role is Role.CONSUMER:
        limits_s.append(config.seconds("session.timeout.ms") / 3)
    return min(limits_s)


@dataclass(slots=True)
class _Held:
    """A request that waits for a re-authentication to end."""

    request: ApiRequest[Any]
    version: int
    timeout_s: float
    answer: Answer


class BrokerConnection(asyncio.BufferedProtocol):
    """A connection that is ready for requests; `Connector.connect` makes it. Lives on one loop, not thread-safe.

    Attributes:
        node_id: The broker's id; -1 for a bootstrap address whose id is not known.
        address: `host:port` as it was asked for.
        versions: What the broker supports.
        connected_at_s: Monotonic seconds.
        heard_s: When bytes last came from the broker, monotonic seconds.
        unanswered_since_s: After the end, if a request's time-out was the reason: when that request was sent.
        stage: What `establish` is doing, for the text of a time-out.
    """

    def __init__(self, settings: ConnectionSettings, host: str, port: int, node_id: int, parts: "Connector") -> None:
        self.node_id = node_id
        self.host, self.port = host, port
        self.address = f"{host}:{port}"
        self.versions = BrokerVersions({})
        self.stage = "connecting"
        self.connected_at_s = parts.clock.monotonic()
        self.last_used_s = self.heard_s = self.connected_at_s
        self.unanswered_since_s: float | None = None
        self._settings = settings
        self._parts = parts
        self._clock = parts.clock
        self._hooks = parts.hooks
        self._loop = asyncio.get_running_loop()
        self._state: ConnectionState[Answer] = ConnectionState(settings.client_id, settings.max_throttle_s)
        self._reader = FrameReader(settings.max_frame_bytes)
        self.get_buffer = self._reader.get_buffer  # type: ignore[method-assign]
        self._target: OpenTransport | None = None
        self._resume: asyncio.Future[None] | None = None
        self._held: list[_Held] = []
        self._take_back: Callable[[], object] | None = None
        self._glance: Callable[[bytearray, int], bool] | None = None
        self._chosen_versions: dict[type[ApiRequest[Any]], int] = {}
        self._timer: asyncio.TimerHandle | None = None
        self._timer_at_s = 0.0
        self._reauthentication_timer: asyncio.TimerHandle | None = None
        self._reauthentication: asyncio.Task[None] | None = None
        self._error: KafkaException | None = None
        self._retiring = False
        self._answered = False  # whether a request of the client's (not the handshake's) has had its answer
        self._uses_sasl = settings.config.text("security.protocol").startswith("sasl_")
        self._gone: asyncio.Future[None] = self._loop.create_future()
        self._reason: KafkaException | None = None  # why it is gone, for others: None when it was meant to end
        self._end_listeners: list[Callable[[KafkaException | None], object]] = []

    # ---- what clients use

    @property
    def name(self) -> str:
        """`host:port/id` for texts; only `host:port` while the id is unknown."""
        return f"{self.address}/{self.node_id}" if self.node_id >= 0 else self.address

    @property
    def usable(self) -> bool:
        """Whether new requests may be given to it."""
        if self._error is not None or self._retiring:
            return False
        phase = self._state.phase  # compared one by one: an enum's hash, which a set would ask for, is Python code
        return phase is ConnectionPhase.READY or phase is ConnectionPhase.REAUTHENTICATING

    @property
    def answered(self) -> bool:
        """Whether a request of the client's (not the handshake's) has had its answer."""
        return self._answered

    @property
    def in_flight(self) -> int:
        """Requests without their answer yet, those held back by a re-authentication included."""
        return self._state.in_flight + len(self._held)

    @property
    def held(self) -> int:
        """Requests that are held back by a re-authentication."""
        return len(self._held)

    @property
    def writable(self) -> bool:
        """False while the socket takes no more (back-pressure) or the broker asked for silence (KIP-219)."""
        return self._resume is None and self._state.throttled_until_s <= self._clock.monotonic()

    @property
    def free(self) -> bool:
        """Whether a request may be written at once: `usable`, `writable`, and no re-authentication is under way."""
        if self._error is not None or self._retiring or self._resume is not None:
            return False
        state = self._state
        return state.phase is ConnectionPhase.READY and state.throttled_until_s <= self._clock.monotonic()

    @property
    def silent_s(self) -> float:
        """For how long requests have waited without a byte from the broker; 0.0 when none waits."""
        sent_s = self._state.oldest_sent_s()
        return 0.0 if sent_s is None else max(0.0, self._clock.monotonic() - max(sent_s, self.heard_s))

    @property
    def throttled_s(self) -> float:
        """Seconds of throttling that are left (at most `max_throttle_s`); 0.0 when the broker does not throttle."""
        return max(0.0, self._state.throttled_until_s - self._clock.monotonic())

    def version_of(self, request: type[ApiRequest[Any]]) -> int:
        """The newest version of an API that both sides know; UnsupportedVersionError (naming the broker) if none."""
        version = self._chosen_versions.get(request)
        if version is None:
            version = self._chosen_versions[request] = negotiate(request, self.versions)
        return version

    def send(
        self, request: ApiRequest[ResponseT], *, timeout_s: float | None = None, version: int | None = None
    ) -> "asyncio.Future[ResponseT]":
        """Write a request now, behind all earlier ones; the future gives its response.

        Does not wait for room: await `drain` before, to honour back-pressure and throttling. A Produce request with
        acks=0 has an empty response at once. The buffers of the request must not change until it is answered.
        Cancelling the future only drops the answer.

        Args:
            timeout_s: None for socket.timeout.ms. When it passes the connection is closed (all that is in flight
                fails): a late answer must never be taken for another request's.
            version: None for the newest that both know.

        Raises:
            NetworkError: the connection is gone; nothing was sent. Afterwards the same through the future.
            UnsupportedVersionError, ProtocolError: it cannot be encoded in that version; nothing was sent.
        """
        future: asyncio.Future[ResponseT] = self._loop.create_future()
        self._send(request, future, timeout_s, version)
        return future

    def ask(
        self,
        request: ApiRequest[ResponseT],
        on_answer: Callable[[ResponseT | None, KafkaException | None], object],
        *,
        timeout_s: float | None = None,
        version: int | None = None,
    ) -> None:
        """The same as `send`, but the answer goes to a function, in the turn of the loop in which it comes in.

        Args:
            on_answer: called once, with the response and None, or with None and the error that a future of `send` would
                have; never before `ask` has returned. It must be quick: behind it other answers wait.

        Raises:
            As `send`.
        """
        self._send(request, DirectAnswer(self._loop, on_answer, at_once=expects_response(request)), timeout_s, version)

    def _send(self, request: ApiRequest[Any], answer: Answer, timeout_s: float | None, version: int | None) -> None:
        if self._error is not None:
            raise self._gone_error(self._error)
        chosen = self.version_of(type(request)) if version is None else version
        seconds = self._settings.request_timeout_s if timeout_s is None else timeout_s
        if self._state.phase is ConnectionPhase.REAUTHENTICATING:
            self._held.append(_Held(request, chosen, seconds, answer))
        else:
            self._write(request, chosen, answer, seconds)

    # ---- lent to another thread

    def lend(
        self,
        request: type[EncodedRequest[Any]],
        version: int,
        take_back: Callable[[], object],
        glance: Callable[[bytearray, int], bool],
    ) -> tuple[Callable[[], int], bytes] | None:
        """Have the next request written by somebody else, straight into the socket; or none, until it is taken back.

        Args:
            request: Which it will be, `version`: in which version.
            take_back: Called before anything else happens on the connection: before another request is written, an
                answer is read or the connection ends. It must stop the other one, call `given_back`, and `sent_ahead`
                if the request was written, wholly or in part.
            glance: Called before that with the first so many bytes of a frame, if this is what has come. Where they are
                the answer to that request, and nothing else, it may deal with both by `passed`, and say True: then
                nothing is taken back.

        Returns:
            What gives the socket's descriptor (below 0 once it is closed), and the request's header from behind the
            size. None where it can't be lent: it is not `free`, something is in flight or not written yet, TLS.
        """
        target = self._target
        if self._take_back is not None or target is None or not (self.free and target.bare) or self._state.in_flight:
            return None
        assert target.plain_socket is not None
        self._take_back, self._glance = take_back, glance
        return target.plain_socket.fileno, self._state.head_of_next(request, version)

    def given_back(self) -> None:
        """Nobody else writes into the socket any more."""
        self._take_back = self._glance = None

    def passed(self, size_bytes: int) -> None:
        """The borrower has written the whole request, and its answer is the bytes that `glance` was shown. The next
        request, whose header differs in the correlation id, is lent as this one was."""
        self._reader.pass_over(size_bytes)
        self._answered = True
        self.heard_s = self.last_used_s = self._clock.monotonic()
        self._state.passed()

    def sent_ahead(
        self,
        request: type[EncodedRequest[ResponseT]],
        version: int,
        frame: bytes,
        sent_bytes: int,
        on_answer: Callable[[ResponseT | None, KafkaException | None], object],
    ) -> None:
        """The borrower has written the first `sent_bytes` of this request; the rest is written here. See `ask`."""
        now_s, timeout_s = self._clock.monotonic(), self._settings.request_timeout_s
        answer = DirectAnswer(self._loop, on_answer, at_once=True)
        self._state.sent(request, version, len(frame), answer, now_s=now_s, timeout_s=timeout_s)
        if sent_bytes < len(frame):
            assert self._target is not None
            write_buffers(self._target, [memoryview(frame)[sent_bytes:]])
        self.last_used_s = now_s
        if self._timer is None or self._timer_at_s > now_s + timeout_s:
            self._arm_timer(now_s + timeout_s)

    def _reclaim(self) -> None:
        if self._take_back is not None:
            self._take_back()

    async def drain(self) -> None:
        """Wait until the socket takes more and the broker's throttle time is over; NetworkError when it is gone."""
        while True:
            if self._error is not None:
                raise self._gone_error(self._error)
            if self._resume is not None:
                await asyncio.shield(self._resume)
                continue
            silent_s = self._state.throttled_until_s - self._clock.monotonic()
            if silent_s <= 0:
                return
            await asyncio.wait((self._gone,), timeout=silent_s)

    async def close(self, timeout_s: float = 1.0) -> None:
        """Close at once; requests in flight fail with code _DESTROY. Waits at most `timeout_s` for the socket."""
        self._fail(None)
        if self._target is not None and not self._gone.done():
            await asyncio.wait((self._gone,), timeout=timeout_s)
            if not self._gone.done():
                self._target.transport.abort()

    def on_end(self, listener: Callable[[KafkaException | None], object]) -> None:
        """Have `listener` called when the connection ends, before those who wait for answers go on.

        Its argument is None when we closed it (or the broker did, finding it idle), else why it was lost.
        """
        if self._error is not None:
            listener(self._reason)
        else:
            self._end_listeners.append(listener)

    def on_closed(self, listener: Callable[[], object]) -> None:
        """Have `listener` called once the socket is closed too: soon after the end, or after TLS has said goodbye."""
        self._gone.add_done_callback(lambda _: listener())

    def retire(self) -> None:
        """Take no new requests and close when the last answer is in."""
        self._reclaim()
        self._retiring = True
        if not self.in_flight:
            self._fail(None)

    def abort(self, error: KafkaException | None = None) -> None:
        """Drop the connection without waiting for anything; `error` (None: we wanted it) is what its users see."""
        self._fail(error)
        if self._target is not None:
            self._target.transport.abort()

    # ---- set-up

    async def establish(self) -> None:
        """Connect and do the handshake, within socket.connection.setup.timeout.ms. Called once, by `Connector`."""
        config = self._settings.config
        proof = await self._proof()
        self.stage = "connecting"
        self._target = await open_transport(self._settings.transport, self.host, self.port, lambda: self)
        self._check_alive()  # it may have been lost between connecting and here
        self._state.move(ConnectionPhase.HANDSHAKING)
        self.stage = "waiting for the broker in the handshake (does a Kafka broker listen there?)"
        result = await self._drive(handshake(config, self._parts.rng, proof=proof), proof)
        self._check_alive()  # the answer was there, and behind it the end
        self.versions = result.versions
        self._state.move(ConnectionPhase.READY)
        self.connected_at_s = self.last_used_s = self.heard_s = self._clock.monotonic()
        self._plan_reauthentication(result.session_lifetime_s)
        self._arm_timer(self.connected_at_s + self._settings.idle_s if self._settings.idle_s else None)

    async def _proof(self) -> Proof | None:
        """The proof that the mechanism has to fetch first; None for most mechanisms."""
        if self._parts.tokens is not None:
            self.stage = f"waiting for a token from {self._parts.tokens.name}"
            return await self._parts.tokens.get()
        if self._parts.login is not None:
            self.stage = "waiting for a ticket from Kerberos"
            try:
                return await in_daemon_thread("kafka-core-kerberos", self._parts.login.context, self.host)
            except (AuthError, NetworkError) as error:
                raise _renamed(error, self.name) from error
        return None

    def _check_alive(self) -> None:
        """Raise why the connection has ended, if it has."""
        if self._error is not None:
            raise self._gone_error(self._error)

    async def _drive(self, negotiation: Negotiation, proof: Proof | None) -> HandshakeResult:
        """Run a negotiation: send its requests, give it the answers; its errors get the broker's name."""
        try:
            step = next(negotiation)
            while True:
                future: asyncio.Future[ApiMessage] = self._loop.create_future()
                timeout_s = step.timeout_s or self._settings.request_timeout_s
                self._write(step.request, step.version, future, timeout_s, handshake_step=True)
                step = negotiation.send(await future)
        except StopIteration as stop:
            result: HandshakeResult = stop.value
            return result
        except (AuthError, ProtocolError) as error:
            if self._parts.tokens is not None and isinstance(proof, Token) and isinstance(error, AuthError):
                self._parts.tokens.refused(proof)
            raise _renamed(error, self.name) from error
        finally:
            negotiation.close()

    def _plan_reauthentication(self, lifetime_s: float | None) -> None:
        if lifetime_s:
            delay_s = lifetime_s * self._parts.rng.uniform(*_REAUTHENTICATE_AT)
            self._reauthentication_timer = self._loop.call_later(delay_s, self._start_reauthentication)

    def _start_reauthentication(self) -> None:
        if self._state.phase is ConnectionPhase.READY:
            self._reauthentication = background(self._reauthenticate(), "kafka-core-reauthentication")

    async def _reauthenticate(self) -> None:
        """Authenticate again (KIP-368) behind requests in flight; new requests wait until it is done."""
        try:
            proof = await self._proof()
            if self._state.phase is not ConnectionPhase.READY:
                return
            self._state.move(ConnectionPhase.REAUTHENTICATING)
            negotiation = reauthenticate(
                self._parts.settings.config, self._parts.rng, proof=proof, versions=self.versions
            )
            result = await self._drive(negotiation, proof)
            self._check_alive()
        except KafkaException as error:
            logger.warning("re-authentication failed, the connection is closed: %s", error)
            self.abort(error)
            return
        self._state.move(ConnectionPhase.READY)
        self._plan_reauthentication(result.session_lifetime_s)
        held, self._held = self._held, []
        for item in held:
            try:
                if not item.answer.done():
                    self._write(item.request, item.version, item.answer, item.timeout_s)
            except KafkaException as error:
                item.answer.set_exception(error)

    # ---- sending and receiving

    def _write(
        self,
        request: ApiRequest[Any],
        version: int,
        answer: Answer,
        timeout_s: float,
        *,
        handshake_step: bool = False,
    ) -> None:
        if self._take_back is not None:
            self._take_back()
        now_s = self._clock.monotonic()
        buffers = self._state.encode(
            request, version, answer, now_s=now_s, timeout_s=timeout_s, handshake=handshake_step
        )
        assert self._target is not None
        write_buffers(self._target, buffers)
        self.last_used_s = now_s
        if expects_response(request):
            if self._timer is None or self._timer_at_s > now_s + timeout_s:
                self._arm_timer(now_s + timeout_s)
        else:
            answer.set_result(request.RESPONSE())
            name = type(request).__name__.removesuffix("Request")
            self._hooks.on_request_done(self.node_id, name, sum(map(len, buffers)), 0, 0.0, None)

    def _settle(self, reply: Reply[Answer], now_s: float) -> None:
        request = reply.request
        self._answered = self._answered or self._state.phase is ConnectionPhase.READY
        if not request.token.done():
            request.token.set_result(reply.message)
        if self._hooks.wants("on_request_done"):
            self._report(request, reply.size_bytes + 4, now_s, None)
        if reply.throttle_s > 0:
            self._hooks.on_throttle(self.node_id, request.name, reply.throttle_s)

    def _report(self, request: InFlight[Answer], received_bytes: int, now_s: float, error: Exception | None) -> None:
        if self._hooks.wants("on_request_done"):
            duration_s = now_s - request.sent_at_s
            self._hooks.on_request_done(
                self.node_id, request.name, request.sent_bytes, received_bytes, duration_s, error
            )

    # ---- asyncio.BufferedProtocol

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """asyncio calls this when TCP (and TLS) are set up."""
        assert isinstance(transport, asyncio.Transport)
        transport.set_write_buffer_limits(_HIGH_WATER_BYTES, _LOW_WATER_BYTES)
        if self._error is not None:
            transport.abort()

    def get_buffer(self, sizehint: int) -> memoryview:
        """asyncio asks where the next bytes go; a connection asks its reader without a call between."""
        return self._reader.get_buffer(sizehint)

    def buffer_updated(self, nbytes: int) -> None:
        """asyncio has put bytes there."""
        if self._error is not None:
            return
        if self._take_back is not None:
            if self._glance is not None and not self._hooks.wants("on_request_done"):
                first = self._reader.first_bytes()
                if first is not None and self._glance(first, nbytes):
                    return
            self._take_back()
        try:
            frames = self._reader.buffer_updated(nbytes)
            self.heard_s = now_s = self._clock.monotonic()
            for frame in frames:
                self.last_used_s = now_s
                self._settle(self._state.receive(frame, now_s=now_s), now_s)
        except ProtocolError as error:
            self.abort(_renamed(error, self.name))
            return
        if self._retiring and not self.in_flight:
            self._fail(None)

    def eof_received(self) -> bool:
        """asyncio saw the broker's end of stream; False lets it close the transport."""
        return False

    def connection_lost(self, exc: Exception | None) -> None:
        """asyncio says that the connection is gone."""
        self._reclaim()
        # Brokers close what they find idle: with nothing in flight that is no failure to tell anybody about.
        idle = exc is None and not self.in_flight and self._state.phase is ConnectionPhase.READY
        self._fail(self._lost_error(exc), expected=idle)
        self.resume_writing()
        if not self._gone.done():
            self._gone.set_result(None)

    def pause_writing(self) -> None:
        """asyncio's buffer is above the high-water mark."""
        if self._resume is None:
            self._resume = self._loop.create_future()

    def resume_writing(self) -> None:
        """asyncio's buffer is below the low-water mark again."""
        if self._resume is not None:
            if not self._resume.done():
                self._resume.set_result(None)
            self._resume = None

    # ---- time-outs

    def _arm_timer(self, at_s: float | None) -> None:
        """Have `_on_timer` called at that time, or earlier if it is armed for an earlier one already."""
        if at_s is None or (self._timer is not None and self._timer_at_s <= at_s):
            return
        if self._timer is not None:
            self._timer.cancel()
        self._timer_at_s = at_s
        self._timer = self._loop.call_later(max(0.0, at_s - self._clock.monotonic()), self._on_timer)

    def _on_timer(self) -> None:
        self._timer = None
        if self._error is not None:
            return
        self._reclaim()
        now_s = self._clock.monotonic()
        late = self._state.expired(now_s)
        if late is not None:
            waited_s = now_s - late.sent_at_s
            self.unanswered_since_s = late.sent_at_s
            self.abort(
                NetworkError(
                    f"{self.name}: {late.api} was not answered within {waited_s:.3g} s; the connection is closed",
                    KafkaError._TIMED_OUT,
                )
            )
            return
        deadlines = [self._state.next_deadline_s()]
        if self._settings.idle_s and self._state.phase is ConnectionPhase.READY:
            idle_until_s = self.last_used_s + self._settings.idle_s
            if not self.in_flight and idle_until_s <= now_s:
                logger.debug("%s: closed after %g s without use", self.name, self._settings.idle_s)
                self._fail(None)
                return
            deadlines.append(max(idle_until_s, now_s + 0.001) if not self.in_flight else now_s + self._settings.idle_s)
        self._arm_timer(min((deadline for deadline in deadlines if deadline is not None), default=None))

    # ---- the end

    def _fail(self, error: KafkaException | None, *, expected: bool = False) -> None:
        """Settle everything once; the first reason wins. None: we closed it. An expected end is told as if we had."""
        if self._error is not None:
            return
        self._reclaim()
        self._error = error or NetworkError(f"{self.name}: this client closed the connection", KafkaError._DESTROY)
        lost = self._state.abandon()
        for handle in (self._timer, self._reauthentication_timer):
            if handle is not None:
                handle.cancel()
        now_s = self._clock.monotonic()
        for request in lost:
            reason = self._gone_error(self._error)
            self._report(request, 0, now_s, reason)
            _refuse(request.token, reason)
        for item in self._held:
            _refuse(item.answer, self._gone_error(self._error))
        self._held.clear()
        if self._reauthentication is not None and self._reauthentication is not asyncio.current_task():
            self._reauthentication.cancel()
        if self._target is not None:
            self._target.transport.close()
        self.resume_writing()
        self._reason = None if expected else error
        for listener in self._end_listeners:
            listener(self._reason)
        self._end_listeners.clear()
        if self._target is None and not self._gone.done():
            self._gone.set_result(None)  # never connected: asyncio will not say that it is gone

    def _gone_error(self, error: KafkaException) -> KafkaException:
        """A fresh exception per waiter (a shared one would collect everybody's tracebacks), same class and text."""
        twin = type(error).__new__(type(error), *error.args)
        twin.args = error.args
        twin.__dict__.update(error.__dict__)
        twin.__cause__ = error.__cause__
        return twin

    def _lost_error(self, exc: Exception | None) -> NetworkError:
        if isinstance(exc, ssl.SSLError):
            return tls_error(exc, self.name, self.host)
        where = self._reader.describe_position()
        if exc is None or isinstance(exc, (ConnectionResetError, BrokenPipeError)):
            # A broker that closes with bytes of ours unread resets: chance must not choose what the user is told.
            what = "the broker closed the connection"
        else:
            what = f"the connection was lost ({exc.__class__.__name__}: {exc})"
        hint = ""
        if self._state.phase is ConnectionPhase.HANDSHAKING and self._reader.received_bytes == 0:
            what, where = f"{what} during the handshake", "before its first answer"
            if self._settings.transport.tls is None:
                hint = "; is it a TLS port? (then set security.protocol=SSL or SASL_SSL)"
            else:
                hint = "; does it demand a client certificate, or another one? (ssl.certificate.location)"
        elif not (self._answered or self._uses_sasl or self._reader.in_frame) and self._state.in_flight:
            what, where = f"{what} at the first request", ""
            hint = "; does that listener demand SASL? (then set security.protocol=SASL_PLAINTEXT or SASL_SSL)"
        lost = f" (requests in flight: {self._state.in_flight})" if self._state.in_flight else ""
        return NetworkError(f"{self.name}: {' '.join(filter(None, (what, where)))}{lost}{hint}")


def _refuse(answer: Answer, error: KafkaException) -> None:
    if not answer.done():
        answer.set_exception(error)
        answer.exception()  # looked at: who dropped the future does not care, and asyncio should not warn


ErrorT = TypeVar("ErrorT", bound=KafkaException)


def _renamed(error: ErrorT, broker: str) -> ErrorT:
    """The same error with the broker in front of its text."""
    value = error.error
    if value.str().startswith(broker):
        return error
    twin = type(error).__new__(type(error))
    twin.args = (
        KafkaError(value.code(), f"{broker}: {value.str()}", fatal=value.fatal(), retriable=value.retriable()),
    )
    twin.__dict__.update(error.__dict__)
    return twin


def _login(config: Config) -> "Login | None":
    """For GSSAPI only: few clients need Kerberos's library."""
    if not config.text("security.protocol").startswith("sasl_") or config.text("sasl.mechanism") != "GSSAPI":
        return None
    from kafka_core.kerberos.login import Login

    return Login.from_config(config)


class Connector:
    """Makes connections: holds what all connections of one client share (TLS context, tokens, login, clock, hooks).

    Args:
        rng: For nonces of SCRAM and the moment of re-authentication.
    """

    def __init__(self, config: Config, *, clock: Clock, rng: random.Random, hooks: Hooks) -> None:
        self.clock, self.rng, self.hooks = clock, rng, hooks
        self.settings = ConnectionSettings.from_config(config)
        self.tokens = TokenSource.from_config(config, clock)
        self.login = _login(config)

    async def connect(self, host: str, port: int, node_id: int = -1) -> BrokerConnection:
        """A connection that is ready for requests, handshake done.

        Raises:
            NetworkError, AuthError, ProtocolError: naming the broker and the cause.
        """
        started_s = self.clock.monotonic()
        connection = BrokerConnection(self.settings, host, port, node_id, self)
        error: Exception | None = None
        try:
            await self._establish(connection)
        except KafkaException as failure:
            error = failure
            raise
        except BaseException:  # cancelled: there is no connection either
            error = NetworkError(f"{connection.name}: this client gave the connection up", KafkaError._DESTROY)
            raise
        finally:
            duration_s = self.clock.monotonic() - started_s
            if error is not None:
                connection.abort()
            logger.debug("%s after %.3f s", error or f"{connection.name}: connected", duration_s)
            self.hooks.on_connect(node_id, connection.address, duration_s, error)
        connection.on_end(lambda reason: self.hooks.on_disconnect(connection.node_id, connection.address, reason))
        return connection

    async def _establish(self, connection: BrokerConnection) -> None:
        limit_s = self.settings.transport.setup_timeout_s
        try:
            async with asyncio.timeout(limit_s):
                await connection.establish()
        except TimeoutError:
            raise NetworkError(
                f"{connection.name}: not ready within {limit_s:g} s (socket.connection.setup.timeout.ms), "
                f"still {connection.stage}",
                KafkaError._TIMED_OUT,
            ) from None

    async def close(self) -> None:
        """Stop what runs in the background (token refresh)."""
        if self.tokens is not None:
            await self.tokens.close()
