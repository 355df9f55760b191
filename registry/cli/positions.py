"""Where things are in the text of a JSON document: JSON pointer → line and column.

Must not know of schemas. Only documents that `json` accepts are scanned, so the scanner need not find errors; it has
no recursion and takes time in proportion to the text.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from collections.abc import Sequence

__all__ = ["Lines", "locate", "pointer_parts", "positions"]

TOKEN = re.compile(r'[{}\[\],:]|"[^"\\]*(?:\\.[^"\\]*)*"|[^\s{}\[\],:"]+', re.DOTALL)


class Lines:
    """Offsets of a text as lines and columns, both from 1."""

    def __init__(self, text: str) -> None:
        self._starts = [0]
        self._starts += (match.end() for match in re.finditer("\n", text))

    def place(self, offset: int) -> tuple[int, int]:
        """Line and column of an offset."""
        line = bisect_right(self._starts, offset)
        return line, offset - self._starts[line - 1] + 1


def pointer_parts(pointer: str) -> list[str]:
    """The steps of a JSON pointer; `#` before it, as in a URI, is skipped."""
    text = pointer.removeprefix("#")
    if text in ("", "/"):
        return []
    return [part.replace("~1", "/").replace("~0", "~") for part in text.removeprefix("/").split("/")]


def positions(text: str) -> dict[tuple[str, ...], int]:
    """The offset of every value of a valid JSON document, by its steps from the root; a member's is its name's."""
    found: dict[tuple[str, ...], int] = {}
    path: list[str] = []
    containers: list[str] = []  # of each open container: "{" or "["
    waits_for_name = False
    for match in TOKEN.finditer(text):
        token = match.group()
        if token in (",", ":"):
            if token == "," and containers and containers[-1] == "[":
                path[-1] = str(int(path[-1]) + 1)
            waits_for_name = token == "," and bool(containers) and containers[-1] == "{"
        elif token in ("}", "]"):
            containers.pop()
            path.pop()
            waits_for_name = False
        elif waits_for_name:
            path[-1] = json.loads(token, strict=False)
            found[tuple(path)] = match.start()
            waits_for_name = False
        else:
            found.setdefault(tuple(path), match.start())
            if token in ("{", "["):
                containers.append(token)
                path.append("" if token == "{" else "0")
                waits_for_name = token == "{"
    return found


def locate(text: str, steps: Sequence[str]) -> tuple[int, int]:
    """Line and column of a value, or of the nearest one around it that the document has."""
    known = positions(text)
    parts = tuple(steps)
    while parts and parts not in known:
        parts = parts[:-1]
    return Lines(text).place(known.get(parts, 0))
