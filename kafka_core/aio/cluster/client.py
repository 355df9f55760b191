"""The cluster client: who leads what, which connection a request takes, coordinators, errors; all clients stand on it.

Must not know records, groups or transactions: it moves requests; what a response means is the caller's business.
Spec: KIP-219 (throttling), KIP-511/482 (versions), KIP-699 (batched FindCoordinator), KIP-899/1102 (re-bootstrap).
"""

import asyncio
import contextlib
import logging
import random
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial
from typing import Final, TypeVar

from kafka_core.aio.cluster.coordinators import CoordinatorFinder, CoordinatorKind
from kafka_core.aio.cluster.pool import ConnectionPool, Purpose
from kafka_core.aio.cluster.refresh import STAGGER_S, Address, MetadataRefresher
from kafka_core.aio.net.connection import BrokerConnection, Connector
from kafka_core.aio.tasks.background import background
from kafka_core.aio.tasks.closing import Closing
from kafka_core.aio.tasks.race import AllFailed, race
from kafka_core.clock import Clock, SystemClock
from kafka_core.config import Config
from kafka_core.engine.metadata import (
    BrokerAddress,
    ClusterView,
    RefreshPlan,
    RefreshRules,
    merge,
    with_broker,
    with_leaders,
    without_old_topics,
)
from kafka_core.engine.retry import Backoff
from kafka_core.errors import ConfigError, KafkaError, KafkaException, NetworkError, StateError
from kafka_core.hooks import Hooks
from kafka_core.protocol import ApiMessage, ApiRequest
from kafka_core.protocol.messages.metadata import MetadataResponse

__all__ = ["ClusterClient", "CoordinatorKind", "Purpose"]

logger: Final = logging.getLogger("kafka_core.aio")

_CAUSES_SHOWN: Final = 5
_SILENT_S: Final = STAGGER_S / 2
"""After so long without an answer other brokers are asked first."""

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
        metadata: What is known of the cluster; a new snapshot after every change.
        last_error: The first failure among those that still stand (a broker that answers again clears its own);
            None while all is well. For texts of time-outs and for error_cb.

    Raises:
        ConfigError: no bootstrap.servers, or a TLS file that cannot be used.
    """

    def __init__(
        self,
        config: Config,
        *,
        clock: Clock | None = None,
        rng: random.Random | None = None,
        hooks: Hooks | None = None,
    ) -> None:
        self.config = config
        self.metadata = ClusterView()
        self._clock = clock or SystemClock()
        self._rng = rng or random.SystemRandom()
        self._hooks = hooks or Hooks()
        self._request_timeout_s = config.seconds("socket.timeout.ms")
        self._retry_backoff = self._make_backoff("retry.backoff.ms", "retry.backoff.max.ms")
        self._bootstrap = config.addresses()
        if not self._bootstrap:
            raise ConfigError("bootstrap.servers is not set: name at least one broker as host:port")
        self._rebootstraps = config.text("metadata.recovery.strategy") == "rebootstrap"
        self._must_bootstrap = False
        self._failures: dict[int | str, KafkaException] = {}
        self._all_down_reported = False
        self._metadata_listeners: list[Callable[[ClusterView], None]] = []
        self._error_listeners: list[Callable[[KafkaError], None]] = []
        self._plan = RefreshPlan(self._refresh_rules(), self._rng)
        self._closed = False
        self._closing = Closing()
        self._keeper: asyncio.Task[None] | None = None
        self._wake = asyncio.Event()
        self._connector = Connector(config, clock=self._clock, rng=self._rng, hooks=self._hooks)
        self._pool = ConnectionPool(
            self._connector,
            clock=self._clock,
            rng=self._rng,
            backoff_ms=config.integer("reconnect.backoff.ms"),
            backoff_max_ms=config.integer("reconnect.backoff.max.ms"),
            on_up=self._broker_up,
            on_down=self._broker_down,
        )
        self._refresher = MetadataRefresher(
            self,
            self._connector,
            self._bootstrap,
            backoff=self._retry_backoff,
            canonical_bootstrap=config.text("client.dns.lookup") == "resolve_canonical_bootstrap_servers_only",
            first_bootstrap=self._rng.randrange(len(self._bootstrap)),
            on_response=self._take_metadata,
        )
        self._finder = CoordinatorFinder(self, self._retry_backoff)

    # ---- life

    async def start(self) -> None:
        """Begin the background work (periodic metadata refresh); the first request does it too.

        Connects to nobody yet: that is done when needed.
        """
        self._check()

    def loop(self) -> asyncio.AbstractEventLoop | None:
        """The loop on which the background work runs; None before it was begun. Any thread."""
        return None if self._keeper is None else self._keeper.get_loop()

    async def close(self, timeout_s: float = 5.0) -> None:
        """Close all connections; whatever is in flight fails. Takes at most `timeout_s`; may be called twice."""
        self._closed = True
        await self._closing.run(partial(self._close, timeout_s))

    async def _close(self, timeout_s: float) -> None:
        if self._keeper is not None and self._keeper is not asyncio.current_task():
            self._keeper.cancel()
        try:
            async with asyncio.timeout(timeout_s):
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

        May be called from any thread.
        """
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

    def connects_in_s(self, node_id: int, purpose: Purpose = Purpose.MAIN) -> float | None:
        """How long the reconnect back-off holds a new connection up; 0.0: not at all; None: there is a connection."""
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
        self._plan.invalidate(topic, self._clock.monotonic())
        self._wake.set()

    def track_topics(self, topics: Iterable[str]) -> None:
        """The topics to keep up to date by the periodic refresh; replaces the earlier ones."""
        self._plan.track(topics)
        self._wake.set()

    def on_metadata(self, listener: Callable[[ClusterView], None]) -> None:
        """Have `listener` called on the loop with every new view; it must be quick."""
        self._metadata_listeners.append(listener)

    def hint_leaders(self, leaders: Iterable[tuple[str, int, int, int]], brokers: Iterable[BrokerAddress] = ()) -> None:
        """Leaders learnt from a Produce or Fetch response (KIP-951): (topic, partition, leader id, leader epoch)."""
        self._publish(with_leaders(self.metadata, leaders, brokers))

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
        """It said that it is not the coordinator (any more)."""
        self._finder.forget(kind, key)

    # ---- errors

    @property
    def last_error(self) -> KafkaException | None:
        """The first failure among those that still stand; None while all is well."""
        return next(iter(self._causes()), None)

    def throttled_s(self) -> dict[int, float]:
        """Brokers that asked this client to be silent (KIP-219), with the seconds that are left."""
        return self._pool.throttled_s()

    def on_error(self, listener: Callable[[KafkaError], None]) -> None:
        """Have `listener` called on the loop with connection and authentication errors, also _ALL_BROKERS_DOWN.

        The same error of the same broker is told once until that broker has answered again.
        """
        self._error_listeners.append(listener)

    # ---- what the refresher and the finder need

    def brokers_by_load(self) -> Sequence[BrokerAddress]:
        """Known brokers: connected ones first, the least loaded first; then those whose back-off ends first; last of
        all those that have stopped answering.

        None at all after a broker told us to begin again with the bootstrap servers.
        """
        if self._must_bootstrap:
            return []

        def cost(broker: BrokerAddress) -> tuple[int, float, float]:
            ready = self._pool.ready(broker.node_id)
            if ready is not None and ready.silent_s > _SILENT_S:
                return 2, ready.silent_s, self._rng.random()
            if ready is not None:
                return 0, ready.in_flight + (0 if ready.writable else 1000), self._rng.random()
            return 1, self._pool.waits_s(broker.node_id), self._rng.random()

        return sorted(self.metadata.brokers.values(), key=cost)

    async def connection_to(self, broker: BrokerAddress) -> BrokerConnection:
        """The main connection to a known broker."""
        return await self._pool.get(broker)

    async def any_connection(self) -> BrokerConnection:
        """A connection to some broker; waits, refreshing metadata, until one can be had."""
        while True:
            brokers = self.brokers_by_load()
            with contextlib.suppress(AllFailed):
                return await race([partial(self._pool.get, broker) for broker in brokers], stagger_s=STAGGER_S)
            await self._refresher.refresh((), allow_auto_create=False)
            if not self.metadata.brokers:
                raise NetworkError("the cluster says that it has no brokers", KafkaError._ALL_BROKERS_DOWN)

    def may_bootstrap(self) -> bool:
        """Whether the bootstrap servers may be asked: nobody is known, or (KIP-899) nobody known can be reached."""
        if not self.metadata.brokers or self._must_bootstrap:
            return True
        return self._rebootstraps and all(node_id in self._failures for node_id in self.metadata.brokers)

    def rebootstrap(self) -> None:
        """A broker answered REBOOTSTRAP_REQUIRED (KIP-1102): only the bootstrap servers are asked until one answers."""
        self._must_bootstrap = self._rebootstraps

    def bootstrapped(self, connection: BrokerConnection, response: MetadataResponse) -> None:
        """A bootstrap server answered: keep its connection if it is a broker's own address, else let it go."""
        self._forget_bootstrap_failures()
        self._all_down_reported = False
        self._must_bootstrap = False
        for item in response.brokers:
            if (item.host, item.port) == (connection.host, connection.port):
                broker = BrokerAddress(item.node_id, item.host, item.port, item.rack)
                if not self._closed and self._pool.adopt(broker, connection):
                    return
        self._pool.retire(connection)

    def bootstrap_failed(self, address: str, error: KafkaException) -> None:
        """A bootstrap server could not be asked."""
        self._note(address, error)
        if all(f"{host}:{port}" in self._failures for host, port in self._bootstrap):
            self._report_all_down()

    def broker_seen(self, broker: BrokerAddress) -> None:
        """A broker's address was learnt from a FindCoordinator response."""
        if self.metadata.brokers.get(broker.node_id) is None:
            self._publish(with_broker(self.metadata, broker))

    def note_failure(self, error: KafkaException) -> None:
        """Keep a cause for the text of a time-out, without telling anybody."""
        self._failures.setdefault("", error)

    # ---- inside

    def _check(self) -> None:
        """Before every call: refuse a closed client, begin the background work of a new one."""
        if self._closed:
            raise StateError("the client is closed")
        if self._keeper is None:
            self._keeper = background(self._keep(), "kafka-core-keeper")

    def _left(self, deadline_s: float | None) -> float | None:
        return None if deadline_s is None else max(0.001, deadline_s - self._clock.monotonic())

    async def _in_time(self, work: Awaitable[T], timeout_s: float | None, what: str, node_id: int | None = None) -> T:
        """Wait for `work`, but not longer; the time-out error names the real causes, the first one is its code.

        `node_id` limits the causes to that broker's.
        """
        self._failures.pop("", None)
        try:
            async with asyncio.timeout(timeout_s):
                return await work
        except TimeoutError:
            causes = self._causes()
            if node_id is not None:
                causes = [cause for key, cause in self._failures.items() if key == node_id]
            text = f"{what}: no answer within {timeout_s:.3g} s"
            if not causes:
                raise NetworkError(text, KafkaError._TIMED_OUT) from None
            reasons = "; ".join(dict.fromkeys(map(str, causes[:_CAUSES_SHOWN])))
            raise NetworkError(f"{text}: {reasons}", causes[0].code, retriable=True) from causes[0]
        except asyncio.CancelledError:
            if self._closed and not _cancelled_by_caller():
                raise StateError("the client was closed while the call was waiting") from None
            raise

    def _causes(self) -> list[KafkaException]:
        """The failures that stand: the first one first, those of bootstrap servers in the order of the setting."""
        order = {f"{host}:{port}": index for index, (host, port) in enumerate(self._bootstrap)}
        return [self._failures[key] for key in sorted(self._failures, key=lambda key: order.get(str(key), -1))]

    def _make_backoff(self, base: str, maximum: str) -> Backoff:
        return Backoff(self.config.integer(base), self.config.integer(maximum), self._rng)

    def _refresh_rules(self) -> RefreshRules:
        interval_ms = self.config.integer("topic.metadata.refresh.interval.ms")
        return RefreshRules(
            interval_s=interval_ms / 1000 if interval_ms > 0 else None,
            fast_interval_ms=self.config.integer("topic.metadata.refresh.fast.interval.ms"),
            fast_max_ms=self.config.integer("retry.backoff.max.ms"),
            max_age_s=self.config.seconds("metadata.max.age.ms"),
        )

    def _take_metadata(
        self, response: MetadataResponse, topics: frozenset[str] | None, address: Address, asked: int
    ) -> None:
        now_s = self._clock.monotonic()
        view = merge(self.metadata, response, now_s=now_s, all_topics=topics is None, address=address, asked=asked)
        view = without_old_topics(view, now_s=now_s, max_age_s=self._plan.max_age_s, keep=self._plan.tracked)
        self._plan.observed(now_s, topics)
        for gone in [key for key in self._failures if isinstance(key, int) and key not in view.brokers]:
            del self._failures[gone]
        self._pool.keep_only(view.brokers)
        self._publish(view)
        self._wake.set()

    def _publish(self, view: ClusterView) -> None:
        self.metadata = view
        for listener in self._metadata_listeners:
            try:
                listener(view)
            except Exception:
                logger.exception("a metadata listener failed")

    def _broker_up(self, broker: BrokerAddress) -> None:
        self._failures.pop(broker.node_id, None)
        self._forget_bootstrap_failures()
        self._all_down_reported = False

    def _forget_bootstrap_failures(self) -> None:
        """The cluster can be reached: why bootstrap servers could not does not matter any more."""
        for address in [key for key in self._failures if isinstance(key, str)]:
            del self._failures[address]

    def _broker_down(self, broker: BrokerAddress, error: KafkaException) -> None:
        self._note(broker.node_id, error)
        self._finder.forget_node(broker.node_id)
        if self._closed:
            return
        self.invalidate()
        known = self.metadata.brokers
        if known and all(node_id in self._failures for node_id in known):
            self._report_all_down()

    def _note(self, key: int | str, error: KafkaException) -> None:
        known = self._failures.get(key)
        if known is None or known.code != error.code:
            self._failures[key] = error
            logger.info("%s", error)
            self._tell(error.error)

    def _report_all_down(self) -> None:
        if self._all_down_reported:
            return
        self._all_down_reported = True
        count = len(self.metadata.brokers) or len(self._bootstrap)
        cause = self.last_error
        error = KafkaError(
            KafkaError._ALL_BROKERS_DOWN, f"{count}/{count} brokers are down; first cause: {cause}", retriable=True
        )
        logger.warning("%s", error.str())
        self._tell(error)

    def _tell(self, error: KafkaError) -> None:
        for listener in self._error_listeners:
            try:
                listener(error)
            except Exception:
                logger.exception("an error listener failed")

    async def _keep(self) -> None:
        """Refresh metadata when it is due, for as long as the client lives."""
        try:
            while True:
                self._wake.clear()
                due_at_s = self._plan.due_at_s()
                wait_s = None if due_at_s is None else due_at_s - self._clock.monotonic()
                if wait_s is not None and wait_s <= 0:
                    await self._refresh_in_background()
                    continue
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(wait_s):
                        await self._wake.wait()
        finally:  # also when the loop is torn down without close(): no socket is left open
            if not self._closed:
                self._pool.abort()

    async def _refresh_in_background(self) -> None:
        topics = self._plan.started(self._clock.monotonic())
        ok = False
        try:
            async with asyncio.timeout(self._request_timeout_s):
                await self._refresher.refresh(topics, allow_auto_create=False)
            ok = True
        except (KafkaException, TimeoutError) as error:
            logger.debug("background metadata refresh failed: %s", error)
        finally:
            self._plan.finished(self._clock.monotonic(), ok=ok, topics=topics)


def _silence(connection: BrokerConnection) -> str:
    """For the text of a time-out: that the broker has asked for silence."""
    left_s = connection.throttled_s
    return f" (which asked for {left_s:.3g} s of silence, throttle_time_ms)" if left_s else ""


def _cancelled_by_caller() -> bool:
    """Whether the running task itself was cancelled (not only what it waited for)."""
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0
