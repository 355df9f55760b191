"""The vocabulary of plans that write Avro from Arrow columns, and the kernel that runs them where it is built.

Must not know of schemas: `serdes.columnar.avro.writing` makes plans. There is no pure twin of the kernel: without it
rows go as objects through the encoder of `serdes.formats.avro`, which is the specification.
"""

from __future__ import annotations

import enum
from typing import TYPE_CHECKING, Final

from serdes.kernels import IMPL

if TYPE_CHECKING:
    from serdes.kernels.native import avro_frames as kernel

__all__ = ["Fault", "Op", "native_program"]


class Op(enum.IntEnum):
    """The form that a step of a plan writes."""

    NULL = 0
    BOOLEAN = 1
    INT = 2
    FLOAT = 3
    DOUBLE = 4
    OCTETS = 5
    ENUM = 6
    FIXED = 7
    DECIMAL = 8
    UUID_OF_BYTES = 9
    UUID_OF_TEXT = 10
    INTERVAL = 11
    LAPSE = 12
    LIST = 13
    MAP = 14
    RECORD = 15
    CONSTANT = 16
    MEMBERS = 17
    VARIANT = 18
    DICTIONARY = 19


class Fault(enum.IntEnum):
    """Why a row can't be written."""

    FINE = 0
    NULL = 1
    OUT_OF_RANGE = 2
    LOSES_DIGITS = 3
    NOT_UTF8 = 4
    NO_SYMBOL = 5
    WRONG_SIZE = 6
    NOT_UUID = 7
    NO_MEMBER = 8
    SEVERAL_MEMBERS = 9
    TOO_LARGE = 10
    KEY_TWICE = 11
    NULL_KEY = 12
    BROKEN = 13
    NO_MEMORY = 14
    INEXACT = 15


def native_program() -> type[kernel.FramesProgram] | None:
    """The compiled kernel; None where the pure implementation is in use."""
    if IMPL == "pure":
        return None
    from serdes.kernels.native import avro_frames

    return avro_frames.FramesProgram


MAX_STEPS: Final = 1 << 20
"""Steps of a plan; no Arrow type that fits into memory has more."""
