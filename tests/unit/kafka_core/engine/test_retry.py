"""kafka_core.engine.retry: every error has one action, and the docstring shows the truth."""

import pickle
import random
import re

import pytest

from kafka_core.engine import retry
from kafka_core.engine.retry import TABLE, Action, Backoff, classify
from kafka_core.error_codes import FACTS
from kafka_core.errors import (
    AuthError,
    BrokerError,
    ConfigError,
    CorruptRecordError,
    KafkaError,
    NetworkError,
    ProtocolError,
    StateError,
)


def documented() -> dict[int, Action]:
    """The table in the module's docstring."""
    assert retry.__doc__ is not None
    rows = re.split(r"^=+ +=+$", retry.__doc__, flags=re.MULTILINE)[2]
    found: dict[int, Action] = {}
    action = Action.FAIL
    for line in rows.splitlines():
        if match := re.match(r"([A-Z_]+)  ", line):
            action = Action[match[1]]
            line = line[match.end() :]
        for code in re.findall(r"(?<!\w)(\d+) [A-Z]", line):
            found[int(code)] = action
        for name in re.findall(r"(?<!\w)_[A-Z]+(?:_[A-Z]+)*", line):
            found[getattr(KafkaError, name)] = action
    return found


def test_the_docstring_shows_the_whole_table():
    assert documented() == TABLE


def test_the_names_in_the_docstring_belong_to_their_codes():
    assert retry.__doc__ is not None
    for code, name in re.findall(r"(?<!\w)(\d+) ([A-Z][A-Z_]+)", retry.__doc__):
        assert FACTS[int(code)].name == name


def test_no_code_stands_for_two_actions():
    codes = [code for table in (retry._BROKER_CODES, retry._LOCAL_CODES) for row in table.values() for code in row]
    assert len(codes) == len(set(codes))


def test_errors_that_java_retries_are_retried():
    """Everything the generated table calls retriable leads to another try, a rejoin or a new session."""
    excused = {KafkaError.ELECTION_NOT_NEEDED}  # Java marks it retriable; there is nothing left to do
    for code, facts in FACTS.items():
        if facts.retriable and code not in excused:
            assert classify(code).tries_again, facts.name


def test_stale_metadata_is_refreshed():
    excused = {KafkaError.ELECTION_NOT_NEEDED}
    for code, facts in FACTS.items():
        if facts.refresh_metadata and code not in excused:
            assert classify(code) is Action.REFRESH_AND_RETRY, facts.name


@pytest.mark.parametrize(
    ("error", "action"),
    [
        (0, Action.DONE),
        (KafkaError.NOT_LEADER_FOR_PARTITION, Action.REFRESH_AND_RETRY),
        (KafkaError(KafkaError.NOT_COORDINATOR), Action.FIND_COORDINATOR),
        (BrokerError(KafkaError.REBALANCE_IN_PROGRESS), Action.REJOIN),
        (NetworkError("gone"), Action.REFRESH_AND_RETRY),
        (NetworkError("bad certificate", KafkaError._SSL), Action.FAIL),
        (AuthError("wrong password"), Action.FAIL),
        (StateError("closed"), Action.FAIL),
        (ConfigError("no"), Action.FAIL),
        (ProtocolError("mangled stream"), Action.REFRESH_AND_RETRY),
        (CorruptRecordError("bad CRC"), Action.FAIL),
        (pickle.loads(pickle.dumps(NetworkError("pickled"))), Action.REFRESH_AND_RETRY),
        (29, Action.FAIL),
        (12345, Action.FAIL),
        (KafkaError._TRANSPORT, Action.FAIL),  # no broker finds that out: it is not the local error
        (KafkaError(12345, retriable=True), Action.RETRY),
        (KafkaError(KafkaError.REQUEST_TIMED_OUT, fatal=True), Action.FATAL),
        (KafkaError(KafkaError.REQUEST_TIMED_OUT, txn_requires_abort=True), Action.ABORT),
    ],
)
def test_classify(error, action):
    assert classify(error) is action


class TestBackoff:
    def test_doubles_up_to_its_bound_within_the_jitter(self):
        backoff = Backoff(100, 1000, random.Random(1))
        for attempt, middle_s in enumerate([0.1, 0.2, 0.4, 0.8, 1.0, 1.0]):
            delays = [backoff.delay_s(attempt) for _ in range(200)]
            assert min(delays) >= middle_s * 0.8
            assert max(delays) <= min(middle_s * 1.2, 1.0)
            assert max(delays) - min(delays) > middle_s * 0.1

    def test_never_above_the_bound_even_after_thousands_of_attempts(self):
        backoff = Backoff(100, 1000, random.Random(2))
        assert backoff.delay_s(100_000) <= 1.0

    def test_a_bound_below_the_base_does_not_shorten_the_base(self):
        assert Backoff(500, 100, random.Random(3)).delay_s(0) >= 0.4

    def test_zero_means_no_wait(self):
        assert Backoff(0, 0, random.Random(4)).delay_s(3) == 0.0

    def test_is_repeatable_with_the_same_source(self):
        first, second = (Backoff(100, 1000, random.Random(5)) for _ in range(2))
        assert [first.delay_s(n) for n in range(5)] == [second.delay_s(n) for n in range(5)]
