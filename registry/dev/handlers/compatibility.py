"""`/compatibility…`: would a schema be accepted, without registering it.

Must not know how schemas are compared (`registry.dev.operations.comparison`). Source: Confluent's
`CompatibilityResource`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from registry.dev.handlers.requests import Call
from registry.dev.handlers.routes import Routes
from registry.dev.operations.comparison import conflicts
from registry.dev.operations.content import canonical, is_empty
from registry.dev.refusal import Refusal, invalid_schema, version_not_found
from registry.dev.state.state import Version

ROUTES = Routes()
INVALID_SCHEMA = 42201


def _verdict(call: Call, versions: Sequence[Version]) -> dict[str, Any]:
    schema = call.schema().schema
    try:
        reasons = _reasons(call, schema, versions)
    except Refusal as refusal:
        if refusal.code != INVALID_SCHEMA or not call.flag("verbose"):
            raise
        reasons = [refusal.message]
    answer: dict[str, Any] = {"is_compatible": not reasons}
    if call.flag("verbose"):
        answer["messages"] = reasons
    return answer


def _reasons(call: Call, schema: Any, versions: Sequence[Version]) -> list[str]:
    if is_empty(schema):
        raise invalid_schema("Empty schema")
    normalize = call.flag("normalize") or call.state.settings(call.subject).normalize is True
    return conflicts(
        call.state, call.subject, canonical(call.state, call.subject, schema, normalize, new=True), versions
    )


@ROUTES.on("POST", "/compatibility/subjects/{subject}/versions")
def with_all(call: Call) -> Any:
    return _verdict(call, call.state.versions(call.subject))


@ROUTES.on("POST", "/compatibility/subjects/{subject}/versions/{version}")
def with_one(call: Call) -> Any:
    version = call.state.version(call.subject, call.version)
    if version is None and call.version != -1:
        raise version_not_found(call.version)
    return _verdict(call, [] if version is None else [version])
