"""Ctrl-C at every moment at which the interpreter looks for signals: when a call begins, and after a call of C code.

A trace function raises KeyboardInterrupt there, in code of ours that runs on the thread of the test.
"""

from __future__ import annotations

import contextlib
import dis
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import FrameType
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
OURS = ("kafka_core", "serdes", "kserdes_base")
LOOKS_AFTER = ("CALL", "JUMP_BACKWARD")


class Interrupt:
    """Interrupts at the moment with a number, the first being 0.

    Args:
        at: the number.
        packages: the moments counted are in these.

    Attributes:
        where: file and line of the interrupt; None: it all ended before.
    """

    def __init__(self, at: int, packages: Sequence[str] = OURS) -> None:
        self.where: str | None = None
        self._ours = tuple(str(ROOT / name) for name in packages)
        self._left = at
        self._last: dict[FrameType, str] = {}

    def _moment(self, frame: FrameType) -> None:
        if self._left == 0:
            self.where = f"{frame.f_code.co_filename}:{frame.f_lineno}"
            self._last.clear()
            raise KeyboardInterrupt
        self._left -= 1

    def _called(self, frame: FrameType, event: str, argument: Any) -> Any:
        if frame.f_back is not None:
            self._last.pop(frame.f_back, None)  # what it called is Python: the interpreter has looked there
        if not frame.f_code.co_filename.startswith(self._ours):
            return None
        frame.f_trace_opcodes, frame.f_trace_lines = True, False
        self._moment(frame)
        return self._traced

    def _traced(self, frame: FrameType, event: str, argument: Any) -> Any:
        if event == "opcode":
            before = self._last.get(frame, "")
            self._last[frame] = dis.opname[frame.f_code.co_code[frame.f_lasti]]
            if before.startswith(LOOKS_AFTER):
                self._moment(frame)
        elif event == "return":
            self._last.pop(frame, None)
        return self._traced

    @contextlib.contextmanager
    def armed(self) -> Iterator[None]:
        """The code under this meets the interrupt, which ends here."""
        before = sys.gettrace()
        try:
            sys.settrace(self._called)
            yield
        except KeyboardInterrupt:
            if self.where is None:
                raise
        finally:
            sys.settrace(before)
