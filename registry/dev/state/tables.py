"""Tables that remember what changed in them, so that a request's changes are stored, or undone, as a whole.

Must not know what the rows mean, or where they are stored.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

Key = tuple[str | int, ...]
V = TypeVar("V")
ABSENT: Any = object()


@dataclass(frozen=True, slots=True)
class Row:
    """A row as it is stored.

    Attributes:
        table: the table's name.
        key: JSON array.
        value: JSON; None for a row that is gone.
    """

    table: str
    key: str
    value: str | None


class Table(Generic[V]):
    """A mapping from keys to values, whose changes are written down in a journal.

    Args:
        name: what it is called where it is stored.
        journal: shared by all tables of a registry.
        encode: makes a value JSON.
        decode: reads what `encode` made.
    """

    def __init__(self, name: str, journal: Journal, encode: Callable[[V], Any], decode: Callable[[Any], V]) -> None:
        self.name = name
        self._journal = journal
        self._encode = encode
        self._decode = decode
        self._rows: dict[Key, V] = {}
        journal.tables[name] = self

    def __getitem__(self, key: Key) -> V:
        return self._rows[key]

    def __setitem__(self, key: Key, value: V) -> None:
        self._journal.note(self, key, self._rows.get(key, ABSENT))
        self._rows[key] = value

    def __delitem__(self, key: Key) -> None:
        self._journal.note(self, key, self._rows[key])
        del self._rows[key]

    def __contains__(self, key: object) -> bool:
        return key in self._rows

    def __iter__(self) -> Iterator[Key]:
        return iter(list(self._rows))

    def __len__(self) -> int:
        return len(self._rows)

    def get(self, key: Key) -> V | None:
        """The value, None if there is none."""
        return self._rows.get(key)

    def items(self) -> list[tuple[Key, V]]:
        """All rows, in the order in which they came."""
        return list(self._rows.items())

    def pop(self, key: Key) -> V | None:
        """Removes a row; returns it."""
        old = self._rows.get(key)
        if key in self._rows:
            del self[key]
        return old

    def put_back(self, key: Key, old: V) -> None:
        """Undoes a change without an entry in the journal; `ABSENT` removes the row."""
        if old is ABSENT:
            self._rows.pop(key, None)
        else:
            self._rows[key] = old

    def load(self, key: str, value: str) -> None:
        """Loads a stored row, without an entry in the journal."""
        self._rows[tuple(json.loads(key))] = self._decode(json.loads(value))

    def row(self, key: Key) -> Row:
        """A row as it is now, as it is stored."""
        name = json.dumps(key, ensure_ascii=False)
        if key not in self._rows:
            return Row(self.name, name, None)
        return Row(self.name, name, json.dumps(self._encode(self._rows[key]), ensure_ascii=False))


class Journal:
    """The changes since the last `clear`, over all tables."""

    def __init__(self) -> None:
        self.tables: dict[str, Table[Any]] = {}
        self._old: dict[tuple[str, Key], Any] = {}

    def note(self, table: Table[Any], key: Key, old: Any) -> None:
        """Remembers what a row was before its first change."""
        self._old.setdefault((table.name, key), old)

    def __bool__(self) -> bool:
        return bool(self._old)

    def rows(self) -> list[Row]:
        """All changed rows, as they are now."""
        return [self.tables[name].row(key) for name, key in self._old]

    def undo(self) -> None:
        """Restores the old rows."""
        for (name, key), old in self._old.items():
            self.tables[name].put_back(key, old)
        self._old.clear()

    def clear(self) -> None:
        """Forgets the changes: they are stored."""
        self._old.clear()
