"""`/associations…`: which subject holds the schemas of a topic's keys or values.

Must not know what a topic is. Source: Confluent's `AssociationsResource`, `AssociationCreateOrUpdateRequest`; what
those leave open (texts, the order of checks) is ours.
"""

from __future__ import annotations

import dataclasses
import uuid
from collections.abc import Callable, Mapping
from typing import Any

from registry.dev.handlers.requests import Call, Response
from registry.dev.handlers.routes import Routes
from registry.dev.names import Name
from registry.dev.operations.deletion import delete_subject
from registry.dev.operations.registration import register
from registry.dev.refusal import (
    association_frozen,
    association_not_found,
    invalid_association,
    no_active_version,
    resource_associated,
    strong_association,
    subject_associated,
)
from registry.dev.shapes import boolean, objects, schema_request, text
from registry.dev.state.state import Association

ROUTES = Routes()
TOPIC = "topic"
KINDS = ("key", "value")
LIFECYCLES = ("STRONG", "WEAK")
ANY_NAMESPACE = "-"
IDENTITY = uuid.UUID("6b736572-6465-7300-8000-000000000000")


# --- reading


def _listed(call: Call, mine: Callable[[Association], bool]) -> list[dict[str, Any]]:
    kind, kinds, lifecycle = call.text("resourceType") or TOPIC, call.texts("associationType"), call.text("lifecycle")
    found = [
        item.to_dict()
        for _, item in sorted(call.state.associations.items())
        if mine(item)
        and item.resource_type == kind
        and (not kinds or item.kind in kinds)
        and (not lifecycle or item.lifecycle == lifecycle)
    ]
    return call.page(found)


@ROUTES.on("GET", "/associations/subjects/{subject}")
def by_subject(call: Call) -> Any:
    return _listed(call, lambda item: item.subject == call.subject)


@ROUTES.on("GET", "/associations/resources/{id}")
def by_resource(call: Call) -> Any:
    return _listed(call, lambda item: item.resource_id == call.names["id"])


@ROUTES.on("GET", "/associations/resources/{namespace}/{name}")
def by_name(call: Call) -> Any:
    namespace, name = call.names["namespace"], call.names["name"]
    return _listed(
        call, lambda item: item.resource_name == name and namespace in (ANY_NAMESPACE, item.resource_namespace)
    )


# --- writing


@dataclasses.dataclass(frozen=True, slots=True)
class Resource:
    """A resource that is associated."""

    name: str
    namespace: str
    id: str
    type: str


def _needed(source: Mapping[str, Any], name: str) -> str:
    found = text(source.get(name), name)
    if not found:
        raise invalid_association(name, "cannot be null or empty")
    return found


def _resource(body: Mapping[str, Any]) -> Resource:
    kind = text(body.get("resourceType"), "resourceType") or TOPIC
    if kind != TOPIC:
        raise invalid_association("resourceType", f"must be '{TOPIC}'")
    return Resource(
        _needed(body, "resourceName"), _needed(body, "resourceNamespace"), _needed(body, "resourceId"), kind
    )


def _said(source: Mapping[str, Any], resource: Resource, context: str) -> Association:
    """An association of a request, with defaults for what it leaves out."""
    kind = text(source.get("associationType"), "associationType") or "value"
    if kind not in KINDS:
        raise invalid_association("associationType", f"must be one of {', '.join(KINDS)}")
    lifecycle, frozen = (
        (text(source.get("lifecycle"), "lifecycle") or "").upper(),
        boolean(source.get("frozen"), "frozen"),
    )
    if lifecycle and lifecycle not in LIFECYCLES:
        raise invalid_association("lifecycle", f"must be one of {', '.join(LIFECYCLES)}")
    usual = str(Name(f".{resource.namespace}", f"{resource.name}-{kind}"))
    given = text(source.get("subject"), "subject")
    subject = str(Name.parse(context).beside(given)) if given else usual
    if frozen and subject != usual:
        raise invalid_association("subject", f"frozen associations must use subject '{usual}'")
    if not Name.parse(subject).is_valid():
        raise invalid_association("subject", f"'{subject}' is not a valid subject")
    guid = str(uuid.uuid5(IDENTITY, "\0".join((resource.id, resource.type, kind, subject))))
    return Association(
        subject,
        guid,
        resource.name,
        resource.namespace,
        resource.id,
        resource.type,
        kind,
        lifecycle or "WEAK",
        bool(frozen),
    )


def _key(item: Association) -> tuple[str, str, str]:
    return (item.resource_id, item.resource_type, item.kind)


def _checked(call: Call, new: Association, update: bool) -> None:
    old = call.state.associations.get(_key(new))
    if old is not None and old != new:
        if old.frozen:
            raise association_frozen(old.kind, old.subject)
        if not update or old.subject != new.subject:
            raise resource_associated(new.kind, new.resource_id)
    for key, other in call.state.associations.items():
        if other.subject == new.subject and key != _key(new):
            if other.lifecycle == "STRONG":
                raise strong_association(new.subject)
            if new.lifecycle == "STRONG":
                raise subject_associated(new.subject)


def _put(call: Call, update: bool, resource_id: str | None = None) -> dict[str, Any]:
    body = dict(call.body())
    if resource_id is not None and body.setdefault("resourceId", resource_id) != resource_id:
        raise invalid_association("resourceId", "is not the one in the path")
    resource, infos = _resource(body), objects(body.get("associations"), "associations")
    if not infos:
        raise invalid_association("associations", "cannot be null or empty")
    made: list[dict[str, Any]] = []
    for source in infos:
        new = _said(source, resource, call.text("context") or "")
        _checked(call, new, update)
        schema = source.get("schema")
        if schema is not None:
            if not isinstance(schema, dict):
                raise invalid_association("schema", "must be an object")
            normalize = boolean(source.get("normalize"), "normalize") is True
            register(call.state, new.subject, schema_request(schema), normalize)
        elif call.state.version(new.subject, -1) is None:
            raise no_active_version(new.subject)
        call.state.associations[_key(new)] = new
        said = {"subject": new.subject, "associationType": new.kind, "lifecycle": new.lifecycle, "frozen": new.frozen}
        made.append(said if schema is None else {**said, "schema": schema})
    where = {"resourceName": resource.name, "resourceNamespace": resource.namespace}
    if call.flag("dryRun"):
        call.state.undo()
    return {**where, "resourceId": resource.id, "resourceType": resource.type, "associations": made}


@ROUTES.on("POST", "/associations")
def create(call: Call) -> Any:
    return _put(call, update=False)


@ROUTES.on("PUT", "/associations")
def update(call: Call) -> Any:
    return _put(call, update=True)


@ROUTES.on("PUT", "/associations/resources/{id}")
def update_resource(call: Call) -> Any:
    return _put(call, update=True, resource_id=call.names["id"])


@ROUTES.on("DELETE", "/associations/resources/{id}")
def delete(call: Call) -> Any:
    resource, kinds = call.names["id"], call.texts("associationType")
    found = [
        item
        for key, item in sorted(call.state.associations.items())
        if key[:2] == (resource, call.text("resourceType") or TOPIC) and (not kinds or item.kind in kinds)
    ]
    if not found:
        raise association_not_found(resource)
    cascade = call.flag("cascadeLifecycle")
    for item in found:
        if item.frozen and not cascade:
            raise association_frozen(item.kind, item.subject)
        call.state.associations.pop(_key(item))
        if cascade and item.lifecycle == "STRONG" and call.state.has(item.subject):
            delete_subject(call.state, item.subject, permanent=False)
    if call.flag("dryRun"):
        call.state.undo()
    return Response(204, b"")
