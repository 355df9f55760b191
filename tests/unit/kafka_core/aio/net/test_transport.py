"""kafka_core.aio.net.transport: sockets opened, errors named, buffers written without loss."""

import asyncio
import socket
import ssl
from unittest import mock

import pytest
import trustme

from kafka_core.aio.net import transport as module
from kafka_core.aio.net.transport import (
    OpenTransport,
    TransportSettings,
    canonical_names,
    open_transport,
    resolve,
    write_buffers,
)
from kafka_core.config import Role, parse
from kafka_core.errors import KafkaError, NetworkError
from tests.faults.listener import listening
from tests.faults.loop import on_loop, outcome, until


class Received:
    """A server's side that keeps what it gets."""

    def __init__(self) -> None:
        self.data = bytearray()
        self.done = asyncio.Event()

    async def serve(self, reader: asyncio.StreamReader, _: asyncio.StreamWriter) -> None:
        try:
            while chunk := await reader.read(65536):
                self.data += chunk
        finally:
            self.done.set()


class TestOpen:
    @on_loop
    async def test_refused(self, refused_port: int):
        error = await outcome(open_transport(TransportSettings(), "127.0.0.1", refused_port, asyncio.Protocol))
        assert isinstance(error, NetworkError)
        assert error.code == KafkaError._TRANSPORT
        assert f"127.0.0.1:{refused_port}" in str(error)
        assert "connection refused" in str(error)

    @on_loop
    async def test_a_name_that_does_not_resolve(self):
        error = await outcome(open_transport(TransportSettings(), "nowhere.invalid", 9092, asyncio.Protocol))
        assert isinstance(error, NetworkError)
        assert error.code == KafkaError._RESOLVE
        assert "'nowhere.invalid' cannot be resolved" in str(error)

    @on_loop
    async def test_no_answer_in_time(self):
        # a listener whose backlog is full drops new SYNs: connecting hangs, as behind a firewall
        with socket.socket() as listener:
            listener.bind(("127.0.0.1", 0))
            listener.listen(0)
            port = listener.getsockname()[1]
            fillers = [socket.socket() for _ in range(4)]
            try:
                for filler in fillers:
                    filler.setblocking(False)
                    filler.connect_ex(("127.0.0.1", port))
                error = await outcome(
                    open_transport(TransportSettings(setup_timeout_s=0.1), "127.0.0.1", port, asyncio.Protocol)
                )
            finally:
                for filler in fillers:
                    filler.close()
        assert isinstance(error, NetworkError)
        assert error.code == KafkaError._TIMED_OUT
        assert "no connection within 0.1 s (socket.connection.setup.timeout.ms)" in str(error)

    @pytest.mark.parametrize("use_all", [True, False])
    @on_loop
    async def test_all_addresses_of_a_name_are_tried(self, use_all: bool, refused_port: int):
        received = Received()
        async with listening(received.serve) as port:
            addresses = [(socket.AF_INET, ("127.0.0.9", refused_port)), (socket.AF_INET, ("127.0.0.1", port))]
            with mock.patch.object(module, "resolve", mock.AsyncMock(return_value=addresses)):
                work = open_transport(TransportSettings(use_all_dns_ips=use_all), "two", port, asyncio.Protocol)
                if use_all:
                    (await work).transport.close()
                else:
                    error = await outcome(work)
                    assert "127.0.0.9" in str(error)
                    assert "refused" in str(error)

    @on_loop
    async def test_the_first_failure_is_the_one_that_is_named(self, refused_port: int):
        addresses = [(socket.AF_INET, (host, refused_port)) for host in ("127.0.0.8", "127.0.0.9")]
        with mock.patch.object(module, "resolve", mock.AsyncMock(return_value=addresses)):
            error = await outcome(open_transport(TransportSettings(), "two", 1, asyncio.Protocol))
        assert "127.0.0.8" in str(error)

    @on_loop
    async def test_socket_options(self):
        settings = TransportSettings(keepalive=True, no_delay=True, send_buffer_bytes=8192, receive_buffer_bytes=8192)
        received = Received()
        async with listening(received.serve) as port:
            opened = await open_transport(settings, "127.0.0.1", port, asyncio.Protocol)
            sock = opened.transport.get_extra_info("socket")
            assert sock.getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE) == 1
            assert sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY) == 1
            assert sock.getsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF) <= 2 * 8192
            assert sock.getsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF) <= 2 * 8192
            opened.transport.close()

    @on_loop
    async def test_cancelling_leaves_no_socket(self):
        received = Received()
        async with listening(received.serve) as port:
            task = asyncio.ensure_future(open_transport(TransportSettings(), "127.0.0.1", port, asyncio.Protocol))
            await asyncio.sleep(0)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task

    @on_loop
    async def test_a_listener_that_hangs_up_in_the_tls_handshake(self):
        class HangUp(asyncio.Protocol):
            def data_received(self, data: bytes) -> None:
                self.transport.close()

            def connection_made(self, transport: asyncio.BaseTransport) -> None:
                assert isinstance(transport, asyncio.Transport)
                self.transport = transport

        server = await asyncio.get_running_loop().create_server(HangUp, "127.0.0.1", 0)
        port = server.sockets[0].getsockname()[1]
        context = ssl.create_default_context()
        error = await outcome(open_transport(TransportSettings(tls=context), "127.0.0.1", port, asyncio.Protocol))
        server.close()
        assert isinstance(error, NetworkError)
        assert "does the port speak TLS?" in str(error)

    def test_settings_from_properties(self):
        settings = TransportSettings.from_config(
            parse(
                {
                    "bootstrap.servers": "a",
                    "broker.address.family": "v6",
                    "client.dns.lookup": "resolve_canonical_bootstrap_servers_only",
                    "socket.connection.setup.timeout.ms": 1500,
                    "socket.keepalive.enable": True,
                    "socket.nagle.disable": False,
                },
                Role.ADMIN,
            )
        )
        assert settings == TransportSettings(
            setup_timeout_s=1.5, family=socket.AF_INET6, use_all_dns_ips=False, keepalive=True, no_delay=False
        )


class TestNames:
    @on_loop
    async def test_an_address_is_its_own_name(self):
        """It is not looked up on a thread, for which a busy machine may have no time (and then named the resolver)."""
        with mock.patch.object(module, "in_daemon_thread", side_effect=AssertionError):
            assert await resolve("127.0.0.1", 9092) == [(socket.AF_INET, ("127.0.0.1", 9092))]
            assert await resolve("::1", 9092) == [(socket.AF_INET6, ("::1", 9092, 0, 0))]

    @on_loop
    async def test_the_family_is_honoured(self):
        error = await outcome(resolve("127.0.0.1", 9092, socket.AF_INET6))
        assert isinstance(error, NetworkError)

    @on_loop
    async def test_canonical_names_fall_back_on_the_address(self):
        with mock.patch.object(socket, "getnameinfo", side_effect=socket.gaierror("no name")):
            assert await canonical_names("127.0.0.1", 9092) == ["127.0.0.1"]

    @on_loop
    async def test_canonical_names(self):
        with mock.patch.object(socket, "getnameinfo", return_value=("broker-1.example.com", "9092")):
            assert await canonical_names("127.0.0.1", 9092) == ["broker-1.example.com"]


class TestWrite:
    CHUNKS = [b"size", bytearray(b"head"), memoryview(bytes(200_000)), b"", b"x" * 400_000, b"end"]

    @pytest.mark.parametrize("encrypted", [False, True])
    @on_loop
    async def test_everything_arrives_in_order_also_when_the_socket_is_full(self, encrypted: bool):
        ca = trustme.CA()
        server_context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        ca.issue_cert("127.0.0.1").configure_cert(server_context)
        client_context = ssl.create_default_context()
        ca.configure_trust(client_context)
        received = Received()
        async with listening(received.serve, server_context if encrypted else None) as port:
            settings = TransportSettings(tls=client_context if encrypted else None, send_buffer_bytes=8192)
            opened = await open_transport(settings, "127.0.0.1", port, asyncio.Protocol)
            assert (opened.plain_socket is None) is encrypted
            for _ in range(3):
                write_buffers(opened, self.CHUNKS)
            write_buffers(opened, [b"small"] * 1500)  # more than one sendmsg takes
            expected = b"".join(map(bytes, self.CHUNKS)) * 3 + b"small" * 1500
            await until(lambda: len(received.data) >= len(expected))
            opened.transport.close()
            await received.done.wait()
        assert received.data == expected

    def test_bytes_left_by_the_socket_go_to_the_transport_uncopied(self):
        sock, transport = mock.Mock(), mock.Mock()
        transport.get_write_buffer_size.return_value = 0
        transport.is_closing.return_value = False
        sock.sendmsg.return_value = 6
        module._send_then_write(transport, sock, [b"abcd", b"efgh", b"ijkl"])
        assert [bytes(call.args[0]) for call in transport.write.call_args_list] == [b"gh", b"ijkl"]

    @pytest.mark.parametrize("encrypted", [False, True])
    @on_loop
    async def test_into_a_connection_that_is_lost_nothing_is_written_and_nothing_logged(
        self, encrypted: bool, caplog: pytest.LogCaptureFixture
    ):
        """Requests of the turn in which the loss is noticed made asyncio log "socket.send() raised exception"."""
        transport = mock.Mock()
        transport.is_closing.return_value = True
        write_buffers(OpenTransport(transport, None if encrypted else mock.Mock()), [b"ab", b"cd"])
        assert not transport.write.called
        received = Received()
        async with listening(received.serve, None) as port:
            opened = await open_transport(TransportSettings(), "127.0.0.1", port, asyncio.Protocol)
            opened.transport.abort()
            for _ in range(10):
                write_buffers(opened, [b"x"])
            await received.done.wait()
        assert [record.message for record in caplog.records if record.name == "asyncio"] == []

    @pytest.mark.parametrize("state", ["waiting", "full"])
    def test_the_socket_is_left_alone_when_the_transport_has_its_turn(self, state: str):
        sock, transport = mock.Mock(), mock.Mock()
        transport.get_write_buffer_size.return_value = 10 if state == "waiting" else 0
        transport.is_closing.return_value = False
        sock.sendmsg.side_effect = BlockingIOError
        module._send_then_write(transport, sock, [b"ab", b"cd"])
        assert [call.args[0] for call in transport.write.call_args_list] == [b"ab", b"cd"]
        assert sock.sendmsg.called is (state == "full")
