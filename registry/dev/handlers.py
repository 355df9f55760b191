"""The REST API of an embedded registry: request in, response out, nothing else.

Must not know of sockets, threads or HTTP libraries. Source: Confluent's "Schema Registry API Reference"; media type
`application/vnd.schemaregistry.v1+json`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import unquote

from registry.dev.store import Refusal, Store, SubjectConfig, messages, page
from registry.models import RegisteredSchema, Schema

__all__ = ["MAX_BODY_BYTES", "MEDIA_TYPE", "Request", "Response", "handle"]

MEDIA_TYPE = "application/vnd.schemaregistry.v1+json"
MAX_BODY_BYTES = 16 * 1024 * 1024
SUPPORTED_CONFIG = frozenset({"compatibility", "compatibilityLevel", "normalize"})


@dataclass(frozen=True, slots=True)
class Request:
    """A request.

    Attributes:
        method: in capitals.
        path: still quoted, without query.
        query: the parameters, unquoted.
        body: at most `MAX_BODY_BYTES`; the mount sees to it.
    """

    method: str
    path: str
    query: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""


@dataclass(frozen=True, slots=True)
class Response:
    """An answer: JSON."""

    status: int
    body: bytes


def handle(store: Store, request: Request) -> Response:
    """Answers one request; changes `store`. Never raises for what a client sends."""
    try:
        return _json(200, _route(store, request))
    except Refusal as refusal:
        return _json(refusal.status, {"error_code": refusal.code, "message": refusal.message})


def _json(status: int, value: object) -> Response:
    return Response(status, json.dumps(value).encode())


Handler = Callable[[Store, Request, dict[str, str]], Any]
ROUTES: list[tuple[str, re.Pattern[str], Handler]] = []


def _on(method: str, pattern: str) -> Callable[[Handler], Handler]:
    expression = re.compile(re.sub(r"\{(\w+)\}", r"(?P<\1>[^/]+)", pattern) + r"/?\Z")

    def add(handler: Handler) -> Handler:
        ROUTES.append((method, expression, handler))
        return handler

    return add


def _route(store: Store, request: Request) -> Any:
    known = False
    for method, expression, handler in ROUTES:
        match = expression.match(request.path)
        if match is None:
            continue
        known = True
        if method == request.method:
            return handler(store, request, {name: unquote(text) for name, text in match.groupdict().items()})
    if known:
        raise Refusal(405, 405, "HTTP 405 Method Not Allowed")
    raise Refusal(404, 404, "HTTP 404 Not Found")


# --- reading requests


def _flag(request: Request, name: str) -> bool:
    return request.query.get(name, "false").lower() == "true"


def _number(request: Request, name: str, default: int) -> int:
    try:
        return int(request.query.get(name, default))
    except ValueError:
        raise Refusal(404, 404, "HTTP 404 Not Found") from None


def _paged(request: Request, items: list[Any]) -> list[Any]:
    return page(items, _number(request, "offset", 0), _number(request, "limit", -1))


def _schema_id(text: str) -> int:
    if not re.fullmatch(r"-?\d{1,10}", text):
        raise Refusal(404, 404, "HTTP 404 Not Found")
    return int(text)


def _version(text: str) -> int | None:
    """A version's number, None for the newest."""
    if text in ("latest", "-1"):
        return None
    if re.fullmatch(r"\d{1,10}", text) and 1 <= int(text) < 2**31:
        return int(text)
    known = 'Allowed values are between [1, 2^31-1] and the string "latest"'
    raise Refusal(422, 42202, f"The specified version '{text}' is not a valid version id. {known}")


def _body(request: Request) -> dict[str, Any]:
    try:
        body = json.loads(request.body)
    except (ValueError, RecursionError) as error:
        raise Refusal(400, 400, f"Unable to process JSON: {type(error).__name__}") from None
    if not isinstance(body, dict):
        raise Refusal(400, 400, "Unable to process JSON: an object is needed")
    return body


def _schema(request: Request) -> Schema:
    body = _body(request)
    if not isinstance(body.get("schema"), str) or not body["schema"].strip():
        raise Refusal(422, 42201, "Empty schema")
    if body.get("id", -1) not in (-1, None) or body.get("version", -1) not in (-1, 0, None):
        raise Refusal(422, 42205, "Subject is not in import mode: a schema can't be given an id or a version")
    try:
        return Schema.from_dict(body)
    except (KeyError, TypeError, ValueError, AttributeError):
        raise Refusal(422, 42201, "Invalid schema: references, metadata or ruleSet can't be read") from None


# --- schemas


def _described(found: RegisteredSchema) -> dict[str, Any]:
    return found.to_dict()


@_on("GET", "/")
def _root(store: Store, request: Request, names: dict[str, str]) -> Any:
    return {}


@_on("GET", "/schemas/types")
def _types(store: Store, request: Request, names: dict[str, str]) -> Any:
    return ["AVRO"]


@_on("GET", "/schemas/ids/{id}")
def _by_id(store: Store, request: Request, names: dict[str, str]) -> Any:
    return store.schema(_schema_id(names["id"])).to_dict()


@_on("GET", "/schemas/ids/{id}/schema")
def _text_by_id(store: Store, request: Request, names: dict[str, str]) -> Any:
    return json.loads(store.schema(_schema_id(names["id"])).schema_str)


@_on("GET", "/schemas/ids/{id}/subjects")
def _subjects_by_id(store: Store, request: Request, names: dict[str, str]) -> Any:
    places = store.places(_schema_id(names["id"]), _flag(request, "deleted"))
    return _paged(request, list(dict.fromkeys(subject for subject, _ in places)))


@_on("GET", "/schemas/ids/{id}/versions")
def _versions_by_id(store: Store, request: Request, names: dict[str, str]) -> Any:
    places = store.places(_schema_id(names["id"]), _flag(request, "deleted"))
    return _paged(request, [{"subject": subject, "version": version} for subject, version in places])


# --- subjects and versions


@_on("GET", "/subjects")
def _subjects(store: Store, request: Request, names: dict[str, str]) -> Any:
    prefix = request.query.get("subjectPrefix", "")
    return _paged(request, store.subjects(prefix, _flag(request, "deleted"), _flag(request, "deletedOnly")))


@_on("POST", "/subjects/{subject}")
def _look_up(store: Store, request: Request, names: dict[str, str]) -> Any:
    normalize, deleted = _flag(request, "normalize"), _flag(request, "deleted")
    return _described(store.look_up(names["subject"], _schema(request), normalize, deleted))


@_on("DELETE", "/subjects/{subject}")
def _delete_subject(store: Store, request: Request, names: dict[str, str]) -> Any:
    return store.delete_subject(names["subject"], _flag(request, "permanent"))


@_on("GET", "/subjects/{subject}/versions")
def _versions(store: Store, request: Request, names: dict[str, str]) -> Any:
    found = store.versions(names["subject"], _flag(request, "deleted"), _flag(request, "deletedOnly"))
    return _paged(request, found)


@_on("POST", "/subjects/{subject}/versions")
def _register(store: Store, request: Request, names: dict[str, str]) -> Any:
    return _described(store.register(names["subject"], _schema(request), _flag(request, "normalize")))


@_on("GET", "/subjects/{subject}/versions/{version}")
def _one_version(store: Store, request: Request, names: dict[str, str]) -> Any:
    deleted = _flag(request, "deleted")
    return _described(store.version(names["subject"], _version(names["version"]), deleted))


@_on("GET", "/subjects/{subject}/versions/{version}/schema")
def _text_of_version(store: Store, request: Request, names: dict[str, str]) -> Any:
    found = store.version(names["subject"], _version(names["version"]), _flag(request, "deleted"))
    return json.loads(found.schema.schema_str)


@_on("GET", "/subjects/{subject}/versions/{version}/referencedby")
def _referenced_by(store: Store, request: Request, names: dict[str, str]) -> Any:
    return _paged(request, store.referenced_by(names["subject"], _version(names["version"])))


@_on("DELETE", "/subjects/{subject}/versions/{version}")
def _delete_version(store: Store, request: Request, names: dict[str, str]) -> Any:
    return store.delete_version(names["subject"], _version(names["version"]), _flag(request, "permanent"))


# --- compatibility and configuration


def _verdict(store: Store, request: Request, subject: str, number: int | None, every: bool) -> dict[str, Any]:
    result = store.test(subject, number, _schema(request), every)
    answer: dict[str, Any] = {"is_compatible": result.compatible}
    if _flag(request, "verbose"):
        answer["messages"] = messages(result, store.level_name(subject))
    return answer


@_on("POST", "/compatibility/subjects/{subject}/versions")
def _test_all(store: Store, request: Request, names: dict[str, str]) -> Any:
    return _verdict(store, request, names["subject"], None, every=True)


@_on("POST", "/compatibility/subjects/{subject}/versions/{version}")
def _test_one(store: Store, request: Request, names: dict[str, str]) -> Any:
    return _verdict(store, request, names["subject"], _version(names["version"]), every=False)


def _config_json(config: SubjectConfig, level_key: str) -> dict[str, Any]:
    answer: dict[str, Any] = {}
    if config.normalize is not None:
        answer["normalize"] = config.normalize
    if config.level is not None:
        answer[level_key] = config.level.value
    return answer


def _set_config(store: Store, request: Request, subject: str | None) -> dict[str, Any]:
    body = _body(request)
    unsupported = sorted(name for name, value in body.items() if value is not None and name not in SUPPORTED_CONFIG)
    if unsupported:
        raise Refusal(422, 422, f"This registry does not support these settings: {', '.join(unsupported)}")
    level, normalize = body.get("compatibility", body.get("compatibilityLevel")), body.get("normalize")
    if normalize is not None and not isinstance(normalize, bool):
        raise Refusal(422, 422, "normalize must be a boolean")
    config = store.set_config(subject, None if level is None else str(level), normalize)
    return _config_json(config, "compatibility")


@_on("GET", "/config")
def _global_config(store: Store, request: Request, names: dict[str, str]) -> Any:
    return _config_json(store.config(None, or_global=True), "compatibilityLevel")


@_on("PUT", "/config")
def _set_global_config(store: Store, request: Request, names: dict[str, str]) -> Any:
    return _set_config(store, request, None)


@_on("DELETE", "/config")
def _delete_global_config(store: Store, request: Request, names: dict[str, str]) -> Any:
    return _config_json(store.delete_config(None), "compatibilityLevel")


@_on("GET", "/config/{subject}")
def _subject_config(store: Store, request: Request, names: dict[str, str]) -> Any:
    config = store.config(names["subject"], _flag(request, "defaultToGlobal"))
    return _config_json(config, "compatibilityLevel")


@_on("PUT", "/config/{subject}")
def _set_subject_config(store: Store, request: Request, names: dict[str, str]) -> Any:
    return _set_config(store, request, names["subject"])


@_on("DELETE", "/config/{subject}")
def _delete_subject_config(store: Store, request: Request, names: dict[str, str]) -> Any:
    return _config_json(store.delete_config(names["subject"]), "compatibilityLevel")
