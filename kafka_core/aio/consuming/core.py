"""The consumer on its event loop: makes its parts, joins them and ends them, for the blocking and the asyncio face.

Must not know threads: the lock and the wake-up that its face needs are handed in; coroutines run on one loop.
Spec: DESIGN §4; names and behaviour are those of confluent_kafka.Consumer.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import random
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import Any, Final

from kafka_core.aio.cluster.client import ClusterClient
from kafka_core.aio.cluster.traffic import Traffic
from kafka_core.aio.consuming.assigning import Assigning
from kafka_core.aio.consuming.commits import Committer
from kafka_core.aio.consuming.events import Statistics
from kafka_core.aio.consuming.fetch import FetchLoop
from kafka_core.aio.consuming.group import GroupDriver
from kafka_core.aio.consuming.inbox import Inbox, ThrottleListener, error_message
from kafka_core.aio.consuming.lookups import Lookups
from kafka_core.aio.consuming.polls import Polls
from kafka_core.aio.consuming.position_finder import PositionFinder
from kafka_core.aio.consuming.positions import Positions
from kafka_core.aio.consuming.rebalancing import Rebalancing
from kafka_core.aio.consuming.rpc import ConsumerRpc
from kafka_core.aio.consuming.running import Running
from kafka_core.aio.consuming.settings import callbacks_of, fetch_settings, group_settings, marks, new_member_id
from kafka_core.aio.consuming.status import ConsumerHealth, health, statistics
from kafka_core.aio.consuming.subscribing import Subscribing
from kafka_core.aio.consuming.topics import NeededTopics
from kafka_core.aio.tasks.signals import Signal
from kafka_core.clock import Clock, SystemClock
from kafka_core.config import Config
from kafka_core.engine.consuming.fetch_queue import FetchQueue
from kafka_core.engine.consuming.fetcher import Fetcher
from kafka_core.engine.consuming.offsets import Commits
from kafka_core.engine.consuming.subscription import Assignment
from kafka_core.engine.groups.classic import Membership
from kafka_core.engine.groups.consumer import ConsumerMembership
from kafka_core.engine.groups.membership import GroupMembership
from kafka_core.engine.groups.states import State
from kafka_core.engine.retry import Backoff
from kafka_core.engine.telemetry.meters import ASSIGNED
from kafka_core.errors import KafkaException
from kafka_core.hooks import Hooks
from kafka_core.model import TopicPartition
from kafka_core.records import open_batches

logger: Final = logging.getLogger("kafka_core.consumer")

CLOSE_LIMIT_S: Final = 10.0
"""Seconds that closing may take beside the application's own callbacks."""


class ConsumerCore:
    """The consumer below its blocking or asyncio face: makes its parts and closes them. Coroutines run on its loop.

    Parts know the parts made before them, never those made after; what goes the other way goes through a signal
    (`fetch_again`, `group_changed`, `progress`), a listener or the inbox, which are made first.

    Args:
        config: parsed for a consumer.
        lock: guards what the loop and the taker share; a null context if both are one thread.
        wake: tells the taker (who may wait) that there is something in `queue` or `inbox`; called on the loop.
        post: runs a call on the loop, from the taker's thread.
        give_precedence: lets the taker, who was woken, go before the loop; None if both are one thread.
        client: for tests.

    Attributes:
        queue: records to take. `inbox`: other things to tell. `polls`: noted by the face. `traffic`: for stats_cb.
        assigning, subscribing, rebalancing, positions, lookups, committer: called by a face's methods.
    """

    def __init__(
        self,
        config: Config,
        *,
        lock: AbstractContextManager[Any],
        wake: Callable[[], object],
        post: Callable[[Callable[[], object]], object],
        give_precedence: Callable[[], object] | None = None,
        clock: Clock | None = None,
        rng: random.Random | None = None,
        client: ClusterClient | None = None,
    ) -> None:
        self.config = config
        self.clock = clock = clock or SystemClock()
        rng = rng or random.SystemRandom()
        backoff = Backoff(config.integer("retry.backoff.ms"), config.integer("retry.backoff.max.ms"), rng)
        fetch_backoff_ms = config.integer("fetch.error.backoff.ms")
        fetch_backoff = Backoff(fetch_backoff_ms, max(1000, fetch_backoff_ms), rng)
        settings = fetch_settings(config)
        auto_store = config.flag("enable.auto.offset.store")
        self._auto_commit = config.flag("enable.auto.commit")
        timeout_s = config.seconds("socket.timeout.ms")

        # Signals, and state without I/O.
        fetch_again = Signal()
        self._group_changed = group_changed = asyncio.Event()
        self._progress = progress = asyncio.Event()
        self.polls = polls = Polls(clock.monotonic())
        self.inbox = inbox = Inbox(callbacks_of(config), wake, progress)
        self.assignment = assignment = Assignment()
        by_server = config.text("group.protocol") == "consumer"
        self.membership: GroupMembership
        if by_server:
            self.membership = ConsumerMembership(group_settings(config), backoff, new_member_id(rng))
        else:
            self.membership = Membership(group_settings(config), backoff)
        membership = self.membership
        self.queue = queue = FetchQueue(
            marks(config),
            lock,
            wake,
            room=lambda: post(fetch_again.set),
            auto_store=auto_store,
            event=error_message,
        )

        # The cluster.
        throttles = ThrottleListener(inbox)
        hooks = config.hooks()
        if inbox.callbacks.throttle_cb is not None:
            hooks = Hooks([hooks, throttles])
        self.traffic = Traffic(clock)
        if inbox.callbacks.stats_cb is not None:
            hooks = hooks.plus(self.traffic)
        self.client = client = client or ClusterClient(config, clock=clock, rng=rng, hooks=hooks)
        meters = client.meters
        meters.waited_s = lambda: polls.waited_until_s(clock.monotonic())
        meters.gauges[ASSIGNED] = lambda: len(assignment)
        meters.member_id = lambda: membership.member_id
        client.on_metadata(throttles.on_metadata)
        client.on_error(inbox.tell_client_error)
        self.running = running = Running(client, clock)
        rpc = ConsumerRpc(client, clock, backoff, config.text("group.id"), timeout_s, member_epochs=by_server)

        # Records in.
        finder = PositionFinder(
            assignment,
            queue,
            client,
            rpc,
            settings,
            clock,
            backoff,
            identity=membership.identity,
            report=inbox.tell_partition_error,
            report_truncation=inbox.tell_truncation,
            found=fetch_again,
        )
        fetcher = Fetcher(settings, assignment, queue, open_batches, error_message, fetch_backoff)
        self._finder = finder

        def put() -> None:
            if give_precedence is not None and queue.little_for_one_waiting():
                give_precedence()

        self._fetches = FetchLoop(client, fetcher, finder, clock, hooks, timeout_s, fetch_again, put)
        self.positions = Positions(
            assignment,
            queue,
            running,
            inbox,
            fetch_again,
            read_committed=settings.read_committed,
            auto_store=auto_store,
        )
        self.lookups = Lookups(client, rpc, running, assignment, membership, read_committed=settings.read_committed)

        # The group, and what is read.
        self._topics = topics = NeededTopics(client, assignment, membership, inbox)
        self._commits: set[asyncio.Task[Any]] = set()  # asynchronous ones that are under way
        self.committer = committer = Committer(assignment, membership, rpc, inbox.tell, group_changed, progress)
        last_commit_limit_s = min(timeout_s, CLOSE_LIMIT_S / 2) if self._auto_commit else None
        self.assigning = assigning = Assigning(
            assignment,
            queue,
            client,
            running,
            topics,
            committer,
            fetch_again,
            owned=lambda: membership.owned if membership.wants_membership else frozenset(),
            commit_limit_s=last_commit_limit_s,
        )
        self.rebalancing = rebalancing = Rebalancing(
            membership, assignment, assigning, topics, running, inbox, polls, hooks, group_changed
        )
        self._group = group = GroupDriver(membership, client, rpc, clock, rebalancing, polls, group_changed, progress)
        self.member_history = group.history
        self.subscribing = Subscribing(
            config,
            client,
            clock,
            backoff,
            running,
            topics,
            assigning,
            membership,
            group,
            rebalancing,
            inbox,
            polls,
            fetch_again,
            group_changed,
        )

        # Periodic work.
        commit_interval_s = config.seconds("auto.commit.interval.ms")
        if self._auto_commit and commit_interval_s > 0:
            running.every(commit_interval_s, committer.auto_commit)
        statistics_interval_s = config.seconds("statistics.interval.ms")
        if inbox.callbacks.stats_cb is not None and statistics_interval_s > 0:
            running.every(statistics_interval_s, self._tell_statistics)

    # ---- commits, facts

    async def commit(self, commits: Commits) -> list[TopicPartition]:
        """Commits now."""
        await self.running.start()
        return await self.committer.commit(commits)

    async def commit_soon(self, commits: Commits, partitions: Sequence[TopicPartition] | None) -> None:
        """Commits in the background; see `Committer.commit_later`."""
        await self.running.start()
        task = self.running.spawn(self.committer.commit_later(commits, partitions))
        self._commits.add(task)
        task.add_done_callback(self._commits.discard)

    def leave_storing(self) -> bool:
        """From now on the caller stores the offsets of what it hands out; says whether they are to be stored by itself.

        For a consumer that must look at records before they count as handed out. To be called before the first poll.
        """
        wanted = self.queue.auto_store
        self.queue.auto_store = self.positions.auto_store = False
        return wanted

    def subscription(self) -> list[str]:
        """The topics and patterns of the subscription. Any thread."""
        subscription = self._topics.subscription
        return [] if subscription is None else list(subscription.topics)

    def health(self) -> ConsumerHealth:
        """The consumer's health. Any thread."""
        return health(self)

    async def _tell_statistics(self) -> None:
        self.inbox.tell(Statistics(statistics(self)))

    # ---- the end

    async def begin_close(self) -> None:
        """First half of closing: stops fetching and asks for the partitions back; their event may need a callback.

        Asynchronous commits come first, for half of `CLOSE_LIMIT_S` at most: whoever has given its partitions up must
        not commit.
        """
        self.running.closing = True
        self.positions.look_again()
        await self._fetches.stop()
        await self._finder.stop()
        if self._commits:
            await asyncio.wait(self._commits, timeout=CLOSE_LIMIT_S / 2)
        self.subscribing.end()

    @property
    def leaving(self) -> bool:
        """Whether the group still has to be left. Any thread."""
        return self.membership.state is not State.IDLE and self.running.started

    async def wait_leave(self, timeout_s: float) -> None:
        """Waits until the group is left or the inbox has something (a callback to run, maybe)."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(timeout_s):
                while self.leaving and not self.inbox:
                    await self._next_progress()

    async def finish_close(self, timeout_s: float) -> None:
        """Second half: commits the stored offsets, closes all connections; within about `timeout_s`."""
        self.running.closed = True
        try:
            async with asyncio.timeout(timeout_s):
                while self.leaving and self.membership.event is None:
                    await self._next_progress()
                await self.assigning.commit_stored(list(self.assignment))
        except (TimeoutError, KafkaException) as error:
            logger.info("closing: %s", error or "timed out")
        await self._group.stop()
        await self.running.stop()
        for state in self.assignment.clear():
            self.queue.drop(state)
        await self.client.close(min(timeout_s, 2.0))

    async def _next_progress(self) -> None:
        self._progress.clear()
        await self._progress.wait()
