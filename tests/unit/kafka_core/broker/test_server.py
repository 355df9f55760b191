"""The shell: sockets on loopback, the loop thread, brokers that stop and start, and what tests can ask it."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from typing import Any

import pytest

from kafka_core.broker import Delay, EmbeddedCluster, Refused
from kafka_core.clock import ManualClock
from kafka_core.protocol import ZERO_UUID, ApiKey, ApiRequest, decode_response, encode_request
from kafka_core.protocol.messages.fetch import FetchPartition, FetchRequest, FetchTopic
from kafka_core.protocol.messages.heartbeat import HeartbeatRequest
from kafka_core.protocol.messages.init_producer_id import InitProducerIdRequest
from kafka_core.protocol.messages.metadata import MetadataRequest
from kafka_core.protocol.messages.produce import PartitionProduceData, ProduceRequest, TopicProduceData
from tests.unit.kafka_core.broker.harness import batch


class Client:
    """A blocking connection that speaks whole frames."""

    def __init__(self, address: str) -> None:
        host, port = address.rsplit(":", 1)
        self._socket = socket.create_connection((host, int(port)), timeout=60)

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *_: object) -> None:
        self._socket.close()

    def send(self, *requests: tuple[ApiRequest[Any], int, int]) -> None:
        """Send (request, version, correlation id), all in one write."""
        self.send_bytes(b"".join(b"".join(encode_request(*request, "c")) for request in requests))

    def send_bytes(self, data: bytes) -> None:
        self._socket.sendall(data)

    def receive(self) -> bytes:
        """One frame without its size; empty when the connection has ended."""
        size = self._read(4)
        return self._read(int.from_bytes(size, "big")) if size else b""

    def _read(self, count: int) -> bytes:
        data = b""
        while len(data) < count:
            try:
                chunk = self._socket.recv(count - len(data))
            except ConnectionResetError:
                return b""
            if not chunk:
                return b""
            data += chunk
        return data


@pytest.fixture
def cluster() -> Iterator[EmbeddedCluster]:
    with EmbeddedCluster(brokers=2, seed=1) as running:
        yield running


def first(cluster: EmbeddedCluster) -> str:
    return cluster.bootstrap_servers.split(",")[0]


def produce(value: bytes) -> ProduceRequest:
    return ProduceRequest(None, -1, 1000, [TopicProduceData("t", ZERO_UUID, [PartitionProduceData(0, batch([value]))])])


def test_requests_are_answered_in_their_order_although_one_waits(cluster: EmbeddedCluster) -> None:
    cluster.intercept(ApiKey.INIT_PRODUCER_ID, lambda request, context: Delay(0.05), times=1)
    with Client(first(cluster)) as client:
        client.send((InitProducerIdRequest(None, 1), 4, 1), (InitProducerIdRequest(None, 1), 4, 2))
        answers = [decode_response(InitProducerIdRequest, 4, client.receive()) for _ in range(2)]
    assert [(number, answer.producer_id) for number, answer in answers] == [(1, 0), (2, 1)]


def test_frames_may_come_in_pieces(cluster: EmbeddedCluster) -> None:
    with Client(first(cluster)) as client:
        for byte in b"".join(encode_request(MetadataRequest(topics=None), 9, 3, "c")):
            client.send_bytes(bytes([byte]))
        number, answer = decode_response(MetadataRequest, 9, client.receive())
    assert number == 3
    assert ",".join(f"{node.host}:{node.port}" for node in answer.brokers) == cluster.bootstrap_servers


def test_a_parked_fetch_is_answered_by_a_produce_on_another_connection(cluster: EmbeddedCluster) -> None:
    cluster.create_topic("t")
    partition = FetchPartition(0, fetch_offset=0, partition_max_bytes=1000)
    fetch = FetchRequest(
        max_wait_ms=5000, min_bytes=1, max_bytes=1000, topics=[FetchTopic("t", partitions=[partition])]
    )
    with Client(first(cluster)) as reader, Client(first(cluster)) as writer:
        reader.send((fetch, 12, 1))
        writer.send((produce(b"hello"), 9, 1))
        _, answer = decode_response(FetchRequest, 12, reader.receive())
    assert b"hello" in bytes(answer.responses[0].partitions[0].records or b"")  # type: ignore[arg-type]  # one buffer
    assert [message.value() for message in cluster.records("t", 0)] == [b"hello"]
    assert cluster.offsets("t", 0) == (0, 1)


@pytest.mark.parametrize("data", [b"GET / HTTP/1.1\r\n", b"\xff\xff\xff\xff", b"\0\0\0\0", b"\0\0\0\2\7\7"])
def test_nonsense_ends_the_connection(cluster: EmbeddedCluster, data: bytes) -> None:
    with Client(first(cluster)) as client:
        client.send_bytes(data)
        assert client.receive() == b""


def test_a_stopped_broker_is_gone_and_comes_back_at_its_port(cluster: EmbeddedCluster) -> None:
    cluster.create_topic("t", 1, 2)
    address = first(cluster)
    with Client(address) as client:
        cluster.stop_broker(1)
        assert client.receive() == b""
    with pytest.raises(ConnectionRefusedError):
        Client(address)
    assert (cluster.leader("t", 0), cluster.coordinator("g")) == (2, 2)
    assert address not in cluster.bootstrap_servers
    cluster.stop_broker(1)
    cluster.start_broker(1)
    cluster.start_broker(1)
    assert first(cluster) == address
    cluster.move_leader("t", 0, 1)
    assert cluster.leader("t", 0) == 1
    with Client(address) as client:
        client.send((MetadataRequest(topics=None), 9, 1))
        assert client.receive()


def test_connections_are_cut_on_demand(cluster: EmbeddedCluster) -> None:
    with Client(first(cluster)) as client:
        client.send((MetadataRequest(topics=[]), 9, 1))
        client.receive()
        assert cluster.disconnect_all(2) == 0
        assert cluster.disconnect_all() == 1
        assert client.receive() == b""


def test_a_connection_whose_service_never_began_is_closed(cluster: EmbeddedCluster) -> None:
    accepted: list[socket.socket] = []

    class Listener:
        def accept(self) -> tuple[socket.socket, object]:
            accepted.append(listener.accept()[0])
            return accepted[0], None

    def accept_and_end() -> None:
        cluster._accept(Listener(), cluster.state.nodes[1])  # type: ignore[arg-type]
        for serving in cluster._starting:
            serving.cancel()

    with (
        socket.create_server(("127.0.0.1", 0)) as listener,
        socket.create_connection(listener.getsockname(), timeout=60) as client,
    ):
        cluster._call(accept_and_end)
        assert client.recv(1) == b""
    assert accepted[0].fileno() == -1


def test_rules_are_counted_and_ended(cluster: EmbeddedCluster) -> None:
    rule = cluster.intercept(HeartbeatRequest, lambda request, context: 27, broker=1)
    with Client(first(cluster)) as client:
        client.send((HeartbeatRequest("g"), 4, 1))
        assert decode_response(HeartbeatRequest, 4, client.receive())[1].error_code == 27
        cluster.stop_intercepting(rule)
        client.send((HeartbeatRequest("g"), 4, 2))
        assert decode_response(HeartbeatRequest, 4, client.receive())[1].error_code != 27
    assert rule.seen == 1
    cluster.stop_intercepting()


def test_tests_can_look_at_topics_and_groups(cluster: EmbeddedCluster) -> None:
    cluster.create_topic("t", 2, 1, {"retention.ms": "5"})
    with pytest.raises(Refused, match="already exists"):
        cluster.create_topic("t")
    assert cluster.committed("g", "t", 0) is None
    cluster.delete_topic("t")
    with pytest.raises(KeyError):
        cluster.records("t", 0)


def test_internal_errors_of_the_server_are_raised_at_the_end() -> None:
    def broken(request: object, context: object) -> None:
        raise LookupError("my mistake")

    with pytest.raises(LookupError, match="my mistake"), EmbeddedCluster() as cluster:
        cluster.intercept(HeartbeatRequest, broken)
        with Client(first(cluster)) as client:
            client.send((HeartbeatRequest("g"), 4, 1))
            assert client.receive() == b""


def test_a_cluster_that_does_not_run_says_so() -> None:
    cluster = EmbeddedCluster()
    with pytest.raises(RuntimeError, match="does not run"):
        cluster.create_topic("t")
    cluster.close()
    before = set(threading.enumerate())  # other tests' clusters may run
    with cluster:
        with pytest.raises(RuntimeError, match="runs already"):
            cluster.start()
        (thread,) = (thread for thread in set(threading.enumerate()) - before if thread.name == "kserdes-broker")
    assert not thread.is_alive()
    cluster.close()


def test_an_interceptor_may_not_wait_for_its_own_thread() -> None:
    with pytest.raises(RuntimeError, match="own thread"), EmbeddedCluster() as cluster:
        cluster.intercept(HeartbeatRequest, lambda request, context: cluster.create_topic("t"))
        with Client(first(cluster)) as client:
            client.send((HeartbeatRequest("g"), 4, 1))
            client.receive()


def test_a_port_that_is_taken_is_told() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        cluster = EmbeddedCluster(ports=[taken.getsockname()[1]])
        with pytest.raises(OSError, match="in use"):
            cluster.start()


def test_timers_follow_a_clock_moved_by_hand() -> None:
    clock = ManualClock()
    with EmbeddedCluster(clock=clock) as cluster, Client(first(cluster)) as client:
        cluster.intercept(InitProducerIdRequest, lambda request, context: Delay(3600.0))
        client.send((InitProducerIdRequest(None, 1), 4, 1))
        while cluster.state.timers.next_deadline_s() is None:
            cluster.coordinator("g")  # a round trip to the loop thread
        clock.advance(3600.0)
        assert client.receive()


def test_addresses_of_ipv6_are_in_brackets() -> None:
    try:
        cluster = EmbeddedCluster(host="::1").start()
    except OSError as error:
        pytest.skip(f"no IPv6 on this machine: {error}")
    servers = cluster.bootstrap_servers
    cluster.close()
    assert servers == f"[::1]:{servers.rpartition(':')[2]}"
