"""The proxy of `make faults`: bytes that vanish, and connections that only one side has."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator

import pytest

from tools.faults.proxy import FaultProxy
from tools.real_kafka import free_ports

LIMIT_S = 60.0


@pytest.fixture
def echo() -> Iterator[int]:
    """A server that sends everything back; its port."""
    with socket.create_server(("127.0.0.1", 0)) as server:

        def answer(connection: socket.socket) -> None:
            with connection:
                try:
                    while data := connection.recv(100):
                        connection.sendall(data)
                except ConnectionError:
                    return

        def serve() -> None:
            while True:
                try:
                    connection, _ = server.accept()
                except OSError:
                    return
                threading.Thread(target=answer, args=(connection,), daemon=True).start()

        threading.Thread(target=serve, daemon=True).start()
        yield server.getsockname()[1]
        server.shutdown(socket.SHUT_RDWR)


def connect(proxy: FaultProxy) -> socket.socket:
    return socket.create_connection(("127.0.0.1", proxy.port), timeout=LIMIT_S)


def ask(connection: socket.socket, data: bytes) -> bytes:
    connection.sendall(data)
    return connection.recv(100)


def is_silent(connection: socket.socket) -> bool:
    connection.settimeout(0.2)
    try:
        connection.recv(100)
    except TimeoutError:
        return True
    finally:
        connection.settimeout(LIMIT_S)
    return False


def test_it_listens_where_it_is_told(echo: int) -> None:
    (port,) = free_ports(1)
    with FaultProxy("127.0.0.1", echo, port) as proxy, connect(proxy) as one:
        assert (proxy.port, ask(one, b"1")) == (port, b"1")


def test_frozen_bytes_arrive_later(echo: int) -> None:
    with FaultProxy("127.0.0.1", echo) as proxy, connect(proxy) as one:
        assert ask(one, b"1") == b"1"
        proxy.freeze()
        one.sendall(b"2")
        assert is_silent(one)
        proxy.resume()
        assert one.recv(100) == b"2"


def test_swallowed_bytes_and_in_the_end_the_connection_are_gone(echo: int) -> None:
    with FaultProxy("127.0.0.1", echo) as proxy, connect(proxy) as one, connect(proxy) as idle:
        assert (ask(one, b"1"), ask(idle, b"1")) == (b"1", b"1")
        proxy.swallow()
        with connect(proxy) as late:
            one.sendall(b"2")
            late.sendall(b"3")
            assert is_silent(one)
            assert is_silent(late)
            proxy.resume()
            for robbed in (one, late):
                with pytest.raises(ConnectionError):
                    robbed.recv(100)
        assert ask(idle, b"4") == b"4"  # it lost nothing


def test_a_half_open_connection_takes_everything_and_says_nothing(echo: int) -> None:
    with FaultProxy("127.0.0.1", echo) as proxy, connect(proxy) as one:
        assert ask(one, b"1") == b"1"
        assert proxy.half_open() == 1
        one.sendall(b"2")
        assert is_silent(one)
        one.sendall(b"3")  # still no reset
        assert is_silent(one)
        with connect(proxy) as another:
            assert ask(another, b"4") == b"4"
