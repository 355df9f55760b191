"""The first words on a connection: which versions the broker speaks, then who we are.

A negotiation is a generator: it yields requests with the version to send them in, is sent their responses, returns what
was agreed. Must not know of sockets or time. Spec: KIP-35, KIP-511 (ApiVersions), KIP-43, KIP-152 (SASL), KIP-368
(re-authentication).
"""

from __future__ import annotations

import random
from collections.abc import Generator
from dataclasses import dataclass
from typing import Any, Final, TypeVar

from kafka_core.config import Config
from kafka_core.errors import AuthError, BrokerError, KafkaError, ProtocolError, UnsupportedVersionError
from kafka_core.protocol import REQUESTS, ApiMessage, ApiRequest, BrokerVersions, negotiate
from kafka_core.protocol.messages.api_versions import ApiVersionsRequest, ApiVersionsResponse
from kafka_core.protocol.messages.sasl_authenticate import SaslAuthenticateRequest, SaslAuthenticateResponse
from kafka_core.protocol.messages.sasl_handshake import SaslHandshakeRequest, SaslHandshakeResponse
from kafka_core.wire import sasl
from kserdes_base.version import VERSION

SOFTWARE_NAME: Final = "kserdes"
# The oldest SaslAuthenticate that can announce a session's lifetime; whoever announced one knows it.
REAUTHENTICATE_WITH: Final = BrokerVersions(
    {SaslHandshakeRequest.API_KEY: (1, 1), SaslAuthenticateRequest.API_KEY: (1, 1)}
)


@dataclass(frozen=True, slots=True)
class HandshakeStep:
    """A request to send now, alone, before anything else.

    Attributes:
        request: the message.
        version: the version to send it in.
        timeout_s: how long to wait for its response; None for the ordinary request time-out.
    """

    request: ApiRequest[Any]
    version: int
    timeout_s: float | None = None


@dataclass(frozen=True, slots=True)
class HandshakeResult:
    """The outcome of a handshake.

    Attributes:
        versions: the broker's.
        session_lifetime_s: seconds after which the broker closes the connection unless we authenticate again; None
            for no limit (or no SASL).
    """

    versions: BrokerVersions
    session_lifetime_s: float | None = None


MessageT = TypeVar("MessageT", bound=ApiMessage)
Negotiation = Generator[HandshakeStep, ApiMessage, HandshakeResult]
"""Yields requests to send, is sent their answers, and returns the result."""


def handshake(config: Config, rng: random.Random, *, proof: sasl.Proof | None = None) -> Negotiation:
    """All that comes before the first ordinary request.

    Args:
        config: `security.protocol`, `sasl.*`, `api.version.request*`.
        rng: for SCRAM's nonce.
        proof: for OAUTHBEARER and GSSAPI.

    Raises:
        AuthError: the broker refuses us, does not enable our mechanism, or could not prove itself.
        UnsupportedVersionError: the broker is too old or too new to talk to.
        ProtocolError, BrokerError, ConfigError: answers that make no sense; errors of another kind; see `sasl.create`.
    """
    versions = (yield from ask_versions(config)) if config.flag("api.version.request") else oldest_versions()
    if not config.text("security.protocol").startswith("sasl_"):
        return HandshakeResult(versions)
    lifetime_s = yield from authenticate(versions, sasl.create(config, proof, rng))
    return HandshakeResult(versions, lifetime_s)


def reauthenticate(
    config: Config, rng: random.Random, *, proof: sasl.Proof | None = None, versions: BrokerVersions | None = None
) -> Negotiation:
    """Authentication once more on a connection in use (KIP-368).

    Nothing else may be sent between its requests; responses to earlier ones may still come in. Arguments and errors
    are those of `handshake`. `versions` is what the first handshake found; it is the result's too.
    """
    known = versions or REAUTHENTICATE_WITH
    return HandshakeResult(known, (yield from authenticate(known, sasl.create(config, proof, rng))))


# ---- versions


def ask_versions(config: Config) -> Generator[HandshakeStep, ApiMessage, BrokerVersions]:
    """ApiVersions in our newest version, and once more in one the broker knows if it does not know that one."""
    version = ApiVersionsRequest.VALID_VERSIONS[1]
    timeout_s = config.seconds("api.version.request.timeout.ms")
    request = ApiVersionsRequest(client_software_name=SOFTWARE_NAME, client_software_version=VERSION)
    response = expect(ApiVersionsResponse, (yield HandshakeStep(request, version, timeout_s)))
    if response.error_code == KafkaError.UNSUPPORTED_VERSION:
        version = fall_back(response, version)
        response = expect(ApiVersionsResponse, (yield HandshakeStep(request, version, timeout_s)))
    if response.error_code == KafkaError.UNSUPPORTED_VERSION:
        raise UnsupportedVersionError(f"the broker refuses ApiVersions v{version}, which it said it knows")
    if response.error_code:
        raise broker_error(response.error_code, "ApiVersions failed")
    if not response.api_keys:
        raise ProtocolError("the broker's ApiVersions response names no API; is it a Kafka broker?")
    return BrokerVersions.from_response(response)


def fall_back(response: ApiVersionsResponse, refused: int) -> int:
    """The version to try after a refusal: the newest common one if the broker names its range (KIP-511), else 0."""
    ranges = {item.api_key: (item.min_version, item.max_version) for item in response.api_keys}
    first, last = ranges.get(ApiVersionsRequest.API_KEY, (0, 0))
    version = min(last, refused - 1)
    if version < max(first, 0):
        raise UnsupportedVersionError(
            f"no common version of ApiVersions: this client has 0 to {refused}, the broker {first} to {last}"
        )
    return version


def oldest_versions() -> BrokerVersions:
    """The versions of every broker that we can talk to (2.1 to 4.x): the oldest of each API that we know."""
    ranges = {key: (request.VALID_VERSIONS[0],) * 2 for key, request in REQUESTS.items()}
    return BrokerVersions({**ranges, SaslHandshakeRequest.API_KEY: (1, 1)})  # v0 is for bare SASL messages


# ---- authentication


def authenticate(
    versions: BrokerVersions, mechanism: sasl.Mechanism
) -> Generator[HandshakeStep, ApiMessage, float | None]:
    """SaslHandshake, then the mechanism's messages in SaslAuthenticate requests; returns the session's seconds."""
    yield from choose_mechanism(versions, mechanism)
    version = negotiate(SaslAuthenticateRequest, versions)
    message: bytes | None = mechanism.start()
    lifetime_ms = 0
    while message is not None:
        answer = yield HandshakeStep(SaslAuthenticateRequest(auth_bytes=message), version)
        response = expect(SaslAuthenticateResponse, answer)
        if response.error_code:
            reason = response.error_message or KafkaError.from_code(response.error_code).str()
            raise sasl.failed(mechanism.name, mechanism.user, reason)
        lifetime_ms = response.session_lifetime_ms
        message = mechanism.respond(bytes(response.auth_bytes))
    return lifetime_ms / 1000 if lifetime_ms > 0 else None


def choose_mechanism(versions: BrokerVersions, mechanism: sasl.Mechanism) -> Generator[HandshakeStep, ApiMessage, None]:
    """SaslHandshake v1: the SASL messages that follow are Kafka requests (v0 would make them bare)."""
    version = negotiate(SaslHandshakeRequest, versions)
    if version < 1:
        raise UnsupportedVersionError(
            "the broker knows only SaslHandshake v0; this client needs a broker of 1.0 or later"
        )
    answer = yield HandshakeStep(SaslHandshakeRequest(mechanism=mechanism.name), version)
    response = expect(SaslHandshakeResponse, answer)
    if response.error_code == KafkaError.UNSUPPORTED_SASL_MECHANISM:
        enabled = ", ".join(sorted(response.mechanisms)) or "none"
        raise sasl.failed(mechanism.name, mechanism.user, f"the broker does not enable it; it enables: {enabled}")
    if response.error_code == KafkaError.ILLEGAL_SASL_STATE:
        raise AuthError(
            f"authentication with {mechanism.name} is not possible: this port of the broker does not use SASL "
            "(set security.protocol to plaintext or ssl, or connect to the port for SASL)",
            mechanism=mechanism.name,
        )
    if response.error_code:
        raise sasl.failed(mechanism.name, mechanism.user, KafkaError.from_code(response.error_code).str())


def expect(kind: type[MessageT], message: ApiMessage) -> MessageT:
    """The message if it is of the kind that answers our request; anything else is a mistake of the shell."""
    if not isinstance(message, kind):
        raise ProtocolError(f"{kind.__name__} was expected, not {type(message).__name__}")
    return message


def broker_error(code: int, what: str) -> BrokerError:
    known = KafkaError.from_code(code)
    return BrokerError(KafkaError(known.code(), f"{what}: {known.str()}", retriable=known.retriable()))
