"""Two schemas compared: their texts line by line, and who can read whose data.

Must not print. Texts of JSON are laid out alike first, so that only real changes show.
"""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from kserdes.cli.schema.check.causes import Group, Traced, Tracer, grouped, trace_proto
from kserdes.cli.schema.diff.sides import Side, both
from kserdes.cli.shell.unusable import Unusable
from registry import InvalidSchemaError, Schema
from registry.compat import Difference, check

NUMBERED = "registered schema 1"


@dataclass(frozen=True, slots=True)
class Row:
    """A line of a side-by-side view.

    Attributes:
        kind: ` ` the same, `-` left only, `+` right only, `~` changed.
        left: number and text, None for none.
        right: number and text, None for none.
    """

    kind: str
    left: tuple[int, str] | None
    right: tuple[int, str] | None


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two schemas compared; `old` is the left one.

    Attributes:
        rows: the texts side by side.
        backward: what keeps the new schema from reading old data.
        forward: what keeps the old schema from reading new data.
        causes: the same by `backward` and `forward`, with each cause once.
    """

    old: str
    new: str
    rows: Sequence[Row]
    backward: Sequence[Difference]
    forward: Sequence[Difference]
    causes: Mapping[str, Sequence[Group]] = field(default_factory=dict)

    @property
    def level(self) -> str:
        """The strongest level the change fits."""
        if self.backward:
            return "NONE" if self.forward else "FORWARD"
        return "BACKWARD" if self.forward else "FULL"

    @property
    def same(self) -> bool:
        """Whether the texts say the same."""
        return all(row.kind == " " for row in self.rows)


def layout(schema: Schema) -> list[str]:
    """The lines of a schema, JSON laid out with one value a line."""
    if schema.schema_type != "PROTOBUF":
        try:
            return json.dumps(json.loads(schema.schema_str), indent=2, ensure_ascii=False).splitlines()
        except (ValueError, RecursionError):
            return schema.schema_str.splitlines()
    return schema.schema_str.splitlines()


def compare(old: Side, new: Side, policy: str = "STRICT") -> Comparison:
    """Compares two schemas.

    Raises:
        Unusable: one of them is invalid.
    """
    rows = list(_rows(layout(old.schema), layout(new.schema)))
    resolve = both(old, new)
    found = {}
    for level in ("BACKWARD", "FORWARD"):
        try:
            result = check(new.schema, [old.schema], level, policy, resolve)
        except InvalidSchemaError as error:
            text = error.error_message.replace(NUMBERED, old.label).replace("the new schema", new.label)
            raise Unusable(text, kind="INVALID_SCHEMA") from error
        found[level] = result.differences
    causes = {level.lower(): _causes(old, new, found[level], level == "FORWARD") for level in found}
    return Comparison(old.label, new.label, rows, found["BACKWARD"], found["FORWARD"], causes)


def _causes(old: Side, new: Side, differences: Sequence[Difference], forward: bool) -> Sequence[Group]:
    traced: Sequence[Traced | None] = []
    if differences and new.schema.schema_type == "PROTOBUF":
        traced = trace_proto(new.schema, both(old, new), differences)
    elif differences:
        tracer = Tracer(new.schema, old.schema, both(old, new))
        traced = tracer.trace([item.path for item in differences], forward)
    return grouped(differences, traced)


def _rows(old: Sequence[str], new: Sequence[str]) -> Iterator[Row]:
    matcher = difflib.SequenceMatcher(None, old, new, autojunk=len(old) + len(new) > 20_000)
    for kind, a, b, c, d in matcher.get_opcodes():
        for at in range(max(b - a, d - c)):
            left = (a + at + 1, old[a + at]) if at < b - a else None
            right = (c + at + 1, new[c + at]) if at < d - c else None
            if kind == "equal":
                mark = " "
            else:
                mark = "~" if left and right else "-" if left else "+"
            yield Row(mark, left, right)
