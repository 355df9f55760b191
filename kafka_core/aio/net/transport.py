"""Opens sockets: name look-up, TCP and TLS to one host and port, with errors that name the cause; and writes buffers.

Must not know the Kafka protocol.
Spec: librdkafka's socket.*, client.dns.lookup and broker.address.family properties; KIP-302 (all DNS addresses).
"""

import asyncio
import contextlib
import errno
import socket
import ssl
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from kafka_core.aio.net.tls import make_context
from kafka_core.aio.net.tls_errors import tls_error
from kafka_core.aio.tasks.race import in_daemon_thread
from kafka_core.config import Config
from kafka_core.errors import KafkaError, NetworkError
from kafka_core.protocol import Buffer

_FAMILIES: Final = {"any": socket.AF_UNSPEC, "v4": socket.AF_INET, "v6": socket.AF_INET6}
_MAX_BUFFERS: Final = 512
"""Buffers in one sendmsg; below every system's IOV_MAX."""
_TLS_SHUTDOWN_S: Final = 1.0

SocketAddress = tuple[int, tuple[Any, ...]]
"""(address family, sockaddr) as getaddrinfo gives them."""


@dataclass(frozen=True, slots=True)
class TransportSettings:
    """Settings for opening a connection. `tls` is None for plaintext; buffer sizes of 0 leave the system's default."""

    tls: ssl.SSLContext | None = None
    setup_timeout_s: float = 30.0
    family: int = socket.AF_UNSPEC
    use_all_dns_ips: bool = True
    keepalive: bool = False
    no_delay: bool = True
    send_buffer_bytes: int = 0
    receive_buffer_bytes: int = 0

    @classmethod
    def from_config(cls, config: Config) -> "TransportSettings":
        """Read the properties; ConfigError when TLS files cannot be used (it reads them: do it once per client)."""
        return cls(
            tls=make_context(config),
            setup_timeout_s=config.integer("socket.connection.setup.timeout.ms") / 1000,
            family=_FAMILIES[config.text("broker.address.family")],
            use_all_dns_ips=config.text("client.dns.lookup") == "use_all_dns_ips",
            keepalive=config.flag("socket.keepalive.enable"),
            no_delay=config.flag("socket.nagle.disable"),
            send_buffer_bytes=config.integer("socket.send.buffer.bytes"),
            receive_buffer_bytes=config.integer("socket.receive.buffer.bytes"),
        )


@dataclass(frozen=True, slots=True)
class OpenTransport:
    """A connected transport and its socket (for `write_buffers` only; None under TLS)."""

    transport: asyncio.Transport
    plain_socket: socket.socket | None

    @property
    def bare(self) -> bool:
        """Whether bytes given to the socket now are the next that go out."""
        transport = self.transport
        return self.plain_socket is not None and not transport.is_closing() and not transport.get_write_buffer_size()


async def open_transport(
    settings: TransportSettings, host: str, port: int, protocol_factory: Callable[[], asyncio.BaseProtocol]
) -> OpenTransport:
    """Connect to `host`:`port`: look the name up, try its addresses one after the other, do the TLS handshake.

    All within `settings.setup_timeout_s`; each address gets an equal share of the time that is left.

    Raises:
        NetworkError: _RESOLVE, _TRANSPORT (refused, unreachable), _TIMED_OUT or _SSL; the text names host, port and
            the first failure (and how many addresses were tried).
    """
    loop = asyncio.get_running_loop()
    deadline_s = loop.time() + settings.setup_timeout_s
    broker = f"{host}:{port}"
    addresses = await _resolve_in_time(settings, host, port)
    if not settings.use_all_dns_ips:
        addresses = addresses[:1]
    first_failure: NetworkError | None = None
    for index, address in enumerate(addresses):
        share_s = max(0.0, deadline_s - loop.time()) / (len(addresses) - index)
        try:
            async with asyncio.timeout(share_s):
                return await _open_address(settings, host, address, protocol_factory, broker)
        except TimeoutError:
            failure = NetworkError(
                f"{broker} ({address[1][0]}): no connection within {settings.setup_timeout_s:g} s "
                "(socket.connection.setup.timeout.ms); is the host up and the port open in the firewall?",
                KafkaError._TIMED_OUT,
            )
        except NetworkError as error:
            failure = error
        first_failure = first_failure or failure
    assert first_failure is not None  # resolve gave at least one address
    raise first_failure


async def resolve(host: str, port: int, family: int = socket.AF_UNSPEC) -> list[SocketAddress]:
    """The addresses of a host, in the system's order, without doubles; a name is looked up in a daemon thread.

    Raises:
        NetworkError: code _RESOLVE; names the host and the resolver's reason.
    """

    def look_up(flags: int = 0) -> list[SocketAddress]:
        found = socket.getaddrinfo(host, port, family, socket.SOCK_STREAM, flags=flags)
        return list(dict.fromkeys((int(item[0]), item[4]) for item in found))

    with contextlib.suppress(OSError, UnicodeError):  # it is a name
        return look_up(socket.AI_NUMERICHOST)  # an address: nobody is asked, and it takes no time
    try:
        addresses = await in_daemon_thread("kafka-core-dns", look_up)
    except (OSError, UnicodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise NetworkError(
            f"{host}:{port}: the host name {host!r} cannot be resolved ({reason}); check bootstrap.servers "
            "(or the broker's advertised.listeners) and DNS",
            KafkaError._RESOLVE,
        ) from error
    if not addresses:
        raise NetworkError(f"{host}:{port}: the host name {host!r} has no address", KafkaError._RESOLVE)
    return addresses


async def canonical_names(host: str, port: int, family: int = socket.AF_UNSPEC) -> list[str]:
    """The canonical host name of each address of `host`, without doubles; an address without one stands for itself.

    For client.dns.lookup=resolve_canonical_bootstrap_servers_only (Kerberos needs the broker's real name).
    """

    def name_of(address: SocketAddress) -> str:
        try:
            return socket.getnameinfo(address[1], socket.NI_NAMEREQD)[0]
        except OSError:
            return str(address[1][0])

    addresses = await resolve(host, port, family)

    def look_up() -> list[str]:
        return list(dict.fromkeys(name_of(address) for address in addresses))

    return await in_daemon_thread("kafka-core-dns", look_up)


async def _resolve_in_time(settings: TransportSettings, host: str, port: int) -> list[SocketAddress]:
    try:
        async with asyncio.timeout(settings.setup_timeout_s):
            return await resolve(host, port, settings.family)
    except TimeoutError:
        raise NetworkError(
            f"{host}:{port}: the host name {host!r} could not be resolved within {settings.setup_timeout_s:g} s",
            KafkaError._RESOLVE,
        ) from None


async def _open_address(
    settings: TransportSettings,
    host: str,
    address: SocketAddress,
    protocol_factory: Callable[[], asyncio.BaseProtocol],
    broker: str,
) -> OpenTransport:
    sock = await _connect(settings, address, broker)
    loop = asyncio.get_running_loop()
    try:
        if settings.tls is None:
            transport, _ = await loop.create_connection(protocol_factory, sock=sock)
            return OpenTransport(transport, sock)
        transport, _ = await loop.create_connection(
            protocol_factory,
            sock=sock,
            ssl=settings.tls,
            server_hostname=host.rstrip("."),  # SNI has no trailing dot
            ssl_handshake_timeout=settings.setup_timeout_s + 1,  # ours comes first
            ssl_shutdown_timeout=_TLS_SHUTDOWN_S,
        )
    except (OSError, ssl.CertificateError) as error:
        sock.close()
        raise tls_error(error, broker, host) from error
    except BaseException:
        sock.close()
        raise
    return OpenTransport(transport, None)


async def _connect(settings: TransportSettings, address: SocketAddress, broker: str) -> socket.socket:
    family, sockaddr = address
    try:
        sock = socket.socket(family, socket.SOCK_STREAM)
    except OSError as error:  # no descriptors left, or the family is not supported here
        raise NetworkError(f"{broker}: no socket: {error.strerror}") from error
    try:
        _set_options(sock, settings)
        sock.setblocking(False)
        await asyncio.get_running_loop().sock_connect(sock, sockaddr)
    except OSError as error:
        sock.close()
        raise NetworkError(f"{broker} ({sockaddr[0]}): {_connect_text(error)}") from error
    except BaseException:
        sock.close()
        raise
    return sock


def _set_options(sock: socket.socket, settings: TransportSettings) -> None:
    if settings.no_delay:
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    if settings.keepalive:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    if settings.send_buffer_bytes:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, settings.send_buffer_bytes)
    if settings.receive_buffer_bytes:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, settings.receive_buffer_bytes)


def _connect_text(error: OSError) -> str:
    if error.errno == errno.ECONNREFUSED:
        return "connection refused: nothing listens on that port"
    if error.errno in (errno.ENETUNREACH, errno.EHOSTUNREACH):
        return "unreachable: no route to that host"
    if error.errno == errno.ETIMEDOUT:
        return "connection timed out"
    return f"connecting failed: {error.strerror or error}"


def write_buffers(target: OpenTransport, buffers: Sequence[Buffer]) -> None:
    """Write buffers one after the other without joining them; they must not change until they are sent.

    `transport.writelines` is not used: before Python 3.12 it joins everything, and in early 3.12 and 3.13 it forgets
    to pause the protocol, so that back-pressure never comes (python/cpython#127655). Instead the first
    attempt goes straight to the socket, when nothing waits in the transport, and only the rest, if any, into the
    transport's buffer. Under TLS each buffer is encrypted on its own.

    Into a transport that closes nothing is written: asyncio would drop it, and complain of it in its log. Its protocol
    hears of the end.
    """
    transport = target.transport
    if transport.is_closing():
        return
    if target.plain_socket is None:
        for buffer in buffers:
            transport.write(buffer)
    else:
        _send_then_write(transport, target.plain_socket, buffers)


def _send_then_write(transport: asyncio.Transport, sock: socket.socket, buffers: Sequence[Buffer]) -> None:
    sent = 0
    if transport.get_write_buffer_size() == 0:
        try:
            sent = sock.sendmsg(buffers[:_MAX_BUFFERS])
        except OSError:  # full for now, or broken: the transport will meet the same and report it
            sent = 0
    for buffer in buffers:
        size = len(buffer)
        if sent >= size:
            sent -= size
            continue
        transport.write(memoryview(buffer)[sent:] if sent else buffer)
        sent = 0
