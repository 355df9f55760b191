"""pipeline.client.options: properties in librdkafka's names and in Java's."""

from __future__ import annotations

import pytest

from kafka_core.config import Role
from kserdes_base.config.errors import PropertyError
from pipeline.client.options import client_properties, for_role

PLAIN = 'org.apache.kafka.common.security.plain.PlainLoginModule required username="al\\"ice" password=\'p;w = d\' ;'
SHADED = "kafkashaded.org.apache.kafka.common.security.scram.ScramLoginModule required username=bob password=x;"
OAUTH = 'org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginModule required clientId="c" clientSecret="s";'


@pytest.mark.parametrize(
    ("given", "found"),
    [
        ({"fetch.wait.max.ms": "5"}, {"fetch.wait.max.ms": "5"}),
        (
            {"fetch.max.wait.ms": "5", "receive.buffer.bytes": "70000"},
            {"fetch.wait.max.ms": "5", "socket.receive.buffer.bytes": "70000"},
        ),
        ({"buffer.memory": "33554432"}, {"queue.buffering.max.kbytes": "32768"}),
        ({"ssl.endpoint.identification.algorithm": ""}, {"ssl.endpoint.identification.algorithm": "none"}),
        ({"ssl.truststore.type": "PEM", "ssl.truststore.location": "/ca.pem"}, {"ssl.ca.location": "/ca.pem"}),
        (
            {"ssl.keystore.type": "PEM", "ssl.keystore.location": "/me.pem", "ssl.key.password": "x"},
            {"ssl.certificate.location": "/me.pem", "ssl.key.password": "x"},
        ),
        (
            {"ssl.keystore.type": "PKCS12", "ssl.keystore.location": "/me.p12", "ssl.keystore.password": "x"},
            {"ssl.keystore.location": "/me.p12", "ssl.keystore.password": "x"},
        ),
        (
            {"ssl.keystore.key": "K", "ssl.keystore.certificate.chain": "C"},
            {"ssl.key.pem": "K", "ssl.certificate.pem": "C"},
        ),
        ({"sasl.jaas.config": PLAIN}, {"sasl.username": 'al"ice', "sasl.password": "p;w = d"}),
        ({"sasl.jaas.config": SHADED}, {"sasl.username": "bob", "sasl.password": "x"}),
        (
            {"sasl.jaas.config": OAUTH},
            {
                "sasl.oauthbearer.method": "oidc",
                "sasl.oauthbearer.client.id": "c",
                "sasl.oauthbearer.client.secret": "s",
            },
        ),
        ({"max.poll.records": "500", "metric.reporters": "x"}, {}),
        ({"Max.Request.Size": "2000"}, {"message.max.bytes": "2000"}),
    ],
)
def test_both_dialects_are_understood(given: dict[str, str], found: dict[str, str]) -> None:
    assert client_properties(given) == found


@pytest.mark.parametrize(
    ("given", "text"),
    [
        ({"value.deserializer": "x"}, "has no meaning here: values come as bytes"),
        ({"ssl.truststore.location": "/t.jks"}, "/t.jks can't be read: No such file or directory; or give PEM with"),
        ({"sasl.jaas.config": "nonsense hunter2"}, "must look like"),
        ({"sasl.jaas.config": "com.sun.security.auth.module.Krb5LoginModule required;"}, "'Krb5LoginModule'"),
        ({"fetch.max.waits.ms": "5"}, r"did you mean 'kafka\.fetch"),
    ],
)
def test_invalid_options_are_named_without_secrets(given: dict[str, str], text: str) -> None:
    with pytest.raises(PropertyError, match=text) as caught:
        client_properties(given)
    assert "hunter2" not in str(caught.value)


def test_a_client_is_given_only_what_it_uses() -> None:
    both = {"fetch.min.bytes": "1", "linger.ms": "5", "bootstrap.servers": "b"}
    assert for_role(both, Role.CONSUMER) == {"fetch.min.bytes": "1", "bootstrap.servers": "b"}
    assert for_role(both, Role.PRODUCER) == {"linger.ms": "5", "bootstrap.servers": "b"}
