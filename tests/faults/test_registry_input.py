"""Bad requests to a registry, each answered in JSON all the same: bodies, paths, methods, sizes."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from registry.dev import RegistryServer, serve

WRONG: list[Any] = [None, 5, True, "x", [], [5], {}, {"a": []}]
FIELDS = ["schema", "schemaType", "references", "metadata", "ruleSet", "id", "version"]
SETTINGS = [
    "alias",
    "normalize",
    "validateFields",
    "compatibility",
    "compatibilityPolicy",
    "compatibilityGroup",
    "defaultMetadata",
    "overrideMetadata",
    "defaultRuleSet",
    "overrideRuleSet",
]
WRITES = [
    ("POST", "/subjects/bad/versions", FIELDS),
    ("POST", "/subjects/bad", FIELDS),
    ("POST", "/compatibility/subjects/bad/versions/latest", FIELDS),
    ("PUT", "/config/bad", SETTINGS),
    ("PUT", "/mode/bad", ["mode"]),
    ("POST", "/associations", ["resourceName", "resourceNamespace", "resourceId", "resourceType", "associations"]),
]


@pytest.fixture(scope="module")
def http() -> Iterator[httpx.Client]:
    with serve() as server, httpx.Client(base_url=server.url, trust_env=False, timeout=60) as client:
        yield client


def said(reply: httpx.Response) -> Any:
    found = reply.json()
    if reply.status_code >= 400:
        assert set(found) == {"error_code", "message"}
        assert found["message"]
    return found


@pytest.mark.parametrize(("method", "path", "fields"), WRITES)
def test_wrong_types_in_every_field(http: httpx.Client, method: str, path: str, fields: list[str]) -> None:
    for field in fields:
        for value in WRONG:
            reply = http.request(method, path, json={"schema": '"int"', field: value})
            said(reply)
            assert reply.status_code in (200, 400, 404, 409, 422), (field, value, reply.text)


@pytest.mark.parametrize(("method", "path", "fields"), WRITES)
@pytest.mark.parametrize(
    "body", [b"", b"{", b"[]", b"null", b"5", b"\xff\xfe", b'"x"', b"[" * 100_000, b'{"a":' * 5_000]
)
def test_bodies_that_are_no_object(http: httpx.Client, method: str, path: str, fields: list[str], body: bytes) -> None:
    reply = http.request(method, path, content=body)
    said(reply)
    assert reply.status_code in (400, 422)


@pytest.mark.parametrize(
    "path", ["/nowhere", "/subjects/a/b/c/d", "/schemas/ids", "/config/a/b", "//subjects//x", "/%2e%2e/x"]
)
def test_unknown_routes_are_404(http: httpx.Client, path: str) -> None:
    reply = http.get(path)
    assert (reply.status_code, said(reply)["error_code"]) == (404, 404)


@pytest.mark.parametrize("method", ["PATCH", "PUT", "DELETE", "OPTIONS", "TRACE", "NONSENSE"])
def test_unknown_methods_are_405(http: httpx.Client, method: str) -> None:
    reply = http.request(method, "/subjects")
    assert (reply.status_code, said(reply)["error_code"], reply.headers["Allow"]) == (405, 405, "GET")


@pytest.mark.parametrize("path", ["/subjects/%zz/versions", "/subjects/%ff/versions", "/subjects?subjectPrefix=%ff"])
def test_bad_percent_encoding_is_400(http: httpx.Client, path: str) -> None:
    request = http.build_request("GET", "/")
    request.url = request.url.copy_with(raw_path=path.encode())
    reply = http.send(request)
    assert (reply.status_code, said(reply)["error_code"]) == (400, 400)


@pytest.mark.parametrize("name", ["../../etc/passwd", "..", "/etc/passwd", "a\\..\\b", "%00", "'; DROP TABLE rows; --"])
def test_names_are_only_names(http: httpx.Client, name: str) -> None:
    from urllib.parse import quote

    path = f"/subjects/{quote(name, safe='').replace('.', '%2E')}/versions"
    reply = http.post(path, json={"schema": '"int"'})
    assert reply.status_code == 200, reply.text
    assert reply.json()["subject"] == name
    assert name in http.get("/subjects").json()


def test_huge_bodies_are_413(http: httpx.Client) -> None:
    reply = http.post("/subjects/huge/versions", content=b" " * (16 * 1024 * 1024 + 1))
    assert (reply.status_code, said(reply)["error_code"]) == (413, 413)

    def chunks() -> Iterator[bytes]:
        for _ in range(20):
            yield b" " * 1024 * 1024

    try:
        reply = http.post("/subjects/huge/versions", content=chunks())
    except httpx.TransportError:  # the server closed while we were still sending
        reply = http.get("/subjects")
        assert reply.status_code == 200
    else:
        assert reply.status_code == 413


def test_one_schema_from_many_threads_has_one_id() -> None:
    with serve() as server:
        ids = gathered(server)
    assert len(ids) == 64
    assert len(set(ids)) == 1


def gathered(server: RegistryServer) -> list[int]:
    ids: list[int] = []
    text = json.dumps({"type": "record", "name": "R", "fields": []})

    def register(at: int) -> None:
        with httpx.Client(base_url=server.url, trust_env=False, timeout=60) as client:
            for turn in range(8):
                reply = client.post(f"/subjects/many{(at + turn) % 3}/versions", json={"schema": text})
                ids.append(reply.json()["id"])

    threads = [threading.Thread(target=register, args=(at,)) for at in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    return ids
