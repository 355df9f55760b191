"""The declarations of a `.proto` file as written: names unresolved, in the order of the text, without comments.

Must not know of texts or descriptors, nor what fits together. Source: the elements of square/wire's parser, from which
Confluent's registry computes verdicts and canonical texts.
"""

from __future__ import annotations

import enum
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final

MAX_NUMBER: Final = 536_870_911
"""The largest number of a field; what `max` stands for in ranges."""

SCALARS: Final = frozenset(
    {
        "bool",
        "bytes",
        "double",
        "float",
        "fixed32",
        "fixed64",
        "int32",
        "int64",
        "sfixed32",
        "sfixed64",
        "sint32",
        "sint64",
        "string",
        "uint32",
        "uint64",
    }
)


class OptionKind(enum.Enum):
    """The form of an option's value."""

    STRING = 1
    BOOLEAN = 2
    NUMBER = 3
    ENUM = 4
    MAP = 5
    LIST = 6
    OPTION = 7
    """The value is an option itself: `(a).b = 1` is `(a)` with the value `b = 1`."""


@dataclass(frozen=True, slots=True)
class Primitive:
    """A number, boolean or enum constant inside a map or list of an option."""

    kind: OptionKind
    text: str


@dataclass(slots=True)
class Option:
    """An option. The value is a `str` (strings, but also the plain kinds), a dict, a list, or an `Option`."""

    name: str
    kind: OptionKind
    value: Any
    parenthesized: bool = False


@dataclass(frozen=True, slots=True)
class Range:
    """Numbers from `first` to `last`, both included."""

    first: int
    last: int


@dataclass(slots=True)
class Field:
    """A field of a message, oneof, group or extension. `label` is None if none is written."""

    label: str | None
    type: str
    name: str
    number: int
    options: Sequence[Option] = ()
    default: str | None = None
    json_name: str | None = None


@dataclass(slots=True)
class Group:
    """A group of proto2."""

    label: str | None
    name: str
    number: int
    fields: list[Field] = field(default_factory=list)


@dataclass(slots=True)
class OneOf:
    """A oneof."""

    name: str
    fields: list[Field] = field(default_factory=list)
    groups: list[Group] = field(default_factory=list)
    options: list[Option] = field(default_factory=list)


@dataclass(slots=True)
class Reserved:
    """One `reserved` statement: numbers, ranges, names."""

    values: list[int | str | Range]


@dataclass(slots=True)
class Extensions:
    """One `extensions` statement: numbers and ranges left to others."""

    values: list[int | Range]
    options: list[Option] = field(default_factory=list)


@dataclass(slots=True)
class Extend:
    """Fields added to the message called `name`."""

    name: str
    fields: list[Field] = field(default_factory=list)


@dataclass(slots=True)
class Constant:
    """A value of an enum."""

    name: str
    number: int
    options: Sequence[Option] = ()


@dataclass(slots=True)
class Enum:
    """An enum."""

    name: str
    constants: list[Constant] = field(default_factory=list)
    options: list[Option] = field(default_factory=list)
    reserved: list[Reserved] = field(default_factory=list)


@dataclass(slots=True)
class Message:
    """A message."""

    name: str
    fields: list[Field] = field(default_factory=list)
    one_ofs: list[OneOf] = field(default_factory=list)
    nested: list[Message | Enum] = field(default_factory=list)
    options: list[Option] = field(default_factory=list)
    reserved: list[Reserved] = field(default_factory=list)
    extensions: list[Extensions] = field(default_factory=list)
    groups: list[Group] = field(default_factory=list)
    extends: list[Extend] = field(default_factory=list)


Type = Message | Enum


@dataclass(slots=True)
class Rpc:
    """A method of a service."""

    name: str
    request: str
    response: str
    request_streams: bool = False
    response_streams: bool = False
    options: list[Option] = field(default_factory=list)


@dataclass(slots=True)
class Service:
    """A service."""

    name: str
    rpcs: list[Rpc] = field(default_factory=list)
    options: list[Option] = field(default_factory=list)


@dataclass(slots=True)
class File:
    """A file. `syntax` is `proto2`, `proto3`, the year of an edition, or None if nothing is written."""

    syntax: str | None = None
    package: str | None = None
    imports: list[str] = field(default_factory=list)
    public_imports: list[str] = field(default_factory=list)
    weak_imports: list[str] = field(default_factory=list)
    types: list[Message | Enum] = field(default_factory=list)
    services: list[Service] = field(default_factory=list)
    extends: list[Extend] = field(default_factory=list)
    options: list[Option] = field(default_factory=list)


def map_types(type_name: str) -> tuple[str, str] | None:
    """The key's and the value's type of `map<…, …>`; None of other types."""
    if not (type_name.startswith("map<") and type_name.endswith(">")):
        return None
    key, _, value = type_name[4:-1].partition(",")
    return key.strip(), value.strip()


def option_value(options: Sequence[Option], name: str) -> Any:
    """The value of the last option of this name; None if there is none."""
    found = None
    for option in options:
        if option.name.removeprefix(".") == name:
            found = option.value
    return found
