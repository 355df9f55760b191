"""kafka_core.aio.producing.producer (and producer_core, topic_watch, producer_stats) on a cluster without a network."""

import asyncio
import json
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any
from uuid import UUID

import pytest

from kafka_core.aio.producing.producer import AIOProducer
from kafka_core.errors import AuthError, KafkaError, KafkaException, NetworkError, StateError, UnsupportedVersionError
from kafka_core.hooks import Hooks
from tests.faults.loop import on_loop, until
from tests.patience import judged_by
from tests.unit.kafka_core.aio.fake_cluster import FakeCluster

FAST = {
    "bootstrap.servers": "nowhere:9092",
    "linger.ms": 0,
    "retry.backoff.ms": 1,
    "retry.backoff.max.ms": 2,
}


@asynccontextmanager
async def producing(cluster: FakeCluster, **conf: Any) -> AsyncIterator[AIOProducer]:
    properties = {**FAST, **{name.replace("_", "."): value for name, value in conf.items()}}
    producer = AIOProducer(properties, client=cluster)  # type: ignore[arg-type]
    async with asyncio.timeout(60):
        try:
            yield producer
        finally:
            await producer.close(0.5)


# ---- delivery


@on_loop
async def test_a_record_is_delivered_and_its_future_gives_the_message() -> None:
    cluster = FakeCluster()
    async with producing(cluster) as producer:
        futures = [await producer.produce("events", f"v{number}", partition=1) for number in range(3)]
        assert len(producer) == 3
        messages = await asyncio.gather(*futures)
        assert [(item.topic(), item.partition(), item.offset(), item.value()) for item in messages] == [
            ("events", 1, number, b"v%d" % number) for number in range(3)
        ]
        assert len(producer) == 0
    assert cluster.closed
    assert [(item.producer_id, item.epoch, item.sequence) for item in cluster.written] == [(7, 0, 0)]


@on_loop
async def test_headers_timestamp_and_key_come_back_in_the_message() -> None:
    async with producing(FakeCluster()) as producer:
        future = await producer.produce("events", b"v", b"k", timestamp=1234, headers={"a": "b", "c": None})
        message = await future
        assert (message.key(), message.timestamp(), message.headers()) == (
            b"k",
            (1, 1234),
            [("a", b"b"), ("c", None)],
        )


@on_loop
async def test_a_refused_record_raises_from_its_future() -> None:
    cluster = FakeCluster()
    cluster.answers.append(KafkaError.TOPIC_AUTHORIZATION_FAILED)
    async with producing(cluster) as producer:
        with pytest.raises(KafkaException) as caught:
            await (await producer.produce("events", b"v"))
        assert caught.value.code == KafkaError.TOPIC_AUTHORIZATION_FAILED


def test_callbacks_are_called_on_the_loop_and_one_that_fails_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    async def run() -> None:
        seen: list[Any] = []

        def own(error: KafkaError | None, message: Any) -> None:
            seen.append(("own", error, message.value()))
            raise ValueError("mine")

        conf = {
            "on.delivery": None,
            "on_delivery": lambda error, message: seen.append(("default", error, message.value())),
        }
        del conf["on.delivery"]
        producer = AIOProducer({**FAST, **conf}, client=FakeCluster())  # type: ignore[arg-type]
        first = await producer.produce("events", b"a", on_delivery=own)
        second = await producer.produce("events", b"b")
        await asyncio.gather(first, second)
        await producer.close()
        assert sorted(seen, key=str) == [("default", None, b"b"), ("own", None, b"a")]

    with caplog.at_level(logging.ERROR):
        asyncio.run(run())
    assert "a callback of the producer failed" in caplog.text


@on_loop
async def test_a_cancelled_future_does_not_disturb_the_others() -> None:
    async with producing(FakeCluster()) as producer:
        first = await producer.produce("events", b"a", partition=0)
        second = await producer.produce("events", b"b", partition=0)
        first.cancel()
        assert (await second).offset() == 1


@on_loop
async def test_produce_batch_gives_one_future_each_and_a_bad_one_raises_alone() -> None:
    async with producing(FakeCluster()) as producer:
        futures = await producer.produce_batch(
            "events",
            [{"value": b"a", "partition": 0}, {"value": b"x", "partition": 99}, {"value": b"b"}],
            partition=0,
        )
        await producer.flush()
        outcomes = await asyncio.gather(*futures, return_exceptions=True)
        assert [item.value() for item in (outcomes[0], outcomes[2])] == [b"a", b"b"]  # type: ignore[union-attr]
        assert isinstance(outcomes[1], KafkaException)
        assert outcomes[1].code == KafkaError._UNKNOWN_PARTITION
        late = await producer.produce_batch("events", [{"value": b"x", "partition": 99}])
        with pytest.raises(KafkaException) as caught:
            await late[0]
        assert caught.value.code == KafkaError._UNKNOWN_PARTITION


# ---- retries


@on_loop
async def test_a_lost_connection_is_tried_again_with_the_same_sequence() -> None:
    cluster = FakeCluster()
    cluster.answers += [NetworkError("lost"), KafkaError.NOT_ENOUGH_REPLICAS]
    async with producing(cluster) as producer:
        message = await (await producer.produce("events", b"v", partition=0))
        assert message.offset() == 0
    sequences = [request.topic_data[0].partition_data[0].records for _, request, _ in cluster.requests]
    assert len(sequences) == 3
    assert "events" in cluster.invalidated


@on_loop
async def test_a_broker_that_refuses_connections_is_tried_until_it_takes_them() -> None:
    cluster = FakeCluster(unreachable={1})
    async with producing(cluster) as producer:
        future = await producer.produce("events", b"v")
        await until(lambda: None in cluster.invalidated)
        assert not future.done()
        cluster.unreachable.clear()
        await future


@on_loop
async def test_a_new_leader_gets_what_the_old_one_did_not() -> None:
    cluster = FakeCluster()
    async with producing(cluster) as producer:
        await (await producer.produce("events", b"a", partition=0))
        cluster.leaders[0] = 2
        future = await producer.produce("events", b"b", partition=0)
        await until(lambda: "events" in cluster.invalidated)
        cluster.publish(cluster.view(["events"]))
        assert (await future).offset() == 1
    assert [item.node_id for item in cluster.written] == [1, 2]


@on_loop
async def test_a_connection_that_is_full_is_waited_for() -> None:
    cluster = FakeCluster()
    async with producing(cluster) as producer:
        await (await producer.produce("events", b"a", partition=0))
        cluster.connections[1].writable = False
        await (await producer.produce("events", b"b", partition=0))
        assert cluster.connections[1].writable, "drain was awaited"


def test_a_record_that_never_gets_through_times_out_with_the_cause() -> None:
    judged_by(0.08, never_gets_through)


@on_loop
async def never_gets_through(limit_s: float) -> None:
    cluster = FakeCluster(unreachable={1})
    async with producing(cluster, message_timeout_ms=round(limit_s * 1000)) as producer:
        future = await producer.produce("events", b"v")
        await until(lambda: cluster.invalidated)
        cluster.last_error = AuthError("wrong password for alice")
        with pytest.raises(KafkaException, match="wrong password for alice") as caught:
            await future
        assert caught.value.code == KafkaError._MSG_TIMED_OUT


@on_loop
async def test_a_connection_that_is_lost_when_nothing_is_queued_is_left_alone() -> None:
    cluster = FakeCluster()
    async with producing(cluster) as producer:
        await (await producer.produce("events", b"a", partition=0))
        asked = cluster.connects
        cluster.connections[1].usable = False
        cluster.publish(cluster.view(["events"]))
        producer._core._send_to(1)
        for _ in range(20):
            await asyncio.sleep(0)
        assert cluster.connects == asked
        assert not producer._core._tasks, "nobody spins"
        cluster.connections[1].usable = True
        await (await producer.produce("events", b"b", partition=0))


# ---- topics


@on_loop
async def test_a_topic_that_appears_late_gets_its_records_in_order() -> None:
    cluster = FakeCluster(topics={})
    async with producing(cluster) as producer:
        futures = [await producer.produce("late", str(number), partition=0) for number in range(3)]
        await until(lambda: len(cluster.refreshed) > 2)
        cluster.topics["late"] = 1
        assert [item.offset() for item in await asyncio.gather(*futures)] == [0, 1, 2]
        assert cluster.tracked == ["late"]


@on_loop
async def test_a_topic_that_does_not_exist_fails_its_records() -> None:
    cluster = FakeCluster(topics={})
    async with producing(cluster, topic_metadata_propagation_max_ms=20) as producer:
        future = await producer.produce("nowhere", b"v")
        with pytest.raises(KafkaException, match="'nowhere' does not exist") as caught:
            await future
        assert caught.value.code == KafkaError.UNKNOWN_TOPIC_OR_PART
        assert len(producer) == 0


@on_loop
async def test_a_topic_that_may_not_be_seen_fails_at_once() -> None:
    cluster = FakeCluster(topics={"secret": KafkaError(KafkaError.TOPIC_AUTHORIZATION_FAILED)})
    async with producing(cluster) as producer:
        with pytest.raises(KafkaException, match="secret"):
            await (await producer.produce("secret", b"v"))
        assert len(cluster.refreshed) == 1


@on_loop
async def test_records_for_an_unreachable_cluster_time_out_with_the_first_cause() -> None:
    cluster = FakeCluster(last_error=NetworkError("connection refused"))
    async with producing(cluster, message_timeout_ms=30) as producer:
        with pytest.raises(KafkaException, match="first cause: connection refused") as caught:
            await (await producer.produce("events", b"v"))
        assert caught.value.code == KafkaError._MSG_TIMED_OUT


@on_loop
async def test_a_look_up_that_breaks_fails_its_records_instead_of_leaving_them(monkeypatch: pytest.MonkeyPatch) -> None:
    async def broken(*_: object, **__: object) -> None:
        raise RuntimeError("a bug")

    cluster = FakeCluster()
    monkeypatch.setattr(cluster, "refresh_metadata", broken)
    async with producing(cluster) as producer:
        with pytest.raises(KafkaException, match="a bug"):
            await (await producer.produce("events", b"v"))


@on_loop
async def test_records_that_wait_for_their_topic_outlive_a_want_of_memory(caplog: pytest.LogCaptureFixture) -> None:
    cluster = FakeCluster()
    async with producing(cluster) as producer:
        accumulator = producer._core.accumulator
        tries: list[int] = []

        class Scarce:
            """The accumulator, with no memory for batches at the first time."""

            def __getattr__(self, name: str) -> Any:
                return getattr(accumulator, name)

            def set_partition_count(self, topic: str, count: int) -> None:
                tries.append(count)
                if len(tries) == 1:
                    raise MemoryError
                accumulator.set_partition_count(topic, count)

        producer._core.accumulator = Scarce()  # type: ignore[assignment]
        message = await (await producer.produce("events", b"v"))
        assert message.value() == b"v"
        assert len(tries) == 2
    assert "no memory for the batches of events" in caplog.text


@on_loop
async def test_a_topic_that_is_deleted_fails_its_records_after_a_while() -> None:
    cluster = FakeCluster()
    async with producing(cluster, topic_metadata_propagation_max_ms=20) as producer:
        await (await producer.produce("events", b"a"))
        cluster.topics.clear()
        cluster.publish(cluster.view(["events"]))
        with pytest.raises(KafkaException, match="does not exist"):
            await (await producer.produce("events", b"b"))


@on_loop
async def test_more_partitions_are_used_when_there_are_more() -> None:
    cluster = FakeCluster(topics={"events": 1})
    async with producing(cluster) as producer:
        await (await producer.produce("events", b"a"))
        cluster.topics["events"] = 3
        cluster.publish(cluster.view(["events"]))
        message = await (await producer.produce("events", b"b", partition=2))
        assert message.partition() == 2


def test_topics_go_by_id_when_broker_and_client_know_it() -> None:
    async def run(topic_id: UUID, version: int) -> tuple[str, UUID, int]:
        cluster = FakeCluster(topic_id=topic_id, produce_version=version)
        async with producing(cluster) as producer:
            await (await producer.produce("events", b"a"))
        _, request, used = cluster.requests[0]
        return request.topic_data[0].name, request.topic_data[0].topic_id, used

    known, unknown = UUID(int=5), UUID(int=0)
    assert asyncio.run(run(known, 13)) == ("", known, 13)
    assert asyncio.run(run(known, 12)) == ("events", unknown, 12)
    assert asyncio.run(run(unknown, 13)) == ("events", unknown, 12)


# ---- bounds


@on_loop
async def test_a_full_queue_is_waited_for() -> None:
    cluster = FakeCluster(hold=True)
    async with producing(cluster, queue_buffering_max_messages=2) as producer:
        await producer.produce("events", b"a")
        await producer.produce("events", b"b")
        third = asyncio.ensure_future(producer.produce("events", b"c"))
        await until(lambda: cluster.held)
        assert not third.done()
        cluster.hold = False
        cluster.release()
        await (await third)


@on_loop
async def test_max_block_ms_ends_the_wait() -> None:
    cluster = FakeCluster(hold=True)
    async with producing(cluster, queue_buffering_max_messages=1, max_block_ms=20) as producer:
        future = await producer.produce("events", b"a")
        with pytest.raises(BufferError, match=r"max\.block\.ms \(20\)"):
            await producer.produce("events", b"b")
        cluster.hold = False
        cluster.release()
        await future


# ---- flush, purge, close


@on_loop
async def test_flush_does_not_linger() -> None:
    cluster = FakeCluster()
    async with producing(cluster, linger_ms=60_000) as producer:
        future = await producer.produce("events", b"a")
        await asyncio.sleep(0.01)
        assert not cluster.requests
        assert await producer.flush() == 0
        assert future.done()


def test_linger_gathers_records_in_one_batch() -> None:
    @on_loop
    async def produced_within(limit_s: float) -> None:
        cluster = FakeCluster()
        async with producing(cluster, linger_ms=round(limit_s * 1000)) as producer:
            futures = []
            for number in range(5):
                futures.append(await producer.produce("events", str(number), partition=0))
                await asyncio.sleep(0)
            await asyncio.gather(*futures)
        assert [item.count for item in cluster.written] == [5]

    judged_by(0.1, produced_within)


@on_loop
async def test_flush_gives_up_after_its_time_and_says_what_is_left() -> None:
    cluster = FakeCluster(hold=True)
    async with producing(cluster) as producer:
        future = await producer.produce("events", b"a")
        assert await producer.flush(0.02) == 1
        cluster.hold = False  # the request may still be on its way
        cluster.release()
        await future
        assert await producer.flush() == 0


@on_loop
async def test_purge_tells_records_in_flight_from_those_in_the_queue() -> None:
    cluster = FakeCluster(hold=True)
    async with producing(cluster) as producer:
        sent = await producer.produce("events", b"a", partition=0)
        await until(lambda: cluster.held)
        waiting = await producer.produce("unknown", b"b")
        queued = await producer.produce("events", b"c", partition=0)
        await producer.purge()
        outcomes = await asyncio.gather(sent, waiting, queued, return_exceptions=True)
        codes = [item.code for item in outcomes if isinstance(item, KafkaException)]
        assert codes == [KafkaError._PURGE_INFLIGHT, KafkaError._PURGE_QUEUE, KafkaError._PURGE_QUEUE]
        assert len(producer) == 0
        cluster.hold = False
        cluster.release()
        await (await producer.produce("events", b"d", partition=0))
    assert [item.sequence for item in cluster.written] == [0, 1]


@on_loop
async def test_close_flushes_and_a_closed_producer_refuses() -> None:
    cluster = FakeCluster()
    producer = AIOProducer({**FAST, "linger.ms": 60_000}, client=cluster)  # type: ignore[arg-type]
    future = await producer.produce("events", b"a")
    await producer.close()
    assert (await future).offset() == 0
    await producer.close()
    with pytest.raises(StateError, match="closed"):
        await producer.produce("events", b"b")


def test_close_is_bounded_and_what_is_left_raises(caplog: pytest.LogCaptureFixture) -> None:
    async def run() -> None:
        cluster = FakeCluster(hold=True)
        producer = AIOProducer(FAST, client=cluster)  # type: ignore[arg-type]
        future = await producer.produce("events", b"a")
        await until(lambda: cluster.held)  # it is under way, not in the queue
        await producer.close(0.02)
        with pytest.raises(KafkaException) as caught:
            await future
        assert caught.value.code == KafkaError._PURGE_INFLIGHT

    with caplog.at_level(logging.WARNING):
        asyncio.run(run())
    assert "closed with 1 records not delivered" in caplog.text


def test_a_producer_belongs_to_one_loop() -> None:
    producer = AIOProducer(FAST, client=FakeCluster())  # type: ignore[arg-type]

    async def use() -> None:
        await (await producer.produce("events", b"a"))

    asyncio.run(use())
    with pytest.raises(StateError, match="another event loop"):
        asyncio.run(producer.flush() if len(producer) else producer.list_topics())


# ---- the producer id


@on_loop
async def test_the_id_is_asked_for_until_it_is_granted() -> None:
    cluster = FakeCluster()
    cluster.identities += [KafkaError.COORDINATOR_LOAD_IN_PROGRESS, NetworkError("lost"), AuthError("not yet")]
    async with producing(cluster) as producer:
        await (await producer.produce("events", b"a"))
    assert [item.producer_id for item in cluster.written] == [7]


@pytest.mark.parametrize(
    ("answer", "text"),
    [
        (KafkaError.CLUSTER_AUTHORIZATION_FAILED, "enable.idempotence=false"),
        (UnsupportedVersionError("InitProducerId: none"), "so old a broker"),
    ],
)
@on_loop
async def test_without_an_id_the_producer_cannot_go_on(answer: Any, text: str) -> None:
    cluster = FakeCluster()
    cluster.identities.append(answer)
    async with producing(cluster) as producer:
        future = await producer.produce("events", b"a")
        with pytest.raises(KafkaException, match=text) as caught:
            await future
        assert caught.value.fatal
        with pytest.raises(StateError, match="failed for good"):
            await producer.produce("events", b"b")


@on_loop
async def test_a_fenced_producer_fails_all_that_is_queued() -> None:
    cluster = FakeCluster(hold=True)
    cluster.answers.append(KafkaError.PRODUCER_FENCED)
    async with producing(cluster, linger_ms=10_000) as producer:
        first = await producer.produce("events", b"a", partition=0)
        while not cluster.held:
            assert await producer.flush(0.01) == 1
        second = await producer.produce("events", b"b", partition=0)
        cluster.release()
        outcomes = await asyncio.gather(first, second, return_exceptions=True)
        assert [item.code for item in outcomes] == [KafkaError.PRODUCER_FENCED] * 2  # type: ignore[union-attr]


@on_loop
async def test_without_idempotence_no_id_is_asked_for() -> None:
    cluster = FakeCluster()
    cluster.identities.append(KafkaError.CLUSTER_AUTHORIZATION_FAILED)
    async with producing(cluster, enable_idempotence=False, acks=0) as producer:
        message = await (await producer.produce("events", b"a"))
        assert message.offset() is None
    assert [item.producer_id for item in cluster.written] == [-1]


# ---- the rest


@pytest.mark.parametrize(("codec", "number"), [("gzip", 1), ("snappy", 2), ("lz4", 3), ("zstd", 4)])
@on_loop
async def test_batches_are_compressed(codec: str, number: int) -> None:
    cluster = FakeCluster()
    async with producing(cluster, compression_type=codec) as producer:
        await (await producer.produce("events", b"a" * 1000))
    assert [item.attributes & 7 for item in cluster.written] == [number]


@on_loop
async def test_the_cluster_can_be_listed() -> None:
    async with producing(FakeCluster(topics={"events": 2, "more": 1})) as producer:
        assert sorted((await producer.list_topics()).topics) == ["events", "more"]
        assert list((await producer.list_topics("events")).topics["events"].partitions) == [0, 1]
        assert await producer.cluster_id() == "fake"


@on_loop
async def test_throttling_errors_and_statistics_are_told() -> None:
    seen: dict[str, list[Any]] = {"throttle": [], "stats": [], "error": []}
    cluster = FakeCluster(throttle_time_ms=250)
    conf = {
        **FAST,
        "statistics.interval.ms": 20,
        "throttle_cb": seen["throttle"].append,
        "stats_cb": seen["stats"].append,
        "error_cb": seen["error"].append,
    }
    producer = AIOProducer(conf, client=cluster)  # type: ignore[arg-type]
    await (await producer.produce("events", b"abc", partition=0))
    cluster.on_error_listeners[0](KafkaError(KafkaError._ALL_BROKERS_DOWN))
    await until(lambda: seen["stats"] and json.loads(seen["stats"][-1])["txmsgs"])
    await producer.close()
    assert [(item.broker_name, item.broker_id, item.throttle_time) for item in seen["throttle"]] == [
        ("host1:9092", 1, 0.25)
    ]
    assert seen["error"] == [KafkaError._ALL_BROKERS_DOWN]
    stats = json.loads(seen["stats"][-1])
    assert (stats["type"], stats["txmsgs"], stats["msg_cnt"]) == ("producer", 1, 0)
    assert stats["topics"]["events"]["partitions"]["0"]["txmsgs"] == 1
    broker, partition = stats["brokers"]["host1:9092/1"], stats["topics"]["events"]["partitions"]["0"]
    assert (broker["state"], partition["broker"]) == ("UP", 1)
    assert stats["eos"]["producer_id"] == 7


def test_hooks_are_told_of_delivered_batches() -> None:
    async def run() -> None:
        sent: list[tuple[Any, ...]] = []

        class Hook:
            def on_batch_sent(self, *facts: Any) -> None:
                sent.append(facts)

        cluster = FakeCluster()
        cluster.answers.append(KafkaError.NOT_ENOUGH_REPLICAS)
        async with producing(cluster, hooks=Hooks([Hook()])) as producer:
            await (await producer.produce("events", b"abc", partition=1))
        [(node_id, topic, partition, records, raw_bytes, wire_bytes)] = sent
        assert (node_id, topic, partition, records) == (1, "events", 1, 1)
        assert wire_bytes == raw_bytes + 61

    asyncio.run(run())


@on_loop
@pytest.mark.parametrize("away", ["slow", "unreachable", "leaderless"])
async def test_a_backlog_goes_out_in_few_large_batches(away: str) -> None:
    cluster = FakeCluster(hold=True)
    if away == "unreachable":
        cluster.unreachable = {1, 2}
    if away == "leaderless":
        cluster.leaders = {0: -1, 1: -1}
    async with producing(cluster) as producer:
        futures = []
        for number in range(300):
            futures.append(await producer.produce("events", f"{number}", partition=0))
            await asyncio.sleep(0.0001)
        cluster.unreachable, cluster.leaders, cluster.hold = set(), {}, False
        cluster.publish(cluster.view(["events"]))
        flushing = asyncio.ensure_future(producer.flush())
        while not flushing.done():
            cluster.release()
            await asyncio.sleep(0.001)
        messages = await asyncio.gather(*futures)
    assert [message.offset() for message in messages] == list(range(300))
    assert sum(item.count for item in cluster.written) == 300
    assert len(cluster.written) <= 12, [item.count for item in cluster.written]


@on_loop
async def test_held_back_records_are_sent_without_a_further_record_or_flush() -> None:
    cluster = FakeCluster(hold=True)
    async with producing(cluster, max_in_flight_requests_per_connection=1) as producer:
        futures = []
        for number in range(5):
            futures.append(await producer.produce("events", f"{number}", partition=0))
            await until(lambda: cluster.held)
        cluster.hold = False
        cluster.release()
        await asyncio.gather(*futures)
    counts = [item.count for item in cluster.written]
    assert counts[0] == 1
    assert sum(counts) == 5
