"""Bad input to clients, and the state after it is put right: the text, the code, the records.

Against embedded brokers that misbehave, and servers that are none.
"""

from __future__ import annotations

import contextlib
import socket
import ssl
import struct
import threading
import time
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from kafka_core import (
    AuthError,
    ConfigError,
    Consumer,
    KafkaError,
    KafkaException,
    Message,
    NetworkError,
    Producer,
    ProtocolError,
    StateError,
    TopicPartition,
    kernels,
)
from kafka_core.admin import AdminClient, NewTopic
from kafka_core.broker import EmbeddedCluster, SaslSettings
from kafka_core.protocol.messages.fetch import FetchRequest
from tests.patience import judged_by
from tools.faults.proxy import FaultProxy

LIMIT_S = 60.0
SHORT_S = 0.3
TOPIC = "events"


# ---- the three clients, asked for anything


def admin_says(servers: str, limit_s: float, **conf: object) -> KafkaException:
    with AdminClient({"bootstrap.servers": servers, **conf}) as admin, pytest.raises(KafkaException) as caught:
        admin.list_topics(timeout=limit_s)
    return caught.value


def consumer_says(servers: str, limit_s: float, **conf: object) -> tuple[list[KafkaError], KafkaException]:
    """The errors that error_cb got, and the exception of a call."""
    heard: list[KafkaError] = []
    settings = {"bootstrap.servers": servers, "group.id": "g", "error_cb": heard.append, **conf}
    with Consumer(settings) as reader:
        reader.subscribe([TOPIC])
        with pytest.raises(KafkaException) as caught:
            reader.committed([TopicPartition(TOPIC, 0)], limit_s)
        deadline_s = time.monotonic() + LIMIT_S
        while not heard and time.monotonic() < deadline_s:
            reader.poll(0.05)
    return heard, caught.value


def producer_says(servers: str, limit_s: float, **conf: object) -> tuple[list[KafkaError], KafkaError]:
    """The errors that error_cb got, and the delivery report."""
    heard: list[KafkaError] = []
    reports: list[KafkaError] = []
    settings = {"bootstrap.servers": servers, "message.timeout.ms": round(limit_s * 1000), "error_cb": heard.append}
    with Producer({**settings, **conf}) as writer:
        writer.produce(TOPIC, b"x", on_delivery=lambda error, _: reports.append(error))
        assert writer.flush(LIMIT_S) == 0
        writer.poll(0)
    assert len(reports) == 1
    return heard, reports[0]


def all_say(servers: str, words: list[str], kind: type[KafkaException], code: int, **conf: object) -> None:
    """Every client names the cause, in every way it has to tell."""
    judged_by(SHORT_S, say, servers, words, kind, code, conf)


def say(
    limit_s: float, servers: str, words: list[str], kind: type[KafkaException], code: int, conf: dict[str, object]
) -> None:
    raised = admin_says(servers, limit_s, **conf)
    heard_reading, raised_reading = consumer_says(servers, limit_s, **conf)
    heard_writing, report = producer_says(servers, limit_s, **conf)
    assert isinstance(raised, kind), raised
    assert raised.args[0].code() == code
    assert raised_reading.args[0].code() in (code, KafkaError._TIMED_OUT)
    assert report.code() == KafkaError._MSG_TIMED_OUT
    for heard in (heard_reading, heard_writing):
        assert heard[0].code() == code
    texts = [str(raised), str(raised_reading), report.str(), heard_reading[0].str(), heard_writing[0].str()]
    for text in texts:
        for word in words:
            assert word in text, text
        assert servers.split(",")[0] in text, text


class Answering:
    """A server that answers whatever comes with the same bytes and closes; None never answers."""

    def __init__(self, reply: bytes | None) -> None:
        self._reply = reply
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._clients: list[socket.socket] = []
        self.address = f"127.0.0.1:{self._listener.getsockname()[1]}"
        self._thread = threading.Thread(target=self._run, daemon=True)

    def _run(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            self._clients.append(client)
            if self._reply is not None:
                with contextlib.suppress(OSError):
                    client.recv(65536)
                    client.sendall(self._reply)
                client.close()

    def __enter__(self) -> Answering:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self._thread.join(5)
        for client in self._clients:
            client.close()


# ---- connections


def test_a_port_where_nothing_listens() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # bound, so that nobody else takes it, but not listening
        server = f"127.0.0.1:{taken.getsockname()[1]}"
        all_say(server, ["refused", "nothing listens"], NetworkError, KafkaError._TRANSPORT)


def test_a_host_name_that_does_not_exist() -> None:
    words = ["no-such-host.invalid", "cannot be resolved", "check bootstrap.servers"]
    all_say("no-such-host.invalid:9092", words, NetworkError, KafkaError._RESOLVE)


def test_a_port_that_answers_http() -> None:
    reply = b"HTTP/1.1 400 Bad Request\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"
    with Answering(reply) as server:
        all_say(server.address, ["HTTP", "check bootstrap.servers"], ProtocolError, KafkaError._BAD_MSG)


def test_a_port_that_closes_at_once() -> None:
    with Answering(b"") as server:
        all_say(server.address, ["closed the connection"], NetworkError, KafkaError._TRANSPORT)


def test_a_port_that_never_answers() -> None:
    conf: dict[str, object] = {"socket.connection.setup.timeout.ms": 1000}  # the least there is

    def work(limit_s: float) -> None:
        with Answering(None) as server:
            said = admin_says(server.address, limit_s, **conf)
        assert isinstance(said, NetworkError)
        assert said.args[0].code() == KafkaError._TRANSPORT
        assert "socket.connection.setup.timeout.ms" in str(said)
        assert server.address in str(said)

    judged_by(1.5, work)


@pytest.mark.parametrize(
    "reply", [b"\0\0\0\5hello", b"\x7f\xff\xff\xff" + b"x" * 100, b"\0\0\0\0", b"\xff\xff\xff\xff"]
)
def test_a_port_that_answers_nonsense(reply: bytes) -> None:
    with Answering(reply) as server:
        said = admin_says(server.address, LIMIT_S)  # which it does not wait for
        assert isinstance(said, ProtocolError), said
        assert server.address in str(said)


# ---- TLS


@pytest.fixture(scope="module")
def tls(tls_files: dict[str, Path]) -> Iterator[EmbeddedCluster]:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(tls_files["server"])
    with EmbeddedCluster(tls=context) as running:
        yield running


def test_a_tls_port_without_tls(tls: EmbeddedCluster) -> None:
    words = ["is it a TLS port?", "security.protocol=SSL"]
    all_say(tls.bootstrap_servers, words, NetworkError, KafkaError._TRANSPORT)


def test_a_plain_port_with_tls() -> None:
    with EmbeddedCluster() as plain:
        words = ["TLS", "security.protocol=PLAINTEXT"]
        conf = {"security.protocol": "ssl"}
        all_say(plain.bootstrap_servers, words, NetworkError, KafkaError._TRANSPORT, **conf)


def test_a_certificate_that_nobody_trusts(tls: EmbeddedCluster) -> None:
    words = ["not trusted", "ssl.ca.location"]
    all_say(tls.bootstrap_servers, words, NetworkError, KafkaError._SSL, **{"security.protocol": "ssl"})


def test_a_certificate_for_another_host(tmp_path: Path) -> None:
    import trustme

    authority = trustme.CA()
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("example.org").configure_cert(context)
    authority.cert_pem.write_to_path(tmp_path / "ca.pem")
    conf = {"security.protocol": "ssl", "ssl.ca.location": str(tmp_path / "ca.pem")}
    with EmbeddedCluster(tls=context) as other:
        words = ["not for host '127.0.0.1'", "ssl.endpoint.identification.algorithm"]
        all_say(other.bootstrap_servers, words, NetworkError, KafkaError._SSL, **conf)


def test_a_ca_file_that_is_not_there(tmp_path: Path) -> None:
    path = str(tmp_path / "nothing.pem")
    conf = {"security.protocol": "ssl", "ssl.ca.location": path}
    with pytest.raises(KafkaException) as caught, AdminClient({"bootstrap.servers": "127.0.0.1:1", **conf}) as admin:
        admin.list_topics(timeout=SHORT_S)
    assert path in str(caught.value)


# ---- SASL


@pytest.fixture(scope="module")
def guarded() -> Iterator[EmbeddedCluster]:
    with EmbeddedCluster(sasl=SaslSettings({"alice": "secret"})) as running:
        running.create_topic(TOPIC)
        yield running


def login(mechanism: str, password: str, user: str = "alice") -> dict[str, object]:
    return {
        "security.protocol": "sasl_plaintext",
        "sasl.mechanism": mechanism,
        "sasl.username": user,
        "sasl.password": password,
    }


@pytest.mark.parametrize("mechanism", ["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"])
@pytest.mark.parametrize(("user", "password"), [("alice", "wrong"), ("nobody", "secret")])
def test_a_wrong_password_or_user(guarded: EmbeddedCluster, mechanism: str, user: str, password: str) -> None:
    words = [f"authentication failed for user {user} with {mechanism}"]
    conf = login(mechanism, password, user)
    all_say(guarded.bootstrap_servers, words, AuthError, KafkaError._AUTHENTICATION, **conf)


def test_the_password_is_in_no_text(guarded: EmbeddedCluster, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("DEBUG")
    conf = login("PLAIN", "top-wrong-secret")
    said = admin_says(guarded.bootstrap_servers, SHORT_S, **conf)
    heard, report = producer_says(guarded.bootstrap_servers, SHORT_S, **conf)
    client = Producer({"bootstrap.servers": guarded.bootstrap_servers, **conf})
    client.close()
    for text in (str(said), repr(said), repr(heard), repr(report), caplog.text, repr(client)):
        assert "top-wrong-secret" not in text


def test_a_consumer_tells_a_wrong_password_as_an_event(guarded: EmbeddedCluster) -> None:
    conf = {"bootstrap.servers": guarded.bootstrap_servers, "group.id": "g", **login("PLAIN", "wrong")}
    with Consumer(conf) as reader:
        reader.subscribe([TOPIC])
        event = reader.poll(LIMIT_S)
    assert event is not None
    assert event.error().code() == KafkaError._AUTHENTICATION


def test_records_wait_for_the_right_password(guarded: EmbeddedCluster) -> None:
    reports: list[KafkaError | None] = []
    with Producer({"bootstrap.servers": guarded.bootstrap_servers, **login("PLAIN", "wrong")}) as writer:
        writer.produce(TOPIC, b"kept", on_delivery=lambda error, _: reports.append(error))
        assert writer.flush(SHORT_S) == 1
        writer.set_sasl_credentials("alice", "secret")
        assert writer.flush(LIMIT_S) == 0
    assert reports == [None]


def test_a_mechanism_that_the_broker_lacks() -> None:
    with EmbeddedCluster(sasl=SaslSettings({"alice": "secret"}, mechanisms=("SCRAM-SHA-512",))) as cluster:
        words = ["PLAIN", "it enables: SCRAM-SHA-512"]
        servers = cluster.bootstrap_servers
        all_say(servers, words, AuthError, KafkaError._AUTHENTICATION, **login("PLAIN", "secret"))


def test_a_port_that_demands_sasl_without_sasl(guarded: EmbeddedCluster) -> None:
    words = ["SASL", "security.protocol=SASL_PLAINTEXT"]
    all_say(guarded.bootstrap_servers, words, NetworkError, KafkaError._TRANSPORT)


def test_sasl_on_a_port_without_sasl() -> None:
    with EmbeddedCluster() as plain:
        words = ["does not use SASL"]
        servers = plain.bootstrap_servers
        all_say(servers, words, AuthError, KafkaError._AUTHENTICATION, **login("PLAIN", "secret"))


# ---- configuration and arguments


@pytest.mark.parametrize(
    ("conf", "words"),
    [
        ({"bootstrap.server": "x"}, ["bootstrap.server", "bootstrap.servers"]),
        ({"acks": "many"}, ["acks", "many"]),
        ({"linger.ms": -1}, ["linger.ms", "-1"]),
        ({"linger.ms": "soon"}, ["linger.ms", "soon"]),
        ({"compression.type": "zip"}, ["compression.type", "zip", "zstd"]),
        ({"enable.idempotence": True, "acks": 1}, ["idempotence", "acks"]),
        ({"security.protocol": "sasl_plaintext", "sasl.mechanism": "PLAIN"}, ["sasl.username"]),
        ({"partitioner": "mine"}, ["partitioner", "mine", "murmur2_random"]),
        ({"on_delivery": 5}, ["on_delivery"]),
    ],
    ids=lambda value: str(value)[:40] if isinstance(value, dict) else "",
)
def test_a_bad_configuration_is_refused_at_once(conf: dict[str, object], words: list[str]) -> None:
    with pytest.raises(ConfigError) as caught:
        Producer({"bootstrap.servers": "127.0.0.1:1", **conf})
    for word in words:
        assert word in str(caught.value)
    assert caught.value.args[0].code() == KafkaError._INVALID_ARG


def test_a_consumer_without_a_group_and_an_unknown_reset_are_refused() -> None:
    with pytest.raises(ConfigError, match=r"group\.id"):
        Consumer({"bootstrap.servers": "127.0.0.1:1"})
    with pytest.raises(ConfigError, match=r"auto\.offset\.reset"):
        Consumer({"bootstrap.servers": "127.0.0.1:1", "group.id": "g", "auto.offset.reset": "yesterday"})


@pytest.fixture(scope="module")
def cluster() -> Iterator[EmbeddedCluster]:
    with EmbeddedCluster() as running:
        yield running


@pytest.fixture
def topic(cluster: EmbeddedCluster, request: pytest.FixtureRequest) -> str:
    name = f"topic-{zlib.crc32(request.node.name.encode())}"
    cluster.create_topic(name, 1)
    return name


def producer(cluster: EmbeddedCluster, **conf: object) -> Producer:
    return Producer({"bootstrap.servers": cluster.bootstrap_servers, "linger.ms": 1, **conf})


def consumer(cluster: EmbeddedCluster, **conf: object) -> Consumer:
    own = {"bootstrap.servers": cluster.bootstrap_servers, "group.id": "g", "auto.offset.reset": "earliest"}
    return Consumer({**own, "fetch.wait.max.ms": 50, **conf})


def fill(cluster: EmbeddedCluster, topic: str, count: int, per_batch: int = 10, /, **conf: object) -> None:
    with producer(cluster, **{"batch.num.messages": per_batch, **conf}) as writer:
        for number in range(count):
            writer.produce(topic, b"%d" % number, partition=0)


def read_until_error(reader: Consumer) -> tuple[list[int], Message]:
    found: list[int] = []
    deadline_s = time.monotonic() + LIMIT_S
    while time.monotonic() < deadline_s:
        message = reader.poll(0.2)
        if message is not None:
            if message.error() is not None:
                return found, message
            found.append(int(message.value()))
    raise AssertionError(f"no error; read {found}")


def read(reader: Consumer, count: int) -> list[int]:
    found: list[int] = []
    deadline_s = time.monotonic() + LIMIT_S
    while len(found) < count and time.monotonic() < deadline_s:
        message = reader.poll(0.2)
        if message is not None:
            assert message.error() is None, message.error()
            found.append(int(message.value()))
    return found


@pytest.mark.parametrize(
    ("arguments", "kind"),
    [
        ({"value": 5}, TypeError),
        ({"value": b"x", "key": 1.5}, TypeError),
        ({"value": b"x", "partition": "a"}, TypeError),
        ({"value": b"x", "headers": 7}, TypeError),
        ({"value": b"x", "headers": [("a",)]}, (TypeError, ValueError)),
        ({"value": b"x", "headers": [(b"a", b"x")]}, TypeError),
        ({"value": b"x", "headers": {"a": 7}}, TypeError),
        ({"value": b"x", "timestamp": "now"}, TypeError),
        ({"value": b"x", "partition": -2}, (ValueError, KafkaException)),
    ],
    ids=str,
)
def test_a_record_of_the_wrong_type_is_refused_and_the_next_is_taken(
    cluster: EmbeddedCluster, topic: str, arguments: dict[str, Any], kind: Any
) -> None:
    with producer(cluster) as writer:
        with pytest.raises(kind):
            writer.produce(topic, **arguments)
        writer.produce(topic, b"1")
        assert writer.flush(LIMIT_S) == 0
    assert [message.value() for message in cluster.records(topic, 0)] == [b"1"]


@pytest.mark.parametrize("name", ["..", "a/b", "x" * 250, "ä"])
def test_a_topic_name_that_cannot_be_fails_with_its_name(cluster: EmbeddedCluster, name: str) -> None:
    said: list[KafkaError] = []
    with producer(cluster) as writer:
        try:
            writer.produce(name, b"x", on_delivery=lambda error, _: said.append(error))
        except KafkaException as refused:
            said.append(refused.args[0])
        assert writer.flush(LIMIT_S) == 0
    (error,) = said
    assert error.code() in (KafkaError.TOPIC_EXCEPTION, KafkaError._INVALID_ARG)
    assert name in error.str()


def test_an_oversize_record_is_refused_by_produce_and_the_others_go(cluster: EmbeddedCluster, topic: str) -> None:
    with producer(cluster, **{"message.max.bytes": 2000}) as writer:
        writer.produce(topic, b"before")
        with pytest.raises(KafkaException) as caught:
            writer.produce(topic, b"x" * 3000)
        writer.produce(topic, b"after")
    assert caught.value.args[0].code() == KafkaError.MSG_SIZE_TOO_LARGE
    assert "message.max.bytes" in str(caught.value)
    assert "2000" in str(caught.value)
    assert [message.value() for message in cluster.records(topic, 0)] == [b"before", b"after"]


def test_an_unknown_topic_is_named_by_the_consumer_and_the_administrator(cluster: EmbeddedCluster) -> None:
    conf = {"allow.auto.create.topics": False}
    with consumer(cluster, **conf) as reader:
        reader.subscribe(["not-there"])
        _, event = read_until_error(reader)
        assert event.error().code() == KafkaError.UNKNOWN_TOPIC_OR_PART
        assert "not-there" in event.error().str()
        assert event.topic() == "not-there"
        with pytest.raises(KafkaException) as caught:
            reader.get_watermark_offsets(TopicPartition("not-there", 0), LIMIT_S)
        assert caught.value.args[0].code() == KafkaError.UNKNOWN_TOPIC_OR_PART
        assert "not-there[0]" in str(caught.value)
        assert "Unknown topic or partition" in str(caught.value)
    with AdminClient({"bootstrap.servers": cluster.bootstrap_servers}) as admin:
        error = admin.delete_topics(["not-there"])["not-there"].exception(LIMIT_S)
        assert isinstance(error, KafkaException)
        assert error.args[0].code() == KafkaError.UNKNOWN_TOPIC_OR_PART


@pytest.mark.parametrize("idempotent", [True, False])
def test_a_broker_that_lacks_replicas_for_good_is_named_in_the_delivery_report(idempotent: bool) -> None:
    judged_by(1.0, lack_replicas, idempotent)


def lack_replicas(limit_s: float, idempotent: bool) -> None:
    reports: list[KafkaError | None] = []
    with EmbeddedCluster(brokers=2) as cluster:
        cluster.create_topic(TOPIC, 1, 2, {"min.insync.replicas": "2"})
        cluster.stop_broker(3 - cluster.state.topics[TOPIC].partitions[0].leader)
        conf = {"message.timeout.ms": round(limit_s * 1000), "enable.idempotence": idempotent, "batch.num.messages": 2}
        with producer(cluster, **conf) as writer:
            begun_s = time.monotonic()
            for number in range(20):
                writer.produce(TOPIC, b"%d" % number, on_delivery=lambda error, _: reports.append(error))
            assert writer.flush(LIMIT_S) == 0
            assert time.monotonic() - begun_s > 0.9 * limit_s
            assert len(reports) == 20
            for report in reports:
                assert report is not None
                assert report.code() == KafkaError._MSG_TIMED_OUT
                assert f"{TOPIC}[0]" in report.str()
                assert "Not enough in-sync replicas" in report.str()
                assert "message.timeout.ms" in report.str()
            reports.clear()
            cluster.state.topics[TOPIC].config.own["min.insync.replicas"] = "1"
            writer.produce(TOPIC, b"now", on_delivery=lambda error, _: reports.append(error))
            assert writer.flush(LIMIT_S) == 0
        assert reports == [None]
        assert [message.value() for message in cluster.records(TOPIC, 0)] == [b"now"]


# ---- closed clients (processes of their own: test_threads.py)


def test_closed_clients_say_so(cluster: EmbeddedCluster, topic: str) -> None:
    writer, reader = producer(cluster), consumer(cluster)
    admin = AdminClient({"bootstrap.servers": cluster.bootstrap_servers})
    for client in (writer, reader, admin):
        client.close()
    calls: list[Callable[[], object]] = [
        lambda: writer.produce(topic, b"x"),
        lambda: writer.flush(),
        lambda: reader.poll(0),
        lambda: reader.subscribe([topic]),
        lambda: admin.list_topics(),
        lambda: admin.create_topics([NewTopic("t", 1, 1)])["t"].result(),
    ]
    for call in calls:
        with pytest.raises(StateError, match="closed") as caught:
            call()
        assert caught.value.args[0].code() == KafkaError._STATE


# ---- damaged data


def damage(cluster: EmbeddedCluster, topic: str, index: int, change: Callable[[memoryview], None]) -> int:
    """Changes the bytes of one stored batch; returns its base offset."""
    (batch,) = [
        found for number, found in enumerate(cluster.state.topics[topic].partitions[0].log.batches()) if number == index
    ]
    change(batch.data)
    return batch.base_offset


def flip_a_bit(data: memoryview) -> None:
    data[-3] ^= 1


def unknown_codec(data: memoryview) -> None:
    (attributes,) = struct.unpack_from(">h", data, 21)
    struct.pack_into(">h", data, 21, attributes & ~7 | 6)
    struct.pack_into(">I", data, 17, kernels.crc32c(data[21:]))


def broken_payload(data: memoryview) -> None:
    data[65:80] = b"\xff" * 15
    struct.pack_into(">I", data, 17, kernels.crc32c(data[21:]))


def absurd_count(data: memoryview) -> None:
    struct.pack_into(">i", data, 57, 2**31 - 1)
    struct.pack_into(">I", data, 17, kernels.crc32c(data[21:]))


DAMAGES: dict[str, tuple[Callable[[memoryview], None], str, str, tuple[int, ...]]] = {
    "a flipped bit": (flip_a_bit, "none", "CRC", (KafkaError._BAD_MSG,)),
    "an unknown codec": (unknown_codec, "none", "codec", (KafkaError._BAD_COMPRESSION,)),
    "a broken zstd frame": (broken_payload, "zstd", "zstd", (KafkaError._BAD_COMPRESSION, KafkaError._BAD_MSG)),
    "a broken gzip stream": (broken_payload, "gzip", "gzip", (KafkaError._BAD_COMPRESSION, KafkaError._BAD_MSG)),
    "broken records": (broken_payload, "none", "", (KafkaError._BAD_MSG,)),
    "an absurd count": (absurd_count, "none", "", (KafkaError._BAD_MSG,)),
}


@pytest.mark.parametrize("name", sorted(DAMAGES))
def test_a_damaged_batch_is_named_and_all_others_are_read(cluster: EmbeddedCluster, topic: str, name: str) -> None:
    change, codec, word, codes = DAMAGES[name]
    fill(cluster, topic, 100, **{"compression.type": codec})
    batches = len(list(cluster.state.topics[topic].partitions[0].log.batches()))
    assert batches > 5, "too few batches to damage one in the middle"
    first = damage(cluster, topic, 4, change)
    following = list(cluster.state.topics[topic].partitions[0].log.batches())[5].base_offset
    with consumer(cluster) as reader:
        reader.assign([TopicPartition(topic, 0, 0)])
        found, event = read_until_error(reader)
        assert found[:first] == list(range(first))
        assert found == list(range(len(found)))
        assert len(found) <= following
        error = event.error()
        assert error.code() in codes, error
        assert (event.topic(), event.partition()) == (topic, 0)
        assert topic in error.str()
        assert str(len(found)) in error.str()  # where to go on
        assert word in error.str()
        assert reader.position([TopicPartition(topic, 0)])[0].offset == len(found)  # a commit does not skip anything
        reader.seek(TopicPartition(topic, 0, following))
        assert read(reader, 100 - following) == list(range(following, 100))


def test_a_damaged_batch_does_not_stop_other_partitions(cluster: EmbeddedCluster) -> None:
    cluster.create_topic("two-sides", 2)
    with producer(cluster, **{"batch.num.messages": 5}) as writer:
        for number in range(40):
            writer.produce("two-sides", b"%d" % number, partition=number % 2)
    damage(cluster, "two-sides", 0, flip_a_bit)
    with consumer(cluster) as reader:
        reader.assign([TopicPartition("two-sides", 0, 0), TopicPartition("two-sides", 1, 0)])
        errors: list[int] = []
        found: list[int] = []
        deadline_s = time.monotonic() + LIMIT_S
        while (len(found) < 20 or not errors) and time.monotonic() < deadline_s:
            message = reader.poll(0.2)
            if message is not None and message.error() is not None:
                errors.append(message.error().code())
            elif message is not None:
                found.append(int(message.value()))
    assert found == list(range(1, 40, 2))
    assert errors == [KafkaError._BAD_MSG]


def test_columns_of_a_damaged_batch_raise_behind_what_was_before(cluster: EmbeddedCluster, topic: str) -> None:
    fill(cluster, topic, 50)
    first = damage(cluster, topic, 3, flip_a_bit)
    rows = 0
    with consumer(cluster) as reader:
        reader.assign([TopicPartition(topic, 0, 0)])
        with pytest.raises(KafkaException) as caught:
            for _ in range(100):
                rows += reader.consume_arrow(1000, 0.2).num_rows
    assert rows == first
    assert caught.value.args[0].code() == KafkaError._BAD_MSG


def test_without_check_crcs_a_flipped_bit_passes(cluster: EmbeddedCluster, topic: str) -> None:
    fill(cluster, topic, 30)
    damage(cluster, topic, 1, flip_a_bit)
    with consumer(cluster, **{"check.crcs": False}) as reader:
        reader.assign([TopicPartition(topic, 0, 0)])
        deadline_s, count = time.monotonic() + LIMIT_S, 0
        while count < 30 and time.monotonic() < deadline_s:
            count += sum(message.error() is None for message in reader.consume(30, 0.2))
    assert count == 30


# ---- answers that break off, or mean nothing


def through_proxy(cluster: EmbeddedCluster, proxy: FaultProxy) -> None:
    """Clients are sent to the proxy instead of the broker itself."""
    cluster.state.nodes[1].port = proxy.port


def test_answers_that_break_off_lose_nothing_and_double_nothing() -> None:
    with EmbeddedCluster() as cluster:
        port = cluster.state.nodes[1].port
        cluster.create_topic(TOPIC)
        with FaultProxy("127.0.0.1", port) as proxy:
            through_proxy(cluster, proxy)
            quick = {"reconnect.backoff.ms": 5, "reconnect.backoff.max.ms": 20, "retry.backoff.ms": 5}
            fill(cluster, TOPIC, 20, **quick)
            failed: list[KafkaError] = []

            def report(error: KafkaError | None, _: object) -> None:
                if error is not None:
                    failed.append(error)

            with (
                producer(cluster, **quick, **{"batch.num.messages": 10}) as writer,
                consumer(cluster, **quick) as reader,
            ):
                reader.assign([TopicPartition(TOPIC, 0, 0)])
                found = read(reader, 20)
                for number in range(20, 1000):
                    writer.produce(TOPIC, b"%d" % number, partition=0, on_delivery=report)
                    if number % 100 == 0:
                        proxy.truncate_after(37)  # in the middle of an answer
                        time.sleep(0.02)
                        proxy.resume()
                        writer.poll(0)
                assert writer.flush(LIMIT_S) == 0
                found += read(reader, 980)
    assert failed == []
    assert found == list(range(1000))


@pytest.mark.parametrize("by_bytes", [1, 4, 7])
def test_responses_that_are_too_short_lose_nothing_and_double_nothing(by_bytes: int) -> None:
    """Whole frames with a part of their content missing: whatever they answered, it is asked again elsewhere."""
    with EmbeddedCluster() as cluster, FaultProxy("127.0.0.1", cluster.state.nodes[1].port) as proxy:
        cluster.create_topic(TOPIC)
        through_proxy(cluster, proxy)
        quick = {"reconnect.backoff.ms": 5, "reconnect.backoff.max.ms": 20, "retry.backoff.ms": 5}
        failed: list[KafkaError] = []
        told: list[KafkaError] = []
        found: list[int] = []
        with (
            producer(cluster, **quick, **{"batch.num.messages": 10}) as writer,
            consumer(cluster, **quick, error_cb=told.append) as reader,
        ):
            reader.assign([TopicPartition(TOPIC, 0, 0)])
            for start in range(0, 500, 50):
                for number in range(start, start + 50):
                    writer.produce(TOPIC, b"%d" % number, partition=0, on_delivery=lambda e, _: e and failed.append(e))
                proxy.shorten_responses(2, by_bytes)
                writer.poll(0)
                found += read(reader, start + 50 - len(found))
            assert writer.flush(LIMIT_S) == 0
    assert failed == []
    assert found == list(range(500))


def test_a_response_that_is_always_too_short_is_named() -> None:
    with EmbeddedCluster() as cluster, FaultProxy("127.0.0.1", cluster.state.nodes[1].port) as proxy:
        proxy.shorten_responses(10**9, 3)
        all_say(proxy.address, ["ApiVersionsResponse", "left"], ProtocolError, KafkaError._BAD_MSG)


def test_a_response_that_breaks_off_for_ever_is_named() -> None:
    with EmbeddedCluster() as cluster, FaultProxy("127.0.0.1", cluster.state.nodes[1].port) as proxy:
        proxy.truncate_after(30)
        all_say(proxy.address, ["closed the connection"], NetworkError, KafkaError._TRANSPORT)


def test_a_response_that_means_nothing_is_named_and_asked_for_again(cluster: EmbeddedCluster, topic: str) -> None:
    """The size field is right, the content is cut: the connection can't be trusted any more, the records can."""
    from kafka_core.protocol.messages.fetch import FetchResponse

    fill(cluster, topic, 30)
    seen: list[KafkaError] = []
    with consumer(cluster, error_cb=seen.append) as reader:
        bad = FetchResponse(session_id=12345, error_code=0)
        rule = cluster.intercept(FetchRequest, lambda *_: bad, times=3)
        reader.assign([TopicPartition(topic, 0, 0)])
        assert read(reader, 30) == list(range(30))
        assert rule.seen >= 3


# ---- offsets out of range


@pytest.mark.parametrize(
    ("policy", "asked", "expected"),
    [
        ("earliest", 3, range(40, 60)),
        ("earliest", 500, range(40, 60)),
        ("latest", 3, range(60, 65)),
        ("latest", 500, range(60, 65)),
    ],
)
def test_an_offset_out_of_range_follows_auto_offset_reset(
    cluster: EmbeddedCluster, topic: str, policy: str, asked: int, expected: range
) -> None:
    fill(cluster, topic, 60)
    cluster.state.topics[topic].partitions[0].log.delete_before(40)
    with consumer(cluster, **{"auto.offset.reset": policy}) as reader:
        reader.assign([TopicPartition(topic, 0, asked)])
        deadline_s = time.monotonic() + LIMIT_S
        first = None
        while first is None and reader.health().lag.get((topic, 0)) != 0 and time.monotonic() < deadline_s:
            first = reader.poll(0.05)
        with producer(cluster) as writer:
            for number in range(60, 65):
                writer.produce(topic, b"%d" % number)
        found = ([] if first is None else [int(first.value())]) + read(reader, len(expected) - (first is not None))
    assert found == list(expected)


@pytest.mark.parametrize("asked", [3, 500])
def test_an_offset_out_of_range_without_a_rule_is_told(cluster: EmbeddedCluster, topic: str, asked: int) -> None:
    fill(cluster, topic, 60)
    cluster.state.topics[topic].partitions[0].log.delete_before(40)
    with consumer(cluster, **{"auto.offset.reset": "error"}) as reader:
        reader.assign([TopicPartition(topic, 0, asked)])
        found, event = read_until_error(reader)
        assert found == []
        assert event.error().code() == KafkaError._AUTO_OFFSET_RESET
        for word in (topic, str(asked), "auto.offset.reset"):
            assert word in event.error().str()
        assert reader.poll(0.1) is None  # told once, and nothing skipped
        reader.seek(TopicPartition(topic, 0, 55))
        assert read(reader, 5) == list(range(55, 60))
