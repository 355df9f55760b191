"""Reads the JSON of requests: every field has the type the API says, or the request is refused.

Must not know of state. Source: the request bodies of Confluent's REST API.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from registry.dev.refusal import invalid_rules, malformed
from registry.models import Metadata, Rule, RuleKind, RuleMode, RuleSet, Schema, SchemaReference

MIGRATION = frozenset({RuleMode.UPGRADE, RuleMode.DOWNGRADE, RuleMode.UPDOWN})
LATEST = -1


@dataclass(frozen=True, slots=True)
class SchemaRequest:
    """A schema as it is registered, looked up or tested.

    Attributes:
        schema: its text may be empty: then the newest version's is meant.
        schema_id: the id it is to have (import); None if the registry is to choose.
        version: the version it is to be; 0 if the registry is to choose, -1 if it is also to be said in the metadata.
    """

    schema: Schema
    schema_id: int | None = None
    version: int = 0


def _wrong(where: str, wanted: str) -> Exception:
    return malformed(f"Unable to process JSON: {where} must be {wanted}")


def text(value: Any, where: str) -> str | None:
    """A string, or None."""
    if value is not None and not isinstance(value, str):
        raise _wrong(where, "a string")
    return value


def boolean(value: Any, where: str) -> bool | None:
    """True, False, or None."""
    if value is not None and not isinstance(value, bool):
        raise _wrong(where, "true or false")
    return value


def number(value: Any, where: str) -> int | None:
    """A 32 bit integer, or None."""
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int) or not -(2**31) <= value < 2**31:
        raise _wrong(where, "a 32 bit integer")
    return value


def objects(value: Any, where: str) -> list[Mapping[str, Any]]:
    """A list of objects; empty for None."""
    if value is None:
        return []
    if not isinstance(value, list) or not all(isinstance(item, dict) for item in value):
        raise _wrong(where, "a list of objects")
    return value


def strings(value: Any, where: str) -> list[str] | None:
    """A list of strings, or None."""
    if value is None:
        return None
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise _wrong(where, "a list of strings")
    return value


def _object(value: Any, where: str) -> Mapping[str, Any]:
    if not isinstance(value, dict):
        raise _wrong(where, "an object")
    return value


def _properties(value: Any, where: str) -> dict[str, str] | None:
    if value is None:
        return None
    found = _object(value, where)
    if not all(isinstance(item, str) for item in found.values()):
        raise _wrong(where, "an object of strings")
    return dict(sorted(found.items()))


def metadata_of(value: Any, where: str = "metadata") -> Metadata | None:
    """Metadata in one order, or None if there is nothing in it."""
    if value is None:
        return None
    source = _object(value, where)
    tags = None if source.get("tags") is None else _object(source["tags"], f"{where}.tags")
    ordered = {path: sorted(strings(found, f"{where}.tags") or ()) for path, found in sorted((tags or {}).items())}
    sensitive = sorted(set(strings(source.get("sensitive"), f"{where}.sensitive") or ()))
    made = Metadata(
        ordered or None, _properties(source.get("properties"), f"{where}.properties") or None, sensitive or None
    )
    return None if made == Metadata() else made


def _rule(source: Mapping[str, Any], where: str) -> Rule:
    kind, mode = text(source.get("kind"), f"{where}.kind"), text(source.get("mode"), f"{where}.mode")
    try:
        kinds, modes = None if kind is None else RuleKind(kind), None if mode is None else RuleMode(mode)
    except ValueError as error:
        raise malformed(f"Unable to process JSON: {where}: {error}") from None
    return Rule(
        name=text(source.get("name"), f"{where}.name"),
        doc=text(source.get("doc"), f"{where}.doc"),
        kind=kinds,
        mode=modes,
        type=text(source.get("type"), f"{where}.type"),
        tags=strings(source.get("tags"), f"{where}.tags"),
        params=_properties(source.get("params"), f"{where}.params"),
        expr=text(source.get("expr"), f"{where}.expr"),
        on_success=text(source.get("onSuccess"), f"{where}.onSuccess"),
        on_failure=text(source.get("onFailure"), f"{where}.onFailure"),
        disabled=boolean(source.get("disabled"), f"{where}.disabled"),
    )


def _rules(source: Mapping[str, Any], name: str, where: str, migration: bool) -> list[Rule] | None:
    found = [_rule(item, f"{where}.{name}") for item in objects(source.get(name), f"{where}.{name}")]
    names: set[str | None] = set()
    for rule in found:
        if not rule.name:
            raise invalid_rules("a rule has no name")
        if rule.name in names:
            raise invalid_rules(f"Found rule with duplicate name '{rule.name}'")
        names.add(rule.name)
        if rule.mode is not None and (rule.mode in MIGRATION) is not migration:
            known = "UPGRADE, DOWNGRADE, UPDOWN" if migration else "WRITE, READ, WRITEREAD"
            raise invalid_rules(f"{name} can only be {known}")
    return found or None


def rule_set_of(value: Any, where: str = "ruleSet") -> RuleSet | None:
    """A rule set, or None if there is no rule in it."""
    if value is None:
        return None
    source = _object(value, where)
    made = RuleSet(
        migration_rules=_rules(source, "migrationRules", where, migration=True),
        domain_rules=_rules(source, "domainRules", where, migration=False),
        encoding_rules=_rules(source, "encodingRules", where, migration=False),
        enable_at=text(source.get("enableAt"), f"{where}.enableAt"),
    )
    return None if made == RuleSet() else made


def _reference(source: Mapping[str, Any]) -> SchemaReference:
    name, subject = text(source.get("name"), "references.name"), text(source.get("subject"), "references.subject")
    version = number(source.get("version"), "references.version")
    if not name or not subject:
        raise malformed("Unable to process JSON: a reference needs a name and a subject")
    return SchemaReference(name, subject, LATEST if version is None else version)


def schema_request(source: Mapping[str, Any]) -> SchemaRequest:
    """The body of a registration, look-up or test."""
    schema_id = number(source.get("id"), "id")
    return SchemaRequest(
        schema=Schema(
            schema_str=text(source.get("schema"), "schema") or "",
            schema_type=text(source.get("schemaType"), "schemaType") or "AVRO",
            references=tuple(_reference(item) for item in objects(source.get("references"), "references")),
            metadata=metadata_of(source.get("metadata")),
            rule_set=rule_set_of(source.get("ruleSet")),
        ),
        schema_id=None if schema_id is None or schema_id < 0 else schema_id,
        version=number(source.get("version"), "version") or 0,
    )
