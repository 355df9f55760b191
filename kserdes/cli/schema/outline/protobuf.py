"""The outline of a .proto text: its declarations with their places, and whether they have comments.

Must not judge: what is not Protobuf gives an outline of what looks like it. It serves places and lint; schemas are
parsed by `registry.schemas`. Source: the Protobuf language specification, lexical elements.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

TOKEN = re.compile(
    r"""(?P<comment>//[^\n]*|/\*.*?\*/)|"[^"\\\n]*(?:\\.[^"\\\n]*)*"|'[^'\\\n]*(?:\\.[^'\\\n]*)*'"""
    r"""|[A-Za-z_.][\w.]*|-?\d\w*|[{}\[\]()<>;=,]""",
    re.DOTALL,
)
BLOCKS = ("message", "enum", "service", "oneof", "extend")
NAMED = ("package", "import", "syntax", "edition")


@dataclass(slots=True)
class Item:
    """One declaration.

    Attributes:
        kind: `message`, `enum`, `service`, `oneof`, `extend`, `field`, `value`, `rpc`, or a statement's first word.
        name: as it is declared; of statements their text.
        scope: names of the messages and enums around it.
        offset: where it starts in the text.
        number: of a field or value.
        documented: whether a comment is right before it, or behind it on its line.
    """

    kind: str
    name: str
    scope: tuple[str, ...]
    offset: int
    number: str | None = None
    documented: bool = False


@dataclass(slots=True)
class _Block:
    kind: str
    name: str | None


@dataclass(slots=True)
class _State:
    """The open blocks and words while tokens go by."""

    text: str
    items: list[Item] = field(default_factory=list)
    blocks: list[_Block] = field(default_factory=list)
    words: list[str] = field(default_factory=list)
    start: int = 0
    comment_end: int | None = None
    brackets: int = 0
    ended: int = 0

    @property
    def scope(self) -> tuple[str, ...]:
        return tuple(block.name for block in self.blocks if block.name is not None and block.kind != "oneof")


def outline(text: str) -> list[Item]:
    """The declarations of a .proto text, in its order."""
    state = _State(text)
    for match in TOKEN.finditer(text):
        token = match.group()
        if match["comment"]:
            _comment(state, match)
        elif token in ("[", "]"):
            state.brackets += 1 if token == "[" else -1
        elif state.brackets > 0:
            continue  # options of a field
        elif token in ("{", "}", ";"):
            _end(state, token)
            state.ended = 0 if token == "}" else match.end()
        else:
            if not state.words:
                state.start = match.start()
            state.words.append(token)
    return state.items


def _comment(state: _State, match: re.Match[str]) -> None:
    """Gives a comment to the declaration before it on its line, else keeps it for the one that follows."""
    if state.words:
        return
    behind = bool(state.items) and state.ended and "\n" not in state.text[state.ended : match.start()]
    if behind:
        state.items[-1].documented = True
    else:
        state.comment_end = match.end()


def _documented(state: _State) -> bool:
    end, state.comment_end = state.comment_end, None
    return end is not None and state.text.count("\n", end, state.start) <= 1


def _end(state: _State, token: str) -> None:
    words, state.words, state.brackets = state.words, [], 0
    if token == "}":
        if state.blocks:
            state.blocks.pop()
        state.comment_end = None
        return
    item = _item(words, state.blocks, state.scope) if words else None
    if item is not None:
        item.offset = state.start
        item.documented = _documented(state)
        state.items.append(item)
    if token == "{":
        opens = item is not None and (item.kind in BLOCKS or "group" in words)
        state.blocks.append(_Block(item.kind if item else "", item.name if item and opens else None))


def _item(words: Sequence[str], blocks: Sequence[_Block], scope: tuple[str, ...]) -> Item | None:
    """The declaration that words make, None for options and the like."""
    first = words[0]
    inside = blocks[-1].kind if blocks else ""
    if "=" in words[1:-1] and first != "option" and first not in NAMED:
        at = words.index("=")
        kind = "value" if inside == "enum" else "field"
        return Item(kind, words[at - 1], scope, 0, words[at + 1])
    if len(words) > 1:
        if first in BLOCKS or first == "rpc":
            return Item(first, words[1], scope, 0)
        if first in NAMED:
            return Item(first, words[-1].strip("\"'"), scope, 0)
    return None
