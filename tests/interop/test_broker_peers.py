"""Other clients against the embedded broker: what they write is kept, what they ask is answered as they expect."""

from __future__ import annotations

import asyncio
import base64
import json
import ssl
import threading
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import aiokafka
import aiokafka.abc
import aiokafka.admin
import aiokafka.admin.config_resource
import aiokafka.helpers
import confluent_kafka as ck
import pytest
import trustme
from aiokafka.coordinator.assignors.range import RangePartitionAssignor as AioRange
from confluent_kafka import admin as ck_admin

from kafka_core.broker import Disconnect, EmbeddedCluster, SaslSettings
from kafka_core.protocol import ApiKey

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # it reads its schemas by a deprecated function when imported
    import kafka
    import kafka.net.sasl.oauth as kafka_oauth

pytestmark = [
    pytest.mark.interop,
    # librdkafka's and kafka-python's own habits at close, not ours to fix.
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]

COUNT = 200
DEADLINE_S = 60.0
Values = list[bytes]


@pytest.fixture
def cluster() -> Iterator[EmbeddedCluster]:
    with EmbeddedCluster(brokers=2) as running:
        yield running


def values(count: int = COUNT) -> Values:
    return [b"value-%d" % index for index in range(count)]


# ---- the three clients, each in its own way ------------------------------------------------------------------------


def ck_produce(servers: str, topic: str, sent: Values, **settings: Any) -> None:
    config = {key.replace("_", "."): value for key, value in settings.items()}
    producer = ck.Producer({"bootstrap.servers": servers, "log_level": 0, **config})
    failures: list[object] = []
    for value in sent:
        producer.produce(topic, value, key=value[-1:], on_delivery=lambda error, _: error and failures.append(error))
    assert producer.flush(DEADLINE_S) == 0
    assert failures == []


def ck_consume(servers: str, topic: str, count: int, group: str, **settings: Any) -> Values:
    config = {key.replace("_", "."): value for key, value in settings.items()}
    consumer = ck.Consumer(
        {
            "bootstrap.servers": servers,
            "group.id": group,
            "auto.offset.reset": "earliest",
            "enable.auto.commit": False,
            "log_level": 0,
            **config,
        }
    )
    consumer.subscribe([topic])
    got: Values = []
    deadline_s = time.monotonic() + DEADLINE_S
    while len(got) < count and time.monotonic() < deadline_s:
        for message in consumer.consume(count - len(got), 0.2):
            assert message.error() is None, message.error()
            got.append(message.value())
    consumer.commit(asynchronous=False)
    consumer.close()
    return got


def aio_produce(servers: str, topic: str, sent: Values, **settings: Any) -> None:
    async def run() -> None:
        async with aiokafka.AIOKafkaProducer(bootstrap_servers=servers, **settings) as producer:
            await asyncio.gather(*[await producer.send(topic, value, key=value[-1:]) for value in sent])

    asyncio.run(asyncio.wait_for(run(), DEADLINE_S))


def aio_consume(servers: str, topic: str, count: int, group: str, **settings: Any) -> Values:
    async def run() -> Values:
        async with aiokafka.AIOKafkaConsumer(
            topic, bootstrap_servers=servers, group_id=group, auto_offset_reset="earliest", **settings
        ) as consumer:
            got = [(await consumer.getone()).value for _ in range(count)]
            await consumer.commit()
            return got

    return asyncio.run(asyncio.wait_for(run(), DEADLINE_S))


def kp_produce(servers: str, topic: str, sent: Values, **settings: Any) -> None:
    producer = kafka.KafkaProducer(bootstrap_servers=servers, **settings)
    pending = [producer.send(topic, value, key=value[-1:]) for value in sent]
    producer.flush(DEADLINE_S)
    for future in pending:
        future.get(DEADLINE_S)
    producer.close(5)


def kp_consume(servers: str, topic: str, count: int, group: str, **settings: Any) -> Values:
    consumer = kafka.KafkaConsumer(
        topic,
        bootstrap_servers=servers,
        group_id=group,
        auto_offset_reset="earliest",
        consumer_timeout_ms=int(DEADLINE_S * 1000),
        **settings,
    )
    wait_until(lambda: bool(consumer.partitions_for_topic(topic)))  # it may lead the group before it knows the topic
    got: Values = []
    for message in consumer:
        got.append(message.value)
        if len(got) == count:
            break
    consumer.commit()
    consumer.close()
    return got


PRODUCE: dict[str, Callable[..., None]] = {"confluent": ck_produce, "aiokafka": aio_produce, "kafka-python": kp_produce}
CONSUME: dict[str, Callable[..., Values]] = {
    "confluent": ck_consume,
    "aiokafka": aio_consume,
    "kafka-python": kp_consume,
}
CLIENTS = sorted(PRODUCE)


# ---- producing and consuming ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("reader", CLIENTS)
@pytest.mark.parametrize("writer", CLIENTS)
def test_records_of_one_client_are_read_by_any_other(cluster: EmbeddedCluster, writer: str, reader: str) -> None:
    cluster.create_topic("t", 3)
    PRODUCE[writer](cluster.bootstrap_servers, "t", values())
    assert Counter(CONSUME[reader](cluster.bootstrap_servers, "t", COUNT, "g")) == Counter(values())
    assert sum(cluster.committed("g", "t", partition) or 0 for partition in range(3)) == COUNT


@pytest.mark.parametrize("codec", ["gzip", "snappy", "lz4", "zstd"])
@pytest.mark.parametrize("writer", ["confluent", "aiokafka"])
def test_compressed_batches_are_kept_and_read_by_the_other_client(
    cluster: EmbeddedCluster, writer: str, codec: str
) -> None:
    sent = [value * 50 for value in values()]
    cluster.create_topic("t")
    PRODUCE[writer](cluster.bootstrap_servers, "t", sent, compression_type=codec)
    assert [message.value() for message in cluster.records("t", 0)] == sent
    reader = "aiokafka" if writer == "confluent" else "confluent"
    assert CONSUME[reader](cluster.bootstrap_servers, "t", COUNT, "g") == sent


def test_gzip_of_kafka_python_is_kept(cluster: EmbeddedCluster) -> None:
    cluster.create_topic("t")
    kp_produce(cluster.bootstrap_servers, "t", values(), compression_type="gzip")
    assert [message.value() for message in cluster.records("t", 0)] == values()


@pytest.mark.parametrize("acks", [0, 1, -1])
@pytest.mark.parametrize("writer", CLIENTS)
def test_every_kind_of_acknowledgement(cluster: EmbeddedCluster, writer: str, acks: int) -> None:
    cluster.create_topic("t")
    settings: dict[str, Any] = {"acks": "all" if acks == -1 else acks}
    if writer == "kafka-python":
        settings["enable_idempotence"] = False
    PRODUCE[writer](cluster.bootstrap_servers, "t", values(), **settings)
    deadline_s = time.monotonic() + DEADLINE_S
    while cluster.offsets("t", 0)[1] < COUNT and time.monotonic() < deadline_s:
        time.sleep(0.02)  # without acks nobody says when the records are there
    assert [message.value() for message in cluster.records("t", 0)] == values()


@pytest.mark.parametrize("writer", CLIENTS)
def test_idempotent_producers_write_once_although_an_answer_is_lost(cluster: EmbeddedCluster, writer: str) -> None:
    cluster.create_topic("t")
    rule = cluster.intercept(ApiKey.PRODUCE, lambda request, context: Disconnect(handled=True), times=2)
    PRODUCE[writer](cluster.bootstrap_servers, "t", values(), enable_idempotence=True)
    assert rule.times_left == 0
    assert [message.value() for message in cluster.records("t", 0)] == values()


@pytest.mark.parametrize("writer", CLIENTS)
def test_producers_follow_the_leader(cluster: EmbeddedCluster, writer: str) -> None:
    cluster.create_topic("t")
    moved = threading.Event()

    def move(request: object, context: Any) -> None:
        if not moved.is_set():
            moved.set()
            cluster.state.move_leader("t", 0, 3 - context.broker_id)

    cluster.intercept(ApiKey.PRODUCE, move)
    PRODUCE[writer](cluster.bootstrap_servers, "t", values(), enable_idempotence=True)
    assert moved.is_set()
    assert [message.value() for message in cluster.records("t", 0)] == values()


@pytest.mark.parametrize("client", CLIENTS)
def test_work_goes_on_when_a_broker_stops(cluster: EmbeddedCluster, client: str) -> None:
    cluster.create_topic("t", 2)
    servers = cluster.bootstrap_servers
    PRODUCE[client](servers, "t", values())
    cluster.stop_broker(cluster.coordinator("g"))
    assert Counter(CONSUME[client](servers, "t", COUNT, "g")) == Counter(values())


@pytest.mark.parametrize("client", CLIENTS)
def test_topics_are_created_when_written_to(client: str) -> None:
    with EmbeddedCluster(default_partitions=3) as cluster:
        PRODUCE[client](cluster.bootstrap_servers, "new", values())
        assert sum(cluster.offsets("new", partition)[1] for partition in range(3)) == COUNT


def test_large_records_and_the_limit(cluster: EmbeddedCluster) -> None:
    cluster.create_topic("t", configs={"max.message.bytes": "3000000"})
    ck_produce(cluster.bootstrap_servers, "t", [b"x" * 2_500_000] * 3, message_max_bytes=4_000_000)
    assert ck_consume(cluster.bootstrap_servers, "t", 3, "g") == [b"x" * 2_500_000] * 3
    with pytest.raises(AssertionError, match="MSG_SIZE_TOO_LARGE"):
        ck_produce(cluster.bootstrap_servers, "t", [b"x" * 3_500_000], message_max_bytes=4_000_000)


# ---- groups --------------------------------------------------------------------------------------------------------


class GroupMember:
    """A consumer of any client in a thread of its own, until told to stop."""

    def __init__(self, client: str, servers: str, topic: str) -> None:
        self.values: Values = []
        self.stop = threading.Event()
        self.partitions: set[int] = set()
        run = {"confluent": self._confluent, "aiokafka": self._aiokafka, "kafka-python": self._kafka_python}[client]
        self._thread = ThreadPoolExecutor(1)
        self._done = self._thread.submit(run, servers, topic)

    def __enter__(self) -> GroupMember:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop.set()
        self._thread.shutdown(wait=False)
        self._done.result(DEADLINE_S)

    def _confluent(self, servers: str, topic: str) -> None:
        config = {"bootstrap.servers": servers, "group.id": "mixed", "auto.offset.reset": "earliest", "log_level": 0}
        consumer = ck.Consumer({**config, "partition.assignment.strategy": "range"})
        consumer.subscribe([topic])
        while not self.stop.is_set():
            self.values += [message.value() for message in consumer.consume(100, 0.1) if message.error() is None]
            self.partitions = {item.partition for item in consumer.assignment()}
        consumer.close()

    def _kafka_python(self, servers: str, topic: str) -> None:
        consumer = kafka.KafkaConsumer(
            topic,
            bootstrap_servers=servers,
            group_id="mixed",
            auto_offset_reset="earliest",
            heartbeat_interval_ms=300,
            session_timeout_ms=45_000,
        )
        wait_until(lambda: bool(consumer.partitions_for_topic(topic)))
        while not self.stop.is_set():
            for messages in consumer.poll(1000).values():
                self.values += [message.value for message in messages]
            self.partitions = {item.partition for item in consumer.assignment()}
        consumer.close()

    def _aiokafka(self, servers: str, topic: str) -> None:
        async def run() -> None:
            async with aiokafka.AIOKafkaConsumer(
                topic,
                bootstrap_servers=servers,
                group_id="mixed",
                auto_offset_reset="earliest",
                heartbeat_interval_ms=300,
                session_timeout_ms=45_000,
                partition_assignment_strategy=(AioRange,),
            ) as consumer:
                while not self.stop.is_set():
                    for messages in (await consumer.getmany(timeout_ms=100)).values():
                        self.values += [message.value for message in messages]
                    self.partitions = {item.partition for item in consumer.assignment()}

        asyncio.run(run())


def wait_until(condition: Callable[[], bool]) -> None:
    deadline_s = time.monotonic() + DEADLINE_S
    while not condition():
        assert time.monotonic() < deadline_s, "it did not happen in time"
        time.sleep(0.02)


@pytest.mark.parametrize(
    ("first", "second"), [("confluent", "aiokafka"), ("kafka-python", "confluent"), ("aiokafka", "kafka-python")]
)
def test_two_clients_share_a_group(cluster: EmbeddedCluster, first: str, second: str) -> None:
    cluster.create_topic("t", 4)
    with GroupMember(second, cluster.bootstrap_servers, "t") as two:
        with GroupMember(first, cluster.bootstrap_servers, "t") as one:
            wait_until(
                lambda: (
                    len(one.partitions) == len(two.partitions) == 2 and one.partitions | two.partitions == {0, 1, 2, 3}
                )
            )
            ck_produce(cluster.bootstrap_servers, "t", values())
            wait_until(lambda: len(one.values) + len(two.values) >= COUNT)
            assert Counter(one.values + two.values) == Counter(values())
            assert one.values
            assert two.values
        wait_until(lambda: two.partitions == {0, 1, 2, 3})


@pytest.mark.parametrize("client", CLIENTS)
def test_a_new_consumer_goes_on_where_the_last_one_committed(cluster: EmbeddedCluster, client: str) -> None:
    cluster.create_topic("t")
    PRODUCE[client](cluster.bootstrap_servers, "t", values())
    limit = {"max_poll_records": 1} if client != "confluent" else {}
    first = CONSUME[client](cluster.bootstrap_servers, "t", 50, "g", **limit)
    assert cluster.committed("g", "t", 0) == 50
    second = CONSUME[client](cluster.bootstrap_servers, "t", COUNT - 50, "g", **limit)
    assert first + second == values()


def test_a_static_member_comes_back_without_a_rebalance(cluster: EmbeddedCluster) -> None:
    cluster.create_topic("t")
    ck_produce(cluster.bootstrap_servers, "t", values(10))
    settings: dict[str, Any] = {"group_instance_id": "i-1"}
    assert len(ck_consume(cluster.bootstrap_servers, "t", 5, "g", **settings)) == 5
    generation = cluster.state.groups.groups["g"].generation
    assert len(ck_consume(cluster.bootstrap_servers, "t", 5, "g", **settings)) == 5
    assert cluster.state.groups.groups["g"].generation == generation
    assert list(cluster.state.groups.groups["g"].static_ids) == ["i-1"]


# ---- looking and administering -------------------------------------------------------------------------------------


def produce_at(servers: str, topic: str, timestamps_ms: list[int]) -> None:
    producer = ck.Producer({"bootstrap.servers": servers, "linger.ms": 50})
    for timestamp_ms in timestamps_ms:
        producer.produce(topic, b"v", timestamp=timestamp_ms, partition=0)
    assert producer.flush(DEADLINE_S) == 0


def test_watermarks_and_offsets_by_time(cluster: EmbeddedCluster) -> None:
    cluster.create_topic("t")
    start_ms = 1_700_000_000_000
    produce_at(cluster.bootstrap_servers, "t", [start_ms + 1000 * index for index in range(10)])
    consumer = ck.Consumer({"bootstrap.servers": cluster.bootstrap_servers, "group.id": "g"})
    partition = ck.TopicPartition("t", 0)
    assert consumer.get_watermark_offsets(partition, timeout=60) == (0, 10)
    for timestamp_ms, offset in ((0, 0), (start_ms + 2500, 3), (start_ms + 9000, 9), (start_ms + 9001, ck.OFFSET_END)):
        (found,) = consumer.offsets_for_times([ck.TopicPartition("t", 0, timestamp_ms)], timeout=60)
        assert found.offset == offset
    consumer.close()
    reader = kafka.KafkaConsumer(bootstrap_servers=cluster.bootstrap_servers)
    place = kafka.TopicPartition("t", 0)
    assert reader.beginning_offsets([place]) == {place: 0}
    assert reader.end_offsets([place]) == {place: 10}
    assert reader.offsets_for_times({place: start_ms + 2500})[place].offset == 3
    reader.close()


def admin_of(cluster: EmbeddedCluster) -> ck_admin.AdminClient:
    return ck_admin.AdminClient({"bootstrap.servers": cluster.bootstrap_servers, "log_level": 0})


def only(futures: dict[Any, Any]) -> Any:
    (future,) = futures.values()
    return future.result(DEADLINE_S)


def test_topics_and_configs_by_confluent_kafka(cluster: EmbeddedCluster) -> None:
    admin = admin_of(cluster)
    only(admin.create_topics([ck_admin.NewTopic("t", 2, 2, config={"retention.ms": "1000"})]))
    assert len(admin.list_topics("t", timeout=60).topics["t"].partitions) == 2
    with pytest.raises(ck.KafkaException, match="already exists"):
        only(admin.create_topics([ck_admin.NewTopic("t", 2, 2)]))
    with pytest.raises(ck.KafkaException, match="INVALID_REPLICATION_FACTOR"):
        only(admin.create_topics([ck_admin.NewTopic("u", 1, 3)]))
    only(admin.create_partitions([ck_admin.NewPartitions("t", 5)]))
    assert len(admin.list_topics("t", timeout=60).topics["t"].partitions) == 5
    resource = ck_admin.ConfigResource(ck_admin.ConfigResource.Type.TOPIC, "t")
    assert only(admin.describe_configs([resource]))["retention.ms"].value == "1000"
    change = ck_admin.ConfigEntry("retention.ms", "2000", incremental_operation=ck_admin.AlterConfigOpType.SET)
    only(
        admin.incremental_alter_configs([ck_admin.ConfigResource(resource.restype, "t", incremental_configs=[change])])
    )
    after = only(admin.describe_configs([resource]))
    assert after["retention.ms"].value == "2000"
    assert after["cleanup.policy"].value == "delete"
    only(admin.delete_topics(["t"]))
    assert "t" not in admin.list_topics(timeout=60).topics


def test_groups_records_and_cluster_by_confluent_kafka(cluster: EmbeddedCluster) -> None:
    admin = admin_of(cluster)
    cluster.create_topic("t")
    ck_produce(cluster.bootstrap_servers, "t", values())
    ck_consume(cluster.bootstrap_servers, "t", COUNT, "g")
    listed = admin.list_consumer_groups().result(DEADLINE_S)
    assert [group.group_id for group in listed.valid] == ["g"]
    wait_until(lambda: only(admin.describe_consumer_groups(["g"])).state is ck.ConsumerGroupState.EMPTY)
    offsets = only(admin.list_consumer_group_offsets([ck.ConsumerGroupTopicPartitions("g")]))
    assert [(item.topic, item.partition, item.offset) for item in offsets.topic_partitions] == [("t", 0, COUNT)]
    moved = ck.ConsumerGroupTopicPartitions("g", [ck.TopicPartition("t", 0, 7)])
    only(admin.alter_consumer_group_offsets([moved]))
    assert cluster.committed("g", "t", 0) == 7
    only(admin.delete_consumer_groups(["g"]))
    assert admin.list_consumer_groups().result(DEADLINE_S).valid == []
    only(admin.delete_records([ck.TopicPartition("t", 0, 150)]))
    assert cluster.offsets("t", 0) == (150, COUNT)
    latest = only(admin.list_offsets({ck.TopicPartition("t", 0): ck_admin.OffsetSpec.earliest()}))
    assert latest.offset == 150
    described = admin.describe_cluster().result(DEADLINE_S)
    assert sorted(node.id for node in described.nodes) == [1, 2]


def test_administration_by_kafka_python(cluster: EmbeddedCluster) -> None:
    admin = kafka.KafkaAdminClient(bootstrap_servers=cluster.bootstrap_servers)
    admin.create_topics({"t": {"num_partitions": 2, "replication_factor": 1}})
    wait_until(lambda: "t" in admin.list_topics())
    kp_produce(cluster.bootstrap_servers, "t", values(10))
    kp_consume(cluster.bootstrap_servers, "t", 10, "g")
    assert len(admin.describe_topics(["t"])[0]["partitions"]) == 2
    assert "g" in str(admin.list_groups())
    wait_until(lambda: "Empty" in str(admin.describe_groups(["g"])))
    admin.delete_groups(["g"])
    assert "g" not in cluster.state.groups.groups
    admin.delete_topics(["t"])
    assert "t" not in cluster.state.topics
    admin.close()


def test_administration_by_aiokafka(cluster: EmbeddedCluster) -> None:
    async def run() -> None:
        admin = aiokafka.admin.AIOKafkaAdminClient(bootstrap_servers=cluster.bootstrap_servers)
        await admin.start()
        await admin.create_topics([aiokafka.admin.NewTopic("t", 2, 1)])
        assert "t" in await admin.list_topics()
        resource = aiokafka.admin.config_resource.ConfigResource(
            aiokafka.admin.config_resource.ConfigResourceType.TOPIC, "t", configs={"retention.ms": "5000"}
        )
        await admin.alter_configs([resource])
        await admin.create_partitions({"t": aiokafka.admin.NewPartitions(3)})
        await admin.close()

    asyncio.run(run())
    assert cluster.state.topics["t"].config.text("retention.ms") == "5000"
    assert len(cluster.state.topics["t"].partitions) == 3


# ---- security and older brokers ------------------------------------------------------------------------------------


class BlockingBearerToken(kafka_oauth.AbstractTokenProvider):
    """kafka-python's form of a token callback."""

    def token(self) -> str:
        return unsecured_token("alice")


class BearerToken(aiokafka.abc.AbstractTokenProvider):
    """aiokafka's form of a token callback."""

    async def token(self) -> str:
        return unsecured_token("alice")


def unsecured_token(user: str) -> str:
    def part(fields: dict[str, object]) -> str:
        return base64.urlsafe_b64encode(json.dumps(fields).encode()).decode().rstrip("=")

    return f"{part({'alg': 'none'})}.{part({'sub': user, 'exp': time.time() + 3600})}."


def sasl_settings(client: str, mechanism: str, password: str = "secret") -> dict[str, Any]:
    if client == "confluent":
        oauth = {"enable_sasl_oauthbearer_unsecure_jwt": True, "sasl_oauthbearer_config": "principal=alice"}
        plain = {"sasl_username": "alice", "sasl_password": password}
        chosen = oauth if mechanism == "OAUTHBEARER" else plain
        return {"security_protocol": "SASL_PLAINTEXT", "sasl_mechanism": mechanism, **chosen}
    settings: dict[str, Any] = {"security_protocol": "SASL_PLAINTEXT", "sasl_mechanism": mechanism}
    if mechanism == "OAUTHBEARER":
        provider = BearerToken() if client == "aiokafka" else BlockingBearerToken()
        return {**settings, "sasl_oauth_token_provider": provider}
    return {**settings, "sasl_plain_username": "alice", "sasl_plain_password": password}


@pytest.mark.parametrize("mechanism", ["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512", "OAUTHBEARER"])
@pytest.mark.parametrize("client", CLIENTS)
def test_clients_log_in(client: str, mechanism: str) -> None:
    with EmbeddedCluster(sasl=SaslSettings({"alice": "secret"})) as cluster:
        cluster.create_topic("t")
        PRODUCE[client](cluster.bootstrap_servers, "t", values(), **sasl_settings(client, mechanism))
        got = CONSUME[client](cluster.bootstrap_servers, "t", COUNT, "g", **sasl_settings(client, mechanism))
        assert got == values()


@pytest.mark.parametrize("mechanism", ["PLAIN", "SCRAM-SHA-512"])
def test_a_wrong_password_is_told(mechanism: str) -> None:
    with EmbeddedCluster(sasl=SaslSettings({"alice": "secret"})) as cluster:
        errors: list[ck.KafkaError] = []
        settings = {k.replace("_", "."): v for k, v in sasl_settings("confluent", mechanism, "wrong").items()}
        producer = ck.Producer(
            {"bootstrap.servers": cluster.bootstrap_servers, "error_cb": errors.append, "log_level": 0, **settings}
        )
        refused = ck.KafkaError._AUTHENTICATION
        wait_until(lambda: producer.poll(0.05) >= 0 and any(error.code() == refused for error in errors))
        assert any("Authentication failed" in error.str() for error in errors if error.code() == refused)


def test_a_session_is_renewed(cluster: EmbeddedCluster) -> None:
    settings = SaslSettings({"alice": "secret"}, session_lifetime_ms=2000)
    with EmbeddedCluster(sasl=settings) as secured:
        secured.create_topic("t")
        logins = secured.intercept(ApiKey.SASL_AUTHENTICATE, lambda request, context: None)
        config = {k.replace("_", "."): v for k, v in sasl_settings("confluent", "PLAIN").items()}
        config["enable.idempotence"] = True  # a late client's session ends, and its records are sent again
        producer = ck.Producer({"bootstrap.servers": secured.bootstrap_servers, "log_level": 0, **config})
        deadline_s = time.monotonic() + DEADLINE_S
        sent = 0
        while logins.seen < 3:
            assert time.monotonic() < deadline_s, "the session is not renewed"
            producer.produce("t", b"v")
            sent += 1
            producer.poll(0.1)
        assert producer.flush(DEADLINE_S) == 0
        assert secured.offsets("t", 0)[1] == sent


@pytest.mark.parametrize("client", CLIENTS)
def test_clients_speak_over_tls(client: str, tmp_path: Any) -> None:
    authority = trustme.CA()
    server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("127.0.0.1").configure_cert(server)
    ca_file = tmp_path / "ca.pem"
    authority.cert_pem.write_to_path(str(ca_file))
    settings: dict[str, Any] = {"security_protocol": "SSL"}
    if client == "confluent":
        settings["ssl_ca_location"] = str(ca_file)
    elif client == "aiokafka":
        settings["ssl_context"] = aiokafka.helpers.create_ssl_context(cafile=str(ca_file))
    else:
        settings["ssl_cafile"] = str(ca_file)
    with EmbeddedCluster(tls=server) as cluster:
        cluster.create_topic("t")
        PRODUCE[client](cluster.bootstrap_servers, "t", values(), **settings)
        assert CONSUME[client](cluster.bootstrap_servers, "t", COUNT, "g", **settings) == values()


OLDER: dict[int, int | None] = {
    ApiKey.PRODUCE: 8,
    ApiKey.FETCH: 11,
    ApiKey.LIST_OFFSETS: 5,
    ApiKey.METADATA: 9,
    ApiKey.OFFSET_COMMIT: 8,
    ApiKey.OFFSET_FETCH: 7,
    ApiKey.FIND_COORDINATOR: 3,
    ApiKey.JOIN_GROUP: 7,
    ApiKey.DESCRIBE_CLUSTER: None,
}


@pytest.mark.parametrize("client", CLIENTS)
def test_clients_speak_older_versions(client: str) -> None:
    with EmbeddedCluster(max_versions=OLDER) as cluster:
        cluster.create_topic("t")
        newest: Counter[int] = Counter()

        def note(request: object, context: Any) -> None:
            newest[context.api_key] = max(newest[context.api_key], context.api_version)

        for api_key in OLDER:
            cluster.intercept(api_key, note)
        PRODUCE[client](cluster.bootstrap_servers, "t", values())
        assert CONSUME[client](cluster.bootstrap_servers, "t", COUNT, "g") == values()
        assert all(version <= (OLDER[api_key] or 0) for api_key, version in newest.items())
        assert newest[ApiKey.FETCH] > 0
