from __future__ import annotations

import contextlib
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
LIMIT_S = 60.0


@pytest.fixture(scope="module")
def quick() -> Iterator[RegistryServer]:
    """It drops connections so soon that a busy machine may be too late with a request."""
    with serve(limits=QUICK) as server:
        yield server


@pytest.fixture(scope="module")
def patient() -> Iterator[RegistryServer]:
    with serve(limits=Limits(body_bytes=1000, head_s=LIMIT_S, body_s=LIMIT_S)) as server:
        yield server


def connected(server: RegistryServer) -> socket.socket:
    parts = urlsplit(server.url)
    return socket.create_connection((parts.hostname or "", parts.port or 0), LIMIT_S)


def received(server: RegistryServer, sent: bytes) -> bytes:
    """All the server says until it closes the connection, which it may do before all is sent."""
    found = b""
    with connected(server) as connection, contextlib.suppress(ConnectionError):
        connection.sendall(sent)
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


def test_a_half_sent_body_is_408() -> None:
    head = b"POST /subjects/a/versions HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{"
    with serve(limits=Limits(head_s=LIMIT_S, body_s=0.3)) as server:
        answer = received(server, head)
    assert answer.startswith(b"HTTP/1.1 408")
    assert b'"error_code": 408' in answer


def test_a_body_too_large_is_413_before_it_is_sent(patient: RegistryServer) -> None:
    answer = received(patient, b"POST /subjects/a HTTP/1.1\r\nHost: x\r\nContent-Length: 99999\r\n\r\n")
    assert answer.startswith(b"HTTP/1.1 413")
    chunked = b"POST /subjects/a HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
    assert received(patient, chunked + b"400\r\n" + b"x" * 1024 + b"\r\n").startswith(b"HTTP/1.1 413")


def test_bytes_that_are_no_http_are_400(patient: RegistryServer) -> None:
    assert received(patient, b"nonsense\r\n\r\n").startswith(b"HTTP/1.1 400")


def test_connections_are_kept_open(patient: RegistryServer) -> None:
    parts = urlsplit(patient.url)
    connection = http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=LIMIT_S)
    connection.connect()
    first = connection.sock
    for _ in range(3):
        connection.request("GET", "/subjects")
        assert connection.getresponse().read() == b"[]"
    assert connection.sock is first
    connection.close()


def test_head_is_answered_without_a_body(patient: RegistryServer) -> None:
    answer = received(patient, b"HEAD /subjects HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
    assert answer.startswith(b"HTTP/1.1 200")
    assert answer.endswith(b"\r\n\r\n")


def test_basic_authentication() -> None:
    with serve(auth={"ann": "päss"}) as server:
        assert httpx.get(f"{server.url}/subjects", auth=("ann", "päss"), timeout=LIMIT_S).status_code == 200
        for auth in (None, ("ann", "no"), ("bob", "päss"), ("", "")):
            reply = httpx.get(f"{server.url}/subjects", auth=auth, timeout=LIMIT_S)
            assert (reply.status_code, reply.json()["error_code"]) == (401, 401)
            assert reply.headers["WWW-Authenticate"].startswith("Basic")
        for header in ("Basic", "Basic !!!", "Basic /w==", "Bearer x"):
            reply = httpx.get(f"{server.url}/subjects", headers={"Authorization": header}, timeout=LIMIT_S)
            assert reply.status_code == 401


def test_tls(tls_files: dict[str, Path]) -> None:
    context = ssl.create_default_context(cafile=str(tls_files["ca"]))
    with serve(tls=(tls_files["server"], tls_files["server"])) as server:
        assert server.url.startswith("https://")
        with httpx.Client(verify=context, timeout=LIMIT_S) as client:
            assert client.get(f"{server.url}/subjects").json() == []
        with pytest.raises(httpx.ConnectError):
            httpx.get(f"{server.url}/subjects", timeout=LIMIT_S)


def test_unusable_tls_files(tmp_path: Path) -> None:
    (tmp_path / "x.pem").write_text("no certificate")
    with pytest.raises(ValueError, match=r"registry \(.* and .*\) can't be used"):
        serve(tls=(tmp_path / "x.pem", tmp_path / "x.pem"))


def test_a_taken_port_is_said_at_once() -> None:
    with serve() as server, pytest.raises(OSError):
        serve(port=urlsplit(server.url).port or 0)


def test_close_leaves_no_thread(quick: RegistryServer) -> None:
    before = set(threading.enumerate())  # those of other tests may end meanwhile
    server = serve()
    httpx.post(f"{server.url}/subjects/a/versions", json=ONE, timeout=LIMIT_S)
    server.close()
    server.close()
    deadline_s = time.monotonic() + LIMIT_S
    while not set(threading.enumerate()) <= before:
        assert time.monotonic() < deadline_s, threading.enumerate()
        time.sleep(0.01)


def test_internal_errors_are_500_in_json(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    def broken(*_: object) -> object:
        raise RuntimeError("inside")

    monkeypatch.setattr(EmbeddedRegistry, "respond", broken)
    with serve() as server:
        reply = httpx.get(f"{server.url}/subjects", timeout=LIMIT_S)
    assert (reply.status_code, reply.json()["error_code"]) == (500, 500)
    assert "inside" in caplog.text
