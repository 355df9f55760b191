"""One difference between two schemas: its kind, where it is, and what it means.

Must not know how differences are found or judged. The kinds of Avro are those of Java's `SchemaCompatibility`.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass

__all__ = ["AvroKind", "Difference", "Roles"]


class AvroKind(enum.StrEnum):
    """What can keep an Avro reader from reading a writer's data."""

    NAME_MISMATCH = "NAME_MISMATCH"
    FIXED_SIZE_MISMATCH = "FIXED_SIZE_MISMATCH"
    MISSING_ENUM_SYMBOLS = "MISSING_ENUM_SYMBOLS"
    READER_FIELD_MISSING_DEFAULT_VALUE = "READER_FIELD_MISSING_DEFAULT_VALUE"
    TYPE_MISMATCH = "TYPE_MISMATCH"
    MISSING_UNION_BRANCH = "MISSING_UNION_BRANCH"


@dataclass(frozen=True, slots=True)
class Difference:
    """Something a reader's schema lacks to read a writer's data.

    Attributes:
        kind: a name from the format's list, e.g. `TYPE_MISMATCH`.
        path: JSON pointer into the reader's schema, e.g. `/fields/2/type`.
        message: a sentence for people: what differs, who can't read whose data, what would help.
        version: position of the registered schema in the list given to `check`, from 1; None if it was not compared
            with a list.
    """

    kind: str
    path: str
    message: str
    version: int | None = None


@dataclass(frozen=True, slots=True)
class Roles:
    """How messages call the two schemas of a comparison."""

    reader: str = "the reader's schema"
    writer: str = "the writer's schema"
