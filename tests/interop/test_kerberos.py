"""SASL GSSAPI with a real KDC (Apache Kerby) and a real broker: who gets in, and what those hear who don't."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path

import pytest

from kafka_core import (
    AuthError,
    ConfigError,
    Consumer,
    KafkaError,
    KafkaException,
    NetworkError,
    Producer,
    TopicPartition,
)
from kafka_core.admin import AdminClient, NewTopic
from kafka_core.aio import AIOProducer
from kafka_core.kerberos import library
from kafka_core.kerberos.login import Login
from kserdes.compat.aiokafka import AIOKafkaProducer
from kserdes.compat.kafka import KafkaProducer
from tests.contract.clusters import LIMIT_S, Reports, unique, wait_for
from tests.contract.test_security import refused, there_and_back
from tests.fix_kafka import start_real
from tools.real_kafka import Kerberos, RealKafka, Security
from tools.real_kdc import REALM, Kdc, kdc

pytestmark = pytest.mark.broker
SERVICE = "kafka/127.0.0.1"
LIFETIME_S = 3.0
Conf = dict[str, object]


@pytest.fixture(scope="module")
def realm(kafka_jars: Path) -> Iterator[Kdc]:
    with kdc([SERVICE, "ann", "bob"]) as running:
        yield running


@pytest.fixture(scope="module")
def strict(realm: Kdc) -> Iterator[RealKafka]:
    """A broker that knows its users by Kerberos, and for three seconds only."""
    own = Kerberos(realm.config, realm.keytab(SERVICE), f"{SERVICE}@{REALM}")
    extra = {"connections.max.reauth.ms": str(int(LIFETIME_S * 1000))}
    yield from start_real(security=Security(kerberos=own), extra=extra)


@pytest.fixture(autouse=True)
def settings(realm: Kdc, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KRB5_CONFIG", str(realm.config))
    monkeypatch.setenv("KRB5CCNAME", "MEMORY:of-the-test")


def as_user(strict: RealKafka, realm: Kdc, user: str = "ann", **more: object) -> Conf:
    return {
        "bootstrap.servers": strict.sasl_bootstrap_servers,
        "security.protocol": "SASL_PLAINTEXT",  # and no sasl.mechanism: GSSAPI is the default
        "sasl.kerberos.principal": f"{user}@{REALM}",
        "sasl.kerberos.keytab": str(realm.keytab(user)),
        **more,
    }


def test_all_clients_get_in_by_a_keytab(strict: RealKafka, realm: Kdc) -> None:
    there_and_back(as_user(strict, realm))


def test_two_users_in_one_process(strict: RealKafka, realm: Kdc) -> None:
    with AdminClient(as_user(strict, realm, "ann")) as first, AdminClient(as_user(strict, realm, "bob")) as second:
        assert first.list_topics(timeout=LIMIT_S).brokers
        assert second.list_topics(timeout=LIMIT_S).brokers


def test_connections_that_are_made_at_the_same_time(realm: Kdc, tmp_path: Path) -> None:
    """Each finds tickets, though the first of them fills the cache that all of an identity share."""
    for number in range(3):
        keytab = tmp_path / str(number)
        keytab.write_bytes(realm.keytab("ann").read_bytes())  # another path is another cache
        logins = [Login(library.Library(), "kafka", f"ann@{REALM}", str(keytab)) for _ in range(4)]
        with ThreadPoolExecutor(16) as threads:
            made = [threads.submit(login.context, "127.0.0.1") for login in 4 * logins]
        assert all(context.result().first for context in made)


def test_the_default_cache_of_tickets(strict: RealKafka, realm: Kdc, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KRB5CCNAME", "MEMORY:with-tickets")
    monkeypatch.setenv("KRB5_CLIENT_KTNAME", f"FILE:{realm.keytab('ann')}")  # what fills the cache here
    conf = {"bootstrap.servers": strict.sasl_bootstrap_servers, "security.protocol": "SASL_PLAINTEXT"}
    with AdminClient(conf) as admin:
        assert admin.list_topics(timeout=LIMIT_S).brokers


def test_the_other_dialects(strict: RealKafka, realm: Kdc, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KRB5CCNAME", "MEMORY:of-dialects")
    monkeypatch.setenv("KRB5_CLIENT_KTNAME", f"FILE:{realm.keytab('ann')}")
    conf = {"bootstrap_servers": strict.sasl_bootstrap_servers, "security_protocol": "SASL_PLAINTEXT"}
    name = unique("topic")
    with AdminClient(as_user(strict, realm)) as admin:
        admin.create_topics([NewTopic(name, 1, 1)])[name].result(LIMIT_S)

    async def work() -> None:
        async with AIOKafkaProducer(**conf, sasl_mechanism="GSSAPI") as writer:
            assert (await writer.send_and_wait(name, b"x")).offset == 0

    asyncio.run(work())
    kafka_producer = KafkaProducer(**conf, sasl_mechanism="GSSAPI")
    try:
        assert kafka_producer.send(name, b"y").get(LIMIT_S).offset == 1
    finally:
        kafka_producer.close()


def test_a_connection_outlives_its_session(strict: RealKafka, realm: Kdc) -> None:
    topic, reports = unique("topic"), Reports()
    conf = as_user(strict, realm)
    with AdminClient(conf) as admin:
        admin.create_topics([NewTopic(topic, 1, 1)])[topic].result(LIMIT_S)
    with Producer(conf) as writer:
        until_s = time.monotonic() + 2.5 * LIFETIME_S
        while time.monotonic() < until_s:
            writer.produce(topic, b"x", on_delivery=reports)
            writer.poll(0.1)
        assert writer.flush(LIMIT_S) == 0
    assert reports.delivered
    assert not reports.failed


def test_the_asyncio_face(strict: RealKafka, realm: Kdc) -> None:
    async def work() -> None:
        topic = unique("topic")
        with AdminClient(as_user(strict, realm)) as admin:
            admin.create_topics([NewTopic(topic, 1, 1)])[topic].result(LIMIT_S)
        async with AIOProducer(as_user(strict, realm)) as writer:
            report = await writer.produce(topic, b"x")
            assert (await report).offset() == 0

    asyncio.run(work())


@pytest.mark.parametrize(
    ("more", "text"),
    [
        ({"sasl.kerberos.service.name": "nobody"}, r"\(service nobody/127\.0\.0\.1\)"),
        ({"sasl.kerberos.principal": f"bob@{REALM}"}, "authentication failed for user bob@KSERDES.TEST with GSSAPI: "),
        ({"sasl.kerberos.principal": f"eve@{REALM}"}, "authentication failed for user eve@KSERDES.TEST with GSSAPI: "),
    ],
)
def test_refused_kerberos_logins_are_auth_errors(strict: RealKafka, realm: Kdc, more: Conf, text: str) -> None:
    said = refused(as_user(strict, realm, **more))
    assert isinstance(said, AuthError)
    assert said.code == KafkaError._AUTHENTICATION
    with pytest.raises(AuthError, match=text):
        raise said


def test_no_tickets_at_all(strict: RealKafka) -> None:
    said = refused({"bootstrap.servers": strict.sasl_bootstrap_servers, "security.protocol": "SASL_PLAINTEXT"})
    assert isinstance(said, AuthError)
    assert "authentication failed with GSSAPI" in str(said)


def test_a_realm_that_no_kdc_is_known_of(
    strict: RealKafka, realm: Kdc, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = tmp_path / "krb5.conf"
    config.write_text("".join(line for line in realm.config.read_text().splitlines(True) if "kdc = " not in line))
    monkeypatch.setenv("KRB5_CONFIG", str(config))
    said = refused(as_stranger(strict, realm, tmp_path))
    assert isinstance(said, AuthError)
    assert "Cannot find KDC" in str(said)


def as_stranger(strict: RealKafka, realm: Kdc, folder: Path) -> Conf:
    """As a user for whom no ticket is in any cache: a keytab at another path is another cache."""
    keytab = folder / "ann"
    keytab.write_bytes(realm.keytab("ann").read_bytes())
    return as_user(strict, realm, **{"sasl.kerberos.keytab": str(keytab)})


def test_a_kdc_that_comes_back(strict: RealKafka, realm: Kdc, tmp_path: Path) -> None:
    """Nobody is refused while it is away: what was asked of a client is done once it is there again."""
    topic, reports, told = unique("topic"), Reports(), list[KafkaError]()
    with AdminClient(as_user(strict, realm)) as admin:
        admin.create_topics([NewTopic(topic, 1, 1)])[topic].result(LIMIT_S)
    conf = as_stranger(strict, realm, tmp_path)
    with ExitStack() as clients:
        with realm.stopped():
            writer = clients.enter_context(Producer({**conf, "error_cb": told.append}))
            reader = clients.enter_context(Consumer({**conf, "group.id": unique("group")}))
            reader.assign([TopicPartition(topic, 0, 0)])
            writer.produce(topic, b"x", on_delivery=reports)
            wait_for(lambda: writer.poll(0.1) or told, "an error of the producer")
            assert reader.poll(0.1) is None
            with AdminClient(conf) as admin:
                said = wait_for(lambda: no_ticket(admin), "the reason why the administrator waits")
        assert writer.flush(LIMIT_S) == 0
        assert [message.value() for message in reader.consume(1, LIMIT_S)] == [b"x"]
    assert [message.value() for message in reports.delivered] == [b"x"]
    assert reports.failed == []
    assert told[0].code() == KafkaError._TRANSPORT
    assert told[0].retriable()
    assert not told[0].fatal()
    for text in (told[0].str(), said):
        assert "no ticket for ann@KSERDES.TEST from Kerberos: " in text
        assert "Cannot contact any KDC" in text


def no_ticket(admin: AdminClient) -> str:
    """The error of a call that waits in vain, once it has the reason."""
    with pytest.raises(NetworkError) as caught:
        admin.list_topics(timeout=1)
    return str(caught.value) if "ticket" in str(caught.value) else ""


def test_a_missing_keytab_or_library_is_named(
    strict: RealKafka, realm: Kdc, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(ConfigError, match=r"sasl\.kerberos\.keytab: there is no file .*nothing"):
        Producer(as_user(strict, realm, **{"sasl.kerberos.keytab": str(tmp_path / "nothing")}))
    monkeypatch.setattr(library, "NAMES", ("libnothing.so.1",))
    with pytest.raises(ConfigError, match=r"needs the library libgssapi_krb5 of MIT Kerberos .*libnothing\.so\.1"):
        Producer(as_user(strict, realm))


def test_names_and_passwords_are_for_other_mechanisms(strict: RealKafka) -> None:
    conf = {"bootstrap.servers": strict.sasl_bootstrap_servers, "security.protocol": "SASL_PLAINTEXT"}
    with pytest.raises(KafkaException, match="has no user names and passwords: set PLAIN"):
        Producer({**conf, "sasl.username": "ann", "sasl.password": "secret"})
