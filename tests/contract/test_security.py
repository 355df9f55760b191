"""Logging in and TLS, on the embedded and the real cluster: who gets in, and what those hear who don't."""

from __future__ import annotations

import ssl
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from kafka_core import (
    OFFSET_INVALID,
    AuthError,
    Consumer,
    KafkaError,
    KafkaException,
    NetworkError,
    Producer,
    TopicPartition,
)
from kafka_core.admin import AdminClient, NewTopic
from kafka_core.broker import EmbeddedCluster
from tests.contract.clusters import LIMIT_S, Cluster, Reports, take, unique, wait_for
from tests.fix_kafka import PASSWORD, USER, start_real
from tests.identity_provider import IdentityProvider, identity_provider, unsigned_jwt
from tests.patience import judged_by
from tools.real_kafka import Security

MECHANISMS = ["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"]
SHORT_S = 1.5
Conf = dict[str, object]


def login(cluster: Cluster, mechanism: str, password: str = PASSWORD, user: str = USER) -> Conf:
    return {
        "bootstrap.servers": cluster.sasl_servers,
        "security.protocol": "SASL_PLAINTEXT",
        "sasl.mechanism": mechanism,
        "sasl.username": user,
        "sasl.password": password,
    }


def encrypted(cluster: Cluster, **conf: object) -> Conf:
    own = {name.replace("_", "."): value for name, value in conf.items()}
    ca = str(cluster.ca)
    return {"bootstrap.servers": cluster.tls_servers, "security.protocol": "SSL", "ssl.ca.location": ca, **own}


def there_and_back(conf: Conf, count: int = 50) -> None:
    """All three clients do their work with this configuration."""
    topic, reports = unique("topic"), Reports()
    with AdminClient(conf) as admin:
        admin.create_topics([NewTopic(topic, 2, 1)])[topic].result(LIMIT_S)
    with Producer(conf) as writer:
        for number in range(count):
            writer.produce(topic, b"%d" % number, on_delivery=reports)
        assert writer.flush(LIMIT_S) == 0
    assert len(reports.delivered) == count
    with Consumer({**conf, "group.id": unique("group"), "auto.offset.reset": "earliest"}) as reader:
        reader.subscribe([topic])
        assert {item.value() for item in take(reader, count)} == {b"%d" % number for number in range(count)}


def refused(conf: Conf) -> KafkaException:
    """The error of an administrator, a consumer and a producer; it has the same code for all."""
    return judged_by(SHORT_S, told, conf)


def told(limit_s: float, conf: Conf) -> KafkaException:
    events = list[KafkaError]()
    with Consumer({**conf, "group.id": unique("group"), "error_cb": events.append}) as reader:
        reader.assign([TopicPartition("any", 0, 0)])

        def told_by_error_cb() -> list[KafkaError]:
            reader.poll(0.2)
            return events

        wait_for(told_by_error_cb, "an error about the failure")
    with AdminClient(conf) as admin, pytest.raises(KafkaException) as caught:  # the broker has refused once, so quickly
        admin.list_topics(timeout=limit_s)
    said = caught.value
    assert events[0].code() in (said.code, KafkaError._ALL_BROKERS_DOWN)
    assert cause_of(said) in events[0].str()
    reports, heard = Reports(), list[KafkaError]()
    with Producer({**conf, "message.timeout.ms": round(limit_s * 1000 / 3), "error_cb": heard.append}) as writer:
        writer.produce("any", b"x", on_delivery=reports)
        assert writer.flush(LIMIT_S) == 0
        writer.poll(0)
    assert heard[0].code() == said.code
    ((report, _),) = reports.failed
    assert report.code() == KafkaError._MSG_TIMED_OUT
    assert cause_of(said) in report.str()  # not only that time is over
    return said


def cause_of(said: KafkaException) -> str:
    """The part of the text behind the address."""
    return str(said).split("127.0.0.1:" if "127.0.0.1:" in str(said) else ": ", 1)[1].split(": ", 1)[1][:30]


# ---- SASL


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_a_client_with_the_password_is_let_in(secure_cluster: Cluster, mechanism: str) -> None:
    there_and_back(login(secure_cluster, mechanism))


def bearer(cluster: Cluster, text: str) -> Conf:
    return {
        "bootstrap.servers": cluster.sasl_servers,
        "security.protocol": "SASL_PLAINTEXT",
        "sasl.mechanism": "OAUTHBEARER",
        "oauth_cb": lambda _: (text, time.time() + 3600),
    }


def from_provider(cluster: Cluster, provider: IdentityProvider) -> Conf:
    return {
        "bootstrap.servers": cluster.sasl_servers,
        "security.protocol": "SASL_PLAINTEXT",
        "sasl.mechanism": "OAUTHBEARER",
        "sasl.oauthbearer.method": "oidc",
        "sasl.oauthbearer.token.endpoint.url": provider.url,
        "sasl.oauthbearer.client.id": "service",
        "sasl.oauthbearer.client.secret": "secret",
        "reconnect.backoff.ms": 10,
        "reconnect.backoff.max.ms": 100,
    }


def test_a_client_with_a_token_is_let_in(secure_cluster: Cluster) -> None:
    there_and_back(bearer(secure_cluster, unsigned_jwt(sub=USER)))


def test_a_client_with_a_token_from_a_provider_is_let_in(secure_cluster: Cluster) -> None:
    with identity_provider() as provider:
        provider.body = {"access_token": unsigned_jwt(sub=USER)}
        there_and_back(from_provider(secure_cluster, provider))
    assert len(provider.asked) == 3  # each client's connections share its token


def test_what_waits_for_a_provider_is_delivered_when_it_is_back(secure_cluster: Cluster) -> None:
    topic, reports, heard = unique("topic"), Reports(), list[KafkaError]()
    with identity_provider() as provider:
        provider.body = {"access_token": unsigned_jwt(sub=USER)}
        with AdminClient(from_provider(secure_cluster, provider)) as admin:
            admin.create_topics([NewTopic(topic, 1, 1)])[topic].result(LIMIT_S)
        provider.status = 503
        with Producer({**from_provider(secure_cluster, provider), "error_cb": heard.append}) as writer:
            writer.produce(topic, b"patient", on_delivery=reports)
            wait_for(lambda: writer.poll(0.1) and heard, "the failure is told")
            assert heard[0].code() == KafkaError._AUTHENTICATION
            assert "status 503" in heard[0].str()
            provider.status = 200
            assert writer.flush(LIMIT_S) == 0
    assert [item.value() for item in reports.delivered] == [b"patient"]


def test_calls_wait_for_a_provider_that_is_away(secure_cluster: Cluster) -> None:
    topic = unique("topic")
    heard: list[KafkaError] = []
    with identity_provider() as provider:
        provider.body, provider.status = {"access_token": unsigned_jwt(sub=USER)}, 503
        conf = {**from_provider(secure_cluster, provider), "error_cb": heard.append}
        with AdminClient(conf) as admin, Consumer({**conf, "group.id": unique("group")}) as reader:
            with pytest.raises(NetworkError, match="status 503") as caught:
                admin.list_topics(timeout=1)
            assert caught.value.code == KafkaError._TRANSPORT
            made = admin.create_topics([NewTopic(topic, 1, 1)], request_timeout=LIMIT_S)[topic]
            asked = len(provider.asked)
            wait_for(lambda: len(provider.asked) > asked, "the provider is asked again")
            assert not made.done()
            provider.status = 200
            assert made.result(LIMIT_S) is None
            assert [place.offset for place in reader.committed([TopicPartition(topic, 0)], LIMIT_S)] == [OFFSET_INVALID]
            assert topic in admin.list_topics(topic, LIMIT_S).topics
    told = [error for error in heard if error.code() == KafkaError._AUTHENTICATION]
    assert told
    assert all("Failed to acquire SASL OAUTHBEARER token" in error.str() for error in told)


def test_a_provider_that_refuses_is_told_of(secure_cluster: Cluster) -> None:
    with identity_provider() as provider:
        provider.status, provider.body = 401, {"error": "invalid_client"}
        said = refused(from_provider(secure_cluster, provider))
    assert isinstance(said, AuthError)
    assert "status 401, invalid_client" in str(said)


def test_an_expired_token_is_refused_with_a_reason(secure_cluster: Cluster) -> None:
    said = refused(bearer(secure_cluster, unsigned_jwt(sub=USER, exp=1_600_000_000, iat=1_500_000_000)))
    assert isinstance(said, AuthError)
    assert "OAUTHBEARER" in str(said)


@pytest.mark.parametrize("mechanism", MECHANISMS)
@pytest.mark.parametrize(("user", "password"), [(USER, "wrong"), ("nobody", PASSWORD)])
def test_a_refused_login_names_user_and_mechanism(
    secure_cluster: Cluster, mechanism: str, user: str, password: str
) -> None:
    said = refused(login(secure_cluster, mechanism, password, user))
    assert isinstance(said, AuthError)
    assert said.code == KafkaError._AUTHENTICATION
    assert f"authentication failed for user {user} with {mechanism}" in str(said)
    assert password not in str(said)


def test_a_mechanism_that_is_not_offered(secure_cluster: Cluster) -> None:
    conf = login(secure_cluster, "GSSAPI")
    try:
        said = refused(conf)
    except KafkaException as error:  # known to be impossible before anything is sent
        said = error
    assert "GSSAPI" in str(said)


def test_the_right_password_set_later_delivers_what_waited(secure_cluster: Cluster) -> None:
    topic, reports, heard = unique("topic"), Reports(), list[KafkaError]()
    with AdminClient(login(secure_cluster, "SCRAM-SHA-512")) as admin:
        admin.create_topics([NewTopic(topic, 1, 1)])[topic].result(LIMIT_S)
    conf = {**login(secure_cluster, "SCRAM-SHA-512", "wrong"), "error_cb": heard.append}
    with Producer(conf) as writer:
        writer.produce(topic, b"patient", on_delivery=reports)
        wait_for(lambda: writer.poll(0.1) and heard, "the failure is told")
        writer.set_sasl_credentials(USER, PASSWORD)
        assert writer.flush(LIMIT_S) == 0
    assert [item.value() for item in reports.delivered] == [b"patient"]


def test_an_administrator_gets_in_with_the_right_password_set_later(secure_cluster: Cluster) -> None:
    with AdminClient(login(secure_cluster, "SCRAM-SHA-256", "wrong")) as admin:
        with pytest.raises(AuthError):
            admin.list_topics(timeout=LIMIT_S)
        admin.set_sasl_credentials(USER, PASSWORD)
        assert admin.list_topics(timeout=LIMIT_S).brokers


def test_a_login_where_none_is_asked_for(secure_cluster: Cluster) -> None:
    conf = {**login(secure_cluster, "PLAIN"), "bootstrap.servers": secure_cluster.servers}
    said = refused(conf)
    assert "SASL" in str(said)


def test_no_login_where_one_is_asked_for(secure_cluster: Cluster) -> None:
    said = refused({"bootstrap.servers": secure_cluster.sasl_servers})
    assert "SASL" in str(said)


# ---- TLS


def test_everything_works_encrypted(secure_cluster: Cluster) -> None:
    there_and_back(encrypted(secure_cluster))


def test_the_ca_may_be_given_as_text(secure_cluster: Cluster) -> None:
    conf = encrypted(secure_cluster, ssl_ca_pem=secure_cluster.ca.read_text())
    del conf["ssl.ca.location"]
    there_and_back(conf, 3)


def test_a_host_that_the_certificate_does_not_name(secure_cluster: Cluster) -> None:
    """127.1 is another way to write 127.0.0.1, and no name that is in the certificate."""
    other = secure_cluster.tls_servers.replace("127.0.0.1", "127.1")
    said = refused({**encrypted(secure_cluster), "bootstrap.servers": other})
    assert isinstance(said, NetworkError)
    assert said.code == KafkaError._SSL
    assert "is not for host '127.1'" in str(said)
    unchecked = encrypted(secure_cluster, ssl_endpoint_identification_algorithm="none")
    with AdminClient({**unchecked, "bootstrap.servers": other}) as admin:
        assert admin.list_topics(timeout=LIMIT_S).brokers


def test_a_ca_that_nobody_here_trusts(secure_cluster: Cluster, tmp_path: Path) -> None:
    import trustme

    trustme.CA().cert_pem.write_to_path(tmp_path / "stranger.pem")
    said = refused(encrypted(secure_cluster, ssl_ca_location=str(tmp_path / "stranger.pem")))
    assert said.code == KafkaError._SSL
    assert "not trusted" in str(said)
    unchecked = encrypted(secure_cluster, enable_ssl_certificate_verification=False)
    del unchecked["ssl.ca.location"]
    with AdminClient(unchecked) as admin:
        assert admin.list_topics(timeout=LIMIT_S).brokers


def test_plain_speech_at_a_tls_port(secure_cluster: Cluster) -> None:
    said = refused({"bootstrap.servers": secure_cluster.tls_servers})
    # Java answers with an alert, which is known for what it is; OpenSSL within asyncio only hangs up.
    assert said.code in (KafkaError._BAD_MSG, KafkaError._TRANSPORT)
    assert "TLS port" in str(said)
    assert "security.protocol=SSL" in str(said)


def test_tls_at_a_plain_port(secure_cluster: Cluster) -> None:
    said = refused({**encrypted(secure_cluster), "bootstrap.servers": secure_cluster.servers})
    assert said.code == KafkaError._TRANSPORT
    assert "security.protocol=PLAINTEXT" in str(said)


# ---- client certificates


@pytest.fixture(scope="module", params=[pytest.param("embedded"), pytest.param("real", marks=pytest.mark.broker)])
def strict_cluster(
    request: pytest.FixtureRequest, tls_files: dict[str, Path], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Cluster]:
    """One that lets in only who has a certificate of the CA."""
    if request.param == "embedded":
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(tls_files["server"])
        context.load_verify_locations(tls_files["ca"])
        context.verify_mode = ssl.CERT_REQUIRED
        with EmbeddedCluster(tls=context) as running:
            yield Cluster("embedded", "", "", running.bootstrap_servers, tls_files["ca"])
    else:
        request.getfixturevalue("kafka_jars")
        security = Security(keystore_pem=tls_files["server"], truststore_pem=tls_files["ca"])
        for kafka in start_real(security=security):
            yield Cluster("real", kafka.bootstrap_servers, "", kafka.tls_bootstrap_servers, tls_files["ca"])


def test_a_client_with_a_certificate_is_let_in(strict_cluster: Cluster, tls_files: dict[str, Path]) -> None:
    mine = str(tls_files["client"])
    there_and_back(encrypted(strict_cluster, ssl_certificate_location=mine, ssl_key_location=mine))


def test_a_client_with_a_pkcs12_key_store_is_let_in(strict_cluster: Cluster, tls_files: dict[str, Path]) -> None:
    store = {"ssl_keystore_location": str(tls_files["client_p12"]), "ssl_keystore_password": "sesame"}
    there_and_back(encrypted(strict_cluster, **store))
    with pytest.raises(KafkaException, match=r"ssl\.keystore\.location: .* has another password"):
        Producer(encrypted(strict_cluster, **{**store, "ssl_keystore_password": "open"}))


def test_a_client_without_a_certificate_is_refused_with_a_reason(strict_cluster: Cluster) -> None:
    said = refused(encrypted(strict_cluster))
    assert said.code in (KafkaError._SSL, KafkaError._TRANSPORT)  # TLS 1.3 tells only after the handshake
    assert "ssl.certificate.location" in str(said)


def test_a_certificate_of_a_stranger_is_refused(strict_cluster: Cluster, tmp_path: Path) -> None:
    import trustme

    issued = trustme.CA().issue_cert("client.test")
    issued.private_key_and_cert_chain_pem.write_to_path(tmp_path / "me.pem")
    mine = str(tmp_path / "me.pem")
    said = refused(encrypted(strict_cluster, ssl_certificate_location=mine, ssl_key_location=mine))
    assert said.code in (KafkaError._SSL, KafkaError._TRANSPORT)
    assert "certificate" in str(said)
