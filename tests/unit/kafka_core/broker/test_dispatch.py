"""From frame to answer: versions, login, faults, failures."""

from __future__ import annotations

import struct

import pytest

from kafka_core.broker.codes import Code
from kafka_core.broker.coverage import SKIPPED, api_coverage
from kafka_core.broker.dispatch import receive
from kafka_core.broker.faults import Action, Delay, Disconnect, Drop, Rule
from kafka_core.broker.handlers import APIS
from kafka_core.broker.handlers.api import Special
from kafka_core.broker.partitions.appending import append_records
from kafka_core.broker.partitions.reading import first_at_time, first_of_max_timestamp, messages
from kafka_core.broker.security.sasl import SaslSettings
from kafka_core.errors import KafkaError
from kafka_core.protocol import ApiKey, ApiMessage, decode_response, encode_request
from kafka_core.protocol.messages.api_versions import ApiVersionsRequest
from kafka_core.protocol.messages.heartbeat import HeartbeatRequest, HeartbeatResponse
from kafka_core.protocol.messages.init_producer_id import InitProducerIdRequest
from kafka_core.protocol.messages.metadata import MetadataRequest
from tests.unit.kafka_core.broker.harness import START_MS, Bench, batch

ASK = InitProducerIdRequest(None, 1000)
WITH_TELEMETRY = {"metric.reporters": "any"}  # else two APIs are not served


def hangs_up(bench: Bench, frame: bytes) -> bool:
    return receive(bench.cluster, bench.connect(), bytearray(frame)).value is Special.HANG_UP


def intercept(bench: Bench, action: Action) -> None:
    bench.cluster.faults.add(Rule(ApiKey.INIT_PRODUCER_ID, lambda request, context: action, 1))


@pytest.mark.parametrize("frame", [b"", b"\0", b"\x7f\xff\0\0\0\0\0\1", b"\0\3\0\1\0\0\0\1\0\1"])
def test_bytes_that_are_no_request_end_the_connection(frame: bytes) -> None:
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
    bench = Bench(properties=WITH_TELEMETRY)
    api = APIS[api_key]
    bench.cluster.faults.add(Rule(api_key, lambda request, context: 29))
    for version in range(api.versions[0], api.versions[1] + 1):
        assert isinstance(bench.send(api.request(), version).answer(), api.request.RESPONSE)
    assert bench.cluster.failures == []


# ---- codes


def test_every_code_is_known_to_the_client_and_used_once() -> None:
    assert len({int(code) for code in Code}) == len(Code)
    known = {
        value for name in dir(KafkaError) if name.isupper() and isinstance(value := getattr(KafkaError, name), int)
    }
    assert {int(code) for code in Code if code > 0} <= known | {int(Code.FETCH_SESSION_TOPIC_ID_ERROR)}


def test_codes_that_share_their_name_with_the_client_share_their_number() -> None:
    shared = [code for code in Code if isinstance(getattr(KafkaError, code.name, None), int)]
    assert len(shared) > 30
    assert all(getattr(KafkaError, code.name) == code for code in shared)


# ---- coverage


def test_every_api_is_listed_with_the_versions_its_handler_serves() -> None:
    rows = {row.api_key: row for row in api_coverage()}
    assert set(rows) == set(ApiKey)
    assert {key for key, row in rows.items() if row.versions is not None} == set(APIS)
    assert rows[ApiKey.PRODUCE].versions == (3, 13)
    assert rows[ApiKey.INIT_PRODUCER_ID].versions == (0, 5)  # the newest one is unstable
    assert rows[ApiKey.STREAMS_GROUP_HEARTBEAT].versions is None


def test_every_gap_says_what_happens_instead() -> None:
    assert all(len(text) > 20 for text in SKIPPED.values())


# ---- reading


def bench_with(*batches: list[int]) -> Bench:
    """A topic with one batch per list of timestamps (ms after the start)."""
    bench = Bench()
    bench.topic()
    for times in batches:
        data = batch([b"%d" % ms for ms in times], timestamps_ms=[START_MS + ms for ms in times])
        append_records(bench.partition(), memoryview(bytearray(data)), -1, 12, START_MS)
    return bench


def test_messages_from_an_offset_on() -> None:
    bench = bench_with([1, 2, 3], [4])
    assert [(m.offset(), m.value()) for m in messages(bench.partition(), 2)] == [(2, b"3"), (3, b"4")]
    bench.partition().log.delete_before(1)
    assert [m.offset() for m in messages(bench.partition())] == [1, 2, 3]


def test_the_first_record_of_a_time() -> None:
    bench = bench_with([0, 10, 20], [105, 104, 103])
    partition = bench.partition()
    assert first_at_time(partition, 0) == (0, START_MS)
    assert first_at_time(partition, START_MS + 11) == (2, START_MS + 20)
    assert first_at_time(partition, START_MS + 21) == (3, START_MS + 105)
    assert first_at_time(partition, START_MS + 106) is None
    assert first_of_max_timestamp(partition) == (3, START_MS + 105)


def test_records_before_the_start_are_not_found() -> None:
    bench = bench_with([50, 10], [40])
    bench.partition().log.delete_before(1)
    assert first_at_time(bench.partition(), START_MS + 30) == (2, START_MS + 40)


def test_an_empty_log_has_no_times() -> None:
    bench = bench_with()
    assert first_at_time(bench.partition(), 0) is None
    assert first_of_max_timestamp(bench.partition()) is None


# ---- p18 api versions


def ask(bench: Bench, version: int, name: str = "me", software: str = "1.0") -> dict[int, tuple[int, int]]:
    asked = ApiVersionsRequest(name, software) if version >= 3 else ApiVersionsRequest()
    response = bench.ask(asked, version)
    assert response.error_code == 0
    return {item.api_key: (item.min_version, item.max_version) for item in response.api_keys}


@pytest.mark.parametrize("version", range(5))
def test_exactly_what_is_handled_is_announced(version: int) -> None:
    announced = ask(Bench(properties=WITH_TELEMETRY), version)
    expected = {key: api.versions for key, api in APIS.items()}
    expected[ApiKey.PRODUCE] = (0, 13)  # as the real broker, for librdkafka's sake
    assert announced == expected


def test_caps_play_an_older_broker() -> None:
    announced = ask(Bench(max_versions={ApiKey.FETCH: 11, ApiKey.PRODUCE: 8, ApiKey.DESCRIBE_CLUSTER: None}), 4)
    assert announced[ApiKey.FETCH] == (4, 11)
    assert announced[ApiKey.PRODUCE] == (0, 8)
    assert ApiKey.DESCRIBE_CLUSTER not in announced
    assert announced[ApiKey.METADATA] == (0, 13)


def test_a_cap_below_the_oldest_version_hides_the_api() -> None:
    assert ApiKey.FETCH not in ask(Bench(max_versions={ApiKey.FETCH: 3}), 0)


def test_the_clients_software_is_remembered_and_checked() -> None:
    bench = Bench()
    connection = bench.connect()
    bench.ask(ApiVersionsRequest("my-client", "2.1.0"), 4, connection=connection)
    assert (connection.software_name, connection.software_version) == ("my-client", "2.1.0")
    for name, version in (("", "1"), ("a b", "1"), ("-a", "1"), ("a", "")):
        assert bench.ask(ApiVersionsRequest(name, version), 4).error_code == Code.INVALID_REQUEST
