"""kafka_core.wire.correlation: correlation, order, deadlines and the table of phases."""

import itertools

import pytest

from kafka_core.errors import ProtocolError, StateError, UnsupportedVersionError
from kafka_core.protocol import decode_request, encode_response
from kafka_core.protocol.messages.api_versions import ApiVersionsRequest, ApiVersionsResponse
from kafka_core.protocol.messages.heartbeat import HeartbeatRequest, HeartbeatResponse
from kafka_core.protocol.messages.metadata import MetadataRequest, MetadataResponse
from kafka_core.protocol.messages.produce import ProduceRequest
from kafka_core.wire.correlation import ALLOWED_MOVES, ConnectionPhase, ConnectionState, expects_response


def ready(client_id: str | None = "me") -> ConnectionState[str]:
    state: ConnectionState[str] = ConnectionState(client_id)
    state.move(ConnectionPhase.HANDSHAKING)
    state.move(ConnectionPhase.READY)
    return state


def send(state: ConnectionState[str], token: str, now_s: float = 0.0, timeout_s: float = 10.0) -> bytes:
    buffers = state.encode(MetadataRequest(), 12, token, now_s=now_s, timeout_s=timeout_s)
    return b"".join(map(bytes, buffers))


def answer(correlation_id: int, throttle_ms: int = 0) -> bytearray:
    parts = encode_response(MetadataResponse(throttle_time_ms=throttle_ms), 12, correlation_id)
    return bytearray(b"".join(map(bytes, parts))[4:])


class TestPhases:
    @pytest.mark.parametrize(("start", "end"), list(itertools.product(ConnectionPhase, ConnectionPhase)))
    def test_only_the_moves_of_the_table(self, start: ConnectionPhase, end: ConnectionPhase):
        state: ConnectionState[str] = ConnectionState(None)
        state.phase = start
        if end in ALLOWED_MOVES[start]:
            state.move(end)
            assert state.phase is end
        else:
            with pytest.raises(StateError, match=f"from {start.value} to {end.value}"):
                state.move(end)

    @pytest.mark.parametrize("phase", ConnectionPhase)
    @pytest.mark.parametrize("handshake", [True, False])
    def test_the_phase_decides_who_may_send(self, phase: ConnectionPhase, handshake: bool):
        allowed = {
            ConnectionPhase.HANDSHAKING: True,
            ConnectionPhase.READY: False,
            ConnectionPhase.REAUTHENTICATING: True,
        }
        state: ConnectionState[str] = ConnectionState(None)
        state.phase = phase
        if allowed.get(phase) is handshake:
            state.encode(MetadataRequest(), 12, "t", now_s=0, timeout_s=1, handshake=handshake)
            assert state.in_flight == 1
        else:
            with pytest.raises(StateError, match=f"while the connection is {phase.value}"):
                state.encode(MetadataRequest(), 12, "t", now_s=0, timeout_s=1, handshake=handshake)
            assert state.in_flight == 0


class TestRequests:
    def test_carry_client_id_and_growing_correlation_ids(self):
        state = ready("service-7")
        headers = [decode_request(send(state, token)[4:])[0] for token in "abc"]
        assert [header.correlation_id for header in headers] == [0, 1, 2]
        assert {header.client_id for header in headers} == {"service-7"}

    def test_correlation_ids_wrap_before_they_turn_negative(self):
        state = ready()
        state._next_correlation_id = 2**31 - 1
        headers = [decode_request(send(state, token)[4:])[0] for token in "ab"]
        assert [header.correlation_id for header in headers] == [2**31 - 1, 0]

    def test_one_that_was_sent_and_answered_elsewhere_has_taken_its_id(self):
        state = ready()
        for _ in range(2):
            state.passed()
        assert state.in_flight == 0
        assert decode_request(send(state, "next")[4:])[0].correlation_id == 2

    def test_one_that_cannot_be_encoded_changes_nothing(self):
        state = ready()
        with pytest.raises(UnsupportedVersionError):
            state.encode(MetadataRequest(), 99, "t", now_s=0, timeout_s=1)
        assert state.in_flight == 0
        assert decode_request(send(state, "next")[4:])[0].correlation_id == 0

    @pytest.mark.parametrize(("acks", "expected"), [(0, False), (1, True), (-1, True)])
    def test_produce_without_acks_is_never_in_flight(self, acks: int, expected: bool):
        request = ProduceRequest(acks=acks, timeout_ms=1)
        assert expects_response(request) is expected
        state = ready()
        state.encode(request, 9, "t", now_s=0, timeout_s=1)
        assert state.in_flight == int(expected)


class TestResponses:
    def test_are_matched_in_order(self):
        state = ready()
        for token in "ab":
            send(state, token)
        assert state.receive(answer(0), now_s=1).request.token == "a"
        assert state.receive(answer(1), now_s=1).request.token == "b"
        assert state.in_flight == 0

    def test_another_correlation_id_is_an_error_and_keeps_everything_in_flight(self):
        state = ready()
        for token in "ab":
            send(state, token)
        with pytest.raises(ProtocolError, match="has correlation id 1, but the oldest request has 0"):
            state.receive(answer(1), now_s=1)
        assert [lost.token for lost in state.abandon()] == ["a", "b"]

    def test_an_answer_without_a_request_is_an_error(self):
        with pytest.raises(ProtocolError, match="no request waits"):
            ready().receive(answer(0), now_s=1)

    def test_one_too_short_for_a_header(self):
        state = ready()
        send(state, "a")
        with pytest.raises(ProtocolError, match="3 bytes is too short"):
            state.receive(bytearray(3), now_s=1)

    def test_a_truncated_one_keeps_its_request(self):
        state = ready()
        send(state, "a")
        with pytest.raises(ProtocolError):
            state.receive(answer(0)[:-2], now_s=1)
        assert [lost.token for lost in state.abandon()] == ["a"]

    def test_api_versions_may_be_refused_in_version_0(self):
        state: ConnectionState[str] = ConnectionState(None)
        state.move(ConnectionPhase.HANDSHAKING)
        state.encode(ApiVersionsRequest("x", "1"), 4, "t", now_s=0, timeout_s=1, handshake=True)
        refusal = encode_response(ApiVersionsResponse(error_code=35), 0, 0)
        reply = state.receive(bytearray(b"".join(map(bytes, refusal))[4:]), now_s=1)
        assert isinstance(reply.message, ApiVersionsResponse)
        assert reply.message.error_code == 35

    def test_only_api_versions_has_that_exception(self):
        # Heartbeat v0: the error code 35 stands at the same place and means what it says
        state = ready()
        state.encode(HeartbeatRequest(group_id="g", member_id="m"), 0, "t", now_s=0, timeout_s=1)
        parts = encode_response(HeartbeatResponse(error_code=35), 0, 0)
        reply = state.receive(bytearray(b"".join(map(bytes, parts))[4:]), now_s=1)
        assert isinstance(reply.message, HeartbeatResponse)

    def test_throttling_lasts_until_the_latest_of_its_ends(self):
        state = ready()
        for token in "abc":
            send(state, token)
        assert state.receive(answer(0, throttle_ms=2000), now_s=10).throttle_s == 2.0
        state.receive(answer(1, throttle_ms=500), now_s=10)
        assert state.throttled_until_s == 12.0
        assert state.receive(answer(2), now_s=10).throttle_s == 0.0


class TestDeadlines:
    def test_the_next_one_is_the_earliest_not_the_oldest(self):
        state = ready()
        assert state.next_deadline_s() is None
        send(state, "slow", now_s=0, timeout_s=60)
        send(state, "quick", now_s=1, timeout_s=5)
        assert state.next_deadline_s() == 6.0

    def test_expired_names_the_request(self):
        state = ready()
        send(state, "slow", now_s=0, timeout_s=60)
        send(state, "quick", now_s=1, timeout_s=5)
        assert state.expired(5.9) is None
        late = state.expired(6.0)
        assert late is not None
        assert (late.token, late.api, late.name) == ("quick", "METADATA (3) v12", "Metadata")

    def test_abandon_hands_back_once(self):
        state = ready()
        for token in "ab":
            send(state, token)
        assert [lost.token for lost in state.abandon()] == ["a", "b"]
        assert state.phase is ConnectionPhase.CLOSED
        assert state.abandon() == []
