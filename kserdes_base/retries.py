"""Further tries of HTTP requests: after which answers there are any, and the pauses between them.

Must not know what is asked, waits for nothing, and takes its randomness from outside.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

MAY_PASS: Final = frozenset({408, 429, *range(500, 600)})
"""Statuses of a trouble that may pass: somebody was too slow, or asks too often, or the server is in trouble."""


def full_jitter(first: float, most: float, number: int, random: Callable[[], float]) -> float:
    """A pause: a random part of a bound that doubles with each one, so that many clients do not come back together.

    Args:
        first: bound of the first pause, in the unit of the result.
        most: bound of every pause.
        number: how many pauses there were before.
        random: gives numbers from 0 to 1.
    """
    bound: float = min(first * 2**number, most)
    return random() * bound
