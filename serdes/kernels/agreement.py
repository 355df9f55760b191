"""A check that compiled kernels and the modules that plan for them use the same numbers for the same things.

Must not know of any kernel.
"""

from __future__ import annotations

import enum
from collections.abc import Sequence

__all__ = ["agree"]


def agree(kind: type[enum.IntEnum], names: str, numbers: Sequence[int]) -> None:
    """Compares the numbers that a kernel was compiled with.

    Args:
        kind: what plans use.
        names: in the kernel, with spaces between.
        numbers: of these names.

    Raises:
        ImportError: they are not the same: the kernel is of another version.
    """
    if dict(zip(names.split(), numbers, strict=True)) != {one.name: one.value for one in kind}:
        raise ImportError(f"the kernel's numbers of {kind.__name__} are not those of {kind.__module__}: build it again")
