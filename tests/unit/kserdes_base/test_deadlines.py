"""kserdes_base.deadlines: an answer is bounded as a whole, from its first byte on."""

from __future__ import annotations

import asyncio
import itertools
import logging
import time
from collections.abc import Iterable

import httpx
import pytest

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
