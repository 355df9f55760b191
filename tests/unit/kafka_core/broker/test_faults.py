"""Rules that decide on requests."""

from __future__ import annotations

import pytest

from kafka_core.broker.context import Connection, Context
from kafka_core.broker.faults import Action, Disconnect, Drop, Faults, Rule
from kafka_core.protocol import ApiKey, ApiMessage
from kafka_core.protocol.messages.heartbeat import HeartbeatRequest

REQUEST = HeartbeatRequest()


def context(broker: int = 1, api_key: int = ApiKey.HEARTBEAT) -> Context:
    return Context(Connection(1, broker, "/h"), broker, api_key, 4, 1, None)


def always(action: Action) -> Rule:
    return Rule(ApiKey.HEARTBEAT, lambda request, _: action)


@pytest.fixture
def faults() -> Faults:
    return Faults()


def test_the_first_rule_that_acts_decides(faults: Faults) -> None:
    rules = [always(None), always(Drop()), always(Disconnect())]
    for rule in rules:
        faults.add(rule)
    assert faults.decide(REQUEST, context()) == Drop()
    assert [rule.seen for rule in rules] == [1, 1, 0]


def test_a_rule_is_for_one_api_and_perhaps_one_broker(faults: Faults) -> None:
    faults.add(Rule(ApiKey.HEARTBEAT, lambda request, _: 7, broker=2))
    assert faults.decide(REQUEST, context(1)) is None
    assert faults.decide(REQUEST, context(2)) == 7
    assert faults.decide(REQUEST, context(2, ApiKey.FETCH)) is None


def test_only_actions_are_counted(faults: Faults) -> None:
    calls: list[ApiMessage] = []

    def every_second(request: ApiMessage, _: Context) -> Action:
        calls.append(request)
        return Drop() if len(calls) % 2 == 0 else None

    faults.add(Rule(ApiKey.HEARTBEAT, every_second, times_left=1))
    decisions = [faults.decide(REQUEST, context()) for _ in range(4)]
    assert decisions == [None, Drop(), None, None]
    assert len(calls) == 2


def test_rules_can_be_taken_away(faults: Faults) -> None:
    rule = always(Drop())
    faults.add(rule)
    faults.remove(rule)
    faults.remove(rule)
    assert faults.decide(REQUEST, context()) is None
    faults.add(rule)
    faults.clear()
    assert faults.decide(REQUEST, context()) is None
