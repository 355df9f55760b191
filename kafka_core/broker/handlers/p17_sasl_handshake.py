"""SaslHandshake v0-1: the client picks a mechanism.

Must not know: the mechanisms (`sasl.py`). Versions: v0 is followed by bare token frames, v1 by SaslAuthenticate
(KIP-152). Spec: KIP-43, KIP-152.
"""

from __future__ import annotations

from kafka_core.broker.cluster import ClusterState
from kafka_core.broker.codes import Code
from kafka_core.broker.context import Context
from kafka_core.broker.handlers.api import Api
from kafka_core.broker.security import sasl
from kafka_core.protocol.messages.sasl_handshake import SaslHandshakeRequest, SaslHandshakeResponse


def handle(cluster: ClusterState, context: Context, request: SaslHandshakeRequest) -> SaslHandshakeResponse:
    """Begin an exchange, or say which mechanisms there are."""
    if cluster.sasl is None:
        return fail(request, Code.ILLEGAL_SASL_STATE)
    offered = list(cluster.sasl.mechanisms)
    connection = context.connection
    changed = connection.authenticated and connection.mechanism not in (None, request.mechanism)
    if request.mechanism not in offered or changed:
        connection.close_after_reply = True
        return SaslHandshakeResponse(Code.UNSUPPORTED_SASL_MECHANISM, offered)
    connection.mechanism = request.mechanism
    connection.exchange = sasl.begin(request.mechanism, cluster.sasl, cluster.scram, cluster.clock.time_ms, cluster.rng)
    connection.bare_tokens = context.api_version == 0
    return SaslHandshakeResponse(Code.NONE, offered)


def fail(request: SaslHandshakeRequest, code: int) -> SaslHandshakeResponse:
    """An answer that is the error."""
    del request
    return SaslHandshakeResponse(error_code=code)


API = Api(SaslHandshakeRequest, handle, fail, needs_login=False)
