"""The client's view of the cluster: brokers, topics, leaders with their epochs, and when to ask again.

Must not know connections or clocks: responses and monotonic seconds are handed in, new views and due times come out.
Spec: KIP-320 (leader epochs), KIP-516 (topic ids), KIP-951 (leader hints); DESIGN §3/§4.
"""

import random
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Final
from uuid import UUID

from kafka_core.engine.retry import Backoff
from kafka_core.errors import KafkaError
from kafka_core.protocol import ZERO_UUID
from kafka_core.protocol.messages.metadata import (
    MetadataRequest,
    MetadataRequestTopic,
    MetadataResponse,
    MetadataResponsePartition,
    MetadataResponseTopic,
)

_TRANSIENT_TOPIC_ERRORS: Final = frozenset({KafkaError.LEADER_NOT_AVAILABLE, KafkaError.COORDINATOR_NOT_AVAILABLE})
"""Topic errors under which the partitions known from before are still the best guess."""

HURRY_MS: Final = 250.0
HURRY_FOR_S: Final = 30.0
"""The spacing of refreshes while leaders are wrong, and for how long: about as long as an election takes at most. After
that the spacing doubles up to retry.backoff.max.ms."""

DOUBTS: Final = 5
DOUBT_S: Final = 10.0
"""An older leader epoch is believed when so many answers in a row have named one, the first of them so long ago."""


@dataclass(frozen=True, slots=True)
class BrokerAddress:
    """The address of a broker on the bootstrap's listener."""

    node_id: int
    host: str
    port: int
    rack: str | None = None

    def __str__(self) -> str:
        return f"{self.host}:{self.port}/{self.node_id}"


@dataclass(frozen=True, slots=True)
class PartitionView:
    """One partition. `leader` is None while there is none; `leader_epoch` is -1 when the broker did not say.

    `doubts`: answers in a row that named an older epoch, and `doubted_since_s`: when the first of them came.
    """

    partition: int
    leader: int | None
    leader_epoch: int = -1
    replicas: tuple[int, ...] = ()
    isr: tuple[int, ...] = ()
    error_code: int = 0
    offline_replicas: tuple[int, ...] = ()
    doubts: int = field(default=0, compare=False)
    doubted_since_s: float = field(default=0.0, compare=False)


@dataclass(frozen=True, slots=True)
class TopicView:
    """One topic. `topic_id` is the zero UUID when the broker knows no ids; `error_code` is the broker's, 0 if fine;
    `asked` is the number of the request that this is the answer to."""

    name: str
    topic_id: UUID = ZERO_UUID
    partitions: Mapping[int, PartitionView] = field(default_factory=dict)
    error_code: int = 0
    is_internal: bool = False
    updated_at_s: float = 0.0
    asked: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class ClusterView:
    """A snapshot; an update makes a new one, so it can be read on any thread and kept.

    `updated_at_s` is monotonic seconds, 0.0 before the first answer; `controller_id` is None while unknown;
    `answered_by` is who gave the last answer, with node id -1 where the address asked is none of a broker's own;
    `asked` is the number of the newest request that was answered, `asked_all` of the newest one for all topics.
    """

    brokers: Mapping[int, BrokerAddress] = field(default_factory=dict)
    topics: Mapping[str, TopicView] = field(default_factory=dict)
    controller_id: int | None = None
    cluster_id: str | None = None
    updated_at_s: float = 0.0
    answered_by: BrokerAddress | None = None
    asked: int = field(default=0, compare=False)
    asked_all: int = field(default=0, compare=False)

    def leader(self, topic: str, partition: int) -> int | None:
        """The leader's node id; None when topic, partition or leader are unknown."""
        found = self.partition(topic, partition)
        return found.leader if found is not None else None

    def partition(self, topic: str, partition: int) -> PartitionView | None:
        """The view of a partition; None if it is unknown."""
        view = self.topics.get(topic)
        return view.partitions.get(partition) if view is not None else None

    def partition_count(self, topic: str) -> int | None:
        """The number of the topic's partitions; None when it is unknown or in error."""
        view = self.topics.get(topic)
        return len(view.partitions) if view is not None and view.partitions else None

    def topic_id(self, topic: str) -> UUID:
        """The topic's id; the zero UUID when unknown."""
        view = self.topics.get(topic)
        return view.topic_id if view is not None else ZERO_UUID


def metadata_request(topics: Iterable[str] | None, *, allow_auto_create: bool, version: int) -> MetadataRequest:
    """The request for some topics (None: all; empty: only the brokers) in the form of the negotiated version.

    Version 0 has no way to ask for no topics: there it asks for all.
    """
    wanted = None if topics is None else [MetadataRequestTopic(name=name) for name in topics]
    if version == 0 and wanted is None:
        wanted = []
    # Before version 4 the broker always creates; the encoder refuses a False that it cannot say.
    return MetadataRequest(topics=wanted, allow_auto_topic_creation=allow_auto_create or version < 4)


def merge(
    view: ClusterView,
    response: MetadataResponse,
    *,
    now_s: float,
    all_topics: bool,
    address: tuple[str, int] | None = None,
    asked: int | None = None,
) -> ClusterView:
    """The view after a Metadata response.

    A partition's leader with an older epoch than the known one is not believed (a broker that lags behind would send
    clients back and forth), unless the topic's id changed: then it was made anew. Nor is one epoch believed for ever
    against all later answers (`DOUBTS`): it may have been damaged on its way, or the cluster was restored from a copy.
    The answer of another cluster (its id differs) replaces everything.

    An answer that others have overtaken, to requests sent after its own, undoes nothing of theirs: it counts for topics
    that they did not name, and for leaders with a newer epoch.

    Args:
        all_topics: The request asked for all topics: those that are missing in the answer are gone.
        address: host and port of who answered.
        asked: The number of the request, in the order of sending; None: it is the newest.
    """
    number = view.asked if asked is None else asked
    if number < view.asked:
        return _merge_overtaken(view, response, number, now_s)
    if response.cluster_id and view.cluster_id and response.cluster_id != view.cluster_id:
        view = ClusterView()
    topics = {} if all_topics else dict(view.topics)
    for answer in response.topics:
        if answer.name is not None:
            topics[answer.name] = _merge_topic(view.topics.get(answer.name), answer, now_s, number)
    brokers = {item.node_id: BrokerAddress(item.node_id, item.host, item.port, item.rack) for item in response.brokers}
    return ClusterView(
        brokers=brokers,
        topics=topics,
        controller_id=response.controller_id if response.controller_id >= 0 else None,
        cluster_id=response.cluster_id or view.cluster_id,
        updated_at_s=now_s,
        answered_by=None if address is None else _at(address, brokers.values()),
        asked=number,
        asked_all=number if all_topics else view.asked_all,
    )


def _merge_overtaken(view: ClusterView, response: MetadataResponse, asked: int, now_s: float) -> ClusterView:
    if response.cluster_id and view.cluster_id and response.cluster_id != view.cluster_id:
        return view
    topics = dict(view.topics)
    for answer in response.topics:
        if answer.name is None:
            continue
        known = view.topics.get(answer.name)
        newest = view.asked_all if known is None else max(known.asked, view.asked_all)
        if newest <= asked:
            topics[answer.name] = _merge_topic(known, answer, now_s, asked)
        elif known is not None and known.topic_id == answer.topic_id:
            newer = {item.partition_index: item for item in answer.partitions}
            partitions = {
                index: _merge_partition(old, newer[index], now_s)
                if index in newer and newer[index].leader_epoch > old.leader_epoch
                else old
                for index, old in known.partitions.items()
            }
            topics[answer.name] = replace(known, partitions=partitions)
    return replace(view, topics=topics)


def _at(address: tuple[str, int], brokers: Iterable[BrokerAddress]) -> BrokerAddress:
    for broker in brokers:
        if (broker.host, broker.port) == address:
            return broker
    return BrokerAddress(-1, *address)


def with_leaders(
    view: ClusterView,
    leaders: Iterable[tuple[str, int, int, int]],
    brokers: Iterable[BrokerAddress] = (),
) -> ClusterView:
    """The view after a leader hint in a Produce or Fetch response (KIP-951); older epochs are not believed.

    Args:
        leaders: (topic, partition, leader's node id, leader epoch).
        brokers: End points that came along.
    """
    topics = dict(view.topics)
    for name, index, leader, epoch in leaders:
        topic = topics.get(name)
        known = topic.partitions.get(index) if topic is not None else None
        if topic is None or known is None or leader < 0 or epoch <= known.leader_epoch:
            continue
        changed = replace(known, leader=leader, leader_epoch=epoch, error_code=0, doubts=0)
        topics[name] = replace(topic, partitions={**topic.partitions, index: changed})
    return replace(view, topics=topics, brokers={**view.brokers, **{item.node_id: item for item in brokers}})


def with_broker(view: ClusterView, broker: BrokerAddress) -> ClusterView:
    """The view with one more broker, or with its new address (a coordinator that metadata did not name yet)."""
    return replace(view, brokers={**view.brokers, broker.node_id: broker})


def without_old_topics(view: ClusterView, *, now_s: float, max_age_s: float, keep: Iterable[str]) -> ClusterView:
    """The view without topics that no answer has named for `max_age_s` seconds, except those to keep."""
    kept = set(keep)
    topics = {
        name: topic for name, topic in view.topics.items() if name in kept or now_s - topic.updated_at_s < max_age_s
    }
    if len(topics) == len(view.topics):
        return view
    return replace(view, topics=topics)


def _merge_topic(known: TopicView | None, answer: MetadataResponseTopic, now_s: float, asked: int) -> TopicView:
    name = answer.name or ""
    before: Mapping[int, PartitionView] = {}
    if known is not None and (answer.topic_id == known.topic_id or ZERO_UUID in (answer.topic_id, known.topic_id)):
        before = known.partitions
    if answer.error_code in _TRANSIENT_TOPIC_ERRORS and not answer.partitions:
        partitions = dict(before)
    else:
        partitions = {
            item.partition_index: _merge_partition(before.get(item.partition_index), item, now_s)
            for item in answer.partitions
        }
    topic_id = answer.topic_id
    if topic_id == ZERO_UUID and known is not None and answer.error_code in _TRANSIENT_TOPIC_ERRORS:
        topic_id = known.topic_id
    return TopicView(name, topic_id, partitions, answer.error_code, answer.is_internal, now_s, asked)


def _merge_partition(known: PartitionView | None, answer: MetadataResponsePartition, now_s: float) -> PartitionView:
    if known is not None and 0 <= answer.leader_epoch < known.leader_epoch:
        since_s = known.doubted_since_s if known.doubts else now_s
        if known.doubts + 1 < DOUBTS or now_s - since_s < DOUBT_S:
            return replace(known, doubts=known.doubts + 1, doubted_since_s=since_s)
    return PartitionView(
        answer.partition_index,
        answer.leader_id if answer.leader_id >= 0 else None,
        answer.leader_epoch,
        tuple(answer.replica_nodes),
        tuple(answer.isr_nodes),
        answer.error_code,
        tuple(answer.offline_replicas),
    )


@dataclass(frozen=True, slots=True)
class RefreshRules:
    """The spacing of metadata requests, in seconds; see the configuration table for each property.

    `interval_s` is None when `topic.metadata.refresh.interval.ms` is -1: no periodic refresh.
    """

    interval_s: float | None = 300.0
    fast_interval_ms: float = 100.0
    fast_max_ms: float = 1000.0
    max_age_s: float = 900.0


class RefreshPlan:
    """Decides on the time and the topics of the next background refresh.

    A stale leader (`invalidate`) makes it due at once, then, while refreshes keep being asked for, with exponential
    back-off between them (for the first `HURRY_FOR_S` no longer than `HURRY_MS`: a new leader is to be found soon after
    its election); otherwise it is due at every interval from the first answer on, whatever else was asked meanwhile:
    clients that begin together learn of new partitions together, so a group leader is not behind the producers. One
    background refresh at a time: between `started` and `finished` nothing is due.
    """

    def __init__(self, rules: RefreshRules, rng: random.Random) -> None:
        self._rules = rules
        self._backoff = Backoff(rules.fast_interval_ms, rules.fast_max_ms, rng)
        self._hurried_backoff = Backoff(rules.fast_interval_ms, min(HURRY_MS, rules.fast_max_ms), rng)
        self._trouble_since_s = -HURRY_FOR_S
        self._attempt = 0
        self._not_before_s = 0.0
        self._stale: set[str] = set()
        self._brokers_stale = False
        self._beat_s: float | None = None
        self._running = False
        self.tracked: set[str] = set()

    @property
    def max_age_s(self) -> float:
        """metadata.max.age.ms in seconds: how long a topic that nobody tracks is remembered."""
        return self._rules.max_age_s

    def invalidate(self, topic: str | None, now_s: float) -> None:
        """A topic's leaders (None: the brokers, all tracked topics) turned out to be wrong."""
        if not self._attempt or self._last_quiet(now_s):
            self._attempt = 0
            self._trouble_since_s = now_s
        if topic is None:
            self._brokers_stale = True
        else:
            self._stale.add(topic)

    def _last_quiet(self, now_s: float) -> bool:
        """Whether the last hurried refresh is so long ago that the next trouble is a new one."""
        return now_s - self._not_before_s > 3 * self._rules.fast_max_ms / 1000

    def _delay_s(self, now_s: float) -> float:
        hurried = now_s - self._trouble_since_s < HURRY_FOR_S
        return (self._hurried_backoff if hurried else self._backoff).delay_s(self._attempt)

    def track(self, topics: Iterable[str]) -> None:
        """The topics that the periodic refresh keeps up to date; replaces the earlier ones."""
        self.tracked = set(topics)

    def due_at_s(self) -> float | None:
        """The due time of the next background refresh, in monotonic seconds; may be in the past; None: none is due."""
        if self._running:
            return None
        due: list[float] = []
        if self._stale or self._brokers_stale:
            due.append(self._not_before_s)
        if self._rules.interval_s is not None and self._beat_s is not None:
            due.append(max(self._beat_s + self._rules.interval_s, self._not_before_s))
        return min(due, default=None)

    def started(self, now_s: float) -> frozenset[str]:
        """A background refresh starts: the topics to ask for (tracked and stale ones; none: only the brokers)."""
        self._running = True
        hurried = bool(self._stale or self._brokers_stale)
        interval_s = self._rules.interval_s
        if self._beat_s is not None and interval_s is not None and now_s >= self._beat_s + interval_s:
            self._beat_s += max(1.0, (now_s - self._beat_s) // interval_s) * interval_s
        topics = frozenset(self._stale | self.tracked)
        self._stale.clear()
        self._brokers_stale = False
        if hurried:
            self._not_before_s = now_s + self._delay_s(now_s)
            self._attempt += 1
        return topics

    def finished(self, now_s: float, *, ok: bool, topics: Iterable[str] = ()) -> None:
        """The background refresh is done; after a failed one its topics are stale again."""
        self._running = False
        if not ok:
            self._stale.update(topics)
            self._brokers_stale = True
            self._not_before_s = max(self._not_before_s, now_s + self._delay_s(now_s))

    def observed(self, now_s: float, topics: Iterable[str] | None) -> None:
        """Somebody else's refresh was answered: what it covered is fresh."""
        if topics is None:
            self._stale.clear()
            self._brokers_stale = False
        else:
            self._stale.difference_update(topics)
        if self._beat_s is None:
            self._beat_s = now_s
