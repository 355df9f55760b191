"""Every operation of the registry's API, written once: generators that yield calls and are sent replies.

Must not know of HTTP libraries, threads, event loops, retries or credentials. Both shells (`registry.client.blocking`,
`registry.client.aio`) drive these, and their methods of the same names say what each operation means. Source:
Confluent's REST API; names and arguments are confluent_kafka's.

What is cached may be forgotten while a call is under way (a registration, a deletion): an answer is only kept if
`caches.epoch` is still what it was before the call. That holds for "there is no such schema" too: it may have been
registered meanwhile.

A change forgets what it makes untrue even if nobody knows whether it was carried out (no answer, an error of the
server, a caller who went away): only a refusal changes nothing. A deletion forgets the registrations of all
subjects, for the deleted one may have other names (aliases).
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, TypeVar

from registry.client.cache import SchemaCaches
from registry.client.paging import NO_LIMIT, entries
from registry.client.steps import Call, Flow, Reply, segment, send, share
from registry.errors import ResponseError
from registry.models import RegisteredSchema, Schema, SchemaVersion, ServerConfig

if TYPE_CHECKING:
    from registry.associations import Association, AssociationCreateOrUpdateRequest, AssociationResponse

T = TypeVar("T")
PLACE: Final[Mapping[str, object]] = {"offset": 0, "limit": NO_LIMIT}
"""The query parameters for a part of a list; `entries` fills them in."""
SCHEMA_NOT_FOUND = 40403
MAX_SCHEMA_ID = 2**31 - 1
"""Ids are numbers of 32 bits with a sign in registries; for larger ones Confluent's answers as for an unknown path."""
CONFIG_KEYS = frozenset(
    (
        "alias",
        "compatibility",
        "compatibilityGroup",
        "compatibilityLevel",
        "compatibilityPolicy",
        "defaultMetadata",
        "defaultRuleSet",
        "normalize",
        "overrideMetadata",
        "overrideRuleSet",
        "validateFields",
    )
)


def _subject(name: str) -> str:
    return f"/subjects/{segment(name)}"


def _given(**query: object) -> dict[str, object]:
    """The parameters that were given: no None, no False."""
    return {name: value for name, value in query.items() if value is not None and value is not False}


def _flags(**query: bool) -> dict[str, str]:
    """Flags that are always written, as confluent_kafka does it: `True` or `False`, which registries read as they do
    `true` and `false`."""
    return {name: str(bool(value)) for name, value in query.items()}


def _listing(deleted: bool, deleted_only: bool, **more: object) -> dict[str, object]:
    """The query of a list. confluent_kafka writes `deleted_only`, registries read `deletedOnly`."""
    query: dict[str, object] = {"deleted": deleted, "deleted_only": deleted_only, **PLACE, **_given(**more)}
    return {**query, "deletedOnly": True} if deleted_only else query


def read(reply: Reply, make: Callable[[Any], T]) -> T:
    """Parses an answer; one that lacks a required member is the server's error.

    Raises:
        UnexpectedAnswerError: it lacks it, or is no JSON.
    """
    source = reply.json()
    try:
        return make(source)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise reply.unexpected(f"the answer lacks a required member: {error!r}") from error


def _call(call: Call, make: Callable[[Any], T]) -> Flow[T]:
    return read((yield from send(call)), make)


def _pages(
    path: str,
    query: Mapping[str, object],
    make: Callable[[Any], list[T]],
    offset: int,
    limit: int,
    never_empty: bool = False,
) -> Flow[list[T]]:
    return (yield from entries(path, query, lambda reply: read(reply, make), offset, limit, never_empty))


# Parts of answers: only a registry's own count, a page's or another service's JSON must not pass for them.


def _list(source: Any) -> list[Any]:
    if not isinstance(source, list):
        raise TypeError(f"a list is expected, not {_kind(source)}")
    return source


def _string(source: Any) -> str:
    if not isinstance(source, str):
        raise TypeError(f"a string is expected, not {_kind(source)}")
    return source


def _number(source: Any) -> int:
    if not isinstance(source, int) or isinstance(source, bool):
        raise TypeError(f"a whole number is expected, not {_kind(source)}")
    return source


def _kind(source: Any) -> str:
    return {dict: "an object", list: "a list", str: "a string", type(None): "null"}.get(type(source), repr(source))


def _changing(flow: Flow[T], forget: Callable[[bool], None]) -> Flow[T]:
    """Runs a flow that changes the registry, then drops the cache entries that it made stale.

    Args:
        flow: the change.
        forget: told whether it is known that the change was carried out; not called if the registry refused it.
    """
    try:
        result = yield from flow
        forget(True)
    except BaseException as error:  # GeneratorExit too: the caller went away; or Ctrl-C, while it was forgotten
        if not _refused(error):
            forget(False)
        raise
    return result


def _refused(error: BaseException) -> bool:
    """Whether an error says that nothing was changed, so that cache entries stay valid.

    "Not found" is the answer to a deletion after that of somebody else: what is known of it is not true any more.
    """
    if not isinstance(error, ResponseError) or error.unsure or error.not_found:
        return False
    return 400 <= error.http_status_code < 500 and error.http_status_code != 408


def _strings(source: Any) -> list[str]:
    return [_string(item) for item in _list(source)]


def _numbers(source: Any) -> list[int]:
    return [_number(item) for item in _list(source)]


def _schema_versions(source: Any) -> list[SchemaVersion]:
    return [SchemaVersion.from_dict(item) for item in _list(source)]


def _verdict(source: Any) -> bool:
    found = source["is_compatible"]
    if not isinstance(found, bool):
        raise TypeError(f"is_compatible is {found!r}")
    return found


# --- schemas


def _fetch_schema(caches: SchemaCaches, place: tuple[object, ...], call: Call) -> Flow[Schema]:
    """Fetches a schema that never changes; that the registry has none is remembered for a while.

    Only the registry's own code says that there is none: a proxy's 404 says nothing, nor does an error of the server.
    """
    epoch = caches.epoch
    try:
        return (yield from _call(call, Schema.from_dict))
    except ResponseError as error:
        if error.not_found and error.error_code == SCHEMA_NOT_FOUND:
            caches.keep(caches.missing, place, copy.copy(error), epoch)
        raise


def _refuse_missing(caches: SchemaCaches, place: tuple[object, ...]) -> None:
    known = caches.missing.get(place)
    if known is not None:
        raise copy.copy(known)


def get_schema(
    caches: SchemaCaches, schema_id: int, subject_name: str | None, fmt: str | None, reference_format: str | None
) -> Flow[Schema]:
    key, place = (schema_id, subject_name, fmt, reference_format), ("id", schema_id, subject_name)
    known = caches.schemas.get(key)
    if known is not None:
        return known
    _refuse_missing(caches, place)
    if schema_id > MAX_SCHEMA_ID:
        raise ResponseError(404, SCHEMA_NOT_FOUND, f"Schema {schema_id} not found: no schema id is that large")
    # confluent_kafka writes the last one with an underscore, registries read it without.
    query = _given(
        subject=subject_name, format=fmt, reference_format=reference_format, referenceFormat=reference_format
    )

    def fetch() -> Flow[Schema]:
        forgotten = caches.forgotten
        found = yield from _fetch_schema(caches, place, Call("GET", f"/schemas/ids/{schema_id}", query))
        caches.schemas.put(key, found, lambda: caches.forgotten == forgotten)
        return found

    return (yield from share(("schema", key, caches.epoch), fetch))


def get_schema_by_guid(caches: SchemaCaches, guid: str, fmt: str | None) -> Flow[Schema]:
    key, place = (guid, fmt), ("guid", guid)
    known = caches.guids.get(key)
    if known is not None:
        return known
    _refuse_missing(caches, place)

    def fetch() -> Flow[Schema]:
        forgotten = caches.forgotten
        call = Call("GET", f"/schemas/guids/{segment(guid)}", _given(format=fmt))
        found = yield from _fetch_schema(caches, place, call)
        caches.guids.put(key, found, lambda: caches.forgotten == forgotten)
        return found

    return (yield from share(("guid", key, caches.epoch), fetch))


def get_schema_types() -> Flow[list[str]]:
    return (yield from _call(Call("GET", "/schemas/types"), _strings))


def get_subjects_by_schema_id(
    schema_id: int, subject_name: str | None, deleted: bool, offset: int, limit: int
) -> Flow[list[str]]:
    query = {**PLACE, **_given(subject=subject_name, deleted=deleted)}
    return (yield from _pages(f"/schemas/ids/{schema_id}/subjects", query, _strings, offset, limit))


def get_schema_versions(
    schema_id: int, subject_name: str | None, deleted: bool, offset: int, limit: int
) -> Flow[list[SchemaVersion]]:
    query = {**PLACE, **_given(subject=subject_name, deleted=deleted)}
    return (yield from _pages(f"/schemas/ids/{schema_id}/versions", query, _schema_versions, offset, limit))


# --- registration and look-up


def _expect(kind: type, given: object, example: str) -> None:
    """Refuses an argument of another type before anything is sent: a text in place of a Schema, for example."""
    if not isinstance(given, kind):
        raise TypeError(f"a {kind.__name__} is needed, like {example}, not {type(given).__name__}")


def register_schema(
    caches: SchemaCaches, subject_name: str, schema: Schema, normalize_schemas: bool
) -> Flow[RegisteredSchema]:
    _expect(Schema, schema, "Schema(text, 'AVRO')")
    key = (subject_name, schema, normalize_schemas)
    known = caches.registered.get(key)
    if known is not None:
        return known
    call = Call("POST", f"{_subject(subject_name)}/versions", _flags(normalize=normalize_schemas), schema.to_request())

    def forget(sure: bool) -> None:
        caches.forget_latest(subject_name)
        if not sure:
            caches.missing.clear()  # it may have got any id

    def register() -> Flow[RegisteredSchema]:
        forgotten = caches.forgotten
        posting = _call(
            call, lambda source: RegisteredSchema.from_dict({**schema.to_dict(), **source, "subject": subject_name})
        )
        made = yield from _changing(posting, forget)
        caches.registered.put(key, made, lambda: caches.forgotten == forgotten)
        caches.exists(made)
        return made

    return (yield from share(("register", key, caches.forgotten), register))


def lookup_schema(
    caches: SchemaCaches, subject_name: str, schema: Schema, normalize_schemas: bool, fmt: str | None, deleted: bool
) -> Flow[RegisteredSchema]:
    _expect(Schema, schema, "Schema(text, 'AVRO')")
    key = (subject_name, schema, normalize_schemas, fmt, deleted)
    known = caches.looked_up.get(key)
    if known is not None:
        return known
    query = {**_flags(normalize=normalize_schemas, deleted=deleted), **_given(format=fmt)}

    def look_up() -> Flow[RegisteredSchema]:
        epoch = caches.epoch
        call = Call("POST", _subject(subject_name), query, schema.to_request())
        found: RegisteredSchema = yield from _call(call, RegisteredSchema.from_dict)
        caches.keep(caches.looked_up, key, found, epoch)
        caches.exists(found)
        return found

    return (yield from share(("lookup", key, caches.epoch), look_up))


# --- subjects and versions


def get_subjects(
    subject_prefix: str | None, deleted: bool, deleted_only: bool, offset: int, limit: int
) -> Flow[list[str]]:
    query = _listing(deleted, deleted_only, subjectPrefix=subject_prefix)
    return (yield from _pages("/subjects", query, _strings, offset, limit))


def delete_subject(caches: SchemaCaches, subject_name: str, permanent: bool) -> Flow[list[int]]:
    call = Call("DELETE", _subject(subject_name), _given(permanent=bool(permanent)), repeatable=False)
    return (yield from _changing(_call(call, _numbers), lambda sure: caches.forget_subjects()))


def get_latest_version(
    caches: SchemaCaches, subject_name: str, fmt: str | None, more: Mapping[str, object] | None = None
) -> Flow[RegisteredSchema]:
    key = (subject_name, fmt)
    known = caches.latest.get(key)
    if known is not None:
        return known

    def fetch() -> Flow[RegisteredSchema]:
        epoch = caches.epoch
        call = Call("GET", f"{_subject(subject_name)}/versions/latest", {**(more or {}), **_given(format=fmt)})
        found: RegisteredSchema = yield from _call(call, RegisteredSchema.from_dict)
        caches.keep(caches.latest, key, found, epoch)
        caches.exists(found)
        return found

    return (yield from share(("latest", key, caches.epoch), fetch))


def get_latest_with_metadata(
    caches: SchemaCaches, subject_name: str, metadata: Mapping[str, str], deleted: bool, fmt: str | None
) -> Flow[RegisteredSchema]:
    key = (subject_name, tuple(sorted(metadata.items())), deleted, fmt)
    known = caches.latest_with.get(key)
    if known is not None:
        return known
    query = {"deleted": deleted, **_given(format=fmt, key=list(metadata), value=list(metadata.values()))}

    def fetch() -> Flow[RegisteredSchema]:
        epoch = caches.epoch
        call = Call("GET", f"{_subject(subject_name)}/metadata", query)
        found: RegisteredSchema = yield from _call(call, RegisteredSchema.from_dict)
        caches.keep(caches.latest_with, key, found, epoch)
        caches.exists(found)
        return found

    return (yield from share(("latest with", key, caches.epoch), fetch))


def get_version(
    caches: SchemaCaches, subject_name: str, version: int | str, deleted: bool, fmt: str | None
) -> Flow[RegisteredSchema]:
    if version == "latest" and not deleted:
        return (yield from get_latest_version(caches, subject_name, fmt, {"deleted": False}))
    key = (subject_name, version, deleted, fmt)
    known = caches.versions.get(key)
    if known is not None:
        return known

    def fetch() -> Flow[RegisteredSchema]:
        epoch = caches.epoch
        query = {"deleted": deleted, **_given(format=fmt)}
        call = Call("GET", f"{_subject(subject_name)}/versions/{version}", query)
        found: RegisteredSchema = yield from _call(call, RegisteredSchema.from_dict)
        if isinstance(version, int) and version > 0:
            caches.keep(caches.versions, key, found, epoch)
        caches.exists(found)
        return found

    return (yield from share(("version", key, caches.epoch), fetch))


def get_versions(subject_name: str, deleted: bool, deleted_only: bool, offset: int, limit: int) -> Flow[list[int]]:
    query = _listing(deleted, deleted_only)
    path = f"{_subject(subject_name)}/versions"
    return (yield from _pages(path, query, _numbers, offset, limit, never_empty=not deleted_only))


def get_referenced_by(subject_name: str, version: int | str, offset: int, limit: int) -> Flow[list[int]]:
    path = f"{_subject(subject_name)}/versions/{version}/referencedby"
    return (yield from _pages(path, PLACE, _numbers, offset, limit))


def delete_version(caches: SchemaCaches, subject_name: str, version: int | str, permanent: bool) -> Flow[int]:
    path = f"{_subject(subject_name)}/versions/{version}"
    call = Call("DELETE", path, _given(permanent=bool(permanent)), repeatable=False)
    return (yield from _changing(_call(call, _number), lambda sure: caches.forget_subjects()))


# --- compatibility and configuration


def _config_path(subject_name: str | None) -> str:
    return "/config" if subject_name is None else f"/config/{segment(subject_name)}"


def set_compatibility(subject_name: str | None, level: str | None) -> Flow[dict[str, Any]]:
    if level is None:
        raise ValueError("level must be set")
    call = Call("PUT", _config_path(subject_name), body={"compatibility": str(level).upper()})
    return (yield from _call(call, _level))


def _level(source: dict[str, Any]) -> dict[str, Any]:
    _string(source.get("compatibility") or source["compatibilityLevel"])
    return source


def get_compatibility(subject_name: str | None) -> Flow[str]:
    call = Call("GET", _config_path(subject_name))
    return (yield from _call(call, lambda source: _string(source["compatibilityLevel"])))


def test_compatibility(
    subject_name: str, schema: Schema, version: int | str | None, normalize: bool, verbose: bool
) -> Flow[bool]:
    """With no version the schema is tested against all versions the subject's level asks for."""
    _expect(Schema, schema, "Schema(text, 'AVRO')")
    path = f"/compatibility{_subject(subject_name)}/versions{'' if version is None else f'/{version}'}"
    call = Call("POST", path, _flags(normalize=normalize, verbose=verbose), schema.to_request())
    return (yield from _call(call, _verdict))


def set_config(subject_name: str | None, config: ServerConfig | None) -> Flow[ServerConfig]:
    if config is None:
        raise ValueError("config must be set")
    _expect(ServerConfig, config, "ServerConfig(compatibility='FULL')")
    return (yield from _call(Call("PUT", _config_path(subject_name), body=config.to_dict()), config_of))


def get_config(subject_name: str | None) -> Flow[ServerConfig]:
    return (yield from _call(Call("GET", _config_path(subject_name)), config_of))


def delete_config(subject_name: str | None) -> Flow[ServerConfig]:
    return (yield from _call(Call("DELETE", _config_path(subject_name), repeatable=False), config_of))


def config_of(source: Mapping[str, Any]) -> ServerConfig:
    if not CONFIG_KEYS.intersection(source):
        raise ValueError("none of a configuration's settings is in it")
    return ServerConfig.from_dict(source)


# --- modes and contexts


def mode_of(source: Mapping[str, Any]) -> str:
    return _string(source["mode"])


def get_mode(subject_name: str) -> Flow[str]:
    return (yield from _call(Call("GET", f"/mode/{segment(subject_name)}"), mode_of))


def get_global_mode() -> Flow[str]:
    return (yield from _call(Call("GET", "/mode"), mode_of))


def update_mode(subject_name: str, mode: str, force: bool) -> Flow[str]:
    call = Call("PUT", f"/mode/{segment(subject_name)}", _flags(force=force), {"mode": str(mode)})
    return (yield from _call(call, mode_of))


def update_global_mode(mode: str, force: bool) -> Flow[str]:
    return (yield from _call(Call("PUT", "/mode", _flags(force=force), {"mode": str(mode)}), mode_of))


def delete_mode(subject_name: str) -> Flow[str]:
    return (yield from _call(Call("DELETE", f"/mode/{segment(subject_name)}", repeatable=False), mode_of))


def get_contexts(offset: int, limit: int) -> Flow[list[str]]:
    return (yield from _pages("/contexts", PLACE, _strings, offset, limit))


# --- associations


def get_associations_by_resource_name(
    resource_name: str,
    resource_namespace: str,
    resource_type: str | None,
    association_types: Sequence[str] | None,
    offset: int,
    limit: int,
) -> Flow[list[Association]]:
    query = _given(resourceType=resource_type, associationType=_listed(association_types))
    path = f"/associations/resources/{segment(resource_namespace)}/{segment(resource_name)}"
    return (yield from _pages(path, query, _associations, offset, limit))


def create_association(caches: SchemaCaches, request: AssociationCreateOrUpdateRequest) -> Flow[AssociationResponse]:
    from registry.associations import AssociationResponse  # few programs make associations

    call = Call("POST", "/associations", body=request.to_dict(), repeatable=False)
    return (yield from _changing(_call(call, AssociationResponse.from_dict), lambda sure: caches.forget_subjects()))


def delete_associations(
    caches: SchemaCaches,
    resource_id: str,
    resource_type: str | None,
    association_types: Sequence[str] | None,
    cascade_lifecycle: bool,
) -> Flow[None]:
    chosen = _given(resourceType=resource_type, associationType=_listed(association_types))
    query = {"cascadeLifecycle": cascade_lifecycle, **chosen}
    path = f"/associations/resources/{segment(resource_id)}"
    deleting = send(Call("DELETE", path, query, repeatable=False))
    yield from _changing(deleting, lambda sure: caches.forget_subjects())


def _associations(source: Any) -> list[Association]:
    from registry.associations import Association  # few programs ask for associations

    found = [Association.from_dict(item) for item in _list(source)]
    for item in found:
        _string(item.subject)
    return found


def _listed(items: Sequence[str] | None) -> list[str] | None:
    return None if items is None else list(items)
