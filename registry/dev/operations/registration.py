"""Registering and looking up schemas: which id and version a schema has, or gets.

Must not know of HTTP. Source: Confluent's `KafkaSchemaRegistry.registerOrForward`, `register` and
`AbstractSchemaRegistry.lookUpSchemaUnderSubject`.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass

from registry.dev.names import DEFAULT_CONTEXT, Name
from registry.dev.operations.comparison import conflicts
from registry.dev.operations.content import canonical, is_empty
from registry.dev.refusal import id_taken, incompatible, invalid_schema, not_permitted
from registry.dev.shapes import SchemaRequest
from registry.dev.state.settings import CONFLUENT_VERSION, Settings, merged_metadata, merged_rules, with_version
from registry.dev.state.state import State, Version
from registry.models import Metadata, Schema

IMPORTING = ("IMPORT", "FORWARD")
READ_ONLY = ("READONLY", "READONLY_OVERRIDE")


@dataclass(frozen=True, slots=True)
class Found:
    """A version and the subject it belongs to."""

    subject: str
    version: Version


def others(state: State, subject: str) -> list[str]:
    """The same subject in every other context; none for a subject that says its context."""
    name = Name.parse(subject)
    if name.context != DEFAULT_CONTEXT:
        return []
    return [str(Name(str(context), name.subject)) for (context,) in sorted(state.contexts)]


# --- looking up


def look_up_everywhere(state: State, subject: str, schema: Schema, normalize: bool, deleted: bool) -> Found | None:
    """Finds a schema's registration: under the subject, else under the same subject in another context.

    Raises:
        Refusal: 42201, it is not a valid schema.
    """
    for place in [subject, *others(state, subject)]:
        found = look_up(state, place, schema, normalize, deleted)
        if found is not None:
            return found
    return None


def look_up(state: State, subject: str, schema: Schema, normalize: bool, deleted: bool) -> Found | None:
    """Finds a schema's registration under a subject, as it is or with what registering it would add."""
    if is_empty(schema):
        return None
    settings = state.settings(subject)
    normal = canonical(state, subject, schema, normalize or settings.normalize is True)
    found = _find(state, subject, normal, deleted)
    newest = state.version(subject, -1)
    if found is not None or newest is None:
        return found
    filled = _filled(settings, normal, state.schema(subject, newest))
    return None if filled == normal else _find(state, subject, filled, deleted)


def _find(state: State, subject: str, normal: Schema, deleted: bool) -> Found | None:
    schema_id = state.id_of(Name.parse(subject).context, normal)
    versions = list(reversed(state.versions(subject, deleted)))
    held = [version for version in versions if version.schema_id == schema_id]
    if held:
        return Found(subject, next((version for version in held if not version.deleted), held[0]))
    if _said_version(normal.metadata) is None:
        for version in versions:
            if _unnumbered(state.schema(subject, version)) == normal:
                return Found(subject, version)
    return None


def _said_version(metadata: Metadata | None) -> str | None:
    properties = None if metadata is None else metadata.properties
    return None if properties is None else properties.get(CONFLUENT_VERSION)


def _unnumbered(schema: Schema) -> Schema:
    """The schema without the version in its metadata."""
    if schema.metadata is None or _said_version(schema.metadata) is None:
        return schema
    rest = {name: value for name, value in (schema.metadata.properties or {}).items() if name != CONFLUENT_VERSION}
    metadata = dataclasses.replace(schema.metadata, properties=rest or None)
    return dataclasses.replace(schema, metadata=None if metadata == Metadata() else metadata)


def _filled(settings: Settings, schema: Schema, newest: Schema | None, number: int | None = None) -> Schema:
    """The schema with metadata and rules of the settings and, where it says none, of the newest version.

    Args:
        number: what the metadata is to say about the version, None where it is not to be changed.
    """
    said, rules = schema.metadata, schema.rule_set
    if newest is not None:
        said, rules = said or newest.metadata, rules or newest.rule_set
    metadata = merged_metadata(merged_metadata(settings.default_metadata, said), settings.override_metadata)
    rules = merged_rules(merged_rules(settings.default_rules, rules), settings.override_rules)
    if number is not None:
        metadata = with_version(metadata, number)
    return dataclasses.replace(schema, metadata=metadata, rule_set=rules)


# --- registering


def register(state: State, subject: str, request: SchemaRequest, normalize: bool) -> Found:
    """The place of a schema under a subject: the one it has, or a new version if mode and level allow it.

    Raises:
        Refusal: 42201 (not valid), 42205 (mode, or another schema has the id), 409 (not compatible).
    """
    settings = state.settings(subject)
    normalize = normalize or settings.normalize is True
    if request.version == 0 and not settings.adds_to_schemas:
        found = look_up(state, subject, request.schema, normalize, deleted=False)
        if found is not None and request.schema_id in (None, found.version.schema_id):
            return found
    mode = state.mode(subject)
    _refuse_mode(mode, subject, request)
    importing = mode in IMPORTING
    every, live = state.versions(subject, deleted=True), state.versions(subject)
    number = max((version.number for version in every), default=0) + 1
    schema = request.schema if importing else _completed(state, subject, request, settings, live, number)
    if is_empty(schema):
        raise invalid_schema("Empty schema")
    normal = canonical(state, subject, schema, normalize, new=request.schema_id is None)
    known = state.id_of(Name.parse(subject).context, normal)
    if request.schema_id not in (None, known):
        known = None
    elif known is not None and request.version == 0:
        held = [version for version in reversed(live) if version.schema_id == known]
        if held:
            return Found(subject, held[0])
    if not importing:
        reasons = conflicts(state, subject, normal, live)
        if reasons:
            raise incompatible(subject, reasons)
        if request.version > 0 and request.version != number:
            raise invalid_schema("Version is not one more than previous version")
    return _add(state, subject, normal, request, known, number)


def _refuse_mode(mode: str, subject: str, request: SchemaRequest) -> None:
    if mode in READ_ONLY:
        raise not_permitted(f"Subject {subject} is in read-only mode")
    if request.schema_id is not None:
        if mode not in IMPORTING:
            raise not_permitted(f"Subject {subject} is not in import mode")
    elif mode != "READWRITE":
        raise not_permitted(f"Subject {subject} is not in read-write mode")


def _completed(
    state: State, subject: str, request: SchemaRequest, settings: Settings, live: list[Version], number: int
) -> Schema:
    """The schema with what it leaves out: text, metadata and rules of the newest version, and of the settings."""
    schema = request.schema
    newest = state.schema(subject, live[-1]) if live else None
    if is_empty(schema):
        if newest is None:
            raise invalid_schema("Empty schema")
        schema = dataclasses.replace(
            schema, schema_str=newest.schema_str, schema_type=newest.schema_type, references=newest.references
        )
    filled = _filled(settings, schema, newest)
    if request.version != 0 or _said_version(filled.metadata) is not None:
        return _filled(settings, schema, newest, number)
    return filled


def _add(state: State, subject: str, normal: Schema, request: SchemaRequest, known: int | None, number: int) -> Found:
    context = Name.parse(subject).context
    schema_id = known if request.schema_id is None else request.schema_id
    if schema_id is None:
        schema_id = state.next_id(context)
    elif state.contents.get((context, schema_id)) not in (None, normal):
        raise id_taken(schema_id)
    version = Version(request.version if request.version > 0 else number, schema_id)
    state.put(subject, version, normal)
    for old in state.versions(subject, deleted=True):
        if old.deleted and old.schema_id == schema_id and old.number < version.number:
            state.remove(subject, old)
    return Found(subject, version)
