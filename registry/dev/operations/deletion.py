"""Deleting versions and subjects, softly and for good, and emptying what is to be imported into.

Must not know of HTTP. Source: Confluent's `KafkaSchemaRegistry.deleteSchemaVersion`, `deleteSubject`, `setMode`.
"""

from __future__ import annotations

from registry.dev.names import DEFAULT_CONTEXT, GLOBAL_CONTEXT, Name
from registry.dev.operations.registration import READ_ONLY
from registry.dev.refusal import (
    context_not_empty,
    not_permitted,
    reference_exists,
    subject_deleted,
    subject_not_deleted,
    subject_not_found,
    version_deleted,
    version_not_deleted,
    version_not_found,
)
from registry.dev.state.state import GLOBAL, State, Version


def users(state: State, subject: str, number: int) -> list[int]:
    """Ids of the schemas that use a version, of those that are not deleted."""
    wanted, found = (subject, number), set()
    for other in state.subjects():
        name = Name.parse(other)
        for version in state.versions(other):
            for reference in state.schema(other, version).references:
                if (str(name.beside(reference.subject)), reference.version) == wanted:
                    found.add(version.schema_id)
    return sorted(found)


def refuse_read_only(state: State, subject: str) -> None:
    """Raises for a scope in which nothing may be changed."""
    if state.mode(subject) in READ_ONLY:
        raise not_permitted(f"Subject {subject} is in read-only mode")


def _refuse_used(state: State, subject: str, version: Version) -> None:
    if users(state, subject, version.number):
        raise reference_exists(subject, version.number)


def delete_version(state: State, subject: str, number: int, permanent: bool) -> int:
    """Deletes one version (-1: the newest); returns its number."""
    version = state.version(subject, number, deleted=True)
    if version is None:
        raise version_not_found(number) if state.has(subject, deleted=True) else subject_not_found(subject)
    if not permanent and version.deleted:
        raise version_deleted(subject, version.number)
    refuse_read_only(state, subject)
    _refuse_used(state, subject, version)
    if permanent and not version.deleted:
        raise version_not_deleted(subject, version.number)
    if permanent:
        state.remove(subject, version)
    else:
        state.mark_deleted(subject, version)
        if not state.versions(subject):
            _forget_settings(state, subject)
    return version.number


def delete_subject(state: State, subject: str, permanent: bool) -> list[int]:
    """Deletes all versions: softly those that are live, or for good all, once they were deleted softly."""
    if not state.has(subject, deleted=True):
        raise subject_not_found(subject)
    if not permanent and not state.has(subject):
        raise subject_deleted(subject)
    refuse_read_only(state, subject)
    chosen = state.versions(subject, deleted=permanent)
    for version in chosen:
        _refuse_used(state, subject, version)
        if permanent and not version.deleted:
            raise subject_not_deleted(subject)
    for version in chosen:
        if permanent:
            state.remove(subject, version)
        else:
            state.mark_deleted(subject, version)
    if not permanent:
        _forget_settings(state, subject)
    return [version.number for version in chosen]


def _forget_settings(state: State, subject: str) -> None:
    state.modes.pop((subject,))
    state.configs.pop((subject,))


def enter_import(state: State, scope: str) -> None:
    """Makes room for imported schemas: there may be no live version, and deleted ones go for good."""
    if state.has(scope):
        raise not_permitted("Cannot import since found existing subjects")
    gone = [
        (subject, version) for subject in _within(state, scope) for version in state.versions(subject, deleted=True)
    ]
    for subject, version in gone:
        _refuse_used(state, subject, version)
    for subject, version in gone:
        state.remove(subject, version)


def _within(state: State, scope: str) -> list[str]:
    name = Name.parse(scope)
    if name.subject:
        return [subject for subject in state.subjects() if subject == scope]
    every = scope == GLOBAL or name.context == GLOBAL_CONTEXT
    return [subject for subject in state.subjects() if every or Name.parse(subject).context == name.context]


def delete_context(state: State, context: str) -> None:
    """Removes a context without schemas, and its settings."""
    if context == DEFAULT_CONTEXT or state.has(Name(context, "").prefix, deleted=True):
        raise context_not_empty(context)
    state.contexts.pop((context,))
    _forget_settings(state, Name(context, "").scope)
