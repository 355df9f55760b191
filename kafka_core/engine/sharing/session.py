"""The share session with one broker: what it has been told, in which order, and when it is over.

Must not know records or connections: requests come out, outcomes go in; one request at a time.
Spec: KIP-932 (share sessions: epoch 0 opens, -1 closes and releases what is held; a request may not carry
acknowledgements while it opens).

    CLOSED ──▶ OPENING ──▶ OPEN ──▶ CLOSING ──▶ CLOSED      (a loss: CLOSED, from anywhere)
"""

from __future__ import annotations

import enum
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final
from uuid import UUID

from kafka_core.engine.sharing.holdings import Acknowledged, runs
from kafka_core.errors import StateError
from kafka_core.model import AcknowledgeType
from kafka_core.protocol.messages import share_acknowledge, share_fetch
from kafka_core.protocol.messages.share_acknowledge import ShareAcknowledgeRequest
from kafka_core.protocol.messages.share_fetch import ShareFetchRequest

INITIAL_EPOCH: Final = 0
FINAL_EPOCH: Final = -1
MAX_EPOCH: Final = 2**31 - 1

Id = tuple[UUID, int]
"""A partition as share requests name it."""


class SessionState(enum.Enum):
    """The state of a session."""

    CLOSED = "closed"
    OPENING = "opening"
    OPEN = "open"
    CLOSING = "closing"


MOVES: Final[Mapping[SessionState, frozenset[SessionState]]] = {
    SessionState.CLOSED: frozenset({SessionState.OPENING}),
    SessionState.OPENING: frozenset({SessionState.OPEN, SessionState.CLOSED}),
    SessionState.OPEN: frozenset({SessionState.CLOSING, SessionState.CLOSED}),
    SessionState.CLOSING: frozenset({SessionState.CLOSED}),
}


@dataclass(frozen=True, slots=True)
class FetchLimits:
    """The limits of one fetch.

    Attributes:
        acquire_mode: 0: whole batches, so that `max_records` may be exceeded; 1: never more than that (KIP-1206).
    """

    max_wait_ms: int
    min_bytes: int
    max_bytes: int
    max_records: int
    acquire_mode: int


class ShareSession:
    """The session of one member with one broker.

    Attributes:
        number: another one after each loss; what was acquired in an earlier one can't be acknowledged any more.
    """

    def __init__(self, group_id: str, member_id: str) -> None:
        self.state = SessionState.CLOSED
        self.number = 0
        self._group_id = group_id
        self._member_id = member_id
        self._epoch = INITIAL_EPOCH
        self._told: frozenset[Id] = frozenset()
        self._asked: frozenset[Id] = frozenset()

    @property
    def open(self) -> bool:
        """Whether acknowledgements can be sent."""
        return self.state is SessionState.OPEN

    def fetch(
        self, wanted: Collection[Id], limits: FetchLimits, acknowledged: Sequence[Acknowledged] = ()
    ) -> ShareFetchRequest:
        """Asks for records of `wanted`, all partitions of the session from now on."""
        if acknowledged and not self.open:
            raise StateError(f"a share session that is {self.state.value} takes no acknowledgements")
        if not self.open:
            self._move(SessionState.OPENING)
        self._asked = frozenset(wanted)
        topics: dict[UUID, share_fetch.FetchTopic] = {}
        partitions: dict[Id, share_fetch.FetchPartition] = {}

        def named(item: Id) -> share_fetch.FetchPartition:
            if item not in partitions:
                topic = topics.setdefault(item[0], share_fetch.FetchTopic(topic_id=item[0]))
                partitions[item] = share_fetch.FetchPartition(partition_index=item[1])
                topic.partitions.append(partitions[item])
            return partitions[item]

        for item in sorted(self._asked - self._told):
            named(item)
        for part in acknowledged:
            batches = named((part.origin.topic_id, part.origin.partition)).acknowledgement_batches
            batches += [share_fetch.AcknowledgementBatch(first, last, [kind]) for first, last, kind in runs(part.types)]
        return ShareFetchRequest(
            group_id=self._group_id,
            member_id=self._member_id,
            share_session_epoch=self._epoch,
            max_wait_ms=limits.max_wait_ms,
            min_bytes=limits.min_bytes,
            max_bytes=limits.max_bytes,
            max_records=limits.max_records,
            batch_size=limits.max_records,
            share_acquire_mode=limits.acquire_mode,
            topics=list(topics.values()),
            forgotten_topics_data=_forgotten(self._told - self._asked),
        )

    def acknowledge(self, acknowledged: Sequence[Acknowledged], *, closes: bool = False) -> ShareAcknowledgeRequest:
        """Sends acknowledgements; one that closes the session has the broker release everything else that is held."""
        if not self.open:
            raise StateError(f"a share session that is {self.state.value} takes no acknowledgements")
        epoch = self._epoch
        if closes:
            self._move(SessionState.CLOSING)
            epoch = FINAL_EPOCH
        topics: dict[UUID, share_acknowledge.AcknowledgeTopic] = {}
        partitions: dict[Id, share_acknowledge.AcknowledgePartition] = {}
        for part in acknowledged:
            item = (part.origin.topic_id, part.origin.partition)
            if item not in partitions:
                topic = topics.setdefault(item[0], share_acknowledge.AcknowledgeTopic(topic_id=item[0]))
                partitions[item] = share_acknowledge.AcknowledgePartition(partition_index=item[1])
                topic.partitions.append(partitions[item])
            partitions[item].acknowledgement_batches += [
                share_acknowledge.AcknowledgementBatch(first, last, [kind]) for first, last, kind in runs(part.types)
            ]
        return ShareAcknowledgeRequest(
            group_id=self._group_id,
            member_id=self._member_id,
            share_session_epoch=epoch,
            is_renew_ack=any(AcknowledgeType.RENEW in part.types.values() for part in acknowledged),
            topics=list(topics.values()),
        )

    def answered(self, request: ShareFetchRequest | ShareAcknowledgeRequest) -> None:
        """The broker answered without an error of the session."""
        if self.state is SessionState.CLOSING:
            self.lost()
            return
        if self.state is SessionState.OPENING:
            self._move(SessionState.OPEN)
        self._epoch = 1 if self._epoch >= MAX_EPOCH else self._epoch + 1
        if isinstance(request, ShareFetchRequest):
            self._told = self._asked

    def lost(self) -> None:
        """It is over, by its own end or by an error: the next fetch opens another one and names everything."""
        if self.state is not SessionState.CLOSED:
            self._move(SessionState.CLOSED)
            self.number += 1
        self._epoch = INITIAL_EPOCH
        self._told = frozenset()

    def _move(self, state: SessionState) -> None:
        if state not in MOVES[self.state]:
            raise StateError(f"a share session can't go from {self.state.value} to {state.value}")
        self.state = state


def _forgotten(items: Iterable[Id]) -> list[share_fetch.ForgottenTopic]:
    topics: dict[UUID, share_fetch.ForgottenTopic] = {}
    for topic_id, partition in sorted(items):
        topics.setdefault(topic_id, share_fetch.ForgottenTopic(topic_id=topic_id)).partitions.append(partition)
    return list(topics.values())
