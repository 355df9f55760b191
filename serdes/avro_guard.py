"""What must be checked before fastavro sees hostile data: depth, and items that cost no bytes.

fastavro's compiled reader recurses on the C stack (20,000 levels end the process) and believes the count of a block
whose items are empty. Only recursive schemas and arrays or maps of such items need the check, so others pay nothing.
Must not know of frames or registries. Source: Avro specification 1.12, "Binary Encoding".
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from registry.compat.avro_model import (
    ArrayType,
    AvroType,
    EnumType,
    FixedType,
    Kind,
    MapType,
    Primitive,
    RecordType,
    UnionType,
)
from serdes.errors import SerializationError

__all__ = ["MAX_DEPTH", "MAX_EMPTY_ITEMS", "Guard", "guard_for"]

MAX_DEPTH: Final = 1000
"""Levels of a value; more are refused."""
MAX_EMPTY_ITEMS: Final = 1_000_000
"""Items of all arrays of one value that take no bytes; more are refused."""


def guard_for(model: AvroType) -> Guard | None:
    """The checks for data of this schema, None if it needs none."""
    survey = _Survey()
    survey.visit(model)
    if survey.recursive or survey.free_items:
        return Guard(model, survey.recursive, survey.free_items)
    return None


@dataclass(frozen=True, slots=True)
class Guard:
    """Checks values and payloads of one schema."""

    model: AvroType
    recursive: bool
    free_items: bool

    def check_bytes(self, data: bytes, start: int) -> None:
        """Walks over an encoded value without building it. Cost: O(bytes), slow, in Python.

        Raises:
            SerializationError: too deep, too many empty items, or truncated.
        """
        if self.recursive and len(data) - start <= MAX_DEPTH and not self.free_items:
            return  # every level takes at least one byte
        _Scan(data, start).run(self.model)

    def check_value(self, value: Any) -> None:
        """Walks over a value that is to be encoded: a cycle would never end.

        Raises:
            SerializationError: it is too deep.
        """
        if not self.recursive:
            return
        stack = [(value, 1)]
        while stack:
            item, depth = stack.pop()
            if depth > MAX_DEPTH * 2:
                raise SerializationError(f"the value is nested deeper than {MAX_DEPTH} records")
            if isinstance(item, dict):
                stack.extend((part, depth + 1) for part in item.values() if isinstance(part, (dict, list, tuple)))
            elif isinstance(item, (list, tuple)):
                stack.extend((part, depth + 1) for part in item if isinstance(part, (dict, list, tuple)))


class _Survey:
    """What a schema is made of."""

    def __init__(self) -> None:
        self.recursive = False
        self.free_items = False
        self._done: set[int] = set()
        self._open: set[int] = set()

    def visit(self, avro: AvroType) -> None:
        if id(avro) in self._open:
            self.recursive = True
            return
        if id(avro) in self._done:
            return
        self._open.add(id(avro))
        if isinstance(avro, ArrayType) and _is_free(avro.items, frozenset()):
            self.free_items = True
        for part in _parts(avro):
            self.visit(part)
        self._open.discard(id(avro))
        self._done.add(id(avro))


def _parts(avro: AvroType) -> Iterator[AvroType]:
    if isinstance(avro, RecordType):
        yield from (field.type for field in avro.fields)
    elif isinstance(avro, UnionType):
        yield from avro.branches
    elif isinstance(avro, ArrayType):
        yield avro.items
    elif isinstance(avro, MapType):
        yield avro.values


def _is_free(avro: AvroType, inside: frozenset[int]) -> bool:
    """Whether a value of this type takes no bytes. A record that needs itself has no finite value."""
    if isinstance(avro, RecordType):
        if id(avro) in inside:
            return True
        return all(_is_free(field.type, inside | {id(avro)}) for field in avro.fields)
    return avro.kind is Kind.NULL or (isinstance(avro, FixedType) and avro.size == 0)


class _Scan:
    """Walks over bytes with a stack of its own: each entry is a list of types still to be skipped, last first."""

    def __init__(self, data: bytes, start: int) -> None:
        self._data = data
        self._at = start
        self._empty_items = 0

    def run(self, model: AvroType) -> None:
        stack: list[Iterator[AvroType]] = [iter((model,))]
        while stack:
            avro = next(stack[-1], None)
            if avro is None:
                stack.pop()
                continue
            inner = self._enter(avro)
            if inner is not None:
                if len(stack) > MAX_DEPTH:
                    raise SerializationError(f"the payload is nested deeper than {MAX_DEPTH} levels")
                stack.append(inner)

    def _enter(self, avro: AvroType) -> Iterator[AvroType] | None:
        """Skips a leaf; gives the parts of what has parts."""
        if isinstance(avro, Primitive):
            self._skip_primitive(avro.kind)
            return None
        if isinstance(avro, FixedType):
            self._skip(avro.size)
            return None
        if isinstance(avro, EnumType):
            self._long()
            return None
        if isinstance(avro, RecordType):
            return iter([field.type for field in avro.fields])
        if isinstance(avro, UnionType):
            branch = self._long()
            if not 0 <= branch < len(avro.branches):
                raise SerializationError(f"branch {branch} of a union of {len(avro.branches)}")
            return iter((avro.branches[branch],))
        return self._items(avro)

    def _items(self, avro: ArrayType | MapType) -> Iterator[AvroType]:
        """The types of all items of all blocks; keys of maps are skipped in between."""
        item = avro.items if isinstance(avro, ArrayType) else avro.values
        free = isinstance(avro, ArrayType) and _is_free(item, frozenset())
        while True:
            count = self._long()
            if count == 0:
                return
            if count < 0:
                count = -count
                self._long()  # size of the block in bytes
            if free:
                self._count_empty(count)
                continue
            for _ in range(count):
                if isinstance(avro, MapType):
                    self._skip(self._long())
                yield item

    def _count_empty(self, count: int) -> None:
        self._empty_items += count
        if self._empty_items > MAX_EMPTY_ITEMS:
            raise SerializationError(f"more than {MAX_EMPTY_ITEMS} array items that take no bytes")

    def _skip_primitive(self, kind: Kind) -> None:
        if kind in (Kind.INT, Kind.LONG):
            self._long()
        elif kind in (Kind.STRING, Kind.BYTES):
            self._skip(self._long())
        elif kind is Kind.BOOLEAN:
            self._skip(1)
        elif kind is Kind.FLOAT:
            self._skip(4)
        elif kind is Kind.DOUBLE:
            self._skip(8)

    def _skip(self, count: int) -> None:
        if count < 0 or count > len(self._data) - self._at:
            raise SerializationError(f"a length of {count} bytes, {len(self._data) - self._at} are left")
        self._at += count

    def _long(self) -> int:
        result, shift = 0, 0
        while shift < 70:
            if self._at >= len(self._data):
                raise SerializationError("the payload ends inside a number")
            byte = self._data[self._at]
            self._at += 1
            result |= (byte & 0x7F) << shift
            if byte < 0x80:
                return (result >> 1) ^ -(result & 1)
            shift += 7
        raise SerializationError("a number of more than 10 bytes")
