"""Keeps fetches in flight: the part of a consumer that runs by itself on the loop.

Must not know the group or the application: it serves whatever is assigned.
Spec: DESIGN §4; engine/consuming/fetcher.py plans and reads.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from functools import partial
from typing import Final

from kafka_core.aio.cluster.client import ClusterClient, Purpose
from kafka_core.aio.consuming.position_finder import PositionFinder
from kafka_core.aio.net.connection import BrokerConnection
from kafka_core.aio.tasks.background import background
from kafka_core.aio.tasks.signals import Signal
from kafka_core.clock import Clock
from kafka_core.engine.consuming.fetch_session import LAST_VERSION_WITH_NAMES
from kafka_core.engine.consuming.fetcher import Fetcher, Outcome, PlannedFetch
from kafka_core.errors import KafkaError, KafkaException, NetworkError
from kafka_core.hooks import Hooks
from kafka_core.protocol import usual_fetches
from kafka_core.protocol.messages.fetch import FetchRequest, FetchResponse

logger: Final = logging.getLogger("kafka_core.consumer")

LEADER_PATIENCE_S: Final = 0.25
"""Seconds that a connection to a leader may take before metadata is asked for again (which spaces its own requests)."""

REPLAN_S: Final = 1.0


class FetchLoop:
    """Sends the fetcher's plans; one request per broker, and one beside it for partitions in a hurry.

    Args:
        request_timeout_s: beyond the time that the broker may wait for data.
        again: set when positions, leaders or room changed: fetches are planned again.
        put: called when the records of an answer are in the queue, before more are asked for.
    """

    def __init__(
        self,
        client: ClusterClient,
        fetcher: Fetcher,
        positions: PositionFinder,
        clock: Clock,
        hooks: Hooks,
        request_timeout_s: float,
        again: Signal,
        put: Callable[[], object] | None = None,
    ) -> None:
        self._client = client
        self._fetcher = fetcher
        self._positions = positions
        self._clock = clock
        self._hooks = hooks
        self._timeout_s = request_timeout_s
        self._put = put
        self._in_flight: dict[int, asyncio.Task[None] | None] = {}  # None: asked without a task
        self._planned: dict[int, PlannedFetch] = {}
        self._beside: dict[int, asyncio.Task[None]] = {}
        self._timer: asyncio.TimerHandle | None = None
        self._stopped = False
        usual_fetches.use_for_reading()
        again.watch(self._pump)

    def _pump(self) -> None:
        if self._stopped:
            return
        try:
            self._plan()
        except Exception:  # ours: the consumer must not stand still for ever, in silence
            logger.exception("planning fetches failed; they are planned again in %g s", REPLAN_S)
            self._set_timer(REPLAN_S)

    def _plan(self) -> None:
        view, now_s = self._client.metadata, self._clock.monotonic()
        # While a request beside the session is out, none of the session's is planned: it would ask for the same.
        planned, unknown, again_s = self._fetcher.plan(view, now_s, self._in_flight.keys() | self._beside.keys())
        for item in planned:
            self._begin(item)
        overtakable = {node: item for node, item in self._planned.items() if node not in self._beside}
        for item in self._fetcher.plan_beside(view, now_s, overtakable):
            task = background(self._fetch_beside(item), f"kafka-core-fetch-beside-{item.node_id}")
            task.add_done_callback(partial(self._fetched_beside, item.node_id))
            self._beside[item.node_id] = task
        for topic in unknown:
            self._client.invalidate(topic)
        self._positions.find_due()
        self._set_timer(None if again_s is None else max(0.001, again_s - self._clock.monotonic()))

    def _set_timer(self, delay_s: float | None) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if delay_s is not None:
            self._timer = asyncio.get_running_loop().call_later(delay_s, self._pump)

    def _begin(self, planned: PlannedFetch) -> None:
        """Sends the request: at once where that can be done; a task waits until it can."""
        node_id = planned.node_id
        self._planned[node_id], self._in_flight[node_id] = planned, None
        connection = self._client.writable(node_id, Purpose.FETCH)
        if connection is None:
            task = background(self._fetch(planned), f"kafka-core-fetch-{node_id}")
            task.add_done_callback(lambda _task: self._fetched(node_id))
            self._in_flight[node_id] = task
            return
        try:
            version, timeout_s = self._form(planned, connection)
            answered = partial(self._answered, planned)
            connection.ask(planned.request, answered, timeout_s=timeout_s, version=version)
        except Exception as error:
            asyncio.get_running_loop().call_soon(self._answered, planned, None, error)

    def _answered(self, planned: PlannedFetch, response: FetchResponse | None, error: Exception | None) -> None:
        """Plans the next fetch in the loop's next turn, after those who wait for these records have got them."""
        if self._stopped:
            return
        try:
            self._take(planned, response, error)
            if self._put is not None:
                self._put()
        finally:  # as with a task, whatever happens: a broker that counts as being asked is not asked again
            asyncio.get_running_loop().call_soon(self._fetched, planned.node_id)

    def _take(self, planned: PlannedFetch, response: FetchResponse | None, error: Exception | None) -> None:
        try:
            if response is None:
                raise error or NetworkError("no answer")
            outcome = self._fetcher.received(planned, response, self._clock.monotonic())
        except Exception as failure:
            log_failure(planned, failure)
            lost = isinstance(failure, NetworkError) and failure.code == KafkaError._TRANSPORT
            outcome = self._fetcher.failed(planned, self._clock.monotonic(), lost=lost)
        self._follow(planned.node_id, outcome)

    async def _fetch(self, planned: PlannedFetch) -> None:
        response: FetchResponse | None = None
        failure: Exception | None = None
        try:
            response = await self._send(planned, Purpose.FETCH)
        except Exception as error:
            failure = error
        self._take(planned, response, failure)

    async def _fetch_beside(self, planned: PlannedFetch) -> None:
        try:
            response = await self._send(planned, Purpose.MAIN)
            outcome = self._fetcher.received_beside(planned, response, self._clock.monotonic())
        except Exception as error:
            log_failure(planned, error)
            outcome = self._fetcher.received_beside(planned, None, self._clock.monotonic())
        self._follow(planned.node_id, outcome)

    # Called by the loop, however the fetches ended; not where it is torn down and tasks are thrown away half-way.

    def _fetched(self, node_id: int) -> None:
        self._in_flight.pop(node_id, None)
        self._planned.pop(node_id, None)
        self._pump()

    def _fetched_beside(self, node_id: int, _task: asyncio.Task[None]) -> None:
        self._beside.pop(node_id, None)
        self._pump()

    async def _send(self, planned: PlannedFetch, purpose: Purpose) -> FetchResponse:
        connection = await self._connection(planned, purpose)
        await connection.drain()
        version, timeout_s = self._form(planned, connection)
        return await connection.send(planned.request, timeout_s=timeout_s, version=version)

    def _form(self, planned: PlannedFetch, connection: BrokerConnection) -> tuple[int, float]:
        """The version to send it in, and how long it may take."""
        version = connection.version_of(FetchRequest)
        if not planned.by_topic_id:
            version = min(version, LAST_VERSION_WITH_NAMES)
        return version, self._timeout_s + planned.request.max_wait_ms / 1000

    async def _connection(self, planned: PlannedFetch, purpose: Purpose) -> BrokerConnection:
        """The connection to the leader; while it can't be had the metadata is asked: it may have found another one.

        The wait may be long: reconnect.backoff.max.ms, or the time-out of a connection to a host that is gone.
        """
        wait_s = self._client.connects_in_s(planned.node_id, purpose)
        if wait_s is None:
            return await self._client.connection(planned.node_id, purpose)
        attempt = asyncio.ensure_future(self._client.connection(planned.node_id, purpose))
        try:
            if wait_s > 0:
                self._ask_for_leaders(planned)
            while not attempt.done():
                await asyncio.wait((attempt,), timeout=LEADER_PATIENCE_S)
                if not attempt.done():
                    self._ask_for_leaders(planned)
            return attempt.result()
        finally:
            if not attempt.cancel() and not attempt.cancelled():
                attempt.exception()  # looked at, so that asyncio does not call it lost when we were cancelled

    def _ask_for_leaders(self, planned: PlannedFetch) -> None:
        for topic in planned.topics():
            self._client.invalidate(topic)
        if self._fetcher.leave_follower(planned):
            asyncio.get_running_loop().call_soon(self._pump)

    def _follow(self, node_id: int, outcome: Outcome) -> None:
        if outcome.leaders:
            self._client.hint_leaders(outcome.leaders, outcome.brokers)
        for topic in outcome.stale_topics:
            self._client.invalidate(topic)
        if self._hooks.wants("on_batch_fetched"):
            for topic, partition, records, size_bytes in outcome.records:
                self._hooks.on_batch_fetched(node_id, topic, partition, records, size_bytes)

    async def stop(self) -> None:
        """Ends requests in flight."""
        self._stopped = True
        if self._timer is not None:
            self._timer.cancel()
        tasks = [task for task in (*self._in_flight.values(), *self._beside.values()) if task is not None]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


def log_failure(planned: PlannedFetch, error: Exception) -> None:
    """A fetch failed; anything but a KafkaException is our own mistake, which must not end the fetching in silence."""
    if isinstance(error, KafkaException):
        logger.debug("fetch from broker %d failed: %s", planned.node_id, error)
    else:
        logger.error("the answer of broker %d to a fetch could not be used", planned.node_id, exc_info=error)
