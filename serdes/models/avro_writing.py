"""Writers of users' objects: nodes that take what is exactly of the annotated classes, straight from its attributes.

Whatever is not (another class, a dict, a value that an annotation forbids) goes the long way: `serdes.models.objects`
makes plain values of it or says what is wrong, and the nodes of plain values write those: to the same bytes.
Must not know of frames or registries.
"""

from __future__ import annotations

import datetime
import enum
import typing
import uuid
from collections.abc import Callable
from decimal import Decimal
from typing import Any, Final

from registry.schemas.avro.model import ArrayType, AvroType, EnumType, MapType, NamedType, RecordType, UnionType
from serdes.errors import SerializationError
from serdes.formats.avro.logical import INSTANTS, TIMES, Duration, logical_of, preparing
from serdes.formats.avro.union import quick_branches, takes_null
from serdes.formats.avro.writing import Writers, encoded_default, leaf_writer, logical_writer
from serdes.kernels.avro import (
    WriteArray,
    WriteByClass,
    WriteMap,
    WriteMember,
    WriteObject,
    WritePrepared,
    Writer,
)
from serdes.kernels.misfit import Misfit
from serdes.models.members import Member, is_typed_dict, members, name_of, union_parts, unwrapped
from serdes.models.objects import ARRAYS, MAPS, dumper_of, symbols
from serdes.models.shapes import shape_of

LEAVES: Final = (bool, int, float, str, bytes, Decimal, uuid.UUID)
MOMENTS: Final = {
    datetime.datetime: tuple(INSTANTS)[:2],
    datetime.time: tuple(TIMES),
    datetime.date: ("date",),
}
"""Python types of time → logical types that hold all of their values, but for the resolution."""


def object_writer(avro: AvroType, kind: Any, plain: bool, strict: bool = False, allow_default: bool = False) -> Writer:
    """The node that writes objects of a class.

    Args:
        avro: the schema's type.
        kind: the class.
        plain: whether the schema is the class's own, with its names.
        strict: as for `serdes.formats.avro.writing.writer_of`.
        allow_default: as for `serdes.formats.avro.writing.writer_of`.
    """
    made = _ObjectWriters(plain, strict, allow_default)
    node = made.of(avro, kind)
    made.finish()
    return node


class _ObjectWriters:
    """Makes a node per type and annotation; records that hold themselves hold the node of their record."""

    def __init__(self, plain: bool, strict: bool, allow_default: bool) -> None:
        self._plain, self._strict, self._allow_default = plain, strict, allow_default
        self._values = Writers(strict, allow_default)
        self._objects: dict[tuple[int, Any], WriteObject] = {}
        self._records: list[tuple[RecordType, list[Member], WriteObject]] = []

    def of(self, avro: AvroType, given: Any) -> Writer:
        dump = dumper_of(given, self._plain)
        if dump is None:
            return self._values.of(avro)
        kind = unwrapped(given)
        if kind in MOMENTS:
            return self._moment(avro, kind, dump)
        beside = WritePrepared(_as_misfit(dump), self._values.of(avro))
        if isinstance(avro, UnionType):
            return self._union(avro, union_parts(kind) or (given,), beside)
        if isinstance(avro, RecordType):
            return self._record(avro, kind, beside)
        if isinstance(avro, EnumType):
            return self._enum(avro, kind, beside)
        return self._several(avro, kind, beside)

    def _moment(self, avro: AvroType, kind: Any, dump: Callable[[Any], Any]) -> Writer:
        prepare, checked = preparing(avro), _as_misfit(dump)
        if prepare is None or logical_of(avro) not in MOMENTS[kind]:
            return WritePrepared(checked, self._values.of(avro))
        return logical_writer(avro, lambda value: prepare(checked(value)), leaf_writer(avro))

    def _several(self, avro: AvroType, kind: Any, beside: Writer) -> Writer:
        """Arrays of lists and tuples of any length, maps of dicts."""
        origin, arguments = typing.get_origin(kind), typing.get_args(kind)
        node: Any
        if isinstance(avro, ArrayType) and origin in ARRAYS:
            if origin in (set, frozenset) or (origin is tuple and arguments[1:] != (Ellipsis,)):
                return beside
            made = WriteByClass(beside)
            node = WriteArray(f"array of {kind}")
            node.fill(self.of(avro.items, arguments[0]))
            made.fill({list: (None, node), tuple: (None, node)})
            return made
        if isinstance(avro, MapType) and origin in MAPS:
            made = WriteByClass(beside)
            node = WriteMap(f"map of {kind}")
            node.fill(self.of(avro.values, arguments[1]))
            made.fill({dict: (None, node)})
            return made
        return beside

    def _enum(self, avro: EnumType, kind: Any, beside: Writer) -> Writer:
        if not (isinstance(kind, type) and issubclass(kind, enum.Enum)):
            return beside
        places = {symbol: at for at, symbol in enumerate(avro.symbols)}
        known = {item: places[name] for item, name in zip(kind, symbols(kind), strict=True) if name in places}
        return WriteMember(known, beside)

    def _record(self, avro: RecordType, kind: Any, beside: Writer) -> Writer:
        found = None if kind is Duration else members(kind)
        if found is None:
            return beside
        key = (id(avro), kind)
        if key not in self._objects:
            shape = shape_of(kind, found)
            if not shape.exact:
                return beside
            made = WriteObject(f"record {avro.name}", self._strict, self._allow_default, shape)
            made.beside(beside)
            self._objects[key] = made
            self._records.append((avro, found, made))
        return self._objects[key]

    def finish(self) -> None:
        """Fills the records, with the defaults of their fields; these may bring more records."""
        while self._records:
            avro, found, made = self._records.pop()
            kinds = {member.name: member.kind for member in found}
            fields = []
            for field in avro.fields:
                known = field.name in kinds
                node = self.of(field.type, kinds[field.name]) if known else self._values.of(field.type)
                fields.append((field.name, node, encoded_default(field), takes_null(field.type)))
            made.fill(fields)
        self._values.finish()

    def _union(self, avro: UnionType, parts: tuple[Any, ...], beside: Writer) -> Writer:
        table: dict[type, tuple[int | None, Writer]] = {}
        kinds = [unwrapped(part) for part in parts]
        quick = quick_branches(avro)
        for part, kind in zip(parts, kinds, strict=True):
            place, held = self._branch(avro, kind, kinds, quick)
            if place is None:
                continue
            node = self._values.of(avro.branches[place]) if kind is type(None) else self.of(avro.branches[place], part)
            table.update(dict.fromkeys(held, (place, node)))
        made = WriteByClass(beside)
        made.fill(table)
        return made

    def _branch(
        self, avro: UnionType, kind: Any, kinds: list[Any], quick: dict[type, int]
    ) -> tuple[int | None, tuple[type, ...]]:
        """The branch of one alternative, and the classes of values that are of this alternative and no other."""
        if kind is type(None) or (kind in MOMENTS and kinds.count(kind) == 1):
            return quick.get(kind), (kind,)
        if kind in LEAVES:
            alone = kind is not str or not any(typing.get_origin(other) is typing.Literal for other in kinds)
            return (quick.get(kind) if alone else None), (kind,)
        origin = typing.get_origin(kind)
        if origin is not None:
            forms: tuple[type, ...] = (list, tuple) if origin in (list, tuple) else (dict,) if origin in MAPS else ()
            alike = sum(_looks_like(other, forms) for other in kinds)
            return (quick.get(forms[0]) if forms and alike == 1 else None), forms
        if is_typed_dict(kind) or not isinstance(kind, type) or kind is Duration:
            return None, ()
        return _named(avro, kind), (kind,)


def _looks_like(kind: Any, forms: tuple[type, ...]) -> bool:
    """Whether values of an alternative may be of one of these classes."""
    origin = typing.get_origin(kind)
    if dict in forms:
        return origin in MAPS or is_typed_dict(kind)
    return origin in ARRAYS


def _named(avro: UnionType, kind: type) -> int | None:
    """The only branch of a class's name."""
    name = name_of(kind)
    found = [
        at
        for at, branch in enumerate(avro.branches)
        if isinstance(branch, NamedType) and name in (branch.name, branch.short_name)
    ]
    return found[0] if len(found) == 1 else None


def _as_misfit(dump: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """A function whose errors get their path from the nodes around."""

    def prepare(value: Any) -> Any:
        try:
            return dump(value)
        except SerializationError as error:
            made = Misfit(error.reason)
            made.parts += [error.path.lstrip(".")] if error.path else []
            raise made from error

    return prepare
