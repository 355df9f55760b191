"""Contexts, rules and schemas for the tests of data contracts."""

from __future__ import annotations

import json
from typing import Any

from registry import Metadata, Rule, RuleKind, RuleMode, RuleSet, Schema
from serdes import MessageField, SerializationContext
from serdes.rules import RuleContext

PERSON: dict[str, Any] = {
    "type": "record",
    "name": "Person",
    "namespace": "test",
    "fields": [
        {"name": "name", "type": "string", "confluent:tags": ["PII"]},
        {"name": "nick", "type": ["null", "string"], "default": None, "confluent:tags": ["PII"]},
        {"name": "age", "type": "int"},
    ],
}


def ctx(field: MessageField = MessageField.VALUE, headers: Any = None) -> SerializationContext:
    return SerializationContext("people", field, headers)


def rule(name: str = "r", type: str | None = "CEL", **changes: Any) -> Rule:
    given: dict[str, Any] = {"kind": RuleKind.CONDITION, "mode": RuleMode.WRITE, **changes}
    return Rule(name=name, type=type, **given)


def schema(*rules: Rule, metadata: Metadata | None = None, **lists: Any) -> Schema:
    """A schema of people with domain rules (or other lists of rules)."""
    return Schema(json.dumps(PERSON), metadata=metadata, rule_set=RuleSet(domain_rules=list(rules), **lists))


def context(one: Rule | None = None, mode: RuleMode = RuleMode.WRITE, **changes: Any) -> RuleContext:
    """A context for one rule."""
    chosen = one or rule()
    given: dict[str, Any] = {
        "enabled_env": None,
        "ser_ctx": ctx(),
        "source": None,
        "target": schema(chosen),
        "subject": "people-value",
        "rule_mode": mode,
        "rule": chosen,
        "index": 0,
        "rules": [chosen],
        **changes,
    }
    return RuleContext(**given)
