"""FindCoordinator requests through the dispatcher."""

from __future__ import annotations

import pytest

from kafka_core.broker.codes import Code
from kafka_core.protocol.messages.find_coordinator import FindCoordinatorRequest
from tests.unit.kafka_core.broker.harness import Bench


@pytest.mark.parametrize("version", range(4))
def test_one_key(version: int) -> None:
    bench = Bench(3)
    response = bench.ask(FindCoordinatorRequest(key="g"), version)
    node = bench.cluster.coordinator_of("g")
    assert node is not None
    assert (response.error_code, response.node_id, response.host, response.port) == (
        0,
        node.node_id,
        "test.invalid",
        node.port,
    )


@pytest.mark.parametrize("version", [4, 5, 6])
def test_several_keys(version: int) -> None:
    bench = Bench(3)
    answers = bench.ask(FindCoordinatorRequest(coordinator_keys=["a", "b", "c"]), version).coordinators
    assert [answer.key for answer in answers] == ["a", "b", "c"]
    assert {answer.node_id for answer in answers} == {1, 2, 3}
    assert all(bench.cluster.coordinates(answer.node_id, answer.key) for answer in answers)


def test_transactions_and_unknown_kinds_are_refused_clearly() -> None:
    bench = Bench()
    answer = bench.ask(FindCoordinatorRequest(key="t", key_type=1), 3)
    assert (answer.error_code, answer.node_id) == (Code.INVALID_REQUEST, -1)
    assert "transactions" in (answer.error_message or "")
    assert bench.ask(FindCoordinatorRequest(key_type=9, coordinator_keys=["a"])).coordinators[0].error_code == 42


def test_no_broker_is_left() -> None:
    bench = Bench()
    bench.cluster.node_down(1)
    assert bench.ask(FindCoordinatorRequest(key="g"), 3).error_code == Code.COORDINATOR_NOT_AVAILABLE
