"""A consumer's subscription (topics, patterns) and assignment (partitions with their positions).

Must not know requests, connections, loops or callbacks: it holds state that the fetcher, offsets and group logic share.
Spec: confluent_kafka.Consumer.subscribe/assign/seek; KIP-320 for the epochs kept with positions.

Threads: the loop changes everything but `position`, `stored` and their epochs, which the caller's thread moves on while
it takes records (under the queue's lock). Every field is read and written as a whole, so a reader sees old or new.
"""

from __future__ import annotations

import enum
import itertools
import re
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from typing import Final, TypeAlias
from uuid import UUID

from kafka_core.engine.consuming.chunks import Chunk
from kafka_core.engine.consuming.truncation import EpochEnd
from kafka_core.errors import ConfigError, KafkaError, StateError
from kafka_core.kernels import OffsetStore
from kafka_core.model import (
    OFFSET_BEGINNING,
    OFFSET_END,
    OFFSET_INVALID,
    OFFSET_STORED,
    LogTruncation,
    TopicPartition,
)
from kafka_core.protocol import ZERO_UUID

Key: TypeAlias = tuple[str, int]
"""Topic and partition."""

EARLIEST_TIMESTAMP: Final = -2
LATEST_TIMESTAMP: Final = -1

LOGICAL_OFFSETS: Final = frozenset({OFFSET_BEGINNING, OFFSET_END, OFFSET_STORED, OFFSET_INVALID})
"""Negative numbers that users may give as offsets: the constants of confluent_kafka."""

new_version: Final = itertools.count(1).__next__
"""Gives a number that was never given before (any thread): a version of a partition must not come again with the next
assignment, or an answer to the old one's request would pass as the new one's."""

NO_REQUEST: Final = 0
FORMER_TOPICS_KEPT: Final = 4


REFUSED: Final = "Failed to set subscription: Local: Invalid argument or configuration"
"""librdkafka's words, before our own."""


class Subscription:
    """Topics by name and by pattern; a name that begins with `^` is a regular expression, matched from its start.

    Args:
        topics: names and patterns, at least one.
        blacklist: patterns of topics that no pattern of `topics` may bring in (`topic.blacklist`).
        by_server: the coordinator matches the patterns, whole names in the syntax of RE2/J (KIP-848): `server_pattern`.

    Raises:
        TypeError: not a list of strings.
        ConfigError: the list is empty, or a pattern is not a regular expression.
    """

    __slots__ = ("_blacklist", "_patterns", "names", "server_pattern", "topics")

    def __init__(self, topics: Sequence[str], blacklist: Sequence[str] = (), *, by_server: bool = False) -> None:
        if isinstance(topics, str | Mapping) or not all(isinstance(topic, str) for topic in topics):
            raise TypeError("expected list of topic unicode strings")
        self.topics = tuple(dict.fromkeys(topics))
        if not self.topics or "" in self.topics:
            raise ConfigError(
                f"{REFUSED}: subscribe() needs at least one topic, and no empty name; unsubscribe() ends a subscription"
            )
        self.names = frozenset(topic for topic in self.topics if not topic.startswith("^"))
        patterns = [topic for topic in self.topics if topic.startswith("^")]
        self.server_pattern = "|".join(f"({topic})" for topic in patterns) if by_server and patterns else None
        self._patterns = [] if by_server else [compiled(topic) for topic in patterns]
        self._blacklist = [compiled(pattern) for pattern in blacklist]

    @property
    def has_patterns(self) -> bool:
        """Whether the client must know all topics of the cluster to say what is subscribed."""
        return bool(self._patterns)

    def matching(self, known: Iterable[str]) -> frozenset[str]:
        """The subscribed topics: every plain name, and those of `known` that a pattern matches."""
        if not self._patterns:
            return self.names
        found = {
            topic
            for topic in known
            if any(pattern.match(topic) for pattern in self._patterns)
            and not any(pattern.match(topic) for pattern in self._blacklist)
        }
        return self.names | found


def compiled(pattern: str) -> re.Pattern[str]:
    """A user's pattern, compiled; ConfigError if it can't be."""
    try:
        return re.compile(pattern)
    except re.error as error:
        raise ConfigError(f"{REFUSED}: the pattern {pattern!r} is not a regular expression: {error}") from error


class Phase(enum.Enum):
    """The next thing that a partition needs."""

    COMMITTED = "committed"
    """The group's committed offset."""
    LOOKUP = "lookup"
    """The offset at `lookup_timestamp` (ListOffsets)."""
    VALIDATE = "validate"
    """Checks whether the leader's log still holds the records read (OffsetForLeaderEpoch)."""
    FETCH = "fetch"
    """Records."""
    HALTED = "halted"
    """A seek: an error was reported that trying again would only repeat."""


PHASE_MOVES: Final[dict[Phase, frozenset[Phase]]] = {
    Phase.COMMITTED: frozenset({Phase.FETCH, Phase.VALIDATE, Phase.LOOKUP, Phase.HALTED}),
    Phase.LOOKUP: frozenset({Phase.FETCH, Phase.HALTED}),
    Phase.VALIDATE: frozenset({Phase.FETCH, Phase.LOOKUP, Phase.HALTED}),
    Phase.FETCH: frozenset({Phase.LOOKUP, Phase.VALIDATE, Phase.HALTED}),
    Phase.HALTED: frozenset(),
}
"""Allowed moves; `restart` (assign, seek) may go from anywhere to the phase its offset asks for."""


@dataclass(slots=True, eq=False)
class PartitionState:
    """One assigned partition.

    Attributes:
        version: a new one with every assignment and seek, never given twice; what was fetched or looked up for another
            one is dropped.
        life: a new one with every assignment of the partition and every topic of that name, never given twice.
        request: the number of the last fetch that asks for it, the only one whose answer is taken; 0: none's.
        topic_id: the topic that the offsets belong to: one that is deleted and created again is another topic. The zero
            UUID where the broker has no ids. `former_positions`: where others were left, and their `start`.
        next_fetch_offset: what to fetch next (the loop's side).
        position: next offset to hand to the application (the caller's side); -1001 before the start is known.
        start: where an assignment, a seek, a new topic or the log's new beginning put it last: records that were taken
            before are not to come again. -1001 before it is known.
        given: the offset it was assigned with, and `given_epoch` its epoch, for `assignment()`.
        from_group: the group's, whoever assigned it: it is given up with the membership. Else the application's alone.
        consumed: whether the position has moved since it began, so that `position()` has something to say.
        stored: offset to be committed next; -1001 if none. `committed`: what the group has; -1001 if unknown.
            `committed_epoch`: the leader epoch that it was committed with; -1 if none.
        leader_epoch: of the leader in use. `position_epoch`, `stored_epoch`, `fetch_epoch`: of the records behind.
        high_watermark, last_stable_offset, log_start_offset: as the last fetch told, at `told_at_s`; -1001 if
            unknown.
        hurried: it was assigned, seeked or resumed since the last request of its session, and should not wait for that.
        held_back: the queue has enough of it. `queued_records`, `queued_bytes`: what the queue has.
        retry_at_s: no request for it before this time. `attempt`: failures in a row.
        reported: code of the error that the application was told about; 0 after a success.
        suspect: where a batch could not be read, once: it may have been damaged on its way, and is read a second time
            before the application is told; -1001 if none.
    """

    topic: str
    partition: int
    version: int = field(default_factory=new_version)
    life: int = field(default_factory=new_version)
    request: int = NO_REQUEST
    topic_id: UUID = ZERO_UUID
    former_positions: dict[UUID, tuple[int, int]] = field(default_factory=dict)
    phase: Phase = Phase.COMMITTED
    lookup_timestamp: int = 0
    next_fetch_offset: int = OFFSET_INVALID
    position: int = OFFSET_INVALID
    start: int = OFFSET_INVALID
    given: int = OFFSET_INVALID
    given_epoch: int | None = None
    from_group: bool = False
    consumed: bool = False
    stored: int = OFFSET_INVALID
    committed: int = OFFSET_INVALID
    committed_epoch: int = -1
    leader_epoch: int = -1
    fetch_epoch: int = -1
    position_epoch: int = -1
    stored_epoch: int = -1
    stored_metadata: str | None = None
    high_watermark: int = OFFSET_INVALID
    last_stable_offset: int = OFFSET_INVALID
    log_start_offset: int = OFFSET_INVALID
    told_at_s: float = 0.0
    paused: bool = False
    active: bool = True
    hurried: bool = False
    held_back: bool = False
    chunks: deque[Chunk] = field(default_factory=deque)
    queued_records: int = 0
    queued_bytes: int = 0
    retry_at_s: float = 0.0
    attempt: int = 0
    preferred_replica: int | None = None
    preferred_until_s: float = 0.0
    reported: int = 0
    suspect: int = OFFSET_INVALID
    eof_reported_at: int = OFFSET_INVALID
    max_bytes_factor: int = 1

    @property
    def key(self) -> Key:
        """Topic and partition."""
        return self.topic, self.partition

    def move(self, phase: Phase) -> None:
        """Goes to another phase.

        Raises:
            StateError: the table `PHASE_MOVES` does not allow it.
        """
        if phase not in PHASE_MOVES[self.phase]:
            raise StateError(f"{self.topic}[{self.partition}] can't go from {self.phase.value} to {phase.value}")
        if phase is not Phase.FETCH:
            self.request = NO_REQUEST
        self.phase = phase

    def void(self) -> None:
        """Answers to requests that are under way are for another position: they are not taken."""
        self.version, self.request = new_version(), NO_REQUEST

    def restart(self, offset: int, leader_epoch: int | None = None) -> None:
        """Begins anew at an offset or one of the `OFFSET_*` constants; what is under way for it becomes void.

        Args:
            leader_epoch: of the record before the offset: the leader is asked first whether it still has that.
        """
        self.void()
        self.retry_at_s, self.attempt, self.reported = 0.0, 0, 0
        self.preferred_replica, self.eof_reported_at = None, OFFSET_INVALID
        self.fetch_epoch = self.position_epoch = -1
        self.next_fetch_offset = self.position = self.start = OFFSET_INVALID
        self.consumed, self.hurried = False, True
        self.suspect = OFFSET_INVALID
        if offset >= 0:
            self.phase = Phase.FETCH if leader_epoch is None else Phase.VALIDATE
            self.fetch_epoch = -1 if leader_epoch is None else leader_epoch
            self.next_fetch_offset = self.position = self.start = offset
        elif offset in (OFFSET_BEGINNING, OFFSET_END):
            self.phase = Phase.LOOKUP
            self.lookup_timestamp = EARLIEST_TIMESTAMP if offset == OFFSET_BEGINNING else LATEST_TIMESTAMP
        else:
            self.phase = Phase.COMMITTED

    def go_back(self, offset: int) -> None:
        """`restart` at an offset before, without being put there by the application: what was taken may come again.

        The epoch of what was read behind it stays: a log without the end of that is found out by it as well. It is
        asked about (again) unless it is being fetched: what was asked or found out about it was for another position.
        """
        start, epoch, sure = self.start, self.fetch_epoch, self.phase is Phase.FETCH
        self.restart(offset, None if sure or epoch < 0 else epoch)
        self.start, self.fetch_epoch = min(start, offset), epoch

    def cut(self, end: EpochEnd, reset: int | None) -> LogTruncation | None:
        """The leader's log lacks what was fetched: goes on where the log ends, if there is a policy at all.

        Args:
            reset: the timestamp to look up where the leader does not know the end; None: it halts, whatever is known.

        Returns:
            What the application was given and is gone; None: nothing of that, it goes on where it is.
        """
        if end.holds(self.position):  # only what was fetched ahead is gone
            consumed, epoch = self.consumed, self.position_epoch
            self.move(Phase.FETCH)
            self.go_back(self.position)
            self.consumed, self.position_epoch = consumed, epoch
            return None
        known = (end.offset, end.epoch) if end.known else (None, None)
        lost = LogTruncation(self.topic, self.partition, self.position, self.fetch_epoch, *known)
        if reset is None:
            self.move(Phase.HALTED)
            self.void()
        elif end.known:
            self.move(Phase.FETCH)
            self.go_back(end.offset)
            self.fetch_epoch = end.epoch
        else:
            self.look_up(reset)
            self.void()
            self.eof_reported_at = OFFSET_INVALID
        return lost

    def change_topic(self, topic_id: UUID) -> None:
        """The topic is another one now: nothing that was learnt about the old one holds, what it was at is kept aside.

        It may be asked for again: a broker that lags behind may name the old topic for a while.
        """
        if self.position >= 0:
            self.former_positions[self.topic_id] = self.position, self.start
            while len(self.former_positions) > FORMER_TOPICS_KEPT:
                del self.former_positions[next(iter(self.former_positions))]
        self.topic_id, self.life = topic_id, new_version()
        self.stored = self.committed = OFFSET_INVALID
        self.leader_epoch = self.stored_epoch = self.committed_epoch = -1
        self.stored_metadata = None
        self.high_watermark = self.last_stable_offset = self.log_start_offset = OFFSET_INVALID
        self.max_bytes_factor = 1

    def found(self, offset: int, leader_epoch: int = -1, *, validate: bool = False) -> None:
        """The start is known: fetch from here.

        Args:
            validate: it was committed long ago, maybe: the leader is asked first whether it still has what is before.
        """
        self.move(Phase.VALIDATE if validate and leader_epoch >= 0 else Phase.FETCH)
        # Found behind the position, the log was cut off at its beginning; before it, at its end.
        self.start = min(self.start, offset) if self.start >= 0 and offset <= self.position else offset
        self.next_fetch_offset = self.position = offset
        self.fetch_epoch = leader_epoch
        self.attempt, self.reported = 0, 0
        self.suspect = OFFSET_INVALID

    def look_up(self, timestamp: int) -> None:
        """The offset must be looked up by time (or -2 earliest, -1 latest)."""
        self.move(Phase.LOOKUP)
        self.lookup_timestamp = timestamp

    def as_topic_partition(self, offset: int = OFFSET_INVALID, leader_epoch: int | None = None) -> TopicPartition:
        """The value users see."""
        return TopicPartition(self.topic, self.partition, offset, leader_epoch=leader_epoch)


def check_offset(offset: int) -> int:
    """Gives back an offset that a position may start at; ConfigError for any other negative number."""
    if offset < 0 and offset not in LOGICAL_OFFSETS:
        raise ConfigError(f"{offset} is not an offset: give a number from 0 or one of the OFFSET_ constants")
    return offset


class Assignment:
    """The partitions a consumer reads, in the order they were given.

    Attributes:
        paused: what the application has paused and not resumed since. Rebalances and assignments do not end a pause: a
            partition that comes back is paused still, as with librdkafka.
        store_behind: stores the offset behind a record for the next commit, at the cost of a look-up; False, and
            nothing is stored, if it is an event, has no offset, or its partition is not assigned. Any thread.
    """

    __slots__ = ("_states", "generation", "given_up", "paused", "store_behind")

    def __init__(self) -> None:
        self._states: dict[Key, PartitionState] = {}
        self.paused: set[Key] = set()
        self.store_behind = OffsetStore(self._states)
        self.generation = 0
        """Grows with every change of the set."""
        self.given_up = 0
        """Grows with every partition that is taken away."""

    def __len__(self) -> int:
        return len(self._states)

    def __iter__(self) -> Iterator[PartitionState]:
        return iter(list(self._states.values()))

    def __contains__(self, key: object) -> bool:
        return key in self._states

    def get(self, key: Key) -> PartitionState | None:
        """The state of a partition, None if it is not assigned."""
        return self._states.get(key)

    def require(self, key: Key, doing: str) -> PartitionState:
        """The state of a partition.

        Raises:
            StateError: it is not assigned: _STATE if another one of its topic is, else _UNKNOWN_PARTITION; the text
                says what was tried.
        """
        state = self._states.get(key)
        if state is None:
            known = any(topic == key[0] for topic, _ in self._states)
            code = KafkaError._STATE if known else KafkaError._UNKNOWN_PARTITION
            raise StateError(
                f"{doing}: {KafkaError.standard(code).str()}: {key[0]}[{key[1]}] is not assigned to this consumer "
                "(assign() it first, or wait for on_assign)",
                code,
            )
        return state

    def check(self, partitions: Iterable[TopicPartition], besides: Set[Key] = frozenset()) -> None:
        """Looks whether partitions can be added, when those of `besides` are taken away before.

        Raises:
            ConfigError: a partition is there twice or assigned already, or an offset is none.
        """
        seen: set[Key] = set()
        for item in partitions:
            key = (item.topic, item.partition)
            check_offset(item.offset)
            if item.partition < 0:
                raise ConfigError(f"{item.topic}[{item.partition}] is no partition")
            if key in seen:
                raise ConfigError(f"Duplicate {item.topic} [{item.partition}] in input list")
            if key in self._states and key not in besides:
                text = f"{item.topic} [{item.partition}] is already part of the current assignment"
                raise ConfigError(text, KafkaError._CONFLICT)
            seen.add(key)

    def add(self, partitions: Iterable[TopicPartition]) -> list[PartitionState]:
        """Adds partitions, each from its offset (OFFSET_STORED or OFFSET_INVALID: from the committed one).

        Raises:
            ConfigError: `check` refuses them; nothing was added then.
        """
        wanted = list(partitions)
        self.check(wanted)
        added = []
        for item in wanted:
            paused = (item.topic, item.partition) in self.paused
            state = PartitionState(item.topic, item.partition, given=item.offset, paused=paused)
            state.given_epoch = item.leader_epoch
            if item.offset == OFFSET_INVALID:
                state.given = OFFSET_STORED
            state.restart(item.offset, item.leader_epoch)
            self._states[state.key] = state
            added.append(state)
        self.generation += 1
        return added

    def remove(self, keys: Iterable[Key]) -> list[PartitionState]:
        """Takes partitions away; those that are not there are passed over. Their states become inactive."""
        removed = [state for key in keys if (state := self._states.pop(key, None)) is not None]
        self.store_behind.forget()
        for state in removed:
            state.active = False
            state.void()
        if removed:
            self.generation += 1
            self.given_up += len(removed)
        return removed

    def clear(self) -> list[PartitionState]:
        """Takes all partitions away."""
        return self.remove(list(self._states))

    def partitions(self) -> list[TopicPartition]:
        """The assigned partitions as users see them, with the offsets, and epochs, they were assigned with."""
        return [state.as_topic_partition(state.given, state.given_epoch) for state in self]

    def topics(self) -> frozenset[str]:
        """The topics of which something is assigned."""
        return frozenset(topic for topic, _ in self._states)
