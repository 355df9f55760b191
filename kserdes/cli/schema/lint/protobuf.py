"""Lint rules for .proto files, after Google's style guide for Protobuf.

Must not parse or check validity: the engine has done that. Works on the file's outline.
"""

from __future__ import annotations

from collections.abc import Iterator

from kserdes.cli.schema.lint.rules import Complaint, pascal, snake, upper, words
from kserdes.cli.schema.outline.protobuf import Item, outline

TYPES = ("message", "enum", "service")


def complaints(text: str) -> Iterator[Complaint]:
    """The complaints about a file, in the order of its text."""
    items = outline(text)
    kinds = {item.kind for item in items}
    if not kinds & {"syntax", "edition"}:
        yield Complaint("proto-syntax", "the file declares no syntax: proto2 is assumed", offset=0)
    if "package" not in kinds:
        yield Complaint("proto-package", "the file has no package: its names may collide with others'", offset=0)
    for item in items:
        if item.kind in TYPES:
            yield from _type(item)
        elif item.kind == "field":
            yield from _field(item)
        elif item.kind == "value":
            yield from _value(item)


def _type(item: Item) -> Iterator[Complaint]:
    if not pascal(item.name):
        text = f"{item.kind} {item.name!r} is not in PascalCase"
        yield Complaint("proto-message-name", text, offset=item.offset)
    if not item.documented:
        yield Complaint("proto-doc", f"{item.kind} {item.name!r} has no comment", offset=item.offset)


def _field(item: Item) -> Iterator[Complaint]:
    if not snake(item.name):
        yield Complaint("proto-field-name", f"field {item.name!r} is not in lower_snake_case", offset=item.offset)
    if not item.documented:
        yield Complaint("proto-field-doc", f"field {item.name!r} has no comment", offset=item.offset)


def _value(item: Item) -> Iterator[Complaint]:
    enum = item.scope[-1] if item.scope else ""
    prefix = "_".join(words(enum)).upper() + "_"
    if not upper(item.name) or not item.name.startswith(prefix):
        text = f"value {item.name!r} of {enum!r} should be in UPPER_CASE and start with {prefix}"
        yield Complaint("proto-enum-value", text, offset=item.offset)
    if item.number == "0" and not item.name.endswith("_UNSPECIFIED"):
        text = f"value {item.name!r} of {enum!r} is 0, the default of readers, and should be {prefix}UNSPECIFIED"
        yield Complaint("proto-enum-zero", text, offset=item.offset)
