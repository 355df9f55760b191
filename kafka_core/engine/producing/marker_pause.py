"""The pause before the first records of a transaction, in which the markers of the one before are written.

Must not know transactions or requests: the moments of their ends and answers come in.
A leader that gets records while the coordinator still writes markers looks again after 20 ms
(`add.partitions.to.txn.retry.backoff.ms` of Apache Kafka, KIP-890); who waits a part of a millisecond is seldom held.
"""

from __future__ import annotations

from typing import Final

HELD_S: Final = 0.015
"""An answer that comes so much later than usual was held."""
STEP_S: Final = 0.00025
MOST_S: Final = 0.001
HELD_SHARE: Final = 0.03
"""As many of all transactions may be held before the pause grows."""
_WEIGHT, _WEIGHT_HELD = 0.1, 0.01


class MarkerPause:
    """Learns the pause of one producer: longer when records were held, a little shorter when they were not.

    Attributes:
        pause_s: after the end of a transaction; 0 as long as nothing is held.
        until_s: no first record is to be sent before that time.
    """

    __slots__ = ("_usual_s", "pause_s", "until_s")

    def __init__(self) -> None:
        self.pause_s = 0.0
        self.until_s = 0.0
        self._usual_s: float | None = None

    def ended(self, now_s: float) -> None:
        """The coordinator has said that a transaction is over, and writes its markers."""
        self.until_s = now_s + self.pause_s

    def answered(self, took_s: float) -> None:
        """The first records of a transaction were answered after so long."""
        usual_s = took_s if self._usual_s is None else self._usual_s
        held = took_s > usual_s + HELD_S
        self._usual_s = usual_s + (took_s - usual_s) * (_WEIGHT_HELD if held else _WEIGHT)
        if held:
            self.pause_s = min(self.pause_s + STEP_S, MOST_S)
        else:
            self.pause_s = max(self.pause_s - STEP_S * HELD_SHARE, 0.0)
