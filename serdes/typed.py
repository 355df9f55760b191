"""Schemas and conversions from Python types: dataclasses, attrs classes, pydantic models, TypedDicts.

Must not know of registries or frames. Avro schemas are derived here; JSON Schemas come from pydantic, whose rules for
types they follow. Source: Avro specification 1.12; PEP 593 for `Annotated`.
"""

from __future__ import annotations

import collections.abc
import dataclasses
import datetime
import enum
import json
import re
import types
import typing
import uuid
from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple

from registry import InvalidSchemaError, RegisteredSchema, Schema
from registry.compat.verdict import check
from serdes.avro_logical import Duration
from serdes.errors import SerializationError
from serdes.plan import as_schema

__all__ = ["AvroType", "Precision", "avro_builder", "avro_schema", "checked_avro_schema", "json_adapter"]

PRIMITIVES: Final[Mapping[Any, Any]] = {
    bool: "boolean",
    int: "long",
    float: "double",
    str: "string",
    bytes: "bytes",
    type(None): "null",
    datetime.datetime: {"type": "long", "logicalType": "timestamp-micros"},
    datetime.date: {"type": "int", "logicalType": "date"},
    datetime.time: {"type": "long", "logicalType": "time-micros"},
    uuid.UUID: {"type": "string", "logicalType": "uuid"},
}
ARRAYS: Final = (list, tuple, collections.abc.Sequence)
MAPS: Final = (dict, collections.abc.Mapping)
NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
MISSING: Final = object()


class AvroType(NamedTuple):
    """In `Annotated`: the Avro type of a field, e.g. `Annotated[int, AvroType("int")]`."""

    schema: Any


class Precision(NamedTuple):
    """In `Annotated`: digits of a Decimal, e.g. `Annotated[Decimal, Precision(12, 2)]`."""

    precision: int
    scale: int = 0


class Member(NamedTuple):
    """A field of a class: name, annotation, and default (`MISSING` for none)."""

    name: str
    kind: Any
    default: Any


def members(kind: Any) -> list[Member] | None:
    """The fields of a class that has some; None for other types."""
    if not isinstance(kind, type):
        return None
    if hasattr(kind, "model_fields"):
        return [
            Member(
                name,
                _annotated(found),
                MISSING if found.is_required() else found.get_default(call_default_factory=True),
            )
            for name, found in kind.model_fields.items()
        ]
    if not (dataclasses.is_dataclass(kind) or hasattr(kind, "__attrs_attrs__") or typing.is_typeddict(kind)):
        return None
    hints = typing.get_type_hints(kind, include_extras=True)
    if dataclasses.is_dataclass(kind):
        return [
            Member(found.name, hints[found.name], _default(found)) for found in dataclasses.fields(kind) if found.init
        ]
    if hasattr(kind, "__attrs_attrs__"):
        return [Member(found.name, hints[found.name], _attrs_default(found)) for found in kind.__attrs_attrs__]
    optional: Any = getattr(kind, "__optional_keys__", frozenset())
    return [
        Member(name, hint, None if name in optional or typing.get_origin(hint) is typing.NotRequired else MISSING)
        for name, hint in hints.items()
    ]


def _annotated(found: Any) -> Any:
    """pydantic keeps what stood in `Annotated` beside the type."""
    kind = found.annotation
    for extra in found.metadata:
        kind = typing.Annotated[kind, extra]
    return kind


def _model_default(found: Any) -> Any:
    return MISSING if found.is_required() else found.get_default(call_default_factory=True)


def _default(found: dataclasses.Field[Any]) -> Any:
    if found.default is not dataclasses.MISSING:
        return found.default
    return MISSING if found.default_factory is dataclasses.MISSING else found.default_factory()


def _attrs_default(found: Any) -> Any:
    if type(found.default).__name__ == "Factory":
        return found.default.factory() if not found.default.takes_self else MISSING
    return MISSING if repr(found.default) == "NOTHING" else found.default


# --- Avro


def avro_schema(kind: Any, namespace: str = "") -> str:
    """The Avro schema of a class; its name is the record's.

    Args:
        kind: a dataclass, attrs class, pydantic model or TypedDict.
        namespace: of all names in the schema.

    Raises:
        TypeError: a type has no Avro type; `Annotated` with `AvroType` or `Precision` can say which.
    """
    if members(kind) is None:
        raise TypeError(f"{kind!r} is no dataclass, attrs class, pydantic model or TypedDict")
    made = _Deriving().of(kind, kind.__name__)
    return json.dumps({**made, "namespace": namespace} if namespace else made)


class _Deriving:
    """Derives one schema; a class is defined where it stands first, and named after that."""

    def __init__(self) -> None:
        self._known: set[str] = set()

    def of(self, kind: Any, where: str) -> Any:
        if typing.get_origin(kind) is typing.Annotated:
            return self._annotated(kind, where)
        if kind in PRIMITIVES:
            return PRIMITIVES[kind]
        if kind is Duration:
            return self._once("Duration", {"type": "fixed", "name": "Duration", "size": 12, "logicalType": "duration"})
        origin, arguments = typing.get_origin(kind), typing.get_args(kind)
        if origin in (typing.Union, types.UnionType):
            return [self.of(part, where) for part in arguments]
        if origin in ARRAYS:
            return {"type": "array", "items": self.of(arguments[0], where)}
        if origin in MAPS and arguments[0] is str:
            return {"type": "map", "values": self.of(arguments[1], where)}
        if origin in (typing.Required, typing.NotRequired):
            return self.of(arguments[0], where)
        if origin is typing.Literal and all(isinstance(value, str) for value in arguments):
            return "string"
        if isinstance(kind, type) and issubclass(kind, enum.Enum):
            return self._once(kind.__name__, {"type": "enum", "name": kind.__name__, "symbols": _symbols(kind)})
        found = members(kind)
        if found is None:
            raise TypeError(f"{where}: {kind!r} has no Avro type; Annotated[…, AvroType(…)] can say which")
        if kind.__name__ in self._known:
            return kind.__name__
        self._known.add(kind.__name__)
        fields = [self._field(member, f"{where}.{member.name}") for member in found]
        return {"type": "record", "name": kind.__name__, "fields": fields}

    def _annotated(self, kind: Any, where: str) -> Any:
        for extra in kind.__metadata__:
            if isinstance(extra, AvroType):
                return extra.schema
            if isinstance(extra, Precision):
                return {"type": "bytes", "logicalType": "decimal", **extra._asdict()}
        return self.of(kind.__origin__, where)

    def _once(self, name: str, schema: Any) -> Any:
        if name in self._known:
            return name
        self._known.add(name)
        return schema

    def _field(self, member: Member, where: str) -> dict[str, Any]:
        schema = self.of(member.kind, where)
        if member.default is MISSING:
            return {"name": member.name, "type": schema}
        default = _avro_default(member.default)
        if isinstance(schema, list) and "null" in schema:
            others = [branch for branch in schema if branch != "null"]
            schema = ["null", *others] if default is None else [*others, "null"]
        elif default is None:  # a key that may be missing
            schema = ["null", schema]
        if default is MISSING:
            return {"name": member.name, "type": schema}
        return {"name": member.name, "type": schema, "default": default}


def _symbols(kind: type[enum.Enum]) -> list[str]:
    return [item.value if isinstance(item.value, str) else item.name for item in kind]


def _avro_default(value: Any) -> Any:
    """A default as schemas have it; `MISSING` if they have no form for it."""
    if isinstance(value, enum.Enum):
        return value.value if isinstance(value.value, str) else value.name
    simple = value is None or isinstance(value, (bool, int, float, str)) or value in ([], {})
    return value if simple else MISSING


def checked_avro_schema(kind: Any, given: str | Schema | RegisteredSchema | None) -> Schema:
    """The schema to write a class with: its own, or the given one if that can hold its values.

    Raises:
        SerializationError: a given schema can't.
    """
    own = Schema(avro_schema(kind))
    wanted = as_schema(given)
    if wanted is None:
        return own
    try:
        verdict = check(wanted, [own], "BACKWARD")
    except InvalidSchemaError as error:
        raise SerializationError(f"the schema can't be compared with {kind.__name__}: {error.error_message}") from error
    if not verdict:
        reasons = "; ".join(str(difference) for difference in verdict.differences)
        raise SerializationError(f"the schema can't hold a {kind.__name__}: {reasons}")
    return wanted


# --- objects


def avro_builder(kind: Any) -> Callable[[Any], Any]:
    """A function that makes an object of a decoded value."""
    return _Building().of(kind) or _same


def _same(value: Any) -> Any:
    return value


class _Building:
    """Compiles one builder; recursive classes refer to the function of their class."""

    def __init__(self) -> None:
        self._known: dict[Any, Callable[[Any], Any]] = {}

    def of(self, kind: Any) -> Callable[[Any], Any] | None:
        """None where values are what they should be."""
        origin, arguments = typing.get_origin(kind), typing.get_args(kind)
        if origin is typing.Annotated or origin in (typing.Required, typing.NotRequired):
            return self.of(arguments[0])
        if origin in (typing.Union, types.UnionType):
            return self._union(arguments)
        if origin in ARRAYS:
            item = self.of(arguments[0])
            make: Any = tuple if origin is tuple else list
            if item is None:
                return None if make is list else tuple
            return lambda value: make(map(item, value))
        if origin in MAPS:
            part = self.of(arguments[1])
            return None if part is None else lambda value: {key: part(item) for key, item in value.items()}
        if isinstance(kind, type) and issubclass(kind, enum.Enum):
            table = dict(zip(_symbols(kind), kind, strict=True))
            return table.__getitem__
        return self._class(kind)

    def _class(self, kind: Any) -> Callable[[Any], Any] | None:
        if hasattr(kind, "model_validate"):
            validate: Callable[[Any], Any] = kind.model_validate
            return validate
        found = members(kind)
        if found is None:
            return None
        if kind in self._known:
            return self._known[kind]
        parts: list[tuple[str, Callable[[Any], Any]]] = []

        def build(value: Any) -> Any:
            for name, part in parts:
                if name in value:
                    value[name] = part(value[name])
            return kind(**value)

        self._known[kind] = build
        converts = [(member.name, self.of(member.kind)) for member in found]
        parts += [(name, part) for name, part in converts if part is not None]
        return build

    def _union(self, arguments: tuple[Any, ...]) -> Callable[[Any], Any] | None:
        options = [(part, self.of(part)) for part in arguments if part is not type(None)]
        if all(build is None for _, build in options):
            return None

        def convert(value: Any) -> Any:
            if value is None:
                return None
            for part, build in options:
                if len(options) == 1 or _is_of(part, value):
                    return value if build is None else build(value)
            return value

        return convert


def _is_of(kind: Any, value: Any) -> bool:
    """Whether a decoded value is one of a type, judging by its outermost form."""
    origin = typing.get_origin(kind)
    if origin is typing.Annotated:
        return _is_of(typing.get_args(kind)[0], value)
    if origin in ARRAYS:
        return isinstance(value, list)
    found = members(kind)
    if found is not None:
        return isinstance(value, dict) and value.keys() == {member.name for member in found}
    if isinstance(kind, type) and issubclass(kind, enum.Enum):
        return isinstance(value, str) and value in _symbols(kind)
    return isinstance(value, dict) if origin in MAPS else isinstance(value, kind)


# --- JSON


def json_adapter(kind: Any) -> tuple[str, Callable[[Any, Any], Any], Callable[[Any, Any], Any]]:
    """The JSON Schema of a type, and functions from objects to JSON values and back, for `to_dict` and `from_dict`.

    Raises:
        TypeError: pydantic is not installed, or knows no schema for the type.
    """
    try:
        import pydantic
    except ImportError as missing:
        raise TypeError("JSON Schemas of types need pydantic: pip install pydantic") from missing
    try:
        adapter: Any = pydantic.TypeAdapter(kind)
        schema = adapter.json_schema(mode="serialization")
    except pydantic.errors.PydanticUserError as error:
        raise TypeError(f"there is no JSON Schema for {kind!r}: {error}") from error

    def from_value(value: Any, ctx: Any) -> Any:
        try:
            return adapter.validate_python(value)
        except pydantic.ValidationError as error:
            raise SerializationError(f"the value is no {getattr(kind, '__name__', kind)}: {error}") from error

    text = json.dumps({"$schema": "https://json-schema.org/draft/2020-12/schema", **schema})
    return text, lambda value, ctx: adapter.dump_python(value, mode="json"), from_value
