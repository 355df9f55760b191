"""Finds out where reading begins: committed offsets, offsets by time, and whether old positions still hold.

Must not know the group or the application: it serves whatever is assigned.
Spec: DESIGN §4; engine/consuming/offsets.py has the requests, KIP-320 for truncated logs.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine, Sequence
from typing import Any, Final

from kafka_core.aio.cluster.client import ClusterClient
from kafka_core.aio.consuming.rpc import ConsumerRpc
from kafka_core.aio.tasks.background import background
from kafka_core.aio.tasks.signals import Signal
from kafka_core.clock import Clock
from kafka_core.engine.consuming import offsets
from kafka_core.engine.consuming.fetch_queue import FetchQueue
from kafka_core.engine.consuming.fetcher import FetchSettings
from kafka_core.engine.consuming.offsets import Commits, ConsumerGroupMetadata
from kafka_core.engine.consuming.subscription import Assignment, PartitionState, Phase
from kafka_core.engine.retry import Action, Backoff, classify
from kafka_core.errors import BrokerError, KafkaError, KafkaException
from kafka_core.protocol.messages.offset_for_leader_epoch import OffsetForLeaderEpochRequest

logger: Final = logging.getLogger("kafka_core.consumer")

Report = Callable[[PartitionState, KafkaError], None]
RoundWork = Callable[[Sequence[PartitionState]], Coroutine[Any, Any, None]]
"""Finds positions for some partitions: one round of requests."""


class PositionFinder:
    """Finds out where to begin: committed offsets, offsets by time, and whether old positions still hold.

    Args:
        identity: the group membership, for OffsetFetch.
        report: tells the application that a partition can't begin.
        found: set when a partition can be fetched.
    """

    def __init__(
        self,
        assignment: Assignment,
        queue: FetchQueue,
        client: ClusterClient,
        rpc: ConsumerRpc,
        settings: FetchSettings,
        clock: Clock,
        backoff: Backoff,
        identity: Callable[[], ConsumerGroupMetadata],
        report: Report,
        found: Signal,
    ) -> None:
        self._assignment = assignment
        self._queue = queue
        self._client = client
        self._rpc = rpc
        self._settings = settings
        self._clock = clock
        self._backoff = backoff
        self._identity = identity
        self._report = report
        self._found = found
        self._tasks: dict[Phase, asyncio.Task[None]] = {}
        self._timer: asyncio.TimerHandle | None = None
        self._stopped = False

    def find_due(self) -> None:
        """Starts what is due; one request round per kind at a time."""
        if self._stopped:
            return
        for phase, work in (
            (Phase.COMMITTED, self._find_committed),
            (Phase.LOOKUP, self._look_up),
            (Phase.VALIDATE, self._validate),
        ):
            if phase not in self._tasks:
                due = self._due(phase)
                if due:
                    self._tasks[phase] = background(self._round(phase, work, due), f"kafka-core-{phase.value}")

    def _due(self, phase: Phase) -> list[PartitionState]:
        now_s = self._clock.monotonic()
        waiting = [state for state in self._assignment if state.phase is phase]
        due = [state for state in waiting if state.retry_at_s <= now_s]
        later = [state.retry_at_s for state in waiting if state.retry_at_s > now_s]
        if later and not due:
            if self._timer is not None:
                self._timer.cancel()
            self._timer = asyncio.get_running_loop().call_later(min(later) - now_s + 0.001, self.find_due)
        return due

    async def _round(self, phase: Phase, work: RoundWork, states: Sequence[PartitionState]) -> None:
        versions = {state.key: state.version for state in states}
        try:
            await work(states)  # called here: a round that is cancelled before it began leaves nothing unawaited
        except Exception as error:
            if not isinstance(error, KafkaException):  # ours: the partitions must not wait for ever for a dead round
                logger.exception("finding the %s positions failed", phase.value)
            failure = error.error if isinstance(error, KafkaException) else KafkaError(KafkaError._FAIL, repr(error))
            for state in self._unchanged(states, versions):
                if state.phase is phase:
                    self._failed(state, failure)
        finally:
            del self._tasks[phase]
        self._found.set()
        self.find_due()

    def _failed(self, state: PartitionState, error: KafkaError) -> None:
        state.retry_at_s = self._clock.monotonic() + self._backoff.delay_s(state.attempt)
        state.attempt += 1
        action = classify(error)
        if action is Action.REFRESH_AND_RETRY:
            self._client.invalidate(state.topic)
        elif not action.tries_again and state.reported != error.code():
            state.reported = error.code()
            self._report(state, error)

    async def _find_committed(self, states: Sequence[PartitionState]) -> None:
        versions = {state.key: state.version for state in states}
        await self._rpc.know({state.topic for state in states})
        commits = await self._rpc.committed(self._identity, versions)
        for state in self._unchanged(states, versions):
            found = commits.get(state.key)
            if found is None:  # left out of the answer: that does not say that nothing was committed
                self._failed(state, KafkaError(KafkaError.UNKNOWN_TOPIC_OR_PART))
            elif found.error_code:
                self._failed(state, KafkaError.from_code(found.error_code))
            elif found.offset >= 0:
                state.committed = found.offset
                state.found(found.offset, found.leader_epoch)
            elif self._settings.reset is not None:
                state.look_up(self._settings.reset)
            else:
                self._halt(state, "the group has no committed offset for it")

    def _halt(self, state: PartitionState, why: str) -> None:
        text = (
            f"{state.topic}[{state.partition}]: {why} and auto.offset.reset is `error`: commit one, or seek() to where "
            "reading should begin"
        )
        state.move(Phase.HALTED)
        self._report(state, KafkaError(KafkaError._AUTO_OFFSET_RESET, text))

    async def _look_up(self, states: Sequence[PartitionState]) -> None:
        versions = {state.key: state.version for state in states}
        wanted = {state.key: state.lookup_timestamp for state in states}
        found = await self._list(wanted)
        for state in self._unchanged(states, versions):
            item = found.get(state.key)
            if item is None or (not item.error_code and item.offset < 0):
                self._failed(state, KafkaError(KafkaError.OFFSET_NOT_AVAILABLE))
            elif item.error_code:
                self._failed(state, KafkaError.from_code(item.error_code))
            else:
                state.found(item.offset, item.leader_epoch)

    async def _list(self, wanted: dict[tuple[str, int], int]) -> Commits:
        return await self._rpc.list_offsets(wanted, read_committed=self._settings.read_committed)

    async def _validate(self, states: Sequence[PartitionState]) -> None:
        """Asks each new leader where the epoch ends that we read last (KIP-320)."""
        versions = {state.key: state.version for state in states}
        by_leader: dict[int, list[PartitionState]] = {}
        for state in states:
            known = self._client.metadata.partition(state.topic, state.partition)
            if known is None or known.leader is None:
                self._failed(state, KafkaError(KafkaError.LEADER_NOT_AVAILABLE))
            else:
                state.leader_epoch = known.leader_epoch  # it may have moved again since the fetch that noticed
                by_leader.setdefault(known.leader, []).append(state)
        for leader, group in by_leader.items():
            request = offsets.epoch_request(group)
            answer = await self._rpc.call(leader, OffsetForLeaderEpochRequest, lambda _, request=request: request)  # type: ignore[misc]
            ends = offsets.epoch_ends(answer)
            for state in self._unchanged(group, versions):
                self._judge(state, *ends.get(state.key, (KafkaError.UNKNOWN_TOPIC_OR_PART, -1, -1)))

    def _judge(self, state: PartitionState, code: int, epoch: int, end_offset: int) -> None:
        if code:
            self._failed(state, BrokerError(code).error)
            return
        offset = state.next_fetch_offset
        state.attempt = 0
        state.move(Phase.FETCH)
        if epoch < 0 or end_offset < 0 or end_offset >= offset:
            return
        text = (
            f"{state.topic}[{state.partition}]: the log was truncated to offset {end_offset} (an unclean leader "
            f"election), reading goes on from there instead of {offset}"
        )
        logger.warning("%s", text)
        at_hand = state.position
        self._queue.go_back(state, end_offset if at_hand < 0 else min(at_hand, end_offset))
        self._report(state, KafkaError(KafkaError._LOG_TRUNCATION, text))

    def _unchanged(
        self, states: Sequence[PartitionState], versions: dict[tuple[str, int], int]
    ) -> list[PartitionState]:
        """The partitions that were neither seeked nor given up since the request."""
        return [state for state in states if state.active and state.version == versions[state.key]]

    async def stop(self) -> None:
        """Ends what is in flight."""
        self._stopped = True
        if self._timer is not None:
            self._timer.cancel()
        tasks = list(self._tasks.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
