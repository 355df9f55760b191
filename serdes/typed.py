"""Avro schemas of Python types: dataclasses, attrs classes, pydantic models, named tuples, TypedDicts.

Must not know of registries or frames. The same class gives the same schema in every process; what Avro can't tell apart
is refused while the schema is made. Source: Avro specification 1.12; PEP 593 for `Annotated`.
"""

from __future__ import annotations

import datetime
import enum
import json
import math
import re
import typing
import uuid
from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from registry import InvalidSchemaError, RegisteredSchema, Schema
from registry.schemas.avro import types
from serdes.engine.plan import as_schema
from serdes.errors import SerializationError
from serdes.formats.avro.logical import Duration
from serdes.models.json_types import json_adapter
from serdes.models.members import (
    MISSING,
    Member,
    full_name,
    is_qualifier,
    is_typed_dict,
    members,
    name_of,
    told_apart,
    union_parts,
    unwrapped,
)
from serdes.models.objects import ARRAYS, MAPS, avro_builder, avro_dumper, length_of, symbols

__all__ = [
    "Aliases",
    "AvroType",
    "Doc",
    "Precision",
    "avro_builder",
    "avro_dumper",
    "avro_schema",
    "checked_avro_schema",
    "json_adapter",
]

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
NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
UNNAMED: Final = (*types.PRIMITIVES, "array", "map")


class AvroType(NamedTuple):
    """In `Annotated`: the Avro type of a field, e.g. `Annotated[int, AvroType("int")]`."""

    schema: Any


class Doc(NamedTuple):
    """In `Annotated`: the description of a field, for readers of the schema."""

    text: str


class Aliases:
    """In `Annotated`: former names of a field, e.g. `Annotated[str, Aliases("full_name")]`."""

    def __init__(self, *names: str) -> None:
        self.names = names


class Precision(NamedTuple):
    """In `Annotated`: digits of a Decimal, e.g. `Annotated[Decimal, Precision(12, 2)]`."""

    precision: int
    scale: int = 0


def avro_schema(kind: Any, namespace: str = "") -> str:
    """The Avro schema of a class; its name is the record's.

    Args:
        kind: a dataclass, attrs class, pydantic model, named tuple or TypedDict.
        namespace: of all names in the schema.

    Raises:
        TypeError: a type has no Avro type (`Annotated` with `AvroType` or `Precision` can say which), two classes have
            one name (`__avro_name__` in a class gives it another), two fields have one alias, or alternatives of a
            union can't be told apart.
    """
    if members(kind) is None:
        raise TypeError(f"{kind!r} is no dataclass, attrs class, pydantic model, named tuple or TypedDict")
    made = _Deriving().of(kind, name_of(kind))
    return json.dumps({**made, "namespace": namespace} if namespace else made)


class _Deriving:
    """Derives one schema; a class is defined where it stands first, and named after that."""

    def __init__(self) -> None:
        self._known: dict[str, Any] = {}

    def of(self, given: Any, where: str) -> Any:
        kind = given
        while typing.get_origin(kind) is typing.Annotated:
            for extra in kind.__metadata__:
                if isinstance(extra, AvroType):
                    return extra.schema
                if isinstance(extra, Precision):
                    return {"type": "bytes", "logicalType": "decimal", **extra._asdict()}
            kind = kind.__origin__
        if kind is not (inner := unwrapped(kind)):
            return self.of(inner, where)
        if kind in PRIMITIVES:
            return PRIMITIVES[kind]
        if kind is Duration:
            return self._once(kind, {"type": "fixed", "name": "Duration", "size": 12, "logicalType": "duration"})
        origin, arguments = typing.get_origin(kind), typing.get_args(kind)
        parts = union_parts(kind)
        if parts is not None:
            return self._union(parts, where)
        if origin in ARRAYS:
            if origin is tuple and length_of(arguments) is not None and len(set(arguments)) != 1:
                raise TypeError(f"{where}: {kind} has no Avro type: its items are of several types, use a class")
            return {"type": "array", "items": self.of(arguments[0], where)}
        if origin in MAPS and arguments[0] is str:
            return {"type": "map", "values": self.of(arguments[1], where)}
        if origin is typing.Literal and all(isinstance(value, str) for value in arguments):
            return "string"
        if isinstance(kind, type) and issubclass(kind, enum.Enum):
            return self._enum(kind, where)
        found = members(kind)
        if found is None:
            raise TypeError(f"{where}: {kind!r} has no Avro type; Annotated[…, AvroType(…)] can say which")
        record = self._once(kind, {"type": "record", "name": name_of(kind), **_described_class(kind)})
        if isinstance(record, dict):
            record["fields"] = [self._field(member, f"{where}.{member.name}") for member in found]
            _check_aliases(record["fields"], where)
        return record

    def _once(self, kind: Any, schema: dict[str, Any]) -> Any:
        """The definition where a class stands first, its name after that."""
        name = str(schema["name"])
        if not all(NAME.fullmatch(part) for part in name.split(".")):
            raise TypeError(f"{full_name(kind)}: {name!r} is no name in Avro; __avro_name__ in the class can give one")
        if name not in self._known:
            self._known[name] = kind
            return schema
        if self._known[name] is not kind:
            both = f"{full_name(self._known[name])} and {full_name(kind)}"
            raise TypeError(f"{name!r} is the name of two classes, {both}: __avro_name__ in one can give it another")
        return name

    def _enum(self, kind: type[enum.Enum], where: str) -> Any:
        found = symbols(kind)
        wrong = [symbol for symbol in found if not NAME.fullmatch(symbol)]
        if wrong or len(set(found)) != len(found) or issubclass(kind, enum.Flag):
            why = f"{wrong[0]!r} is no symbol of Avro" if wrong else "its members can't be told apart by symbols"
            raise TypeError(f"{where}: enum {full_name(kind)} has no Avro type: {why}")
        return self._once(kind, {"type": "enum", "name": name_of(kind), "symbols": found})

    def _union(self, parts: tuple[Any, ...], where: str) -> list[Any]:
        branches: list[Any] = []
        forms: dict[str, list[Any]] = {}
        for part in parts:
            branch = self.of(part, where)
            branches += branch if isinstance(branch, list) else [branch]
            for form in _forms(unwrapped(part), branch):
                for other in forms.setdefault(form, []):
                    _check_apart(other, part, form, where)
                forms[form].append(part)
        return branches

    def _field(self, member: Member, where: str) -> dict[str, Any]:
        return {**self._bare_field(member, where), **_described(member.kind)}

    def _bare_field(self, member: Member, where: str) -> dict[str, Any]:
        schema = self.of(member.kind, where)
        nullable = isinstance(schema, list) and "null" in schema
        if member.optional and nullable:
            raise TypeError(f"{where}: a key that may be missing can't be None too: Avro has null for both")
        if member.default is MISSING:
            return {"name": member.name, "type": schema}
        if member.default is None and schema != "null":
            others = [branch for branch in schema if branch != "null"] if isinstance(schema, list) else [schema]
            return {"name": member.name, "type": ["null", *others], "default": None}
        default = _avro_default(member.default)
        if isinstance(schema, list):
            first = next((branch for branch in schema if _is_default(branch, default)), MISSING)
            if first is MISSING:
                return {"name": member.name, "type": schema}
            schema = [first, *(branch for branch in schema if branch is not first)]
            if nullable:  # as it always was: null stands behind
                schema = [*(branch for branch in schema if branch != "null"), "null"]
        elif not _is_default(schema, default):
            return {"name": member.name, "type": schema}
        return {"name": member.name, "type": schema, "default": default}


def _described(kind: Any) -> dict[str, Any]:
    """Facts that an annotation gives for a field beside its type: doc, aliases."""
    found: dict[str, Any] = {}
    while typing.get_origin(kind) is not None and (is_qualifier(kind) or typing.get_origin(kind) is typing.Annotated):
        for extra in getattr(kind, "__metadata__", ()):
            if isinstance(extra, Doc):
                found["doc"] = extra.text
            if isinstance(extra, Aliases):
                found["aliases"] = list(extra.names)
        kind = typing.get_args(kind)[0]
    return found


def _check_aliases(fields: list[dict[str, Any]], where: str) -> None:
    """Refuses aliases that are another field's name or alias: what was written under it would be in one of them."""
    owners = {field["name"]: field["name"] for field in fields}
    for field in fields:
        for alias in field.get("aliases", ()):
            if not NAME.fullmatch(alias):
                raise TypeError(f"{where}.{field['name']}: the alias {alias!r} is no name in Avro")
            owner = owners.setdefault(alias, field["name"])
            if owner != field["name"]:
                raise TypeError(
                    f"{where}: {alias!r} is an alias of {field['name']!r} and belongs to {owner!r}, too: what was "
                    "written under that name would be read into one of them only"
                )


def _described_class(kind: Any) -> dict[str, Any]:
    """Facts that a class gives for its record: doc, aliases."""
    found: dict[str, Any] = {}
    if "__avro_doc__" in vars(kind):
        found["doc"] = str(kind.__avro_doc__)
    if "__avro_aliases__" in vars(kind):
        found["aliases"] = list(kind.__avro_aliases__)
    return found


def _shown(kind: Any) -> str:
    return full_name(kind) if isinstance(kind, type) else str(kind)


def _forms(kind: Any, branch: Any) -> list[str]:
    """The types a union's branch could be mistaken for: its type in Avro, and those its Python values look like."""
    if isinstance(branch, list):
        return [form for part in branch for form in _forms(None, part)]
    avro = branch["type"] if isinstance(branch, dict) else branch
    if isinstance(kind, type) and issubclass(kind, enum.Enum):
        return ["string"]  # two enums, or an enum and text: a symbol is text when it is read
    if is_typed_dict(kind):
        return ["map"]  # its values are dicts, as those of maps and of other TypedDicts
    return [str(avro)] if avro in UNNAMED else []


def _check_apart(one: Any, other: Any, form: str, where: str) -> None:
    """Refuses two alternatives of a union that look alike, but for TypedDicts whose keys tell them apart."""
    why = f"both are {form} in Avro"
    if is_typed_dict(unwrapped(one)) and is_typed_dict(unwrapped(other)):
        if told_apart(unwrapped(one), unwrapped(other)):
            return
        why = "neither has a required key that the other lacks, or a required Literal with other values"
    raise TypeError(f"{where}: {_shown(one)} and {_shown(other)} can't be told apart in a union: {why}")


def _avro_default(value: Any) -> Any:
    """A default as schemas have it; `MISSING` if they have no form for it."""
    if isinstance(value, enum.Enum):
        return value.value if isinstance(value.value, str) else value.name
    if isinstance(value, bytes):
        return value.decode("latin-1")
    if isinstance(value, (list, tuple, set, frozenset, dict)):
        return MISSING if value else {} if isinstance(value, dict) else []
    return value if value is None or isinstance(value, (bool, int, float, str)) else MISSING


def _is_default(schema: Any, default: Any) -> bool:
    """Whether a default is one of a type."""
    kind = schema["type"] if isinstance(schema, dict) else schema
    if kind in ("int", "long"):
        bits = 31 if kind == "int" else 63
        return isinstance(default, int) and not isinstance(default, bool) and -(2**bits) <= default < 2**bits
    if kind in ("float", "double"):
        number = isinstance(default, (int, float)) and not isinstance(default, bool)
        return number and math.isfinite(default)
    if kind in ("string", "bytes", "enum"):
        return isinstance(default, str)
    wanted: dict[str, Any] = {"boolean": bool, "null": type(None), "array": list, "map": dict}
    return kind in wanted and isinstance(default, wanted[kind])


def checked_avro_schema(kind: Any, given: str | Schema | RegisteredSchema | None) -> Schema:
    """The schema to write a class with: its own, or the given one if that can hold its values.

    Raises:
        SerializationError: a given schema can't.
    """
    own = Schema(avro_schema(kind))
    wanted = as_schema(given)
    if wanted is None:
        return own
    from registry.compat.verdict import check

    try:
        verdict = check(wanted, [own], "BACKWARD")
    except InvalidSchemaError as error:
        raise SerializationError(f"the schema can't be compared with {kind.__name__}: {error.error_message}") from error
    if not verdict:
        reasons = "; ".join(str(difference) for difference in verdict.differences)
        raise SerializationError(f"the schema can't hold a {kind.__name__}: {reasons}")
    return wanted
