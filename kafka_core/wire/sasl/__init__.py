"""SASL mechanisms, the client's side, without I/O: `create` makes the one a configuration asks for.

Knows nothing of requests (wire/handshake.py) or of where tokens (aio/net/tokens.py) and tickets (`kerberos`) come from.
Spec: RFC 4422 and one RFC per mechanism.
"""

from __future__ import annotations

import random

from kafka_core.config import Config
from kafka_core.errors import ConfigError
from kafka_core.wire.sasl.gssapi import GssapiMechanism, SecurityContext
from kafka_core.wire.sasl.mechanism import Mechanism, failed
from kafka_core.wire.sasl.oauthbearer import OAuthBearerMechanism, Token, token_from_callback, unsecured_token
from kafka_core.wire.sasl.plain import PlainMechanism

__all__ = [
    "Mechanism",
    "Proof",
    "SecurityContext",
    "Token",
    "create",
    "failed",
    "token_from_callback",
    "unsecured_token",
]

Proof = Token | SecurityContext
"""The proof fetched before a connection is made: a token (OAUTHBEARER), a context with its ticket (GSSAPI)."""

NONCE_BITS = 192


def create(config: Config, proof: Proof | None, rng: random.Random) -> Mechanism:
    """The mechanism that `sasl.mechanism` names, ready to start.

    Args:
        config: user, password and mechanism.
        proof: for OAUTHBEARER and GSSAPI; else None.
        rng: for SCRAM's nonce: a `random.SystemRandom` outside tests.

    Raises:
        ConfigError: the mechanism is not supported, or lacks properties.
        AuthError: the token is malformed.
    """
    name = config.text("sasl.mechanism")
    if name == "OAUTHBEARER":
        if not isinstance(proof, Token):
            raise ConfigError("sasl.mechanism=OAUTHBEARER needs a token: set oauth_cb", property="oauth_cb")
        return OAuthBearerMechanism(proof)
    if name == "GSSAPI" and isinstance(proof, SecurityContext):
        return GssapiMechanism(proof)
    user, password = config.text("sasl.username"), config.text("sasl.password")
    if name == "PLAIN":
        return PlainMechanism(user, password)
    from kafka_core.wire.sasl.scram import HASHES, ScramMechanism  # with hash functions that no other mechanism needs

    if name not in HASHES:
        raise ConfigError(f"sasl.mechanism={name} can't be used here", property="sasl.mechanism")
    return ScramMechanism(name, user, password, f"{rng.getrandbits(NONCE_BITS):0{NONCE_BITS // 4}x}")
