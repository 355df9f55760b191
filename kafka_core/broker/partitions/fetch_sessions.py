"""Incremental fetch sessions: what a consumer has asked for and last been told, per partition.

Must not know: the log, time, sockets. Partitions are kept in the order of the next answer, for fairness.
Spec: KIP-227, KIP-516 (ids in sessions); `FetchSession` of Apache Kafka 4.
"""

from __future__ import annotations

import random
from collections.abc import Iterable
from dataclasses import dataclass, field
from uuid import UUID

from kafka_core.broker.codes import Code

#: A session epoch of a request: full fetch that makes a session; full fetch that ends one.
INITIAL_EPOCH = 0
FINAL_EPOCH = -1
NO_SESSION = 0

#: (topic name or "", topic id or the zero id, partition): names until version 12, ids from 13 on.
PartitionKey = tuple[str, UUID, int]


@dataclass(slots=True, eq=False)
class FetchTarget:
    """The fetch of one partition, and (in a session) the facts of its last answer."""

    key: PartitionKey
    fetch_offset: int
    max_bytes: int
    current_leader_epoch: int = -1
    last_fetched_epoch: int = -1
    told_high_watermark: int = -1
    told_log_start_offset: int = -1

    def ask(self, other: FetchTarget) -> None:
        """Take over the wishes of a newer request, keep what was told."""
        self.fetch_offset = other.fetch_offset
        self.max_bytes = other.max_bytes
        self.current_leader_epoch = other.current_leader_epoch
        self.last_fetched_epoch = other.last_fetched_epoch

    def news(self, code: int, high_watermark: int, log_start_offset: int, size_bytes: int, *, elsewhere: bool) -> bool:
        """Whether an answer must be sent in an incremental response; remembers it as told.

        Args:
            elsewhere: it sends the reader to another offset or to another replica.
        """
        fresh = (
            size_bytes > 0
            or elsewhere
            or code != Code.NONE
            or high_watermark != self.told_high_watermark
            or log_start_offset != self.told_log_start_offset
        )
        # With an error the watermark is -1, so the partition is news again once the error is gone.
        self.told_high_watermark = high_watermark
        self.told_log_start_offset = log_start_offset
        return fresh


@dataclass(slots=True, eq=False)
class FetchSession:
    """One consumer's session with one broker."""

    session_id: int
    uses_topic_ids: bool
    targets: dict[PartitionKey, FetchTarget] = field(default_factory=dict)
    next_epoch: int = 1

    def update(self, wanted: Iterable[FetchTarget], forgotten: Iterable[PartitionKey]) -> None:
        """Apply the changes an incremental request carries."""
        for target in wanted:
            known = self.targets.get(target.key)
            if known is None:
                self.targets[target.key] = target
            else:
                known.ask(target)
        for key in forgotten:
            self.targets.pop(key, None)

    def advance(self) -> None:
        """One request was taken; the next one carries the next epoch (1 follows the largest)."""
        self.next_epoch = self.next_epoch % (2**31 - 1) + 1

    def served(self, key: PartitionKey) -> None:
        """This partition got records: others come first next time."""
        target = self.targets.pop(key, None)
        if target is not None:
            self.targets[key] = target


@dataclass(frozen=True, slots=True)
class FetchPlan:
    """The plan of one fetch's answer: an error for the whole request, or the partitions to read."""

    code: Code
    targets: list[FetchTarget]
    session: FetchSession | None = None
    #: Only partitions with news are answered.
    incremental: bool = False


class FetchSessions:
    """The session cache of one broker; the least recently used session makes room for a new one."""

    def __init__(self, rng: random.Random, slots: int) -> None:
        self._rng = rng
        self._slots = slots
        self._sessions: dict[int, FetchSession] = {}

    def __len__(self) -> int:
        return len(self._sessions)

    def plan(
        self,
        session_id: int,
        epoch: int,
        wanted: list[FetchTarget],
        forgotten: Iterable[PartitionKey],
        *,
        uses_topic_ids: bool,
    ) -> FetchPlan:
        """Decide what a request with this session id and epoch is: full, session-making or incremental."""
        if epoch in (INITIAL_EPOCH, FINAL_EPOCH):
            self._sessions.pop(session_id, None)
            if epoch == FINAL_EPOCH:
                return FetchPlan(Code.NONE, wanted)
            session = self._create(wanted, uses_topic_ids) if wanted else None
            return FetchPlan(Code.NONE, wanted, session)
        session = self._sessions.get(session_id)
        if session is None:
            return FetchPlan(Code.FETCH_SESSION_ID_NOT_FOUND, [])
        if session.uses_topic_ids != uses_topic_ids:
            return FetchPlan(Code.FETCH_SESSION_TOPIC_ID_ERROR, [])
        if epoch != session.next_epoch:
            return FetchPlan(Code.INVALID_FETCH_SESSION_EPOCH, [])
        session.update(wanted, forgotten)
        session.advance()
        self._sessions[session_id] = self._sessions.pop(session_id)
        if not session.targets:
            # Nothing left to fetch: the session ends (`SessionlessFetchContext` in Apache Kafka).
            del self._sessions[session_id]
            return FetchPlan(Code.NONE, [])
        return FetchPlan(Code.NONE, list(session.targets.values()), session, incremental=True)

    def _create(self, wanted: list[FetchTarget], uses_topic_ids: bool) -> FetchSession | None:
        if self._slots <= 0:
            return None
        while len(self._sessions) >= self._slots:
            del self._sessions[next(iter(self._sessions))]
        session_id = self._rng.randint(1, 2**31 - 1)
        while session_id in self._sessions:
            session_id = self._rng.randint(1, 2**31 - 1)
        session = FetchSession(session_id, uses_topic_ids, {target.key: target for target in wanted})
        self._sessions[session_id] = session
        return session
