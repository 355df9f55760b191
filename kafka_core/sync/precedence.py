"""Precedence: a thread that was woken goes before the one that has woken it.

Must not know clients.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from kserdes_base.waiting import Wakeup

GIVEN_S: Final = 0.0002
"""The longest time a thread gives precedence, in seconds: several times that of waking another thread."""


class Precedence:
    """Lets a thread that was woken go before the one that has woken it, which has more to do.

    Python runs one thread at a time: else the one that was woken waits until the other one is through. `give` waits
    without running until the other one says by `done` that it is through, for 0.2 ms at most.

    Attributes:
        given: somebody waits for `done`.
    """

    __slots__ = ("_wakeup", "given")

    def __init__(self) -> None:
        self._wakeup = Wakeup()
        self.given = False

    def give(self, wake: Callable[[], object] | None = None) -> None:
        """Waits; calls `wake` before that, if the other one was not woken yet."""
        self._wakeup.clear()
        self.given = True
        if wake is not None:
            wake()
        self._wakeup.wait(GIVEN_S)
        self.given = False

    def done(self) -> None:
        """Whoever gave precedence may go on. Never blocks."""
        self.given = False
        self._wakeup.set()
