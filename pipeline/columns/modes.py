"""The faults of rows that can't be decoded, and the modes that say what happens to such a row.

Must not know of Spark, schemas or Arrow. The functions and the source share these: a `Fault` is made where a batch is
decoded, and a mode says whether it becomes null, an error, or a dead letter (`pipeline.columns.dead_letters`).
"""

from __future__ import annotations

import enum
import re
from dataclasses import dataclass
from typing import Final

from pipeline.errors import OptionError


class Mode(enum.Enum):
    """The treatment of a payload that can't be decoded."""

    PERMISSIVE = "PERMISSIVE"
    """It becomes null; its error is in the error field, if one is asked for."""
    FAILFAST = "FAILFAST"
    """The job stops with RowError."""
    DEADLETTER = "DEADLETTER"
    """It is set aside with its bytes and the reason; `split` makes two frames, good and bad."""

    @classmethod
    def of(cls, name: str) -> Mode:
        """The mode of this name, in any case.

        Raises:
            OptionError: there is no such mode.
        """
        try:
            return cls(name.upper())
        except (ValueError, AttributeError):
            raise OptionError(f"mode {name!r} is unknown: {', '.join(mode.value for mode in cls)}") from None


class RowCode(enum.StrEnum):
    """Why a row can't be decoded, for programs; stands in dead letters as `__dlq.error.code`."""

    NOT_FRAMED = "NOT_FRAMED"
    """Nothing names the payload's schema: another magic byte, or too short."""
    UNKNOWN_SCHEMA = "UNKNOWN_SCHEMA"
    """The registry has no such id or GUID, or it was not asked since too many ids of the batch are unknown."""
    UNFIT_SCHEMA = "UNFIT_SCHEMA"
    """The schema it was written with can't be read as the reader's."""
    BAD_PAYLOAD = "BAD_PAYLOAD"
    """The payload is not of its schema."""
    RULE_FAILED = "RULE_FAILED"
    """The deserializer that runs the schema's rules refused it."""
    BAD_VALUE = "BAD_VALUE"
    """The value can't be written with its schema."""
    BAD_SUBJECT = "BAD_SUBJECT"
    """The topic or subject that the row names can't be written to: there is none, or its schema does not fit."""


@dataclass(frozen=True, slots=True)
class Fault:
    """One row that can't be decoded.

    Attributes:
        row: its index in the batch.
        code: why, for programs.
        reason: without the place.
        schema_id: the id that stands in front of the payload or in the header; None where there is none.
        path: where in the value; None where that is not known.
    """

    row: int
    code: RowCode
    reason: str
    schema_id: int | None = None
    path: str | None = None

    def __str__(self) -> str:
        place = [] if self.schema_id is None else [f"schema id {self.schema_id}"]
        place += [] if self.path is None else [f"at {self.path}"]
        return f"{', '.join(place)}: {self.reason}" if place else self.reason


PLACE: Final = re.compile(
    r"(?:schema (?:id \d+|GUID [0-9a-f-]+)(?:, at (?P<path>.+?))?|at (?P<only>.+?)): (?P<reason>.*)", re.DOTALL
)
"""The beginning of an error of a columnar decoder (`serdes.errors.sentence`)."""


def fault_of(row: int, code: RowCode, text: str, schema_id: int | None) -> Fault:
    """A fault made of a columnar decoder's error; the place at its beginning becomes attributes.

    Args:
        row: index in the batch.
        code: why.
        text: the error.
        schema_id: what is known of the row's schema.
    """
    found = PLACE.fullmatch(text)
    if found is None:
        return Fault(row, code, text, schema_id)
    return Fault(row, code, found["reason"], schema_id, found["path"] or found["only"])
