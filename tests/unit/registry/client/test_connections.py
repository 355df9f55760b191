"""registry.client.connections: they come with the first request; what is wrong with a configuration is
told before.
"""

from __future__ import annotations

import asyncio
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import httpx
import pytest

from registry import AsyncSchemaRegistryClient, Schema, SchemaRegistryClient, TransportError
from registry.client import aio_connections, connections
from registry.client.config import ClientConfig
from registry.client.tls import needs_httpx
from tests.patience import PROCESS_S

WAIT_S = 60
ENVIRONMENT = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY", "SSL_CERT_FILE", "SSL_CERT_DIR")


@pytest.fixture(autouse=True)
def _bare(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ENVIRONMENT:
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)


def fresh(code: str) -> str:
    """The output of a new process."""
    command = [sys.executable, "-c", f"import sys\nfrom registry import *\n{code}"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=PROCESS_S, check=True)
    return done.stdout.strip()


LOADED = "print('httpx' in sys.modules)"


@pytest.mark.parametrize("url", ["mock://", "mock://name", "http://registry", "https://registry"])
def test_a_client_is_made_used_and_closed_without_httpx(url: str) -> None:
    assert fresh(f"with SchemaRegistryClient({{'url': {url!r}}}) as client: client.config()\n{LOADED}") == "False"
    closed = "import asyncio; asyncio.run(client.aclose())"
    assert fresh(f"client = AsyncSchemaRegistryClient({{'url': {url!r}}}); {closed}\n{LOADED}") == "False"


def test_the_first_request_brings_it() -> None:
    code = f"SchemaRegistryClient({{'url': 'mock://'}}).get_subjects()\n{LOADED}"
    assert fresh(code) == "True"


@pytest.mark.parametrize(
    ("name", "value", "needed"),
    [
        ("HTTPS_PROXY", "http://proxy:3128", True),
        ("all_proxy", "http://proxy:3128", True),
        ("NO_PROXY", "localhost", True),
        ("SSL_CERT_FILE", "/nowhere/ca.pem", True),
        ("HTTPS_PROXY", "", False),
        ("HTTPS_PROXY_NOTE", "http://proxy:3128", False),
    ],
)
def test_what_httpx_has_to_judge_is_judged_at_once(
    name: str, value: str, needed: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = ClientConfig.parse({"url": "http://registry"})
    assert not needs_httpx(config, network=True)
    monkeypatch.setenv(name, value)
    assert needs_httpx(config, network=True) is needed
    assert not needs_httpx(config, network=False)
    proxied = ClientConfig.parse({"url": "mock://", "proxy": "http://proxy:3128"})
    assert needs_httpx(proxied, network=False)


@pytest.mark.parametrize("kind", [SchemaRegistryClient, AsyncSchemaRegistryClient])
def test_certificates_of_the_environment_are_refused_when_the_client_is_made(
    kind: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "missing.pem"))
    with pytest.raises(FileNotFoundError):
        kind({"url": "https://registry"})
    kind({"url": "mock://"})


@pytest.mark.parametrize("kind", [SchemaRegistryClient, AsyncSchemaRegistryClient])
def test_an_authentication_that_httpx_does_not_know_is_refused_when_the_client_is_made(kind: Any) -> None:
    with pytest.raises(TypeError, match="auth"):
        kind({"url": "http://registry"}, auth=1)


def test_threads_that_ask_first_together_get_one_client(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[object] = []
    every, over = threading.Barrier(8), threading.Event()

    class Slow(connections.Connections):
        def __init__(self, *arguments: Any) -> None:
            made.append(self)
            over.wait(0.2)  # time for the others to come
            super().__init__(*arguments)

    monkeypatch.setattr(connections, "Connections", Slow)
    found: list[httpx.Client] = []
    with SchemaRegistryClient({"url": "mock://"}) as client:

        def ask() -> None:
            every.wait(WAIT_S)
            assert client.get_subjects() == []
            found.append(client._http)

        threads = [threading.Thread(target=ask) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(WAIT_S)
        assert len(made) == 1
        assert {id(http) for http in found} == {id(client._http)}
        assert len(found) == 8


def test_a_client_that_is_closed_before_its_first_request_makes_none() -> None:
    client = SchemaRegistryClient({"url": "mock://"})
    client.close()
    client.close()
    with pytest.raises(TransportError, match="the registry client is closed"):
        client.get_subjects()
    assert client._connections is None


def test_a_client_that_is_closed_while_it_connects_asks_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    begun, go = threading.Event(), threading.Event()

    class Slow(connections.Connections):
        def __init__(self, *arguments: Any) -> None:
            begun.set()
            assert go.wait(WAIT_S)
            super().__init__(*arguments)

    monkeypatch.setattr(connections, "Connections", Slow)
    client = SchemaRegistryClient({"url": "mock://", "max.retries": 0})
    errors: list[BaseException] = []

    def ask() -> None:
        try:
            client.get_subjects()
        except TransportError as error:
            errors.append(error)

    asking, closing = threading.Thread(target=ask), threading.Thread(target=client.close)
    asking.start()
    assert begun.wait(WAIT_S)
    closing.start()  # waits: what is being made has to be closed, too
    go.set()
    asking.join(WAIT_S)
    closing.join(WAIT_S)
    assert client._connections is not None
    assert client._connections.http.is_closed
    with pytest.raises(TransportError, match="the registry client is closed"):
        client.get_subjects()


def test_what_cannot_be_made_is_tried_again(monkeypatch: pytest.MonkeyPatch) -> None:
    client = SchemaRegistryClient({"url": "http://registry"})
    monkeypatch.setenv("HTTP_PROXY", "ftp://proxy")
    with pytest.raises(ValueError, match=r"HTTP_PROXY, .* of the environment"):
        client.get_subjects()
    monkeypatch.delenv("HTTP_PROXY")
    assert not client._http.is_closed
    client.close()
    assert client._connections is not None
    assert client._connections.http.is_closed


def test_the_asyncio_client_is_closed_before_any_request() -> None:
    async def scene() -> None:
        client = AsyncSchemaRegistryClient({"url": "mock://"})
        await client.aclose()
        await client.aclose()
        with pytest.raises(TransportError, match="the registry client is closed"):
            await client.get_subjects()
        assert client._connections is None

    asyncio.run(scene())


def test_another_loop_gets_other_connections_and_the_same_trust() -> None:
    client = AsyncSchemaRegistryClient({"url": "http://127.0.0.1:1", "max.retries": 0, "timeout": 5})

    async def ask() -> httpx.AsyncClient:
        with pytest.raises(TransportError):
            await client.get_subjects()
        return client._http

    first = asyncio.run(ask())
    trust = client._tls
    second = asyncio.run(ask())
    assert first is not second
    assert client._tls is trust
    asyncio.run(client.aclose())
    with pytest.raises(TransportError, match="the registry client is closed"):
        asyncio.run(client.get_subjects())


def test_tasks_that_ask_first_together_get_one_client(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[object] = []

    class Counted(aio_connections.AsyncConnections):
        def __init__(self, *arguments: Any) -> None:
            made.append(self)
            super().__init__(*arguments)

    monkeypatch.setattr(aio_connections, "AsyncConnections", Counted)

    async def scene() -> None:
        async with AsyncSchemaRegistryClient({"url": "mock://"}) as client:
            await asyncio.gather(*(client.register_schema(f"s{number}", Schema('"int"')) for number in range(8)))
            assert len(made) == 1

    asyncio.run(scene())


def test_the_loop_goes_on_while_httpx_is_imported_for_the_first_requests() -> None:
    code = """
import asyncio, threading

class Watch:
    by = []

    def find_spec(self, name, path=None, target=None):
        if name == "httpx":
            self.by.append(threading.current_thread() is threading.main_thread())

sys.meta_path.insert(0, Watch())

async def run():
    client = AsyncSchemaRegistryClient({"url": "http://127.0.0.1:1", "max.retries": 0})
    assert not Watch.by
    found = await asyncio.gather(client.get_subjects(), client.get_contexts(), return_exceptions=True)
    await client.aclose()
    return [type(each).__name__ for each in found]

print(asyncio.run(run()), Watch.by)
"""
    assert fresh(code) == "['TransportError', 'TransportError'] [False]"
