"""The state of a transactional producer, the members of the open transaction, the meaning of an error for it.

Must not know connections, loops, clocks or batches: calls, answers and errors come in; states, requests and verdicts go
out. Spec: KIP-98 (transactions), KIP-360 and KIP-588 (a new epoch after an error), KIP-447 (group metadata), KIP-691
(what an application does about an error), KIP-890 (protocol 2); librdkafka's names of states in texts.

Two protocols: in the first a partition is added to the transaction before anything is written to it, and the producer
keeps its epoch; in the second (`transaction.version=2` on the broker) writing adds the partition, and every end of a
transaction brings the next epoch, so that no late request of one transaction can reach the next.
"""

from __future__ import annotations

import enum
from collections.abc import Iterable, Mapping
from typing import Final

from kafka_core.engine.producing.marker_pause import MarkerPause
from kafka_core.engine.producing.sequences import ProducerIdentity, ProducerIds
from kafka_core.errors import KafkaError, KafkaException, StateError

FEATURE: Final = "transaction.version"
"""The finalized feature that says which protocol a broker has."""
FIRST_PROTOCOL_PRODUCE: Final = 11
"""The last version of Produce that means the first protocol."""
SECOND_PROTOCOL: Final = 2
MARKERS_FIRST_S: Final = 0.002
MARKERS_MOST_S: Final = 0.020
"""The first and the longest wait after CONCURRENT_TRANSACTIONS: the markers of the transaction before are being
written, which takes a few milliseconds at most."""
Partition = tuple[str, int]

NOT_CONFIGURED: Final = "The Transactional API requires transactional.id to be configured"


class TransactionState(enum.Enum):
    """States by the names that librdkafka's error texts have."""

    INIT = "Init"
    """`init_transactions` was not called."""
    WAIT_PID = "WaitPID"
    """The producer id was asked for."""
    READY = "Ready"
    """No transaction is open."""
    IN_TRANSACTION = "InTransaction"
    """Records are taken."""
    BEGIN_COMMIT = "BeginCommit"
    """No more records are taken; those that were are on their way."""
    COMMITTING = "CommittingTransaction"
    """The coordinator was asked to commit: from here on the outcome is its to tell."""
    BEGIN_ABORT = "BeginAbort"
    """Records not sent are given up; those in flight are waited for."""
    ABORTING = "AbortingTransaction"
    """The coordinator was asked to abort."""
    ABORTABLE_ERROR = "AbortableError"
    """Something failed: the transaction can only be aborted."""
    FATAL_ERROR = "FatalError"
    """The producer can't go on."""


_S = TransactionState
MOVES: Final[Mapping[TransactionState, frozenset[TransactionState]]] = {
    _S.INIT: frozenset({_S.WAIT_PID, _S.FATAL_ERROR}),
    _S.WAIT_PID: frozenset({_S.READY, _S.FATAL_ERROR}),
    _S.READY: frozenset({_S.IN_TRANSACTION, _S.FATAL_ERROR}),
    _S.IN_TRANSACTION: frozenset({_S.BEGIN_COMMIT, _S.BEGIN_ABORT, _S.ABORTABLE_ERROR, _S.FATAL_ERROR}),
    _S.BEGIN_COMMIT: frozenset({_S.COMMITTING, _S.BEGIN_ABORT, _S.ABORTABLE_ERROR, _S.FATAL_ERROR}),
    _S.COMMITTING: frozenset({_S.READY, _S.ABORTABLE_ERROR, _S.FATAL_ERROR}),
    _S.BEGIN_ABORT: frozenset({_S.ABORTING, _S.FATAL_ERROR}),
    _S.ABORTING: frozenset({_S.READY, _S.FATAL_ERROR}),
    _S.ABORTABLE_ERROR: frozenset({_S.BEGIN_ABORT, _S.FATAL_ERROR}),
    _S.FATAL_ERROR: frozenset(),
}
"""State → states that may follow; anything else raises."""

_OPEN: Final = frozenset({_S.IN_TRANSACTION, _S.BEGIN_COMMIT})
"""States in which records go out."""
_GIVEN_UP: Final = frozenset({_S.ABORTABLE_ERROR, _S.BEGIN_ABORT, _S.ABORTING, _S.FATAL_ERROR})
"""States in which nothing of the transaction can succeed any more."""


class Verdict(enum.Enum):
    """The meaning of a broker's error code for the transaction."""

    RETRY = "retry"
    FIND_COORDINATOR = "find coordinator"
    ABORT = "abort"
    ABORT_AND_BUMP = "abort and bump"
    """To be aborted, and the producer needs a new epoch: the broker and we do not agree on sequences or state."""
    FENCED = "fenced"
    FATAL = "fatal"


_E = KafkaError
_OF_ALL: Final[Mapping[int, Verdict]] = {
    _E.REQUEST_TIMED_OUT: Verdict.RETRY,
    _E.COORDINATOR_LOAD_IN_PROGRESS: Verdict.RETRY,
    _E.CONCURRENT_TRANSACTIONS: Verdict.RETRY,
    _E.UNKNOWN_TOPIC_OR_PART: Verdict.RETRY,
    _E.COORDINATOR_NOT_AVAILABLE: Verdict.FIND_COORDINATOR,
    _E.NOT_COORDINATOR: Verdict.FIND_COORDINATOR,
    _E.INVALID_PRODUCER_EPOCH: Verdict.FENCED,
    _E.PRODUCER_FENCED: Verdict.FENCED,
    _E.UNKNOWN_PRODUCER_ID: Verdict.ABORT_AND_BUMP,
    _E.INVALID_PRODUCER_ID_MAPPING: Verdict.ABORT_AND_BUMP,
    _E.OUT_OF_ORDER_SEQUENCE_NUMBER: Verdict.ABORT_AND_BUMP,
    _E.INVALID_TXN_STATE: Verdict.FATAL,
    _E.INVALID_TRANSACTION_TIMEOUT: Verdict.FATAL,
    _E.TRANSACTION_COORDINATOR_FENCED: Verdict.FATAL,
    _E.TRANSACTIONAL_ID_AUTHORIZATION_FAILED: Verdict.FATAL,
    _E.CLUSTER_AUTHORIZATION_FAILED: Verdict.FATAL,
    _E.UNSUPPORTED_FOR_MESSAGE_FORMAT: Verdict.FATAL,
    _E._UNSUPPORTED_FEATURE: Verdict.FATAL,
}
_OF_RECORDS: Final[Mapping[int, Verdict]] = {
    _E.INVALID_PRODUCER_EPOCH: Verdict.ABORT_AND_BUMP,  # KIP-588: maybe only the transaction's time is over
    _E.INVALID_TXN_STATE: Verdict.ABORT_AND_BUMP,  # so says the verification of KIP-890 then
    _E.UNKNOWN_TOPIC_OR_PART: Verdict.ABORT,
    _E.REQUEST_TIMED_OUT: Verdict.ABORT_AND_BUMP,
    _E._MSG_TIMED_OUT: Verdict.ABORT_AND_BUMP,
}


def marker_delay_s(tries: int) -> float:
    """Seconds to wait after so many tries that found the markers of the transaction before not written yet."""
    return min(MARKERS_FIRST_S * 2.0 ** min(tries, 8), MARKERS_MOST_S)


def verdict_on(error: KafkaError) -> Verdict:
    """The verdict on the error of a transactional request; retriable errors that are not in the table are RETRY."""
    if error.txn_requires_abort():
        return Verdict.ABORT
    known = _OF_ALL.get(error.code())
    if known is not None:
        return known
    return Verdict.RETRY if error.retriable() else Verdict.ABORT


def verdict_on_records(error: KafkaError) -> Verdict:
    """The verdict on a failure of records; it is final, so it is never RETRY."""
    found = _OF_RECORDS.get(error.code()) or _OF_ALL.get(error.code(), Verdict.ABORT)
    return Verdict.ABORT if found in (Verdict.RETRY, Verdict.FIND_COORDINATOR) else found


class Calls:
    """The application's call at work, or the one that waits to be called again after a time-out."""

    __slots__ = ("_busy", "_name")

    def __init__(self) -> None:
        self._name = ""
        self._busy = False

    @property
    def left(self) -> str:
        """The call that has to be resumed, empty if there is none or it runs."""
        return "" if self._busy else self._name

    def enter(self, name: str) -> bool:
        """A call begins; whether it resumes one that timed out.

        Raises:
            KafkaException: _CONFLICT: another call timed out and is to be resumed first; _PREV_IN_PROGRESS: another
                thread or task is in that call.
        """
        if self._name not in ("", name):
            text = f"Conflicting {self._name} API call is already in progress"
            raise KafkaException(KafkaError(KafkaError._CONFLICT, text, retriable=True))
        if self._busy:
            text = f"Simultaneous {name} API calls not allowed"
            raise KafkaException(KafkaError(KafkaError._PREV_IN_PROGRESS, text, retriable=True))
        resumes = self._name == name
        self._name, self._busy = name, True
        return resumes

    def give_way(self, name: str, *, to: str, if_: bool) -> None:
        """A call that timed out need not be resumed if another one, which undoes it, comes instead."""
        if if_ and self._name == name and not self._busy:
            self._name = to

    def leave(self, *, resumable: bool) -> None:
        """The call ends; `resumable`: it timed out, and the same one must be called again."""
        self._busy = False
        if not resumable:
            self._name = ""


class Transactions:
    """One producer's transactions.

    Attributes:
        state: moves only as `MOVES` allows; an impossible move raises StateError naming both states.
        error: why it is ABORTABLE_ERROR or FATAL_ERROR.
        protocol: 1 or 2; may change between transactions.
        touched: a coordinator or partition leader may know of the open transaction, so it has to be told of its end.
        needs_epoch: the producer's epoch is of no more use after this transaction.
        offsets_open: offsets were sent, and it is not known whether the group's coordinator has them.
        calls: the application's.
        pause: between two transactions, for the markers of the first.
    """

    def __init__(self, ids: ProducerIds) -> None:
        ids.transactional = True
        self.ids = ids
        self.state = TransactionState.INIT
        self.error: KafkaError | None = None
        self.protocol = 1
        self.touched = False
        self.needs_epoch = False
        self.offsets_open = False
        self.calls = Calls()
        self.pause = MarkerPause()
        self._members: set[Partition] = set()
        self._wanted: dict[Partition, None] = {}
        self._groups: set[str] = set()
        self._failed = 0

    # ---- states

    def require(self, *states: TransactionState) -> None:
        """Refuse a call that does not fit.

        Raises:
            KafkaException: the standing error if it is an error state (fatal, or `txn_requires_abort`), else _STATE.
        """
        if self.state in states:
            return
        if self.error is not None:
            raise KafkaException(self.error)
        raise StateError(f"Operation not valid in state {self.state.value}")

    def move(self, state: TransactionState) -> None:
        """Go on to another state."""
        if state not in MOVES[self.state]:
            raise StateError(f"transaction: impossible move from {self.state.value} to {state.value}")
        self.state = state

    @property
    def takes_records(self) -> bool:
        """Whether the application may produce."""
        return self.state is TransactionState.IN_TRANSACTION

    @property
    def sends_all(self) -> bool:
        """Whether records that go out need not wait for others: no more will come."""
        return self.state is TransactionState.BEGIN_COMMIT

    @property
    def sends_records(self) -> bool:
        """Whether records may go out."""
        return self.state in _OPEN

    @property
    def abandons_records(self) -> bool:
        """Whether records that did not get through are given up instead of sent again."""
        return self.state in _GIVEN_UP

    # ---- the application's calls

    def initialized(self, identity: ProducerIdentity) -> None:
        """The coordinator gave an id and epoch: earlier producers with this transactional id are fenced."""
        self.ids.renew(identity)
        self.move(TransactionState.READY)

    def begin(self) -> None:
        """A transaction is open from here on; the cluster hears of it with its first record or offset."""
        self.require(TransactionState.READY)
        self.move(TransactionState.IN_TRANSACTION)

    def begin_commit(self) -> None:
        """No more records; may be called again as long as the coordinator was not asked."""
        self.require(TransactionState.IN_TRANSACTION, TransactionState.BEGIN_COMMIT, TransactionState.COMMITTING)
        if self.state is TransactionState.IN_TRANSACTION:
            self.move(TransactionState.BEGIN_COMMIT)

    def commit(self) -> None:
        """All records have their verdict: the coordinator may be asked.

        Raises:
            KafkaException: `txn_requires_abort`: some of them failed.
        """
        self.require(TransactionState.BEGIN_COMMIT, TransactionState.COMMITTING)
        if self.state is TransactionState.COMMITTING:
            return
        if self._failed:
            text = f"{self._failed} message(s) failed delivery (see individual delivery reports)"
            self.abortable(KafkaError(KafkaError._INCONSISTENT, text))
            self.require()
        if self.offsets_open:
            text = "send_offsets_to_transaction() has timed out and was not called again: the offsets may be missing"
            self.abortable(KafkaError(KafkaError._INCONSISTENT, text))
            self.require()
        self.move(TransactionState.COMMITTING)

    def begin_abort(self) -> None:
        """Give the transaction up; may be called again."""
        self.require(
            TransactionState.IN_TRANSACTION,
            TransactionState.BEGIN_COMMIT,
            TransactionState.BEGIN_ABORT,
            TransactionState.ABORTING,
            TransactionState.ABORTABLE_ERROR,
        )
        if self.state not in (TransactionState.BEGIN_ABORT, TransactionState.ABORTING):
            self.move(TransactionState.BEGIN_ABORT)

    def abort(self) -> None:
        """Nothing is in flight any more: the coordinator may be asked."""
        self.require(TransactionState.BEGIN_ABORT, TransactionState.ABORTING)
        if self.state is TransactionState.BEGIN_ABORT:
            self.move(TransactionState.ABORTING)

    def ended(self, identity: ProducerIdentity | None = None) -> None:
        """The transaction is over, committed or aborted.

        Args:
            identity: what the coordinator gave for the next one; None: as before.
        """
        if identity is not None and identity != self.ids.identity:
            self.ids.renew(identity)
        self._members.clear()
        self._wanted.clear()
        self._groups.clear()
        self._failed = 0
        self.touched = self.needs_epoch = self.offsets_open = False
        self.error = None
        self.move(TransactionState.READY)

    # ---- what belongs to the transaction

    def admits(self, topic: str, partition: int) -> bool:
        """Whether a batch for that partition may go out now; a partition that has to be added first is noted."""
        if not self.sends_records:
            return False
        key = topic, partition
        if self.protocol >= SECOND_PROTOCOL or key in self._members:
            self.touched = True
            return True
        self._wanted[key] = None
        return False

    @property
    def opens_at_s(self) -> float:
        """Its first records are not to be sent before that time (protocol 2)."""
        return 0.0 if self.touched or self.protocol < SECOND_PROTOCOL else self.pause.until_s

    @property
    def wanted(self) -> list[Partition]:
        """Partitions that must be added before anything is written to them."""
        return list(self._wanted) if self.sends_records else []

    @property
    def reached(self) -> bool:
        """Whether the coordinator has said that it knows of the open transaction (protocol 1)."""
        return bool(self._members or self._groups)

    def adding(self) -> None:
        """The coordinator is about to hear of the transaction."""
        self.touched = True

    def added(self, partitions: Iterable[Partition]) -> None:
        """These are part of the transaction."""
        for key in partitions:
            self._wanted.pop(key, None)
            self._members.add(key)

    def knows_group(self, group_id: str) -> bool:
        """Whether the coordinator was told of that group in this transaction (protocol 1)."""
        return group_id in self._groups

    def group_added(self, group_id: str) -> None:
        """The coordinator knows the group."""
        self._groups.add(group_id)

    # ---- errors

    def records_failed(self, count: int, error: KafkaError, what: str) -> KafkaError | None:
        """Records of the transaction were not delivered; the fatal error if the producer can't go on for it."""
        if error.code() in (KafkaError._PURGE_QUEUE, KafkaError._PURGE_INFLIGHT) and self.abandons_records:
            return None
        self._failed += count
        verdict = verdict_on_records(error)
        text = f"{what}: {error.str()}"
        if verdict in (Verdict.FENCED, Verdict.FATAL):
            return self.fail(KafkaError(error.code(), text), fenced=verdict is Verdict.FENCED)
        if verdict is Verdict.ABORT_AND_BUMP:
            self.needs_epoch = True
        self.abortable(KafkaError(error.code(), f"{text}: current transaction must be aborted"))
        return None

    def abortable(self, error: KafkaError) -> None:
        """The transaction can only be aborted; the first reason stays. While it is aborted already that is no news."""
        if self.state in MOVES and TransactionState.ABORTABLE_ERROR in MOVES[self.state]:
            self.error = KafkaError(error.code(), error.str(), txn_requires_abort=True)
            self.move(TransactionState.ABORTABLE_ERROR)

    def fail(self, error: KafkaError, *, fenced: bool = False) -> KafkaError:
        """The producer can't go on; the first reason stays. Gives that back, marked fatal."""
        if self.state is not TransactionState.FATAL_ERROR or self.error is None:
            code, text = error.code(), error.str()
            if fenced:
                code, text = KafkaError._FENCED, f"{text}: transactional producer fenced by newer producer instance"
            self.error = KafkaError(code, text, fatal=True)
            self.move(TransactionState.FATAL_ERROR)
        return self.error
