"""One partition's memory of its idempotent producers: duplicates, gaps and stale epochs.

Must not know: batches' bytes, topics, the protocol; it is asked with the numbers of a batch header.
Spec: KIP-98, KIP-360; `ProducerStateManager`, `ProducerAppendInfo` and `ProducerStateEntry` of Apache Kafka 4.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field

from kafka_core.broker.codes import Code

#: Batches per producer that are recognised when they come again (`ProducerStateEntry.NUM_BATCHES_TO_RETAIN`).
REMEMBERED_BATCHES = 5
_MAX_SEQUENCE = 2**31 - 1


@dataclass(frozen=True, slots=True)
class WrittenBatch:
    """One batch that was appended: its sequences, where it went and its max timestamp."""

    first_sequence: int
    last_sequence: int
    base_offset: int
    last_offset: int
    timestamp_ms: int


@dataclass(slots=True)
class ProducerEntry:
    """The newest epoch of one producer id and its last batches."""

    epoch: int
    #: Of the marker that ended the last transaction; -1 for none.
    coordinator_epoch: int = -1
    batches: deque[WrittenBatch] = field(default_factory=lambda: deque(maxlen=REMEMBERED_BATCHES))


def sequence_plus(sequence: int, delta: int) -> int:
    """`sequence + delta` in the sequence space 0 … 2**31 - 1, which wraps to 0."""
    return (sequence + delta) % (_MAX_SEQUENCE + 1)


class ProducerStates:
    """Idempotence of one partition."""

    def __init__(self) -> None:
        self._entries: dict[int, ProducerEntry] = {}

    def __len__(self) -> int:
        return len(self._entries)

    def entries(self) -> list[tuple[int, ProducerEntry]]:
        """Producer ids with what is remembered of them."""
        return list(self._entries.items())

    def entry(self, producer_id: int) -> ProducerEntry | None:
        """The entry of a producer id; None if there is none."""
        return self._entries.get(producer_id)

    def mark(self, producer_id: int, epoch: int, coordinator_epoch: int) -> None:
        """A marker of this producer was written: what comes with an older epoch is refused from here on."""
        entry = self._entries.get(producer_id)
        if entry is None or entry.epoch < epoch:
            entry = self._entries[producer_id] = ProducerEntry(epoch)
        entry.coordinator_epoch = coordinator_epoch

    def duplicate(self, producer_id: int, epoch: int, first_sequence: int, count: int) -> WrittenBatch | None:
        """The batch with exactly these sequences among the last five of this epoch, if it was written already."""
        entry = self._entries.get(producer_id)
        if entry is None or entry.epoch != epoch:
            return None
        last_sequence = sequence_plus(first_sequence, count - 1)
        for batch in entry.batches:
            if (batch.first_sequence, batch.last_sequence) == (first_sequence, last_sequence):
                return batch
        return None

    def check(self, producer_id: int, epoch: int, first_sequence: int) -> tuple[Code, str]:
        """Whether a batch that is no duplicate may be appended: NONE or why not, with a sentence for the client.

        A producer the partition knows nothing of may start at any sequence, as in real brokers since 2.5: its state
        can have expired there (KIP-360). Here it never does.
        """
        entry = self._entries.get(producer_id)
        if entry is None:
            return Code.NONE, ""
        if epoch < entry.epoch:
            text = f"epoch {epoch} of producer {producer_id} is older than the last seen epoch {entry.epoch}"
            return Code.INVALID_PRODUCER_EPOCH, text
        if epoch > entry.epoch:
            expected = 0
        elif entry.batches:
            expected = sequence_plus(entry.batches[-1].last_sequence, 1)
        else:
            expected = first_sequence
        if first_sequence != expected:
            text = f"sequence {first_sequence} of producer {producer_id} (epoch {epoch}) where {expected} was expected"
            return Code.OUT_OF_ORDER_SEQUENCE_NUMBER, text
        return Code.NONE, ""

    def record(
        self, producer_id: int, epoch: int, first_sequence: int, count: int, base_offset: int, timestamp_ms: int
    ) -> None:
        """Remember an appended batch."""
        entry = self._entries.get(producer_id)
        if entry is None or entry.epoch != epoch:
            entry = self._entries[producer_id] = ProducerEntry(epoch)
        last_sequence = sequence_plus(first_sequence, count - 1)
        last_offset = base_offset + count - 1
        entry.batches.append(WrittenBatch(first_sequence, last_sequence, base_offset, last_offset, timestamp_ms))
