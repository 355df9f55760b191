"""Examples in aiokafka's manual (seed 004), in own words, on our dialect: its first steps, its guides, its examples."""

from __future__ import annotations

import asyncio
import json
import random
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from kserdes.compat.aiokafka import (
    AIOKafkaConsumer,
    AIOKafkaProducer,
    ConsumerRebalanceListener,
    ConsumerRecord,
    OffsetAndMetadata,
    TopicPartition,
)
from kserdes.compat.aiokafka.admin import AIOKafkaAdminClient
from kserdes.compat.aiokafka.errors import OffsetOutOfRangeError
from kserdes.compat.aiokafka.helpers import create_ssl_context
from kserdes.compat.aiokafka.interfaces import AbstractTokenProvider
from tests.contract.clusters import LIMIT_S, Cluster, unique
from tests.contract.test_aio import run
from tests.fix_kafka import PASSWORD, USER

Record = ConsumerRecord[Any, Any]


def reading(cluster: Cluster, *topics: str, **arguments: Any) -> AIOKafkaConsumer:
    """A consumer that begins at the start."""
    arguments.setdefault("auto_offset_reset", "earliest")
    return AIOKafkaConsumer(*topics, bootstrap_servers=cluster.servers, **arguments)


async def write(cluster: Cluster, topic: str, *values: bytes, key: bytes | None = None, partition: int = 0) -> None:
    async with AIOKafkaProducer(bootstrap_servers=cluster.servers) as producer:
        for value in values:
            await producer.send(topic, value, key=key, partition=partition)


async def taken(consumer: AIOKafkaConsumer, count: int) -> list[Record]:
    found: list[Record] = []
    async with asyncio.timeout(LIMIT_S):
        while len(found) < count:
            for records in (await consumer.getmany(timeout_ms=500)).values():
                found += records
    return found


def test_first_steps(cluster: Cluster) -> None:
    async def work() -> None:
        topic = cluster.topic()
        producer = AIOKafkaProducer(bootstrap_servers=cluster.servers)
        await producer.start()
        try:
            await producer.send_and_wait(topic, b"Super message")
        finally:
            await producer.stop()
        consumer = reading(cluster, topic, group_id=unique("group"))
        await consumer.start()
        try:
            async for message in consumer:
                assert (message.topic, message.partition, message.offset) == (topic, 0, 0)
                assert (message.key, message.value) == (None, b"Super message")
                break
        finally:
            await consumer.stop()

    run(work)


def test_a_batch_is_filled_by_hand(cluster: Cluster) -> None:
    async def work() -> None:
        topic = cluster.topic(partitions=3)
        sent: Counter[int] = Counter()
        async with AIOKafkaProducer(bootstrap_servers=cluster.servers, max_batch_size=1000) as producer:
            batch, number = producer.create_batch(), 0
            while number < 100:
                if batch.append(key=None, value=b"Test message %d" % number, timestamp=None) is None:
                    partition = random.choice(tuple(await producer.partitions_for(topic)))
                    await producer.send_batch(batch, topic, partition=partition)
                    sent[partition] += batch.record_count()
                    batch = producer.create_batch()
                    continue
                number += 1
            place = await (await producer.send_batch(batch, topic, partition=0))
            assert place.offset == sent[0]  # of its first record
        async with reading(cluster, topic) as consumer:
            assert len({record.value for record in await taken(consumer, 100)}) == 100

    run(work)


def test_objects_are_serialized_and_compressed(cluster: Cluster) -> None:
    async def work() -> None:
        topic = cluster.topic()
        async with AIOKafkaProducer(
            bootstrap_servers=cluster.servers,
            value_serializer=lambda value: json.dumps(value).encode(),
            compression_type="gzip",
        ) as producer:
            await producer.send(topic, {"a": 123.4, "b": "some string"})
            await producer.send(topic, [1, 2, 3, 4])
        async with reading(cluster, topic, value_deserializer=json.loads) as consumer:
            values = [record.value for record in await taken(consumer, 2)]
        assert values == [{"a": 123.4, "b": "some string"}, [1, 2, 3, 4]]

    run(work)


def test_commits_are_made_by_hand_and_say_more(cluster: Cluster) -> None:
    async def work() -> None:
        topic, group = cluster.topic(), unique("group")
        await write(cluster, topic, *[b"%d" % number for number in range(10)])
        here = TopicPartition(topic, 0)
        async with reading(cluster, topic, group_id=group, enable_auto_commit=False) as consumer:
            for number in range(5):
                message = await consumer.getone()
                await consumer.commit()
                assert await consumer.committed(here) == message.offset + 1 == number + 1
            await consumer.commit({here: (7, "seven")})
        async with AIOKafkaAdminClient(bootstrap_servers=cluster.servers) as admin:
            assert await admin.list_consumer_group_offsets(group) == {here: OffsetAndMetadata(7, "seven")}
        async with reading(cluster, topic, group_id=group) as consumer:
            assert (await consumer.getone()).value == b"7"

    run(work)


def test_a_group_shares_and_another_one_gets_all(modern_cluster: Cluster) -> None:
    async def work() -> None:
        topic, group = modern_cluster.topic(partitions=2), unique("group")
        first, second = (
            reading(modern_cluster, topic, group_id=group, heartbeat_interval_ms=100, client_id=name) for name in "ab"
        )
        async with first, second:
            async with asyncio.timeout(LIMIT_S):
                while {len(first.assignment()), len(second.assignment())} != {1}:
                    await asyncio.gather(first.getmany(timeout_ms=20), second.getmany(timeout_ms=20))
            for partition in range(2):
                await write(modern_cluster, topic, b"one", b"two", partition=partition)
            shared = await asyncio.gather(taken(first, 2), taken(second, 2))
            assert [{record.partition for record in records} for records in shared] == [
                {item.partition for item in member.assignment()} for member in (first, second)
            ]
        async with reading(modern_cluster, topic, group_id=unique("group")) as other:
            assert len(await taken(other, 4)) == 4

    run(work)


def test_a_partitioner_of_ones_own(cluster: Cluster) -> None:
    async def work() -> None:
        topic = cluster.topic(partitions=7)

        def choose(key: bytes | None, every: Any, available: Any) -> int:
            return int(every[0] if key == b"first" else every[-1] if key == b"last" else random.choice(every))

        async with AIOKafkaProducer(bootstrap_servers=cluster.servers, partitioner=choose) as producer:
            assert (await producer.send_and_wait(topic, b"1", key=b"last")).partition == 6
            assert (await producer.send_and_wait(topic, b"2", key=b"first")).partition == 0

    run(work)


def test_tls_and_passwords_and_tokens(secure_cluster: Cluster) -> None:
    class Tokens(AbstractTokenProvider):
        async def token(self) -> str:
            raise AssertionError("nobody asks for it")

    async def work() -> None:
        cluster, topic = secure_cluster, unique("secure")
        login = {"sasl_plain_username": USER, "sasl_plain_password": PASSWORD, "sasl_oauth_token_provider": Tokens()}
        ways: list[tuple[str, dict[str, Any]]] = [
            (
                cluster.tls_servers,
                {"security_protocol": "SSL", "ssl_context": create_ssl_context(cafile=str(cluster.ca))},
            ),
            (
                cluster.sasl_servers,
                {"security_protocol": "SASL_PLAINTEXT", "sasl_mechanism": "SCRAM-SHA-256", **login},
            ),
        ]
        for servers, arguments in ways:  # these may be clusters of their own
            async with AIOKafkaProducer(bootstrap_servers=servers, **arguments) as producer:
                place = await producer.send_and_wait(topic, b"Super Message", partition=0)
            async with AIOKafkaConsumer(topic, bootstrap_servers=servers, **arguments) as consumer:
                consumer.seek(TopicPartition(topic, 0), place.offset)
                assert (await consumer.getone()).value == b"Super Message"

    run(work)


def test_state_is_kept_outside_and_rebalances_move_it(modern_cluster: Cluster, tmp_path: Path) -> None:
    """Counts and offsets are in files; a listener writes them before a rebalance and reads them after it."""

    class State(ConsumerRebalanceListener):
        def __init__(self, consumer: AIOKafkaConsumer) -> None:
            self.consumer = consumer
            self.counts: dict[TopicPartition, Counter[str]] = {}
            self.offsets: dict[TopicPartition, int] = {}

        def file(self, partition: TopicPartition) -> Path:
            return tmp_path / f"{partition.topic}-{partition.partition}.json"

        async def on_partitions_revoked(self, revoked: Iterable[TopicPartition]) -> None:
            for partition in revoked:
                text = json.dumps({"last": self.offsets[partition], "counts": self.counts[partition]})
                self.file(partition).write_text(text)

        async def on_partitions_assigned(self, assigned: Iterable[TopicPartition]) -> None:
            for partition in assigned:
                path = self.file(partition)
                text = path.read_text() if path.exists() else '{"last": -1, "counts": {}}'
                state = json.loads(text)
                self.counts[partition], self.offsets[partition] = Counter(state["counts"]), state["last"]
                if state["last"] < 0:
                    await self.consumer.seek_to_beginning(partition)
                else:
                    self.consumer.seek(partition, state["last"] + 1)

        def count(self, records: list[Record]) -> None:
            for record in records:
                partition = TopicPartition(record.topic, record.partition)
                self.counts[partition][record.key] += 1
                self.offsets[partition] = record.offset

    async def work() -> None:
        topic, group = modern_cluster.topic(partitions=2), unique("group")
        for partition in range(2):
            await write(modern_cluster, topic, b"x", b"y", b"z", key=b"key %d" % partition, partition=partition)
        options: dict[str, Any] = {
            "group_id": group, "enable_auto_commit": False, "auto_offset_reset": "none", "heartbeat_interval_ms": 100,
            "key_deserializer": lambda key: key.decode() if key else "",
        }  # fmt: skip
        first = reading(modern_cluster, **options)
        kept = State(first)
        first.subscribe(topics=[topic], listener=kept)
        async with first:
            kept.count(await taken(first, 6))
            second = reading(modern_cluster, **options)
            moved = State(second)
            second.subscribe(topics=[topic], listener=moved)
            async with second:  # nothing is read twice: offsets came from the files
                for partition in range(2):
                    await write(modern_cluster, topic, b"more", key=b"key %d" % partition, partition=partition)
                mine = next(iter(second.assignment()))
                moved.count(await taken(second, 1))
                assert moved.counts[mine] == {f"key {mine.partition}": 4}
        async with reading(modern_cluster, auto_offset_reset="none") as late:
            here = TopicPartition(topic, 0)
            late.assign([here])
            late.seek(here, 1000)  # as if the file were out of date
            try:
                await late.getmany(timeout_ms=LIMIT_S * 1000)
                raise AssertionError("there is no such offset")
            except OffsetOutOfRangeError as error:
                await late.seek_to_beginning(*error.args[0].keys())
            assert (await late.getone()).offset == 0

    run(work)


def test_lagging_partitions_go_first(cluster: Cluster) -> None:
    async def work() -> None:
        topic = cluster.topic(partitions=2)
        await write(cluster, topic, *[b"late"] * 5, partition=0)
        await write(cluster, topic, b"in time", partition=1)
        async with reading(cluster, topic) as consumer:
            await taken(consumer, 6)
            late = TopicPartition(topic, 0)
            consumer.seek(late, 0)
            lagging = [
                partition
                for partition in sorted(consumer.assignment())
                if (consumer.highwater(partition) or 0) - await consumer.position(partition) > 3
            ]
            assert lagging == [late]
            assert set(await consumer.getmany(*lagging, timeout_ms=LIMIT_S * 1000)) == {late}

    run(work)


def test_records_are_read_processed_and_written_in_transactions(modern_cluster: Cluster) -> None:
    async def work() -> None:
        source, target, group = modern_cluster.topic(), modern_cluster.topic(), unique("group")
        await write(modern_cluster, source, b"a", b"b", b"a", key=b"k")
        consumer = reading(
            modern_cluster, source, enable_auto_commit=False, group_id=group, isolation_level="read_committed"
        )
        producer = AIOKafkaProducer(bootstrap_servers=modern_cluster.servers, transactional_id=unique("txn"))
        async with consumer, producer:
            records = await taken(consumer, 3)
            here = TopicPartition(source, 0)
            for fails in (True, False):
                try:
                    async with producer.transaction():
                        for value, count in Counter(record.value for record in records).items():
                            await producer.send(target, value=b"%s: %d" % (value, count), key=b"k", timestamp_ms=1000)
                        await producer.send_offsets_to_transaction({here: records[-1].offset + 1}, group)
                        if fails:
                            raise RuntimeError("the process fails once")
                except RuntimeError:
                    assert await consumer.committed(here) is None
            assert await consumer.committed(here) == 3
        async with reading(modern_cluster, target, isolation_level="read_committed") as results:
            assert [record.value for record in await taken(results, 2)] == [b"a: 2", b"b: 1"]

    run(work)
