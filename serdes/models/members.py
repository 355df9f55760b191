"""The fields of users' classes: dataclasses, attrs, pydantic, msgspec, named tuples and TypedDicts, all alike.

Must not know of schemas. No default factory of a user is called: its value belongs to one object, not to the class.
"""

from __future__ import annotations

import dataclasses
import types
import typing
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final, NamedTuple

from serdes.errors import SerializationError

MISSING: Final = object()
EMPTY: Final = (list, dict, tuple, set, frozenset, str, int, float, bool, bytes)
"""Factories whose value is known without calling them for a schema: the empty one."""


class Member(NamedTuple):
    """A field of a class: name, annotation, default (`MISSING` for none), and what its constructor calls it."""

    name: str
    kind: Any
    default: Any
    argument: str
    optional: bool = False
    """Whether it may be missing from a TypedDict."""


def is_typed_dict(kind: Any) -> bool:
    """Whether values of a type are dicts with known keys."""
    return typing.is_typeddict(kind)


def literals_of(kind: Any) -> frozenset[Any] | None:
    """The values of a Literal; None for other annotations."""
    kind = unwrapped(kind)
    return frozenset(typing.get_args(kind)) if typing.get_origin(kind) is typing.Literal else None


def told_apart(one: Any, other: Any) -> bool:
    """Whether no dict is a value of both of two TypedDicts, judging by its keys and its literals."""
    mine, theirs = ({member.name: member for member in members(kind) or ()} for kind in (one, other))
    needed = [{name for name, member in known.items() if not member.optional} for known in (mine, theirs)]
    if needed[0] - theirs.keys() or needed[1] - mine.keys():
        return True
    literals = [[literals_of(known[name].kind) for known in (mine, theirs)] for name in sorted(needed[0] & needed[1])]
    return any(values is not None and others is not None and not values & others for values, others in literals)


def _is_named_tuple(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, tuple) and hasattr(kind, "_fields")


def name_of(kind: Any) -> str:
    """The name of a class in schemas: its `__avro_name__`, if it has one of its own, else its name."""
    return str(vars(kind).get("__avro_name__", kind.__name__))


def full_name(kind: Any) -> str:
    """A class's name with its module, for errors."""
    return f"{kind.__module__}.{kind.__qualname__}" if isinstance(kind, type) else str(kind)


def members(kind: Any) -> list[Member] | None:
    """The fields of a class that has some; None for other types.

    Raises:
        TypeError: annotations can't be resolved, or objects can't be made of the fields.
    """
    if not isinstance(kind, type):
        return None
    if hasattr(kind, "model_fields"):
        return [
            Member(name, _annotated(found), _model_default(found), name) for name, found in kind.model_fields.items()
        ]
    if dataclasses.is_dataclass(kind):
        _refuse_init_only(kind)
        hints = _hints(kind)
        return [
            Member(one.name, hints[one.name], _default(one), one.name) for one in dataclasses.fields(kind) if one.init
        ]
    if hasattr(kind, "__attrs_attrs__"):
        hints = _hints(kind)
        found = [one for one in kind.__attrs_attrs__ if one.init]
        return [
            Member(one.name, hints[one.name], _attrs_default(one), one.alias or one.name.lstrip("_")) for one in found
        ]
    if hasattr(kind, "__struct_fields__"):
        hints = _hints(kind)
        return [Member(name, hints[name], default, name) for name, default in _struct_defaults(kind)]
    if _is_named_tuple(kind):
        hints, defaults = _hints(kind), kind._field_defaults  # type: ignore[attr-defined]
        names = kind._fields  # type: ignore[attr-defined]
        return [Member(name, hints.get(name, Any), defaults.get(name, MISSING), name) for name in names]
    if is_typed_dict(kind):
        return [_key(kind, name, hint) for name, hint in _hints(kind).items()]
    return None


def _key(kind: Any, name: str, hint: Any) -> Member:
    """A key of a TypedDict; where annotations are text, the class itself does not know which may be missing."""
    inner, missing = hint, name in kind.__optional_keys__
    while (origin := typing.get_origin(inner)) is not None and (origin is typing.Annotated or is_qualifier(inner)):
        missing = True if origin is typing.NotRequired else False if origin is typing.Required else missing
        inner = typing.get_args(inner)[0]
    return Member(name, hint, None if missing else MISSING, name, missing)


def _hints(kind: Any) -> dict[str, Any]:
    try:
        return typing.get_type_hints(kind, include_extras=True)
    except NameError as error:
        raise TypeError(f"{full_name(kind)}: the annotation {error.name!r} is not known in its module") from error


def _refuse_init_only(kind: Any) -> None:
    for name, found in getattr(kind, "__dataclass_fields__", {}).items():
        if found._field_type.__repr__() == "_FIELD_INITVAR" and found.default is dataclasses.MISSING:
            raise TypeError(f"{full_name(kind)}.{name} is an InitVar without a default: objects don't keep its value")


def _annotated(found: Any) -> Any:
    """pydantic keeps what stood in `Annotated` beside the type."""
    kind = found.annotation
    for extra in found.metadata:
        kind = typing.Annotated[kind, extra]
    return kind


def _made(factory: Any) -> Any:
    return factory() if factory in EMPTY else MISSING


def _model_default(found: Any) -> Any:
    if found.is_required():
        return MISSING
    return found.default if found.default_factory is None else _made(found.default_factory)


def _default(found: dataclasses.Field[Any]) -> Any:
    if found.default is not dataclasses.MISSING:
        return found.default
    return MISSING if found.default_factory is dataclasses.MISSING else _made(found.default_factory)


def _attrs_default(found: Any) -> Any:
    if type(found.default).__name__ == "Factory":
        return MISSING if found.default.takes_self else _made(found.default.factory)
    return MISSING if repr(found.default) == "NOTHING" else found.default


def _struct_defaults(kind: Any) -> Iterator[tuple[str, Any]]:
    """The fields of a msgspec.Struct with their defaults."""
    from msgspec import NODEFAULT
    from msgspec.structs import fields

    for item in fields(kind):
        if item.default is not NODEFAULT:
            yield item.name, item.default
        else:
            yield item.name, MISSING if item.default_factory is NODEFAULT else _made(item.default_factory)


def unwrapped(kind: Any) -> Any:
    """A type without `Annotated`, `Required`, `NotRequired`, `ReadOnly` and `NewType` around it."""
    while True:
        if typing.get_origin(kind) is typing.Annotated or is_qualifier(kind):
            kind = typing.get_args(kind)[0]
        elif isinstance(kind, typing.NewType):
            kind = kind.__supertype__
        elif type(kind).__name__ == "TypeAliasType":
            kind = kind.__value__
        else:
            return kind


def is_qualifier(kind: Any) -> bool:
    """Whether an annotation says of a key whether it is required, or may be changed, and no more."""
    origin = typing.get_origin(kind)
    return origin in (typing.Required, typing.NotRequired) or getattr(origin, "_name", None) == "ReadOnly"


def fields_of(kind: Any, found: list[Member], path: str) -> Callable[[Any], Mapping[str, Any]]:
    """A function that takes the fields from objects of exactly one class; a dict is taken for one too.

    Raises (the function):
        SerializationError: an object of another class (a subclass too: what it adds would be lost).
    """
    names = [member.name for member in found]
    known = set(names)
    required = {member.name for member in found if not member.optional}

    def take(value: Any) -> Mapping[str, Any]:
        if type(value) is kind:
            surplus = getattr(value, "model_extra", None)
            if surplus:
                raise SerializationError(
                    f"the {kind.__name__} has fields its class does not: {sorted(surplus)}", path=path
                )
            return {name: getattr(value, name) for name in names}
        if isinstance(value, Mapping):
            if value.keys() - known:
                raise SerializationError(
                    f"{kind.__name__} has no field {sorted(map(str, value.keys() - known))}", path=path
                )
            if is_typed_dict(kind) and required - value.keys():
                raise SerializationError(f"{sorted(required - value.keys())} of {kind.__name__} is missing", path=path)
            return value
        raise SerializationError(f"a {full_name(kind)} is needed, not a {full_name(type(value))}", path=path)

    return take


def maker_of(kind: Any, found: list[Member]) -> Callable[[Mapping[str, Any]], Any]:
    """A function that makes an object of its fields."""
    if is_typed_dict(kind):
        optional = [member.name for member in found if member.optional]

        def typed_dict(fields: Mapping[str, Any]) -> Any:
            return {name: part for name, part in fields.items() if part is not None or name not in optional}

        return typed_dict
    if hasattr(kind, "model_validate"):
        validate = kind.model_validate
        if all(one.validation_alias is None for one in kind.model_fields.values()):
            made: Callable[[Mapping[str, Any]], Any] = validate
            return made
        return lambda fields: validate(fields, by_alias=False, by_name=True)
    arguments = {member.name: member.argument for member in found}
    if all(name == argument for name, argument in arguments.items()):
        return lambda fields: kind(**fields)
    return lambda fields: kind(**{arguments.get(name, name): part for name, part in fields.items()})


def union_parts(kind: Any) -> tuple[Any, ...] | None:
    """The alternatives of a union, of unions inside it too; None for other types."""
    if typing.get_origin(kind) not in (typing.Union, types.UnionType):
        return None
    found: list[Any] = []
    for part in typing.get_args(kind):
        found += union_parts(unwrapped(part)) or (part,)
    return tuple(found)
