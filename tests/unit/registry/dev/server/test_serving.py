from __future__ import annotations

import asyncio
import http.client
import socket
import sys
import threading
from collections.abc import Iterator
from urllib.parse import urlsplit

import httpx
import pytest

from registry.dev import EmbeddedRegistry, RegistryServer, serve, shared
from registry.dev.handlers.requests import Request
from registry.limits import MAX_BODY_BYTES

INT = {"schema": '"int"'}


@pytest.fixture(scope="module")
def server() -> Iterator[RegistryServer]:
    with serve() as running:
        yield running


def test_in_process_transport_for_both_clients() -> None:
    registry = EmbeddedRegistry()
    with httpx.Client(transport=registry.transport(), base_url="http://x") as client:
        answer = client.post("/subjects/a%2Fb/versions?normalize=true", json=INT)
        assert answer.json()["subject"] == "a/b"
        assert answer.headers["content-type"] == "application/vnd.schemaregistry.v1+json"

    async def scene() -> object:
        async with httpx.AsyncClient(transport=registry.transport(), base_url="http://x") as client:
            return (await client.get("/subjects")).json()

    assert asyncio.run(scene()) == ["a/b"]


def test_shared_by_name(request: pytest.FixtureRequest) -> None:
    assert shared(request.node.nodeid) is shared(request.node.nodeid)
    assert shared(request.node.nodeid) is not shared(request.node.nodeid + "2")


def test_over_http_with_one_connection(server: RegistryServer) -> None:
    parts = urlsplit(server.url)
    connection = http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=60)
    for path, status in (("/subjects", 200), ("/nowhere", 404), ("/config?defaultToGlobal=true", 200)):
        connection.request("GET", path)
        answer = connection.getresponse()
        assert answer.status == status
        assert answer.read()
    connection.close()


def test_many_threads_register_one_schema_once(server: RegistryServer) -> None:
    ids: list[int] = []

    def register(at: int) -> None:
        with httpx.Client(base_url=server.url, timeout=60) as client:
            ids.append(client.post(f"/subjects/many{at % 3}/versions", json=INT).json()["id"])

    threads = [threading.Thread(target=register, args=(at,)) for at in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert len(ids) == 12
    assert len(set(ids)) == 1


def test_bodies_are_bounded_in_process_too() -> None:
    answer = EmbeddedRegistry().answer(Request.to("POST", "/subjects/s", b" " * (MAX_BODY_BYTES + 1)))
    assert answer.status == 413


def test_close_ends_open_connections_and_may_be_repeated() -> None:
    running = serve()
    parts = urlsplit(running.url)
    with socket.create_connection((parts.hostname or "", parts.port or 0), 60) as idle:
        idle.sendall(b"GET /subjects HTTP/1.1\r\nHost: x\r\n\r\n")
        received = b""
        while not received.endswith(b"[]"):
            received += idle.recv(1000)
        assert received.startswith(b"HTTP/1.1 200")
        running.close()
        assert idle.recv(1000) == b""
    running.close()
    with pytest.raises(OSError):
        socket.create_connection((parts.hostname or "", parts.port or 0), 1)


def test_a_server_may_serve_a_given_registry() -> None:
    registry = EmbeddedRegistry()
    with serve(registry) as running:
        httpx.post(f"{running.url}/subjects/s/versions", json=INT, timeout=60)
    assert registry.answer(Request.to("GET", "/subjects")).body == b'["s"]'


def test_a_missing_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "registry.dev.server.http", None)
    with pytest.raises(ImportError, match=r"pip install starlette uvicorn \(the extra 'server' of kserdes\)"):
        serve()
