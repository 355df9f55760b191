"""PKCS#12 files of openssl and keytool: ours beside confluent-kafka, at a broker that demands certificates."""

from __future__ import annotations

import ssl
import subprocess
from collections.abc import Iterator
from pathlib import Path

import confluent_kafka
import pytest
import trustme

from kafka_core import ConfigError, Consumer
from kafka_core.broker import EmbeddedCluster
from kserdes_base.key_store import trusted_pem
from pipeline.client.options import client_properties
from tests.contract.clusters import LIMIT_S
from tools.real_kafka import java

PASSWORD = "sesame"
Conf = dict[str, object]


@pytest.fixture(scope="module")
def strict(tls_files: dict[str, Path]) -> Iterator[str]:
    """The address of a broker that lets in only who has a certificate of the CA."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(tls_files["server"])
    context.load_verify_locations(tls_files["ca"])
    context.verify_mode = ssl.CERT_REQUIRED
    with EmbeddedCluster(tls=context) as cluster:
        yield cluster.bootstrap_servers


def keytool(*words: object) -> None:
    run(Path(java()).with_name("keytool"), *words, "-noprompt")


def run(*words: object) -> None:
    subprocess.run([str(word) for word in words], check=True, capture_output=True, timeout=120)


def by_openssl(files: dict[str, Path], to: Path, *options: str, password: str = PASSWORD) -> None:
    parts = ("-in", files["client"], "-certfile", files["ca"], "-passout", f"pass:{password}")
    run("openssl", "pkcs12", "-export", *parts, *options, "-out", to)


def by_keytool(files: dict[str, Path], to: Path, kind: str = "pkcs12") -> None:
    source = to.with_suffix(".source")
    by_openssl(files, source)
    one = ("-srckeystore", source, "-srcstoretype", "pkcs12", "-srcstorepass", PASSWORD)
    keytool("-importkeystore", *one, "-destkeystore", to, "-deststoretype", kind, "-deststorepass", PASSWORD)


def store(name: str, files: dict[str, Path], to: Path) -> Conf:
    """A key store made in that way, and what the clients are told of it."""
    conf: Conf = {"ssl.keystore.location": str(to), "ssl.keystore.password": PASSWORD}
    if name == "keytool":
        by_keytool(files, to)
    elif name == "old ciphers":
        by_openssl(files, to, "-legacy")
    elif name == "no password":
        by_openssl(files, to, password="")
        conf["ssl.keystore.password"] = ""
    else:
        by_openssl(files, to)
    return conf


@pytest.mark.parametrize("name", ["openssl", "old ciphers", "keytool", "no password"])
def test_both_clients_get_in(name: str, strict: str, tls_files: dict[str, Path], tmp_path: Path) -> None:
    conf: Conf = {
        "bootstrap.servers": strict,
        "security.protocol": "ssl",
        "ssl.ca.location": str(tls_files["ca"]),
        "group.id": "g",
        **store(name, tls_files, tmp_path / "store.p12"),
    }
    theirs = None
    if name in ("openssl", "keytool"):  # librdkafka demands a password, and its OpenSSL has no legacy provider
        theirs = confluent_kafka.Consumer(conf)  # type: ignore[arg-type]
    ours = Consumer(conf)
    try:
        assert ours.list_topics(timeout=LIMIT_S).brokers
        assert theirs is None or theirs.list_topics(timeout=LIMIT_S).brokers
    finally:
        ours.close()
        if theirs is not None:
            theirs.close()


def test_files_that_hold_no_key_are_named(tls_files: dict[str, Path], tmp_path: Path) -> None:
    by_keytool(tls_files, tmp_path / "store.jks", "jks")
    run(
        "openssl", "pkcs12", "-export", "-nokeys", "-in", tls_files["ca"], "-passout", "pass:x", "-out", tmp_path / "ca"
    )
    for file, password, text in (
        (tmp_path / "store.jks", PASSWORD, "is a JKS key store, which only Java reads: .* -deststoretype pkcs12"),
        (tmp_path / "ca", "x", "has no private key with its certificate"),
        (tmp_path / "ca", "y", "is no PKCS#12 file, or has another password"),
        (tls_files["client"], PASSWORD, "is no PKCS#12 file"),
        (tmp_path, PASSWORD, "there is no file"),
    ):
        conf = {"security.protocol": "ssl", "ssl.keystore.location": str(file), "ssl.keystore.password": password}
        with pytest.raises(ConfigError, match=rf"ssl\.keystore\.location: .*{text}") as caught:
            Consumer({**conf, "bootstrap.servers": "nowhere:9092", "group.id": "g"})
        assert PASSWORD not in str(caught.value)


def test_a_trust_store_of_keytool_is_read_for_spark(tls_files: dict[str, Path], tmp_path: Path) -> None:
    to = tmp_path / "trust"
    keytool("-importcert", "-file", tls_files["ca"], "-alias", "ca", "-keystore", to, "-storepass", PASSWORD)
    other = tmp_path / "other.pem"
    trustme.CA().cert_pem.write_to_path(other)
    keytool("-importcert", "-file", other, "-alias", "more", "-keystore", to, "-storepass", PASSWORD)
    found = client_properties({"ssl.truststore.location": str(to), "ssl.truststore.password": PASSWORD})
    assert set(found) == {"ssl.ca.pem"}
    assert found["ssl.ca.pem"] == trusted_pem(str(to), PASSWORD, ConfigError)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.load_verify_locations(cadata=found["ssl.ca.pem"])
    assert context.cert_store_stats()["x509"] == 2
