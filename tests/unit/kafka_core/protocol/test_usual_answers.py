"""kafka_core.protocol.usual_writes and usual_fetches: they read what the compiled decoders read, and leave all other
forms to them.
"""

from __future__ import annotations

from dataclasses import replace
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_core.protocol import ZERO_UUID, decode, encode_bytes
from kafka_core.protocol.frames import USUAL_FORMS, decode_response, encode_response
from kafka_core.protocol.messages.fetch import (
    AbortedTransaction,
    FetchableTopicResponse,
    FetchRequest,
    FetchResponse,
    PartitionData,
)
from kafka_core.protocol.messages.fetch import LeaderIdAndEpoch as FetchLeader
from kafka_core.protocol.messages.produce import (
    BatchIndexAndErrorMessage,
    LeaderIdAndEpoch,
    NodeEndpoint,
    PartitionProduceResponse,
    ProduceRequest,
    ProduceResponse,
    TopicProduceResponse,
)
from kafka_core.protocol.usual_fetches import one_fetched, use_for_reading
from kafka_core.protocol.usual_writes import one_written, use_for_writing, written_at, written_start

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
    use_for_writing()
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


def received(message: ProduceResponse, correlation_id: int) -> tuple[bytearray, int]:
    """A buffer with old bytes in it, into which the frame came."""
    frame = b"".join(map(bytes, encode_response(message, VERSION, correlation_id)))
    return bytearray(frame + b"\1" * 100), len(frame)


@given(st.uuids(), INT32, INT64, INT64, INT64, st.integers(0, 2**31 - 1))
def test_where_a_record_was_written_is_seen_in_the_bytes(
    topic_id: UUID, index: int, base: int, appended_ms: int, start: int, correlation_id: int
) -> None:
    row = PartitionProduceResponse(index, 0, base, appended_ms, start)
    buffer, size_bytes = received(ProduceResponse([TopicProduceResponse("", topic_id, [row])], 0), correlation_id)
    begins = written_start(correlation_id.to_bytes(4, "big"), topic_id, index)
    assert written_at(buffer, size_bytes, begins) == (base, appended_ms)
    assert written_at(buffer, size_bytes - 1, begins) is None
    assert written_at(buffer, size_bytes + 1, begins) is None
    for other in (
        written_start((correlation_id ^ 1).to_bytes(4, "big"), topic_id, index),
        written_start(correlation_id.to_bytes(4, "big"), UUID(int=topic_id.int ^ 1), index),
        written_start(correlation_id.to_bytes(4, "big"), topic_id, index ^ 1),
    ):
        assert written_at(buffer, size_bytes, other) is None


BEGINS = written_start((4).to_bytes(4, "big"), UUID(int=9), 3)


@pytest.mark.parametrize("at", range(received(USUAL, 4)[1]))
def test_a_byte_that_is_another_is_a_number_or_makes_it_another_answer(at: int) -> None:
    for value in (0, 1, 2, 3, 255):
        buffer, size_bytes = received(USUAL, 4)
        buffer[at] = value
        found = written_at(buffer, size_bytes, BEGINS)
        if found is not None:
            _, message = decode_response(ProduceRequest, VERSION, bytes(buffer[4:size_bytes]))
            (row,) = message.responses[0].partition_responses
            assert found == (row.base_offset, row.log_append_time_ms)
            assert message == replace(USUAL, responses=[replace(TOPIC, partition_responses=[row])])
            assert (row.error_code, row.index, buffer[4:8]) == (0, 3, (4).to_bytes(4, "big"))


def test_two_answers_at_once_are_not_taken_for_one() -> None:
    """The second answer would be passed over with the first."""
    buffer, size_bytes = received(USUAL, 4)
    frame = buffer[:size_bytes]
    assert written_at(frame + frame, 2 * size_bytes, BEGINS) is None


def test_an_answer_that_throttles_is_left_to_the_decoder() -> None:
    buffer, size_bytes = received(replace(USUAL, throttle_time_ms=1), 4)
    assert written_at(buffer, size_bytes, BEGINS) is None


def fetched(message: FetchResponse, version: int = 18) -> memoryview:
    return memoryview(b"head." + encode_bytes(message, version))


@given(
    st.uuids() | st.just(ZERO_UUID),
    INT32,
    st.lists(INT64, min_size=3, max_size=3),
    st.none() | st.just([]),
    st.none() | st.integers(0, 300) | st.sampled_from([126, 127, 128, 16_383, 16_384, 3_000_000]),
    INT32,
    st.integers(13, 18),
)
def test_what_one_partition_holds_is_read_as_the_decoder_reads_it(
    topic_id: UUID,
    number: int,
    offsets: list[int],
    aborted: list[AbortedTransaction] | None,
    size_bytes: int | None,
    throttle_ms: int,
    version: int,
) -> None:
    row = PartitionData(number, 0, *offsets)
    row.aborted_transactions, row.preferred_read_replica = aborted, number
    row.records = None if size_bytes is None else bytes(size_bytes)
    view = fetched(FetchResponse(throttle_ms, 0, number, [FetchableTopicResponse("", topic_id, [row])]), version)
    found = one_fetched(view, 5)
    assert found is not None
    assert found == decode(FetchResponse, version, view[5:])
    assert isinstance(found.responses[0].partitions[0].records, memoryview) == (size_bytes is not None)


FETCHED = PartitionData(3, 0, 9, 9, 1, aborted_transactions=None, records=b"records")
OF_TOPIC = FetchableTopicResponse("", UUID(int=9), [FETCHED])


@pytest.mark.parametrize(
    "other",
    [
        FetchResponse(0, 0, 7, []),
        FetchResponse(0, 70, 0, [OF_TOPIC]),
        FetchResponse(0, 0, 7, [OF_TOPIC, OF_TOPIC]),
        FetchResponse(0, 0, 7, [replace(OF_TOPIC, partitions=[FETCHED, FETCHED])]),
        FetchResponse(0, 0, 7, [replace(OF_TOPIC, partitions=[replace(FETCHED, error_code=6)])]),
        FetchResponse(0, 0, 7, [replace(OF_TOPIC, partitions=[replace(FETCHED, current_leader=FetchLeader(1, 2))])]),
        FetchResponse(
            0, 0, 7, [replace(OF_TOPIC, partitions=[replace(FETCHED, aborted_transactions=[AbortedTransaction(1, 2)])])]
        ),
        FetchResponse(0, 0, 7, [OF_TOPIC], unknown_tagged=[(7, b"x")]),
    ],
)
def test_any_other_answer_to_a_fetch_is_left_to_the_decoder(other: FetchResponse) -> None:
    use_for_reading()
    assert one_fetched(fetched(other), 5) is None
    frame = b"".join(map(bytes, encode_response(other, 18, 4)))[4:]
    assert decode_response(FetchRequest, 18, frame) == (4, other)


@pytest.mark.parametrize("at", range(len(encode_bytes(FetchResponse(0, 0, 7, [OF_TOPIC]), 18))))
def test_a_byte_of_a_fetch_that_is_another_is_read_as_the_decoder_reads_it_or_left_to_it(at: int) -> None:
    for value in (0, 1, 2, 3, 7, 8, 9, 128, 135, 136, 255):
        data = bytearray(fetched(FetchResponse(0, 0, 7, [OF_TOPIC])))
        data[5 + at] = value
        found = one_fetched(memoryview(data), 5)
        assert found is None or found == decode(FetchResponse, 18, memoryview(data)[5:])


def test_clients_have_them_used() -> None:
    use_for_writing()
    use_for_reading()
    assert {(ProduceResponse, VERSION): one_written}.items() <= USUAL_FORMS.items()
    assert {(FetchResponse, version): one_fetched for version in range(13, 19)}.items() <= USUAL_FORMS.items()
    frame = b"".join(map(bytes, encode_response(USUAL, VERSION, 4)))[4:]
    assert decode_response(ProduceRequest, VERSION, frame) == (4, USUAL)
