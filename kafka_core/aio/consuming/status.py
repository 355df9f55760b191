"""Views of a consumer for people and machines: health and statistics.

Must not change anything: it reads the core's state, from any thread.
Spec: names of the statistics as in librdkafka's STATISTICS.md (a subset).
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sized
from dataclasses import dataclass
from typing import Final, Protocol

from kafka_core.aio.cluster.client import ClusterClient
from kafka_core.aio.cluster.statistics import brokers
from kafka_core.aio.cluster.traffic import Traffic
from kafka_core.aio.consuming.member_history import MemberHistory
from kafka_core.aio.consuming.polls import Polls
from kafka_core.aio.consuming.running import Running
from kafka_core.clock import Clock
from kafka_core.config import Config
from kafka_core.engine.consuming.fetch_queue import FetchQueue
from kafka_core.engine.consuming.subscription import Assignment, Key, PartitionState, Phase
from kafka_core.engine.groups.membership import GroupMembership
from kafka_core.engine.groups.states import State
from kafka_core.engine.metadata import ClusterView

LATE_HEARTBEATS: Final = 3
"""After how many intervals without a heartbeat something is wrong."""

FETCH_STATES: Final[Mapping[Phase, str]] = {
    Phase.COMMITTED: "offset-query",
    Phase.LOOKUP: "offset-wait",
    Phase.VALIDATE: "validate-epoch-wait",
    Phase.FETCH: "active",
    Phase.HALTED: "stopped",
}
"""librdkafka's words (`fetch_state`)."""


@dataclass(frozen=True, slots=True)
class ConsumerHealth:
    """The health of a consumer at one moment.

    Attributes:
        state: of the group membership (`idle` without a subscription, `stable` when all is well, `joining`, …).
        member_id, generation, coordinator: of the membership; empty, -1, None where there is none.
        heartbeat_age_s: since the coordinator last answered; None before the first time or without a group.
        poll_age_s: since the application last polled, seconds; at max.poll.interval.ms it is thrown out.
        lag: records between the position and the end of each assigned partition; None where unknown.
        queued_records, queued_bytes: fetched and not yet handed out.
        rebalances: how many there were.
        error: text of the first failure that stands (a broker that can't be reached), None if there is none.
        problems: sentences; none: healthy.
    """

    state: str
    member_id: str
    generation: int
    coordinator: int | None
    heartbeat_age_s: float | None
    poll_age_s: float
    lag: Mapping[Key, int | None]
    queued_records: int
    queued_bytes: int
    rebalances: int
    error: str | None
    problems: tuple[str, ...]

    @property
    def healthy(self) -> bool:
        """Whether there is nothing to worry about."""
        return not self.problems


@dataclass(frozen=True, slots=True)
class PartitionStatus:
    """The known status of an assigned partition, without a request.

    Attributes:
        position: offset of the record that comes next; None before it is found out.
        high_watermark, last_stable_offset, log_start_offset: as the last fetch told; None before the first.
            `last_stable_offset` is -1 unless the consumer reads committed records only.
        told_at_ms: when it told them, ms since 1970; None before the first.
        paused: whether `pause` holds it.
    """

    position: int | None
    high_watermark: int | None
    last_stable_offset: int | None
    log_start_offset: int | None
    told_at_ms: int | None
    paused: bool


class Observed(Protocol):
    """The parts of a consumer that health and statistics read."""

    @property
    def config(self) -> Config: ...
    @property
    def clock(self) -> Clock: ...
    @property
    def client(self) -> ClusterClient: ...
    @property
    def membership(self) -> GroupMembership: ...
    @property
    def assignment(self) -> Assignment: ...
    @property
    def queue(self) -> FetchQueue: ...
    @property
    def inbox(self) -> Sized: ...
    @property
    def polls(self) -> Polls: ...
    @property
    def running(self) -> Running: ...
    @property
    def traffic(self) -> Traffic: ...
    @property
    def member_history(self) -> MemberHistory: ...


def partition_status(core: Observed, key: Key) -> PartitionStatus | None:
    """Position, ends of the log and the time they were told of an assigned partition; None for another one.

    Nobody is asked: numbers are those of the last fetch, None before the first. Any thread.
    """
    state = core.assignment.get(key)
    if state is None:
        return None
    told = state.told_at_s > 0
    age_ms = (core.clock.monotonic() - state.told_at_s) * 1000
    return PartitionStatus(
        state.position if state.position >= 0 else None,
        state.high_watermark if told else None,
        state.last_stable_offset if told else None,
        state.log_start_offset if told else None,
        round(core.clock.time_ms() - age_ms) if told else None,
        state.paused,
    )


def lag_of(state: PartitionState) -> int | None:
    """Records between the position and the high watermark of the last fetch; None while either is unknown."""
    if state.high_watermark < 0 or state.position < 0:
        return None
    return max(0, state.high_watermark - state.position)


def health(core: Observed) -> ConsumerHealth:
    """The consumer's health now."""
    member = core.membership
    now_s = core.clock.monotonic()
    beat = member.last_heartbeat_s
    heartbeat_age_s = now_s - beat if beat is not None and member.state is not State.IDLE else None
    poll_age_s = now_s - core.polls.latest_s(now_s)
    error = core.client.last_error
    return ConsumerHealth(
        state="closed" if core.running.closed else member.state.value,
        member_id=member.member_id,
        generation=member.generation,
        coordinator=member.coordinator,
        heartbeat_age_s=heartbeat_age_s,
        poll_age_s=poll_age_s,
        lag={state.key: lag_of(state) for state in core.assignment},
        queued_records=sum(state.queued_records for state in core.assignment),
        queued_bytes=core.queue.queued_bytes,
        rebalances=member.rebalances,
        error=str(error) if error is not None else None,
        problems=tuple(problems(core, heartbeat_age_s, poll_age_s)),
    )


def problems(core: Observed, heartbeat_age_s: float | None, poll_age_s: float) -> list[str]:
    """The problems, as sentences."""
    found = []
    settings = core.membership.settings
    state = core.membership.state
    if core.running.closed:
        found.append("the consumer is closed")
    if core.client.last_error is not None:
        found.append(str(core.client.last_error))
    found += [
        f"broker {node_id} throttles this client: nothing is sent to it for {left_s:.1f} s"
        for node_id, left_s in core.client.throttled_s().items()
    ]
    if state in (State.EXPELLED, State.FATAL, State.LOSING):
        found.append(f"the group membership is {state.value}")
    if heartbeat_age_s is not None and heartbeat_age_s > LATE_HEARTBEATS * core.membership.heartbeat_interval_s:
        found.append(f"no heartbeat for {heartbeat_age_s:.1f} s")
    if poll_age_s > settings.max_poll_interval_s and state is not State.IDLE:
        found.append(f"no poll for {poll_age_s:.1f} s")
    found += [
        f"{item.topic}[{item.partition}] is halted: seek() to go on" for item in core.assignment if is_halted(item)
    ]
    return found


def is_halted(state: PartitionState) -> bool:
    """Whether an error stopped the partition until a seek."""
    return state.phase.value == "halted"


def statistics(core: Observed) -> str:
    """The JSON for stats_cb."""
    view, traffic = core.client.metadata, core.traffic
    assigned = [state.key for state in core.assignment]
    topics: dict[str, dict[str, object]] = {}
    for state in core.assignment:
        topic = topics.setdefault(state.topic, {"topic": state.topic, "partitions": {}})
        partitions = topic["partitions"]
        assert isinstance(partitions, dict)
        counted = traffic.partition(state.topic, state.partition)
        partitions[str(state.partition)] = partition_statistics(state, view) | counted
    now_ms, now_s = core.clock.time_ms(), core.clock.monotonic()
    return json.dumps(
        {
            "name": f"{core.config.text('client.id')}#consumer-{id(core):x}",
            "client_id": core.config.text("client.id"),
            "type": "consumer",
            "ts": round(now_s * 1_000_000),
            "time": now_ms // 1000,
            "age": round((now_s - core.running.made_at_s) * 1_000_000),
            "replyq": len(core.inbox),
            "metadata_cache_cnt": len(view.topics),
            **traffic.totals(),
            **traffic.fetched(),
            "brokers": brokers(core.client, traffic, assigned),
            "topics": topics,
            "cgrp": core.member_history.shown(len(core.assignment)),
        }
    )


def partition_statistics(state: PartitionState, view: ClusterView) -> dict[str, object]:
    """One partition's part."""
    lag, leader = lag_of(state), view.leader(state.topic, state.partition)
    unstored = state.high_watermark - state.stored if min(state.high_watermark, state.stored) >= 0 else -1
    return {
        "partition": state.partition,
        "broker": -1 if leader is None else leader,
        "leader": -1 if leader is None else leader,
        "leader_epoch": state.leader_epoch,
        "desired": True,
        "unknown": view.partition(state.topic, state.partition) is None,
        "fetchq_cnt": state.queued_records,
        "fetchq_size": state.queued_bytes,
        "fetch_state": FETCH_STATES[state.phase],
        "next_offset": state.next_fetch_offset,
        "app_offset": state.position,
        "stored_offset": state.stored,
        "stored_leader_epoch": state.stored_epoch,
        "commited_offset": state.committed,  # librdkafka has it twice, for whoever read the misspelt one
        "committed_offset": state.committed,
        "committed_leader_epoch": state.committed_epoch,
        "eof_offset": state.eof_reported_at,
        "lo_offset": state.log_start_offset,
        "hi_offset": state.high_watermark,
        "ls_offset": state.last_stable_offset,
        "consumer_lag": -1 if lag is None else lag,
        "consumer_lag_stored": unstored,
    }
