"""Defaults that are not of their field's type, and illegal namespaces: a registry refuses new Avro schemas with them.

Must not know of compatibility: registered schemas may have both, and are judged all the same. Source: Java's
`Schema.isValidDefault` (1.12: a default of a union may be of any of its branches); Confluent's "Avro 1.12 Name and
Default Value Validation", which Confluent Platform has on from 8.0.3.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any, Final

from registry.errors import InvalidSchemaError
from registry.limits import MAX_DEFAULT_DEPTH
from registry.schemas.avro.parts import is_name, short
from registry.schemas.avro.types import (
    ArrayType,
    AvroType,
    Field,
    MapType,
    NamedType,
    RecordType,
    TypeName,
    UnionType,
    type_name,
)
from registry.schemas.documents import dumps

NUMBER: Final = re.compile(
    r"(?P<sign>[+-]?)(?:(?P<word>NaN|Infinity)"
    r"|(?P<decimal>(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)[fFdD]?"
    r"|(?P<hex>0[xX](?:[0-9a-fA-F]+(?:\.[0-9a-fA-F]*)?|\.[0-9a-fA-F]+)[pP][+-]?[0-9]+)[fFdD]?)"
)
BLANKS: Final = "".join(map(chr, range(33)))


def _whole(bits: int) -> Callable[[Any], bool]:
    values = range(-(2 ** (bits - 1)), 2 ** (bits - 1))
    return lambda value: isinstance(value, int) and not isinstance(value, bool) and value in values


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


FITS: Final[dict[TypeName, Callable[[Any], bool]]] = {
    TypeName.NULL: lambda value: value is None,
    TypeName.BOOLEAN: lambda value: isinstance(value, bool),
    TypeName.INT: _whole(32),
    TypeName.LONG: _whole(64),
    TypeName.FLOAT: _is_number,
    TypeName.DOUBLE: _is_number,
    TypeName.BYTES: _is_text,
    TypeName.STRING: _is_text,
    TypeName.ENUM: _is_text,
    TypeName.FIXED: _is_text,
}


def refuse_invalid_defaults(avro: AvroType) -> None:
    """Looks at the defaults of all fields.

    Raises:
        InvalidSchemaError: one is not of its field's type; the text names record and field.
    """
    for made in _types(avro):
        if isinstance(made, RecordType):
            for item in made.fields:
                _check_default(item, made.name)


def refuse_illegal_namespaces(avro: AvroType) -> None:
    """Looks at the namespaces of all named types.

    Raises:
        InvalidSchemaError: a part of one is not a name.
    """
    for made in _types(avro):
        if isinstance(made, NamedType) and not all(map(is_name, made.name.split("."))):
            raise InvalidSchemaError.local(f"illegal namespace of {short(made.name)}: every part has to be a name")


def _check_default(item: Field, record: str) -> None:
    if item.has_default and not _fits(item.default, item.type, 0):
        shown = dumps(item.default)
        shown = shown if len(shown) <= 80 else shown[:77] + "..."
        text = f"default of field {item.name!r} of {record} is not a {type_name(item.type)}: {shown}"
        raise InvalidSchemaError.local(text)


def _types(avro: AvroType) -> Iterator[AvroType]:
    """A type and all in it, each once."""
    seen: set[int] = set()
    todo: list[AvroType] = [avro]
    while todo:
        made = todo.pop()
        if id(made) in seen:
            continue
        seen.add(id(made))
        yield made
        if isinstance(made, RecordType):
            todo += reversed([item.type for item in made.fields])
        elif isinstance(made, UnionType):
            todo += reversed(made.branches)
        elif isinstance(made, ArrayType):
            todo.append(made.items)
        elif isinstance(made, MapType):
            todo.append(made.values)


def _fits(value: Any, avro: AvroType, depth: int) -> bool:
    if depth > MAX_DEFAULT_DEPTH:
        raise InvalidSchemaError.local(
            f"a default is nested deeper than {MAX_DEFAULT_DEPTH} levels, or is part of itself"
        )
    if isinstance(avro, UnionType):
        return any(_fits(value, branch, depth + 1) for branch in avro.branches)
    if isinstance(avro, ArrayType):
        return isinstance(value, list) and all(_fits(item, avro.items, depth + 1) for item in value)
    if isinstance(avro, MapType):
        return isinstance(value, dict) and all(_fits(item, avro.values, depth + 1) for item in value.values())
    if isinstance(avro, RecordType):
        return isinstance(value, dict) and all(_member_fits(value, item, depth) for item in avro.fields)
    return FITS[avro.kind](value)


def _member_fits(value: dict[str, Any], item: Field, depth: int) -> bool:
    """Whether a record's default gives a field a value, or the field has a default of its own."""
    if item.name in value:
        return _fits(value[item.name], item.type, depth + 1)
    return item.has_default and _fits(item.default, item.type, depth + 1)


def number_in(text: str) -> float | None:
    """The number in a text, as Java's `Double.valueOf` reads it; None if there is none."""
    found = NUMBER.fullmatch(text.strip(BLANKS))
    if found is None:
        return None
    if found["hex"] is None:
        return float(found["sign"] + (found["word"] or found["decimal"]))
    try:
        return float.fromhex(found["sign"] + found["hex"])
    except OverflowError:
        return float(found["sign"] + "inf")
