"""The dialect of kafka-python on the embedded broker: what its KafkaConsumer's document shows, part by part."""

from __future__ import annotations

import json
import logging
import re
import selectors
import socket
import ssl
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest

from kafka_core.broker import EmbeddedCluster, SaslSettings
from kafka_core.config import Role, parse
from kafka_core.errors import StateError
from kserdes.compat.kafka import (
    ConsumerRebalanceListener,
    KafkaAdminClient,
    KafkaConsumer,
    KafkaProducer,
    OffsetAndMetadata,
    TopicPartition,
)
from kserdes.compat.kafka import settings as tables
from kserdes.compat.kafka.assignors import (
    CooperativeStickyAssignor,
    Own,
    RangePartitionAssignor,
    RoundRobinPartitionAssignor,
    StickyPartitionAssignor,
    strategies,
)
from kserdes.compat.kafka.cluster import ClusterMetadata, collect_hosts
from kserdes.compat.kafka.errors import (
    IllegalStateError,
    KafkaConfigurationError,
    KafkaError,
    KafkaTimeoutError,
    SaslAuthenticationFailedError,
)
from kserdes.compat.kafka.future import FutureRecordMetadata
from kserdes.compat.kafka.oauth import AbstractTokenProvider, token_callback
from kserdes.compat.kafka.partitioner import Partitioner, StickyPartitioner
from tests.patience import PROCESS_S, judged_by

LIMIT_S = 60.0


@pytest.fixture(scope="module")
def cluster() -> Iterator[EmbeddedCluster]:
    with EmbeddedCluster(default_partitions=2) as started:
        yield started


@pytest.fixture
def servers(cluster: EmbeddedCluster) -> str:
    return cluster.bootstrap_servers


@pytest.fixture
def topic(request: pytest.FixtureRequest, servers: str) -> str:
    """A topic of two partitions, five records in each: record n in partition n % 2, at 1000 + n ms."""
    name = re.sub(r"\W", "-", request.node.name)
    with KafkaAdminClient(bootstrap_servers=servers) as admin:
        admin.create_topics({name: {"num_partitions": 2, "replication_factor": 1}})
    with KafkaProducer(bootstrap_servers=servers) as producer:
        for number in range(10):
            producer.send(name, b"%d" % number, key=b"k", partition=number % 2, timestamp_ms=1000 + number)
    return name


def reader(servers: str, *topics: str, **conf: Any) -> KafkaConsumer:
    return KafkaConsumer(*topics, bootstrap_servers=servers, **{"auto_offset_reset": "earliest", **conf})


def take(consumer: KafkaConsumer, count: int) -> list[Any]:
    found: list[Any] = []
    while len(found) < count:
        batch = [record for records in consumer.poll(timeout_ms=LIMIT_S * 1000).values() for record in records]
        assert batch, f"only {len(found)} of {count} records came"
        found += batch
    return found


# ---- the document of KafkaConsumer, part by part


def test_topics_of_the_constructor_and_iteration(servers: str, topic: str) -> None:
    with reader(servers, topic, consumer_timeout_ms=300) as consumer:
        found: list[bytes] = []
        deadline_s = time.monotonic() + LIMIT_S
        while len(found) < 10 and time.monotonic() < deadline_s:
            found += [record.value for record in consumer]  # ends when none comes for a while
        assert sorted(found) == [b"%d" % number for number in range(10)]
        assert consumer.subscription() == {topic}
        assert consumer.assignment() == {TopicPartition(topic, 0), TopicPartition(topic, 1)}


def test_deserializers_and_a_list_of_servers(servers: str) -> None:
    with (
        KafkaProducer(
            bootstrap_servers=[servers], value_serializer=lambda value: json.dumps(value).encode()
        ) as producer,
        reader(servers, "values", value_deserializer=json.loads, key_deserializer=bytes.decode) as consumer,
    ):
        producer.send("values", {"n": 1}, key=b"one").get(LIMIT_S)
        [record] = take(consumer, 1)
    assert (record.key, record.value, record.serialized_value_size) == ("one", {"n": 1}, 8)


def test_assign_position_seek_highwater(servers: str, topic: str) -> None:
    place = TopicPartition(topic, 0)
    with reader(servers) as consumer:
        consumer.assign([place])
        assert consumer.position(place) == 0
        consumer.seek(place, 3)
        assert consumer.position(place) == 3
        assert [record.offset for record in take(consumer, 2)] == [3, 4]
        assert (consumer.position(place), consumer.highwater(place)) == (5, 5)
        consumer.seek_to_beginning()
        assert [record.offset for record in take(consumer, 5)] == [0, 1, 2, 3, 4]
        consumer.seek_to_end(place)
        assert consumer.position(place) == 5
        consumer.assign([place, TopicPartition(topic, 1)])
        assert consumer.position(place) == 5, "a partition that stays keeps its position"


def test_pause_and_resume(servers: str, topic: str) -> None:
    first, second = TopicPartition(topic, 0), TopicPartition(topic, 1)
    with reader(servers) as consumer:
        consumer.assign([first, second])
        consumer.pause(first)
        assert {record.partition for record in take(consumer, 5)} == {1}
        assert consumer.paused() == {first}
        consumer.resume(first)
        assert {record.partition for record in take(consumer, 5)} == {0}


def test_commit_committed_and_where_the_next_one_begins(servers: str, topic: str) -> None:
    place = TopicPartition(topic, 0)
    with reader(servers, topic, group_id=topic, enable_auto_commit=False) as consumer:
        assert consumer.committed(place) is None
        take(consumer, 10)
        consumer.commit()
        assert consumer.committed(place) == 5
        consumer.commit({place: OffsetAndMetadata(2, "why", -1)})
        assert consumer.committed(place, metadata=True) == OffsetAndMetadata(2, "why", -1)
    with reader(servers, group_id=topic) as consumer:
        consumer.assign([place])
        assert [record.offset for record in take(consumer, 3)] == [2, 3, 4]


def test_commit_async_calls_back_in_a_later_poll(servers: str, topic: str) -> None:
    heard: list[Any] = []
    offsets = {TopicPartition(topic, 0): OffsetAndMetadata(4, "", -1)}
    with reader(servers, group_id=topic, enable_auto_commit=False) as consumer:
        consumer.assign(list(offsets))
        future = consumer.commit_async(offsets, lambda given, answer: heard.append((given, answer)))
        consumer.commit({TopicPartition(topic, 1): OffsetAndMetadata(1, "", -1)})  # waits for the one before, too
        assert (future.succeeded(), heard) == (True, [(offsets, None)])


def test_records_are_committed_by_the_poll_after_them(servers: str, topic: str) -> None:
    """At least once: a program that dies while it works on a batch gets that batch again."""
    heard: list[Any] = []
    place = TopicPartition(topic, 0)
    with reader(
        servers,
        group_id=topic,
        auto_commit_interval_ms=1,
        max_poll_records=2,
        default_offset_commit_callback=lambda offsets, answer: heard.append(offsets[place].offset),
    ) as consumer:
        consumer.assign([place])
        take(consumer, 2)
        assert consumer.committed(place) is None
        while not heard:
            consumer.poll(100)
        assert heard[0] == 2


def test_close_commits_unless_told_otherwise(servers: str, topic: str) -> None:
    place = TopicPartition(topic, 0)
    for autocommit, expected in ((False, None), (True, 5)):
        consumer = reader(servers, topic, group_id=topic, auto_commit_interval_ms=3_600_000)
        take(consumer, 10)
        consumer.close(autocommit=autocommit)
        with reader(servers, group_id=topic) as looker:
            assert looker.committed(place) == expected


def test_a_listener_hears_of_rebalances(servers: str, topic: str) -> None:
    heard: list[tuple[str, set[TopicPartition]]] = []

    class Listener(ConsumerRebalanceListener):
        def on_partitions_revoked(self, revoked: Any) -> None:
            heard.append(("revoked", set(revoked)))

        def on_partitions_assigned(self, assigned: Any) -> None:
            heard.append(("assigned", set(assigned)))

    both = {TopicPartition(topic, 0), TopicPartition(topic, 1)}
    with reader(servers, group_id=topic) as consumer:
        consumer.subscribe([topic], listener=Listener())
        take(consumer, 10)
    assert heard == [("assigned", both), ("revoked", both)]


def test_a_pattern(servers: str, topic: str) -> None:
    for group in (topic, None):
        with reader(servers, group_id=group) as consumer:
            consumer.subscribe(pattern=f"{topic[:-2]}..$")
            assert len(take(consumer, 10)) == 10
            assert consumer.subscription() == {topic}


def test_offsets_and_topics(servers: str, topic: str) -> None:
    first, second = TopicPartition(topic, 0), TopicPartition(topic, 1)
    with reader(servers) as consumer:
        assert consumer.beginning_offsets([first, second]) == {first: 0, second: 0}
        assert consumer.end_offsets([first]) == {first: 5}
        found = consumer.offsets_for_times({first: 1003, second: 10**13})
        assert (found[first].offset, found[first].timestamp, found[second]) == (2, 1004, None)  # type: ignore[union-attr]
        assert consumer.partitions_for_topic(topic) == {0, 1}
        assert topic in consumer.topics()
        assert consumer.metrics()["consumer-coordinator-metrics"]["assigned-partitions"] == 0


def test_a_deserializer_that_fails_loses_nothing(servers: str, topic: str) -> None:
    whole = threading.Event()

    def decode(data: bytes) -> int:
        if not whole.is_set():
            raise ValueError("not now")
        return int(data)

    place = TopicPartition(topic, 0)
    for one in (lambda consumer: consumer.poll(LIMIT_S * 1000), next):
        whole.clear()
        with reader(servers, value_deserializer=decode) as consumer:
            consumer.assign([place])
            with pytest.raises(ValueError, match="not now"):
                one(consumer)
            whole.set()
            assert [record.value for record in take(consumer, 5)] == [0, 2, 4, 6, 8]


def test_update_offsets_false_gives_the_records_again(servers: str, topic: str) -> None:
    with reader(servers) as consumer:
        consumer.assign([TopicPartition(topic, 0)])
        seen = consumer.poll(LIMIT_S * 1000, max_records=2, update_offsets=False)
        assert consumer.poll(LIMIT_S * 1000, max_records=2) == seen


# ---- the producer


def test_a_producer_that_is_dropped_delivers_what_it_has(servers: str) -> None:
    KafkaProducer(bootstrap_servers=servers, linger_ms=60_000).send("dropped", b"v", partition=0)
    with reader(servers) as consumer:
        consumer.assign([TopicPartition("dropped", 0)])
        assert take(consumer, 1)[0].value == b"v"


def test_send_waits_for_room_and_says_when_there_is_none() -> None:
    judged_by(0.2, no_room)


def no_room(limit_s: float) -> None:
    """The topic must be known within the time for which send() waits for room."""
    conf = {"max_block_ms": round(limit_s * 1000), "delivery_timeout_ms": 3_600_000}
    with EmbeddedCluster() as cluster:
        producer = KafkaProducer(bootstrap_servers=cluster.bootstrap_servers, **conf)
        producer.send("full", b"v").get(LIMIT_S)
    with pytest.raises(KafkaTimeoutError, match="max blocking time"):
        for _ in range(100_001):  # one more than queue.buffering.max.messages
            last = producer.send("full", b"v")
    assert not last.is_done
    producer.close(0)
    assert last.failed()


def test_callbacks_run_in_the_background_and_metrics_count(servers: str) -> None:
    heard = threading.Event()
    with KafkaProducer(bootstrap_servers=servers) as producer:
        producer.send("heard", b"v").add_callback(lambda metadata: heard.set())
        assert heard.wait(LIMIT_S)
        assert set(producer.metrics()) == {"producer-metrics"}
    with KafkaProducer(bootstrap_servers=servers, metrics_enabled=False) as producer:
        assert producer.metrics() == {}


def test_a_user_function_chooses_partitions(servers: str, topic: str) -> None:
    with KafkaProducer(
        bootstrap_servers=servers, partitioner=lambda key, everything, available: everything[-1]
    ) as producer:
        assert producer.send(topic, b"v", key=b"k").get(LIMIT_S).partition == 1  # type: ignore[union-attr]


# ---- security


def test_sasl_plain_and_scram_and_a_wrong_password() -> None:
    with EmbeddedCluster(sasl=SaslSettings({"alice": "secret"})) as cluster:
        conf: dict[str, Any] = {
            "bootstrap_servers": cluster.bootstrap_servers,
            "security_protocol": "SASL_PLAINTEXT",
            "sasl_plain_username": "alice",
        }
        for mechanism in ("PLAIN", "SCRAM-SHA-256"):
            with KafkaProducer(**conf, sasl_mechanism=mechanism, sasl_plain_password="secret") as producer:
                assert producer.send("t", b"v").get(LIMIT_S).offset >= 0  # type: ignore[union-attr]
        with pytest.raises(KafkaError) as raised:
            KafkaProducer(**conf, sasl_mechanism="PLAIN", sasl_plain_password="wrong")
        assert isinstance(raised.value, SaslAuthenticationFailedError | KafkaTimeoutError)
        assert "uthentication" in str(raised.value)


def test_a_token_provider_becomes_the_callback() -> None:
    class Provider(AbstractTokenProvider):
        def token(self) -> str:
            return "a.eyJleHAiOiAxMjN9.c"  # {"exp": 123}

        def extensions(self) -> dict[str, str]:
            return {"a": "b"}

    assert token_callback(Provider())("") == ("a.eyJleHAiOiAxMjN9.c", 123.0, "", {"a": "b"})
    with pytest.raises(TypeError):
        token_callback(3)


# ---- the tables


@pytest.mark.parametrize(
    ("table", "role"), [(tables.PRODUCER, Role.PRODUCER), (tables.CONSUMER, Role.CONSUMER), (tables.ADMIN, Role.ADMIN)]
)
def test_every_property_of_a_table_is_ours_and_takes_the_default(table: Any, role: Role) -> None:
    more = {"group.id": "g"} if role is Role.CONSUMER else {}
    config = parse({**table.properties(table.defaults()), **more}, role)
    assert config.text("bootstrap.servers") == "localhost"
    assert config.addresses() == [("localhost", 9092)]


def test_arguments_reach_their_properties() -> None:
    context = ssl.create_default_context()
    values = {**tables.CONSUMER.defaults(), "ssl_context": context, "ssl_check_hostname": False, "fetch_min_bytes": 7}
    found = tables.CONSUMER.properties({**values, "security_protocol": "SASL_SSL", "sasl_mechanism": "scram-sha-256"})
    assert found["ssl.context"] is context
    assert found["ssl.endpoint.identification.algorithm"] == "none"
    assert (found["fetch.min.bytes"], found["security.protocol"]) == (7, "sasl_ssl")
    assert (found["sasl.mechanism"], found["partition.assignors"]) == ("SCRAM-SHA-256", ["range", "roundrobin"])


def test_every_argument_of_the_old_document_is_known(
    servers: str, topic: str, caplog: pytest.LogCaptureFixture
) -> None:
    """With the defaults of kafka-python 1.3, as far as they are values; two of them have gone since."""
    old: dict[str, Any] = {
        "client_id": "kafka-python-1.3", "group_id": None, "key_deserializer": None, "value_deserializer": None,
        "fetch_min_bytes": 1, "fetch_max_wait_ms": 500, "max_partition_fetch_bytes": 1048576,
        "request_timeout_ms": 40000, "retry_backoff_ms": 100, "reconnect_backoff_ms": 50,
        "max_in_flight_requests_per_connection": 5, "auto_offset_reset": "earliest", "enable_auto_commit": True,
        "auto_commit_interval_ms": 5000, "default_offset_commit_callback": lambda offsets, response: None,
        "check_crcs": True, "metadata_max_age_ms": 300000,
        "partition_assignment_strategy": [RangePartitionAssignor, RoundRobinPartitionAssignor],
        "heartbeat_interval_ms": 3000, "session_timeout_ms": 30000, "receive_buffer_bytes": None,
        "send_buffer_bytes": None, "socket_options": [(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)],
        "consumer_timeout_ms": 60_000, "skip_double_compressed_messages": True, "security_protocol": "PLAINTEXT",
        "ssl_context": None, "ssl_check_hostname": True, "ssl_cafile": None, "ssl_certfile": None,
        "ssl_keyfile": None, "ssl_password": None, "ssl_crlfile": None, "api_version": None,
        "api_version_auto_timeout_ms": 5000, "metric_reporters": [], "metrics_num_samples": 2,
        "metrics_sample_window_ms": 30000, "selector": selectors.DefaultSelector, "exclude_internal_topics": True,
        "sasl_mechanism": None, "sasl_plain_username": None, "sasl_plain_password": None,
    }  # fmt: skip
    with caplog.at_level(logging.INFO, "kserdes.compat"):
        consumer = KafkaConsumer(topic, bootstrap_servers=[servers], **old)
    assert next(consumer).topic == topic
    assert consumer.metrics()
    consumer.close()
    without_effect = {"skip_double_compressed_messages", "api_version_auto_timeout_ms"}
    assert not without_effect & set(KafkaConsumer.DEFAULT_CONFIG)
    assert without_effect <= {record.getMessage().partition(" ")[0] for record in caplog.records}


def test_a_partitioner_is_shown_the_cluster(servers: str, topic: str) -> None:
    seen: list[ClusterMetadata] = []

    class Last(Partitioner):
        def partition(self, *arguments: Any) -> int:
            seen.append(arguments[-1])
            return max(arguments[-1].partitions_for_topic(arguments[0]))

    with KafkaProducer(bootstrap_servers=servers, partitioner=Last()) as producer:
        assert producer.send(topic, b"x").get(LIMIT_S).partition == 1
    (cluster,) = seen
    (broker,) = cluster.brokers()
    assert (f"{broker.host}:{broker.port}", cluster.broker_metadata(broker.node_id)) == (servers, broker)
    assert cluster.controller in (broker, None)
    assert topic in cluster.topics()
    assert cluster.leader_for_partition(TopicPartition(topic, 0)) == broker.node_id
    assert cluster.leader_for_partition(TopicPartition(topic, 9)) is None
    assert TopicPartition(topic, 1) in (cluster.partitions_for_broker(broker.node_id) or ())
    topic_id = cluster.topic_id(topic)
    assert topic_id is not None
    assert (cluster.topic_name_for_id(topic_id), cluster.topic_id("nope")) == (topic, None)
    assert cluster.is_replica_node(TopicPartition(topic, 0), broker.node_id) == broker
    assert cluster.is_replica_node(TopicPartition(topic, 0), 99) is None
    nothing = ClusterMetadata()
    assert (nothing.brokers(), nothing.topics(), nothing.partitions_for_topic(topic)) == ([], set(), None)
    assert (nothing.controller, nothing.partitions_for_broker(1), nothing.broker_metadata(1)) == (None, None, None)


def test_a_cluster_that_an_application_makes_knows_its_addresses() -> None:
    cluster = ClusterMetadata(bootstrap_servers="a:1", retry_backoff_ms=7, nope=1)
    assert cluster.config == {**ClusterMetadata.DEFAULT_CONFIG, "bootstrap_servers": "a:1", "retry_backoff_ms": 7}
    (address,) = cluster.bootstrap_brokers()
    assert (address, cluster.brokers()) == (("bootstrap-0", "a", 1, None), [])
    assert (cluster.is_bootstrap("bootstrap-0"), cluster.is_bootstrap(1)) == (True, False)
    assert cluster.broker_metadata("bootstrap-0") is address
    assert str(cluster) == "ClusterMetadata(brokers: 0, topics: 0)"
    many = [f"host{number}" for number in range(50)]
    assert collect_hosts(many) != collect_hosts(many, randomize=False)


def test_records_without_a_key_stay_until_their_own_batch_is_full() -> None:
    class Cluster:
        def topics(self) -> set[str]:
            return {"t"}

        def partitions_for_topic(self, _: str) -> set[int]:
            return set(range(100))

        available_partitions_for_topic = partitions_for_topic

    cluster, sticky = Cluster(), StickyPartitioner()

    def chosen() -> int:
        return sticky.partition("t", None, None, b"v", b"v", cluster)

    first = chosen()
    sticky.on_new_batch("t", cluster, prev_partition=(first + 1) % 100)
    assert chosen() == first
    sticky.on_new_batch("t", cluster, prev_partition=first)
    assert chosen() != first


def test_old_modules_are_there() -> None:
    code = (
        "from kserdes.compat import confluent; confluent.install()\n"
        "from kafka.common import KafkaError, TopicPartition\n"
        "from kafka.errors import KafkaError as today\n"
        "assert KafkaError is today and TopicPartition('a', 1) == ('a', 1)\n"
        "from aiokafka.errors import TransactionIdAuthorizationFailed as old, for_code\n"
        "assert for_code(53) is old\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=PROCESS_S, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_assignors_of_ours_go_by_their_names_and_those_of_users_as_they_are() -> None:
    assert strategies([CooperativeStickyAssignor()]) == ["cooperative-sticky"]
    assert strategies([StickyPartitionAssignor, RangePartitionAssignor]) == ["sticky", "range"]

    class Mine(StickyPartitionAssignor):
        name = "mine"

    (own,) = strategies([Mine])
    assert isinstance(own, Own)
    assert own.name == "mine"
    assert not own.cooperative
    for wrong in (["fair"], [object()], [], [CooperativeStickyAssignor, Mine]):
        with pytest.raises(KafkaConfigurationError):
            strategies(wrong)


def test_a_closed_consumer(servers: str) -> None:
    consumer = reader(servers)
    consumer.close()
    with pytest.raises(IllegalStateError, match="closed"):
        consumer.topics()
    assert list(consumer) == []


def test_reports_go_on_when_a_callback_raises_a_state_error(
    servers: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(FutureRecordMetadata, "error_on_callbacks", True)

    def fails(_: object) -> None:
        time.sleep(0.2)
        raise StateError("of a client of the application")

    producer = KafkaProducer(bootstrap_servers=servers, linger_ms=60_000, batch_size=100)
    try:
        for number in range(2):
            sent = producer.send("reports", b"v", partition=0)
            sent.add_callback(fails)  # before the record goes out: of one that has been reported it is called here
            producer.send("reports", bytes(200), partition=0)  # it fits into no batch with others: they go out
            assert sent.get(PROCESS_S).offset == 2 * number
        assert producer._reports.is_alive()
    finally:
        producer.close()
    assert "a callback failed" in caplog.text
    producer._reports.join(PROCESS_S)
    assert not producer._reports.is_alive()
