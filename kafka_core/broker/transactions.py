"""The transaction coordinator: who may write under a transactional id, what its open transaction holds, how it ends.

Must not know: requests and versions (handlers translate), sockets, the wall clock (clock and timers passed in). What an
end does to logs and groups is said by `Ends`, which the cluster is.
Spec: KIP-98, KIP-360, KIP-588, KIP-890; `TransactionCoordinator` and `TransactionMetadata` of Apache Kafka 4. Markers
are written in the moment a transaction ends, so the states between (PrepareCommit, PrepareAbort) are never seen.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from enum import Enum
from typing import Final, Protocol

from kafka_core.broker.codes import Code
from kafka_core.broker.groups.classic_groups import CommittedOffset
from kafka_core.broker.parking import Timer, Timers
from kafka_core.clock import Clock

logger: Final = logging.getLogger(__name__)

MAX_EPOCH: Final = 2**15 - 1
NO_PRODUCER_ID: Final = -1
NO_EPOCH: Final = -1
TopicPartition = tuple[str, int]


class TransactionState(Enum):
    """States of a transactional id; the values are the names DescribeTransactions shows."""

    EMPTY = "Empty"
    ONGOING = "Ongoing"
    PREPARE_COMMIT = "PrepareCommit"
    PREPARE_ABORT = "PrepareAbort"
    COMPLETE_COMMIT = "CompleteCommit"
    COMPLETE_ABORT = "CompleteAbort"
    DEAD = "Dead"
    PREPARE_EPOCH_FENCE = "PrepareEpochFence"


_MOVES: Final = {
    TransactionState.EMPTY: {TransactionState.ONGOING, TransactionState.COMPLETE_ABORT},
    TransactionState.ONGOING: {TransactionState.COMPLETE_COMMIT, TransactionState.COMPLETE_ABORT},
    TransactionState.COMPLETE_COMMIT: {
        TransactionState.EMPTY,
        TransactionState.ONGOING,
        TransactionState.COMPLETE_ABORT,
    },
    TransactionState.COMPLETE_ABORT: {
        TransactionState.EMPTY,
        TransactionState.ONGOING,
        TransactionState.COMPLETE_ABORT,
    },
}


@dataclass(slots=True, eq=False)
class Transaction:
    """One transactional id.

    Attributes:
        last_identity: the producer id and epoch before the present ones: a request that comes again may name them.
        partitions: in the open transaction.
        groups: whose offsets are in the open transaction.
    """

    transactional_id: str
    producer_id: int
    epoch: int
    timeout_ms: int
    state: TransactionState = TransactionState.EMPTY
    last_identity: tuple[int, int] = (NO_PRODUCER_ID, NO_EPOCH)
    started_ms: int = -1
    partitions: set[TopicPartition] = field(default_factory=set)
    groups: set[str] = field(default_factory=set)
    deadline: Timer | None = None

    def move_to(self, state: TransactionState) -> None:
        """Change the state; an impossible move raises and names both."""
        if state not in _MOVES.get(self.state, set()):
            raise RuntimeError(f"transaction {self.transactional_id}: {self.state.value} → {state.value}")
        self.state = state

    def take(self, identity: tuple[int, int]) -> None:
        """Go on under another identity."""
        self.last_identity = (self.producer_id, self.epoch)
        self.producer_id, self.epoch = identity


class Ends(Protocol):
    """Carries out the ends of transactions."""

    def new_producer_id(self) -> int:
        """A producer id nobody had before."""
        ...

    def write_marker(self, partition: TopicPartition, producer_id: int, epoch: int, *, commit: bool) -> None:
        """End the producer's transaction in a partition's log."""
        ...

    def settle_offsets(self, group_id: str, offsets: dict[TopicPartition, CommittedOffset]) -> None:
        """Offsets of a committed transaction count from here on."""
        ...


class TransactionCoordinator:
    """All transactional ids of the cluster (their state is shared; which broker answers for one is the cluster's)."""

    def __init__(self, clock: Clock, timers: Timers, ends: Ends, max_timeout_ms: int) -> None:
        self.transactions: dict[str, Transaction] = {}
        self._clock = clock
        self._timers = timers
        self._ends = ends
        self._max_timeout_ms = max_timeout_ms
        self._pending: dict[tuple[str, int], dict[TopicPartition, CommittedOffset]] = {}

    # ---- who may write -------------------------------------------------------------------------------------------

    def init(self, transactional_id: str, timeout_ms: int, producer_id: int, epoch: int) -> tuple[Code, int, int]:
        """InitProducerId: the code, and the identity to write with from here on. Ends what was open.

        Args:
            producer_id: the identity so far, for another epoch after an error (KIP-360); -1 for a new producer, which
                fences the one before.
        """
        if not transactional_id:
            return Code.INVALID_REQUEST, NO_PRODUCER_ID, NO_EPOCH
        if not 0 < timeout_ms <= self._max_timeout_ms:
            return Code.INVALID_TRANSACTION_TIMEOUT, NO_PRODUCER_ID, NO_EPOCH
        found = self.transactions.get(transactional_id)
        if found is None:
            identity = (self._ends.new_producer_id(), 0)
            self.transactions[transactional_id] = Transaction(transactional_id, *identity, timeout_ms)
            return Code.NONE, *identity
        given = (producer_id, epoch)
        if producer_id != NO_PRODUCER_ID and given != (found.producer_id, found.epoch):
            if given != found.last_identity:
                return Code.PRODUCER_FENCED, NO_PRODUCER_ID, NO_EPOCH
            if found.state is not TransactionState.ONGOING:
                return Code.NONE, found.producer_id, found.epoch  # the same request again, or its time was over
        if found.state is TransactionState.ONGOING:
            self._finish(found, self._next_identity(found), commit=False)
        found.timeout_ms = timeout_ms
        before = (found.producer_id, found.epoch) if producer_id == NO_PRODUCER_ID else given
        found.take(self._next_identity(found))
        found.last_identity = before
        if found.state is not TransactionState.EMPTY:
            found.move_to(TransactionState.EMPTY)
        return Code.NONE, found.producer_id, found.epoch

    def _next_identity(self, transaction: Transaction) -> tuple[int, int]:
        """The next epoch; a new producer id when the last but one is used up."""
        if transaction.epoch >= MAX_EPOCH - 1:
            return self._ends.new_producer_id(), 0
        return transaction.producer_id, transaction.epoch + 1

    def _find(self, transactional_id: str, producer_id: int, epoch: int) -> tuple[Code, Transaction | None]:
        found = self.transactions.get(transactional_id)
        if found is None or found.producer_id != producer_id:
            return Code.INVALID_PRODUCER_ID_MAPPING, None
        return (Code.NONE, found) if found.epoch == epoch else (Code.PRODUCER_FENCED, None)

    # ---- what belongs to it --------------------------------------------------------------------------------------

    def add_partitions(
        self, transactional_id: str, producer_id: int, epoch: int, partitions: Iterable[TopicPartition]
    ) -> Code:
        """AddPartitionsToTxn, or what Produce does of itself in the second protocol; opens the transaction."""
        code, found = self._opened(transactional_id, producer_id, epoch)
        if found is not None:
            found.partitions.update(partitions)
        return code

    def verify_partition(self, transactional_id: str, producer_id: int, epoch: int, partition: TopicPartition) -> Code:
        """Whether the open transaction holds the partition: asked for every write (KIP-890)."""
        return self._verify(transactional_id, producer_id, epoch, lambda found: partition in found.partitions)

    def add_group(self, transactional_id: str, producer_id: int, epoch: int, group_id: str) -> Code:
        """AddOffsetsToTxn, or what TxnOffsetCommit does of itself in the second protocol; opens the transaction."""
        code, found = self._opened(transactional_id, producer_id, epoch)
        if found is not None:
            found.groups.add(group_id)
        return code

    def verify_group(self, transactional_id: str, producer_id: int, epoch: int, group_id: str) -> Code:
        """Whether the open transaction holds offsets of the group."""
        return self._verify(transactional_id, producer_id, epoch, lambda found: group_id in found.groups)

    def _opened(self, transactional_id: str, producer_id: int, epoch: int) -> tuple[Code, Transaction | None]:
        code, found = self._find(transactional_id, producer_id, epoch)
        if found is not None:
            self._open(found)
        return code, found

    def _verify(
        self, transactional_id: str, producer_id: int, epoch: int, holds: Callable[[Transaction], bool]
    ) -> Code:
        code, found = self._find(transactional_id, producer_id, epoch)
        if found is None:
            return Code.INVALID_PRODUCER_EPOCH if code is Code.PRODUCER_FENCED else code
        ongoing = found.state is TransactionState.ONGOING and holds(found)
        return Code.NONE if ongoing else Code.INVALID_TXN_STATE

    def stage_offset(self, group_id: str, producer_id: int, partition: TopicPartition, offset: CommittedOffset) -> None:
        """An offset that counts if the producer's transaction is committed."""
        self._pending.setdefault((group_id, producer_id), {})[partition] = offset

    def is_unstable(self, group_id: str, partition: TopicPartition) -> bool:
        """Whether an open transaction is about to commit an offset there (KIP-447)."""
        return any(group == group_id and partition in staged for (group, _), staged in self._pending.items())

    def _open(self, transaction: Transaction) -> None:
        if transaction.state is TransactionState.ONGOING:
            return
        transaction.move_to(TransactionState.ONGOING)
        transaction.started_ms = self._clock.time_ms()
        transaction.deadline = self._timers.after(transaction.timeout_ms / 1000, self._time_out(transaction))

    def _time_out(self, transaction: Transaction) -> Callable[[], None]:
        def over() -> None:
            if transaction.state is TransactionState.ONGOING:
                logger.info("transaction %s: its time is over", transaction.transactional_id)
                self._finish(transaction, self._next_identity(transaction), commit=False)

        return over

    # ---- its end -------------------------------------------------------------------------------------------------

    def end(
        self, transactional_id: str, producer_id: int, epoch: int, *, commit: bool, bump: bool
    ) -> tuple[Code, int, int]:
        """EndTxn: the code, and the identity for the next transaction.

        Args:
            bump: the second protocol: every end brings the next epoch, and the same request again is recognised by the
                epoch before.
        """
        found = self.transactions.get(transactional_id)
        wanted = TransactionState.COMPLETE_COMMIT if commit else TransactionState.COMPLETE_ABORT
        if found is not None and bump and (producer_id, epoch) == found.last_identity and found.state in _COMPLETE:
            code = Code.NONE if found.state is wanted else Code.INVALID_TXN_STATE
            return code, found.producer_id, found.epoch
        code, found = self._find(transactional_id, producer_id, epoch)
        if found is None:
            return code, NO_PRODUCER_ID, NO_EPOCH
        if found.state is TransactionState.ONGOING:
            self._finish(found, self._next_identity(found) if bump else None, commit=commit)
        elif bump and not commit:  # nothing reached the cluster: an abort brings the next epoch all the same
            found.move_to(TransactionState.COMPLETE_ABORT)
            found.take(self._next_identity(found))
        elif bump or found.state is not wanted:
            return Code.INVALID_TXN_STATE, NO_PRODUCER_ID, NO_EPOCH
        return Code.NONE, found.producer_id, found.epoch

    def _finish(self, transaction: Transaction, identity: tuple[int, int] | None, *, commit: bool) -> None:
        """Write the markers under the new epoch (of the same producer id), so that what comes late is refused."""
        writer = transaction.producer_id
        same_id = identity is not None and identity[0] == writer
        epoch = identity[1] if same_id and identity is not None else transaction.epoch
        if identity is not None:
            transaction.take(identity)
        if transaction.deadline is not None:
            transaction.deadline.cancel()
        transaction.move_to(TransactionState.COMPLETE_COMMIT if commit else TransactionState.COMPLETE_ABORT)
        partitions, transaction.partitions = sorted(transaction.partitions), set()
        groups, transaction.groups = sorted(transaction.groups), set()
        for partition in partitions:
            self._ends.write_marker(partition, writer, epoch, commit=commit)
        for group_id in groups:
            staged = self._pending.pop((group_id, writer), {})
            if commit and staged:
                self._ends.settle_offsets(group_id, staged)


_COMPLETE: Final = frozenset({TransactionState.COMPLETE_COMMIT, TransactionState.COMPLETE_ABORT})
