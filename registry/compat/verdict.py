"""The verdict on a candidate schema: which registered schemas count, in which direction, and what is in the way.

Must not know of networks: schemas and a resolver come in, a result goes out. Source: the levels of Confluent's
registry (`CompatibilityLevel`, `CompatibilityChecker`).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass

from registry.compat import avro_diff
from registry.compat.avro_model import AvroType, parse
from registry.compat.difference import Difference
from registry.compat.levels import Level
from registry.errors import InvalidSchemaError
from registry.models import Schema
from registry.references import Resolver, resolve_all

__all__ = ["CompatibilityResult", "check"]


@dataclass(frozen=True, slots=True)
class CompatibilityResult:
    """A verdict with its reasons.

    Attributes:
        differences: what is in the way; empty if compatible. `version` counts the registered schemas from 1.
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
        policy: `STRICT` or `LENIENT`; only JSON Schema knows a difference.
        resolve: turns a reference of either side into the schema it stands for.

    Raises:
        ValueError: unknown level or policy.
        InvalidSchemaError: a schema can't be parsed or its references can't be resolved; or the type is one this
            engine has no rules for yet (it has them for AVRO).
    """
    wanted = Level.of(level)
    if policy not in ("STRICT", "LENIENT"):
        raise ValueError(f"policy {policy!r} is unknown: STRICT, LENIENT")
    if wanted is Level.NONE or not registered:
        return CompatibilityResult()
    first = 0 if wanted.transitive else len(registered) - 1
    new = _parsed(candidate, resolve)
    found: list[Difference] = []
    for version, old_schema in enumerate(registered[first:], first + 1):
        if old_schema.schema_type != candidate.schema_type:
            found.append(_other_type(candidate, old_schema, version))
            continue
        old = _parsed(old_schema, resolve)
        found += (dataclasses.replace(item, version=version) for item in _both_ways(new, old, version, wanted))
    return CompatibilityResult(tuple(found))


def _both_ways(new: AvroType, old: AvroType, version: int, level: Level) -> list[Difference]:
    found = []
    new_name, old_name = "the new schema", f"registered schema {version}"
    if level.backward:
        found += avro_diff.differences(new, old, avro_diff.Roles(reader=new_name, writer=old_name))
    if level.forward:
        found += avro_diff.differences(old, new, avro_diff.Roles(reader=old_name, writer=new_name))
    return found


def _parsed(schema: Schema, resolve: Resolver | None) -> AvroType:
    if schema.schema_type != "AVRO":
        raise InvalidSchemaError.local(
            f"compatibility of {schema.schema_type} schemas can't be judged here yet: only AVRO is supported"
        )
    return parse(schema.schema_str, [found.schema_str for _, found in resolve_all(schema, resolve)])


def _other_type(candidate: Schema, old: Schema, version: int) -> Difference:
    return Difference(
        "SCHEMA_TYPE_MISMATCH",
        "/",
        f"the new schema is {candidate.schema_type}, registered schema {version} is {old.schema_type}: "
        "a subject keeps its format; register it under another subject",
        version,
    )
