"""The cluster client: who leads what, which connection a request takes, coordinators, errors; all clients stand on it.

Must not know records, groups or transactions: it moves requests; what a response means is the caller's business.
Spec: KIP-219 (throttling), KIP-511/482 (versions), KIP-699 (batched FindCoordinator), KIP-899/1102 (re-bootstrap).
"""

import asyncio
import contextlib
import logging
import random
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Final, TypeVar

from kafka_core.aio.cluster.choice import AnyBroker, BrokerChooser
from kafka_core.aio.cluster.client_meters import meters_of
from kafka_core.aio.cluster.coordinators import CoordinatorFinder, CoordinatorKind
from kafka_core.aio.cluster.failures import Failures
from kafka_core.aio.cluster.keeper import MetadataKeeper
from kafka_core.aio.cluster.pool import ConnectionPool, Purpose
from kafka_core.aio.cluster.refresh import MetadataRefresher
from kafka_core.aio.cluster.state import ClusterState
from kafka_core.aio.net.connection import BrokerConnection, Connector
from kafka_core.aio.net.tokens import first_token
from kafka_core.aio.tasks.background import background
from kafka_core.aio.tasks.closing import Closing
from kafka_core.clock import Clock, SystemClock
from kafka_core.config import Config
from kafka_core.engine.metadata import (
    BrokerAddress,
    ClusterView,
    RefreshPlan,
    RefreshRules,
    with_leaders,
)
from kafka_core.engine.retry import Backoff
from kafka_core.errors import KafkaError, KafkaException, NetworkError, StateError
from kafka_core.hooks import Hooks
from kafka_core.model import Uuid
from kafka_core.protocol import ApiMessage, ApiRequest
from kserdes_base.forks import FORKED, share_no_fork

if TYPE_CHECKING:
    from kafka_core.aio.cluster.telemetry import Telemetry

__all__ = ["ClusterClient", "CoordinatorKind", "Purpose"]

logger: Final = logging.getLogger("kafka_core.aio")

_CAUSES_SHOWN: Final = 5

T = TypeVar("T")
ResponseT = TypeVar("ResponseT", bound=ApiMessage)


class ClusterClient:
    """A cluster as one thing to send requests to. Lives on one event loop; none of it is thread-safe.

    Failures are exceptions of `kafka_core.errors`: NetworkError with the first real cause in its text, AuthError,
    ProtocolError, StateError when closed. Error codes inside responses are left to the caller and `engine.retry`.

    Args:
        config: Parsed properties; TLS files are read here.
        clock: For tests.
        rng: Jitter, nonces and choice of the first bootstrap server.
        hooks: Told of connections, requests and throttling.

    Attributes:
        meters: Measurements of the client's parts for telemetry.
        last_error: The first failure among those that still stand (a broker that answers again clears its own);
            None while all is well. For texts of time-outs and for error_cb.

    Raises:
        ConfigError: a TLS file that cannot be used.
    """

    def __init__(
        self,
        config: Config,
        *,
        clock: Clock | None = None,
        rng: random.Random | None = None,
        hooks: Hooks | None = None,
    ) -> None:
        bootstrap = config.addresses()
        self.config = config
        self._clock = clock = clock or SystemClock()
        rng = rng or random.SystemRandom()
        hooks = hooks or Hooks()
        self._request_timeout_s = config.seconds("socket.timeout.ms")
        retry_backoff = Backoff(config.integer("retry.backoff.ms"), config.integer("retry.backoff.max.ms"), rng)

        # Each part knows those made before it; what goes the other way is a listener.
        self._failures = failures = Failures(bootstrap)
        self._state = state = ClusterState(RefreshPlan(refresh_rules(config), rng), failures, clock)
        self.meters = meters = meters_of(config, clock)
        hooks = hooks.plus(meters)
        self._connector = connector = Connector(config, clock=clock, rng=rng, hooks=hooks)
        if connector.tokens is not None:
            connector.tokens.on_failure = failures.token_failed
        self._pool = pool = ConnectionPool(
            connector,
            clock=clock,
            rng=rng,
            backoff_ms=config.integer("reconnect.backoff.ms"),
            backoff_max_ms=config.integer("reconnect.backoff.max.ms"),
            on_up=self._broker_up,
            on_down=state.broker_down,
        )
        self._telemetry: Telemetry | None = None
        if config.flag("enable.metrics.push"):
            from kafka_core.aio.cluster import telemetry  # with messages of its own

            self._telemetry = telemetry.Telemetry(meters, pool, clock, rng, hooks)
        state.on_metadata(lambda view: pool.keep_only(view.brokers))
        if hooks.wants("on_metadata"):
            state.on_metadata(lambda view: hooks.on_metadata(len(view.brokers), partition_counts(view)))
        brokers = BrokerChooser(
            state, failures, pool, rng, rebootstraps=config.text("metadata.recovery.strategy") == "rebootstrap"
        )
        self._refresher = refresher = MetadataRefresher(
            brokers,
            connector,
            bootstrap,
            backoff=retry_backoff,
            canonical_bootstrap=config.text("client.dns.lookup") == "resolve_canonical_bootstrap_servers_only",
            first_bootstrap=rng.randrange(len(bootstrap) or 1),
            on_response=state.take,
        )
        self._any_broker = AnyBroker(state, failures, pool, brokers, refresher)
        self._finder = finder = CoordinatorFinder(self._any_broker, retry_backoff)
        state.on_broker_down(lambda broker: finder.forget_node(broker.node_id))
        self._keeper = MetadataKeeper(state, refresher, clock, self._request_timeout_s)
        self._task: asyncio.Task[None] | None = None
        self._first: asyncio.Task[None] | None = None
        self._closed = self._forked = False
        self._closing = Closing()
        share_no_fork(self)

    @property
    def metadata(self) -> ClusterView:
        """The known state of the cluster; a new snapshot after every change."""
        return self._state.view

    # ---- life

    async def start(self) -> None:
        """Begin the background work (periodic metadata refresh); the first request does it too.

        Connects to nobody yet: that is done when needed.
        """
        self._check()

    async def connect_early(self) -> None:
        """Begin the background work and a first connection, for which nobody waits: as blocking clients do when made.

        Raises:
            AuthError: the client needs a token, and `oauth_cb` gave none within 10 s, or failed.
        """
        self._check()
        tokens = self._connector.tokens
        if tokens is not None and tokens.awaited:
            await first_token(tokens)
        if self.config.addresses() and self._first is None:
            self._first = background(self._connect_first(), "kafka-core-first")

    async def _connect_first(self) -> None:
        with contextlib.suppress(KafkaException):  # whoever listens was told of it; the next call tries again
            await self._refresher.refresh((), allow_auto_create=False)

    @property
    def needs_token(self) -> bool:
        """Whether connections authenticate with OAUTHBEARER tokens."""
        return self._connector.tokens is not None

    @property
    def awaits_token(self) -> bool:
        """Whether a client that is being made waits for its first token, from `oauth_cb` or AWS."""
        return self._connector.tokens is not None and self._connector.tokens.awaited

    def loop(self) -> asyncio.AbstractEventLoop | None:
        """The loop on which the background work runs; None before it was begun. Any thread."""
        return None if self._task is None else self._task.get_loop()

    async def close(self, timeout_s: float = 5.0) -> None:
        """Close all connections; whatever is in flight fails. Takes at most `timeout_s`; may be called twice.

        In a forked child it does nothing: the connections are the parent's.
        """
        if not self._forked:
            self._closed = self._failures.muted = True
            await self._closing.run(partial(self._close, timeout_s))

    def _after_fork(self) -> None:
        """In a forked child: see `kserdes_base.forks`."""
        if self._task is not None:
            self._closed = self._forked = self._failures.muted = True

    async def _close(self, timeout_s: float) -> None:
        for task in (self._task, self._first):
            if task is not None and task is not asyncio.current_task():
                task.cancel()
        began_s = self._clock.monotonic()
        if self._telemetry is not None:
            await self._telemetry.close(timeout_s / 2)
        try:
            async with asyncio.timeout(max(0.0, timeout_s - (self._clock.monotonic() - began_s))):
                await self._refresher.close()
                await self._finder.close()
                await self._pool.close(timeout_s / 2)
                await self._connector.close()
        except TimeoutError:
            logger.debug("closing took longer than %g s; connections are dropped", timeout_s)
        finally:
            self._pool.abort()

    def set_sasl_credentials(self, username: str, password: str) -> None:
        """Use these when a connection authenticates the next time (PLAIN, SCRAM); those that are open stay open.

        May be called from any thread. Raises TypeError if one is no text.
        """
        for name, text in (("username", username), ("password", password)):
            if not isinstance(text, str):
                raise TypeError(f"{name} must be str, not {type(text).__name__}")
        names = {"sasl.username", "sasl.password"}
        given = frozenset(names.union(name for name in self.config if self.config.is_set(name)))
        values = {**self.config, "sasl.username": username, "sasl.password": password}
        self.config = Config(self.config.role, values, given)
        self._connector.settings = replace(self._connector.settings, config=self.config)

    # ---- sending

    async def send(
        self,
        node_id: int,
        request: ApiRequest[ResponseT],
        *,
        timeout_s: float | None = None,
        purpose: Purpose = Purpose.MAIN,
    ) -> ResponseT:
        """Send to one broker and wait for the response.

        Connects first if need be; waits while the socket is full or the broker throttles us (KIP-219).

        Args:
            timeout_s: For all of it; None for socket.timeout.ms (the connection set-up not counted). When it passes
                while the response is awaited, the connection is closed.

        Raises:
            NetworkError, AuthError, ProtocolError, StateError: see the class.
        """
        self._check()
        connection = self._pool.ready(node_id, purpose)
        if connection is not None and connection.writable:
            return await connection.send(request, timeout_s=timeout_s)
        deadline_s = None if timeout_s is None else self._clock.monotonic() + timeout_s
        what = f"broker {node_id}"
        connection = await self._in_time(self.connection(node_id, purpose), timeout_s, what, node_id)
        limit_s = self._request_timeout_s if deadline_s is None else self._left(deadline_s)
        await self._in_time(connection.drain(), limit_s, f"{what}{_silence(connection)}", node_id)
        return await connection.send(request, timeout_s=self._left(deadline_s))

    async def connection(self, node_id: int, purpose: Purpose = Purpose.MAIN) -> BrokerConnection:
        """The connection to a broker, ready; for requests that must go out in the order of the calls.

        Await its `drain()` before each `send()`. Raises as `send`; NetworkError (code _UNKNOWN_BROKER) when metadata
        knows no such broker, not even after asking again.
        """
        self._check()
        connection = self._pool.ready(node_id, purpose)
        if connection is not None:
            return connection
        broker = self.metadata.brokers.get(node_id)
        if broker is None:
            await self.refresh_metadata(())
            broker = self.metadata.brokers.get(node_id)
        if broker is None:
            raise NetworkError(
                f"broker {node_id} is not in the cluster (known: {sorted(self.metadata.brokers)})",
                KafkaError._UNKNOWN_BROKER,
                retriable=True,
            )
        return await self._pool.get(broker, purpose)

    def writable(self, node_id: int, purpose: Purpose = Purpose.MAIN) -> BrokerConnection | None:
        """The connection to a broker if a request can be written to it at once: open, with room, not throttled."""
        connection = None if self._closed else self._pool.ready(node_id, purpose)
        return connection if connection is not None and connection.writable else None

    @property
    def connected(self) -> bool:
        """Whether there is a connection to one of the brokers that metadata names."""
        return any(self._pool.ready(node_id) is not None for node_id in self.metadata.brokers)

    def connected_to(self) -> frozenset[int]:
        """The brokers that there is a connection to, of whatever purpose."""
        return frozenset(
            node_id
            for node_id in self.metadata.brokers
            if any(self._pool.ready(node_id, purpose) is not None for purpose in Purpose)
        )

    def unanswered(self) -> dict[int, tuple[int, int]]:
        """By broker with a connection: requests that wait to be written, and those that wait for their answers."""
        return self._pool.unanswered()

    def connects_in_s(self, node_id: int, purpose: Purpose = Purpose.MAIN) -> float | None:
        """Seconds that the reconnect back-off holds a new connection up; 0.0: none; None: there is a connection."""
        return None if self._pool.ready(node_id, purpose) is not None else self._pool.waits_s(node_id, purpose)

    async def send_any(self, request: ApiRequest[ResponseT], *, timeout_s: float | None = None) -> ResponseT:
        """Send to the least loaded broker that can be reached, bootstrapping first if none is known.

        A broker that cannot be connected to is skipped; once the request was written it is not sent again.
        Raises as `send`.
        """
        self._check()
        limit_s = self._request_timeout_s if timeout_s is None else timeout_s
        deadline_s = self._clock.monotonic() + limit_s
        connection = await self._in_time(self.any_connection(), limit_s, "any broker")
        await self._in_time(connection.drain(), self._left(deadline_s), f"{connection.name}{_silence(connection)}")
        return await connection.send(request, timeout_s=self._left(deadline_s))

    async def any_connection(self) -> BrokerConnection:
        """A connection to some broker; waits, refreshing metadata, until one can be had."""
        return await self._any_broker.any_connection()

    async def send_controller(self, request: ApiRequest[ResponseT], *, timeout_s: float | None = None) -> ResponseT:
        """Send to the controller (in KRaft any broker may be named as such and forwards). Raises as `send`.

        A response that says NOT_CONTROLLER is the caller's: `invalidate()`, then again.
        """
        self._check()
        if self.metadata.controller_id is None or self.metadata.controller_id not in self.metadata.brokers:
            await self.refresh_metadata((), timeout_s=timeout_s)
        controller = self.metadata.controller_id
        if controller is None:
            return await self.send_any(request, timeout_s=timeout_s)
        return await self.send(controller, request, timeout_s=timeout_s)

    # ---- metadata

    async def refresh_metadata(
        self,
        topics: Iterable[str] | None = None,
        *,
        timeout_s: float | None = None,
        allow_auto_create: bool | None = None,
    ) -> ClusterView:
        """Ask for metadata and wait for the answer; concurrent callers share one request.

        Args:
            topics: None for all topics; empty for the brokers alone. Errors of single topics are in the view.
            timeout_s: None for socket.timeout.ms. Until then brokers are tried again and again.
            allow_auto_create: Whether the broker may create missing topics; None: allow.auto.create.topics.

        Raises:
            NetworkError: nobody answered in time; its text and code are those of the first real cause.
            AuthError, ProtocolError: at once, when trying again cannot help.
        """
        self._check()
        if allow_auto_create is None:
            allow_auto_create = self.config.flag("allow.auto.create.topics")
        limit_s = self._request_timeout_s if timeout_s is None else timeout_s
        await self._in_time(self._refresher.refresh(topics, allow_auto_create=allow_auto_create), limit_s, "metadata")
        return self.metadata

    def invalidate(self, topic: str | None = None) -> None:
        """A leader (of that topic; None: anything) is not what the view says: refresh soon, in the background.

        May be called as often as one likes: requests are spaced (topic.metadata.refresh.fast.interval.ms, doubling
        up to 250 ms, and when the trouble lasts longer than an election up to retry.backoff.max.ms).
        """
        self._state.invalidate(topic)

    def track_topics(self, topics: Iterable[str]) -> None:
        """The topics to keep up to date by the periodic refresh; replaces the earlier ones."""
        self._state.track(topics)

    def on_metadata(self, listener: Callable[[ClusterView], None]) -> None:
        """Have `listener` called on the loop with every new view; it must be quick."""
        self._state.on_metadata(listener)

    def hint_leaders(self, leaders: Iterable[tuple[str, int, int, int]], brokers: Iterable[BrokerAddress] = ()) -> None:
        """Leaders learnt from a Produce or Fetch response (KIP-951): (topic, partition, leader id, leader epoch)."""
        self._state.publish(with_leaders(self.metadata, leaders, brokers))

    async def client_instance_id(self, *, timeout_s: float | None = None) -> Uuid:
        """The id that the cluster has given this client for its telemetry; waits for it.

        Args:
            timeout_s: None for socket.timeout.ms.

        Raises:
            StateError: enable.metrics.push is false, or the client is closed.
            UnsupportedVersionError: the cluster takes no telemetry. BrokerError: it refuses to give an id.
            NetworkError: nobody answered in time. AuthError, ProtocolError: as `refresh_metadata`.
        """
        self._check()
        telemetry = self._telemetry
        if telemetry is None:
            raise StateError("without telemetry (enable.metrics.push=false) a client gets no instance id")

        async def find() -> Uuid:
            await self.any_connection()
            return Uuid.from_uuid(await telemetry.instance_id())

        limit_s = self._request_timeout_s if timeout_s is None else timeout_s
        return await self._in_time(find(), limit_s, "the client's instance id")

    # ---- coordinators

    async def coordinator(self, kind: CoordinatorKind, key: str, *, timeout_s: float | None = None) -> int:
        """Node id of the coordinator of a group or transactional id; remembered until `forget_coordinator`.

        Waits while the coordinator is loading or not available.

        Args:
            timeout_s: None for socket.timeout.ms.

        Raises:
            BrokerError: not authorized. NetworkError, AuthError, ProtocolError: as `refresh_metadata`.
        """
        self._check()
        limit_s = self._request_timeout_s if timeout_s is None else timeout_s
        return await self._in_time(self._finder.find(kind, key), limit_s, f"coordinator of {kind.name.lower()} {key!r}")

    def forget_coordinator(self, kind: CoordinatorKind, key: str) -> None:
        """Forgets a coordinator that answered NOT_COORDINATOR."""
        self._finder.forget(kind, key)

    # ---- errors

    @property
    def last_error(self) -> KafkaException | None:
        """The first failure among those that still stand; None while all is well."""
        return self._failures.first

    def throttled_s(self) -> dict[int, float]:
        """Brokers that throttle this client (KIP-219), with the seconds that are left."""
        return self._pool.throttled_s()

    def on_error(self, listener: Callable[[KafkaError], None]) -> None:
        """Have `listener` called on the loop with connection and authentication errors, also _ALL_BROKERS_DOWN.

        The same error of the same broker is told once until that broker has answered again.
        """
        self._failures.listen(listener)

    # ---- inside

    def _broker_up(self, broker: BrokerAddress) -> None:
        self._failures.broker_reached(broker)
        if self._telemetry is not None:
            self._telemetry.broker_up(broker)

    def _check(self) -> None:
        """Before every call: refuse a closed client, begin the background work of a new one."""
        if self._closed:
            raise StateError(FORKED if self._forked else "the client is closed")
        if self._task is None:
            self._task = background(self._keep(), "kafka-core-keeper")

    def _left(self, deadline_s: float | None) -> float | None:
        return None if deadline_s is None else max(0.001, deadline_s - self._clock.monotonic())

    async def _in_time(self, work: Awaitable[T], timeout_s: float | None, what: str, node_id: int | None = None) -> T:
        """Wait for `work`, but not longer; the time-out error names the real causes, the first one is its code.

        `node_id` limits the causes to that broker's.
        """
        self._failures.forget_passing()
        try:
            async with asyncio.timeout(timeout_s):
                return await work
        except TimeoutError:
            causes = self._failures.all() if node_id is None else self._failures.of_broker(node_id)
            text = f"{what}: no answer within {timeout_s:.3g} s"
            if not causes:
                raise NetworkError(text, KafkaError._TIMED_OUT) from None
            reasons = "; ".join(dict.fromkeys(map(str, causes[:_CAUSES_SHOWN])))
            raise NetworkError(f"{text}: {reasons}", causes[0].code, retriable=True) from causes[0]
        except asyncio.CancelledError:
            if self._closed and not _cancelled_by_caller():
                raise StateError("the client was closed while the call was waiting") from None
            raise

    async def _keep(self) -> None:
        try:
            await self._keeper.run()
        finally:  # also when the loop is torn down without close(): no socket is left open
            if not self._closed:
                self._pool.abort()


def refresh_rules(config: Config) -> RefreshRules:
    """The configured rules of metadata refreshes."""
    interval_ms = config.integer("topic.metadata.refresh.interval.ms")
    return RefreshRules(
        interval_s=interval_ms / 1000 if interval_ms > 0 else None,
        fast_interval_ms=config.integer("topic.metadata.refresh.fast.interval.ms"),
        fast_max_ms=config.integer("retry.backoff.max.ms"),
        max_age_s=config.seconds("metadata.max.age.ms"),
    )


def partition_counts(view: ClusterView) -> dict[str, int]:
    """The number of partitions of each known topic."""
    return {name: len(topic.partitions) for name, topic in view.topics.items()}


def _silence(connection: BrokerConnection) -> str:
    """The part of a time-out's text that names a broker's throttle time; empty if there is none."""
    left_s = connection.throttled_s
    return f" (which asked for {left_s:.3g} s of silence, throttle_time_ms)" if left_s else ""


def _cancelled_by_caller() -> bool:
    """Whether the running task itself was cancelled (not only what it waited for)."""
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0
