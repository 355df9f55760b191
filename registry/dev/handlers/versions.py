"""`/subjects/{subject}/versions…`: registering, reading and deleting versions.

Must not know how ids are given (`registry.dev.operations.registration`). Source: Confluent's `SubjectVersionsResource`.
"""

from __future__ import annotations

from typing import Any

from registry.dev.handlers.requests import Call, Response
from registry.dev.handlers.routes import Routes
from registry.dev.names import Name
from registry.dev.operations.deletion import delete_version, users
from registry.dev.operations.description import described, formatted
from registry.dev.operations.registration import Found, others, register
from registry.dev.refusal import invalid_subject, subject_not_found, version_not_found

ROUTES = Routes()


def found_version(call: Call, deleted: bool) -> Found:
    """The version in the path; a subject that says no context is also looked for in the others."""
    for subject in [call.subject, *others(call.state, call.subject)]:
        version = call.state.version(subject, call.version, deleted)
        if version is not None:
            return Found(subject, version)
    if not call.state.has(call.subject, deleted):
        raise subject_not_found(call.subject)
    raise version_not_found(call.version)


@ROUTES.on("GET", "/subjects/{subject}/versions")
def every(call: Call) -> Any:
    only, negative = call.flag("deletedOnly"), call.flag("deletedAsNegative")
    deleted = call.flag("deleted") or only or negative
    if not call.state.has(call.subject, deleted):
        raise subject_not_found(call.subject)
    chosen = [item for item in call.state.versions(call.subject, deleted) if item.deleted or not only]
    return call.page([-item.number if negative and item.deleted else item.number for item in chosen])


@ROUTES.on("POST", "/subjects/{subject}/versions")
def add(call: Call) -> Any:
    request = call.schema()
    if not Name.parse(call.subject).is_valid():
        raise invalid_subject(call.subject)
    found = register(call.state, call.subject, request, call.flag("normalize"))
    return described(call.state, found.subject, found.version, call.text("format"))


@ROUTES.on("GET", "/subjects/{subject}/versions/{version}")
def one(call: Call) -> Any:
    found = found_version(call, call.flag("deleted"))
    return described(call.state, found.subject, found.version, call.text("format"), call.text("referenceFormat"))


@ROUTES.on("GET", "/subjects/{subject}/versions/{version}/schema")
def text(call: Call) -> Any:
    found = found_version(call, call.flag("deleted"))
    schema = formatted(call.state, found.subject, call.state.schema(found.subject, found.version), call.text("format"))
    return Response(200, schema.schema_str.encode())


@ROUTES.on("GET", "/subjects/{subject}/versions/{version}/referencedby")
def referenced_by(call: Call) -> Any:
    found = found_version(call, deleted=True)
    return call.page(users(call.state, found.subject, found.version.number))


@ROUTES.on("DELETE", "/subjects/{subject}/versions/{version}")
def delete(call: Call) -> Any:
    return delete_version(call.state, call.subject, call.version, call.flag("permanent"))
