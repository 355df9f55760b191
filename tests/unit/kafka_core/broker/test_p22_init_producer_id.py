"""InitProducerId requests through the dispatcher."""

from __future__ import annotations

import pytest

from kafka_core.broker.codes import Code
from kafka_core.protocol.messages.init_producer_id import InitProducerIdRequest
from tests.unit.kafka_core.broker.harness import Bench


@pytest.mark.parametrize("version", range(6))
def test_every_call_gives_a_new_id_at_epoch_zero(version: int) -> None:
    bench = Bench()
    answers = [bench.ask(InitProducerIdRequest(None, 1000), version) for _ in range(2)]
    assert [(item.error_code, item.producer_id, item.producer_epoch) for item in answers] == [(0, 0, 0), (0, 1, 0)]


def test_an_id_to_bump_is_replaced_by_a_new_one() -> None:
    assert Bench().ask(InitProducerIdRequest(None, 1000, 7, 3)).producer_id == 0


@pytest.mark.parametrize(
    "request_",
    [InitProducerIdRequest("tx", 1000), InitProducerIdRequest("", 1000), InitProducerIdRequest(None, 1000, -1, 0)],
)
def test_transactions_and_half_identities_are_refused(request_: InitProducerIdRequest) -> None:
    answer = Bench().ask(request_)
    assert (answer.error_code, answer.producer_id, answer.producer_epoch) == (Code.INVALID_REQUEST, -1, -1)
