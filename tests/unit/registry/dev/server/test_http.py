from __future__ import annotations

import http.client
import socket
import ssl
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import pytest

from registry.dev import EmbeddedRegistry, RegistryServer, serve
from registry.dev.server.http import Limits
from tests.unit.registry.dev.asking import ONE

QUICK = Limits(body_bytes=1000, head_s=0.3, body_s=0.3, idle_s=1, stop_s=1)


@pytest.fixture(scope="module")
def quick() -> Iterator[RegistryServer]:
    with serve(limits=QUICK) as server:
        yield server


def connected(server: RegistryServer) -> socket.socket:
    parts = urlsplit(server.url)
    return socket.create_connection((parts.hostname or "", parts.port or 0), 10)


def received(server: RegistryServer, sent: bytes) -> bytes:
    """All the server says until it closes the connection."""
    with connected(server) as connection:
        connection.sendall(sent)
        found = b""
        while chunk := connection.recv(65536):
            found += chunk
    return found


@pytest.mark.parametrize(
    "sent",
    [
        b"",
        b"GET /subjects HT",
        b"GET /subjects HTTP/1.1\r\nHost: x\r\nX: ",
    ],
)
def test_silent_and_half_sent_heads_are_dropped(quick: RegistryServer, sent: bytes) -> None:
    assert received(quick, sent) == b""


def test_a_trickled_head_is_dropped_all_the_same(quick: RegistryServer) -> None:
    with connected(quick) as connection:
        ended = threading.Event()

        def trickle() -> None:
            for letter in b"GET /subjects HTTP/1.1\r\n" + b"X: y\r\n" * 100:
                try:
                    connection.sendall(bytes([letter]))
                except OSError:
                    return
                if ended.wait(0.05):
                    return

        thread = threading.Thread(target=trickle)
        thread.start()
        try:
            assert connection.recv(1000) == b""
        except ConnectionResetError:
            ended.set()
        ended.set()
        thread.join()


def test_a_half_sent_body_is_408(quick: RegistryServer) -> None:
    head = b"POST /subjects/a/versions HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{"
    answer = received(quick, head)
    assert answer.startswith(b"HTTP/1.1 408")
    assert b'"error_code": 408' in answer


def test_a_body_too_large_is_413_before_it_is_sent(quick: RegistryServer) -> None:
    answer = received(quick, b"POST /subjects/a HTTP/1.1\r\nHost: x\r\nContent-Length: 99999\r\n\r\n")
    assert answer.startswith(b"HTTP/1.1 413")
    chunked = b"POST /subjects/a HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
    assert received(quick, chunked + b"400\r\n" + b"x" * 1024 + b"\r\n").startswith(b"HTTP/1.1 413")


def test_what_is_no_http_is_400(quick: RegistryServer) -> None:
    assert received(quick, b"nonsense\r\n\r\n").startswith(b"HTTP/1.1 400")


def test_connections_are_kept_open(quick: RegistryServer) -> None:
    parts = urlsplit(quick.url)
    connection = http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=60)
    connection.connect()
    first = connection.sock
    for _ in range(3):
        connection.request("GET", "/subjects")
        assert connection.getresponse().read() == b"[]"
    assert connection.sock is first
    connection.close()


def test_head_is_answered_without_a_body(quick: RegistryServer) -> None:
    answer = received(quick, b"HEAD /subjects HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
    assert answer.startswith(b"HTTP/1.1 200")
    assert answer.endswith(b"\r\n\r\n")


def test_basic_authentication() -> None:
    with serve(auth={"ann": "päss"}) as server:
        assert httpx.get(f"{server.url}/subjects", auth=("ann", "päss")).status_code == 200
        for auth in (None, ("ann", "no"), ("bob", "päss"), ("", "")):
            reply = httpx.get(f"{server.url}/subjects", auth=auth)
            assert (reply.status_code, reply.json()["error_code"]) == (401, 401)
            assert reply.headers["WWW-Authenticate"].startswith("Basic")
        for header in ("Basic", "Basic !!!", "Basic /w==", "Bearer x"):
            reply = httpx.get(f"{server.url}/subjects", headers={"Authorization": header})
            assert reply.status_code == 401


def test_tls(tls_files: dict[str, Path]) -> None:
    context = ssl.create_default_context(cafile=str(tls_files["ca"]))
    with serve(tls=(tls_files["server"], tls_files["server"])) as server:
        assert server.url.startswith("https://")
        with httpx.Client(verify=context) as client:
            assert client.get(f"{server.url}/subjects").json() == []
        with pytest.raises(httpx.ConnectError):
            httpx.get(f"{server.url}/subjects")


def test_unusable_tls_files(tmp_path: Path) -> None:
    (tmp_path / "x.pem").write_text("no certificate")
    with pytest.raises(ValueError, match=r"registry \(.* and .*\) can't be used"):
        serve(tls=(tmp_path / "x.pem", tmp_path / "x.pem"))


def test_a_taken_port_is_said_at_once() -> None:
    with serve() as server, pytest.raises(OSError):
        serve(port=urlsplit(server.url).port or 0)


def test_close_leaves_no_thread(quick: RegistryServer) -> None:
    before = threading.active_count()
    server = serve()
    httpx.post(f"{server.url}/subjects/a/versions", json=ONE)
    started = time.monotonic()
    server.close()
    server.close()
    assert threading.active_count() == before
    assert time.monotonic() - started < 30


def test_what_breaks_is_500_in_json(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    def broken(*_: object) -> object:
        raise RuntimeError("inside")

    monkeypatch.setattr(EmbeddedRegistry, "respond", broken)
    with serve() as server:
        reply = httpx.get(f"{server.url}/subjects")
    assert (reply.status_code, reply.json()["error_code"]) == (500, 500)
    assert "inside" in caplog.text
