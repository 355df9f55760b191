"""aiokafka's dialect without a broker: arguments, batches by hand, errors, coroutines that do not wait."""

from __future__ import annotations

import asyncio
import base64
import dataclasses
import json
import logging
import pickle
import time
import weakref
from typing import Any

import pytest

from kafka_core import KafkaError, KafkaException, Message, Producer
from kafka_core import TopicPartition as CorePartition
from kafka_core.aio import AIOConsumer
from kafka_core.broker import EmbeddedCluster
from kafka_core.config import BY_NAME
from kafka_core.errors import StateError
from kafka_core.kernels import message_rows
from kserdes.compat.aiokafka import AIOKafkaConsumer, AIOKafkaProducer, ConsumerRecord, TopicPartition, errors
from kserdes.compat.aiokafka.arguments import ADMIN, CONSUMER, PRODUCER
from kserdes.compat.aiokafka.assignors import AbstractPartitionAssignor, Own, StickyPartitionAssignor, assignors_of
from kserdes.compat.aiokafka.background import serve
from kserdes.compat.aiokafka.batch import BatchBuilder, record_bytes, varint_bytes
from kserdes.compat.aiokafka.connecting import _expiry_s, at_once
from kserdes.compat.aiokafka.partitioner import DefaultPartitioner
from kserdes.compat.aiokafka.responses import CreateTopicsResponse, DescribeGroupsResponse
from kserdes.compat.aiokafka.values import commit_error, core_offsets, records_of, trouble_of


def test_every_row_sets_properties_that_are_there_or_says_why_not() -> None:
    for table in (PRODUCER, CONSUMER, ADMIN):
        for row in table.rows.values():
            assert row.meaning
            assert not (row.properties and row.why_unused)
            for name in row.properties:
                assert name in BY_NAME, row.name


def test_an_argument_without_effect_is_said_once(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "kserdes.compat")
    for _ in range(2):
        AIOKafkaConsumer(consumer_timeout_ms=77)
    assert [text for text in caplog.messages if "consumer_timeout_ms" in text] == [
        "consumer_timeout_ms has no effect: changes are noticed at once, without intervals"
    ]


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ({"acks": 7}, "ACKS"),
        ({"enable_idempotence": True, "acks": 1}, "acks=1 not supported"),
        ({"compression_type": "rar"}, "compression"),
        ({"security_protocol": "SSL"}, "ssl_context"),
        ({"security_protocol": "SASL_PLAINTEXT"}, "sasl_plain_username"),
        ({"security_protocol": "SASL_PLAINTEXT", "sasl_mechanism": "OAUTHBEARER"}, "AbstractTokenProvider"),
    ],
)
def test_arguments_that_make_no_sense_are_refused(arguments: dict[str, object], text: str) -> None:
    with pytest.raises(ValueError, match=text):
        AIOKafkaProducer(**arguments)  # type: ignore[arg-type]


def test_the_order_is_kept_without_idempotence() -> None:
    plain, idempotent = AIOKafkaProducer(), AIOKafkaProducer(enable_idempotence=True)
    facts = [
        (conf["acks"], conf["enable.idempotence"], conf["max.in.flight.requests.per.connection"])
        for conf in (plain._producer._core.config, idempotent._producer._core.config)
    ]
    assert facts == [(1, False, 1), (-1, True, 5)]


def test_assignors_are_names_of_ours_and_those_of_users() -> None:
    class Mine(AbstractPartitionAssignor):
        name = "mine"

    assert assignors_of([StickyPartitionAssignor, "range"]) == ["sticky", "range"]
    assert assignors_of([]) is None
    (own,) = assignors_of([Mine]) or []
    assert isinstance(own, Own)
    assert own.name == "mine"
    assert not own.cooperative
    with pytest.raises(ValueError, match="no assignor"):
        assignors_of([type("Mine", (), {"name": "mine"})])
    with pytest.raises(ValueError, match="no assignor 'fair'"):
        assignors_of(["fair"])


def test_the_partition_of_a_key() -> None:
    choose = DefaultPartitioner()
    assert choose(b"abc", [0, 1, 2], [0, 1, 2]) == 0  # as aiokafka's
    assert choose(None, [0, 1, 2], [1]) == 1


def test_a_batch_counts_the_bytes_of_the_format() -> None:
    assert [varint_bytes(number) for number in (0, -1, 63, 64, -64, 8191, 8192)] == [1, 1, 1, 2, 1, 2, 3]
    assert record_bytes(0, 0, b"a", b"b", ()) == 9  # length, attributes, two deltas, key, value, count of headers
    batch = BatchBuilder(100, None)
    first = batch.append(timestamp=5, key=None, value=b"v" * 10)
    assert first is not None
    assert (first.offset, first.timestamp, batch.size()) == (0, 5, 61 + first.size)
    while batch.append(timestamp=5, key=None, value=b"v" * 10) is not None:
        assert batch.size() <= 100
    assert batch.closed()
    with pytest.raises(TypeError, match="bytes-like"):
        BatchBuilder(100, None).append(timestamp=None, key="text", value=None)


def test_errors_of_ours_become_theirs() -> None:
    def of(code: int, text: str = "why") -> Exception:
        return errors.translated(KafkaException(KafkaError(code, text)))

    assert type(of(KafkaError._TIMED_OUT)) is errors.KafkaTimeoutError
    assert type(of(KafkaError._TRANSPORT)) is errors.KafkaConnectionError
    assert type(of(KafkaError.TOPIC_AUTHORIZATION_FAILED)) is errors.TopicAuthorizationFailedError
    assert type(of(KafkaError.INVALID_PRODUCER_EPOCH)) is errors.ProducerFenced
    unknown = of(KafkaError._FAIL)
    assert type(unknown) is errors.KafkaError
    assert "_FAIL" in str(unknown)
    assert type(errors.translated(StateError("closed"))) is errors.IllegalStateError
    assert type(commit_error(KafkaError(KafkaError.ILLEGAL_GENERATION))) is errors.CommitFailedError
    again = pickle.loads(pickle.dumps(errors.for_code(7)("x")))
    assert (type(again), str(again)) == (errors.RequestTimedOutError, "[Error 7] RequestTimedOutError: x")


def test_records_are_made_whole_and_sorted_by_partition() -> None:
    messages = [
        Message("t", 1, 7, b"k", b"10", [("h", b"x")], timestamp=(1, 5)),
        Message("t", 0, 0, None, None, timestamp=(2, 6)),
        Message("u", 0, 8, b"", b"", timestamp=(0, -1)),
        Message("t", 1, 8, b"k", b"11", timestamp=(1, 7)),
    ]
    raw: ConsumerRecord[bytes, bytes] = ConsumerRecord("t", 1, 7, 5, 0, b"k", b"10", None, 1, 2, (("h", b"x"),))
    plain = records_of(message_rows(messages), None, None)
    assert plain == {
        TopicPartition("t", 1): [raw, ConsumerRecord("t", 1, 8, 7, 0, b"k", b"11", None, 1, 2, ())],
        TopicPartition("t", 0): [ConsumerRecord("t", 0, 0, 6, 1, None, None, None, -1, -1, ())],
        TopicPartition("u", 0): [ConsumerRecord("u", 0, 8, -1, 0, b"", b"", None, 0, 0, ())],
    }
    for record in plain[TopicPartition("t", 1)]:
        assert [*vars(record)] == [field.name for field in dataclasses.fields(ConsumerRecord)]
        assert pickle.loads(pickle.dumps(record)) == dataclasses.replace(record) == record
    made = records_of(message_rows(messages), lambda key: (key,), lambda value: value and int(value))
    found = [
        (item.key, item.value, item.serialized_key_size, item.serialized_value_size)
        for rows in made.values()
        for item in rows
    ]
    assert found == [((b"k",), 10, 1, 2), ((b"k",), 11, 1, 2), ((None,), None, -1, -1), ((b"",), b"", 0, 0)]
    assert records_of([], None, None) == {}


def test_what_a_partition_without_a_start_raises() -> None:
    error = KafkaError(KafkaError._AUTO_OFFSET_RESET, "why")
    found = trouble_of(Message("t", 3, 100, error=error))
    assert isinstance(found, errors.OffsetOutOfRangeError)
    assert found.args == ({TopicPartition("t", 3): 100},)
    assert isinstance(trouble_of(Message("t", 3, None, error=error)), errors.NoOffsetForPartitionError)


def test_offsets_to_commit_are_checked() -> None:
    here = TopicPartition("t", 0)
    assert [(item.offset, item.metadata) for item in core_offsets({here: (3, "x")})] == [(3, "x")]
    for wrong in ({}, [here], {here: "3"}):
        with pytest.raises(ValueError):
            core_offsets(wrong)  # type: ignore[arg-type]
    for mistyped in ({("t", 0): 3}, {here: (3, 4)}):
        with pytest.raises(TypeError):
            core_offsets(mistyped)  # type: ignore[arg-type]


def test_responses_read_like_kafkas() -> None:
    made = CreateTopicsResponse([("t", 36, "it is there")])
    assert made.topic_errors == [("t", 36, "it is there")]
    assert made.to_object() == {
        "throttle_time_ms": 0,
        "topic_errors": [{"topic": "t", "error_code": 36, "error_message": "it is there"}],
    }
    group = DescribeGroupsResponse([(0, "g", "Stable", "consumer", "range", [("m", "c", "/h", b"1", b"2")])])
    assert group.to_object()["groups"][0]["members"][0]["member_assignment"] == b"2"


def test_a_coroutine_that_waits_is_not_run_at_once() -> None:
    async def quick() -> int:
        return 3

    async def slow() -> None:
        await asyncio.sleep(0)

    assert at_once(quick()) == 3
    with pytest.raises(RuntimeError, match="waits"):
        at_once(slow())


def test_a_token_holds_as_long_as_it_says() -> None:
    claims = base64.urlsafe_b64encode(json.dumps({"exp": 1_900_000_000}).encode()).decode().rstrip("=")
    assert _expiry_s(f"x.{claims}.y") == 1_900_000_000
    assert _expiry_s("opaque") > time.time()
    assert _expiry_s("a.b.c") > time.time()


def test_rebalances_go_on_when_a_callback_raises_a_state_error(caplog: pytest.LogCaptureFixture) -> None:
    told: asyncio.Queue[list[str]] = asyncio.Queue()

    async def on_assign(consumer: AIOConsumer, partitions: list[CorePartition]) -> None:
        told.put_nowait(sorted(partition.topic for partition in partitions))
        raise StateError("of a client of the application")

    async def scene(servers: str) -> None:
        nobody, consumer = Nobody(), AIOConsumer({"bootstrap.servers": servers, "group.id": "g"})
        task = asyncio.ensure_future(serve(consumer, weakref.WeakMethod(nobody.hears)))
        for topics in (["a"], ["a", "b"]):
            await consumer.subscribe(topics, on_assign=on_assign)
            assert await asyncio.wait_for(told.get(), 60) == topics
        assert not task.done()
        await consumer.close()
        await asyncio.wait_for(task, 60)

    with EmbeddedCluster() as cluster, Producer({"bootstrap.servers": cluster.bootstrap_servers}) as producer:
        for topic in ("a", "b"):
            producer.produce(topic, b"v")
        producer.flush()
        asyncio.run(scene(cluster.bootstrap_servers))
    assert "a callback failed" in caplog.text


class Nobody:
    def hears(self, message: Message) -> None:
        raise AssertionError(message.error())


def test_a_state_error_of_others_is_no_end_of_the_consumer() -> None:
    async def scene(servers: str) -> None:
        consumer = AIOKafkaConsumer(bootstrap_servers=servers)
        consumer.assign([TopicPartition("a", 0)])
        await consumer.start()
        for take in (consumer.getone, consumer.getmany):
            for name in ("poll", "consume"):
                setattr(consumer._consumer, name, refuse)
            with pytest.raises(errors.IllegalStateError, match="somebody else"):
                await take()
        await consumer.stop()
        for take in (consumer.getone, consumer.getmany):
            with pytest.raises(errors.ConsumerStoppedError):
                await take()

    async def refuse(*arguments: Any, **named: Any) -> Any:
        raise StateError("somebody else's")

    with EmbeddedCluster() as cluster:
        asyncio.run(scene(cluster.bootstrap_servers))


@pytest.mark.parametrize("servers", ["", " , ", [], [""], None])
@pytest.mark.parametrize("kind", [AIOKafkaProducer, AIOKafkaConsumer])
def test_a_start_without_an_address_fails_at_once(kind: Any, servers: object) -> None:
    async def work() -> None:
        client = kind(bootstrap_servers=servers)
        try:
            with pytest.raises(errors.KafkaConnectionError, match="it names no address"):
                await client.start()
        finally:
            await client.stop()

    asyncio.run(work())
