"""`/subjects` and `/subjects/{subject}`: which there are, where a schema is registered, deleting all of one.

Must not know how schemas are compared. Source: Confluent's `SubjectsResource`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from registry.dev.handlers.requests import Call
from registry.dev.handlers.routes import Routes
from registry.dev.names import EVERYWHERE, Name
from registry.dev.operations.deletion import delete_subject
from registry.dev.operations.description import described
from registry.dev.operations.registration import look_up_everywhere
from registry.dev.refusal import malformed, schema_not_found, subject_not_found

ROUTES = Routes()


def starts_with(prefixes: list[str]) -> Callable[[str], bool]:
    """Whether a subject starts with one of the prefixes; `:*:x` means `x` in any context, none means everything."""
    everywhere = tuple(prefix[len(EVERYWHERE) :] for prefix in prefixes if prefix.startswith(EVERYWHERE))
    plain = tuple(prefix for prefix in prefixes if not prefix.startswith(EVERYWHERE))

    def chosen(subject: str) -> bool:
        if not prefixes or (plain and subject.startswith(plain)):
            return True
        return bool(everywhere) and Name.parse(subject).subject.startswith(everywhere)

    return chosen


@ROUTES.on("GET", "/subjects")
def every(call: Call) -> Any:
    chosen, only = starts_with(list(call.texts("subjectPrefix"))), call.flag("deletedOnly")
    deleted = call.flag("deleted") or only
    return call.page(
        [
            subject
            for subject in call.state.subjects()
            if chosen(subject) and call.state.has(subject, deleted) and not (only and call.state.has(subject))
        ]
    )


@ROUTES.on("POST", "/subjects/{subject}")
def look_up(call: Call) -> Any:
    deleted = call.flag("deleted")
    schema = call.schema().schema
    found = look_up_everywhere(call.state, call.subject, schema, call.flag("normalize"), deleted)
    if found is None:
        raise schema_not_found() if call.state.has(call.subject, deleted) else subject_not_found(call.subject)
    return described(call.state, found.subject, found.version, call.text("format"))


@ROUTES.on("DELETE", "/subjects/{subject}")
def delete(call: Call) -> Any:
    return delete_subject(call.state, call.subject, call.flag("permanent"))


@ROUTES.on("GET", "/subjects/{subject}/metadata")
def latest_with_metadata(call: Call) -> Any:
    keys, values = call.texts("key"), call.texts("value")
    if len(keys) != len(values):
        raise malformed("As many values as keys are needed")
    wanted, deleted = dict(zip(keys, values, strict=True)).items(), call.flag("deleted")
    for version in reversed(call.state.versions(call.subject, deleted)):
        metadata = call.state.schema(call.subject, version).metadata
        if metadata is not None and metadata.properties and wanted <= metadata.properties.items():
            return described(call.state, call.subject, version, call.text("format"))
    raise schema_not_found() if call.state.has(call.subject, deleted) else subject_not_found(call.subject)
