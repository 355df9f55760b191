"""kafka_core.protocol.usual_answers: they read what the compiled decoders read, and leave every other form to them."""

from __future__ import annotations

from dataclasses import replace
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_core.protocol import ZERO_UUID, decode, encode_bytes
from kafka_core.protocol.frames import USUAL_FORMS, decode_response, encode_response
from kafka_core.protocol.messages.produce import (
    BatchIndexAndErrorMessage,
    LeaderIdAndEpoch,
    NodeEndpoint,
    PartitionProduceResponse,
    ProduceRequest,
    ProduceResponse,
    TopicProduceResponse,
)
from kafka_core.protocol.usual_answers import one_written, use

VERSION = 13
INT32, INT64 = st.integers(-(2**31), 2**31 - 1), st.integers(-(2**63), 2**63 - 1)
ROW = PartitionProduceResponse(3, 0, 77, -1, 5)
TOPIC = TopicProduceResponse("", UUID(int=9), [ROW])
USUAL = ProduceResponse([TOPIC], 0)


def body(message: ProduceResponse) -> memoryview:
    return memoryview(b"head." + encode_bytes(message, VERSION))


@given(st.uuids() | st.just(ZERO_UUID), INT32, INT64, INT64, INT64, INT32)
def test_the_usual_form_is_read_as_the_decoder_reads_it(
    topic_id: UUID, index: int, base: int, appended_ms: int, start: int, throttle_ms: int
) -> None:
    row = PartitionProduceResponse(index, 0, base, appended_ms, start)
    message = ProduceResponse([TopicProduceResponse("", topic_id, [row])], throttle_ms)
    view = body(message)
    assert one_written(view, 5) == decode(ProduceResponse, VERSION, view[5:]) == message


@pytest.mark.parametrize(
    "other",
    [
        ProduceResponse([], 0),
        ProduceResponse([TOPIC, TOPIC], 0),
        ProduceResponse([replace(TOPIC, partition_responses=[ROW, ROW])], 0),
        ProduceResponse([replace(TOPIC, partition_responses=[replace(ROW, error_code=6)])], 0),
        ProduceResponse([replace(TOPIC, partition_responses=[replace(ROW, error_message="")])], 0),
        ProduceResponse([replace(TOPIC, partition_responses=[replace(ROW, current_leader=LeaderIdAndEpoch(1, 2))])], 0),
        ProduceResponse(
            [replace(TOPIC, partition_responses=[replace(ROW, record_errors=[BatchIndexAndErrorMessage(0)])])], 0
        ),
        ProduceResponse([TOPIC], 0, [NodeEndpoint(1, "h", 9)]),
        ProduceResponse([TOPIC], 0, unknown_tagged=[(7, b"x")]),
    ],
)
def test_any_other_form_is_left_to_the_decoder(other: ProduceResponse) -> None:
    use()
    assert one_written(body(other), 5) is None
    frame = b"".join(map(bytes, encode_response(other, VERSION, 4)))[4:]
    assert decode_response(ProduceRequest, VERSION, frame) == (4, other)


@pytest.mark.parametrize("at", range(len(encode_bytes(USUAL, VERSION))))
def test_a_byte_that_is_another_is_read_as_the_decoder_reads_it_or_left_to_it(at: int) -> None:
    for value in (0, 1, 2, 3, 255):
        data = bytearray(body(USUAL))
        data[5 + at] = value
        found = one_written(memoryview(data), 5)
        assert found is None or found == decode(ProduceResponse, VERSION, memoryview(data)[5:])


def test_a_producer_has_them_used() -> None:
    use()
    assert {(ProduceResponse, VERSION): one_written} == USUAL_FORMS
    frame = b"".join(map(bytes, encode_response(USUAL, VERSION, 4)))[4:]
    assert decode_response(ProduceRequest, VERSION, frame) == (4, USUAL)
