"""A cluster without sockets for tests: requests go through the dispatcher as frames, time is moved by hand.

Batches are built here byte by byte, with a CRC of this file's own, so that no mistake of the product can hide.
"""

from __future__ import annotations

import random
import struct
from collections.abc import Mapping, Sequence
from typing import Any, TypeVar
from uuid import UUID

from kafka_core.broker.cluster import ClusterState
from kafka_core.broker.context import Connection
from kafka_core.broker.dispatch import Reply, receive
from kafka_core.broker.handlers.api import Special
from kafka_core.broker.parking import Pending
from kafka_core.broker.partitions.topics import Partition
from kafka_core.broker.security.sasl import SaslSettings
from kafka_core.clock import ManualClock
from kafka_core.protocol import ApiMessage, ApiRequest, decode_response, encode_request

ResponseT = TypeVar("ResponseT", bound=ApiMessage)

START_MS = 1_700_000_000_000


def _crc_table() -> list[int]:
    table = []
    for byte in range(256):
        value = byte
        for _ in range(8):
            value = value >> 1 ^ (0x82F63B78 if value & 1 else 0)
        table.append(value)
    return table


_CRC_TABLE = _crc_table()


def crc32c(data: bytes) -> int:
    """Castagnoli's CRC, one byte at a time."""
    value = 0xFFFFFFFF
    for byte in data:
        value = value >> 8 ^ _CRC_TABLE[(value ^ byte) & 0xFF]
    return value ^ 0xFFFFFFFF


def _varint(number: int) -> bytes:
    value = number * 2 if number >= 0 else -number * 2 - 1
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def _field(data: bytes | None) -> bytes:
    return _varint(-1) if data is None else _varint(len(data)) + data


def batch(
    values: Sequence[bytes | None] = (b"v",),
    *,
    key: bytes | None = None,
    timestamps_ms: Sequence[int] | None = None,
    attributes: int = 0,
    producer: tuple[int, int, int] = (-1, -1, -1),
    count: int | None = None,
    last_offset_delta: int | None = None,
    magic: int = 2,
    crc: int | None = None,
) -> bytes:
    """One v2 batch; `producer` is (id, epoch, base sequence). The last four override what would be right."""
    times = list(timestamps_ms) if timestamps_ms is not None else [START_MS] * len(values)
    records = b""
    for index, (value, timestamp_ms) in enumerate(zip(values, times, strict=True)):
        delta = timestamp_ms - times[0]
        body = b"\0" + _varint(delta) + _varint(index) + _field(key) + _field(value) + _varint(0)
        records += _varint(len(body)) + body
    size = len(values)
    tail = struct.pack(
        ">hiqqqhii",
        attributes,
        size - 1 if last_offset_delta is None else last_offset_delta,
        times[0],
        max(times),
        *producer,
        size if count is None else count,
    )
    tail += records
    head = struct.pack(">ibI", -1, magic, crc32c(tail) if crc is None else crc)
    return struct.pack(">qi", 0, len(head + tail)) + head + tail


def header_of(data: bytes | memoryview) -> dict[str, int]:
    """The header of the first batch in `data`, by field."""
    names = [
        *("base_offset", "size", "leader_epoch", "magic", "crc", "attributes", "last_offset_delta", "base_timestamp"),
        *("max_timestamp", "producer_id", "producer_epoch", "base_sequence", "count"),
    ]
    return dict(zip(names, struct.unpack_from(">qiibIhiqqqhii", data), strict=True))


class Parked:
    """A request that waits for its answer."""

    def __init__(self, request: ApiRequest[Any], version: int, reply: Pending[Reply]) -> None:
        self._request = request
        self._version = version
        self._reply = reply

    @property
    def done(self) -> bool:
        """Whether the answer is there."""
        return self._reply.done

    def answer(self) -> Any:
        """The decoded answer, or the `Special`; RuntimeError while it is not there."""
        reply = self._reply.value
        if isinstance(reply, Special):
            return reply
        frame = b"".join(reply)
        assert int.from_bytes(frame[:4], "big") == len(frame) - 4
        correlation_id, message = decode_response(type(self._request), self._version, frame[4:])
        assert correlation_id == 77
        return message


#: What somebody may do whom no ACL restricts, as bits (KIP-430); read from a real broker.
ALL_TOPIC_OPERATIONS, ALL_GROUP_OPERATIONS, ALL_CLUSTER_OPERATIONS = 3576, 3400, 8096


class Bench:
    """A cluster state with a clock in the test's hand."""

    def __init__(
        self,
        brokers: int = 1,
        properties: Mapping[str, str] | None = None,
        sasl: SaslSettings | None = None,
        max_versions: Mapping[int, int | None] | None = None,
    ) -> None:
        self.clock = ManualClock(start_ms=START_MS)
        settings = {"group.initial.rebalance.delay.ms": "0", **(properties or {})}
        self.cluster = ClusterState(
            range(1, brokers + 1), self.clock, random.Random(1), settings, sasl, max_versions, "test.invalid"
        )
        for node in self.cluster.nodes.values():
            node.port = 9000 + node.node_id
        self._connections = 0

    def connect(self, broker: int = 1) -> Connection:
        """A new connection to a broker."""
        self._connections += 1
        return Connection(self._connections, broker, "/10.0.0.1", authenticated=self.cluster.sasl is None)

    def send(
        self,
        request: ApiRequest[Any],
        version: int | None = None,
        *,
        broker: int = 1,
        connection: Connection | None = None,
        client_id: str | None = "tester",
    ) -> Parked:
        """Send a request as a frame; the newest stable version by default."""
        last = type(request).VALID_VERSIONS[1] - int(type(request).LATEST_VERSION_UNSTABLE)
        version = last if version is None else version
        frame = bytearray().join(encode_request(request, version, 77, client_id))[4:]
        return Parked(request, version, receive(self.cluster, connection or self.connect(broker), frame))

    def ask(self, request: ApiRequest[ResponseT], version: int | None = None, **options: Any) -> ResponseT:
        """Send a request and return its answer, which must be a message and there at once."""
        answer = self.send(request, version, **options).answer()
        assert isinstance(answer, type(request).RESPONSE), answer
        return answer  # type: ignore[return-value]  # the generated pair matches

    def advance(self, seconds: float) -> None:
        """Move time, and run what is due."""
        self.clock.advance(seconds)
        self.cluster.timers.run_due()

    def topic(self, name: str = "t", partitions: int = 1, configs: Mapping[str, str] | None = None) -> UUID:
        """Create a topic with every broker as replica; returns its id."""
        return self.cluster.create_topic(name, partitions, len(self.cluster.nodes), configs).topic_id

    def partition(self, name: str = "t", index: int = 0) -> Partition:
        """A partition of a topic that exists."""
        return self.cluster.topics[name].partitions[index]

    def write(self, values: Sequence[bytes | None], name: str = "t", index: int = 0) -> None:
        """Append one batch as a leader does, without a request."""
        partition = self.partition(name, index)
        data = batch(values, timestamps_ms=[self.clock.time_ms()] * len(values))
        partition.log.append(
            memoryview(bytearray(data)), len(values), self.clock.time_ms(), partition.leader_epoch, self.clock.time_ms()
        )
        partition.changed()
