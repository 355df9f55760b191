"""The error of a call that no broker answered."""

from __future__ import annotations

import pytest

from kafka_core.aio.cluster.unanswered import answering, unanswered
from kafka_core.errors import BrokerError, KafkaError, KafkaException, NetworkError


def test_the_code_and_words_of_the_call_come_first() -> None:
    cause = NetworkError("b1:9092: connection refused")
    told = unanswered(cause, "Failed to get offsets", KafkaError._ALL_BROKERS_DOWN)
    assert (told.code, told.error.retriable()) == (KafkaError._ALL_BROKERS_DOWN, True)
    text = "Failed to get offsets: Local: All broker connections are down: b1:9092: connection refused"
    assert (str(told), told.__cause__) == (text, cause)
    assert str(unanswered(cause, "")) == "Local: Timed out: b1:9092: connection refused"


ANSWERS = [
    BrokerError(KafkaError.TOPIC_AUTHORIZATION_FAILED),
    NetworkError("the certificate has expired", KafkaError._SSL),
    NetworkError("the host name is not known", KafkaError._RESOLVE),
]


@pytest.mark.parametrize("error", ANSWERS)
def test_what_waiting_does_not_help_against_is_told_as_it_is(error: KafkaException) -> None:
    assert unanswered(error, "Failed to get offsets") is error
    for code in (KafkaError._TIMED_OUT, lambda: KafkaError._ALL_BROKERS_DOWN):
        with pytest.raises(type(error)) as caught, answering("Failed to get offsets", code):
            raise error
        assert caught.value is error
        assert error.__cause__ is None  # not the error itself


def test_a_block_tells_it_too() -> None:
    with pytest.raises(NetworkError) as caught, answering("Failed to list groups"):
        raise NetworkError("b1:9092: connection refused")
    assert caught.value.code == KafkaError._TIMED_OUT
    assert str(caught.value).startswith("Failed to list groups: Local: Timed out: b1:9092")
