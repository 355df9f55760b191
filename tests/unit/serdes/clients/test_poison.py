from __future__ import annotations

from typing import Any

import pytest

from kafka_core.kernels import Message
from serdes import SerializationError
from serdes.clients.poison import PoisonPolicy
from serdes.errors import ValueDeserializationError

CONF = {"bootstrap.servers": "b:1", "security.protocol": "SSL", "group.id": "g", "auto.offset.reset": "earliest"}


def raised(message: Message, reason: str = "no") -> ValueDeserializationError:
    cause = SerializationError(reason, schema_id=7, path="a.b")
    try:
        raise ValueDeserializationError(cause, message) from cause
    except ValueDeserializationError as error:
        return error


def test_a_policy_is_taken_out_of_the_configuration() -> None:
    rest, policy = PoisonPolicy.take({**CONF, "poison.policy": "skip", "on.poison": print})
    assert rest == CONF
    assert policy == PoisonPolicy(True, print)
    assert PoisonPolicy.take(CONF) == (CONF, PoisonPolicy())
    assert PoisonPolicy.take({**CONF, "poison.policy": "raise"})[1] == PoisonPolicy()


def test_the_producer_of_dead_letters_has_the_consumers_brokers() -> None:
    _, policy = PoisonPolicy.take(
        {**CONF, "dead.letter.topic": "dead", "dead.letter.conf": {"compression.type": "zstd"}}
    )
    assert policy.producer_conf == {
        "bootstrap.servers": "b:1",
        "security.protocol": "SSL",
        "acks": "all",
        "enable.idempotence": True,
        "compression.type": "zstd",
    }


@pytest.mark.parametrize(
    ("conf", "text"),
    [
        ({"poison.policy": "ignore"}, "'ignore' is not supported: raise, skip"),
        ({"on.poison": 5}, "must be callable"),
        ({"dead.letter.topic": ""}, "must be the name of a topic"),
        ({"dead.letter.topic": "d", "poison.policy": "raise"}, "contradict each other"),
        ({"dead.letter.topic": "d", "dead.letter.conf": 5}, "must be a dict"),
    ],
)
def test_refused(conf: dict[str, Any], text: str) -> None:
    with pytest.raises(ValueError, match=text):
        PoisonPolicy.take(conf)


def test_a_letter_says_where_it_comes_from() -> None:
    message = Message(topic="t", partition=1, offset=5, key=b"k", value=b"v", headers=[("h", b"1")])
    letter = PoisonPolicy(True, None, "dead").letter(message, raised(message))
    assert letter is not None
    assert (letter.topic, letter.key, letter.value) == ("dead", b"k", b"v")
    assert letter.headers[0] == ("h", b"1")
    facts = dict(letter.headers[1:])
    facts.pop("__dlq.timestamp")
    assert facts == {
        "__dlq.topic": b"t",
        "__dlq.partition": b"1",
        "__dlq.offset": b"5",
        "__dlq.field": b"value",
        "__dlq.error.class": b"SerializationError",
        "__dlq.error.message": b"no",
        "__dlq.schema.id": b"7",
        "__dlq.path": b"a.b",
    }
    assert PoisonPolicy(True).letter(message, raised(message)) is None


def test_any_text_of_an_error_goes_into_a_letter() -> None:
    message = Message(topic="t", partition=1, offset=5, value=b"v")
    letter = PoisonPolicy(True, None, "dead").letter(
        message, ValueDeserializationError(SerializationError("\ud800é"), message)
    )
    assert letter is not None
    assert dict(letter.headers)["__dlq.error.message"].endswith(b"\\ud800\xc3\xa9")


def test_only_what_can_never_be_read_is_passed_over() -> None:
    error = raised(Message(topic="t", partition=1, offset=5))
    assert PoisonPolicy(True).passes(error)
    assert not PoisonPolicy().passes(error)
    error.registry_away = True
    assert not PoisonPolicy(True).passes(error)
