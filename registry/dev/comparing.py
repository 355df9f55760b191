"""Judges a schema against registered versions, by the settings that count for the subject.

Must not know how formats are compared (`registry.compat`). Source: Confluent's
`AbstractSchemaRegistry.isCompatibleWithPrevious` and the messages it answers.
"""

from __future__ import annotations

from collections.abc import Sequence

from registry.compat import CompatibilityResult, check
from registry.dev.content import qualified, resolver
from registry.dev.names import Name
from registry.dev.refusal import invalid_schema
from registry.dev.settings import DEFAULT_LEVEL
from registry.dev.state import State, Version
from registry.errors import InvalidSchemaError
from registry.models import Schema

__all__ = ["conflicts"]


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
    try:
        result = check(
            qualified(name, candidate),
            [qualified(name, schema) for _, schema in counted],
            level.value,
            settings.policy or "STRICT",
            resolve=resolver(state, deleted=True),
        )
    except InvalidSchemaError as error:
        raise invalid_schema(error.error_message) from error
    found = messages(result, counted)
    return (
        [*found, f"{{validateFields: '{_said(settings.validate_fields)}', compatibility: '{level.value}'}}"]
        if found
        else []
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
