"""One difference between two schemas: its kind, where it is, and what it means.

Must not know how differences are found or judged. The kinds of Avro are those of Java's `SchemaCompatibility`.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass


class AvroKind(enum.StrEnum):
    """The kinds of differences that keep an Avro reader from reading a writer's data."""

    NAME_MISMATCH = "NAME_MISMATCH"
    FIXED_SIZE_MISMATCH = "FIXED_SIZE_MISMATCH"
    MISSING_ENUM_SYMBOLS = "MISSING_ENUM_SYMBOLS"
    READER_FIELD_MISSING_DEFAULT_VALUE = "READER_FIELD_MISSING_DEFAULT_VALUE"
    TYPE_MISMATCH = "TYPE_MISMATCH"
    MISSING_UNION_BRANCH = "MISSING_UNION_BRANCH"
    AMBIGUOUS_FIELD = "AMBIGUOUS_FIELD"
    """A reader's field and its aliases match several written fields. Java has no name for it: its check breaks off."""


@dataclass(frozen=True, slots=True)
class Difference:
    """Something a reader's schema lacks to read a writer's data.

    Attributes:
        kind: a name from the format's list, e.g. `TYPE_MISMATCH`.
        path: JSON pointer into the reader's schema, e.g. `/fields/2/type`.
        message: a sentence for people: the difference, which schema can't read whose data, the remedy.
        version: position of the registered schema in the list given to `check`, from 1; None if it was not compared
            with a list.
    """

    kind: str
    path: str
    message: str
    version: int | None = None


@dataclass(frozen=True, slots=True)
class Roles:
    """The names of the two compared schemas in messages.

    Attributes:
        reader: the schema that has to read.
        writer: the schema of the data.
        candidate_reads: whether the reader's schema is the one that can still be changed (else it is the writer's).
    """

    reader: str = "the reader's schema"
    writer: str = "the writer's schema"
    candidate_reads: bool = True

    def sentence(self, path: str, what: str, reader_helps: str, writer_helps: str) -> str:
        """The message of a difference: where, what, who breaks, and what the author of the new schema can do.

        Args:
            path: JSON pointer into the reader's schema.
            what: the difference, without a full stop.
            reader_helps: what to do if the reader's schema is the new one, as an order: "give it a default".
            writer_helps: what to do if the writer's schema is.
        """
        remedy = reader_helps if self.candidate_reads else writer_helps
        broken = f"{self.reader} can't read data of {self.writer}"
        return f"{path} of {self.reader}: {what}, so {broken}; to be compatible, {remedy}"
