"""`/mode…`: what may be changed in a subject, in a context, or anywhere.

Must not know what a mode allows (`registry.dev.operations.registration`, `registry.dev.operations.deletion`). Source:
Confluent's `ModeResource`.
"""

from __future__ import annotations

from typing import Any

from registry.dev.handlers.requests import Call
from registry.dev.handlers.routes import Routes
from registry.dev.names import Name
from registry.dev.operations.deletion import enter_import
from registry.dev.refusal import invalid_mode, invalid_subject, no_subject_mode, subject_not_found
from registry.dev.shapes import text
from registry.dev.state.settings import MODES
from registry.dev.state.state import GLOBAL

ROUTES = Routes()


def _set(call: Call, scope: str) -> dict[str, str]:
    mode = (text(call.body().get("mode"), "mode") or "").upper()
    if mode not in MODES:
        raise invalid_mode()
    if mode == "IMPORT" and call.state.mode(scope) != "IMPORT" and not call.flag("force"):
        enter_import(call.state, scope)
    call.state.modes[(scope,)] = mode
    return {"mode": mode}


@ROUTES.on("GET", "/mode")
def get_global(call: Call) -> Any:
    return {"mode": call.state.mode(GLOBAL)}


@ROUTES.on("PUT", "/mode")
def set_global(call: Call) -> Any:
    return _set(call, GLOBAL)


@ROUTES.on("DELETE", "/mode")
def delete_global(call: Call) -> Any:
    return {"mode": call.state.modes.pop((GLOBAL,)) or call.state.mode(GLOBAL)}


@ROUTES.on("GET", "/mode/{subject}")
def get_one(call: Call) -> Any:
    if call.flag("defaultToGlobal"):
        return {"mode": call.state.mode(call.subject)}
    override = call.state.mode(GLOBAL)
    found = override if override == "READONLY_OVERRIDE" else call.state.modes.get((call.subject,))
    if found is None:
        raise no_subject_mode(call.subject)
    return {"mode": found}


@ROUTES.on("PUT", "/mode/{subject}")
def set_one(call: Call) -> Any:
    name = Name.parse(call.subject)
    if name.subject and not name.is_valid():
        raise invalid_subject(call.subject)
    return _set(call, call.subject)


@ROUTES.on("DELETE", "/mode/{subject}")
def delete_one(call: Call) -> Any:
    old = call.state.modes.pop((call.subject,))
    if old is None:
        raise subject_not_found(call.subject)
    return {"mode": old}
