"""Drives a group membership on the loop: carries out the steps of engine/groups and reports back.

Must not know records or the application's callbacks: events go to a listener, which says when they are done.
Spec: engine/groups/classic.py and engine/groups/consumer.py, whichever `group.protocol` asks for.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import math
from collections.abc import Coroutine
from typing import Any, Final, Protocol

from kafka_core.aio.cluster.client import ClusterClient, CoordinatorKind
from kafka_core.aio.consuming.member_history import MemberHistory
from kafka_core.aio.consuming.polls import Polls
from kafka_core.aio.consuming.rpc import ConsumerRpc
from kafka_core.aio.tasks.background import background
from kafka_core.clock import Clock
from kafka_core.engine.groups.membership import GroupMembership
from kafka_core.engine.groups.states import (
    Event,
    FindCoordinator,
    LookUpTopics,
    PlanAssignment,
    Send,
    State,
    Step,
    Wait,
)
from kafka_core.engine.telemetry.meters import REBALANCE_LATENCY
from kafka_core.errors import KafkaError, KafkaException, NetworkError
from kafka_core.protocol import ApiMessage

logger: Final = logging.getLogger("kafka_core.consumer")

LONGEST_WAIT_S: Final = 3600.0


_SETTLED: Final = (State.STABLE, State.IDLE)


class GroupListener(Protocol):
    """A listener for the driver's events."""

    def on_event(self, event: Event) -> None:
        """Partitions change hands: carry it out, then call `membership.done`; until then the group waits."""
        ...

    def on_group_error(self, error: KafkaError) -> None:
        """The membership failed, or was ended, for a reason that the application should know."""
        ...


class GroupDriver:
    """One task per membership, from the first subscription to the end.

    Args:
        changed: set when something about the membership changed: the driver looks for the next step.
        progress: set after every step, for those who wait for a state.

    Attributes:
        history: of the membership, for the statistics.
    """

    def __init__(
        self,
        membership: GroupMembership,
        client: ClusterClient,
        rpc: ConsumerRpc,
        clock: Clock,
        listener: GroupListener,
        polls: Polls,
        changed: asyncio.Event,
        progress: asyncio.Event,
    ) -> None:
        self._membership = membership
        self._client = client
        self._rpc = rpc
        self._clock = clock
        self._listener = listener
        self._polls = polls
        self._changed = changed
        self._progress = progress
        self.history = MemberHistory(membership, clock)
        self._task: asyncio.Task[None] | None = None
        self._handed_over = 0
        self._rebalancing_since_s: float | None = None

    def start(self) -> None:
        """Starts the task; harmless when called again."""
        if self._task is None:
            self._task = background(self._run(), "kafka-core-group")

    def _latest_poll_s(self) -> float:
        return self._polls.latest_s(self._clock.monotonic())

    async def stop(self) -> None:
        """Ends the task at once."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait((self._task,))  # not the task itself: our own cancellation must not pass for its end

    async def _run(self) -> None:
        while True:
            try:
                await self._step()
            except KafkaException as error:
                # Steps report their own failures; this one is ours, and must not end the membership in silence.
                logger.exception("group membership: a step failed")
                self._listener.on_group_error(KafkaError(KafkaError._FAIL, f"group membership: {error}"))
                await asyncio.sleep(1.0)

    async def _step(self) -> None:
        self._changed.clear()
        membership = self._membership
        step: Step = membership.next_step(self._clock.monotonic(), self._latest_poll_s())
        self._tell()
        if isinstance(step, Wait):
            await self._wait(step.until_s)
        elif isinstance(step, FindCoordinator):
            await self._find_coordinator()
        elif isinstance(step, PlanAssignment):
            await self._plan(step)
        elif isinstance(step, LookUpTopics):
            await self._guarded(self._client.refresh_metadata(), None)
        else:
            await self._send(step)
        self._tell()

    def _tell(self) -> None:
        """Hands new errors and events to the consumer."""
        membership = self._membership
        errors, membership.errors = membership.errors, []
        for error in errors:
            self._listener.on_group_error(error)
        event = membership.event
        if event is not None and event.token != self._handed_over:
            self._handed_over = event.token
            self._listener.on_event(event)
        self._time_rebalance()
        self.history.look()
        self._progress.set()

    def _time_rebalance(self) -> None:
        """For telemetry: from the moment in which the membership is not settled any more until it is again."""
        settled, since_s = self._membership.state in _SETTLED, self._rebalancing_since_s
        if not settled and since_s is None:
            self._rebalancing_since_s = self._clock.monotonic()
        elif settled and since_s is not None:
            self._rebalancing_since_s = None
            meters = self._client.meters
            if meters.active and self._membership.state is State.STABLE:
                meters.record(REBALANCE_LATENCY, (self._clock.monotonic() - since_s) * 1000)

    async def _wait(self, until_s: float) -> None:
        delay_s = None if math.isinf(until_s) else min(max(0.0, until_s - self._clock.monotonic()), LONGEST_WAIT_S)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(delay_s):
                await self._changed.wait()

    async def _find_coordinator(self) -> None:
        found = await self._guarded(self._rpc.coordinator(), None)
        if isinstance(found, int):
            self._membership.coordinator_found(found)

    async def _plan(self, step: PlanAssignment) -> None:
        try:
            view = await self._client.refresh_metadata(step.topics)
        except KafkaException as error:
            self._membership.failed(None, error, self._clock.monotonic())
            return
        self._membership.plan(view, self._clock.monotonic())

    async def _send(self, step: Send) -> None:
        node_id = self._membership.coordinator
        if node_id is None:
            return
        request = step.request
        answer = await self._guarded(self._rpc.group(node_id, request, step.timeout_s, apart=step.apart), request)  # type: ignore[arg-type]
        if isinstance(answer, ApiMessage):
            self._membership.received(request, answer, self._clock.monotonic())
        if self._membership.coordinator is None:
            self._client.forget_coordinator(CoordinatorKind.GROUP, self._membership.settings.group_id)

    async def _guarded(self, work: Coroutine[Any, Any, object], request: ApiMessage | None) -> object:
        """Waits for an answer, but gives up when the state moves on or the poll deadline passes meanwhile."""
        membership = self._membership
        task = asyncio.get_running_loop().create_task(work)
        try:
            while not task.done():
                self._changed.clear()
                changed = asyncio.get_running_loop().create_task(self._changed.wait())
                try:
                    deadline_s = self._latest_poll_s() + membership.settings.max_poll_interval_s
                    deadline_s = min(deadline_s, membership.leave_by_s)
                    left_s = min(max(0.0, deadline_s - self._clock.monotonic()) + 0.05, LONGEST_WAIT_S)
                    await asyncio.wait((task, changed), timeout=left_s, return_when=asyncio.FIRST_COMPLETED)
                finally:
                    changed.cancel()
                if task.done():
                    break
                membership.watch(self._clock.monotonic(), self._latest_poll_s())
                self._tell()
                wanted = membership.state not in (State.LEAVING, State.EXPELLED) if request is None else True
                if not wanted or (request is not None and membership.outdated(request)):
                    return None
            return task.result()
        except KafkaException as error:
            membership.failed(request, error, self._clock.monotonic())
            if isinstance(error, NetworkError) or membership.coordinator is None:
                self._client.forget_coordinator(CoordinatorKind.GROUP, membership.settings.group_id)
            return None
        finally:
            if not task.done():
                task.cancel()
            elif not task.cancelled():
                task.exception()  # was looked at above, or nobody wants it any more
