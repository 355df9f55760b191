"""Lines that a process under test wrote to stderr, without asyncio's notes about slow callbacks.

In debug mode asyncio reports every callback that takes longer than 0.1 s. On a loaded machine any callback may, so
these notes say nothing about the code under test.
"""

from __future__ import annotations

import re

SLOW_CALLBACK = re.compile(r"^Executing .* took \d+\.\d+ seconds\n", re.MULTILINE)


def complaints(stderr: str) -> str:
    """Everything in `stderr` but the notes about slow callbacks."""
    return SLOW_CALLBACK.sub("", stderr)
