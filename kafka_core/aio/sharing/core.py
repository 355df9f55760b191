"""The share consumer on its event loop: makes its parts, sends what they plan and ends them, for both faces.

Must not know threads or the application's callbacks; coroutines run on one loop.
Spec: KIP-932; engine/sharing/fetching.py plans and reads, engine/groups/share.py is the membership.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import random
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from typing import Final

from kafka_core.aio.cluster.client import ClusterClient, Purpose
from kafka_core.aio.cluster.statistics import brokers
from kafka_core.aio.cluster.traffic import Traffic
from kafka_core.aio.consuming.events import Notice, Statistics
from kafka_core.aio.consuming.group import GroupDriver
from kafka_core.aio.consuming.inbox import Inbox, ThrottleListener
from kafka_core.aio.consuming.polls import Polls
from kafka_core.aio.consuming.rpc import ConsumerRpc
from kafka_core.aio.consuming.running import Running
from kafka_core.aio.consuming.settings import callbacks_of, new_member_id
from kafka_core.aio.tasks.background import background
from kafka_core.clock import Clock, SystemClock
from kafka_core.config import Config
from kafka_core.engine.groups.share import ShareMembership
from kafka_core.engine.groups.states import Event, GroupSettings, State
from kafka_core.engine.metadata import ClusterView
from kafka_core.engine.retry import Backoff
from kafka_core.engine.sharing.fetching import EVERYTHING, Delivery, News, Planned, Settled, ShareFetching
from kafka_core.engine.sharing.holdings import Acknowledged
from kafka_core.engine.sharing.session import FetchLimits
from kafka_core.errors import KafkaError, KafkaException
from kafka_core.hooks import Hooks
from kafka_core.kernels import Message
from kafka_core.protocol.messages.share_acknowledge import ShareAcknowledgeResponse
from kafka_core.protocol.messages.share_fetch import ShareFetchResponse
from kafka_core.records import open_batches

logger: Final = logging.getLogger("kafka_core.consumer")

CLOSE_LIMIT_S: Final = 10.0
ACQUIRE_MODES: Final = {"batch_optimized": 0, "record_limit": 1}


class ShareCore:
    """The share consumer below its blocking or asyncio face. Coroutines run on its loop.

    Args:
        config: parsed for a share consumer.
        client: for tests.

    Attributes:
        inbox: what is to be told beside records. `settled`: answers to acknowledgements. Both are taken by the face.
    """

    def __init__(
        self,
        config: Config,
        *,
        clock: Clock | None = None,
        rng: random.Random | None = None,
        client: ClusterClient | None = None,
    ) -> None:
        self.config = config
        self.clock = clock = clock or SystemClock()
        rng = rng or random.SystemRandom()
        backoff = Backoff(config.integer("retry.backoff.ms"), config.integer("retry.backoff.max.ms"), rng)
        timeout_s = config.seconds("socket.timeout.ms")
        self._timeout_s = timeout_s
        self._group_changed = asyncio.Event()
        self._progress = asyncio.Event()
        self._news = asyncio.Event()
        self.polls = Polls(clock.monotonic())
        self.inbox = inbox = Inbox(callbacks_of(config), self._tell, self._progress)
        self.settled: deque[Settled] = deque()
        member_id = new_member_id(rng)
        group_id = config.text("group.id")
        settings = GroupSettings(
            group_id,
            max_poll_interval_s=config.seconds("max.poll.interval.ms"),
            request_timeout_s=timeout_s,
            rack=config.optional_text("client.rack"),
        )
        self.membership = ShareMembership(settings, backoff, member_id)
        limits = FetchLimits(
            max_wait_ms=config.integer("fetch.wait.max.ms"),
            min_bytes=config.integer("fetch.min.bytes"),
            max_bytes=config.integer("fetch.max.bytes"),
            max_records=config.integer("max.poll.records"),
            acquire_mode=ACQUIRE_MODES[config.text("share.acquire.mode")],
        )
        self.fetching = ShareFetching(
            group_id, member_id, limits, open_batches, backoff, check_crcs=config.flag("check.crcs")
        )
        throttles = ThrottleListener(inbox)
        hooks = config.hooks()
        if inbox.callbacks.throttle_cb is not None:
            hooks = Hooks([hooks, throttles])
        self._traffic = Traffic(clock)
        if inbox.callbacks.stats_cb is not None:
            hooks = hooks.plus(self._traffic)
        self._received = 0
        self.client = client = client or ClusterClient(config, clock=clock, rng=rng, hooks=hooks)
        client.meters.member_id = lambda: self.membership.member_id
        client.on_metadata(throttles.on_metadata)
        client.on_metadata(self._on_metadata)
        client.on_error(inbox.tell_client_error)
        self.running = Running(client, clock)
        rpc = ConsumerRpc(client, clock, backoff, group_id, timeout_s)
        self._group = GroupDriver(
            self.membership, client, rpc, clock, self, self.polls, self._group_changed, self._progress
        )
        self._names: frozenset[str] = frozenset()
        self._given: Delivery | None = None
        self._poll_until_s: float | None = None
        self._closing = False
        self._waiters: dict[int, asyncio.Future[KafkaError | None]] = {}
        self._timer: asyncio.TimerHandle | None = None
        self._requests: set[asyncio.Task[None]] = set()
        statistics_interval_s = config.seconds("statistics.interval.ms")
        if inbox.callbacks.stats_cb is not None and statistics_interval_s > 0:
            self.running.every(statistics_interval_s, self._tell_statistics)

    # ---- subscription

    async def subscribe(self, topics: Iterable[str]) -> None:
        """Joins the group for these topics, in the background; replaces an earlier subscription."""
        await self.running.start()
        self._names = frozenset(topics)
        self.polls.last_s = self.clock.monotonic()
        self._group.start()
        self.membership.subscribe(self._names)
        self._track()
        self._group_changed.set()
        self.running.spawn(self._look_up(self._names))

    async def unsubscribe(self) -> None:
        """Leaves the group in the background; records that nobody has polled yet are released."""
        await self.running.start()
        self._names = frozenset()
        self.membership.unsubscribe()
        self._group_changed.set()
        if self._given is None:
            self.fetching.release()
        self._track()
        self._pump()

    async def _look_up(self, names: frozenset[str]) -> None:
        with contextlib.suppress(KafkaException):  # whoever listens was told; the periodic refresh tries again
            await self.client.refresh_metadata(names)

    def _track(self) -> None:
        self.client.track_topics(self._names | {topic for topic, _ in self.membership.owned})

    # ---- from the group

    def on_group_error(self, error: KafkaError) -> None:
        """Errors of the group come as messages."""
        self.inbox.tell(Notice(Message(error=error)))

    def on_event(self, event: Event) -> None:
        """Takes over a new assignment, which is in force at once."""
        self.membership.started(event)
        self.membership.done(event)
        self._assign()
        self._group_changed.set()
        self._pump()

    def _on_metadata(self, view: ClusterView) -> None:
        self.membership.metadata_changed(view, self.clock.monotonic())
        self._group_changed.set()
        self._assign()
        if self.running.started:
            self._pump()

    def _assign(self) -> None:
        ids = {}
        for key in self.membership.owned:
            topic_id = self.membership.topic_id(key[0])
            if topic_id is not None:
                ids[key] = topic_id
        self.fetching.assign(ids)
        self._track()

    # ---- records and acknowledgements

    async def poll(
        self, timeout_s: float | None, seen: Delivery | None, acknowledged: Sequence[Acknowledged]
    ) -> Delivery | None:
        """The next records; None if there are none in time, or when something is in the inbox.

        Args:
            timeout_s: None: no limit.
            seen: what the application was given last. What an earlier poll gave and the application never saw, since
                the call was broken off, is given again.
            acknowledged: to be sent, with the fetch if that is possible.
        """
        await self.running.start()
        self.fetching.acknowledge(acknowledged)
        if self._given is not None and self._given is not seen:
            self.fetching.put_back(self._given)
        self._given = None
        clock, polls = self.clock, self.polls
        deadline_s = None if timeout_s is None else clock.monotonic() + timeout_s
        if self.membership.state is State.EXPELLED:
            self.membership.polled()
            self._group_changed.set()
        polls.waiting += 1
        try:
            while True:
                self._news.clear()
                now_s = clock.monotonic()
                delivery = self.fetching.take(now_s)
                if delivery is not None:
                    self._given, self._poll_until_s = delivery, None
                    self._pump()
                    return delivery
                self._poll_until_s = now_s + EVERYTHING if deadline_s is None else deadline_s
                self._pump()
                left_s = None if deadline_s is None else deadline_s - now_s
                if self.inbox or (left_s is not None and left_s <= 0):
                    return None
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(left_s):
                        await self._news.wait()
        finally:
            self._poll_until_s = None
            polls.waiting -= 1
            polls.last_s = clock.monotonic()

    async def acknowledge(self, acknowledged: Sequence[Acknowledged]) -> None:
        """Sends acknowledgements; the answers will be in `settled`."""
        await self.running.start()
        self.fetching.acknowledge(acknowledged)
        self._pump()

    async def commit(
        self, acknowledged: Sequence[Acknowledged], timeout_s: float | None
    ) -> list[tuple[Acknowledged, KafkaError | None]]:
        """Sends acknowledgements and waits for the answers: one for each, a time-out where there was none."""
        await self.running.start()
        loop = asyncio.get_running_loop()
        waiters = [loop.create_future() for _ in acknowledged]
        self._waiters |= {id(part): waiter for part, waiter in zip(acknowledged, waiters, strict=True)}
        try:
            self.fetching.acknowledge(acknowledged)
            self._pump()
            await asyncio.wait(waiters, timeout=timeout_s)
            late = KafkaError(KafkaError._TIMED_OUT, "no broker has answered this acknowledgement in time")
            return [
                (part, waiter.result() if waiter.done() else late)
                for part, waiter in zip(acknowledged, waiters, strict=True)
            ]
        finally:
            for part in acknowledged:
                self._waiters.pop(id(part), None)

    # ---- requests

    def _pump(self) -> None:
        """Sends due requests. Called after every change."""
        now_s = self.clock.monotonic()
        wait_ms = None if self._poll_until_s is None else round(max(0.0, self._poll_until_s - now_s) * 1000)
        planned, leaderless, again_s = self.fetching.plan(
            self.client.metadata, now_s, wait_ms=wait_ms, closes=self._closing
        )
        for item in planned:
            task = background(self._send(item), f"kafka-core-share-{item.node_id}")
            self._requests.add(task)
            task.add_done_callback(self._requests.discard)
        for topic in leaderless:
            self.client.invalidate(topic)
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if again_s is not None:
            self._timer = asyncio.get_running_loop().call_later(max(0.001, again_s - now_s), self._pump)
        self._settle()

    async def _send(self, planned: Planned) -> None:
        try:
            connection = await self.client.connection(planned.node_id, Purpose.FETCH)
            await connection.drain()
            wait_ms = getattr(planned.request, "max_wait_ms", 0)
            response = await connection.send(planned.request, timeout_s=self._timeout_s + wait_ms / 1000)
            assert isinstance(response, ShareFetchResponse | ShareAcknowledgeResponse)
            news = self.fetching.received(planned, response, self.clock.monotonic())
        except KafkaException as error:
            logger.debug("share request to broker %d failed: %s", planned.node_id, error)
            news = self.fetching.failed(planned, error, self.clock.monotonic())
        except Exception as error:
            logger.exception("the answer of broker %d to a share request could not be used", planned.node_id)
            failure = KafkaException(KafkaError(KafkaError._FAIL, f"the answer could not be used: {error}"))
            news = self.fetching.failed(planned, failure, self.clock.monotonic())
        self._follow(news)
        self._pump()
        self._tell()

    def _follow(self, news: News) -> None:
        self._received += news.records
        if news.leaders:
            self.client.hint_leaders(news.leaders, news.brokers)
        for topic in news.stale_topics:
            self.client.invalidate(topic)
        for message in news.errors:
            self.inbox.tell(Notice(message))

    def _settle(self) -> None:
        while self.fetching.settled:
            answer = self.fetching.settled.popleft()
            waiter = self._waiters.pop(id(answer.part_of or answer.acknowledged), None)
            if waiter is not None and not waiter.done():
                waiter.set_result(answer.error)
            self.settled.append(answer)

    def _tell(self) -> None:
        self._news.set()
        self._progress.set()

    # ---- facts

    async def _tell_statistics(self) -> None:
        owned, now_s = sorted(self.membership.owned), self.clock.monotonic()
        topics: dict[str, dict[str, object]] = {}
        for topic, partition in owned:
            leader = self.client.metadata.leader(topic, partition)
            partitions = topics.setdefault(topic, {"topic": topic, "partitions": {}})["partitions"]
            assert isinstance(partitions, dict)
            partitions[str(partition)] = {"partition": partition, "leader": -1 if leader is None else leader}
        facts = {
            "name": f"{self.config.text('client.id')}#share-consumer-{id(self):x}",
            "client_id": self.config.text("client.id"),
            "type": "share consumer",
            "ts": round(now_s * 1e6),
            "time": self.clock.time_ms() // 1000,
            "age": round((now_s - self.running.made_at_s) * 1e6),
            "replyq": len(self.inbox),
            "metadata_cache_cnt": len(self.client.metadata.topics),
            **self._traffic.totals(),
            "rxmsgs": self._received,
            "brokers": brokers(self.client, self._traffic, owned),
            "topics": topics,
            "cgrp": self._group.history.shown(len(owned)),
        }
        self.inbox.tell(Statistics(json.dumps(facts)))

    # ---- the end

    async def close(self, acknowledged: Sequence[Acknowledged], timeout_s: float = CLOSE_LIMIT_S) -> None:
        """Sends acknowledgements, closes the sessions (brokers release the rest), leaves the group."""
        deadline_s = self.clock.monotonic() + timeout_s
        self.running.closing = True
        if self.running.started:
            self.fetching.acknowledge(acknowledged)
            self._closing, self._poll_until_s = True, None
            self._pump()
            await self._until(lambda: self.fetching.idle, deadline_s)
            self.membership.unsubscribe()
            self._group_changed.set()
            await self._until(lambda: self.membership.state is State.IDLE, deadline_s)
        self.running.closed = True
        self._settle()
        await self._group.stop()
        if self._timer is not None:
            self._timer.cancel()
        for task in self._requests:
            task.cancel()
        await asyncio.gather(*self._requests, return_exceptions=True)
        await self.running.stop()
        await self.client.close(max(0.1, min(2.0, deadline_s - self.clock.monotonic())))

    async def _until(self, done: Callable[[], bool], deadline_s: float) -> None:
        while not done():
            left_s = deadline_s - self.clock.monotonic()
            if left_s <= 0:
                logger.info("closing: timed out")
                return
            self._progress.clear()
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(left_s):
                    await self._progress.wait()
