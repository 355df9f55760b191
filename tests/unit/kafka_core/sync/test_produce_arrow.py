"""Producer.produce_arrow and AIOProducer.produce_arrow on the embedded broker."""

from __future__ import annotations

import asyncio
import datetime
import threading
from collections.abc import Iterator
from typing import Any

import pyarrow as pa
import pytest

from kafka_core import Consumer, Producer, TopicPartition
from kafka_core.aio import AIOProducer
from kafka_core.broker import EmbeddedCluster
from kafka_core.errors import KafkaError, KafkaException


@pytest.fixture(scope="module")
def cluster() -> Iterator[EmbeddedCluster]:
    with EmbeddedCluster() as started:
        yield started


def read(cluster: EmbeddedCluster, topic: str, count: int) -> list[Any]:
    conf = {"bootstrap.servers": cluster.bootstrap_servers, "group.id": "g", "auto.offset.reset": "earliest"}
    with Consumer(conf) as consumer:
        consumer.assign([TopicPartition(topic, 0, 0)])
        return consumer.consume(count, timeout=60)


def test_columns_arrive_as_records(cluster: EmbeddedCluster) -> None:
    noon = datetime.datetime(2024, 1, 1, 12, tzinfo=datetime.UTC)
    table = pa.table(
        {
            "key": pa.array(["a", None]),
            "value": pa.array([b"1", None], pa.binary(1)),
            "timestamp": pa.array([noon, None], pa.timestamp("us", tz="UTC")),
            "headers": pa.array([[("h", b"1"), ("n", None)], []], pa.map_(pa.string(), pa.binary())),
        }
    )
    with Producer({"bootstrap.servers": cluster.bootstrap_servers}) as producer:
        assert producer.produce_arrow("arrow", table, partition=0) == 2
        assert producer.produce_arrow("arrow", table.slice(1).to_batches()[0], partition=0) == 1
        assert producer.flush(60) == 0
    first, second, third = read(cluster, "arrow", 3)
    assert (first.key(), first.value(), first.headers()) == (b"a", b"1", [("h", b"1"), ("n", None)])
    assert first.timestamp() == (1, 1_704_110_400_000)
    assert (second.key(), second.value(), second.headers(), third.value()) == (None, None, None, None)
    assert second.timestamp()[1] > 1_704_110_400_000


@pytest.mark.parametrize(
    ("records", "kind", "text"),
    [
        ({"value": [1, 2]}, TypeError, "'value' must be of bytes or text, not int64"),
        ({"vale": ["a"]}, ValueError, "columns of records are key, value"),
        ({"partition": ["a"]}, TypeError, "'partition' must be of whole numbers"),
        ({"headers": ["a"]}, TypeError, "'headers' must be of lists"),
        ({"partition": [2**40]}, ValueError, "Integer value"),
    ],
)
def test_wrong_columns_are_said(records: dict[str, list[Any]], kind: type[Exception], text: str) -> None:
    producer = Producer({"bootstrap.servers": "127.0.0.1:1"})
    with pytest.raises(kind, match=text):
        producer.produce_arrow("t", pa.RecordBatch.from_pydict(records))
    with pytest.raises(TypeError, match="must be a pyarrow"):
        producer.produce_arrow("t", records)  # type: ignore[arg-type]
    assert len(producer) == 0
    producer.close(0)


def test_a_row_that_is_too_large_is_named() -> None:
    producer = Producer({"bootstrap.servers": "127.0.0.1:1", "message.max.bytes": 2000})
    with pytest.raises(KafkaException, match="row 2 can't be queued, those before it are: a record of 3") as caught:
        producer.produce_arrow("t", pa.table({"value": [b"a", b"b", b"x" * 3000, b"c"]}))
    assert caught.value.args[0].code() == KafkaError.MSG_SIZE_TOO_LARGE
    assert len(producer) == 2
    producer.purge()
    producer.close(0)


def test_a_full_queue_takes_what_fits_or_waits(cluster: EmbeddedCluster) -> None:
    table = pa.table({"value": [b"%d" % at for at in range(50)]})
    full = Producer({"bootstrap.servers": "127.0.0.1:1", "queue.buffering.max.messages": 20})
    assert full.produce_arrow("t", table) == 20
    full.purge()
    full.close(0)
    conf = {
        "bootstrap.servers": cluster.bootstrap_servers,
        "queue.buffering.max.messages": 20,
        "max.block.ms": 60_000,
        "linger.ms": 0,
    }
    with Producer(conf) as producer:
        assert producer.produce_arrow("waits", table, partition=0) == 50
        producer.flush(60)
    assert [message.value() for message in read(cluster, "waits", 50)] == [b"%d" % at for at in range(50)]


def test_callbacks_are_called_for_each_row_or_for_failures_only(cluster: EmbeddedCluster) -> None:
    table = pa.table({"value": [b"a", b"b"]})
    told: list[Any] = []
    lock = threading.Lock()

    def done(error: KafkaError | None, message: Any) -> None:
        with lock:
            told.append((error, message.value()))

    with Producer({"bootstrap.servers": cluster.bootstrap_servers}) as producer:
        producer.produce_arrow("t", table, partition=0, callback=done)
        producer.flush(60)
    assert told == [(None, b"a"), (None, b"b")]
    with pytest.raises(ValueError, match="two names"):
        producer.produce_arrow("t", table, callback=done, on_delivery=print)


def test_the_asyncio_producer_gives_one_future_for_all_rows(cluster: EmbeddedCluster) -> None:
    table = pa.table({"value": [b"%d" % at for at in range(30)]})

    async def run() -> None:
        conf = {"bootstrap.servers": cluster.bootstrap_servers, "queue.buffering.max.messages": 20, "linger.ms": 0}
        told: list[Any] = []
        async with AIOProducer(conf) as producer:
            rows = await producer.produce_arrow("aio", table, 0, lambda error, message: told.append(error))
            assert await asyncio.wait_for(rows, 60) == 30
            nothing = await producer.produce_arrow("aio", table.slice(0, 0), 0)
            assert await asyncio.wait_for(nothing, 60) == 0
        assert told == [None] * 30

    asyncio.run(run())
    assert [message.value() for message in read(cluster, "aio", 30)] == [b"%d" % at for at in range(30)]


def test_a_row_that_fails_is_raised_by_the_future(cluster: EmbeddedCluster) -> None:
    async def run() -> None:
        conf = {"bootstrap.servers": cluster.bootstrap_servers, "linger.ms": 60_000}  # it is queued when it is purged
        async with AIOProducer(conf) as producer:
            rows = await producer.produce_arrow("aio-purged", pa.table({"value": [b"a", b"b"]}), 0)
            await producer.purge()
            with pytest.raises(KafkaException, match=r"(?i)purge"):
                await asyncio.wait_for(rows, 60)

    asyncio.run(run())


class Trouble(Exception):
    """Of a callback."""


def test_what_a_callback_raises_meanwhile_says_how_many_rows_are_queued(cluster: EmbeddedCluster) -> None:
    table = pa.table({"value": [b"%d" % at for at in range(50)]})
    troubles = [Trouble()]

    def done(error: KafkaError | None, _: Any) -> None:
        assert error is None
        if troubles:
            raise troubles.pop()

    conf = {
        "bootstrap.servers": cluster.bootstrap_servers,
        "queue.buffering.max.messages": 7,
        "max.block.ms": 60_000,
        "linger.ms": 0,
    }
    with Producer(conf) as producer:
        with pytest.raises(Trouble) as raised:
            producer.produce_arrow("trouble", table, partition=0, callback=done)
        queued = raised.value.queued_rows  # type: ignore[attr-defined]
        assert 0 < queued < 50
        rest = table.slice(queued)
        assert producer.produce_arrow("trouble", rest, partition=0, callback=done) == rest.num_rows
        producer.flush(60)
    assert [message.value() for message in read(cluster, "trouble", 50)] == [b"%d" % at for at in range(50)]


def test_the_exceptions_of_a_row_say_how_many_rows_are_queued() -> None:
    producer = Producer({"bootstrap.servers": "127.0.0.1:1", "message.max.bytes": 2000})
    table = pa.table({"value": [b"a", b"b", b"x" * 3000, b"c"]})
    with pytest.raises(KafkaException) as large:
        producer.produce_arrow("t", table)
    with pytest.raises(ValueError, match="partition must be") as early:
        producer.produce_arrow("t", pa.table({"value": [b"a", b"b"], "partition": [5, -7]}))
    with pytest.raises(ValueError, match="columns of records") as wrong:
        producer.produce_arrow("t", pa.table({"vale": [b"a"]}))
    assert [large.value.queued_rows, early.value.queued_rows] == [2, 1]  # type: ignore[attr-defined]
    assert getattr(wrong.value, "queued_rows", 0) == 0
    producer.purge()
    producer.close(0)
    with pytest.raises(KafkaException) as closed:
        producer.produce_arrow("t", table)
    assert closed.value.queued_rows == 0  # type: ignore[attr-defined]


def test_a_wait_that_is_cancelled_says_how_many_rows_are_queued() -> None:
    table = pa.table({"value": [b"%d" % at for at in range(50)]})

    async def run() -> None:
        conf = {"bootstrap.servers": "127.0.0.1:1", "queue.buffering.max.messages": 20}
        producer = AIOProducer(conf)
        waiting = asyncio.ensure_future(producer.produce_arrow("t", table))
        for _ in range(1000):
            if producer._accumulator.queued_records == 20:
                break
            await asyncio.sleep(0)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError) as raised:
            await waiting
        assert raised.value.queued_rows == 20  # type: ignore[attr-defined]
        await producer.close(0)

    asyncio.run(run())
