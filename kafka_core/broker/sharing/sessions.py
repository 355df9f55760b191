"""Share sessions of one broker: which partitions a member of a share group reads there, over which connection.

Must not know: records and locks, time, sockets. Partitions are kept in the order of the next answer, for fairness.
Spec: KIP-932; `ShareSessionCache` of Apache Kafka 4.3.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Final

from kafka_core.broker.codes import Code
from kafka_core.broker.groups.consumer_groups import Id

#: A session epoch of a request: a fetch that makes a session; a request that ends one.
INITIAL_EPOCH: Final = 0
FINAL_EPOCH: Final = -1


@dataclass(slots=True, eq=False)
class ShareSession:
    """One member's session with one broker."""

    group_id: str
    member_id: str
    connection_id: int
    partitions: dict[Id, None] = field(default_factory=dict)
    next_epoch: int = 1
    #: Gives up the fetch that waits for records, if one does.
    give_up: Callable[[], None] | None = None

    def update(self, wanted: Iterable[Id], forgotten: Iterable[Id]) -> None:
        """Apply the changes that a request carries."""
        for key in wanted:
            self.partitions.setdefault(key)
        for key in forgotten:
            self.partitions.pop(key, None)

    def served(self, key: Id) -> None:
        """This partition gave records: others come first next time."""
        if key in self.partitions:
            del self.partitions[key]
            self.partitions[key] = None

    def end(self) -> None:
        """It is over, also for a fetch that waits."""
        give_up, self.give_up = self.give_up, None
        if give_up is not None:
            give_up()


class ShareSessions:
    """The sessions of one broker; there are no more than `most`."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._sessions: dict[tuple[str, str], ShareSession] = {}

    def __len__(self) -> int:
        return len(self._sessions)

    def open(self, group_id: str, member_id: str, connection_id: int) -> ShareSession | None:
        """A new session in place of the member's old one; None if there are too many."""
        old = self._sessions.pop((group_id, member_id), None)
        if old is not None:
            old.end()
        if len(self._sessions) >= self._most:
            return None
        session = self._sessions[group_id, member_id] = ShareSession(group_id, member_id, connection_id)
        return session

    def find(self, group_id: str, member_id: str, epoch: int) -> tuple[Code, ShareSession | None]:
        """The session that a request with this epoch goes on with, or why there is none; the epoch moves on."""
        session = self._sessions.get((group_id, member_id))
        if session is None:
            return Code.SHARE_SESSION_NOT_FOUND, None
        if epoch == FINAL_EPOCH:
            return Code.NONE, session
        if epoch != session.next_epoch:
            return Code.INVALID_SHARE_SESSION_EPOCH, None
        session.next_epoch = session.next_epoch % (2**31 - 1) + 1  # 1 follows the largest
        return Code.NONE, session

    def remove(self, session: ShareSession) -> None:
        """The session is over."""
        key = (session.group_id, session.member_id)
        if self._sessions.get(key) is session:
            del self._sessions[key]
        session.end()

    def of_connection(self, connection_id: int) -> list[ShareSession]:
        """The sessions of one connection."""
        return [session for session in self._sessions.values() if session.connection_id == connection_id]

    def clear(self) -> None:
        """The broker stopped: it knows nothing any more."""
        sessions, self._sessions = list(self._sessions.values()), {}
        for session in sessions:
            session.end()
