"""A request that lacks only its records. The pure kernels never send one, and `Accumulator.prepare` says so.

Sending and noting that it was sent must be one step, which Ctrl-C can't break; in Python there is no such step.
Must not know sockets: it is told how to ask for a descriptor, and does not ask. Spec: decision 0109.
"""

from __future__ import annotations

from collections.abc import Callable

from kafka_core.kernels.pure.batch import Batch


class PreparedRequest:
    """A ProduceRequest for one batch of one partition, but for its records; used once, by the compiled kernels.

    Args:
        fileno: gives the descriptor of the socket, below 0 once it is closed.
        head: the request from behind its size to before the length of the records.
        tail: what stands behind the records.
        producer_id, producer_epoch, base_sequence: of the batch.

    Attributes:
        quiet: the loop looks at it soon by itself, and need not be woken when it was used.
        batch: what it was used for; None as long as it was not.
        frame: what was sent, or was to be.
        sent_bytes: how much of that the socket took.
    """

    __slots__ = ("batch", "frame", "quiet", "sent_bytes")

    def __init__(
        self,
        fileno: Callable[[], int],
        head: bytes,
        tail: bytes,
        producer_id: int,
        producer_epoch: int,
        base_sequence: int,
    ) -> None:
        self.quiet = False
        self.batch: Batch | None = None
        self.frame: bytes | None = None
        self.sent_bytes = 0

    def withdraw(self) -> bool:
        """From now on it is not used any more; whether it was."""
        return False
