"""Answers that leave something out: an embedded cluster takes one entry out of one array of its answers.

Must not know what answers mean: arrays are found by their place in the message, e.g. `topics.partitions`.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, TypeVar

import pytest

from kafka_core.broker import dispatch
from kafka_core.protocol import ApiMessage
from kafka_core.protocol.schema import Struct

StructT = TypeVar("StructT", bound=Struct)


@dataclass(frozen=True)
class Place:
    """An array in the answers of one kind, e.g. OffsetCommitResponse `topics.partitions`; `last`: its last entry goes,
    else its first; `always`: out of every answer, else out of the first that has one.
    """

    answer: str
    path: str
    last: bool
    always: bool

    def __str__(self) -> str:
        return f"{self.answer}.{self.path}[{-1 if self.last else 0}] {'always' if self.always else 'once'}"


def arrays(message: Struct, path: str = "") -> Iterator[tuple[str, list[Any]]]:
    """The arrays of structs in a message that have entries, outer ones first."""
    for field in message.FIELDS:
        value = getattr(message, field.name)
        if isinstance(value, list) and value and isinstance(value[0], Struct):
            yield path + field.name, value
            for entry in value:
                yield from arrays(entry, f"{path}{field.name}.")


def copied(message: StructT) -> StructT:
    """The message with arrays of its own; what is not an array of structs is shared."""
    copy_of = copy.copy(message)
    for field in message.FIELDS:
        value = getattr(message, field.name)
        if isinstance(value, list) and value and isinstance(value[0], Struct):
            setattr(copy_of, field.name, [copied(entry) for entry in value])
    return copy_of


class Omission:
    """The part left out of answers (`place`, None: none), how often it was, and the arrays seen in them."""

    def __init__(self) -> None:
        self.place: Place | None = None
        self.seen: dict[tuple[str, str], int] = {}
        self.count = 0
        self.paused = False

    def __call__(self, answer: ApiMessage) -> ApiMessage:
        """The answer as it is sent."""
        if self.paused:
            return answer
        kind = type(answer).__name__
        for path, entries in arrays(answer):
            self.seen[kind, path] = max(len(entries), self.seen.get((kind, path), 0))
        place = self.place
        if place is None or place.answer != kind or (self.count and not place.always):
            return answer
        changed = copied(answer)  # what the broker keeps for later may be in it
        found = next((entries for path, entries in arrays(changed) if path == place.path), None)
        if found is not None:
            self.count += 1
            del found[-1 if place.last else 0]
        return changed


@contextmanager
def omitting(monkeypatch: pytest.MonkeyPatch) -> Iterator[Omission]:
    """Answers of every embedded cluster go through the omission."""
    omission, encode = Omission(), dispatch.encode_response
    with monkeypatch.context() as patch:
        patch.setattr(dispatch, "encode_response", lambda answer, *more: encode(omission(answer), *more))
        yield omission
