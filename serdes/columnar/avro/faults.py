"""Faults of a payload, from the kernel's numbers into words: the fault, its field, and its byte.

Must not know of frames or registries. The words are those of the object path (`serdes.kernels.pure.avro`).
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Sequence
from typing import Any, Final

from serdes.columnar.avro.program import Program
from serdes.errors import SerializationError
from serdes.kernels.misfit import MAX_DEPTH


class Fault(enum.IntEnum):
    """The kernel's numbers of what can be wrong."""

    ENDS = 1
    LONG_NUMBER = 2
    LONG_INT = 3
    BOOLEAN = 4
    UTF8 = 5
    SYMBOL = 6
    BRANCH = 7
    BLOCK = 8
    EMPTY_ITEMS = 9
    LEFT_OVER = 10
    DEEP = 11
    REFUSED = 12
    LACKING = 13
    DATE = 14
    TIME = 15
    INSTANT = 16
    FINER = 17
    UNIT = 18
    DIGITS = 19
    SCALE = 20
    UUID = 21
    ROW_BYTES = 22


WORDS: Final[dict[Fault, str]] = {
    Fault.ENDS: "the payload ends inside the value: truncated, or not of this schema",
    Fault.LONG_NUMBER: "a number of more than 64 bits",
    Fault.LONG_INT: "an int of more than 32 bits",
    Fault.BOOLEAN: "a boolean that is neither 0 nor 1",
    Fault.UTF8: "a text that is not UTF-8",
    Fault.SYMBOL: "symbol {detail} of an enum of {op.b}",
    Fault.BRANCH: "branch {detail} of a union of {op.b}",
    Fault.BLOCK: "a block of a negative size",
    Fault.EMPTY_ITEMS: "too many array items that take no bytes (see avro.max.empty.items)",
    Fault.LEFT_OVER: "{detail} bytes are left over after the value: the payload is not of this schema",
    Fault.DEEP: f"the payload is nested deeper than {MAX_DEPTH} levels",
    Fault.DATE: "a date outside of the years 1 to 9999",
    Fault.TIME: "a time that is not within a day",
    Fault.INSTANT: "a point in time outside of the years 1 to 9999",
    Fault.FINER: "the written point in time is finer than the reader's unit",
    Fault.UNIT: "the written point in time does not fit in the reader's unit",
    Fault.DIGITS: "the value does not fit its column: a decimal of more than {op.c} digits",
    Fault.SCALE: "the decimal has more digits after the point than the reader's",
    Fault.UUID: "a text that is not a UUID",
    Fault.ROW_BYTES: "its arrays and maps take more room than a row may have (see max_row_bytes)",
}


def fault_of(
    program: Program, root: str, reasons: Callable[[], str | None], found: Sequence[Any]
) -> SerializationError:
    """The error of a row.

    Args:
        program: what was run.
        root: the name of the record that was read, for the path.
        reasons: says why the writer's schema can't be resolved to the reader's; asked only then.
        found: what the kernel says: number, operation, byte, detail, items of the open lists, calls, payload bytes.
    """
    number, at, offset, detail, items, calls, size = found
    fault, op = Fault(number), program.ops[at]
    path = _path(program, root, (*calls, at), items)
    if fault in (Fault.REFUSED, Fault.LACKING):
        message = program.messages[op.a if fault is Fault.REFUSED else op.c]
        reason = f"the payload's schema can't be resolved to the reader's: {reasons() or message}"
    else:
        if fault is Fault.SYMBOL and op.code.name == "SKIP_ENUM":
            op = op._replace(b=op.a)
        if fault is Fault.BRANCH and op.code.name == "OPTIONAL":
            op = op._replace(b=2)
        words = WORDS[fault].format(detail=detail, op=op)
        reason = f"the payload of {size} bytes can't be decoded with its schema: {words} (at byte {offset})"
    return SerializationError(reason, path=path)


def _path(program: Program, root: str, calls: Sequence[int], items: Sequence[int]) -> str:
    """The place of an operation, with the numbers of the items it is in: `Order.items[3].price`."""
    numbers = iter(items)
    made = root
    for at in calls:
        for part in program.ops[at].path:
            if part == "[]":
                made += f"[{next(numbers, 0)}]"
            elif part == "[entry]":
                made += f"[entry {next(numbers, 0)}]"
            else:
                made = f"{made}.{part}" if made else part
    return made
