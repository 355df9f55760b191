"""Judges a schema against registered versions, by the settings that count for the subject.

Must not know how formats are compared (`registry.compat`). A comparison of large schemas takes seconds, so it is a
value that holds all it needs: whoever answers (`registry.dev.server.embedded`) may run it without the lock and ask
again; what changed meanwhile makes another comparison. Source: Confluent's
`AbstractSchemaRegistry.isCompatibleWithPrevious` and the messages it answers.
"""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from dataclasses import dataclass

from registry.compat import CompatibilityResult, check
from registry.dev.names import Name
from registry.dev.operations.content import no_reference, qualified, resolver
from registry.dev.refusal import invalid_schema
from registry.dev.state.settings import DEFAULT_LEVEL
from registry.dev.state.state import State, Version
from registry.errors import InvalidSchemaError
from registry.models import Schema, SchemaReference
from registry.schemas.references import resolve_all

LARGE = 16_384
"""Characters of all texts together, from which on a comparison runs without the lock."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """A schema, what it is compared with, and how: equal ones have the same outcome, whenever they run."""

    candidate: Schema
    registered: tuple[Schema, ...]
    level: str
    policy: str
    references: tuple[tuple[str, int, Schema], ...]

    @property
    def is_large(self) -> bool:
        """Whether it may take so long that others should not wait for it."""
        texts = (self.candidate, *self.registered, *(schema for _, _, schema in self.references))
        return sum(len(schema.schema_str) for schema in texts) > LARGE

    def outcome(self) -> CompatibilityResult | InvalidSchemaError:
        """The differences, or why it can't be compared."""
        known = {(subject, version): schema for subject, version, schema in self.references}

        def resolve(reference: SchemaReference) -> Schema:
            found = known.get((reference.subject, reference.version))
            if found is None:
                raise no_reference(reference)
            return found

        try:
            return check(self.candidate, self.registered, self.level, self.policy, resolve=resolve)
        except InvalidSchemaError as error:
            return error


def conflicts(state: State, subject: str, candidate: Schema, versions: Sequence[Version]) -> list[str]:
    """Why a canonical schema does not fit these versions (oldest first), as the registry writes it; empty if it does.

    Raises:
        Refusal: 42201, a schema can't be compared.
    """
    settings, name = state.settings(subject), Name.parse(subject)
    level = settings.level or DEFAULT_LEVEL
    counted = [(version, state.schema(subject, version)) for version in versions]
    if settings.group is not None:
        line = _line(candidate, settings.group)
        counted = [(version, schema) for version, schema in counted if _line(schema, settings.group) == line]
    every = [qualified(name, schema) for schema in (candidate, *(schema for _, schema in counted))]
    comparison = Comparison(
        every[0], tuple(every[1:]), level.value, settings.policy or "STRICT", _references(state, every)
    )
    result = state.judge(comparison) if comparison.is_large else comparison.outcome()
    if isinstance(result, InvalidSchemaError):
        raise invalid_schema(result.error_message) from result
    found = messages(result, counted)
    return (
        [*found, f"{{validateFields: '{_said(settings.validate_fields)}', compatibility: '{level.value}'}}"]
        if found
        else []
    )


def _references(state: State, schemas: Sequence[Schema]) -> tuple[tuple[str, int, Schema], ...]:
    """Everything that schemas refer to; a reference that leads nowhere is left to the comparison to say."""
    found: dict[tuple[str, int], Schema] = {}
    known = resolver(state, deleted=True)

    def resolve(reference: SchemaReference) -> Schema:
        schema = found[reference.subject, reference.version] = known(reference)
        return schema

    for schema in schemas:
        with contextlib.suppress(InvalidSchemaError):
            resolve_all(schema, resolve)
    return tuple(
        (subject, version, schema) for (subject, version), schema in sorted(found.items(), key=lambda item: item[0])
    )


def _line(schema: Schema, group: str) -> str | None:
    properties = None if schema.metadata is None else schema.metadata.properties
    return None if properties is None else properties.get(group)


def _said(value: bool | None) -> str:
    return "true" if value else "false"


def messages(result: CompatibilityResult, counted: Sequence[tuple[Version, Schema]]) -> list[str]:
    """The differences, and the versions they were found in."""
    found: list[str] = []
    for position, (version, schema) in enumerate(counted, 1):
        here = [item for item in result.differences if item.version == position]
        found += [
            f"{{errorType:'{item.kind}', description:'{item.message}', additionalInfo:'{item.path}'}}" for item in here
        ]
        if here:
            found += [f"{{oldSchemaVersion: {version.number}}}", f"{{oldSchema: '{schema.schema_str}'}}"]
    return found
