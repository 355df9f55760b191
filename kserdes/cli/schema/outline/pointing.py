"""The line of a schema file that a difference is about.

Must not know how differences are found. A path leads into the reader's schema, which is the registered one when it is
the old schema that can't read; the place is then carried over to the file: fields by name, the rest by position.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from kserdes.cli.schema.outline.positions import Lines, locate, pointer_parts
from kserdes.cli.schema.outline.protobuf import outline

QUOTED = re.compile(r"'([^'\n]{1,200})'|\"([^\"\n]{1,200})\"")


def carried(steps: Sequence[str], old: Any, new: Any) -> list[str]:
    """Steps into one document as steps into a similar one; they end where the other has nothing alike."""
    found: list[str] = []
    for step in steps:
        if isinstance(old, dict) and isinstance(new, dict) and step in new:
            old, new = old.get(step), new[step]
            found.append(step)
        elif isinstance(old, list) and isinstance(new, list) and step.isdecimal() and int(step) < len(old):
            old = old[int(step)]
            at = _alike(old, int(step), new)
            if at is None:
                break
            new = new[at]
            found.append(str(at))
        else:
            break
    return found


def _alike(item: Any, at: int, others: list[Any]) -> int | None:
    """The position of the element that stands for an item: of the same name, equal, or in the same place."""
    name = item.get("name") if isinstance(item, dict) else None
    if isinstance(name, str):
        named = (index for index, other in enumerate(others) if isinstance(other, dict) and other.get("name") == name)
        return next(named, None)
    if item in others:
        return others.index(item)
    return at if at < len(others) else None


def json_place(text: str, value: Any, pointer: str, reader: Any = None) -> tuple[int, int]:
    """Line and column of a path in a JSON schema file.

    Args:
        text: the file's text.
        value: its JSON value.
        pointer: the path.
        reader: the document the path leads into, if that is not the file.
    """
    steps = pointer_parts(pointer)
    return locate(text, _indexed(steps, value) if reader is None else carried(_indexed(steps, reader), reader, value))


def _indexed(steps: Sequence[str], value: Any) -> list[str]:
    """The steps with the position of a text in a list in place of the text: `/required/id` is `/required/0`."""
    found: list[str] = []
    for step in steps:
        if isinstance(value, list) and step in value:
            step = str(value.index(step))
        found.append(step)
        if isinstance(value, dict):
            value = value.get(step)
        else:
            value = (
                value[int(step)] if isinstance(value, list) and step.isdecimal() and int(step) < len(value) else None
            )
    return found


def _proto_entries(text: str) -> dict[tuple[str, ...], int]:
    """The offset of every declaration, by names, and of fields and values also by names with the number last."""
    found: dict[tuple[str, ...], int] = {}
    for item in outline(text):
        if item.kind in ("package", "import", "syntax", "edition"):
            found.setdefault((item.kind,), item.offset)
        else:
            found.setdefault((*item.scope, item.name), item.offset)
            if item.number is not None:
                found.setdefault((*item.scope, item.number), item.offset)
    return found


def proto_place(text: str, pointer: str, message: str = "") -> tuple[int, int]:
    """Line and column of a path of names (a field may be its number) in a .proto file.

    A path that the file does not have is searched by its last names, then where one of them is used (it is declared
    in an imported file), then by the names a message quotes.
    """
    entries = _proto_entries(text)
    names = steps = tuple(part for step in pointer_parts(pointer) for part in step.split(".") if part)
    lines = Lines(text)
    while steps:
        ends = [key for key in entries if key[-len(steps) :] == steps or _ends_alike(key, steps)]
        if ends:
            return lines.place(entries[min(ends, key=len)])
        steps = steps[:-1]
    uses = (re.search(rf"\b{re.escape(name)}\b", text) for name in reversed(names) if not name.isdecimal())
    use = next((found for found in uses if found is not None), None)
    return find_name(text, message) if use is None else lines.place(use.start())


def _ends_alike(key: tuple[str, ...], steps: tuple[str, ...]) -> bool:
    """Whether steps end in a key, as those with a package before the message's name do."""
    return len(key) > 1 and steps[-len(key) :] == key


def find_name(text: str, message: str) -> tuple[int, int]:
    """Line and column of the first word that a message quotes and the text has; (1, 1) if it has none."""
    for match in QUOTED.finditer(message):
        word = match[1] or match[2]
        at = re.search(rf"(?<![\w.]){re.escape(word)}(?![\w])", text)
        if at is not None:
            return Lines(text).place(at.start())
    return 1, 1
