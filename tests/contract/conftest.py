"""The `cluster` of the contract suite: every test of it runs on each kind; where they differ, the embedded is wrong."""

from __future__ import annotations

import ssl
from collections.abc import Iterator
from pathlib import Path

import pytest

from kafka_core.broker import EmbeddedCluster, SaslSettings
from tests.contract.clusters import OLD_VERSIONS, Cluster
from tests.fix_kafka import PASSWORD, USER

#: As the real one of the fixtures has it.
QUICK = {
    "group.consumer.assignment.interval.ms": "0",
    "group.share.assignment.interval.ms": "0",
    "group.min.session.timeout.ms": "1000",
    "group.consumer.heartbeat.interval.ms": "200",
    "group.consumer.min.session.timeout.ms": "1000",
    "group.consumer.min.heartbeat.interval.ms": "100",
    "group.share.heartbeat.interval.ms": "200",
    "group.share.min.record.lock.duration.ms": "1000",
}
KINDS = [
    pytest.param("embedded"),
    pytest.param("capped"),
    pytest.param("real", marks=pytest.mark.broker),
    pytest.param("old", marks=[pytest.mark.broker, pytest.mark.slow]),
]


@pytest.fixture(scope="session")
def embedded(tls_files: dict[str, Path]) -> Iterator[Cluster]:
    """The embedded cluster, with a second one for those who log in and a third for TLS."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(tls_files["server"])
    with (
        EmbeddedCluster(properties=QUICK) as plain,
        EmbeddedCluster(sasl=SaslSettings({USER: PASSWORD})) as sasl,
        EmbeddedCluster(tls=context) as tls,
    ):
        servers = (plain.bootstrap_servers, sasl.bootstrap_servers, tls.bootstrap_servers)
        cluster = Cluster("embedded", *servers, tls_files["ca"], plain)
        yield cluster
        cluster.close()


@pytest.fixture(scope="session")
def capped() -> Iterator[Cluster]:
    """The embedded cluster as an old broker."""
    sasl = SaslSettings({USER: PASSWORD})
    with (
        EmbeddedCluster(properties=QUICK, max_versions=OLD_VERSIONS) as plain,
        EmbeddedCluster(max_versions=OLD_VERSIONS, sasl=sasl) as by,
    ):
        cluster = Cluster("capped", plain.bootstrap_servers, by.bootstrap_servers, partner=plain)
        yield cluster
        cluster.close()


@pytest.fixture(scope="session")
def real(request: pytest.FixtureRequest) -> Iterator[Cluster]:
    kafka, ca = request.getfixturevalue("real_kafka"), request.getfixturevalue("tls_files")["ca"]
    servers = (kafka.bootstrap_servers, kafka.sasl_bootstrap_servers, kafka.tls_bootstrap_servers)
    cluster = Cluster("real", *servers, ca, kafka)
    yield cluster
    cluster.close()


@pytest.fixture(scope="session")
def old(request: pytest.FixtureRequest) -> Iterator[Cluster]:
    kafka = request.getfixturevalue("old_kafka")
    cluster = Cluster("old", kafka.bootstrap_servers, partner=kafka)
    yield cluster
    cluster.close()


@pytest.fixture(params=KINDS)
def cluster(request: pytest.FixtureRequest) -> Cluster:
    """One kind of cluster after the other."""
    found: Cluster = request.getfixturevalue(request.param)
    return found


@pytest.fixture(params=[KINDS[0], *KINDS[2:]])
def modern_cluster(request: pytest.FixtureRequest) -> Cluster:
    """All but the capped one: for what brokers of Kafka 2.1 can't do."""
    found: Cluster = request.getfixturevalue(request.param)
    return found


@pytest.fixture(params=KINDS[:1] + KINDS[2:3])
def secure_cluster(request: pytest.FixtureRequest) -> Cluster:
    """Those that listen for TLS too."""
    found: Cluster = request.getfixturevalue(request.param)
    return found
