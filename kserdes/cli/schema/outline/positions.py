"""Positions in the text of a JSON document: JSON pointer → line and column.

Must not know of schemas. Only documents that a parser has accepted are scanned, so the scanner need not find errors; it
passes over comments, has no recursion and takes time in proportion to the text.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence

TOKEN = re.compile(r'//[^\n]*|/\*.*?\*/|[{}\[\],:]|"[^"\\]*(?:\\.[^"\\]*)*"|[^\s{}\[\],:"]+', re.DOTALL)


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


class Positions:
    """The places of all values of a valid JSON document; takes memory in proportion to their number.

    Args:
        text: the document.

    Attributes:
        repeated: names that their object has before already, each with its offset: parsers let the last one count.
    """

    __slots__ = ("_root", "repeated")

    def __init__(self, text: str) -> None:
        self.repeated: list[tuple[str, int]] = []
        self._root = _scanned(text, self.repeated)

    def offset(self, steps: Sequence[str]) -> int:
        """The offset of a value, or of the nearest one around it that the document has; a member's is its name's."""
        node = self._root
        for step in steps:
            child = None if node.children is None else node.children.get(step)
            if child is None:
                break
            node = child
        return node.offset

    def walk(self) -> Iterator[tuple[tuple[str, ...], int]]:
        """All values with their steps."""
        stack: list[tuple[tuple[str, ...], _Node]] = [((), self._root)]
        while stack:
            steps, node = stack.pop()
            yield steps, node.offset
            stack += (((*steps, name), child) for name, child in (node.children or {}).items())


class _Node:
    """A value: where it is, and what is in it."""

    __slots__ = ("children", "is_list", "offset")

    def __init__(self, offset: int) -> None:
        self.offset = offset
        self.children: dict[str, _Node] | None = None
        self.is_list = False


def _scanned(text: str, repeated: list[tuple[str, int]]) -> _Node:
    root: _Node | None = None
    open_nodes: list[_Node] = []
    member: _Node | None = None  # whose name was read and whose value comes next
    for match in TOKEN.finditer(text):
        token = match.group()
        if token in (",", ":") or token.startswith(("//", "/*")):
            continue
        if token in ("}", "]"):
            open_nodes.pop()
            continue
        above = open_nodes[-1] if open_nodes else None
        if above is not None and not above.is_list and member is None:
            assert above.children is not None
            name = json.loads(token, strict=False)
            if name in above.children:
                repeated.append((name, match.start()))
            member = above.children[name] = _Node(match.start())
            continue
        node, member = member or _Node(match.start()), None
        if above is None:
            root = root or node
        elif above.is_list:
            assert above.children is not None
            above.children[str(len(above.children))] = node
        if token in ("{", "["):
            node.children, node.is_list = {}, token == "["
            open_nodes.append(node)
    return root or _Node(0)


def locate(text: str, steps: Sequence[str]) -> tuple[int, int]:
    """Line and column of a value, or of the nearest one around it that the document has."""
    return Lines(text).place(Positions(text).offset(steps))
