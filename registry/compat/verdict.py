"""`check`: is a new schema compatible with the registered ones; by level and direction, with all incompatibilities.

Must not know of networks: schemas and a resolver come in, a result goes out. Source: the levels of Confluent's
registry (`CompatibilityLevel`, `CompatibilityChecker`).
"""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol, cast

from registry.compat.difference import Difference, Roles
from registry.compat.levels import Level
from registry.errors import InvalidSchemaError
from registry.models import Schema
from registry.schemas.formats import Format, format_of
from registry.schemas.references import Resolver, resolve_all

NEW = "the new schema"
MODULES = {
    "AVRO": "registry.compat.avro",
    "JSON": "registry.compat.json.diff",
    "PROTOBUF": "registry.compat.protobuf.diff",
}


class Judge(Protocol):
    """The functions of a format's module that compares."""

    def differences(self, reader: Any, writer: Any, roles: Roles, policy: str) -> list[Difference]:
        """All that keeps `reader` from reading data of `writer`, both parsed; empty if it reads all of it."""


@dataclass(frozen=True, slots=True)
class CompatibilityResult:
    """A verdict with its reasons.

    Attributes:
        differences: the incompatibilities; empty if compatible. `version` counts the registered schemas from 1.
    """

    differences: tuple[Difference, ...] = ()

    @property
    def compatible(self) -> bool:
        """Whether the candidate may be registered."""
        return not self.differences

    def __bool__(self) -> bool:
        return self.compatible


def check(
    candidate: Schema,
    registered: Sequence[Schema],
    level: str = "BACKWARD",
    policy: str = "STRICT",
    resolve: Resolver | None = None,
) -> CompatibilityResult:
    """Judges a candidate against registered schemas, without a server.

    Args:
        candidate: the new schema.
        registered: oldest first; levels that are not transitive look at the last one only.
        level: a name of `Level`.
        policy: `STRICT` or `LENIENT`, in any case; only JSON Schema knows a difference.
        resolve: turns a reference of either side into the schema it stands for.

    Raises:
        ValueError: unknown level or policy.
        InvalidSchemaError: a schema can't be parsed or its references can't be resolved (the text starts with which
            one it is), or the schema type is unknown.
    """
    wanted = Level.of(level)
    policy = policy.upper()
    if policy not in ("STRICT", "LENIENT"):
        raise ValueError(f"policy {policy!r} is unknown: STRICT, LENIENT")
    if wanted is Level.NONE or not registered:
        return CompatibilityResult()
    first = 0 if wanted.transitive else len(registered) - 1
    schemas = format_of(candidate.schema_type)
    judge = cast(Judge, importlib.import_module(MODULES[candidate.schema_type]))
    new = _parsed(schemas, candidate, resolve, NEW)
    found: list[Difference] = []
    for version, old_schema in enumerate(registered[first:], first + 1):
        if old_schema.schema_type != candidate.schema_type:
            found.append(_other_type(candidate, old_schema, version))
            continue
        old_name = f"registered schema {version}"
        old = _parsed(schemas, old_schema, resolve, old_name)
        here: list[Difference] = []
        if wanted.backward:
            here += judge.differences(new, old, Roles(reader=NEW, writer=old_name), policy)
        if wanted.forward:
            here += judge.differences(old, new, Roles(reader=old_name, writer=NEW, candidate_reads=False), policy)
        found += (Difference(item.kind, item.path, item.message, version) for item in here)
    return CompatibilityResult(tuple(found))


def same_group(candidate: Schema, registered: Sequence[Schema], group: str) -> list[Schema]:
    """The registered schemas that count for a candidate where `compatibilityGroup` is set.

    Args:
        candidate: the new schema.
        registered: oldest first.
        group: name of the metadata property; schemas without it are a group of their own.
    """

    def value(schema: Schema) -> str | None:
        properties = schema.metadata.properties if schema.metadata is not None else None
        return None if properties is None else properties.get(group)

    wanted = value(candidate)
    return [schema for schema in registered if value(schema) == wanted]


def _parsed(schemas: Format, schema: Schema, resolve: Resolver | None, which: str) -> Any:
    """The schema as its format's object; an error says which of the schemas it is about."""
    try:
        return schemas.parse(schema, resolve_all(schema, resolve))
    except InvalidSchemaError as error:
        raise InvalidSchemaError.local(f"{which}: {error.error_message}") from error


def _other_type(candidate: Schema, old: Schema, version: int) -> Difference:
    return Difference(
        "SCHEMA_TYPE_MISMATCH",
        "/",
        f"the new schema is {candidate.schema_type}, registered schema {version} is {old.schema_type}: "
        "a subject keeps its format; register it under another subject",
        version,
    )
