"""Objects of users' classes ↔ plain values of Avro: compiled once per class, by its annotations.

Must not know of schemas or bytes. What stands in a union is written with the name of its class and read by it, so that
two classes with the same fields stay two; an object of another class than the annotation's is refused, since it would
come back as another. `for_type` of `serdes.avro` uses both directions.
"""

from __future__ import annotations

import collections.abc
import datetime
import enum
import typing
from collections.abc import Callable, Mapping
from typing import Any, Final

from serdes.errors import SerializationError
from serdes.formats.avro.logical import Duration
from serdes.models.members import (
    fields_of,
    full_name,
    is_typed_dict,
    literals_of,
    maker_of,
    members,
    name_of,
    union_parts,
    unwrapped,
)

Convert = Callable[[Any], Any]
ARRAYS: Final = (list, tuple, set, frozenset, collections.abc.Sequence)
MAPS: Final = (dict, collections.abc.Mapping)


def symbols(kind: type[enum.Enum]) -> list[str]:
    """The names of an enum's members in schemas: their values, where those are text."""
    return [item.value if isinstance(item.value, str) else item.name for item in kind]


def length_of(arguments: tuple[Any, ...]) -> int | None:
    """The number of items of a tuple; None for any number."""
    return None if len(arguments) == 2 and arguments[1] is Ellipsis else len(arguments)


def avro_dumper(kind: Any, plain: bool = True) -> Convert:
    """A function that makes plain values of objects.

    Args:
        kind: the class.
        plain: False to give objects back as they are, after looking at the classes of all they hold.
    """
    return _Dumping(plain).of(kind, kind.__name__) or _same


def class_guard(kind: Any) -> Convert | None:
    """A function that refuses what holds objects of other classes than the annotations say; None if there are none."""
    return _Dumping(False).of(kind, getattr(kind, "__name__", ""))


def dumper_of(kind: Any, plain: bool = True) -> Convert | None:
    """As `avro_dumper`, for any annotation; None if values are what they should be. Paths begin at the value."""
    return _Dumping(plain).of(kind, "")


def _same(value: Any) -> Any:
    return value


class _Dumping:
    """Compiles one function; recursive classes refer to the function of their class."""

    def __init__(self, plain: bool) -> None:
        self._plain = plain
        self._known: dict[Any, Convert] = {}

    def of(self, given: Any, path: str) -> Convert | None:
        """None where values are what they should be."""
        if typing.get_origin(given) is typing.Annotated and _has_own_schema(given):
            return None
        kind = unwrapped(given)
        origin, arguments = typing.get_origin(kind), typing.get_args(kind)
        parts = union_parts(kind)
        if parts is not None:
            return self._union(parts, path)
        if origin in ARRAYS:
            return self._array(origin, arguments, path)
        if origin in MAPS:
            part = self.of(arguments[1], path)
            return None if part is None else lambda value: {key: part(item) for key, item in _mapping(value, path)}
        if origin is typing.Literal:
            return self._literal(arguments, path) if self._plain else None
        if isinstance(kind, type) and issubclass(kind, enum.Enum):
            return self._enum(kind, path) if self._plain else None
        if kind in (datetime.datetime, datetime.time, datetime.date):
            return (lambda value: _moment(kind, value, path)) if self._plain else None
        return self._class(kind, path)

    def _array(self, origin: Any, arguments: tuple[Any, ...], path: str) -> Convert | None:
        item = self.of(arguments[0], f"{path}[]")
        size = length_of(arguments) if origin is tuple else None
        unordered = origin in (set, frozenset)
        if item is None and size is None and not (unordered and self._plain):
            return None

        def convert(value: Any) -> Any:
            wanted = (set, frozenset) if unordered else (list, tuple)
            if not isinstance(value, wanted):
                raise SerializationError(f"a {origin.__name__} is needed, not a {type(value).__name__}", path=path)
            if size is not None and len(value) != size:
                raise SerializationError(f"{size} items are needed, not {len(value)}", path=path)
            return list(value) if item is None else [item(part) for part in value]

        return convert

    def _literal(self, wanted: tuple[Any, ...], path: str) -> Convert:
        def convert(value: Any) -> Any:
            if value not in wanted:
                raise SerializationError("the value is none of those that the annotation lists", path=path)
            return value

        return convert

    def _enum(self, kind: Any, path: str) -> Convert:
        table = dict(zip(kind, symbols(kind), strict=True))

        def convert(value: Any) -> Any:
            found = table.get(value) if type(value) is kind else None
            if found is None:
                raise SerializationError(f"a member of {full_name(kind)} is needed", path=path)
            return found

        return convert

    def _class(self, kind: Any, path: str) -> Convert | None:
        found = None if kind is Duration else members(kind)
        if found is None:
            return None
        if kind in self._known:
            return self._known[kind]
        take = fields_of(kind, found, path)
        parts: list[tuple[str, Convert]] = []
        plain = self._plain

        def convert(value: Any) -> Any:
            fields = take(value)
            if not parts:
                return fields if plain else value
            made = {**fields}
            for name, part in parts:
                if name in made and not (made[name] is None and name in optional):
                    made[name] = part(made[name])
            return made if plain else value

        self._known[kind] = convert
        optional = {member.name for member in found if member.optional}
        converts = [(member.name, self.of(member.kind, f"{path}.{member.name}")) for member in found]
        parts += [(name, part) for name, part in converts if part is not None]
        return convert

    def _union(self, arguments: tuple[Any, ...], path: str) -> Convert | None:
        options = [(unwrapped(part), self.of(part, path)) for part in arguments if part is not type(None)]
        classes = {part: convert for part, convert in options if members(part) is not None and part is not Duration}
        if all(convert is None for _, convert in options):
            return None
        nullable, plain = type(None) in arguments, self._plain

        def convert(value: Any) -> Any:
            if value is None and nullable:
                return None
            found = classes.get(type(value))
            if found is not None:
                made = found(value)
                return (name_of(type(value)), made) if plain and len(classes) > 1 else made
            fitting = [(part, one) for part, one in options if fits(part, value)]
            if len(fitting) > 1 and plain:  # in another schema a dict could not be named after its class
                fitting = [(part, one) for part, one in fitting if _has_literals(part, value)]
            if len(fitting) > 1:
                names = ", ".join(full_name(part) for part, _ in fitting)
                raise SerializationError(f"the value fits several alternatives of its annotation: {names}", path=path)
            if not fitting:
                if classes and (members(type(value)) is not None or isinstance(value, Mapping)):
                    names = ", ".join(full_name(part) for part in classes)
                    raise SerializationError(f"a {full_name(type(value))} is none of {names}", path=path)
                return value  # the encoder says what is wrong
            part, one = fitting[0]
            made = value if one is None else one(value)
            return (name_of(part), made) if plain and part in classes and len(classes) > 1 else made

        return convert


def _has_literals(kind: Any, value: Any) -> bool:
    """Whether the keys that a TypedDict has as Literals have values of these."""
    if not is_typed_dict(kind):
        return True
    wanted = {member.name: literals_of(member.kind) for member in members(kind) or ()}
    return all(wanted[name] is None or _is_among(item, wanted[name]) for name, item in value.items())


def _is_among(value: Any, wanted: Any) -> bool:
    try:
        return value in wanted
    except TypeError:  # it has no hash
        return False


def _has_own_schema(kind: Any) -> bool:
    """Whether an annotation says its Avro type itself."""
    return any(type(extra).__name__ == "AvroType" for extra in kind.__metadata__)


def _mapping(value: Any, path: str) -> Any:
    if not isinstance(value, Mapping):
        raise SerializationError(f"a dict is needed, not a {type(value).__name__}", path=path)
    return value.items()


def _moment(kind: Any, value: Any, path: str) -> Any:
    """Points in time have a zone, times of day and dates have none: else another value would come back."""
    if kind is datetime.datetime and isinstance(value, datetime.datetime) and value.utcoffset() is None:
        hint = "for one without, annotate it with AvroType({'type': 'long', 'logicalType': 'local-timestamp-micros'})"
        raise SerializationError(f"a datetime with a time zone is needed; {hint}", path=path)
    if kind is datetime.time and isinstance(value, datetime.time) and value.tzinfo is not None:
        raise SerializationError("a time of day without a time zone is needed", path=path)
    if kind is datetime.date and isinstance(value, datetime.datetime):
        raise SerializationError("a date is needed, not a datetime", path=path)
    return value


def fits(kind: Any, value: Any) -> bool:
    """Whether a value is one of a type, judging by its outermost form."""
    kind = unwrapped(kind)
    origin = typing.get_origin(kind)
    if origin is typing.Literal:
        return value in typing.get_args(kind)
    if origin in (set, frozenset):
        return isinstance(value, (set, frozenset))
    if origin in ARRAYS:
        return isinstance(value, (list, tuple)) and not hasattr(value, "_fields")
    if origin in MAPS:
        return isinstance(value, Mapping)
    found = None if kind is Duration else members(kind)
    if found is not None:
        keys = {member.name for member in found}
        return isinstance(value, Mapping) and value.keys() <= keys and keys - value.keys() <= {
            member.name for member in found if member.optional
        }  # fmt: skip
    if kind in (int, datetime.date):
        return type(value) is kind
    return isinstance(kind, type) and isinstance(value, kind)


def avro_builder(kind: Any) -> Convert:
    """A function that makes an object of a decoded value; records in unions come with their names."""
    return _Building().of(kind) or _same


def builder_of(kind: Any) -> Convert | None:
    """As `avro_builder`, for any annotation; None if values are what they should be."""
    return _Building().of(kind)


def names_needed(kind: Any) -> bool:
    """Whether records in unions must come with their names."""
    building = _Building()
    building.of(kind)
    return building.named


class _Building:
    """Compiles one builder; recursive classes refer to the function of their class."""

    def __init__(self) -> None:
        self._known: dict[Any, Convert] = {}
        self.named = False

    def of(self, given: Any) -> Convert | None:
        """None where values are what they should be."""
        if typing.get_origin(given) is typing.Annotated and _has_own_schema(given):
            return None
        kind = unwrapped(given)
        origin, arguments = typing.get_origin(kind), typing.get_args(kind)
        parts = union_parts(kind)
        if parts is not None:
            return self._union(parts)
        if origin in ARRAYS:
            return self._array(origin, arguments)
        if origin in MAPS:
            part = self.of(arguments[1])
            return None if part is None else lambda value: {key: part(item) for key, item in value.items()}
        if isinstance(kind, type) and issubclass(kind, enum.Enum):
            return dict(zip(symbols(kind), kind, strict=True)).__getitem__
        return self._class(kind)

    def _array(self, origin: Any, arguments: tuple[Any, ...]) -> Convert | None:
        item = self.of(arguments[0])
        make: Any = origin if origin in (tuple, set, frozenset) else list
        size = length_of(arguments) if origin is tuple else None
        if item is None and make is list:
            return None

        def build(value: Any) -> Any:
            if size is not None and len(value) != size:
                raise ValueError(f"{size} items are needed, not {len(value)}")
            return make(value) if item is None else make(map(item, value))

        return build

    def _class(self, kind: Any) -> Convert | None:
        found = None if kind is Duration else members(kind)
        if found is None:
            return None
        if kind in self._known:
            return self._known[kind]
        parts: list[tuple[str, Convert]] = []
        make = maker_of(kind, found)

        def build(value: Any) -> Any:
            if isinstance(value, tuple):  # with its name
                value = value[1]
            for name, part in parts:
                if value.get(name, _same) is not _same and not (value[name] is None and name in optional):
                    value[name] = part(value[name])
            return make(value)

        self._known[kind] = build
        optional = {member.name for member in found if member.optional}
        converts = [(member.name, self.of(member.kind)) for member in found]
        parts += [(name, part) for name, part in converts if part is not None]
        return build

    def _union(self, arguments: tuple[Any, ...]) -> Convert | None:
        options = [(unwrapped(part), self.of(part)) for part in arguments if part is not type(None)]
        if all(build is None and part is not Duration for part, build in options):
            return None
        classes = [(part, build) for part, build in options if members(part) is not None and part is not Duration]
        self.named = self.named or len(classes) > 1
        by_name = {name_of(part): build for part, build in classes}

        def convert(value: Any) -> Any:
            if value is None:
                return None
            if type(value) is tuple and len(value) == 2:  # with a name: a record, or another named type
                named = by_name.get(value[0]) or by_name.get(value[0].rpartition(".")[2])
                value = value[1]
                if named is not None:
                    return named(value)
            for part, build in options:
                if len(options) == 1 or _is_of(part, value):
                    return value if build is None else build(value)
            return value

        return convert


def _is_of(kind: Any, value: Any) -> bool:
    """Whether a decoded value is one of a type, judging by its outermost form."""
    origin = typing.get_origin(kind)
    if origin in ARRAYS:
        return isinstance(value, list)
    if isinstance(kind, type) and issubclass(kind, enum.Enum):
        return isinstance(value, str) and value in symbols(kind)
    return fits(kind, value)
