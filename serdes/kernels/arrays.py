"""Layouts of Arrow arrays, for plans that write rows, in the numbers of `native/arrays`.

Must not know of formats.
"""

from __future__ import annotations

import enum

__all__ = ["Source"]


class Source(enum.IntEnum):
    """Arrow's storage of a value: numbers, then octets, then lists, then the offsets of unions."""

    I8 = 0
    I16 = 1
    I32 = 2
    I64 = 3
    U8 = 4
    U16 = 5
    U32 = 6
    U64 = 7
    F16 = 8
    F32 = 9
    F64 = 10
    OFFSETS_32 = 11
    OFFSETS_64 = 12
    VIEW = 13
    WIDTH = 14
    VIEWS_32 = 15
    VIEWS_64 = 16
    SPARSE = 17
    DENSE = 18
