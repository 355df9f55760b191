"""kafka_core.wire.sasl.plain, with RFC 4616's example."""

from __future__ import annotations

import pytest

from kafka_core.errors import AuthError, ConfigError
from kafka_core.wire.sasl.plain import PlainMechanism


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
