"""kafka_core.errors: the value, the tree, and what the generated table says."""

from __future__ import annotations

import copy
import pickle

import pytest

from kafka_core import errors
from kafka_core.error_codes import FACTS, ROWS
from kafka_core.errors import (
    AuthError,
    BrokerError,
    ConfigError,
    ConsumeError,
    CorruptRecordError,
    KafkaError,
    KafkaException,
    NetworkError,
    ProduceError,
    ProtocolError,
    StateError,
    UnknownCodecError,
    UnsupportedVersionError,
)
from tools import generate_errors


def test_every_constant_has_a_row_and_every_row_a_constant() -> None:
    constants = {
        name: value for name, value in vars(errors.ErrorCodes).items() if name.strip("_").isupper() and name[:2] != "__"
    }
    assert constants == {name: code for code, name, *_ in ROWS}
    assert len(constants) == len(ROWS) == len(FACTS)


@pytest.mark.parametrize(
    ("code", "name", "retriable", "refresh"),
    [
        (3, "UNKNOWN_TOPIC_OR_PART", True, True),
        (6, "NOT_LEADER_FOR_PARTITION", True, True),
        (7, "REQUEST_TIMED_OUT", True, False),
        (10, "MSG_SIZE_TOO_LARGE", False, False),
        (29, "TOPIC_AUTHORIZATION_FAILED", False, False),
        (98, "SNAPSHOT_NOT_FOUND", False, False),  # librdkafka has no name for it: the Java one
        (-195, "_TRANSPORT", False, False),
    ],
)
def test_table(code: int, name: str, retriable: bool, refresh: bool) -> None:
    facts = FACTS[code]
    assert (facts.name, facts.retriable, facts.refresh_metadata) == (name, retriable, refresh)
    assert getattr(KafkaError, name) == code


@pytest.mark.parametrize(
    ("code", "name", "text"),
    [
        (3, "UNKNOWN_TOPIC_OR_PARTITION", "Broker: Unknown topic or partition"),
        (48, "INVALID_TXN_STATE", "Broker: Invalid transaction state"),
        (100, "UNKNOWN_TOPIC_ID", "Broker: Unknown topic id"),
        (-195, "_TRANSPORT", "Local: Broker transport failure"),
        (-188, "_UNKNOWN_TOPIC", "Local: Unknown topic"),
        (-170, "_NOT_IMPLEMENTED", "Local: Not implemented"),
    ],
)
def test_texts_are_made_from_names(code: int, name: str, text: str) -> None:
    assert generate_errors.describe(code, name) == text
    assert FACTS[code].text == text


def test_every_text_says_who_speaks() -> None:
    for code, facts in FACTS.items():
        who = "Local: " if code < -1 and code != KafkaError._PARTITION_EOF else "Broker: "
        assert facts.text.startswith(who) or code in (KafkaError.NO_ERROR, KafkaError.UNKNOWN)


def test_error_is_read_as_in_the_reference_api() -> None:
    error = KafkaError(KafkaError.UNKNOWN_TOPIC_OR_PART)
    assert error.code() == 3
    assert error.name() == "UNKNOWN_TOPIC_OR_PART"
    assert error.str() == "Broker: Unknown topic or partition"
    assert (error.fatal(), error.retriable(), error.txn_requires_abort()) == (False, False, False)
    assert repr(error) == 'KafkaError{code=UNKNOWN_TOPIC_OR_PART,val=3,str="Broker: Unknown topic or partition"}'
    assert str(error) == repr(error)


def test_error_keeps_its_reason_and_flags() -> None:
    error = KafkaError(KafkaError._STATE, "too late", fatal=True, retriable=True, txn_requires_abort=True)
    assert error.str() == "too late"
    assert (error.fatal(), error.retriable(), error.txn_requires_abort()) == (True, True, True)


def test_errors_compare_by_code_and_with_numbers() -> None:
    assert KafkaError(3, "a") == KafkaError(3, "b") == 3
    assert KafkaError(3) != KafkaError(4)
    assert KafkaError(3) != "3"
    assert KafkaError(3) < KafkaError(4) < 5
    assert KafkaError(5) >= 5
    assert {KafkaError(3): "x"}[KafkaError(3, "other reason")] == "x"


def test_an_unknown_code_has_a_name() -> None:
    error = KafkaError(12345)
    assert error.name() == "ERR_12345?"
    assert error.str() == "Err-12345?"
    assert not error.retriable()


def test_a_code_of_a_broker_that_does_not_exist_is_an_unknown_error_with_a_sentence() -> None:
    error = KafkaError.from_code(12345)
    assert error.code() == KafkaError.UNKNOWN
    assert "the error code 12345, which this client does not know" in error.str()
    assert not error.retriable()
    assert "does not know: their words" in KafkaError.from_code(-4000, "their words").str()


def test_a_code_of_the_client_that_a_broker_sends_does_not_pass_for_the_clients_own() -> None:
    for code, facts in FACTS.items():
        if code < KafkaError.UNKNOWN:
            error = KafkaError.from_code(code)
            assert error.code() == BrokerError(code).code == KafkaError.UNKNOWN, facts.name
            assert f"the error code {code}, which this client does not know" in error.str()
            assert not error.retriable()
            assert KafkaException(code).code == code  # the client itself, and its users, may raise it
    assert KafkaException(KafkaError._TIMED_OUT).retriable
    assert not KafkaException(KafkaError._AUTHENTICATION).retriable


def test_standard_errors_are_those_of_the_table_for_the_clients_own_codes_too() -> None:
    error = KafkaError.standard(KafkaError._TIMED_OUT, "no answer")
    assert (error.name(), error.str(), error.retriable()) == ("_TIMED_OUT", "no answer", True)
    assert not KafkaError.standard(KafkaError._INVALID_ARG).retriable()
    assert KafkaError.standard(KafkaError.NOT_LEADER_FOR_PARTITION).retriable()


def test_from_code_knows_what_may_be_tried_again() -> None:
    assert KafkaError.from_code(KafkaError.NOT_LEADER_FOR_PARTITION).retriable()
    assert not KafkaError.from_code(KafkaError.TOPIC_AUTHORIZATION_FAILED).retriable()
    assert KafkaError.from_code(KafkaError.TRANSACTION_ABORTABLE).txn_requires_abort()


TREE: list[tuple[type[errors.TextError], type[Exception], int]] = [
    (ConfigError, ValueError, KafkaError._INVALID_ARG),
    (StateError, RuntimeError, KafkaError._STATE),
    (NetworkError, KafkaException, KafkaError._TRANSPORT),
    (ProtocolError, KafkaException, KafkaError._BAD_MSG),
    (CorruptRecordError, ProtocolError, KafkaError._BAD_MSG),
    (UnsupportedVersionError, ProtocolError, KafkaError._UNSUPPORTED_FEATURE),
    (UnknownCodecError, ProtocolError, KafkaError._BAD_COMPRESSION),
    (AuthError, KafkaException, KafkaError._AUTHENTICATION),
]


@pytest.mark.parametrize(("kind", "parent", "code"), TREE)
def test_exceptions_of_the_client(kind: type[errors.TextError], parent: type[Exception], code: int) -> None:
    exception = kind("what happened, and what to try", topic="t")
    assert isinstance(exception, parent)
    assert isinstance(exception, KafkaException)
    assert str(exception) == "what happened, and what to try"
    assert exception.code == code
    assert exception.args[0] is exception.error
    assert exception.facts == {"topic": "t"}
    assert exception.name == KafkaError(code).name()


def test_code_and_flags_may_be_given() -> None:
    exception = NetworkError("no such host", KafkaError._RESOLVE, fatal=True, retriable=False)
    assert (exception.code, exception.fatal, exception.retriable) == (KafkaError._RESOLVE, True, False)


def test_retriable_by_default_is_what_is_known_of_the_code() -> None:
    assert NetworkError("lost").retriable
    assert not NetworkError("bad certificate", KafkaError._SSL).retriable
    assert not AuthError("no").retriable


def test_broker_error_knows_whether_to_refresh_metadata() -> None:
    moved = BrokerError(KafkaError.NOT_LEADER_FOR_PARTITION, "moved")
    assert (moved.retriable, moved.refresh_metadata, str(moved)) == (True, True, "moved")
    slow = BrokerError(KafkaError(KafkaError.REQUEST_TIMED_OUT, retriable=True))
    assert (slow.retriable, slow.refresh_metadata) == (True, False)
    assert BrokerError(KafkaError.TRANSACTION_ABORTABLE).abortable


def test_kafka_exception_takes_an_error_or_a_code() -> None:
    error = KafkaError(KafkaError._FAIL)
    assert KafkaException(error).args[0] is error
    assert KafkaException(KafkaError.REQUEST_TIMED_OUT).retriable
    assert not KafkaException(error).refresh_metadata


@pytest.mark.parametrize("kind", [ConsumeError, ProduceError])
def test_message_errors(kind: type[errors.MessageError]) -> None:
    cause = ValueError("bad")
    exception = kind(KafkaError(KafkaError._VALUE_SERIALIZATION), cause, kafka_message="message")
    assert (exception.code, exception.name) == (KafkaError._VALUE_SERIALIZATION, "_VALUE_SERIALIZATION")
    assert exception.exception is cause
    assert exception.kafka_message == "message"


@pytest.mark.parametrize(
    "exception",
    [
        *(kind("text", size_bytes=5) for kind, _, _ in TREE),
        BrokerError(6, "moved"),
        KafkaException(KafkaError(1)),
        ConsumeError(KafkaError(1), ValueError("x"), "message"),
    ],
    ids=lambda exception: type(exception).__name__,
)
def test_exceptions_pickle_and_copy(exception: KafkaException) -> None:
    for twin in (pickle.loads(pickle.dumps(exception)), copy.copy(exception)):
        assert type(twin) is type(exception)
        assert str(twin) == str(exception)
        assert (twin.code, twin.retriable) == (exception.code, exception.retriable)
        assert set(vars(twin)) == set(vars(exception))


def test_error_value_pickles_with_its_flags() -> None:
    twin = pickle.loads(pickle.dumps(KafkaError(3, "why", True, True, True)))
    assert (twin.code(), twin.str(), twin.fatal(), twin.retriable(), twin.txn_requires_abort()) == (
        3,
        "why",
        True,
        True,
        True,
    )


@pytest.mark.parametrize("arguments", [(), ("text",), ("text", 1), (None,), (KafkaError(3), "more")])
def test_an_exception_is_made_of_anything_as_in_the_reference_api(arguments: tuple[object, ...]) -> None:
    made = KafkaException(*arguments)
    assert made.args == arguments
    assert all(str(argument) in str(made) for argument in arguments if not isinstance(argument, KafkaError))
    carries = bool(arguments) and isinstance(arguments[0], KafkaError)
    assert made.error.code() == (3 if carries else KafkaError._FAIL)
    copied = pickle.loads(pickle.dumps(made))
    assert (type(copied), copied.args, str(copied)) == (KafkaException, made.args, str(made))


def test_a_fatal_error_says_so() -> None:
    assert str(KafkaError(3, "gone", fatal=True)) == 'KafkaError{FATAL,code=UNKNOWN_TOPIC_OR_PART,val=3,str="gone"}'
