"""Plans that read JSON into columns: the parts of a schema as a table for the kernel, checked, and printed by `str`.

Must not know of frames or registries.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

import pyarrow as pa

from serdes.columnar.json.types import Part
from serdes.columnar.layout import Layout, layout_of
from serdes.errors import SerializationError
from serdes.kernels.json_columns import MAX_DEPTH, Expected, Fault


@dataclass(frozen=True, slots=True)
class Step:
    """The step that reads the value in one place.

    Attributes:
        part: what is expected, and the type of its column.
        column: the column's place in the layout.
        kids: the steps of its members, of an array's items, of a map's values; all have higher numbers.
        parent: the step it is in, -1 for the root.
        name: of the member; `[]` for items, `{}` for a map's values.
        cost: bytes that an item takes in the columns beside texts.
        closed: of an object, whether a member that its schema does not name is a fault.
        rest: of an object, the step of the map of such members; -1 without.
    """

    part: Part
    column: int
    kids: tuple[int, ...]
    parent: int
    name: str
    cost: int
    closed: bool = False
    rest: int = -1

    def table(self) -> tuple[Any, ...]:
        """The row of the kernel's table."""
        part = self.part
        listed = [*(name for name, _ in part.members), *part.unwanted] if part.expected is Expected.OBJECT else []
        names = tuple(name.encode() for name in listed)
        width = part.type.bit_width // 8 if part.expected is Expected.DECIMAL else 0
        numbers = part.digits, part.scale, width, self.cost
        return int(part.expected), self.column, self.kids, names, *numbers, self.closed, self.rest


@dataclass(frozen=True, slots=True, eq=False)
class JsonPlan:
    """The plan to read documents into columns. Immutable; threads share it.

    Attributes:
        steps: the first is the root.
        layout: of the columns.
        depth: how many arrays and maps are inside of one another at most.
    """

    steps: tuple[Step, ...]
    layout: Layout
    depth: int

    @property
    def type(self) -> pa.DataType:
        """The struct of the columns."""
        return self.layout.type

    def __str__(self) -> str:
        return "\n".join(self._lines(0, 0))

    def _lines(self, number: int, level: int) -> Iterator[str]:
        step = self.steps[number]
        name = {"[]": "each item", "{}": "each value"}.get(step.name, step.name) or "·"
        kind = " without others" if step.closed else "" if step.kids else f" as {step.part.type}"
        yield f"{'  ' * level}{name}: {step.part.expected.name.lower().replace('_', ' ')}{kind}, column {step.column}"
        for kid in (*step.kids, *((step.rest,) if step.rest >= 0 else ())):
            yield from self._lines(kid, level + 1)


def plan_of(part: Part, closed: bool = False) -> JsonPlan:
    """The plan for the columns of a schema.

    Args:
        part: the columns.
        closed: whether members that the schema does not name are faults of their rows.
    """
    layout = layout_of(part.type)
    steps: list[Step | None] = []
    depth = _add(steps, part, layout, -1, "", closed)
    made = tuple(step for step in steps if step is not None)
    _verify(made, layout)
    return JsonPlan(made, layout, depth)


def _add(steps: list[Step | None], part: Part, layout: Layout, parent: int, name: str, closed: bool) -> int:
    """Adds the steps of a part; gives how many arrays and maps are inside of one another."""
    number = len(steps)
    steps.append(None)
    kids, depth, nested = [], 0, part.expected in (Expected.ARRAY, Expected.MAP)
    columns = layout.children[0].children[1:] if part.expected is Expected.MAP else layout.children
    cost = 0
    if nested:
        cost = sum(max(column.width, 4) for column in layout.children[0].every())
    for (member, inner), column in zip(part.inner(), columns, strict=True):
        kids.append(len(steps))
        shown = "[]" if part.expected is Expected.ARRAY else "{}" if part.expected is Expected.MAP else member
        depth = max(depth, _add(steps, inner, column, number, shown, closed))
    closed = closed and part.expected is Expected.OBJECT
    rest = kids.pop() if part.rest is not None else -1
    steps[number] = Step(part, layout.place, tuple(kids), parent, name, cost, closed, rest)
    return depth + nested


FITTING: Final[dict[Expected, Any]] = {
    Expected.BOOLEAN: pa.types.is_boolean,
    Expected.INTEGER: pa.types.is_int64,
    Expected.UNSIGNED: pa.types.is_uint64,
    Expected.NUMBER: pa.types.is_float64,
    Expected.TEXT: pa.types.is_string,
    Expected.BASE64: pa.types.is_binary,
    Expected.DATE: pa.types.is_date32,
    Expected.INSTANT: pa.types.is_timestamp,
    Expected.LOCAL_TIMESTAMP: pa.types.is_timestamp,
    Expected.TIME: pa.types.is_time64,
    Expected.LOCAL_TIME: pa.types.is_time64,
    Expected.UUID: pa.types.is_string,
    Expected.DECIMAL: pa.types.is_decimal,
    Expected.ANY: pa.types.is_string,
    Expected.ARRAY: pa.types.is_list,
    Expected.MAP: pa.types.is_map,
    Expected.OBJECT: pa.types.is_struct,
}


def _verify(steps: tuple[Step, ...], layout: Layout) -> None:
    """Checks the kernel's assumptions.

    Raises:
        ValueError: the plan is not sound, which is a defect of what made it.
    """
    columns = layout.every()
    for number, step in enumerate(steps):
        if not 0 <= step.column < len(columns):
            raise ValueError(f"step {number} fills column {step.column} of {len(columns)}")
        if not FITTING[step.part.expected](columns[step.column].type):
            raise ValueError(f"step {number} can't fill a column of type {columns[step.column].type}")
        if any(not number < kid < len(steps) or steps[kid].parent != number for kid in step.kids):
            raise ValueError(f"step {number} has parts that are not its own")
        if step.rest >= 0 and not (
            number < step.rest < len(steps)
            and steps[step.rest].parent == number
            and steps[step.rest].part.expected is Expected.MAP
        ):
            raise ValueError(f"step {number} has no map for members without a name")
        if step.part.expected in (Expected.ARRAY, Expected.MAP) and len(step.kids) != 1:
            raise ValueError(f"step {number} has {len(step.kids)} kinds of items")


# --- words


WHAT: Final = {
    Expected.BOOLEAN: "true or false",
    Expected.INTEGER: "an integer",
    Expected.UNSIGNED: "an integer",
    Expected.NUMBER: "a number",
    Expected.TEXT: "a string",
    Expected.BASE64: "a string in base64",
    Expected.DATE: "a date (YYYY-MM-DD)",
    Expected.INSTANT: "a date and time with a zone (RFC 3339)",
    Expected.LOCAL_TIMESTAMP: "a date and time without a zone",
    Expected.TIME: "a time in UTC (HH:MM:SSZ)",
    Expected.LOCAL_TIME: "a time without a zone",
    Expected.UUID: "a UUID (8-4-4-4-12 hexadecimal digits)",
    Expected.DECIMAL: "a decimal number in a string",
    Expected.ARRAY: "an array",
    Expected.MAP: "an object",
    Expected.OBJECT: "an object",
}
WORDS: Final = {
    Fault.ENDS: "the document ends inside a value",
    Fault.NOT_JSON: "this is not JSON",
    Fault.NOT_UTF8: "a string that is not UTF-8",
    Fault.ESCAPE: "a string with an escape that is none, or half of a surrogate pair",
    Fault.DEEP: f"nested deeper than {MAX_DEPTH} levels",
    Fault.LEFT_OVER: "something is left over after the document",
    Fault.NOT_EXPECTED: "{what} is needed here",
    Fault.OUT_OF_RANGE: "a number that its column can't hold exactly: {type}",
    Fault.NOT_WHOLE: "a number with a fraction where an integer is needed",
    Fault.NOT_OF_FORMAT: "a string that is not {what}",
    Fault.LOSES_DIGITS: "a string that is finer than its column: {type}",
    Fault.KEY_TWICE: "a member comes twice",
    Fault.ROW_BYTES: "its arrays, maps and texts take more room than a row may have (see max_row_bytes)",
    Fault.UNNAMED: "a member that the schema does not name (see ColumnOptions.unnamed)",
}


def fault_of(
    plan: JsonPlan, fault: Fault, number: int, offset: int | None, indexes: tuple[int, ...]
) -> SerializationError:
    """The error of a row.

    Args:
        plan: of the batch.
        fault: its number.
        number: the step.
        offset: the byte in the payload; None if it is not known.
        indexes: places in arrays and maps, from the inside out.
    """
    part = plan.steps[number].part
    words = WORDS[fault].format(what=WHAT.get(part.expected, "a value"), type=part.type)
    where = "" if offset is None else f" (at byte {offset})"
    reason = f"the payload can't be read as JSON of its schema: {words}{where}"
    return SerializationError(reason, path=_path(plan, number, indexes) or None)


def _path(plan: JsonPlan, number: int, indexes: tuple[int, ...]) -> str:
    """The place of a step, e.g. `items[3].price`; the place of an item too, where the fault is the array's."""
    parts: list[str] = []
    around = number
    while around >= 0:
        step = plan.steps[around]
        if step.name:
            parts.append(step.name)
        around = step.parent
    left = list(indexes)
    if len(left) > sum(part in ("[]", "{}") for part in parts):
        parts.insert(0, "[]" if plan.steps[number].part.expected is Expected.ARRAY else "{}")
    shown = []
    for part in parts:
        at = left.pop(0) if part in ("[]", "{}") and left else ""
        shown.append({"[]": f"[{at}]", "{}": f"[entry {at}]"}.get(part, part))
    made = ""
    for part in reversed(shown):
        made = f"{made}{part}" if part[0] == "[" or not made else f"{made}.{part}"
    return made
