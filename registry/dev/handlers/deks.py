"""`/dek-registry/v1/…`: key-encryption keys, and the encrypted data keys of subjects.

Must not know of encryption: a data key is text that clients encrypted, so shared keys (which the registry itself would
use) are refused. Source: Confluent's `DekRegistryResource`, `DekRegistryErrors`.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from typing import Any

from registry.dek_models import Dek, DekAlgorithm, Kek
from registry.dev.handlers.requests import Call, Response
from registry.dev.handlers.routes import Routes
from registry.dev.names import Name, context_name
from registry.dev.refusal import Refusal
from registry.dev.shapes import boolean, number, text
from registry.dev.state.tables import Key, Table

ROUTES = Routes()
BASE = "/dek-registry/v1/keks"
DEKS = f"{BASE}/{{kek}}/deks"
NAME = re.compile(r"[A-Za-z0-9_.-]{1,64}\Z")
NEWEST = -1


def _not_found(name: str) -> Refusal:
    return Refusal(404, 40470, f"Key {name!r} not found")


def _not_soft_deleted(name: str) -> Refusal:
    return Refusal(404, 40471, f"Key {name!r} was not deleted first before being permanently deleted")


def _soft_deleted(name: str) -> Refusal:
    return Refusal(404, 40472, f"Key {name!r} must be undeleted first")


def _taken(name: str) -> Refusal:
    return Refusal(409, 40971, f"Key {name!r} already exists; use a different value")


def _invalid(what: str) -> Refusal:
    return Refusal(422, 42271, f"Invalid or missing key info: {what}")


def _in_use(name: str) -> Refusal:
    return Refusal(422, 42272, f"One or more references exist to key {name!r}")


def _now_ms() -> int:
    return time.time_ns() // 1_000_000


def _given(value: str | None, what: str) -> str:
    if not value:
        raise _invalid(what)
    return value


# --- key-encryption keys


def _keks(call: Call) -> Table[dict[str, Any]]:
    return call.state.extra("kek")


def _kek_key(call: Call, name: str, subject: str = "") -> Key:
    """A key stands in the context that is asked for, else in that of the subject."""
    asked = call.text("context")
    return (context_name(asked) if asked else Name.parse(subject).context, name)


def _kek(call: Call, deleted: bool, subject: str = "") -> tuple[Key, dict[str, Any]]:
    key = _kek_key(call, call.names["kek"], subject)
    found = _keks(call).get(key)
    if found is None or (found.get("deleted") and not deleted):
        raise _not_found(call.names["kek"])
    return key, found


@ROUTES.on("GET", BASE)
def list_keks(call: Call) -> Any:
    home = _kek_key(call, "")[0]
    found = [
        str(name)
        for (context, name), kek in sorted(_keks(call).items())
        if context == home and (call.flag("deleted") or not kek.get("deleted"))
    ]
    return call.page(found)


@ROUTES.on("GET", f"{BASE}/{{kek}}")
def get_kek(call: Call) -> Any:
    return _kek(call, call.flag("deleted"))[1]


@ROUTES.on("POST", BASE)
def create_kek(call: Call) -> Any:
    body = call.body()
    name = _given(text(body.get("name"), "name"), "name")
    if not NAME.match(name):
        raise _invalid("name")
    if boolean(body.get("shared"), "shared"):
        raise _invalid("shared: this registry can't use keys itself")
    props = body.get("kmsProps")
    if props is not None and not (isinstance(props, dict) and all(isinstance(item, str) for item in props.values())):
        raise _invalid("kmsProps")
    made = Kek(
        name,
        _given(text(body.get("kmsType"), "kmsType"), "kmsType"),
        _given(text(body.get("kmsKeyId"), "kmsKeyId"), "kmsKeyId"),
        props,
        text(body.get("doc"), "doc"),
        ts=_now_ms(),
    )
    return _put_new(_keks(call), _kek_key(call, name), name, made.to_dict())


@ROUTES.on("PUT", f"{BASE}/{{kek}}")
def update_kek(call: Call) -> Any:
    key, found = _kek(call, deleted=False)
    body = call.body()
    if boolean(body.get("shared"), "shared"):
        raise _invalid("shared: this registry can't use keys itself")
    changes = {name: body[name] for name in ("kmsProps", "doc") if body.get(name) is not None}
    _keks(call)[key] = {**found, **changes, "ts": _now_ms()}
    return _keks(call)[key]


@ROUTES.on("DELETE", f"{BASE}/{{kek}}")
def delete_kek(call: Call) -> Any:
    key, found = _kek(call, deleted=True)
    name, permanent = call.names["kek"], call.flag("permanent")
    if any(permanent or not dek.get("deleted") for _, dek in _deks_of(call)):
        raise _in_use(name)
    return _delete(_keks(call), key, name, found, permanent)


@ROUTES.on("POST", f"{BASE}/{{kek}}/undelete")
def undelete_kek(call: Call) -> Any:
    key, found = _kek(call, deleted=True)
    return _undelete(_keks(call), key, found)


# --- data keys


def _deks(call: Call) -> Table[dict[str, Any]]:
    return call.state.extra("dek")


def _deks_of(call: Call) -> list[tuple[Key, dict[str, Any]]]:
    """All data keys of the key-encryption key in the path, by subject, algorithm and version."""
    return [(key, dek) for key, dek in sorted(_deks(call).items()) if key[0] == call.names["kek"]]


def _algorithm(value: str | None) -> str:
    name = value or DekAlgorithm.AES256_GCM.value
    if name not in DekAlgorithm.__members__:
        raise _invalid("algorithm")
    return name


def _versions(call: Call, deleted: bool) -> dict[int, tuple[Key, dict[str, Any]]]:
    """Version → data key of the subject and algorithm in the request."""
    wanted = (call.names["kek"], call.subject, _algorithm(call.text("algorithm")))
    return {
        int(key[3]): (key, dek)
        for key, dek in _deks_of(call)
        if key[:3] == wanted and (deleted or not dek.get("deleted"))
    }


def _dek(call: Call, version: int, deleted: bool) -> tuple[Key, dict[str, Any]]:
    found = _versions(call, deleted)
    chosen = max(found, default=0) if version == NEWEST else version
    if chosen not in found:
        raise _not_found(call.subject)
    return found[chosen]


@ROUTES.on("GET", DEKS)
def list_subjects(call: Call) -> Any:
    _kek(call, deleted=True)
    shown = [str(key[1]) for key, dek in _deks_of(call) if call.flag("deleted") or not dek.get("deleted")]
    return call.page(list(dict.fromkeys(shown)))


@ROUTES.on("GET", f"{DEKS}/{{subject}}")
def get_first(call: Call) -> Any:
    return _dek(call, 1, call.flag("deleted"))[1]


@ROUTES.on("GET", f"{DEKS}/{{subject}}/versions")
def list_versions(call: Call) -> Any:
    found = sorted(_versions(call, call.flag("deleted")))
    if not found:
        raise _not_found(call.subject)
    return call.page(found)


@ROUTES.on("GET", f"{DEKS}/{{subject}}/versions/{{version}}")
def get_version(call: Call) -> Any:
    return _dek(call, call.version, call.flag("deleted"))[1]


@ROUTES.on("POST", DEKS)
def create_dek(call: Call) -> Any:
    subject = _given(text(call.body().get("subject"), "subject"), "subject")
    return _create(call, str(Name.parse(subject)))


@ROUTES.on("POST", f"{DEKS}/{{subject}}")
def create_dek_of_subject(call: Call) -> Any:
    return _create(call, call.subject)


def _create(call: Call, subject: str) -> Any:
    _kek(call, deleted=False, subject=subject)
    body = call.body()
    version = number(body.get("version"), "version") or 1
    if version < 1:
        raise _invalid("version")
    algorithm = _algorithm(text(body.get("algorithm"), "algorithm"))
    material = _given(text(body.get("encryptedKeyMaterial"), "encryptedKeyMaterial"), "encryptedKeyMaterial")
    made = Dek(call.names["kek"], subject, version, DekAlgorithm(algorithm), material, ts=_now_ms())
    return _put_new(_deks(call), (call.names["kek"], subject, algorithm, version), subject, made.to_dict())


@ROUTES.on("DELETE", f"{DEKS}/{{subject}}")
def delete_deks(call: Call) -> Any:
    found = _versions(call, deleted=True)
    if not found:
        raise _not_found(call.subject)
    for key, dek in found.values():
        _delete(_deks(call), key, call.subject, dek, call.flag("permanent"))
    return Response(204, b"")


@ROUTES.on("DELETE", f"{DEKS}/{{subject}}/versions/{{version}}")
def delete_dek(call: Call) -> Any:
    key, found = _dek(call, call.version, deleted=True)
    return _delete(_deks(call), key, call.subject, found, call.flag("permanent"))


@ROUTES.on("POST", f"{DEKS}/{{subject}}/undelete")
def undelete_deks(call: Call) -> Any:
    for key, dek in _versions(call, deleted=True).values():
        _undelete(_deks(call), key, dek)
    return Response(204, b"")


@ROUTES.on("POST", f"{DEKS}/{{subject}}/versions/{{version}}/undelete")
def undelete_dek(call: Call) -> Any:
    key, found = _dek(call, call.version, deleted=True)
    return _undelete(_deks(call), key, found)


# --- what both kinds of keys share


def _same(old: dict[str, Any], new: dict[str, Any]) -> bool:
    """Whether two keys differ in their time only."""
    without: Callable[[dict[str, Any]], dict[str, Any]] = lambda key: {**key, "ts": None}  # noqa: E731
    return without(old) == without(new)


def _put_new(table: Table[dict[str, Any]], key: Key, name: str, made: dict[str, Any]) -> dict[str, Any]:
    """Keeps a new key; one that is there with the same content is answered as it is."""
    old = table.get(key)
    if old is None:
        table[key] = made
    elif old.get("deleted"):
        raise _soft_deleted(name)
    elif not _same(old, made):
        raise _taken(name)
    return table[key]


def _delete(table: Table[dict[str, Any]], key: Key, name: str, found: dict[str, Any], permanent: bool) -> Response:
    if permanent:
        if not found.get("deleted"):
            raise _not_soft_deleted(name)
        del table[key]
    else:
        table[key] = {**found, "deleted": True}
    return Response(204, b"")


def _undelete(table: Table[dict[str, Any]], key: Key, found: dict[str, Any]) -> Response:
    table[key] = {name: value for name, value in found.items() if name != "deleted"}
    return Response(204, b"")
