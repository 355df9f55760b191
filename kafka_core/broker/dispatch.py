"""From a request frame to the buffers of its answer: header, version, login, faults, handler, encoding.

Must not know: sockets, asyncio. An answer may come later (`Pending`); the shell keeps answers in request order.
Spec: https://kafka.apache.org/protocol#protocol_common, KIP-511, KIP-368.
"""

from __future__ import annotations

import logging
from typing import Any, Final, TypeAlias

from kafka_core.broker import authorizing
from kafka_core.broker.cluster import ClusterState
from kafka_core.broker.context import Connection, Context
from kafka_core.broker.faults import Delay, Disconnect, Drop
from kafka_core.broker.handlers import APIS, p18_api_versions
from kafka_core.broker.handlers.api import Api, Outcome, Special, served
from kafka_core.broker.handlers.p36_sasl_authenticate import log_in
from kafka_core.broker.parking import Pending
from kafka_core.broker.security.sasl import SaslFailure
from kafka_core.errors import ProtocolError
from kafka_core.protocol import (
    ApiKey,
    ApiMessage,
    Buffer,
    api_name,
    decode,
    decode_request_header,
    encode_response,
)

logger: Final = logging.getLogger(__name__)

#: Bytes to write (with the 4-byte size in front), none to write, or to cut the connection.
Reply: TypeAlias = list[Buffer] | Special


def receive(cluster: ClusterState, connection: Connection, frame: bytearray) -> Pending[Reply]:
    """Take one frame (without its size) from a client; never raises.

    Whatever a handler or an interceptor raises is kept in `cluster.failures` and cuts the connection.
    """
    try:
        if connection.bare_tokens:
            return Pending.ready(_bare_token(cluster, connection, frame))
        return _request(cluster, connection, frame)
    except ProtocolError as error:
        logger.warning("broker %d cuts a connection: %s", connection.broker_id, error)
    except Exception as error:
        logger.exception("broker %d failed on a request", connection.broker_id)
        cluster.failures.append(error)
    return Pending.ready(Special.HANG_UP)


def _request(cluster: ClusterState, connection: Connection, frame: bytearray) -> Pending[Reply]:
    header, position = decode_request_header(frame)
    api_key, version = header.request_api_key, header.request_api_version
    context = Context(connection, connection.broker_id, api_key, version, header.correlation_id, header.client_id)
    api = APIS.get(api_key)
    versions = None if api is None else served(cluster, api)
    if api is None or versions is None or not versions[0] <= version <= versions[1]:
        if api_key == ApiKey.API_VERSIONS:
            answer = p18_api_versions.unsupported(cluster)
            return Pending.ready(encode_response(answer, 0, header.correlation_id))
        logger.warning(
            "broker %d cuts a connection: %s v%d is not served", context.broker_id, api_name(api_key), version
        )
        return Pending.ready(Special.HANG_UP)
    if not _may_ask(cluster, connection, api):
        logger.warning("broker %d cuts a connection: %s before login", context.broker_id, api_name(api_key))
        return Pending.ready(Special.HANG_UP)
    # Bytes behind the request are ignored, as Apache Kafka does: librdkafka 2.16 sends some in Metadata v13.
    request = decode(api.request, version, memoryview(frame)[position:], exact=False)
    return _Exchange(cluster, context, api, request).start()


def _may_ask(cluster: ClusterState, connection: Connection, api: Api[Any]) -> bool:
    if not api.needs_login:
        return True
    ends_at_s = connection.session_ends_at_s
    return connection.authenticated and (ends_at_s is None or cluster.clock.monotonic() < ends_at_s)


class _Exchange:
    """One request with the fault that may apply to it."""

    def __init__(self, cluster: ClusterState, context: Context, api: Api[Any], request: ApiMessage) -> None:
        self.cluster = cluster
        self.context = context
        self.api = api
        self.request = request
        self.reply: Pending[Reply] = Pending()

    def start(self) -> Pending[Reply]:
        """Ask the faults, then the handler."""
        action = self.cluster.faults.decide(self.request, self.context)
        match action:
            case None:
                self._handle(self._answer)
            case Drop(handled) | Disconnect(handled):
                lost = Special.NO_ANSWER if isinstance(action, Drop) else Special.HANG_UP
                if handled:
                    self._handle(lambda _: self._answer(lost))
                else:
                    self._answer(lost)
            case Delay(seconds, handled):
                if handled:
                    self._handle(lambda outcome: self.cluster.later(seconds, lambda: self._answer(outcome)))
                else:
                    self.cluster.later(seconds, lambda: self._handle(self._answer))
            case ApiMessage():
                self._answer(action)
            case _:
                self._answer(self.api.fail(self.request, action))
        return self.reply

    def _handle(self, then: Any) -> None:
        try:
            outcome = authorizing.handle(self.cluster, self.context, self.api, self.request)
        except Exception as error:
            logger.exception("%s failed", api_name(self.context.api_key))
            self.cluster.failures.append(error)
            outcome = Special.HANG_UP
        if isinstance(outcome, Pending):
            outcome.then(then)
        else:
            then(outcome)

    def _answer(self, outcome: Outcome) -> None:
        if isinstance(outcome, Special):
            self.reply.resolve(outcome)
            return
        try:
            self.reply.resolve(encode_response(outcome, self.context.api_version, self.context.correlation_id))
        except ProtocolError as error:
            logger.exception("the answer to %s cannot be encoded", api_name(self.context.api_key))
            self.cluster.failures.append(error)
            self.reply.resolve(Special.HANG_UP)


def _bare_token(cluster: ClusterState, connection: Connection, frame: bytearray) -> Reply:
    """A token after SaslHandshake v0: no header; a failure has no answer but the end of the connection."""
    exchange = connection.exchange
    if exchange is None:
        return Special.HANG_UP
    try:
        answer = exchange.respond(bytes(frame))
    except SaslFailure as failure:
        if failure.token is None:
            return Special.HANG_UP
        answer = failure.token
    if exchange.done:
        connection.bare_tokens = False
        log_in(cluster, connection, exchange)
    return [len(answer).to_bytes(4, "big"), answer]
