"""Incremental fetch sessions (KIP-227): what a broker has been told to send, so that requests name only changes.

Must not know records or positions: it compares the wanted partitions with the session's and counts its epoch.
Spec: KIP-227 (sessions), KIP-516 (topic ids in sessions: a topic that was made anew is another topic).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final, NamedTuple
from uuid import UUID

from kafka_core.engine.consuming.subscription import Key
from kafka_core.protocol import ZERO_UUID
from kafka_core.protocol.messages.fetch import FetchPartition, FetchTopic, ForgottenTopic

INITIAL_EPOCH: Final = 0
WITHOUT_SESSION: Final = -1
"""The epoch of a request that neither uses nor begins a session."""
NO_SESSION: Final = 0
MAX_EPOCH: Final = 2**31 - 1
LAST_VERSION_WITH_NAMES: Final = 12


class Wanted(NamedTuple):
    """One partition's part of a fetch; a session need not repeat one that is equal to the last."""

    topic_id: UUID
    offset: int
    leader_epoch: int
    max_bytes: int


class LogEnds(NamedTuple):
    """Ends and start of a partition's log: high watermark, last stable offset, first offset; -1 if not given."""

    high_watermark: int
    last_stable_offset: int
    log_start_offset: int


@dataclass(frozen=True, slots=True)
class SessionRequest:
    """The part of a FetchRequest that a session decides.

    Attributes:
        wanted: everything that this fetch asks for, said again or not.
    """

    session_id: int
    session_epoch: int
    topics: list[FetchTopic]
    forgotten: list[ForgottenTopic]
    wanted: Mapping[Key, Wanted]

    @property
    def full(self) -> bool:
        """Whether the request names everything (and the response will)."""
        return self.session_epoch <= INITIAL_EPOCH


class FetchSession:
    """The session with one broker; one request at a time."""

    __slots__ = ("_epoch", "_session_id", "_told", "ends")

    def __init__(self) -> None:
        self._session_id = NO_SESSION
        self._epoch = INITIAL_EPOCH
        self._told: dict[Key, Wanted] = {}
        self.ends: dict[Key, LogEnds] = {}
        """The broker's last answer about each partition, which it repeats only after a change."""

    def knows(self, key: Key, item: Wanted) -> bool:
        """Whether the broker has been told exactly this, so that it answers only when something changes."""
        return self._epoch != INITIAL_EPOCH and self._told.get(key) == item

    def next_request(self, wanted: Mapping[Key, Wanted]) -> SessionRequest:
        """The next request: all partitions without a session, else the changed and the unwanted ones."""
        if self._epoch == INITIAL_EPOCH:
            said: Iterable[tuple[Key, Wanted]] = wanted.items()
            forgotten: list[ForgottenTopic] = []
        else:
            told = self._told
            said = [(key, item) for key, item in wanted.items() if told.get(key) != item]
            forgotten = forgotten_topics(
                (key, item.topic_id)
                for key, item in told.items()
                if key not in wanted or wanted[key].topic_id != item.topic_id
            )
        self._told = dict(wanted)
        self.ends = {key: ends for key, ends in self.ends.items() if key in wanted}
        return SessionRequest(self._session_id, self._epoch, fetch_topics(said), forgotten, wanted)

    def succeeded(self, session_id: int) -> None:
        """The response came without an error of the session."""
        if self._epoch == INITIAL_EPOCH:
            self._session_id = session_id
            self._epoch = INITIAL_EPOCH if session_id == NO_SESSION else 1
        else:
            self._epoch = 1 if self._epoch >= MAX_EPOCH else self._epoch + 1

    def reset(self, *, keep_id: bool = False) -> None:
        """The session broke (its error codes, a lost request): the next request names everything.

        Args:
            keep_id: the broker still has it: name it, so that it is replaced there and does not lie about.
        """
        self._epoch = INITIAL_EPOCH
        self.ends.clear()
        if not keep_id:
            self._session_id = NO_SESSION


def fetch_topics(items: Iterable[tuple[Key, Wanted]]) -> list[FetchTopic]:
    """Partitions grouped by topic, as the request wants them."""
    topics: dict[tuple[str, UUID], FetchTopic] = {}
    for (name, partition), item in items:
        topic = topics.get((name, item.topic_id))
        if topic is None:
            topic = topics[name, item.topic_id] = FetchTopic(topic=name, topic_id=item.topic_id)
        topic.partitions.append(
            FetchPartition(
                partition=partition,
                current_leader_epoch=item.leader_epoch,
                fetch_offset=item.offset,
                partition_max_bytes=item.max_bytes,
            )
        )
    return list(topics.values())


def forgotten_topics(items: Iterable[tuple[Key, UUID]]) -> list[ForgottenTopic]:
    """The same for partitions that the session should drop."""
    topics: dict[tuple[str, UUID], ForgottenTopic] = {}
    for (name, partition), topic_id in items:
        topic = topics.setdefault((name, topic_id), ForgottenTopic(topic=name, topic_id=topic_id))
        topic.partitions.append(partition)
    return list(topics.values())


def uses_topic_ids(request: SessionRequest) -> bool:
    """Whether every topic of the request has an id, so that a version that knows only ids can carry it."""
    return all(item.topic_id != ZERO_UUID for item in request.wanted.values()) and all(
        topic.topic_id != ZERO_UUID for topic in request.forgotten
    )
