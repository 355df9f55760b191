"""SaslHandshake and SaslAuthenticate through the dispatcher: login, failure, renewal, bare tokens."""

from __future__ import annotations

import base64
import json

import pytest

from kafka_core.broker.codes import Code
from kafka_core.broker.context import Connection
from kafka_core.broker.dispatch import receive
from kafka_core.broker.handlers.api import Special
from kafka_core.broker.security.sasl import SaslSettings
from kafka_core.protocol.messages.metadata import MetadataRequest
from kafka_core.protocol.messages.sasl_authenticate import SaslAuthenticateRequest, SaslAuthenticateResponse
from kafka_core.protocol.messages.sasl_handshake import SaslHandshakeRequest
from tests.unit.kafka_core.broker.harness import START_MS, Bench

GOOD, BAD = b"\0alice\0secret", b"\0alice\0wrong"


def secured(lifetime_ms: int = 0) -> tuple[Bench, Connection]:
    bench = Bench(sasl=SaslSettings({"alice": "secret"}, session_lifetime_ms=lifetime_ms))
    return bench, bench.connect()


def log_in(
    bench: Bench, connection: Connection, token: bytes = GOOD, mechanism: str = "PLAIN", version: int = 2
) -> SaslAuthenticateResponse:
    assert bench.ask(SaslHandshakeRequest(mechanism), 1, connection=connection).error_code == 0
    return bench.ask(SaslAuthenticateRequest(token), version, connection=connection)


def works(bench: Bench, connection: Connection) -> bool:
    return bench.send(MetadataRequest(topics=[]), connection=connection).answer() is not Special.HANG_UP


@pytest.mark.parametrize("version", range(3))
def test_after_login_everything_is_served(version: int) -> None:
    bench, connection = secured()
    assert not works(bench, connection)
    answer = log_in(bench, connection, version=version)
    assert (answer.error_code, answer.session_lifetime_ms) == (0, 0)
    assert works(bench, connection)
    assert connection.principal == "alice"


def test_a_wrong_password_is_told_and_ends_the_connection() -> None:
    bench, connection = secured()
    answer = log_in(bench, connection, BAD)
    assert answer.error_code == Code.SASL_AUTHENTICATION_FAILED
    assert answer.error_message == "Authentication failed: Invalid username or password"
    assert connection.close_after_reply
    assert not works(bench, connection)


def test_a_mechanism_that_is_not_offered_is_refused_with_those_that_are() -> None:
    bench, connection = secured()
    answer = bench.ask(SaslHandshakeRequest("GSSAPI"), 1, connection=connection)
    assert answer.error_code == Code.UNSUPPORTED_SASL_MECHANISM
    assert answer.mechanisms == ["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512", "OAUTHBEARER"]
    assert connection.close_after_reply


def test_without_sasl_there_is_no_handshake() -> None:
    bench = Bench()
    assert bench.ask(SaslHandshakeRequest("PLAIN"), 1).error_code == Code.ILLEGAL_SASL_STATE
    assert bench.ask(SaslAuthenticateRequest(GOOD)).error_code == Code.ILLEGAL_SASL_STATE


def test_a_session_ends_unless_it_is_renewed() -> None:
    bench, connection = secured(lifetime_ms=5000)
    assert log_in(bench, connection).session_lifetime_ms == 5000
    bench.advance(4)
    assert log_in(bench, connection).session_lifetime_ms == 5000
    bench.advance(4.9)
    assert works(bench, connection)
    bench.advance(0.1)
    assert not works(bench, connection)


def test_a_session_is_not_renewed_by_another_mechanism() -> None:
    bench, connection = secured(lifetime_ms=5000)
    log_in(bench, connection)
    answer = bench.ask(SaslHandshakeRequest("SCRAM-SHA-256"), 1, connection=connection)
    assert answer.error_code == Code.UNSUPPORTED_SASL_MECHANISM


def token(lifetime_s: float) -> bytes:
    claims = {"sub": "alice", "exp": START_MS / 1000 + lifetime_s}
    parts = [base64.urlsafe_b64encode(json.dumps(part).encode()).decode() for part in ({"alg": "none"}, claims)]
    return b"n,,\x01auth=Bearer " + ".".join([*parts, ""]).encode() + b"\x01\x01"


@pytest.mark.parametrize(("bound_ms", "lifetime_ms"), [(0, 60_000), (5_000, 5_000), (90_000, 60_000)])
def test_a_session_ends_with_its_token(bound_ms: int, lifetime_ms: int) -> None:
    bench, connection = secured(bound_ms)
    assert log_in(bench, connection, token(60), "OAUTHBEARER").session_lifetime_ms == lifetime_ms
    bench.advance(lifetime_ms / 1000)
    assert not works(bench, connection)


def test_a_refused_token_gets_a_last_challenge_then_an_error() -> None:
    bench, connection = secured()
    answer = log_in(bench, connection, token(-1), "OAUTHBEARER")
    assert (answer.error_code, json.loads(answer.auth_bytes)) == (0, {"status": "invalid_token"})
    answer = bench.ask(SaslAuthenticateRequest(b"\x01"), connection=connection)
    assert answer.error_code == Code.SASL_AUTHENTICATION_FAILED


def bare(bench: Bench, connection: Connection, frame: bytes) -> object:
    return receive(bench.cluster, connection, bytearray(frame)).value


def test_old_clients_send_bare_tokens() -> None:
    bench, connection = secured()
    bench.ask(SaslHandshakeRequest("PLAIN"), 0, connection=connection)
    assert bare(bench, connection, GOOD) == [b"\0\0\0\0", b""]
    assert works(bench, connection)


def test_a_bare_token_that_is_wrong_ends_the_connection() -> None:
    bench, connection = secured()
    bench.ask(SaslHandshakeRequest("PLAIN"), 0, connection=connection)
    assert bare(bench, connection, BAD) is Special.HANG_UP
    bench, connection = secured()
    bench.ask(SaslHandshakeRequest("OAUTHBEARER"), 0, connection=connection)
    answer = bare(bench, connection, token(-1))
    assert isinstance(answer, list)
    assert b"invalid_token" in answer[1]
    assert bare(bench, connection, b"\x01") is Special.HANG_UP
