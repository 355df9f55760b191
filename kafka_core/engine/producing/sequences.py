"""The id and epoch of an idempotent producer, and the next sequence number of each partition.

Must not know batches' bytes, connections or loops: numbers come in, numbers go out; times are handed in.
Spec: KIP-98 (idempotence), KIP-360 (a new epoch instead of a dead producer); the Java client's TransactionManager.
"""

import enum
from dataclasses import dataclass
from typing import Final

from kafka_core.errors import KafkaError, StateError

NO_SEQUENCE: Final = -1
NO_PRODUCER_ID: Final = -1
NO_EPOCH: Final = -1
MAX_SEQUENCE: Final = 2**31 - 1
MAX_EPOCH: Final = 2**15 - 1


def sequence_plus(sequence: int, count: int) -> int:
    """The sequence `count` records later, in the space 0 … 2**31 - 1 that wraps to 0."""
    return (sequence + count) & MAX_SEQUENCE


@dataclass(frozen=True, slots=True)
class ProducerIdentity:
    """A producer id with its epoch, as InitProducerId grants them; written into every batch."""

    producer_id: int = NO_PRODUCER_ID
    epoch: int = NO_EPOCH


class IdentityPhase(enum.Enum):
    """The state of the producer's id."""

    MISSING = "missing"
    REQUESTED = "requested"
    KNOWN = "known"
    FAILED = "failed"


_MOVES: Final[dict[IdentityPhase, frozenset[IdentityPhase]]] = {
    IdentityPhase.MISSING: frozenset({IdentityPhase.REQUESTED, IdentityPhase.FAILED}),
    IdentityPhase.REQUESTED: frozenset({IdentityPhase.KNOWN, IdentityPhase.FAILED}),
    IdentityPhase.KNOWN: frozenset({IdentityPhase.MISSING, IdentityPhase.FAILED}),
    IdentityPhase.FAILED: frozenset(),
}


class ProducerIds:
    """The identity of one producer: asked for once, its epoch raised by ourselves, asked for anew when epochs run out.

    Attributes:
        phase: Moves only as the table above allows; an impossible move raises StateError naming both phases.
        identity: Valid while `phase` is KNOWN; None otherwise.
        error: Why it is FAILED.
        transactional: A coordinator hands out identities (see `Transactions`); none is asked for or raised here.
        granted_count: How many identities were handed out; epochs that we raised ourselves are none.
    """

    __slots__ = ("error", "granted_count", "identity", "phase", "transactional")

    def __init__(self) -> None:
        self.phase = IdentityPhase.MISSING
        self.identity: ProducerIdentity | None = None
        self.error: KafkaError | None = None
        self.transactional = False
        self.granted_count = 0

    def requested(self) -> None:
        """InitProducerId is on its way, and will be sent until it is answered."""
        self._move(IdentityPhase.REQUESTED)

    def granted(self, identity: ProducerIdentity) -> None:
        """The broker gave an id."""
        self._move(IdentityPhase.KNOWN)
        self.identity = identity
        self.granted_count += 1

    def renew(self, identity: ProducerIdentity) -> None:
        """The coordinator of transactions gave an identity, the first one or the next."""
        if self.phase is IdentityPhase.MISSING:
            self.requested()
            self.granted(identity)
        elif self.phase is IdentityPhase.KNOWN:
            self.identity = identity
            self.granted_count += 1

    def fail(self, error: KafkaError) -> None:
        """There will be no (further) id; the producer is done for. The first reason stays."""
        if self.phase is not IdentityPhase.FAILED:
            self._move(IdentityPhase.FAILED)
            self.identity, self.error = None, error

    def bump(self) -> ProducerIdentity | None:
        """The identity with the next epoch, in force from now on; None when a new id must be asked for first.

        A producer without transactions may raise its epoch by itself: nobody else uses its id (KIP-360). One with
        transactions waits until its transaction is aborted, and gets the next epoch from the coordinator then.
        """
        before = self.identity
        if before is None or self.transactional:
            return None
        if before.epoch >= MAX_EPOCH:
            self._move(IdentityPhase.MISSING)
            self.identity = None
        else:
            self.identity = ProducerIdentity(before.producer_id, before.epoch + 1)
        return self.identity

    def _move(self, phase: IdentityPhase) -> None:
        if phase not in _MOVES[self.phase]:
            raise StateError(f"producer id: impossible move from {self.phase.value} to {phase.value}")
        self.phase = phase


class PartitionSequence:
    """The sequence numbers of one partition under one identity.

    Attributes:
        identity: Under which the numbers count; None before the first batch.
        next: What the next new batch gets.
        expected: What the broker expects next, as far as acknowledgements tell.
        known: The broker has acknowledged a batch under this identity, so it checks the next ones. A broker that knows
            nothing of a producer takes any sequence (KIP-360): a second batch could get in before a refused first one.
    """

    __slots__ = ("expected", "identity", "known", "next")

    def __init__(self) -> None:
        self.identity: ProducerIdentity | None = None
        self.next = 0
        self.expected = 0
        self.known = False

    @property
    def gap(self) -> bool:
        """Whether numbers were given out that no acknowledgement covers."""
        return self.next != self.expected

    def restart(self, identity: ProducerIdentity) -> None:
        """Begin at 0 under a new identity."""
        self.identity = identity
        self.next = self.expected = 0
        self.known = False

    def take(self, count: int) -> int:
        """The base sequence for a batch of `count` records."""
        base = self.next
        self.next = sequence_plus(base, count)
        return base

    def acknowledged(self, base: int, count: int) -> None:
        """A batch is in the log."""
        self.expected = sequence_plus(base, count)
        self.known = True

    def give_back(self, base: int, count: int) -> bool:
        """Undo `take` for a batch that surely is not in the log; False unless it was the last one taken."""
        if self.next != sequence_plus(base, count):
            return False
        self.next = base
        return True
