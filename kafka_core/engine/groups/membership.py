"""What the client may ask of a group membership, whichever protocol it speaks, and what both protocols share.

Must not know connections, loops or the protocols' requests: classic.py and consumer.py do.
Spec: confluent_kafka's `group.protocol`; KIP-848 for the second one.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from typing import Protocol

from kafka_core.engine.consuming.offsets import ConsumerGroupMetadata
from kafka_core.engine.consuming.subscription import Key
from kafka_core.engine.groups.states import Event, GroupSettings, State, Step
from kafka_core.engine.metadata import ClusterView
from kafka_core.errors import KafkaError, KafkaException
from kafka_core.protocol import ApiMessage


class GroupMembership(Protocol):
    """One member, one step at a time: the driver asks `next_step`, carries it out and reports.

    Attributes:
        server_patterns: the coordinator matches topic patterns; else the client does, and subscribes to names.
        generation: the generation (classic) or the member epoch; -1 without a membership.
        heartbeat_interval_s: as configured, or as the coordinator last said.
        leave_by_s: until when a member that leaves waits for the rebalance under way.
    """

    server_patterns: bool
    settings: GroupSettings
    state: State
    member_id: str
    generation: int
    owned: frozenset[Key]
    coordinator: int | None
    event: Event | None
    errors: list[KafkaError]
    last_heartbeat_s: float | None
    is_leader: bool
    rebalances: int
    leave_by_s: float

    @property
    def heartbeat_interval_s(self) -> float: ...
    @property
    def wants_membership(self) -> bool: ...
    @property
    def settled(self) -> bool: ...
    def identity(self) -> ConsumerGroupMetadata: ...
    @property
    def term(self) -> Hashable:
        """Equal as long as nothing was given up: then commits of an earlier moment are still this member's."""
        ...

    def subscribe(self, topics: Iterable[str], pattern: str | None = None) -> None: ...
    def unsubscribe(self) -> None: ...
    def metadata_changed(self, view: ClusterView, now_s: float) -> None: ...
    def polled(self) -> None: ...
    def started(self, event: Event) -> None: ...
    def done(self, event: Event) -> None: ...
    def watch(self, now_s: float, last_poll_s: float) -> None: ...
    def outdated(self, request: ApiMessage) -> bool: ...
    def next_step(self, now_s: float, last_poll_s: float) -> Step: ...
    def coordinator_found(self, node_id: int) -> None: ...
    def forget_coordinator(self) -> None: ...
    def failed(self, request: ApiMessage | None, error: KafkaException, now_s: float) -> None: ...
    def plan(self, counts: Mapping[str, int], now_s: float) -> None: ...
    def received(self, request: ApiMessage, response: ApiMessage, now_s: float) -> None: ...
    def group_topics(self) -> frozenset[str]: ...
    def commit_rejected(self, code: int, member_id: str, generation: int) -> None: ...


def poll_exceeded(settings: GroupSettings, silent_s: float) -> KafkaError:
    """What the application is told when it did not poll for longer than `max.poll.interval.ms`."""
    limit_ms = round(settings.max_poll_interval_s * 1000)
    text = (
        f"Application maximum poll interval ({limit_ms}ms) exceeded by "
        f"{max(0, round(silent_s * 1000) - limit_ms)}ms: the consumer left group {settings.group_id!r} and "
        "its partitions go to other members. It joins again at the next poll(). Process records faster, take fewer "
        "per call, or raise max.poll.interval.ms"
    )
    return KafkaError(KafkaError._MAX_POLL_EXCEEDED, text)


def fenced_instance(settings: GroupSettings) -> KafkaError:
    """What the application is told when another member took its `group.instance.id`."""
    text = (
        f"group {settings.group_id!r}: another consumer joined with group.instance.id {settings.instance_id!r}, so "
        "this one is fenced: give each instance an id of its own"
    )
    return KafkaError(KafkaError.FENCED_INSTANCE_ID, text, fatal=True)
