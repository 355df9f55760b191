"""The choice of a union's branch for a value: its exact type, else one that can hold it without loss.

Must not know of bytes. Each part of a value is looked at once per branch it may be of, however unions are nested.
Source: Avro specification 1.12, "Unions"; of several records the one with most of the value's fields, as in fastavro.
"""

from __future__ import annotations

import datetime
import enum
import struct
import uuid
from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import Any, Final

from registry.schemas.avro.model import (
    ArrayType,
    AvroType,
    EnumType,
    FixedType,
    MapType,
    NamedType,
    RecordType,
    TypeName,
    UnionType,
    type_name,
)
from serdes.formats.avro.logical import INSTANTS, LOCALS, TIMES, Duration, described, logical_of, preparing
from serdes.kernels.misfit import (
    Misfit,
    as_dict,
    items_of,
    octets_of,
    out_of_range,
    plain,
    real_of,
    refuse,
    single,
    symbol_of,
    text_of,
    whole_of,
)

Memo = dict[Any, Any]
EXACT: Final = 0
CONVERTED: Final = 1
ROUNDED: Final = 2
BYTES: Final = (bytes, bytearray, memoryview)
Types = tuple[type, ...]
PLAIN: Final[Mapping[TypeName, tuple[Types, Types]]] = {
    TypeName.NULL: ((type(None),), ()),
    TypeName.BOOLEAN: ((bool,), ()),
    TypeName.INT: ((int,), ()),
    TypeName.LONG: ((int,), ()),
    TypeName.FLOAT: ((float,), (int,)),
    TypeName.DOUBLE: ((float,), (int,)),
    TypeName.BYTES: (BYTES, ()),
    TypeName.STRING: ((str,), ()),
    TypeName.FIXED: (BYTES, ()),
    TypeName.ENUM: ((str, enum.Enum), ()),
}
"""Types of values that are exactly of a type, and those it can hold otherwise."""
LOGICAL: Final[Mapping[str, tuple[Types, Types]]] = {
    "decimal": ((Decimal,), BYTES),
    "uuid": ((uuid.UUID,), (str, *BYTES)),
    "duration": ((Duration, datetime.timedelta), (tuple, *BYTES)),
    "date": ((datetime.date,), (int, str)),
    **dict.fromkeys(TIMES, ((datetime.time,), (int,))),
    **dict.fromkeys([*INSTANTS, *LOCALS], ((datetime.datetime,), (int,))),
    **dict.fromkeys(["timestamp-nanos", "local-timestamp-nanos"], ((datetime.datetime, int), ())),
}
PROBES: Final = (
    type(None), bool, int, float, str, bytes, list, dict,
    datetime.datetime, datetime.date, datetime.time, Decimal, uuid.UUID,
)  # fmt: skip


def takes_null(avro: AvroType) -> bool:
    """Whether null is a value of a type."""
    if isinstance(avro, UnionType):
        return any(branch.kind is TypeName.NULL for branch in avro.branches)
    return avro.kind is TypeName.NULL


def quick_branches(union: UnionType) -> dict[type, int]:
    """Python type → the only branch its values can be of."""
    found: dict[type, int] = {}
    for probe in PROBES:
        places = [at for at, branch in enumerate(union.branches) if _may_hold(branch, probe)]
        if probe in (float, int) and len(places) > 1:
            wanted = TypeName.DOUBLE if probe is float else TypeName.LONG
            others = {union.branches[at].kind for at in places} - {wanted}
            if others <= {TypeName.FLOAT, TypeName.DOUBLE}:
                places = [at for at in places if union.branches[at].kind is wanted]
        if len(places) == 1:
            found[probe] = places[0]
    return found


def _may_hold(avro: AvroType, kind: type) -> bool:
    if isinstance(avro, ArrayType):
        return kind is list
    if isinstance(avro, (MapType, RecordType)):
        return kind is dict
    exact, converted = _types(avro)
    return issubclass(kind, (*exact, *converted)) and (kind is not bool or bool in exact)


def _types(avro: AvroType) -> tuple[Types, Types]:
    logical = logical_of(avro)
    return PLAIN[avro.kind] if logical is None else LOGICAL[logical]


class Chooser:
    """Chooses branches of one union."""

    def __init__(self, union: UnionType) -> None:
        self._union = union
        self._names = _names(union)

    def __call__(self, value: Any, memo: Memo) -> tuple[int, Any]:
        """The place of the branch, and the value without what names it.

        Args:
            value: the value, or `(name of a branch, value)`.
            memo: what was found about parts of the same value.

        Raises:
            Misfit: it fits no branch.
        """
        value = plain(value)
        if value.__class__ is tuple and len(value) == 2 and isinstance(value[0], str):
            named = self._names.get(value[0])
            if named is not None:
                return named, value[1]
        if isinstance(value, Mapping) and isinstance(hint := value.get("-type"), str) and hint in self._names:
            return self._names[hint], value
        if not isinstance(value, Mapping) and (own := self._of_class(value)) is not None:
            return own, value
        place = self._best(value, memo)
        return (self._likely(value) if place is None else place), value

    def _of_class(self, value: Any) -> int | None:
        """The record of an object's class name."""
        if isinstance(value, (str, int, float, bytes, list, type(None))) or as_dict(value) is None:
            return None
        name = type(value).__name__
        for at, branch in enumerate(self._union.branches):
            names = [branch.name, *branch.aliases] if isinstance(branch, RecordType) else []
            if name in [full.rpartition(".")[2] for full in names]:
                return at
        return None

    def _best(self, value: Any, memo: Memo) -> int | None:
        """The branch that fits best, the first of those that fit alike."""
        best, best_rank = None, None
        for at, branch in enumerate(self._union.branches):
            rank = _rank(branch, value, memo)
            if rank is not None and (best_rank is None or rank < best_rank):
                best, best_rank = at, rank
        return best

    def _likely(self, value: Any) -> int:
        """The only branch that could be meant, so that the error says what in it does not fit."""
        branches = self._union.branches
        likely = [at for at, branch in enumerate(branches) if _tier(branch, value) is not None]
        if len(likely) != 1 or (isinstance(value, str) and isinstance(branches[likely[0]], EnumType)):
            what = ", ".join(described(branch) for branch in branches)
            refuse(value, f"any branch of the union [{what}]")
        return likely[0]


def fits(avro: AvroType, value: Any) -> bool:
    """Whether a type can hold a value."""
    return _fits(avro, value, {}) is not None


def _names(union: UnionType) -> dict[str, int]:
    """The names of branches: the full name, and the short one if that is no other's."""
    full = {type_name(branch): at for at, branch in enumerate(union.branches)}
    short: dict[str, list[int]] = {}
    for at, branch in enumerate(union.branches):
        if isinstance(branch, NamedType):
            short.setdefault(branch.short_name, []).append(at)
    return {name: places[0] for name, places in short.items() if len(places) == 1} | full


def _rank(branch: AvroType, value: Any, memo: Memo) -> tuple[int, ...] | None:
    """The rank of a branch that fits, less is better; None if it does not."""
    tier = _fits(branch, value, memo)
    if tier is None:
        return None
    if isinstance(branch, RecordType):
        names = {field.name for field in branch.fields}
        given = set(_fields(value) or ())
        return (len(given - names), -len(given & names), tier, len(names - given))
    return (0, 0, tier, 0)


def _fields(value: Any) -> Mapping[Any, Any] | None:
    return value if isinstance(value, Mapping) else as_dict(value)


def _tier(avro: AvroType, value: Any) -> int | None:
    """The fit of a type and a value, judged by the outermost Python type."""
    if isinstance(avro, ArrayType):
        if isinstance(value, Duration):
            return CONVERTED
        try:
            items_of(value, "")
        except Misfit:
            return None
        return EXACT
    if isinstance(avro, MapType):
        return EXACT if isinstance(value, Mapping) else None
    if isinstance(avro, RecordType):
        return None if _fields(value) is None else EXACT
    if isinstance(avro, UnionType):
        return EXACT
    exact, converted = _types(avro)
    if isinstance(value, bool) and bool not in exact:
        return None
    if isinstance(value, datetime.datetime) and datetime.datetime not in exact:
        return None
    if isinstance(value, exact):
        return EXACT
    return CONVERTED if isinstance(value, converted) else None


def _fits(avro: AvroType, value: Any, memo: Memo) -> int | None:
    """The fit of a type and a value as a whole; None if they don't fit."""
    value = plain(value)
    tier = _tier(avro, value)
    if tier is None:
        return None
    if isinstance(avro, (ArrayType, MapType, RecordType, UnionType)):
        key = (id(value), id(avro))
        if key not in memo:
            memo[key] = (value, EXACT)  # a value that holds itself is found out by its depth
            memo[key] = (value, _parts_fit(avro, value, memo, tier))
        found: int | None = memo[key][1]
        return found
    try:
        return max(tier, _leaf(avro, value))
    except Misfit:
        return None


def _parts_fit(avro: AvroType, value: Any, memo: Memo, tier: int) -> int | None:
    if isinstance(avro, UnionType):
        return _union_fits(avro, value, memo)
    parts: list[tuple[AvroType, Any]] = []
    if isinstance(avro, ArrayType):
        parts = [(avro.items, item) for item in items_of(value, "")]
    elif isinstance(avro, MapType):
        if not all(isinstance(key, str) for key in value):
            return None
        parts = [(avro.values, item) for item in value.values()]
    elif isinstance(avro, RecordType):
        record = _fields(value) or {}
        hint = record.get("-type")
        if isinstance(hint, str) and hint not in (avro.name, avro.short_name):
            return None
        for field in avro.fields:
            if field.name in record:
                parts.append((field.type, record[field.name]))
            elif not field.has_default and not takes_null(field.type):
                return None
    for kind, part in parts:
        found = _fits(kind, part, memo)
        if found is None:
            return None
        tier = max(tier, found)
    return tier


def _union_fits(union: UnionType, value: Any, memo: Memo) -> int | None:
    if value.__class__ is tuple and len(value) == 2 and isinstance(value[0], str):
        named = _names(union).get(value[0])
        if named is not None:
            return _fits(union.branches[named], value[1], memo)
    found = [tier for branch in union.branches if (tier := _fits(branch, value, memo)) is not None]
    return min(found, default=None)


def _leaf(avro: AvroType, value: Any) -> int:
    """Looks at the value of a type without parts.

    Raises:
        Misfit: it does not fit.
    """
    return LEAVES[avro.kind](avro, _prepared(avro, value))


def _prepared(avro: AvroType, value: Any) -> Any:
    prepare = preparing(avro)
    return value if prepare is None else prepare(value)


def _whole(bits: int) -> Callable[[AvroType, Any], int]:
    def fits(avro: AvroType, value: Any) -> int:
        if not -(2 ** (bits - 1)) <= whole_of(value, "") < 2 ** (bits - 1):
            out_of_range(value, "")
        return EXACT

    return fits


def _float(avro: AvroType, value: Any) -> int:
    number = single(real_of(value, ""), "")
    rounded = struct.unpack("<f", struct.pack("<f", number))[0]
    same = rounded == number or number != number
    if not isinstance(value, float) and not same:
        out_of_range(value, "")
    return EXACT if same and not isinstance(value, float) else ROUNDED if not same else EXACT


def _double(avro: AvroType, value: Any) -> int:
    real_of(value, "")
    return EXACT


def _text(avro: AvroType, value: Any) -> int:
    text_of(value, "")
    return EXACT


def _octets(avro: AvroType, value: Any) -> int:
    octets_of(value, "")
    return EXACT


def _fixed(avro: AvroType, value: Any) -> int:
    if len(octets_of(value, "")) != (avro.size if isinstance(avro, FixedType) else 0):
        out_of_range(value, "")
    return EXACT


def _symbol(avro: AvroType, value: Any) -> int:
    if symbol_of(value, "") not in (avro.symbols if isinstance(avro, EnumType) else ()):
        out_of_range(value, "")
    return EXACT


def _anything(avro: AvroType, value: Any) -> int:
    return EXACT


LEAVES: Final[Mapping[TypeName, Callable[[AvroType, Any], int]]] = {
    TypeName.NULL: _anything,
    TypeName.BOOLEAN: _anything,
    TypeName.INT: _whole(32),
    TypeName.LONG: _whole(64),
    TypeName.FLOAT: _float,
    TypeName.DOUBLE: _double,
    TypeName.BYTES: _octets,
    TypeName.STRING: _text,
    TypeName.FIXED: _fixed,
    TypeName.ENUM: _symbol,
}
