"""kafka_core.aio.cluster.failures: what stands, in which order, and that each failure is told once."""

import pytest

from kafka_core.aio.cluster.failures import Failures
from kafka_core.engine.metadata import BrokerAddress
from kafka_core.errors import AuthError, KafkaError, NetworkError

ONE, TWO = BrokerAddress(1, "one", 1), BrokerAddress(2, "two", 2)
DOWN = KafkaError._ALL_BROKERS_DOWN


def make() -> tuple[Failures, list[KafkaError]]:
    failures = Failures([("a", 1), ("b", 2)])
    told: list[KafkaError] = []
    failures.listen(told.append)
    return failures, told


def test_a_failure_is_told_once_until_the_broker_is_reached() -> None:
    failures, told = make()
    for _ in range(2):
        failures.broker_failed(ONE, NetworkError("cut"))
    failures.broker_failed(ONE, AuthError("password"))
    assert [error.str() for error in told] == ["cut", "password"]
    assert failures.all_fail([1])
    assert not failures.all_fail([1, 2])
    failures.broker_reached(ONE)
    assert failures.first is None
    failures.broker_failed(ONE, NetworkError("cut"))
    assert len(told) == 3


def test_all_down_is_told_once_until_the_cluster_is_reached_and_not_while_closing() -> None:
    failures, told = make()
    for address in ("b:2", "a:1", "a:1"):
        failures.bootstrap_failed(address, NetworkError(address))
    assert [error.code() for error in told] == [NetworkError("").code, NetworkError("").code, DOWN]
    assert "2/2 brokers are down; first cause: a:1" in told[-1].str(), "in the order of the setting"
    failures.tell_all_down(2)
    failures.cluster_reached()
    failures.tell_all_down(2)
    failures.cluster_reached()
    failures.muted = True
    failures.tell_all_down(2)
    assert [error.code() for error in told].count(DOWN) == 2


def test_a_passing_cause_is_for_one_call_and_brokers_that_left_are_forgotten() -> None:
    failures, told = make()
    failures.note_passing(NetworkError("not yet"))
    assert [str(error) for error in failures.all()] == ["not yet"]
    failures.forget_passing()
    failures.broker_failed(ONE, NetworkError("one"))
    failures.broker_failed(TWO, NetworkError("two"))
    assert [str(error) for error in failures.of_broker(2)] == ["two"]
    failures.keep_only([2])
    assert [str(error) for error in failures.all()] == ["two"]
    assert [error.str() for error in told] == ["one", "two"]


def test_a_listener_that_fails_keeps_nobody_from_being_told(caplog: pytest.LogCaptureFixture) -> None:
    failures = Failures([])
    told: list[KafkaError] = []

    def broken(error: KafkaError) -> None:
        raise ValueError

    failures.listen(broken)
    failures.listen(told.append)
    failures.broker_failed(ONE, NetworkError("cut"))
    assert len(told) == 1
    assert "an error listener failed" in caplog.text
