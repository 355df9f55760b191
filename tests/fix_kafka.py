"""The brokers of the tests: the real one (started once per session) and the embedded one."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from kafka_core import Consumer, TopicPartition
from tests.parts import missing
from tools.real_kafka import KafkaUnavailableError, RealKafka, Security, fetch_jars, java

USER, PASSWORD = "alice", "wonder land"


@pytest.fixture(scope="session")
def kafka_jars() -> Path:
    """The folder with the jars of the newest supported Kafka."""
    try:
        java()
        return fetch_jars()
    except KafkaUnavailableError as error:
        missing("kafka", str(error))


@pytest.fixture(scope="session")
def tls_files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """`ca`, `server` (key and chain, PKCS#8, as the JVM wants it), `client` (certificate and key) as PEM files.

    `client_p12`: the client's in PKCS#12 with the password `sesame`.
    """
    import trustme
    from cryptography import x509
    from cryptography.hazmat.primitives import serialization
    from cryptography.hazmat.primitives.serialization import pkcs12

    folder = tmp_path_factory.mktemp("tls")
    authority = trustme.CA()
    files = {"ca": folder / "ca.pem", "server": folder / "server.pem", "client": folder / "client.pem"}
    authority.cert_pem.write_to_path(files["ca"])
    for name, issued in (
        ("server", authority.issue_cert("localhost", "127.0.0.1")),
        ("client", authority.issue_cert("client.test")),
    ):
        key = serialization.load_pem_private_key(issued.private_key_pem.bytes(), None)
        pem = key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        )
        files[name].write_bytes(pem + b"".join(part.bytes() for part in issued.cert_chain_pems))
    certificate = x509.load_pem_x509_certificate(issued.cert_chain_pems[0].bytes())
    how = serialization.BestAvailableEncryption(b"sesame")
    files["client_p12"] = folder / "client.p12"
    files["client_p12"].write_bytes(pkcs12.serialize_key_and_certificates(None, key, certificate, None, how))  # type: ignore[arg-type]
    return files


def start_real(**options: object) -> Iterator[RealKafka]:
    """A real cluster for the length of a fixture; missing Java or Maven is said loudly."""
    try:
        kafka = RealKafka(fast_boot=True, **options)  # type: ignore[arg-type]
    except KafkaUnavailableError as error:
        missing("kafka", str(error))
    with kafka:
        wait_for_coordinators(kafka)
        yield kafka


def wait_for_coordinators(kafka: RealKafka) -> None:
    """Has the group coordinator made its topic, and waits until it answers for each of the topic's four partitions.

    Until then it says NOT_COORDINATOR, which confluent_kafka hands out of `committed()`. Groups of these names, one
    digit each, belong to one partition each.
    """
    for group in "0123":
        with Consumer({"bootstrap.servers": kafka.bootstrap_servers, "group.id": group}) as consumer:
            consumer.committed([TopicPartition("none", 0)], timeout=60.0)


@pytest.fixture(scope="session")
def real_kafka(kafka_jars: Path, tls_files: dict[str, Path]) -> Iterator[RealKafka]:
    """One real broker with plaintext, SASL (user `alice`) and TLS listeners."""
    security = Security(users={USER: PASSWORD}, keystore_pem=tls_files["server"])
    yield from start_real(security=security)


@pytest.fixture(scope="session")
def old_kafka() -> Iterator[RealKafka]:
    """One real broker of the oldest supported line."""
    yield from start_real(version="3.9.2")


@pytest.fixture
def three_nodes(kafka_jars: Path) -> Iterator[RealKafka]:
    """Three real brokers, one test's own: it may kill them."""
    yield from start_real(nodes=3, heap="384m", extra={"min.insync.replicas": "1"})
