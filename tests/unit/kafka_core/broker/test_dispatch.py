"""From frame to answer: versions, login, faults, failures."""

from __future__ import annotations

import struct

import pytest

from kafka_core.broker.dispatch import receive
from kafka_core.broker.faults import Action, Delay, Disconnect, Drop, Rule
from kafka_core.broker.handlers import APIS
from kafka_core.broker.handlers.api import Special
from kafka_core.broker.sasl import SaslSettings
from kafka_core.protocol import ApiKey, ApiMessage, decode_response, encode_request
from kafka_core.protocol.messages.api_versions import ApiVersionsRequest
from kafka_core.protocol.messages.heartbeat import HeartbeatRequest, HeartbeatResponse
from kafka_core.protocol.messages.init_producer_id import InitProducerIdRequest
from kafka_core.protocol.messages.metadata import MetadataRequest
from tests.unit.kafka_core.broker.harness import Bench

ASK = InitProducerIdRequest(None, 1000)


def hangs_up(bench: Bench, frame: bytes) -> bool:
    return receive(bench.cluster, bench.connect(), bytearray(frame)).value is Special.HANG_UP


def intercept(bench: Bench, action: Action) -> None:
    bench.cluster.faults.add(Rule(ApiKey.INIT_PRODUCER_ID, lambda request, context: action, 1))


@pytest.mark.parametrize("frame", [b"", b"\0", b"\x7f\xff\0\0\0\0\0\1", b"\0\3\0\1\0\0\0\1\0\1"])
def test_what_is_no_request_ends_the_connection(frame: bytes) -> None:
    bench = Bench()
    assert hangs_up(bench, frame)
    assert bench.cluster.failures == []


def test_a_version_that_is_not_served_ends_the_connection() -> None:
    bench = Bench(max_versions={ApiKey.METADATA: 5, ApiKey.HEARTBEAT: None})
    for request, version in ((MetadataRequest(), 6), (HeartbeatRequest(), 0)):
        assert bench.send(request, version).answer() is Special.HANG_UP
    assert bench.send(MetadataRequest(), 5).answer() is not Special.HANG_UP
    assert hangs_up(Bench(), struct.pack(">hhi", 0, 2, 1) + b"\0" * 8)  # announced for librdkafka's sake only


def test_a_newer_version_of_api_versions_is_answered_in_the_oldest() -> None:
    bench = Bench()
    frame = struct.pack(">hhi", ApiKey.API_VERSIONS, 99, 5) + b"\xff\xff\0"
    reply = receive(bench.cluster, bench.connect(), bytearray(frame)).value
    assert isinstance(reply, list)
    correlation_id, answer = decode_response(ApiVersionsRequest, 0, b"".join(reply)[4:])
    assert (correlation_id, answer.error_code) == (5, 35)
    assert ApiKey.API_VERSIONS in {item.api_key for item in answer.api_keys}


def test_bytes_behind_a_request_are_ignored_as_kafka_does() -> None:
    """librdkafka 2.16 sends three bytes too many in Metadata v13 for all topics."""
    bench = Bench()
    frame = b"".join(encode_request(MetadataRequest(topics=None), 13, 1, "c"))[4:] + b"\1\0\0"
    assert isinstance(receive(bench.cluster, bench.connect(), bytearray(frame)).value, list)


def test_before_login_only_the_login_is_served() -> None:
    bench = Bench(sasl=SaslSettings({"a": "b"}))
    assert bench.send(MetadataRequest()).answer() is Special.HANG_UP
    request = ApiVersionsRequest(client_software_name="x", client_software_version="1")
    assert bench.ask(request).error_code == 0


def test_a_dropped_request_is_not_answered() -> None:
    bench = Bench()
    intercept(bench, Drop())
    assert bench.send(ASK).answer() is Special.NO_ANSWER
    assert bench.ask(ASK).producer_id == 0


@pytest.mark.parametrize(
    ("action", "left"),
    [(Drop(handled=True), Special.NO_ANSWER), (Disconnect(handled=True), Special.HANG_UP)],
)
def test_a_request_may_take_effect_and_its_answer_be_lost(action: Action, left: Special) -> None:
    bench = Bench()
    intercept(bench, action)
    assert bench.send(ASK).answer() is left
    assert bench.ask(ASK).producer_id == 1


def test_a_connection_is_cut_before_the_request_takes_effect() -> None:
    bench = Bench()
    intercept(bench, Disconnect())
    assert bench.send(ASK).answer() is Special.HANG_UP
    assert bench.ask(ASK).producer_id == 0


def test_requests_and_answers_are_held_back() -> None:
    bench = Bench()
    intercept(bench, Delay(2.0))
    late = bench.send(ASK)
    assert bench.ask(ASK).producer_id == 0
    bench.advance(2.0)
    assert late.answer().producer_id == 1
    intercept(bench, Delay(2.0, handled=True))
    late = bench.send(ASK)
    assert bench.ask(ASK).producer_id == 3
    assert not late.done
    bench.advance(2.0)
    assert late.answer().producer_id == 2


def test_an_interceptor_answers_itself_or_names_an_error() -> None:
    bench = Bench()
    bench.cluster.faults.add(Rule(ApiKey.HEARTBEAT, lambda request, context: HeartbeatResponse(0, 16), 1))
    assert bench.ask(HeartbeatRequest()).error_code == 16
    intercept(bench, 14)
    assert bench.ask(ASK).error_code == 14


def test_an_interceptor_that_raises_is_remembered_and_cuts_the_connection() -> None:
    bench = Bench()

    def broken(request: ApiMessage, context: object) -> Action:
        raise LookupError("my mistake")

    bench.cluster.faults.add(Rule(ApiKey.HEARTBEAT, broken))
    assert bench.send(HeartbeatRequest()).answer() is Special.HANG_UP
    assert [str(error) for error in bench.cluster.failures] == ["my mistake"]


def test_an_answer_that_does_not_fit_the_version_is_remembered() -> None:
    bench = Bench()
    answer = MetadataRequest.RESPONSE(cluster_authorized_operations=3)  # type: ignore[call-arg]  # a MetadataResponse
    bench.cluster.faults.add(Rule(ApiKey.METADATA, lambda request, context: answer))
    assert bench.send(MetadataRequest(), 5).answer() is Special.HANG_UP
    assert len(bench.cluster.failures) == 1


@pytest.mark.parametrize("api_key", sorted(APIS))
def test_every_api_can_be_failed_in_every_version(api_key: int) -> None:
    """An empty request is enough to see that the error answer can be encoded."""
    bench = Bench()
    api = APIS[api_key]
    bench.cluster.faults.add(Rule(api_key, lambda request, context: 29))
    for version in range(api.versions[0], api.versions[1] + 1):
        assert isinstance(bench.send(api.request(), version).answer(), api.request.RESPONSE)
    assert bench.cluster.failures == []
