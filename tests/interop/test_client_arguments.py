"""Clients take and refuse the same arguments as confluent_kafka's, also without a broker to connect to."""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any, Final

import pytest

import kafka_core
import kafka_core.admin as our_admin
from kafka_core.broker import EmbeddedCluster

pytestmark = pytest.mark.interop
confluent = pytest.importorskip("confluent_kafka")
their_admin = pytest.importorskip("confluent_kafka.admin")

Call = Callable[[ModuleType], Any]
LIMIT_S = 60.0

KINDS = (TypeError, ValueError, RuntimeError, BufferError)
"""The classes of refusals that must be the same; our own are subclasses of these."""


def outcome(call: Call, core: ModuleType) -> object:
    """The value, or of which of the common classes the refusal is."""
    try:
        return call(core)
    except KINDS as error:
        return next(kind for kind in KINDS if isinstance(error, kind))
    except (kafka_core.KafkaException, confluent.KafkaException) as error:
        return error.args[0].code()


def facts(message: Any) -> list[object]:
    names = ("topic", "partition", "offset", "key", "value", "headers", "error", "timestamp", "latency", "leader_epoch")
    return [getattr(message, name)() for name in names] + [len(message)]


MESSAGES: list[dict[str, Any]] = [
    {},
    {"topic": "t", "partition": 1, "offset": 2, "key": b"k", "value": b"v", "headers": [("a", b"b")]},
    {"timestamp": (1, 5), "latency": 0.5, "leader_epoch": 3},
    {"timestamp": None},
    {"timestamp": 3},
    {"timestamp": (1,)},
    {"timestamp": (1, 2, 3)},
    {"timestamp": [1, 2]},
    {"partition": "x"},
    {"partition": 1.5},
    {"partition": -1, "offset": -5, "leader_epoch": -1},
    {"offset": "x"},
    {"latency": "x"},
    {"latency": 1},
    {"leader_epoch": "x"},
    {"key": 3, "value": "text"},
    {"nope": 1},
]


@pytest.mark.parametrize("arguments", MESSAGES)
def test_messages_are_made_alike(arguments: dict[str, Any]) -> None:
    def made(core: ModuleType) -> object:
        return facts(core.Message(**arguments))

    assert outcome(made, kafka_core) == outcome(made, confluent)


PARTITIONS: list[tuple[Any, ...]] = [
    (),
    ("t",),
    ("t", 1, 2, "m", 3),
    (3,),
    (None,),
    (b"t",),
    ("t", "x"),
    ("t", None),
    ("t", 1.5),
    ("t", True),
    ("t", 0, "x"),
    ("t", 0, 0, 3),
    ("t", 0, 0, b"m"),
]


@pytest.mark.parametrize("arguments", PARTITIONS)
def test_partitions_are_made_alike(arguments: tuple[Any, ...]) -> None:
    def made(core: ModuleType) -> object:
        item = core.TopicPartition(*arguments)
        return str(item), item.topic, item.partition, item.offset, item.metadata, item.leader_epoch, item.error

    assert outcome(made, kafka_core) == outcome(made, confluent)


ERRORS: list[tuple[Any, ...]] = [
    (),
    (1,),
    (1, "reason"),
    (1, "reason", True, True, True),
    (99999,),
    (-185,),
    ("x",),
    (1.5,),
    (1, 3),
    (1, b"x"),
    (1, "reason", "x"),
]


@pytest.mark.parametrize("arguments", ERRORS)
def test_errors_are_made_alike(arguments: tuple[Any, ...]) -> None:
    def made(core: ModuleType) -> object:
        error = core.KafkaError(*arguments)
        return error.code(), error.name(), error.fatal(), error.retriable(), error.txn_requires_abort()

    assert outcome(made, kafka_core) == outcome(made, confluent)


NEW: list[Callable[[ModuleType], Any]] = [
    lambda admin: admin.NewTopic("t"),
    lambda admin: admin.NewTopic("t", 3, 2),
    lambda admin: admin.NewTopic("t", 3, replica_assignment=[[1]], config={"a": "b"}),
    lambda admin: admin.NewTopic(),
    lambda admin: admin.NewTopic(3),
    lambda admin: admin.NewTopic(None),
    lambda admin: admin.NewTopic("t", "x"),
    lambda admin: admin.NewTopic("t", None),
    lambda admin: admin.NewTopic("t", 1, "x"),
    lambda admin: admin.NewTopic("t", config=3),
    lambda admin: admin.NewPartitions("t", 3),
    lambda admin: admin.NewPartitions("t"),
    lambda admin: admin.NewPartitions("t", "x"),
    lambda admin: admin.NewPartitions(3, 3),
    lambda admin: admin.NewPartitions("t", 3, replica_assignment=[[1]]),
]


@pytest.mark.parametrize("make", NEW)
def test_new_topics_and_partitions_are_made_alike(make: Callable[[ModuleType], Any]) -> None:
    def made(admin: ModuleType) -> object:
        item = make(admin)
        names = ("topic", "num_partitions", "replication_factor", "replica_assignment", "config", "new_total_count")
        return [getattr(item, name) for name in names if hasattr(item, name)]

    assert outcome(made, our_admin) == outcome(made, their_admin)


def test_new_partitions_compare_alike() -> None:
    for admin in (our_admin, their_admin):
        make = admin.NewPartitions
        assert make("a", 1) == make("a", 1)
        assert make("a", 1) < make("a", 2) < make("b", 1)
        assert str(make("a", 1)) == "NewPartitions(topic=a,new_total_count=1)"


CONFIGURATIONS: list[Any] = [
    {},
    {"client.id": 3},
    {"client.id": True},
    {"linger.ms": 5},
    {"linger.ms": "5"},
    {"enable.idempotence": True},
    {"enable.idempotence": "true"},
    {"acks": 1},
    {"acks": "all"},
    {"acks": None},
    {"acks": [1]},
    {"unknown": 1},
    {3: "x"},
    {"error_cb": 3},
    {"stats_cb": 3},
    {"oauth_cb": 3},
    {"default.topic.config": {"acks": 1}},
    {"default.topic.config": {"acks": "bad"}},
    {"partitioner": "x"},
    {"compression.type": "x"},
    {"message.timeout.ms": -1},
    {"delivery.report.only.error": True},
]


@pytest.mark.parametrize("conf", CONFIGURATIONS)
def test_configurations_are_taken_and_refused_alike(conf: Any) -> None:
    def made(core: ModuleType) -> object:
        producer = core.Producer(conf)
        producer.close()
        return "made"

    ours, theirs = outcome(made, kafka_core), outcome(made, confluent)
    # What is a KafkaException there is that and a ValueError or TypeError here.
    assert ours == theirs or (theirs == confluent.KafkaError._INVALID_ARG and ours in (TypeError, ValueError))


@pytest.mark.parametrize("name", ["Producer", "Consumer"])
@pytest.mark.parametrize("arguments", [(), (None,), (3,), ("bootstrap.servers=b",)])
def test_a_client_needs_a_dict(name: str, arguments: tuple[Any, ...]) -> None:
    for core in (kafka_core, confluent):
        with pytest.raises(TypeError, match="expected configuration dict"):
            getattr(core, name)(*arguments)


def test_a_consumer_needs_a_group() -> None:
    for core in (kafka_core, confluent):
        with pytest.raises(ValueError, match=r"group\.id must be set"):
            core.Consumer({})


# ---- no broker


def test_without_brokers_listing_times_out_with_the_same_code() -> None:
    for core, admin in ((kafka_core, our_admin), (confluent, their_admin)):
        consumer = core.Consumer({"group.id": "g"})
        for client in (core.Producer({}), consumer, admin.AdminClient({})):
            with pytest.raises(core.KafkaException) as caught:
                client.list_topics(timeout=0.05)
            assert caught.value.args[0].code() == core.KafkaError._TRANSPORT
        consumer.close()


def test_without_brokers_a_record_times_out() -> None:
    for core in (kafka_core, confluent):
        verdicts: list[tuple[int, str]] = []
        producer = core.Producer({"message.timeout.ms": 10})
        producer.produce(
            "t", b"v", on_delivery=lambda error, _, told=verdicts: told.append((error.code(), error.name()))
        )
        assert len(producer) == 1
        deadline_s = time.monotonic() + LIMIT_S
        while not verdicts and time.monotonic() < deadline_s:
            producer.poll(0.1)
        assert verdicts == [(core.KafkaError._MSG_TIMED_OUT, "_MSG_TIMED_OUT")]
        producer.close()


@pytest.fixture
def closed() -> tuple[list[Any], list[Any]]:
    """(producers, consumers), ours and theirs, closed."""
    producers = [core.Producer({}) for core in (kafka_core, confluent)]
    consumers = [core.Consumer({"group.id": "g"}) for core in (kafka_core, confluent)]
    for client in producers + consumers:
        client.close()
    return producers, consumers


PRODUCER_CALLS: list[tuple[Callable[[Any], Any], str]] = [
    (lambda producer: producer.produce("t"), "Producer has been closed"),
    (lambda producer: producer.poll(0), "Producer has been closed"),
    (lambda producer: producer.flush(0), "Producer has been closed"),
    (lambda producer: producer.purge(), "Producer has been closed"),
    (lambda producer: producer.list_topics(timeout=0), "Handle has been closed"),
    (lambda producer: producer.set_sasl_credentials("a", "b"), "Handle has been closed"),
]
CONSUMER_CALLS: list[tuple[Callable[[Any], Any], str]] = [
    (lambda consumer: consumer.poll(0), "Consumer closed"),
    (lambda consumer: consumer.consume(1, 0), "Consumer closed"),
    (lambda consumer: consumer.subscribe(["t"]), "Consumer closed"),
    (lambda consumer: consumer.unsubscribe(), "Consumer closed"),
    (lambda consumer: consumer.assign([]), "Consumer closed"),
    (lambda consumer: consumer.assignment(), "Consumer closed"),
    (lambda consumer: consumer.commit(), "Consumer closed"),
    (lambda consumer: consumer.committed([]), "Consumer closed"),
    (lambda consumer: consumer.position([]), "Consumer closed"),
    (lambda consumer: consumer.store_offsets(offsets=[]), "Consumer closed"),
    (lambda consumer: consumer.memberid(), "Consumer closed"),
    (lambda consumer: consumer.list_topics(timeout=0), "Handle has been closed"),
    (lambda consumer: consumer.set_sasl_credentials("a", "b"), "Handle has been closed"),
]


def test_closed_clients_say_the_same(closed: tuple[list[Any], list[Any]]) -> None:
    for clients, calls in zip(closed, (PRODUCER_CALLS, CONSUMER_CALLS), strict=True):
        for client in clients:
            for call, text in calls:
                with pytest.raises(RuntimeError, match=f"^{text}$"):
                    call(client)


HEADERS: list[Any] = [3, ("a", "b"), [("a", 3)], [("a",)], ["malformed"], [["a", b"b"]]]


@pytest.mark.parametrize("headers", HEADERS)
def test_wrong_headers_are_type_errors(headers: Any) -> None:
    for core in (kafka_core, confluent):
        producer = core.Producer({})
        with pytest.raises(TypeError):
            producer.produce("t", headers=headers)
        producer.close()


@pytest.mark.parametrize("name", ["Producer", "Consumer", "AdminClient"])
def test_a_token_callback_that_fails_makes_no_client(name: str) -> None:
    """There the constructor waits ten seconds for another token; here the callback's error ends it at once."""
    asked: list[str] = []

    def refuse(text: str) -> None:
        asked.append(text)
        raise ValueError("no token today")

    conf: dict[str, Any] = {
        "security.protocol": "sasl_plaintext",
        "sasl.mechanisms": "OAUTHBEARER",
        "sasl.oauthbearer.config": "which",
        "group.id": "g",
        "oauth_cb": refuse,
    }
    with pytest.raises(kafka_core.KafkaException, match="no token today") as caught:
        getattr(our_admin if name == "AdminClient" else kafka_core, name)(conf)
    assert caught.value.args[0].code() == kafka_core.KafkaError.SASL_AUTHENTICATION_FAILED
    assert asked == ["which"]


@pytest.mark.parametrize("name", ["Producer", "Consumer", "AdminClient"])
def test_error_cb_is_told_without_any_call(name: str, refused_port: int) -> None:
    for core, admin in ((kafka_core, our_admin), (confluent, their_admin)):
        told: list[Any] = []
        conf = {"bootstrap.servers": f"127.0.0.1:{refused_port}", "group.id": "g", "error_cb": told.append}
        if name != "Consumer":
            del conf["group.id"]
        client = getattr(admin if name == "AdminClient" else core, name)(conf)
        deadline_s = time.monotonic() + LIMIT_S
        while core.KafkaError._ALL_BROKERS_DOWN not in [error.code() for error in told]:
            assert time.monotonic() < deadline_s
            client.poll(0.1)
        assert core.KafkaError._TRANSPORT in [error.code() for error in told]
        if name == "Consumer":
            client.close()


ADMIN_CALLS: list[Callable[[ModuleType, ModuleType, Any], Any]] = [
    lambda core, admin, client: client.create_topics([admin.NewTopic("t", 1)], validate_only="maybe"),
    lambda core, admin, client: client.create_topics([admin.NewTopic("t", 1)], validate_only=None),
    lambda core, admin, client: client.create_topics([admin.NewTopic("t", 1)], validate_only=1),
    lambda core, admin, client: client.create_topics([]),
    lambda core, admin, client: client.create_topics(None),
    lambda core, admin, client: client.create_partitions([admin.NewPartitions("t", 3)], validate_only="maybe"),
    lambda core, admin, client: client.describe_cluster(include_authorized_operations="x"),
    lambda core, admin, client: client.describe_consumer_groups(["g"], include_authorized_operations="x"),
    lambda core, admin, client: client.describe_topics(core.TopicCollection([])),
    lambda core, admin, client: client.describe_topics(core.TopicCollection([3])),
    lambda core, admin, client: client.describe_topics(core.TopicCollection([""])),
    lambda core, admin, client: client.describe_topics(None),
    lambda core, admin, client: client.list_offsets({}),
    lambda core, admin, client: client.list_offsets([]),
    lambda core, admin, client: client.list_offsets({core.TopicPartition("t", 0): "x"}),
    lambda core, admin, client: client.list_offsets(
        {core.TopicPartition("t", 0): admin.OffsetSpec.latest()}, isolation_level="x"
    ),
    lambda core, admin, client: client.list_consumer_group_offsets(
        [core.ConsumerGroupTopicPartitions("g")], require_stable="x"
    ),
    lambda core, admin, client: client.list_consumer_groups(states=3),
    lambda core, admin, client: len(client),
    lambda core, admin, client: client.poll(0),
]


@pytest.mark.parametrize("call", ADMIN_CALLS)
def test_administrators_take_and_refuse_alike(call: Callable[[ModuleType, ModuleType, Any], Any]) -> None:
    ours, theirs = our_admin.AdminClient({}), their_admin.AdminClient({})
    try:
        assert outcome(lambda core: call(core, our_admin, ours), kafka_core) == outcome(
            lambda core: call(core, their_admin, theirs), confluent
        )
    finally:
        ours.close()


# ---- partitions, offsets and states, on the embedded broker


def assigned(core: ModuleType, servers: str) -> Any:
    """A consumer that has one of the topic's partitions, from its start."""
    consumer = core.Consumer({"bootstrap.servers": servers, "group.id": "g", "enable.auto.offset.store": False})
    consumer.assign([core.TopicPartition("t", 0, 0)])
    return consumer


NUMBERS: Final = itertools.count()


def transactional(core: ModuleType, servers: str, begun: bool | None = None) -> Any:
    """A transactional producer: not initialized (None), or in a transaction or not."""
    producer = core.Producer({"bootstrap.servers": servers, "transactional.id": f"x-{next(NUMBERS)}"})
    if begun is not None:
        producer.init_transactions(LIMIT_S)
    if begun:
        producer.begin_transaction()
    return producer


def plain(core: ModuleType, servers: str) -> Any:
    return core.Producer({"bootstrap.servers": servers})


def committing(*places: tuple[Any, ...]) -> Callable[[ModuleType, str], Any]:
    """Waits for a commit of places."""

    def call(core: ModuleType, servers: str) -> Any:
        offsets = [core.TopicPartition(*place) for place in places]
        done = assigned(core, servers).commit(offsets=offsets, asynchronous=False)
        return [(item.topic, item.partition, item.offset) for item in done]

    return call


def at(method: str, topic: str, partition: int) -> Callable[[ModuleType, str], Any]:
    """Calls a method with one place."""

    def call(core: ModuleType, servers: str) -> Any:
        consumer, place = assigned(core, servers), core.TopicPartition(topic, partition, 0)
        return consumer.store_offsets(offsets=[place]) if method == "store_offsets" else consumer.seek(place)

    return call


def of_message(core: ModuleType, servers: str) -> Any:
    message = core.Message(topic="t", partition=0, offset=3)
    return assigned(core, servers).commit(message, asynchronous=False)[0].offset


def in_state(method: str, arguments: tuple[Any, ...], state: str) -> Callable[[ModuleType, str], Any]:
    """Calls a method of a producer."""

    def call(core: ModuleType, servers: str) -> Any:
        made = {
            "without an id": plain,
            "before init": transactional,
            "before begin": lambda core, servers: transactional(core, servers, False),
            "in a transaction": lambda core, servers: transactional(core, servers, True),
        }[state]
        producer = made(core, servers)
        return getattr(producer, method)(*arguments)

    return call


TRANSACTIONAL: list[tuple[str, tuple[Any, ...]]] = [
    ("init_transactions", (LIMIT_S,)),
    ("begin_transaction", ()),
    ("commit_transaction", (LIMIT_S,)),
    ("abort_transaction", (LIMIT_S,)),
    ("produce", ("t", b"v")),
    ("send_offsets_to_transaction", ([], None, LIMIT_S)),
]
BROKER_CALLS: dict[str, Callable[[ModuleType, str], Any]] = {
    "commit one": committing(("t", 0, 1)),
    "commit no offsets": committing(),
    "commit an unknown topic": committing(("nope", 0, 1)),
    "commit no such partition": committing(("t", 99, 1)),
    "commit one of two": committing(("t", 0, 1), ("nope", 0, 1)),
    "commit without an offset": committing(("t", 0)),
    "commit a message": of_message,
    "commit both": lambda core, servers: assigned(core, servers).commit(core.Message(), []),
    "commit nothing stored": lambda core, servers: assigned(core, servers).commit(asynchronous=False),
    "seek elsewhere": at("seek", "t", 1),
    "seek in another topic": at("seek", "z", 0),
    "store elsewhere": at("store_offsets", "t", 1),
    "store in another topic": at("store_offsets", "z", 0),
    "pause elsewhere": lambda core, servers: assigned(core, servers).pause([core.TopicPartition("t", 1)]),
    "watermarks of a text": lambda core, servers: assigned(core, servers).get_watermark_offsets("t", cached=True),
    **{
        f"{method} {state}": in_state(method, arguments, state)
        for state in ("without an id", "before init", "before begin", "in a transaction")
        for method, arguments in TRANSACTIONAL
    },
}


@pytest.fixture(scope="module")
def servers() -> Iterator[str]:
    with EmbeddedCluster() as cluster:
        admin = our_admin.AdminClient({"bootstrap.servers": cluster.bootstrap_servers})
        admin.create_topics([our_admin.NewTopic("t", 2)])["t"].result()
        yield cluster.bootstrap_servers


@pytest.mark.parametrize("name", BROKER_CALLS)
def test_calls_in_wrong_states_and_of_wrong_places_end_alike(servers: str, name: str) -> None:
    call = BROKER_CALLS[name]

    def told(core: ModuleType) -> object:
        """The code of a KafkaException, which may be a RuntimeError, too, here."""
        try:
            return call(core, servers)
        except core.KafkaException as error:
            return error.args[0].code()

    assert outcome(told, kafka_core) == outcome(told, confluent)
