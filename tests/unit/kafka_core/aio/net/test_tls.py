"""kafka_core.aio.net.tls and tls_errors: trust, client certificates, and every failure in plain words."""

import asyncio
import contextlib
import datetime
import os
import socket
import ssl
from pathlib import Path

import pytest
import trustme
from cryptography.hazmat.primitives import serialization

from kafka_core.aio.net.tls import make_context
from kafka_core.aio.net.tls_errors import tls_error
from kafka_core.aio.tasks.race import in_daemon_thread
from kafka_core.config import Role, parse
from kafka_core.errors import ConfigError, KafkaError, NetworkError
from kafka_core.protocol.messages.metadata import MetadataRequest
from tests.faults.listener import listening
from tests.faults.loop import make_client, make_connector, on_loop, outcome
from tests.faults.scripted import ScriptedBroker


@pytest.fixture(scope="module")
def ca() -> trustme.CA:
    return trustme.CA()


@pytest.fixture(scope="module")
def ca_pem(ca: trustme.CA) -> str:
    return ca.cert_pem.bytes().decode()


def server_context(
    ca: trustme.CA, *names: str, client_ca: trustme.CA | None = None, **options: object
) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    ca.issue_cert(*(names or ("127.0.0.1", "localhost")), **options).configure_cert(context)  # type: ignore[arg-type]
    if client_ca is not None:
        client_ca.configure_trust(context)
        context.verify_mode = ssl.CERT_REQUIRED
    return context


async def ask(broker: ScriptedBroker, host: str = "127.0.0.1", **properties: object) -> str:
    """Connect, ask for metadata, and give the cluster's id."""
    connector = make_connector("x", **{"security_protocol": "ssl", **properties})
    connection = await connector.connect(host, broker.port)
    try:
        return (await connection.send(MetadataRequest())).cluster_id or ""
    finally:
        await connection.close()


class TestTrust:
    @on_loop
    async def test_a_ca_as_text(self, ca: trustme.CA, ca_pem: str):
        async with ScriptedBroker(tls=server_context(ca)) as broker:
            assert await ask(broker, ssl_ca_pem=ca_pem) == "scripted"

    @on_loop
    async def test_a_ca_as_file(self, ca: trustme.CA, tmp_path: Path):
        ca.cert_pem.write_to_path(str(tmp_path / "ca.pem"))
        async with ScriptedBroker(tls=server_context(ca)) as broker:
            assert await ask(broker, ssl_ca_location=str(tmp_path / "ca.pem")) == "scripted"

    @on_loop
    async def test_the_hosts_name_is_sent_as_sni(self, ca: trustme.CA, ca_pem: str):
        seen: list[str | None] = []
        context = server_context(ca)
        context.sni_callback = lambda _socket, name, _context: seen.append(name)
        async with ScriptedBroker(tls=context) as broker:
            await ask(broker, "localhost", ssl_ca_pem=ca_pem)
        assert seen == ["localhost"]

    @on_loop
    async def test_an_unknown_ca(self, ca: trustme.CA):
        async with ScriptedBroker(tls=server_context(ca)) as broker:
            error = await outcome(ask(broker))
        assert isinstance(error, NetworkError)
        assert (error.code, error.retriable) == (KafkaError._SSL, False)
        assert str(error).startswith(f"127.0.0.1:{broker.port}: TLS: the broker's certificate is not trusted")
        assert "ssl.ca.location" in str(error)

    @on_loop
    async def test_another_host_name(self, ca: trustme.CA, ca_pem: str):
        async with ScriptedBroker(tls=server_context(ca, "kafka.example.com")) as broker:
            error = await outcome(ask(broker, "localhost", ssl_ca_pem=ca_pem))
            assert "the broker's certificate is not for host 'localhost'" in str(error)
            off = {"ssl_endpoint_identification_algorithm": "none"}
            assert await ask(broker, "localhost", ssl_ca_pem=ca_pem, **off) == "scripted"

    @on_loop
    async def test_another_address(self, ca: trustme.CA, ca_pem: str):
        async with ScriptedBroker(tls=server_context(ca, "10.1.2.3")) as broker:
            error = await outcome(ask(broker, ssl_ca_pem=ca_pem))
        assert "is not for host '127.0.0.1'" in str(error)

    @on_loop
    async def test_expired(self, ca: trustme.CA, ca_pem: str):
        yesterday = datetime.datetime.now(datetime.UTC) - datetime.timedelta(days=1)
        async with ScriptedBroker(tls=server_context(ca, "127.0.0.1", not_after=yesterday)) as broker:
            error = await outcome(ask(broker, ssl_ca_pem=ca_pem))
        assert "the broker's certificate has expired" in str(error)

    @on_loop
    async def test_no_verification(self, ca: trustme.CA):
        async with ScriptedBroker(tls=server_context(ca, "other")) as broker:
            assert await ask(broker, enable_ssl_certificate_verification=False) == "scripted"


class TestClientCertificate:
    @staticmethod
    def parts(ca: trustme.CA, password: bytes | None = None) -> tuple[str, str]:
        """Certificate chain and key as PEM text, the key encrypted if there is a password."""
        leaf = ca.issue_cert("client")
        chain = b"".join(blob.bytes() for blob in leaf.cert_chain_pems).decode()
        key = serialization.load_pem_private_key(leaf.private_key_pem.bytes(), None)
        how = serialization.BestAvailableEncryption(password) if password else serialization.NoEncryption()
        form = (serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, how)
        return chain, key.private_bytes(*form).decode()

    @pytest.mark.parametrize("form", ["location", "pem", "one file"])
    @pytest.mark.parametrize("password", [None, b"sesame"])
    @on_loop
    async def test_is_shown(self, ca: trustme.CA, ca_pem: str, tmp_path: Path, form: str, password: bytes | None):
        chain, key = self.parts(ca, password)
        (tmp_path / "chain").write_text(chain)
        (tmp_path / "key").write_text(key)
        (tmp_path / "both").write_text(key + chain)
        properties: dict[str, object] = {  # type: ignore[assignment]
            "location": {
                "ssl_certificate_location": str(tmp_path / "chain"),
                "ssl_key_location": str(tmp_path / "key"),
            },
            "pem": {"ssl_certificate_pem": chain, "ssl_key_pem": key},
            "one file": {"ssl_certificate_location": str(tmp_path / "both")},
        }[form]
        if password is not None:
            properties = {**properties, "ssl_key_password": password.decode()}
        async with ScriptedBroker(tls=server_context(ca, client_ca=ca)) as broker:
            assert await ask(broker, ssl_ca_pem=ca_pem, **properties) == "scripted"

    @on_loop
    async def test_a_missing_one_is_named(self, ca: trustme.CA, ca_pem: str):
        error = await self.refusal(server_context(ca, client_ca=ca), ssl_ca_pem=ca_pem)
        assert "the broker demands a client certificate: set ssl.certificate.location" in error

    @on_loop
    async def test_one_of_another_ca_is_named(self, ca: trustme.CA, ca_pem: str):
        chain, key = self.parts(trustme.CA())
        properties = {"ssl_ca_pem": ca_pem, "ssl_certificate_pem": chain, "ssl_key_pem": key}
        error = await self.refusal(server_context(ca, client_ca=ca), **properties)
        assert "does not trust the CA of our client certificate" in error

    @staticmethod
    async def refusal(context: ssl.SSLContext, **properties: object) -> str:
        """The error when a server refuses in an alert, as Kafka does (asyncio's servers only hang up)."""
        with socket.create_server(("127.0.0.1", 0)) as listener:

            def serve() -> None:
                sock, _ = listener.accept()
                with context.wrap_socket(sock, server_side=True, do_handshake_on_connect=False) as wrapped:
                    with contextlib.suppress(ssl.SSLError):
                        wrapped.do_handshake()
                    # closing with unread bytes would send a reset, which overtakes the alert
                    with contextlib.suppress(ConnectionResetError):
                        while os.read(wrapped.fileno(), 4096):
                            pass

            server = asyncio.ensure_future(in_daemon_thread("tls-server", serve))
            connector = make_connector("x", security_protocol="ssl", **properties)
            error = await outcome(connector.connect("127.0.0.1", listener.getsockname()[1]))
            await server
        assert isinstance(error, NetworkError)
        return str(error)

    @on_loop
    async def test_a_server_that_only_hangs_up_may_want_one(self, ca: trustme.CA, ca_pem: str):
        async with ScriptedBroker(tls=server_context(ca, client_ca=ca)) as broker:
            error = await outcome(ask(broker, ssl_ca_pem=ca_pem))
        assert "client certificate" in str(error)

    def test_a_wrong_password(self, ca: trustme.CA):
        chain, key = self.parts(ca, b"sesame")
        for password in ({"ssl_key_password": "wrong"}, {}):
            with pytest.raises(ConfigError, match=r"ssl\.key"):
                make_connector("x", security_protocol="ssl", ssl_certificate_pem=chain, ssl_key_pem=key, **password)

    def test_a_key_without_a_certificate(self, ca: trustme.CA):
        _, key = self.parts(ca)
        with pytest.raises(ConfigError, match=r"ssl\.certificate"):
            make_connector("x", security_protocol="ssl", ssl_key_pem=key)


class TestContext:
    def test_plaintext_has_none(self):
        assert make_context(parse({"bootstrap.servers": "x"}, Role.ADMIN)) is None

    @pytest.mark.parametrize(
        ("properties", "name"),
        [
            ({"ssl_ca_location": "/nowhere/ca.pem"}, "ssl.ca.location"),
            ({"ssl_ca_pem": "not a certificate"}, "ssl.ca.pem"),
            ({"ssl_cipher_suites": "NO-SUCH-CIPHER"}, "ssl.cipher.suites"),
            ({"ssl_certificate_location": "/nowhere/c.pem"}, "ssl.certificate.location"),
        ],
    )
    def test_unusable_tls_files_are_named(self, properties: dict[str, object], name: str):
        with pytest.raises(ConfigError, match=name.replace(".", r"\.")):
            make_connector("x", security_protocol="ssl", **properties)

    def test_ciphers(self):
        connector = make_connector("x", security_protocol="ssl", ssl_cipher_suites="ECDHE-RSA-AES256-GCM-SHA384")
        context = connector.settings.transport.tls
        assert context is not None
        old = [item["name"] for item in context.get_ciphers() if item["protocol"] != "TLSv1.3"]
        assert old == ["ECDHE-RSA-AES256-GCM-SHA384"]

    def test_the_systems_cas_are_the_default(self):
        context = make_connector("x", security_protocol="ssl").settings.transport.tls
        assert context is not None
        assert (context.verify_mode, context.check_hostname) == (ssl.CERT_REQUIRED, True)

    def test_a_ready_context_is_taken_as_it_is(self):
        ready = ssl.create_default_context()
        properties = {"bootstrap.servers": "x", "ssl.context": ready, "ssl.ca.location": "/nowhere/ca.pem"}
        assert make_context(parse({**properties, "security.protocol": "ssl"}, Role.ADMIN)) is ready
        assert make_context(parse(properties, Role.ADMIN)) is None

    def test_values_that_are_no_ssl_context_are_refused(self):
        with pytest.raises(ConfigError, match=r"ssl\.context"):
            parse({"bootstrap.servers": "x", "ssl.context": "PROTOCOL_TLS"}, Role.ADMIN)


class TestWrongPorts:
    @on_loop
    async def test_tls_to_a_plaintext_broker(self):
        """A real broker takes the ClientHello for an enormous request and hangs up."""
        with socket.create_server(("127.0.0.1", 0)) as listener:
            listener.setblocking(False)
            connector = make_connector("x", security_protocol="ssl")

            task = asyncio.ensure_future(connector.connect("127.0.0.1", listener.getsockname()[1]))
            peer, _ = await asyncio.get_running_loop().sock_accept(listener)
            peer.close()
            error = await outcome(task)
        assert isinstance(error, NetworkError)
        assert "does the port speak TLS?" in str(error)

    @on_loop
    async def test_tls_to_an_http_port(self):

        async def http(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await reader.read(1)
            writer.write(b"HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n")
            await writer.drain()

        async with listening(http) as port:
            error = await outcome(make_connector("x", security_protocol="ssl").connect("127.0.0.1", port))
        assert isinstance(error, NetworkError)
        assert "the port does not speak TLS" in str(error)
        assert error.code == KafkaError._SSL

    @on_loop
    async def test_plaintext_to_a_tls_port(self, ca: trustme.CA):
        async with ScriptedBroker(tls=server_context(ca)) as broker:
            error = await outcome(make_connector("x").connect("127.0.0.1", broker.port))
        # this server hangs up, or says so in a TLS alert
        assert "TLS port" in str(error)

    @on_loop
    async def test_a_client_gives_up_at_once_when_trust_is_missing(self, ca: trustme.CA):
        async with ScriptedBroker(tls=server_context(ca)) as broker:
            client = make_client(broker.address, security_protocol="ssl")
            error = await outcome(client.refresh_metadata(timeout_s=10))
            assert "is not trusted" in str(error)
            assert len(broker.received) == 0
            await client.close()


class TestTexts:
    """Failures that are hard to provoke."""

    @staticmethod
    def failure(reason: str) -> ssl.SSLError:
        error = ssl.SSLError(1, "text")
        error.reason = reason
        return error

    @pytest.mark.parametrize(
        ("reason", "text"),
        [
            ("TLSV13_ALERT_CERTIFICATE_REQUIRED", "demands a client certificate"),
            ("SSLV3_ALERT_HANDSHAKE_FAILURE", "no cipher in common"),
            ("TLSV1_ALERT_PROTOCOL_VERSION", "no TLS version in common"),
            ("SSLV3_ALERT_CERTIFICATE_EXPIRED", "our client certificate has expired"),
            ("WRONG_VERSION_NUMBER", "does not speak TLS"),
            ("SOMETHING_NEW", "TLS failed: SOMETHING_NEW"),
        ],
    )
    def test_by_reason(self, reason: str, text: str):
        error = tls_error(self.failure(reason), "b:1", "b")
        assert text in str(error)
        assert str(error).startswith("b:1: ")
        assert error.code == KafkaError._SSL

    @pytest.mark.parametrize(("code", "text"), [(9, "not valid yet"), (20, "not trusted"), (99, "was refused: odd")])
    def test_by_verify_code(self, code: int, text: str):
        error = ssl.SSLCertVerificationError("x")
        error.verify_code, error.verify_message = code, "odd"
        assert text in str(tls_error(error, "b:1", "b"))

    def test_a_lost_connection_may_be_tried_again(self):
        assert tls_error(ConnectionResetError(), "b:1", "b").retriable
