"""kserdes_base.deadlines: an answer is bounded as a whole, from its first byte on."""

from __future__ import annotations

import asyncio
import itertools
import logging
import ssl
import subprocess
import sys
import time
from collections.abc import Iterable

import httpx
import pytest
import trustme

from kserdes_base import deadlines
from registry import AsyncSchemaRegistryClient, SchemaRegistryClient, TransportError
from registry.client import exchange
from tests.faults.listener import listening

HANG_S = 60.0
HEADERS = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nX-Long: "
DRIPS = {
    "headers": lambda: itertools.chain((HEADERS,), itertools.repeat(b"x")),
    "interim answers": lambda: itertools.repeat(b"HTTP/1.1 102 Processing\r\n\r\n"),
    "body": lambda: itertools.chain((b"HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n",), itertools.repeat(b" ")),
}


def dripping(pieces: Iterable[bytes]) -> object:
    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        for piece in pieces:
            writer.write(piece)
            await writer.drain()
            await asyncio.sleep(0.02)

    return serve


@pytest.mark.parametrize("face", ["blocking", "asyncio"])
@pytest.mark.parametrize(
    ("what", "proxied"),
    [*itertools.product(DRIPS, (None, "http")), ("headers", "https"), ("interim answers", "https")],
)
def test_an_answer_that_never_ends_ends_in_time(face: str, what: str, proxied: str | None) -> None:
    async def scene() -> None:
        async with listening(dripping(DRIPS[what]())) as port:  # type: ignore[arg-type]
            conf: dict[str, object] = {"url": f"http://127.0.0.1:{port}", "timeout": 0.2, "max.retries": 0}
            if proxied is not None:  # with https it is the proxy's answer to CONNECT that does not end
                conf |= {"url": f"{proxied}://registry.invalid", "proxy": f"http://127.0.0.1:{port}"}
            with pytest.raises(TransportError, match="timed out"):
                if face == "asyncio":
                    async with AsyncSchemaRegistryClient(conf) as client:
                        await client.get_subjects()
                else:
                    with SchemaRegistryClient(conf) as blocking:
                        await asyncio.to_thread(blocking.get_subjects)

    asyncio.run(asyncio.wait_for(scene(), HANG_S))


AUTHORITY = trustme.CA()
RECORD = b"\x16\x03\x03\x40\x00"
"""The head of a long record of a TLS handshake."""


def contexts() -> tuple[ssl.SSLContext, ssl.SSLContext]:
    """Those of a server on 127.0.0.1 and of its clients."""
    server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    AUTHORITY.issue_cert("127.0.0.1").configure_cert(server)
    client = ssl.create_default_context()
    AUTHORITY.configure_trust(client)
    return server, client


@pytest.mark.parametrize("face", ["blocking", "asyncio"])
@pytest.mark.parametrize("in_tls", [False, True], ids=["handshake", "handshake by an https proxy"])
def test_a_handshake_that_never_ends_ends_in_time(face: str, in_tls: bool) -> None:
    """TLS inside TLS is several reads for httpcore, each of which would have the whole time-out."""
    server, trusting = contexts()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if in_tls:
            await reader.readuntil(b"\r\n\r\n")
            writer.write(b"HTTP/1.1 200 OK\r\n\r\n")
        for piece in itertools.chain((RECORD,), itertools.repeat(b"x")):
            writer.write(piece)
            await writer.drain()
            await asyncio.sleep(0.02)

    async def scene() -> None:
        async with listening(serve, tls=server if in_tls else None) as port:
            own = f"https://127.0.0.1:{port}"
            proxy = httpx.Proxy(own, ssl_context=trusting) if in_tls else None
            url = "https://registry.invalid" if in_tls else own

            def ask() -> None:
                with httpx.Client(proxy=proxy, verify=trusting, timeout=0.3, trust_env=False) as client:
                    deadlines.bound(client)
                    with deadlines.until(time.monotonic() + 0.3):
                        client.get(url)

            with pytest.raises(httpx.TimeoutException):
                if face == "asyncio":
                    asyncs = httpx.AsyncClient(proxy=proxy, verify=trusting, timeout=0.3, trust_env=False)
                    async with asyncs as client:
                        deadlines.bound(client)
                        with deadlines.until(time.monotonic() + 0.3):
                            await client.get(url)
                else:
                    await asyncio.to_thread(ask)

    asyncio.run(asyncio.wait_for(scene(), HANG_S))


def test_an_answer_by_an_https_proxy_comes_and_one_that_drips_does_not() -> None:
    """The answer is TLS inside TLS, whose bytes come slowly: each read of httpcore's has some of a record."""
    server, trusting = contexts()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\n\r\n")
        incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        inside = server.wrap_bio(incoming, outgoing, server_side=True)
        asked = b""
        while b"\r\n\r\n" not in asked:
            try:
                asked += inside.read(1 << 14)
            except ssl.SSLWantReadError:
                writer.write(outgoing.read())
                incoming.write(await reader.read(1 << 14))
        if b"/slow" not in asked:
            inside.write(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
            writer.write(outgoing.read())
            return
        inside.write(b"HTTP/1.1 200 OK\r\nX-Long: " + b"x" * 10_000)
        for at in outgoing.read():
            writer.write(bytes([at]))
            await writer.drain()
            await asyncio.sleep(0.02)

    async def scene() -> None:
        async with listening(serve, tls=server) as port:
            proxy = httpx.Proxy(f"https://127.0.0.1:{port}", ssl_context=trusting)

            def ask(path: str, limit_s: float) -> bytes:
                with httpx.Client(proxy=proxy, verify=trusting, trust_env=False) as client:
                    deadlines.bound(client)
                    with deadlines.until(time.monotonic() + limit_s):
                        return client.get(f"https://127.0.0.1{path}").content

            assert await asyncio.to_thread(ask, "/fast", HANG_S) == b"ok"
            with pytest.raises(httpx.ReadTimeout):
                await asyncio.to_thread(ask, "/slow", 0.5)

    asyncio.run(asyncio.wait_for(scene(), HANG_S))


def test_httpx_is_not_loaded_by_who_has_no_client_of_it() -> None:
    code = "import sys, kserdes_base.deadlines; print('httpx' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


def test_the_transports_of_proxies_are_found_too(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)
    with httpx.Client() as plain:
        assert deadlines.bound(plain) == 1
    with httpx.Client(proxy="http://127.0.0.1:1") as proxied:
        assert deadlines.bound(proxied) == 2
    with httpx.Client(transport=httpx.MockTransport(lambda _: httpx.Response(200))) as foreign:
        assert deadlines.bound(foreign) == 0


def test_no_deadline_is_left_behind() -> None:
    with pytest.raises(httpx.ReadTimeout), deadlines.until(time.monotonic() - 1):
        deadlines._left_s(5.0)
    assert deadlines._left_s(5.0) == 5.0
    assert deadlines._left_s(None) is None
    with deadlines.until(time.monotonic() + 3600):
        assert deadlines._left_s(5.0) == 5.0
        left_s = deadlines._left_s(None)
        assert left_s is not None
        assert 0 < left_s <= 3600


def test_httpx_that_has_changed_inside_is_told_once(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(deadlines, "bound", lambda client: 0)
    deadlines.tell_of_changes.cache_clear()
    with caplog.at_level(logging.WARNING, "registry"):
        for _ in range(2):
            SchemaRegistryClient({"url": "http://127.0.0.1:1"}).close()
            answer = httpx.Response(200, content=b"x", extensions={"network_stream": object()})
            assert list(exchange.OnlyAnswer(answer)) == [b"x"]
    deadlines.tell_of_changes.cache_clear()
    assert [record.getMessage().partition(": ")[2] for record in caplog.records] == [
        "an answer that comes slowly is not bounded as a whole",
        "an extra answer of a server or a proxy may be taken for another's",
    ]
