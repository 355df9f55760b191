"""The kinds of differences between Protobuf schemas, which of them are incompatible, and their messages.

Must not compare. Source: Confluent's registry (`Difference.Type`, `SchemaDiff.COMPATIBLE_CHANGES`).
"""

from __future__ import annotations

import enum
from typing import Final, NamedTuple

from registry.compat.difference import Difference, Roles


class ProtobufKind(enum.StrEnum):
    """Kinds of differences. The writer's schema is the older one for Confluent: `ADDED` is in the reader only."""

    PACKAGE_CHANGED = "PACKAGE_CHANGED"
    MESSAGE_ADDED = "MESSAGE_ADDED"
    MESSAGE_REMOVED = "MESSAGE_REMOVED"
    MESSAGE_MOVED = "MESSAGE_MOVED"
    ENUM_ADDED = "ENUM_ADDED"
    ENUM_REMOVED = "ENUM_REMOVED"
    ENUM_CONST_ADDED = "ENUM_CONST_ADDED"
    ENUM_CONST_CHANGED = "ENUM_CONST_CHANGED"
    ENUM_CONST_REMOVED = "ENUM_CONST_REMOVED"
    FIELD_ADDED = "FIELD_ADDED"
    FIELD_REMOVED = "FIELD_REMOVED"
    FIELD_NAME_CHANGED = "FIELD_NAME_CHANGED"
    FIELD_KIND_CHANGED = "FIELD_KIND_CHANGED"
    FIELD_SCALAR_KIND_CHANGED = "FIELD_SCALAR_KIND_CHANGED"
    FIELD_NAMED_TYPE_CHANGED = "FIELD_NAMED_TYPE_CHANGED"
    FIELD_NUMERIC_LABEL_CHANGED = "FIELD_NUMERIC_LABEL_CHANGED"
    FIELD_STRING_OR_BYTES_LABEL_CHANGED = "FIELD_STRING_OR_BYTES_LABEL_CHANGED"
    REQUIRED_FIELD_ADDED = "REQUIRED_FIELD_ADDED"
    REQUIRED_FIELD_REMOVED = "REQUIRED_FIELD_REMOVED"
    ONEOF_ADDED = "ONEOF_ADDED"
    ONEOF_REMOVED = "ONEOF_REMOVED"
    ONEOF_FIELD_ADDED = "ONEOF_FIELD_ADDED"
    ONEOF_FIELD_REMOVED = "ONEOF_FIELD_REMOVED"
    ONEOF_FIELD_MOVED_TO_TOP_LEVEL = "ONEOF_FIELD_MOVED_TO_TOP_LEVEL"
    MULTIPLE_FIELDS_MOVED_TO_ONEOF = "MULTIPLE_FIELDS_MOVED_TO_ONEOF"
    FIELD_MOVED_TO_EXISTING_ONEOF = "FIELD_MOVED_TO_EXISTING_ONEOF"


COMPATIBLE: Final = frozenset(
    {
        ProtobufKind.MESSAGE_ADDED,
        ProtobufKind.MESSAGE_MOVED,
        ProtobufKind.ENUM_ADDED,
        ProtobufKind.ENUM_REMOVED,
        ProtobufKind.ENUM_CONST_ADDED,
        ProtobufKind.ENUM_CONST_CHANGED,
        ProtobufKind.ENUM_CONST_REMOVED,
        ProtobufKind.FIELD_ADDED,
        ProtobufKind.FIELD_REMOVED,
        ProtobufKind.FIELD_NAME_CHANGED,
        ProtobufKind.FIELD_STRING_OR_BYTES_LABEL_CHANGED,
        ProtobufKind.ONEOF_ADDED,
        ProtobufKind.ONEOF_REMOVED,
        ProtobufKind.ONEOF_FIELD_ADDED,
        ProtobufKind.ONEOF_FIELD_MOVED_TO_TOP_LEVEL,
    }
)
"""Kinds that are never incompatible."""

KEEP_TYPE: Final = "keep the type under this number and give the new type a number of its own"
KEEP_MESSAGE: Final = "keep the message, or register the schema under another subject"

# kind → what differs; what helps if the reader's schema is the new one; what helps if the writer's is
# {name} field, message or oneof; {here} what the reader has; {there} what the writer has
SENTENCES: Final[dict[ProtobufKind, tuple[str, str, str]]] = {
    ProtobufKind.PACKAGE_CHANGED: (
        "the package is {here}, and was {there}, which renames every message",
        "keep package {there}",
        "keep package {here}",
    ),
    ProtobufKind.MESSAGE_REMOVED: (
        "message '{name}' is missing",
        KEEP_MESSAGE,
        "do without the message, or register the schema under another subject",
    ),
    ProtobufKind.FIELD_KIND_CHANGED: (
        "field '{name}' is {here}, and is written as {there}",
        KEEP_TYPE,
        KEEP_TYPE,
    ),
    ProtobufKind.FIELD_SCALAR_KIND_CHANGED: (
        "field '{name}' is of type {here}, and is written as {there}, which looks different in bytes",
        KEEP_TYPE,
        KEEP_TYPE,
    ),
    ProtobufKind.FIELD_NAMED_TYPE_CHANGED: (
        "field '{name}' is a message {here}, and is written as a message {there}",
        KEEP_TYPE,
        KEEP_TYPE,
    ),
    ProtobufKind.FIELD_NUMERIC_LABEL_CHANGED: (
        "field '{name}' is {here}, and is written as {there}; numbers are packed in one and not in the other",
        "keep the label and give the new field a number of its own",
        "keep the label and give the new field a number of its own",
    ),
    ProtobufKind.REQUIRED_FIELD_ADDED: (
        "field '{name}' is required, and is not written",
        "make it optional",
        "write the field, as required",
    ),
    ProtobufKind.REQUIRED_FIELD_REMOVED: (
        "required field '{name}' is missing",
        "keep the field, as required",
        "make the new field optional",
    ),
    ProtobufKind.ONEOF_FIELD_REMOVED: (
        "field '{name}' of oneof {there} is missing, and a value of it would leave the oneof unset",
        "keep the field in the oneof",
        "put the new field outside the oneof, or into a new one",
    ),
    ProtobufKind.MULTIPLE_FIELDS_MOVED_TO_ONEOF: (
        "oneof '{name}' holds {here}, several of which can be written together, and all but one would be lost",
        "leave all but one of them outside the oneof",
        "keep them in one oneof",
    ),
    ProtobufKind.FIELD_MOVED_TO_EXISTING_ONEOF: (
        "oneof '{name}' holds {here}, which were not in one oneof, so that two written together would lose one",
        "don't bring them together in a oneof",
        "keep them in one oneof",
    ),
}


class Change(NamedTuple):
    """A difference, not yet put into words.

    Attributes:
        path: names and numbers, outermost first.
        name: of the field, message or oneof.
        here: what the reader has.
        there: what the writer has.
    """

    kind: ProtobufKind
    path: tuple[str, ...]
    name: str = ""
    here: str = ""
    there: str = ""

    def worded(self, roles: Roles) -> Difference:
        """The change for people."""
        path = "#/" + "/".join(self.path)
        what, reader_helps, writer_helps = map(self._filled, SENTENCES[self.kind])
        return Difference(self.kind, path, roles.sentence(path, what, reader_helps, writer_helps))

    def _filled(self, text: str) -> str:
        return text.format(name=self.name, here=self.here, there=self.there) if "{" in text else text
