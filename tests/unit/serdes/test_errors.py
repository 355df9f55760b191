from __future__ import annotations

import pickle

import pytest

from kafka_core.errors import ConsumeError, KafkaError, KafkaException, ProduceError
from registry.errors import ResponseError, TransportError
from serdes.context import MessageField, SerializationContext, place
from serdes.errors import (
    KeyDeserializationError,
    KeySerializationError,
    SerializationError,
    ValueDeserializationError,
    ValueSerializationError,
)


class Raw:
    """The face of a message."""

    def topic(self) -> str:
        return "orders"

    def partition(self) -> int:
        return 3

    def offset(self) -> int:
        return 9


CAUSE = SerializationError("too long", schema_id=7, path="order.items[3].price")


def test_text_names_the_place_as_far_as_it_is_known() -> None:
    assert str(SerializationError("bad")) == "bad"
    assert str(CAUSE) == "schema id 7, at order.items[3].price: too long"
    error = SerializationError("bad", schema_id=1).located("orders", "value", 2)
    assert str(error) == "topic orders, value, schema id 1: bad"


def test_located_keeps_what_was_known() -> None:
    error = SerializationError("bad", topic="a", field="key")
    assert error.located("b", "value", 5) is error
    assert (error.topic, error.field, error.schema_id) == ("a", "key", 5)


def test_deserialization_error_has_all_facts() -> None:
    raw = Raw()
    error = ValueDeserializationError(CAUSE, raw)
    assert (error.topic, error.partition, error.offset, error.field) == ("orders", 3, 9, "value")
    assert (error.schema_id, error.path, error.reason) == (7, "order.items[3].price", "too long")
    assert error.kafka_message is raw
    assert error.exception is CAUSE
    assert str(error) == ("topic orders, partition 3, offset 9, value, schema id 7, at order.items[3].price: too long")


def test_serialization_error_has_the_topic() -> None:
    error = KeySerializationError(TypeError("no"), "orders")
    assert str(error) == "topic orders, key: the function failed: TypeError"
    assert (error.topic, error.field, error.partition) == ("orders", "key", None)


@pytest.mark.parametrize(
    ("error", "base", "code"),
    [
        (KeySerializationError(CAUSE), ProduceError, KafkaError._KEY_SERIALIZATION),
        (ValueSerializationError(CAUSE), ProduceError, KafkaError._VALUE_SERIALIZATION),
        (KeyDeserializationError(CAUSE, Raw()), ConsumeError, KafkaError._KEY_DESERIALIZATION),
        (ValueDeserializationError(CAUSE, Raw()), ConsumeError, KafkaError._VALUE_DESERIALIZATION),
        (ValueDeserializationError(), ConsumeError, KafkaError._VALUE_DESERIALIZATION),
    ],
)
def test_both_families_catch_it_and_it_pickles(error: SerializationError, base: type, code: int) -> None:
    assert isinstance(error, base)
    assert isinstance(error, KafkaException)
    assert isinstance(error, SerializationError)
    assert error.args[0].code() == error.code == code
    twin = pickle.loads(pickle.dumps(error))
    assert type(twin) is type(error)
    assert str(twin) == str(error)
    assert (twin.topic, twin.schema_id, twin.path) == (error.topic, error.schema_id, error.path)


def test_plain_error_pickles() -> None:
    error = SerializationError("bad", path="a.b").located("t", "value")
    twin = pickle.loads(pickle.dumps(error))
    assert (str(twin), twin.path) == ("topic t, value, at a.b: bad", "a.b")


def test_retriable_is_about_the_registry() -> None:
    cause = SerializationError("registry away")
    assert not cause.retriable
    away = SerializationError("registry away")
    away.registry_away = True
    assert away.retriable
    assert ValueDeserializationError(away, Raw()).retriable
    assert not ValueDeserializationError(CAUSE, Raw()).retriable


def test_a_serialization_error_is_a_kafka_exception_as_in_the_reference() -> None:
    error = SerializationError("bad").located("orders", "value")
    assert isinstance(error, KafkaException)
    assert error.args == ("bad",)
    assert (error.code, error.name, error.fatal, error.abortable) == (KafkaError._FAIL, "_FAIL", False, False)
    assert error.error.str() == str(error) == "topic orders, value: bad"
    error.registry_away = True
    assert error.error.retriable()
    assert error.refresh_metadata is False
    reference = pytest.importorskip("confluent_kafka.serialization").SerializationError
    assert [kind.__name__ for kind in SerializationError.__mro__] == [kind.__name__ for kind in reference.__mro__]
    assert SerializationError("a", 1).args == reference("a", 1).args


def test_a_subclass_with_another_constructor_pickles() -> None:
    twin = pickle.loads(pickle.dumps(OwnError(3).located("t", "key")))
    assert (type(twin), str(twin), twin.number) == (OwnError, "topic t, key: number 3", 3)


class OwnError(SerializationError):
    def __init__(self, number: int) -> None:
        super().__init__(f"number {number}")
        self.number = number


# ---- contexts


def test_fields_are_their_names() -> None:
    assert [str(field) for field in MessageField] == ["none", "key", "value"]
    assert MessageField("value") is MessageField.VALUE
    assert {MessageField.KEY: 1}["key"] == 1  # type: ignore[index]


def test_place() -> None:
    assert place(None) == (None, None)
    assert place(SerializationContext("orders", MessageField.KEY)) == ("orders", "key")


def test_headers_are_optional() -> None:
    assert SerializationContext("t", MessageField.KEY).headers is None
    assert SerializationContext("t", MessageField.KEY, [("a", b"b")]).headers == [("a", b"b")]


def test_a_function_that_asked_in_vain_is_told_from_one_that_can_not_read() -> None:
    """A deserializer of one's own, which asks a registry (or a broker) by itself."""
    away: list[Exception] = [TransportError(-1, -1, "no answer"), ResponseError(503, 503, "later")]
    away.append(KafkaException(KafkaError(KafkaError._TRANSPORT, retriable=True)))
    assert [ValueDeserializationError(cause, Raw()).registry_away for cause in away] == [True] * 3
    known: list[Exception] = [ResponseError(404, 40403, "no such id"), ValueError("no")]
    known.append(KafkaException(KafkaError(KafkaError._FAIL)))
    assert [ValueDeserializationError(cause, Raw()).registry_away for cause in known] == [False] * 3
