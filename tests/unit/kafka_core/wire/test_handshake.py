"""kafka_core.wire.handshake: every turn the first words on a connection can take."""

from __future__ import annotations

import random
from collections.abc import Sequence

import pytest

from kafka_core.broker.security.sasl import SaslSettings, begin, scram_users
from kafka_core.config import Config, Role, parse
from kafka_core.errors import AuthError, BrokerError, KafkaError, ProtocolError, UnsupportedVersionError
from kafka_core.protocol import REQUESTS, ApiMessage, BrokerVersions, encode, negotiate
from kafka_core.protocol.messages.api_versions import ApiVersion, ApiVersionsRequest, ApiVersionsResponse
from kafka_core.protocol.messages.metadata import MetadataRequest
from kafka_core.protocol.messages.sasl_authenticate import SaslAuthenticateRequest, SaslAuthenticateResponse
from kafka_core.protocol.messages.sasl_handshake import SaslHandshakeRequest, SaslHandshakeResponse
from kafka_core.wire.handshake import (
    HandshakeResult,
    HandshakeStep,
    Negotiation,
    handshake,
    oldest_versions,
    reauthenticate,
)
from kafka_core.wire.sasl import Token

VERSIONS = ApiVersionsResponse(api_keys=[ApiVersion(key, *request.VALID_VERSIONS) for key, request in REQUESTS.items()])
ACCEPTED = SaslHandshakeResponse(mechanisms=["PLAIN"])
SASL = {
    "security.protocol": "sasl_plaintext",
    "sasl.mechanism": "PLAIN",
    "sasl.username": "ann",
    "sasl.password": "hush",
}


def config(**more: object) -> Config:
    return parse({"bootstrap.servers": "b", **{k.replace("_", "."): v for k, v in more.items()}}, Role.PRODUCER)


def sasl_config(mechanism: str = "PLAIN", **more: object) -> Config:
    return parse({"bootstrap.servers": "b", **SASL, "sasl.mechanism": mechanism, **more}, Role.PRODUCER)


def drive(negotiation: Negotiation, answers: Sequence[ApiMessage]) -> tuple[list[HandshakeStep], HandshakeResult]:
    """Plays the broker; every request must be one that can be encoded in the version it asks for."""
    steps = []
    step = next(negotiation)
    for answer in answers:
        steps.append(step)
        encode(step.request, step.version)
        try:
            step = negotiation.send(answer)
        except StopIteration as stop:
            return steps, stop.value
    raise AssertionError(f"the negotiation wants more: {step.request}")


def run(conf: Config, *answers: ApiMessage) -> tuple[list[HandshakeStep], HandshakeResult]:
    return drive(handshake(conf, random.Random(1)), answers)


# ---- versions


def test_plaintext_needs_one_question() -> None:
    steps, result = run(config(**{"api.version.request.timeout.ms": 1500}), VERSIONS)
    assert [(type(step.request), step.version, step.timeout_s) for step in steps] == [(ApiVersionsRequest, 4, 1.5)]
    request = steps[0].request
    assert isinstance(request, ApiVersionsRequest)
    assert request.client_software_name == "kserdes"
    assert request.client_software_version[0].isalnum()
    assert result.session_lifetime_s is None
    assert negotiate(MetadataRequest, result.versions) == MetadataRequest.VALID_VERSIONS[1]


@pytest.mark.parametrize(("named", "version"), [([], 0), ([ApiVersion(18, 0, 2)], 2), ([ApiVersion(18, 1, 9)], 3)])
def test_an_older_broker_is_asked_again_in_its_version(named: list[ApiVersion], version: int) -> None:
    refusal = ApiVersionsResponse(error_code=KafkaError.UNSUPPORTED_VERSION, api_keys=named)
    steps, _ = run(config(), refusal, VERSIONS)
    assert [step.version for step in steps] == [4, version]


def test_a_broker_that_is_too_new_is_named() -> None:
    refusal = ApiVersionsResponse(error_code=KafkaError.UNSUPPORTED_VERSION, api_keys=[ApiVersion(18, 7, 9)])
    with pytest.raises(UnsupportedVersionError, match="this client has 0 to 4, the broker 7 to 9"):
        run(config(), refusal)


def test_a_broker_that_refuses_twice() -> None:
    refusal = ApiVersionsResponse(error_code=KafkaError.UNSUPPORTED_VERSION)
    with pytest.raises(UnsupportedVersionError, match="refuses ApiVersions v0"):
        run(config(), refusal, refusal)


def test_other_errors_and_nonsense() -> None:
    with pytest.raises(BrokerError, match="ApiVersions failed: Broker: Cluster authorization failed"):
        run(config(), ApiVersionsResponse(error_code=KafkaError.CLUSTER_AUTHORIZATION_FAILED))
    with pytest.raises(ProtocolError, match="names no API"):
        run(config(), ApiVersionsResponse())
    with pytest.raises(ProtocolError, match="ApiVersionsResponse was expected, not SaslHandshakeResponse"):
        run(config(), ACCEPTED)


def test_not_asking_uses_the_oldest_versions() -> None:
    negotiation = handshake(config(**{"api.version.request": False}), random.Random(1))
    with pytest.raises(StopIteration) as stop:
        next(negotiation)
    versions = stop.value.value.versions
    assert negotiate(MetadataRequest, versions) == MetadataRequest.VALID_VERSIONS[0]
    assert negotiate(SaslHandshakeRequest, versions) == 1


# ---- authentication


def test_plain() -> None:
    steps, result = run(sasl_config(), VERSIONS, ACCEPTED, SaslAuthenticateResponse(session_lifetime_ms=90_000))
    assert [type(step.request) for step in steps] == [ApiVersionsRequest, SaslHandshakeRequest, SaslAuthenticateRequest]
    assert [step.version for step in steps[1:]] == [1, 2]
    assert steps[1].request == SaslHandshakeRequest(mechanism="PLAIN")
    assert steps[2].request == SaslAuthenticateRequest(auth_bytes=b"\0ann\0hush")
    assert result.session_lifetime_s == 90.0


def test_session_without_limit() -> None:
    _, result = run(sasl_config(), VERSIONS, ACCEPTED, SaslAuthenticateResponse())
    assert result.session_lifetime_s is None


@pytest.mark.parametrize("mechanism", ["SCRAM-SHA-256", "SCRAM-SHA-512"])
def test_scram_with_the_embedded_brokers_own_half(mechanism: str) -> None:
    users = SaslSettings(users={"ann": "hush"})
    server = begin(mechanism, users, scram_users(users, random.Random(3)), lambda: 0, random.Random(2))
    negotiation = handshake(sasl_config(mechanism), random.Random(1))
    next(negotiation)
    negotiation.send(VERSIONS)
    step = negotiation.send(ACCEPTED)
    with pytest.raises(StopIteration) as stop:
        for _ in range(3):
            assert isinstance(step.request, SaslAuthenticateRequest)
            answer = server.respond(step.request.auth_bytes)
            step = negotiation.send(SaslAuthenticateResponse(auth_bytes=answer, session_lifetime_ms=1000))
    assert server.done
    assert stop.value.value.session_lifetime_s == 1.0


def test_scram_is_not_over_before_the_broker_has_proved_itself() -> None:
    negotiation = handshake(sasl_config("SCRAM-SHA-256"), random.Random(1))
    next(negotiation)
    negotiation.send(VERSIONS)
    negotiation.send(ACCEPTED)
    with pytest.raises(AuthError, match="malformed"):
        negotiation.send(SaslAuthenticateResponse(auth_bytes=b""))


def test_refused_password_carries_the_brokers_words() -> None:
    refusal = SaslAuthenticateResponse(error_code=58, error_message="Invalid username or password")
    with pytest.raises(AuthError) as caught:
        run(sasl_config(), VERSIONS, ACCEPTED, refusal)
    assert str(caught.value) == "authentication failed for user ann with PLAIN: Invalid username or password"
    assert caught.value.code == KafkaError._AUTHENTICATION
    assert "hush" not in str(caught.value)


def test_refusal_without_words_names_the_code() -> None:
    refusal = SaslAuthenticateResponse(error_code=58, error_message=None)
    with pytest.raises(AuthError, match="with PLAIN: Broker: SASL Authentication failed"):
        run(sasl_config(), VERSIONS, ACCEPTED, refusal)


def test_mechanism_that_is_not_enabled_names_those_that_are() -> None:
    refusal = SaslHandshakeResponse(error_code=33, mechanisms=["SCRAM-SHA-512", "OAUTHBEARER"])
    with pytest.raises(AuthError, match="with PLAIN: the broker does not enable it; it enables: OAUTHBEARER, SCRAM"):
        run(sasl_config(), VERSIONS, refusal)


def test_port_without_sasl_is_named() -> None:
    with pytest.raises(AuthError, match="this port of the broker does not use SASL"):
        run(sasl_config(), VERSIONS, SaslHandshakeResponse(error_code=34))


def test_other_refusals_of_the_mechanism() -> None:
    with pytest.raises(AuthError, match="with PLAIN: Unknown broker error"):
        run(sasl_config(), VERSIONS, SaslHandshakeResponse(error_code=-1))


def test_broker_without_sasl_requests() -> None:
    old = ApiVersionsResponse(api_keys=[ApiVersion(17, 0, 0), ApiVersion(36, 0, 0)])
    with pytest.raises(UnsupportedVersionError, match="only SaslHandshake v0"):
        run(sasl_config(), old)
    none = ApiVersionsResponse(api_keys=[ApiVersion(3, 0, 1)])
    with pytest.raises(UnsupportedVersionError, match="SASL_HANDSHAKE"):
        run(sasl_config(), none)


def oauth_config() -> Config:
    return sasl_config("OAUTHBEARER", oauth_cb=print)


def test_oauthbearer() -> None:
    negotiation = handshake(oauth_config(), random.Random(1), proof=Token("abc", 1.0, "ann"))
    steps, result = drive(negotiation, [VERSIONS, ACCEPTED, SaslAuthenticateResponse(session_lifetime_ms=5000)])
    assert steps[2].request == SaslAuthenticateRequest(auth_bytes=b"n,,\x01auth=Bearer abc\x01\x01")
    assert result.session_lifetime_s == 5.0


def test_refused_token_is_acknowledged_first() -> None:
    negotiation = handshake(oauth_config(), random.Random(1), proof=Token("abc", 1.0, "ann"))
    next(negotiation)
    negotiation.send(VERSIONS)
    negotiation.send(ACCEPTED)
    step = negotiation.send(SaslAuthenticateResponse(auth_bytes=b'{"status":"invalid_token"}'))
    assert step.request == SaslAuthenticateRequest(auth_bytes=b"\x01")
    with pytest.raises(AuthError, match="user ann with OAUTHBEARER: token expired"):
        negotiation.send(SaslAuthenticateResponse(error_code=58, error_message="token expired"))


def test_authenticating_again() -> None:
    answers = [ACCEPTED, SaslAuthenticateResponse(session_lifetime_ms=7000)]
    steps, result = drive(reauthenticate(sasl_config(), random.Random(1)), answers)
    assert [(type(step.request), step.version) for step in steps] == [
        (SaslHandshakeRequest, 1),
        (SaslAuthenticateRequest, 1),
    ]
    assert result.session_lifetime_s == 7.0


def test_authenticating_again_keeps_to_known_versions() -> None:
    versions = BrokerVersions({**oldest_versions().ranges, 36: (0, 2)})
    answers = [ACCEPTED, SaslAuthenticateResponse()]
    steps, result = drive(reauthenticate(sasl_config(), random.Random(1), versions=versions), answers)
    assert [step.version for step in steps] == [1, 2]
    assert result == HandshakeResult(versions, None)
