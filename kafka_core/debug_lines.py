"""Lines of one client's log, by the contexts of `debug`: a hook that writes what the client does to its `logger`.

Knows events only (kafka_core.hooks); must not know clients, and writes no payloads and no secrets.
Spec: librdkafka's `debug` contexts and the words its lines begin with; confluent_kafka hands them to `logger`.
"""

from __future__ import annotations

import itertools
import logging
import sys
import threading
from collections.abc import Iterable, Mapping, Sequence
from typing import Final, Protocol

CONTEXTS: Final = frozenset(
    {
        *("generic", "broker", "topic", "metadata", "feature", "queue", "msg", "protocol", "cgrp", "security", "fetch"),
        *("interceptor", "plugin", "consumer", "admin", "eos", "mock", "assignor", "conf", "telemetry", "all"),
    }
)
"""The words that `debug` takes. `queue`, `interceptor`, `plugin` and `mock` have no lines of their own."""

APIS: Final[Mapping[str, tuple[str, str]]] = {
    "ApiVersions": ("feature", "APIVERSION"),
    "SaslHandshake": ("security", "AUTH"),
    "SaslAuthenticate": ("security", "AUTH"),
    "Metadata": ("metadata", "METADATA"),
    "Produce": ("msg", "PRODUCE"),
    "Fetch": ("fetch", "FETCH"),
    "ListOffsets": ("topic", "OFFREQ"),
    "OffsetForLeaderEpoch": ("fetch", "VALIDATE"),
    "FindCoordinator": ("cgrp", "CGRPCOORD"),
    "JoinGroup": ("cgrp", "JOINGROUP"),
    "SyncGroup": ("cgrp", "SYNCGROUP"),
    "Heartbeat": ("cgrp", "HEARTBEAT"),
    "LeaveGroup": ("cgrp", "LEAVEGROUP"),
    "ConsumerGroupHeartbeat": ("cgrp", "HEARTBEAT"),
    "OffsetCommit": ("cgrp", "COMMIT"),
    "OffsetFetch": ("cgrp", "OFFSETFETCH"),
    "InitProducerId": ("eos", "GETPID"),
    "AddPartitionsToTxn": ("eos", "ADDPARTS"),
    "AddOffsetsToTxn": ("eos", "ADDOFFSETS"),
    "TxnOffsetCommit": ("eos", "TXNOFFSETS"),
    "EndTxn": ("eos", "ENDTXN"),
    "GetTelemetrySubscriptions": ("telemetry", "GETSUBSCRIPTIONS"),
    "PushTelemetry": ("telemetry", "PUSHSENT"),
}
"""Name of a request -> the context that tells of its answers, and the word its line begins with; all others are the
administrator's."""

ERROR: Final = 3
INFO: Final = 6
DEBUG: Final = 7
LEVELS: Final = {ERROR: logging.ERROR, INFO: logging.INFO, DEBUG: logging.DEBUG}
"""syslog's severities -> Python's."""

PARTITIONS_SHOWN: Final = 20

_numbers: Final = itertools.count(1)


class LineLogger(Protocol):
    """The interface of a `logger`: a logging.Logger, or an adapter of one."""

    def log(self, level: int, msg: str, /, *args: object) -> object:
        """Logs a text."""
        ...


class ClientLines:
    """Writes the lines that every client with a logger has: of connections that fail. Any thread.

    A line is `FACILITY [client#role-number] [thrd:thread]: text`, as librdkafka has them.

    Args:
        logger: where to.
        contexts: the words of `debug`; empty for errors only.
        client_id: for the client's name.
        role: `producer`, `consumer` or `admin`.
        log_level: the syslog severity above which nothing is said; contexts lift it to 7.
        thread_names: whether lines name the thread.
        closed: whether lost connections are told without a context.
    """

    def __init__(
        self,
        logger: LineLogger,
        contexts: Iterable[str],
        *,
        client_id: str,
        role: str,
        log_level: int = INFO,
        thread_names: bool = True,
        closed: bool = True,
    ) -> None:
        self._logger = logger
        wanted = frozenset(contexts)
        self._contexts = CONTEXTS if "all" in wanted else wanted
        self._level = DEBUG if wanted else log_level
        self._thread_names = thread_names
        self._closed = closed
        self._failed = False
        self._counts: dict[str, int] = {}
        self._failing: set[int] = set()
        self.name = f"{client_id}#{role}-{next(_numbers)}"

    # ---- when a client is made

    def begin(self, version: str, properties: Mapping[str, object], brokers: int) -> None:
        """Tell that the client is there.

        Args:
            version: of this library.
            properties: the user's, secrets hidden.
            brokers: how many are named in `bootstrap.servers`.
        """
        for name, value in properties.items():
            self._say("CONF", f"{name} = {value}", "conf")
        if self._contexts:
            words = ",".join(sorted(self._contexts - {"all"}))
            self._say("INIT", f"kserdes {version} {self.name} initialized (debug {words})", *CONTEXTS)
        if not brokers:
            self._write(INFO, "CONFWARN", "no `bootstrap.servers`: this client will not be able to connect")

    # ---- events

    def on_connect(self, node_id: int, address: str, duration_s: float, error: Exception | None) -> None:
        """A connection is ready or came to nothing."""
        took = f"after {duration_s * 1000:.0f} ms"
        if error is not None:
            text = f"{at(node_id, address)}: {error} ({took})"
            if node_id in self._failing:
                self._say("FAIL", text, "broker")
            else:  # the same is said once, until a connection is ready again
                self._failing.add(node_id)
                self._write(ERROR, "FAIL", text)
        else:
            self._failing.discard(node_id)
            self._say("CONNECTED", f"{at(node_id, address)}: connected {took}", "broker", "protocol")

    def on_disconnect(self, node_id: int, address: str, error: Exception | None) -> None:
        """A connection that was ready is gone."""
        if error is not None and self._closed:
            self._write(INFO, "FAIL", f"{at(node_id, address)}: disconnected: {error}")
        else:
            self._say("STATE", f"{at(node_id, address)}: closed", "broker")

    # ---- lines

    def _say(self, facility: str, text: str, *contexts: str) -> None:
        if not self._contexts.isdisjoint(contexts):
            self._write(DEBUG, facility, text)

    def _write(self, severity: int, facility: str, text: str) -> None:
        if severity <= self._level:
            thread = f" [thrd:{threading.current_thread().name}]" if self._thread_names else ""
            try:
                self._logger.log(LEVELS[severity], "%s [%s]%s: %s", facility, self.name, thread, text)
            except Exception as error:  # of a handler or a filter: the client goes on
                self._tell_failure(error)

    def _tell_failure(self, error: Exception) -> None:
        """Says once that the logger fails, where `logging` says it of handlers: another logger may fail as well."""
        if not self._failed and logging.raiseExceptions and sys.stderr is not None:
            self._failed = True
            sys.stderr.write(f"the logger of {self.name} fails, lines of this client are lost: {error!r}\n")


class DebugLines(ClientLines):
    """Also writes the lines of `debug`'s contexts: it listens to every event."""

    def on_request_done(
        self, node_id: int, api: str, sent_bytes: int, received_bytes: int, duration_s: float, error: Exception | None
    ) -> None:
        """A request has its answer or has failed: told to `protocol` with sizes, to the request's context by name."""
        broker = f"broker {node_id}"
        took = f"rtt {duration_s * 1000:.2f} ms"
        self._say("SEND", f"{broker}: sent {api}Request ({sent_bytes} bytes)", "protocol")
        if error is None:
            self._say("RECV", f"{broker}: received {api}Response ({received_bytes} bytes, {took})", "protocol")
        else:
            self._say("REQERR", f"{broker}: {api}Request failed: {error}", "protocol", "broker")
        context, facility = APIS.get(api, ("admin", api.upper()))
        done = "answered" if error is None else f"failed: {error}"
        self._say(facility, f"{broker}: {api} {done} ({took})", context)

    def on_throttle(self, node_id: int, api: str, throttle_s: float) -> None:
        """A broker wants to be left alone."""
        self._say("THROTTLE", f"broker {node_id}: {api} throttled for {throttle_s * 1000:.0f} ms", "broker")

    def on_metadata(self, brokers: int, topics: Mapping[str, int]) -> None:
        """Logs changes of the cluster's metadata."""
        self._say("METADATA", f"{brokers} brokers, {len(topics)} topics are known", "metadata")
        for topic, count in topics.items():
            before = self._counts.get(topic, 0)
            if count != before:
                self._counts[topic] = count
                self._say("PARTCNT", f"topic {topic}: partition count changed from {before} to {count}", "topic")

    def on_batch_sent(
        self, node_id: int, topic: str, partition: int, records: int, raw_bytes: int, wire_bytes: int
    ) -> None:
        """A batch was acknowledged."""
        text = f"broker {node_id}: {topic} [{partition}]: {records} messages delivered"
        self._say("MSGSET", f"{text} ({raw_bytes} bytes, {wire_bytes} on the wire)", "msg")

    def on_batch_fetched(self, node_id: int, topic: str, partition: int, records: int, wire_bytes: int) -> None:
        """Batches of a partition came."""
        text = f"broker {node_id}: {topic} [{partition}]: {records} messages fetched ({wire_bytes} bytes)"
        self._say("FETCH", text, "msg")
        self._say("CONSUME", text, "msg", "fetch")

    def on_rebalance(self, group_id: str, event: str, partitions: Sequence[tuple[str, int]]) -> None:
        """Partitions of a group's member change hands."""
        shown = ", ".join(f"{topic} [{partition}]" for topic, partition in partitions[:PARTITIONS_SHOWN])
        more = ", ..." if len(partitions) > PARTITIONS_SHOWN else ""
        text = f'group "{group_id}": {event} {len(partitions)} partitions: {shown}{more}'
        self._say("REBALANCE", text, "cgrp", "consumer", "assignor")


def at(node_id: int, address: str) -> str:
    """A broker as lines name it: `host:port/id`, or `host:port/bootstrap` before its id is known."""
    return f"{address}/{'bootstrap' if node_id < 0 else node_id}"
