"""`/config…`: settings of a subject, of a context, or of all.

Must not know what the settings do (`registry.dev.state.settings`). Source: Confluent's `ConfigResource`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from registry.compat import Level
from registry.dev.handlers.requests import Call
from registry.dev.handlers.routes import Routes
from registry.dev.names import Name
from registry.dev.operations.deletion import refuse_read_only
from registry.dev.refusal import (
    Refusal,
    invalid_level,
    invalid_policy,
    invalid_subject,
    no_subject_config,
    subject_not_found,
)
from registry.dev.shapes import boolean, metadata_of, rule_set_of, text
from registry.dev.state.settings import Settings
from registry.dev.state.state import GLOBAL, State

ROUTES = Routes()
POLICIES = ("STRICT", "LENIENT")


def _level(value: Any) -> Level | None:
    found = text(value, "compatibility")
    try:
        return None if found is None else Level.of(found)
    except ValueError:
        raise invalid_level() from None


def _policy(value: Any) -> str | None:
    found = text(value, "compatibilityPolicy")
    if found is not None and found.upper() not in POLICIES:
        raise invalid_policy()
    return None if found is None else found.upper()


def _changes(body: Mapping[str, Any]) -> dict[str, Any]:
    """The settings a request names; None for those it unsets."""
    readers: dict[str, tuple[str, Any]] = {
        "alias": ("alias", lambda value: text(value, "alias")),
        "normalize": ("normalize", lambda value: boolean(value, "normalize")),
        "validateFields": ("validate_fields", lambda value: boolean(value, "validateFields")),
        "compatibilityLevel": ("level", _level),
        "compatibility": ("level", _level),
        "compatibilityPolicy": ("policy", _policy),
        "compatibilityGroup": ("group", lambda value: text(value, "compatibilityGroup")),
        "defaultMetadata": ("default_metadata", lambda value: metadata_of(value, "defaultMetadata")),
        "overrideMetadata": ("override_metadata", lambda value: metadata_of(value, "overrideMetadata")),
        "defaultRuleSet": ("default_rules", lambda value: rule_set_of(value, "defaultRuleSet")),
        "overrideRuleSet": ("override_rules", lambda value: rule_set_of(value, "overrideRuleSet")),
    }
    return {target: read(body[name]) for name, (target, read) in readers.items() if name in body}


def _answered(state: State, settings: Settings) -> dict[str, Any]:
    return (settings if settings.level is not None else settings.updated({"level": state.default_level})).to_dict()


def _set(call: Call, scope: str) -> dict[str, Any]:
    changes = _changes(call.body())
    refuse_read_only(call.state, scope)
    old = call.state.configs.get((scope,)) or Settings()
    call.state.configs[(scope,)] = old.updated(changes)
    return Settings().updated(changes).to_dict("compatibility")


def _delete(call: Call, scope: str, missing: Refusal) -> dict[str, Any]:
    if (scope,) not in call.state.configs:
        raise missing
    refuse_read_only(call.state, scope)
    old = call.state.configs.pop((scope,))
    return _answered(call.state, old or Settings())


@ROUTES.on("GET", "/config")
def get_global(call: Call) -> Any:
    return _answered(call.state, call.state.settings(GLOBAL))


@ROUTES.on("PUT", "/config")
def set_global(call: Call) -> Any:
    return _set(call, GLOBAL)


@ROUTES.on("DELETE", "/config")
def delete_global(call: Call) -> Any:
    if (GLOBAL,) not in call.state.configs:
        return _answered(call.state, Settings())
    return _delete(call, GLOBAL, subject_not_found(GLOBAL))


@ROUTES.on("GET", "/config/{subject}")
def get_one(call: Call) -> Any:
    if call.flag("defaultToGlobal"):
        return _answered(call.state, call.state.settings(call.subject))
    found = call.state.configs.get((call.subject,))
    if found is None:
        raise no_subject_config(call.subject)
    return _answered(call.state, found)


@ROUTES.on("PUT", "/config/{subject}")
def set_one(call: Call) -> Any:
    name = Name.parse(call.subject)
    if name.subject and not name.is_valid():
        raise invalid_subject(call.subject)
    return _set(call, call.subject)


@ROUTES.on("DELETE", "/config/{subject}")
def delete_one(call: Call) -> Any:
    return _delete(call, call.subject, subject_not_found(call.subject))
