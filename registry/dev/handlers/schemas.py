"""`/schemas…`: schemas by id and by GUID, and where they are registered.

Must not know how ids are given. Source: Confluent's `SchemasResource`,
`AbstractSchemaRegistry.getSchemaKeyUsingContexts`.
"""

from __future__ import annotations

from typing import Any

from registry.dev.handlers.requests import Call, Response
from registry.dev.handlers.routes import Routes
from registry.dev.handlers.subjects import starts_with
from registry.dev.names import Name
from registry.dev.operations.description import described, formatted
from registry.dev.operations.registration import Found, others
from registry.dev.refusal import schema_not_found
from registry.dev.state.state import State, Version
from registry.schemas.canonical import schema_guid

ROUTES = Routes()
TYPES = ["AVRO", "JSON", "PROTOBUF"]
SCHEMAS_AT_ONCE = 1000
"""Confluent's `schema.search.max.limit`."""


@ROUTES.on("GET", "/schemas/types")
def types(call: Call) -> Any:
    return TYPES


# --- by id


def _found(call: Call) -> Found:
    """A version that holds the id: of the subject that is asked for, wherever that is; else of its context."""
    name, wanted = Name.parse(call.text("subject") or ""), call.schema_id
    if name.subject:
        for subject in [str(name), *others(call.state, str(name))]:
            places = call.state.places(Name.parse(subject).context, wanted)
            held = [version for place, version in places if place == subject]
            if held:
                return Found(subject, held[-1])
        if name.is_qualified:
            raise schema_not_found(wanted)
    for subject, version in call.state.places(name.context, wanted):
        return Found(subject, version)
    raise schema_not_found(wanted)


def _schema(call: Call, found: Found) -> dict[str, Any]:
    schema = call.state.schema(found.subject, found.version)
    shown = formatted(call.state, found.subject, schema, call.text("format"), call.text("referenceFormat"))
    answer = {**shown.to_dict(), "guid": schema_guid(schema)}
    if call.flag("fetchMaxId"):
        answer["maxId"] = call.state.last_id(Name.parse(found.subject).context)
    return answer


@ROUTES.on("GET", "/schemas/ids/{id}")
def by_id(call: Call) -> Any:
    found = _found(call)
    return {**_schema(call, found), "subject": found.subject, "version": found.version.number}


@ROUTES.on("GET", "/schemas/ids/{id}/schema")
def text_by_id(call: Call) -> Any:
    found = _found(call)
    schema = formatted(call.state, found.subject, call.state.schema(found.subject, found.version), call.text("format"))
    return Response(200, schema.schema_str.encode())


def _places(call: Call) -> list[tuple[str, int]]:
    context, deleted = Name.parse(_found(call).subject).context, call.flag("deleted")
    places = call.state.places(context, call.schema_id)
    return [(subject, version.number) for subject, version in places if deleted or not version.deleted]


@ROUTES.on("GET", "/schemas/ids/{id}/subjects")
def subjects_by_id(call: Call) -> Any:
    return call.page(list(dict.fromkeys(subject for subject, _ in _places(call))))


@ROUTES.on("GET", "/schemas/ids/{id}/versions")
def versions_by_id(call: Call) -> Any:
    return call.page([{"subject": subject, "version": number} for subject, number in _places(call)])


# --- by GUID


def _with_guid(state: State, guid: str) -> list[tuple[str, int]]:
    """Contexts and ids of the schemas with a GUID."""
    wanted = guid.lower()
    return sorted(
        (str(context), int(number))
        for (context, number), schema in state.contents.items()
        if schema_guid(schema) == wanted
    )


@ROUTES.on("GET", "/schemas/guids/{guid}")
def by_guid(call: Call) -> Any:
    for context, schema_id in _with_guid(call.state, call.names["guid"]):
        subject, version = call.state.places(context, schema_id)[0]
        return _schema(call, Found(subject, version))
    raise schema_not_found(call.names["guid"])


@ROUTES.on("GET", "/schemas/guids/{guid}/ids")
def ids_by_guid(call: Call) -> Any:
    found = _with_guid(call.state, call.names["guid"])
    if not found:
        raise schema_not_found(call.names["guid"])
    return [{"context": context, "id": schema_id} for context, schema_id in found]


# --- all of them


@ROUTES.on("GET", "/schemas")
def every(call: Call) -> Any:
    chosen, deleted, latest = (
        starts_with(list(call.texts("subjectPrefix"))),
        call.flag("deleted"),
        call.flag("latestOnly"),
    )
    aliases = _aliases(call.state) if call.flag("aliases") else {}
    wanted = {name for names in call.texts("ruleType") for name in names.split(",")}
    found: list[tuple[str, Version]] = []
    for subject in call.state.subjects():
        if not chosen(subject) and not any(chosen(alias) for alias in aliases.get(subject, ())):
            continue
        versions = call.state.versions(subject, deleted)
        found += [(subject, version) for version in (versions[-1:] if latest else versions)]
    if wanted:
        found = [place for place in found if wanted & _rule_types(call.state, *place)]
    return [_listed(call.state, subject, version, aliases) for subject, version in call.page(found, SCHEMAS_AT_ONCE)]


def _listed(state: State, subject: str, version: Version, aliases: dict[str, list[str]]) -> dict[str, Any]:
    said = {"aliases": aliases[subject]} if subject in aliases else {}
    return {**described(state, subject, version), **said}


def _aliases(state: State) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for (scope,), settings in state.configs.items():
        if settings.alias:
            found.setdefault(str(Name.parse(str(scope)).beside(settings.alias)), []).append(str(scope))
    return found


def _rule_types(state: State, subject: str, version: Version) -> set[str | None]:
    rules = state.schema(subject, version).rule_set
    if rules is None:
        return set()
    every_rule = [*(rules.migration_rules or ()), *(rules.domain_rules or ()), *(rules.encoding_rules or ())]
    return {rule.type for rule in every_rule}
