"""Idempotence of one partition; every expectation here was also seen at a real Kafka 4.3.1."""

from __future__ import annotations

import pytest

from kafka_core.broker.codes import Code
from kafka_core.broker.partitions.producers import ProducerStates, sequence_plus
from kafka_core.protocol.messages.init_producer_id import InitProducerIdRequest
from tests.unit.kafka_core.broker.harness import Bench

PID = 7


@pytest.fixture
def states() -> ProducerStates:
    states = ProducerStates()
    states.record(PID, 0, 5, 1, base_offset=100, timestamp_ms=1)
    return states


def append(states: ProducerStates, epoch: int, sequence: int, count: int, base_offset: int) -> None:
    assert states.check(PID, epoch, sequence)[0] is Code.NONE
    states.record(PID, epoch, sequence, count, base_offset, timestamp_ms=2)


def test_an_unknown_producer_may_start_anywhere() -> None:
    assert ProducerStates().check(PID, 3, 1234) == (Code.NONE, "")


def test_sequences_follow_each_other(states: ProducerStates) -> None:
    append(states, 0, 6, 3, 101)
    append(states, 0, 9, 1, 104)
    code, text = states.check(PID, 0, 12)
    assert code is Code.OUT_OF_ORDER_SEQUENCE_NUMBER
    assert "12" in text
    assert "10 was expected" in text


def test_a_repeat_is_recognised_with_its_offset(states: ProducerStates) -> None:
    append(states, 0, 6, 3, 101)
    repeat = states.duplicate(PID, 0, 6, 3)
    assert repeat is not None
    assert (repeat.base_offset, repeat.last_offset, repeat.timestamp_ms) == (101, 103, 2)


@pytest.mark.parametrize(("epoch", "sequence", "count"), [(0, 6, 2), (1, 6, 3), (0, 7, 3)])
def test_a_batch_that_differs_is_no_repeat(states: ProducerStates, epoch: int, sequence: int, count: int) -> None:
    append(states, 0, 6, 3, 101)
    assert states.duplicate(PID, epoch, sequence, count) is None


def test_only_the_last_five_batches_are_remembered(states: ProducerStates) -> None:
    for sequence in range(6, 11):
        append(states, 0, sequence, 1, 95 + sequence)
    assert states.duplicate(PID, 0, 5, 1) is None
    assert states.check(PID, 0, 5)[0] is Code.OUT_OF_ORDER_SEQUENCE_NUMBER
    assert states.duplicate(PID, 0, 6, 1) is not None


def test_a_new_epoch_starts_at_zero_and_ends_the_old_one(states: ProducerStates) -> None:
    assert states.check(PID, 1, 3)[0] is Code.OUT_OF_ORDER_SEQUENCE_NUMBER
    append(states, 1, 0, 1, 101)
    assert states.check(PID, 0, 6)[0] is Code.INVALID_PRODUCER_EPOCH
    assert states.duplicate(PID, 0, 5, 1) is None
    append(states, 1, 1, 1, 102)


def test_sequences_wrap_to_zero(states: ProducerStates) -> None:
    largest = 2**31 - 1
    assert sequence_plus(largest, 1) == 0
    assert sequence_plus(largest - 1, 2) == 0
    states.record(8, 0, largest - 1, 3, base_offset=0, timestamp_ms=0)
    assert states.check(8, 0, 1)[0] is Code.NONE
    assert states.duplicate(8, 0, largest - 1, 3) is not None
    assert len(states) == 2


# ---- p22 init producer id


@pytest.mark.parametrize("version", range(6))
def test_every_call_gives_a_new_id_at_epoch_zero(version: int) -> None:
    bench = Bench()
    answers = [bench.ask(InitProducerIdRequest(None, 1000), version) for _ in range(2)]
    assert [(item.error_code, item.producer_id, item.producer_epoch) for item in answers] == [(0, 0, 0), (0, 1, 0)]


def test_an_id_to_bump_is_replaced_by_a_new_one() -> None:
    assert Bench().ask(InitProducerIdRequest(None, 1000, 7, 3)).producer_id == 0


@pytest.mark.parametrize(
    "request_",
    [InitProducerIdRequest("", 1000), InitProducerIdRequest(None, 1000, -1, 0)],
)
def test_empty_ids_and_half_identities_are_refused(request_: InitProducerIdRequest) -> None:
    answer = Bench().ask(request_)
    assert (answer.error_code, answer.producer_id, answer.producer_epoch) == (Code.INVALID_REQUEST, -1, -1)
