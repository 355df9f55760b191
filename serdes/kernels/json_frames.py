"""The vocabulary of plans that write JSON from Arrow columns, and the kernel that runs them where it is built.

Must not know of schemas: `serdes.columnar.json.steps` makes plans. There is no pure twin of the kernel: without it rows
go as objects through `serdes.columnar.json.writing`, which is the specification.
"""

from __future__ import annotations

import enum
from typing import TYPE_CHECKING

from serdes.kernels import IMPL

if TYPE_CHECKING:
    from serdes.kernels.native import json_frames as kernel

__all__ = ["Null", "Op", "native_program"]


class Op(enum.IntEnum):
    """The form that a step of a plan writes."""

    NULL = 0
    BOOLEAN = 1
    WHOLE = 2
    REAL = 3
    TEXT = 4
    BASE64 = 5
    UUID = 6
    DATE = 7
    MOMENT = 8
    TIME = 9
    DECIMAL = 10
    LIST = 11
    OBJECT = 12
    MAP = 13
    DICTIONARY = 14
    UNNAMED = 15


class Null(enum.IntEnum):
    """The treatment of a null."""

    WRITTEN = 0
    LEFT_OUT = 1
    LEFT_TO_OBJECTS = 2


def native_program() -> type[kernel.JsonFramesProgram] | None:
    """The compiled kernel; None where the pure implementation is in use."""
    if IMPL == "pure":
        return None
    from serdes.kernels.native import json_frames

    return json_frames.JsonFramesProgram
