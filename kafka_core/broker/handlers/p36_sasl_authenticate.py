"""SaslAuthenticate v0-2: one token of a SASL exchange, and the answer to it.

Must not know: the mechanisms (`sasl.py`). Versions: v1 session lifetime (KIP-368), v2 flexible.
Spec: KIP-152, KIP-368.
"""

from __future__ import annotations

from kafka_core.broker.cluster import ClusterState
from kafka_core.broker.codes import Code
from kafka_core.broker.context import Connection, Context
from kafka_core.broker.handlers.api import Api
from kafka_core.broker.security.sasl import SaslExchange, SaslFailure
from kafka_core.protocol.messages.sasl_authenticate import SaslAuthenticateRequest, SaslAuthenticateResponse


def handle(cluster: ClusterState, context: Context, request: SaslAuthenticateRequest) -> SaslAuthenticateResponse:
    """Pass the token to the exchange; when it is done the connection is open for everything."""
    exchange = context.connection.exchange
    if exchange is None:
        text = "SaslAuthenticate request received after successful authentication"
        return SaslAuthenticateResponse(Code.ILLEGAL_SASL_STATE, text)
    try:
        answer = exchange.respond(bytes(request.auth_bytes))
    except SaslFailure as failure:
        if failure.token is not None:
            return SaslAuthenticateResponse(Code.NONE, None, failure.token)
        context.connection.exchange = None
        context.connection.close_after_reply = True
        return SaslAuthenticateResponse(Code.SASL_AUTHENTICATION_FAILED, str(failure))
    lifetime_ms = log_in(cluster, context.connection, exchange) if exchange.done else 0
    return SaslAuthenticateResponse(Code.NONE, None, answer, lifetime_ms)


def log_in(cluster: ClusterState, connection: Connection, exchange: SaslExchange) -> int:
    """Open the connection; returns the session's lifetime in ms (0: no end), the shorter of broker's and token's."""
    connection.authenticated = True
    connection.principal = exchange.principal
    connection.exchange = None
    bounds_ms = []
    if cluster.sasl is not None and cluster.sasl.session_lifetime_ms > 0:
        bounds_ms.append(cluster.sasl.session_lifetime_ms)
    if exchange.expires_at_ms is not None:
        bounds_ms.append(max(exchange.expires_at_ms - cluster.clock.time_ms(), 0))
    lifetime_ms = min(bounds_ms, default=0)
    connection.session_ends_at_s = cluster.clock.monotonic() + lifetime_ms / 1000 if bounds_ms else None
    return lifetime_ms


def fail(request: SaslAuthenticateRequest, code: int) -> SaslAuthenticateResponse:
    """An answer that is the error."""
    del request
    return SaslAuthenticateResponse(error_code=code, error_message=None)


API = Api(SaslAuthenticateRequest, handle, fail, needs_login=False)
