"""Numbers that fastavro writes though they do not fit: beyond Avro's `int`, or of more digits than a decimal has.

Must not know of bytes. The check is compiled once per schema and looks only where such a type stands (in unions only at
values that name their branch: the others' ints fastavro checks itself); schemas without one pay nothing. Source: Avro
specification 1.12, "int: 32-bit signed integer", "Decimal": the precision is the maximum number of digits, those after
the point included.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import Any, Final, TypeAlias

from registry.compat.avro_model import (
    ArrayType,
    AvroType,
    Kind,
    MapType,
    NamedType,
    RecordType,
    UnionType,
    type_name,
)

__all__ = ["Check", "first_out_of_range", "is_decimal", "range_check"]

LOW: Final = -(2**31)
HIGH: Final = 2**31 - 1
Check: TypeAlias = Callable[[Any], bool]
"""Whether all numbers fit. A value of another shape than the schema's passes: the encoder will say so."""


def range_check(avro: AvroType) -> Check | None:
    """The check for values of a schema, None if there is nothing to check."""
    return _check(avro, {})


def _check(avro: AvroType, known: dict[int, _RecordCheck]) -> Check | None:
    if isinstance(avro, RecordType):
        return _record(avro, known)
    if isinstance(avro, ArrayType):
        items = _check(avro.items, known)
        return None if items is None else lambda value: not isinstance(value, (list, tuple)) or all(map(items, value))
    if isinstance(avro, MapType):
        values = _check(avro.values, known)
        return None if values is None else lambda value: not isinstance(value, dict) or all(map(values, value.values()))
    if isinstance(avro, UnionType):
        return _union(avro, known)
    if is_decimal(avro):
        return _decimal_check(avro.props)
    return _fits if avro.kind is Kind.INT and "logicalType" not in avro.props else None


def _union(avro: UnionType, known: dict[int, _RecordCheck]) -> Check | None:
    """The check of the only branch there is beside null; else of the one that a value names, `(name, value)`."""
    parts = [branch for branch in avro.branches if branch.kind is not Kind.NULL]
    if len(parts) == 1 and (isinstance(parts[0], RecordType) or is_decimal(parts[0])):
        return _check(parts[0], known)
    checks = {type_name(part): _check(part, known) for part in parts}
    named = {name: check for name, check in checks.items() if check is not None}
    return _NamedCheck(named) if named else None


class _NamedCheck:
    """Checks values that name their branch; others pass."""

    __slots__ = ("_branches",)

    def __init__(self, branches: Mapping[str, Check]) -> None:
        self._branches = branches

    def __call__(self, value: Any) -> bool:
        if value.__class__ is not tuple or len(value) != 2 or not isinstance(value[0], str):
            return True
        meant = self._branches.get(value[0])
        return meant is None or meant(value[1])


def is_decimal(avro: AvroType) -> bool:
    """Whether values of a type are decimals: bytes or fixed of that logical type."""
    return avro.kind in (Kind.BYTES, Kind.FIXED) and avro.props.get("logicalType") == "decimal"


def _decimal_check(props: Mapping[str, Any]) -> Check:
    """Whether the digits before the point fit; those after it fastavro checks."""
    digits = props["precision"] - props.get("scale", 0)
    return lambda value: value.__class__ is not Decimal or value.adjusted() < digits or not value


def _fits(value: Any) -> bool:
    return value.__class__ is not int or LOW <= value <= HIGH


class _RecordCheck:
    """Checks the fields of a record that need it. Recursive types refer to the one object of their record."""

    __slots__ = ("ints", "named", "parts")

    def __init__(self) -> None:
        self.ints: tuple[str, ...] = ()
        self.named: list[tuple[str, _NamedCheck]] = []
        self.parts: list[tuple[str, Check]] = []

    def __call__(self, record: Any) -> bool:
        if record.__class__ is not dict:
            if record.__class__ is tuple and len(record) == 2:  # with its name
                record = record[1]
            if not isinstance(record, Mapping):
                return True
        for name in self.ints:
            value = record.get(name)
            if value.__class__ is int and not LOW <= value <= HIGH:
                return False
        if self.named and tuple in map(type, record.values()):
            for name, named in self.named:
                if not named(record.get(name)):
                    return False
        for name, check in self.parts:  # noqa: SIM110  # a generator costs more than the check
            if not check(record.get(name)):
                return False
        return True


def _record(avro: RecordType, known: dict[int, _RecordCheck]) -> Check | None:
    if id(avro) in known:
        return known[id(avro)]
    made = known[id(avro)] = _RecordCheck()
    ints = []
    for field in avro.fields:
        check = _check(field.type, known)
        if check is _fits:
            ints.append(field.name)
        elif isinstance(check, _NamedCheck):
            made.named.append((field.name, check))
        elif check is not None:
            made.parts.append((field.name, check))
    made.ints = tuple(ints)
    return made if made.ints or made.named or any(check is not made for _, check in made.parts) else None


def first_out_of_range(avro: AvroType, value: Any) -> tuple[str, str] | None:
    """The path of the first number that does not fit, and why; None if all do. Cost: a walk over the value."""
    return _find(avro, value, avro.short_name if isinstance(avro, NamedType) else "")


def _find(avro: AvroType, value: Any, path: str) -> tuple[str, str] | None:
    if isinstance(avro, RecordType) and isinstance(value, Mapping):
        parts = [(f.type, value.get(f.name), f"{path}.{f.name}" if path else f.name) for f in avro.fields]
    elif isinstance(avro, ArrayType) and isinstance(value, (list, tuple)):
        parts = [(avro.items, item, f"{path}[{at}]") for at, item in enumerate(value)]
    elif isinstance(avro, MapType) and isinstance(value, Mapping):
        parts = [(avro.values, item, f"{path}[{key!r}]") for key, item in value.items()]
    elif isinstance(avro, UnionType) and isinstance(value, tuple) and len(value) == 2:
        parts = [(branch, value[1], path) for branch in avro.branches if type_name(branch) == value[0]]
    elif isinstance(avro, UnionType):
        wanted = [branch for branch in avro.branches if isinstance(branch, RecordType) or is_decimal(branch)]
        parts = [(branch, value, path) for branch in wanted]
    elif is_decimal(avro):
        form = f"decimal({avro.props['precision']}, {avro.props.get('scale', 0)})"
        return None if _decimal_check(avro.props)(value) else (path, f"the number does not fit in {form}")
    else:
        fits = avro.kind is not Kind.INT or _fits(value)
        return None if fits else (path, "the number does not fit in an int of 32 bits")
    return next((found for part in parts if (found := _find(*part)) is not None), None)
