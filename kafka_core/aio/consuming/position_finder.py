"""Finds out where reading begins: committed offsets, offsets by time, and whether old positions still hold.

Must not know the group or the application: it serves whatever is assigned.
Spec: DESIGN §4; engine/consuming/offsets.py has the requests, truncation.py those for logs that were cut (KIP-320).
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
from kafka_core.engine.consuming import truncation
from kafka_core.engine.consuming.fetch_queue import FetchQueue
from kafka_core.engine.consuming.fetcher import FetchSettings
from kafka_core.engine.consuming.offsets import ConsumerGroupMetadata
from kafka_core.engine.consuming.subscription import Assignment, PartitionState, Phase
from kafka_core.engine.retry import Action, Backoff, classify
from kafka_core.errors import BrokerError, KafkaError, KafkaException, NetworkError, UnsupportedVersionError
from kafka_core.model import LogTruncation
from kafka_core.protocol.messages.offset_for_leader_epoch import OffsetForLeaderEpochRequest

logger: Final = logging.getLogger("kafka_core.consumer")

Report = Callable[[PartitionState, KafkaError], None]
TruncationReport = Callable[[PartitionState, LogTruncation, str], None]
Place = tuple[Phase, int | None]
"""The question, and the broker to ask: None for the coordinator, and for partitions of which no leader is known."""
RoundWork = Callable[[Sequence[PartitionState]], Coroutine[Any, Any, None]]
"""Finds positions for some partitions: one round of requests."""


class PositionFinder:
    """Finds where to begin reading: committed offsets, offsets by time; and checks positions after a change of leader.

    Args:
        identity: the group membership, for OffsetFetch.
        report: tells the application that a partition can't begin.
        report_truncation: reports that a log has lost records read, with a sentence.
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
        report_truncation: TruncationReport,
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
        self._report_truncation = report_truncation
        self._found = found
        self._tasks: dict[Place, asyncio.Task[None]] = {}
        self._timer: asyncio.TimerHandle | None = None
        self._stopped = False

    def find_due(self) -> None:
        """Starts due requests: one round of requests at a time for each kind and each broker that is asked."""
        if self._stopped:
            return
        later: list[float] = []
        for phase, work in (
            (Phase.COMMITTED, self._find_committed),
            (Phase.LOOKUP, self._look_up),
            (Phase.VALIDATE, self._validate),
        ):
            for place, due in self._due(phase, later).items():
                round_ = self._round((phase, place), work, due)
                self._tasks[phase, place] = background(round_, f"kafka-core-{phase.value}")
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if later:
            delay_s = min(later) - self._clock.monotonic() + 0.001
            self._timer = asyncio.get_running_loop().call_later(delay_s, self.find_due)

    def _due(self, phase: Phase, later: list[float]) -> dict[int | None, list[PartitionState]]:
        """The partitions to ask about now, by their leaders; None: the coordinator, or partitions without a leader.

        A partition whose leader does not answer, or that has none, must hold up no other one.

        Args:
            later: gets the times at which others are due.
        """
        now_s = self._clock.monotonic()
        found: dict[int | None, list[PartitionState]] = {}
        for state in self._assignment:
            if state.phase is not phase:
                continue
            place = None if phase is Phase.COMMITTED else self._client.metadata.leader(state.topic, state.partition)
            if (phase, place) in self._tasks:
                continue  # its end looks again
            if state.retry_at_s <= now_s:
                found.setdefault(place, []).append(state)
            else:
                later.append(state.retry_at_s)
        return found

    async def _round(self, place: Place, work: RoundWork, states: Sequence[PartitionState]) -> None:
        # A seek may have come between the look and this round, which begins with the loop's next turn.
        phase, _ = place
        states = [state for state in states if state.active and state.phase is phase]
        versions = {state.key: state.version for state in states}
        try:
            await work(states)  # called here: a round that is cancelled before it began leaves nothing unawaited
        except Exception as error:
            if not isinstance(error, KafkaException):  # ours: the partitions must not wait for ever for a dead round
                logger.exception("finding the %s positions failed", phase.value)
            failure = error.error if isinstance(error, KafkaException) else KafkaError(KafkaError._FAIL, repr(error))
            for state in self._unchanged(states, versions, phase):
                self._failed(state, failure)
        finally:
            del self._tasks[place]
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
        for state in self._unchanged(states, versions, Phase.COMMITTED):
            found = commits.get(state.key)
            if found is None:  # left out of the answer: that does not say that nothing was committed
                self._failed(state, KafkaError(KafkaError.UNKNOWN_TOPIC_OR_PART))
            elif found.error_code:
                self._failed(state, KafkaError.from_code(found.error_code))
            elif found.offset >= 0:
                state.committed, state.committed_epoch = found.offset, found.leader_epoch
                state.found(found.offset, found.leader_epoch, validate=True)
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
        by_leader = await self._by_leader(states, versions, Phase.LOOKUP)
        await asyncio.gather(*(self._look_up_at(leader, group, versions) for leader, group in by_leader.items()))

    async def _look_up_at(
        self, leader: int, states: Sequence[PartitionState], versions: dict[tuple[str, int], int]
    ) -> None:
        wanted = {state.key: state.lookup_timestamp for state in states}
        try:
            found = await self._rpc.list_at(leader, wanted, read_committed=self._settings.read_committed)
        except KafkaException as failure:
            self._unanswered(self._unchanged(states, versions, Phase.LOOKUP), failure)
            return
        for state in self._unchanged(states, versions, Phase.LOOKUP):
            item = found[state.key]
            if item.error_code:
                self._failed(state, KafkaError.from_code(item.error_code))
            elif item.offset < 0:
                self._failed(state, KafkaError(KafkaError.OFFSET_NOT_AVAILABLE))
            else:
                state.found(item.offset, item.leader_epoch)
        self._found.set()

    async def _by_leader(
        self, states: Sequence[PartitionState], versions: dict[tuple[str, int], int], phase: Phase
    ) -> dict[int, list[PartitionState]]:
        """Whom to ask about which partitions; those without a leader have failed for now."""
        await self._rpc.know({state.topic for state in states})
        view = self._client.metadata
        found: dict[int, list[PartitionState]] = {}
        for state in self._unchanged(states, versions, phase):
            leader, topic = view.leader(state.topic, state.partition), view.topics.get(state.topic)
            if leader is not None:
                found.setdefault(leader, []).append(state)
            elif topic is not None and topic.error_code and not classify(topic.error_code).tries_again:
                self._failed(state, KafkaError.from_code(topic.error_code))
            elif topic is None or topic.error_code or state.partition not in topic.partitions:
                self._failed(state, KafkaError(KafkaError.UNKNOWN_TOPIC_OR_PART))
            else:
                self._failed(state, KafkaError(KafkaError.LEADER_NOT_AVAILABLE))
        return found

    def _unanswered(self, states: Sequence[PartitionState], failure: KafkaException) -> None:
        if isinstance(failure, NetworkError):  # another broker may lead them by now
            self._client.invalidate()
        for state in states:
            self._failed(state, failure.error)

    async def _validate(self, states: Sequence[PartitionState]) -> None:
        """Asks each leader where the epoch ends that was read last (KIP-320)."""
        versions = {state.key: state.version for state in states}
        by_leader = await self._by_leader(states, versions, Phase.VALIDATE)
        for group in by_leader.values():
            for state in tuple(group):
                known = self._client.metadata.partition(state.topic, state.partition)
                if known is None or known.leader_epoch < 0:  # brokers before 2.1 have no epochs for us
                    group.remove(state)
                    self._stands(state)
                else:
                    state.leader_epoch = known.leader_epoch  # it may have moved again since the fetch that noticed

        async def ask(leader: int, group: Sequence[PartitionState]) -> None:
            await self._validate_at(leader, group, versions)
            self._found.set()  # another leader may take long to answer

        await asyncio.gather(*(ask(leader, group) for leader, group in by_leader.items() if group))

    async def _validate_at(
        self, leader: int, states: Sequence[PartitionState], versions: dict[tuple[str, int], int]
    ) -> None:
        request = truncation.epoch_request(states)
        try:
            answer = await self._rpc.call(leader, OffsetForLeaderEpochRequest, lambda _: request)
        except UnsupportedVersionError:
            for state in self._unchanged(states, versions, Phase.VALIDATE):
                self._stands(state)
            return
        except KafkaException as failure:
            self._unanswered(self._unchanged(states, versions, Phase.VALIDATE), failure)
            return
        ends = truncation.epoch_ends(answer)
        for state in self._unchanged(states, versions, Phase.VALIDATE):
            code, end = ends.get(state.key, (KafkaError.UNKNOWN_TOPIC_OR_PART, None))
            if code or end is None:
                self._failed(state, BrokerError(code).error)
            elif end.holds(state.next_fetch_offset):
                self._stands(state)
            else:
                self._cut(state, end)

    def _stands(self, state: PartitionState) -> None:
        state.attempt = state.reported = 0
        state.move(Phase.FETCH)

    def _cut(self, state: PartitionState, end: truncation.EpochEnd) -> None:
        lost = self._queue.cut(state, end, self._settings.reset)
        if lost is not None:
            text = truncation.describe(lost, halted=self._settings.reset is None)
            logger.warning("%s", text)
            self._report_truncation(state, lost, text)

    def _unchanged(
        self, states: Sequence[PartitionState], versions: dict[tuple[str, int], int], phase: Phase
    ) -> list[PartitionState]:
        """Those that were neither seeked nor given up since the request, nor found by asking another broker."""
        return [
            state for state in states if state.active and state.phase is phase and state.version == versions[state.key]
        ]

    async def stop(self) -> None:
        """Ends requests in flight."""
        self._stopped = True
        if self._timer is not None:
            self._timer.cancel()
        tasks = list(self._tasks.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
