"""kafka_core.wire.sasl.mechanism and `sasl.create`: what all mechanisms share, and choosing one."""

from __future__ import annotations

import random

import pytest

from kafka_core.config import Config, Role, parse
from kafka_core.errors import AuthError, ConfigError
from kafka_core.wire import sasl
from kafka_core.wire.sasl.mechanism import failed, prepared
from kafka_core.wire.sasl.oauthbearer import OAuthBearerMechanism
from kafka_core.wire.sasl.plain import PlainMechanism
from kafka_core.wire.sasl.scram import ScramMechanism


def config(mechanism: str) -> Config:
    conf: dict[str, object] = {
        "bootstrap.servers": "b",
        "security.protocol": "sasl_plaintext",
        "sasl.mechanism": mechanism,
        "sasl.username": "ann",
        "sasl.password": "hush",
        "oauth_cb": print,
    }
    return parse(conf, Role.PRODUCER)


@pytest.mark.parametrize(
    ("name", "kind"),
    [("PLAIN", PlainMechanism), ("SCRAM-SHA-256", ScramMechanism), ("SCRAM-SHA-512", ScramMechanism)],
)
def test_create_makes_the_mechanism_of_the_configuration(name: str, kind: type[object]) -> None:
    mechanism = sasl.create(config(name), None, random.Random(1))
    assert isinstance(mechanism, kind)
    assert (mechanism.name, mechanism.user) == (name, "ann")


def test_create_with_a_token() -> None:
    token = sasl.Token("t", 100.0, "ann")
    mechanism = sasl.create(config("OAUTHBEARER"), token, random.Random(1))
    assert isinstance(mechanism, OAuthBearerMechanism)
    assert mechanism.user == "ann"
    with pytest.raises(ConfigError, match="needs a token"):
        sasl.create(config("OAUTHBEARER"), None, random.Random(1))


def test_nonces_come_from_the_given_source_and_differ() -> None:
    rng = random.Random(1)
    first, second = (sasl.create(config("SCRAM-SHA-256"), None, rng).start() for _ in range(2))
    assert first != second
    assert first == sasl.create(config("SCRAM-SHA-256"), None, random.Random(1)).start()
    assert len(first.partition(b"r=")[2]) == 48


def test_an_unsupported_mechanism_is_refused_even_past_the_configuration() -> None:
    made = config("PLAIN")
    broken = Config(made.role, {**made, "sasl.mechanism": "GSSAPI"}, frozenset())
    with pytest.raises(ConfigError, match=r"sasl.mechanism=GSSAPI can't be used here"):
        sasl.create(broken, None, random.Random(1))


@pytest.mark.parametrize("value", ["x\n", "\0", "a\tb", "\x7f"])
def test_control_characters_are_refused_without_showing_the_value(value: str) -> None:
    with pytest.raises(ConfigError, match=r"sasl.password contains a control character") as caught:
        prepared(value, "sasl.password")
    assert repr(value) not in str(caught.value)


@pytest.mark.parametrize("value", ["pencil", "Grüße", "ﬁ\u00a0", "密码"])
def test_text_is_not_normalised_just_as_brokers_do_not(value: str) -> None:
    assert prepared(value, "sasl.password") == value.encode()


def test_failure_names_user_mechanism_and_reason() -> None:
    error = failed("PLAIN", "ann", "no such user")
    assert isinstance(error, AuthError)
    assert str(error) == "authentication failed for user ann with PLAIN: no such user"
    assert error.facts == {"mechanism": "PLAIN", "user": "ann"}
    assert not error.retriable
    assert str(failed("OAUTHBEARER", "", "x")) == "authentication failed with OAUTHBEARER: x"


# ---- sasl plain


def test_message_of_the_rfc() -> None:
    mechanism = PlainMechanism("tim", "tanstaaftanstaaf")
    assert mechanism.start() == b"\0tim\0tanstaaftanstaaf"
    assert mechanism.respond(b"") is None


def test_text_is_utf8() -> None:
    assert PlainMechanism("é", "密").start() == "\0é\0密".encode()


def test_a_talking_broker_is_not_trusted() -> None:
    with pytest.raises(AuthError, match="user tim with PLAIN: unexpected challenge of 2 bytes"):
        PlainMechanism("tim", "x").respond(b"ok")


@pytest.mark.parametrize(("user", "password"), [("a\0b", "x"), ("a", "x\0y")])
def test_separators_inside_values_are_refused(user: str, password: str) -> None:
    with pytest.raises(ConfigError, match="control character"):
        PlainMechanism(user, password)
