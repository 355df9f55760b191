"""The pieces of code in the guides of aiokafka's manual (0.8), step by step as they stand there, on our dialect.

Its longer examples are in `test_aiokafka_examples`; docs/examples-of-the-peers.md lists all of them.
"""

from __future__ import annotations

import asyncio
import base64
import json
import time
from collections import Counter
from collections.abc import Iterable
from typing import Any

import pytest

from kafka_core.broker import EmbeddedCluster, SaslSettings
from kserdes.compat import aiokafka
from kserdes.compat.aiokafka import (
    AIOKafkaConsumer,
    AIOKafkaProducer,
    ConsumerRebalanceListener,
    ConsumerRecord,
    TopicPartition,
)
from kserdes.compat.aiokafka.errors import IllegalStateError, KafkaError, KafkaTimeoutError
from kserdes.compat.aiokafka.interfaces import AbstractTokenProvider
from kserdes.compat.aiokafka.partitioner import DefaultPartitioner
from kserdes.compat.aiokafka.producer import TURN_RECORDS
from tests.contract.clusters import LIMIT_S, Cluster, unique
from tests.contract.test_aio import run
from tests.contract.test_aiokafka_examples import reading, taken, write

Record = ConsumerRecord[Any, Any]


def test_a_record_is_waited_for_by_its_future(cluster: Cluster) -> None:
    async def work() -> None:
        topic = cluster.topic(partitions=2)
        producer = AIOKafkaProducer(bootstrap_servers=cluster.servers)
        await producer.start()
        try:
            future = await producer.send(topic, b"Super message", partition=1)
            record = await future
            assert (record.topic, record.partition, record.offset) == (topic, 1, 0)
            assert record.topic_partition == TopicPartition(topic, 1)
            limited = await asyncio.wait_for(producer.send(topic, b"x", partition=0), timeout=LIMIT_S)
            assert (await limited).offset == 0
        finally:
            await producer.stop()

    run(work)


def test_records_leave_while_a_task_only_sends(cluster: Cluster) -> None:
    async def work() -> None:
        topic, turns = cluster.topic(), 0

        async def count() -> None:
            nonlocal turns
            while True:
                turns += 1
                await asyncio.sleep(0)

        async with AIOKafkaProducer(bootstrap_servers=cluster.servers, max_batch_size=20_000) as producer:
            await producer.partitions_for(topic)
            other = asyncio.create_task(count())
            futures = [await producer.send(topic, b"v" * 100) for _ in range(5 * TURN_RECORDS)]
            assert turns >= 4  # `send` never waits for a record, but the loop has its turns
            other.cancel()
            assert [(await future).offset for future in futures] == list(range(5 * TURN_RECORDS))

    run(work)


def test_idempotence_asks_for_all_acknowledgements(cluster: Cluster) -> None:
    async def work() -> None:
        topic = cluster.topic()
        producer = AIOKafkaProducer(bootstrap_servers=cluster.servers, enable_idempotence=True)
        await producer.start()
        try:
            assert (await producer.send_and_wait(topic, b"Super message")).offset == 0
        finally:
            await producer.stop()
        with pytest.raises(ValueError, match="acks"):
            AIOKafkaProducer(bootstrap_servers=cluster.servers, enable_idempotence=True, acks=1)

    run(work)


def test_a_transaction_commits_records_and_offsets(modern_cluster: Cluster) -> None:
    async def work() -> None:
        topic, group = modern_cluster.topic(), unique("group")
        producer = AIOKafkaProducer(bootstrap_servers=modern_cluster.servers, transactional_id=unique("txn"))
        await producer.start()
        try:
            async with producer.transaction():
                result = await producer.send_and_wait(topic, b"Super transactional message")
            assert result.offset == 0
            async with producer.transaction():
                await producer.send_offsets_to_transaction({TopicPartition(topic, 0): 100}, group)
        finally:
            await producer.stop()
        async with reading(modern_cluster, topic, group_id=group) as consumer:
            assert await consumer.committed(TopicPartition(topic, 0)) == 100

    run(work)


def test_a_batch_of_two(cluster: Cluster) -> None:
    async def work() -> None:
        topic = cluster.topic(partitions=2)
        producer = AIOKafkaProducer(bootstrap_servers=cluster.servers)
        await producer.start()
        try:
            batch = producer.create_batch()
            for number in range(2):
                metadata = batch.append(value=b"msg %d" % number, key=None, timestamp=None)
                assert metadata is not None
                assert metadata.offset == number
            batch.close()
            assert batch.append(value=b"late", key=None, timestamp=None) is None
            record = await (await producer.send_batch(batch, topic, partition=1))
            assert (record.partition, record.offset) == (1, 0)
            later = producer.create_batch()
            later.append(value=b"msg 2", key=None, timestamp=None)
            assert (await (await producer.send_batch(later, topic, partition=1))).offset == 2
        finally:
            await producer.stop()
        async with reading(cluster, topic) as consumer:
            assert [record.value for record in await taken(consumer, 3)] == [b"msg 0", b"msg 1", b"msg 2"]

    run(work)


def test_positions_and_committed_offsets(cluster: Cluster) -> None:
    async def work() -> None:
        topic = cluster.topic()
        await write(cluster, topic, b"0", b"1")
        consumer = aiokafka.AIOKafkaConsumer(
            topic, bootstrap_servers=cluster.servers, group_id=unique("group"), auto_offset_reset="earliest",
            auto_commit_interval_ms=3_600_000,
        )  # fmt: skip
        await consumer.start()
        try:
            message = await consumer.getone()
            partition = aiokafka.TopicPartition(message.topic, message.partition)
            position = await consumer.position(partition)
            assert position == message.offset + 1
            assert await consumer.committed(partition) is None
            consumer.seek(partition, message.offset)
            assert await consumer.getone() == message
            await consumer.commit({partition: message.offset + 1})
            assert await consumer.committed(partition) == 1
            await consumer.commit({partition: (message.offset + 1, "Some utf-8 metadata")})
            done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            task = asyncio.get_running_loop().create_task(consumer.commit())
            task.add_done_callback(lambda each: done.set_result(each.result()))
            await done
        finally:
            await consumer.stop()

    run(work)


def test_commits_made_by_themselves_are_there_for_the_next_one(cluster: Cluster) -> None:
    async def work() -> None:
        topic, group = cluster.topic(), unique("group")
        await write(cluster, topic, b"0", b"1", b"2")
        here = TopicPartition(topic, 0)
        consumer = AIOKafkaConsumer(
            topic, bootstrap_servers=cluster.servers, group_id=group, enable_auto_commit=True,
            auto_commit_interval_ms=100, auto_offset_reset="earliest",
        )  # fmt: skip
        await consumer.start()
        try:
            async for message in consumer:
                if message.offset == 2:
                    break
            while await consumer.committed(here) != 3:  # within the limit of run()
                await consumer.getmany(timeout_ms=50)
        finally:
            await consumer.stop()

    run(work)


def test_a_hundred_records_at_a_time(cluster: Cluster) -> None:
    async def work() -> None:
        topic, group = cluster.topic(), unique("group")
        await write(cluster, topic, *[b"%d" % number for number in range(250)])
        consumer = AIOKafkaConsumer(
            topic, bootstrap_servers=cluster.servers, group_id=group, enable_auto_commit=False,
            auto_offset_reset="earliest",
        )  # fmt: skip
        await consumer.start()
        committed, batch = [], []
        async for message in consumer:
            batch.append(message)
            if len(batch) == 100:
                await consumer.commit()
                committed.append(await consumer.committed(TopicPartition(topic, 0)))
                batch = []
            if message.offset == 249:
                break
        await consumer.stop()
        assert committed == [100, 200]

    run(work)


def test_only_the_partition_that_was_worked_on_is_committed(cluster: Cluster) -> None:
    async def work() -> None:
        topic, group = cluster.topic(partitions=2), unique("group")
        await write(cluster, topic, b"a", b"b", partition=0)
        await write(cluster, topic, b"c", partition=1)
        async with reading(cluster, topic, group_id=group, enable_auto_commit=False) as consumer:
            ends: dict[TopicPartition, int] = {}
            while sum(ends.values()) < 3:
                result = await consumer.getmany(timeout_ms=10 * 1000)
                for partition, messages in result.items():
                    if messages:
                        await consumer.commit({partition: messages[-1].offset + 1})
                        ends[partition] = messages[-1].offset + 1
                        assert await consumer.committed(partition) == ends[partition]
        assert ends == {TopicPartition(topic, 0): 2, TopicPartition(topic, 1): 1}

    run(work)


def test_only_what_is_new(cluster: Cluster) -> None:
    async def work() -> None:
        topic = cluster.topic()
        await write(cluster, topic, b"old")
        consumer = AIOKafkaConsumer(topic, bootstrap_servers=cluster.servers, auto_offset_reset="latest")
        await consumer.start()
        try:
            assert await consumer.position(TopicPartition(topic, 0)) == 1
            await write(cluster, topic, b"new")
            async for message in consumer:
                assert message.value == b"new"
                break
        finally:
            await consumer.stop()

    run(work)


def test_counts_and_offsets_are_kept_elsewhere(cluster: Cluster) -> None:
    """Instead of a server for them, a dictionary."""

    async def work() -> None:
        topic = cluster.topic()
        kept = {"cellar": json.dumps({"count": 4, "offset": 1})}
        for key in (b"cellar", b"roof", b"cellar", b"roof"):
            await write(cluster, topic, b"x", key=key)
        partition = TopicPartition(topic, 0)
        consumer = AIOKafkaConsumer(bootstrap_servers=cluster.servers, enable_auto_commit=False)
        await consumer.start()
        try:
            consumer.assign([partition])
            offset, counts = -1, Counter[str]()
            for name, text in kept.items():
                state = json.loads(text)
                offset = max([offset, state["offset"]])
                counts[name] = state["count"]
            consumer.seek(partition, offset + 1)
            async for message in consumer:
                name = message.key.decode("utf-8")
                counts[name] += 1
                kept[name] = json.dumps({"count": counts[name], "offset": message.offset})
                if message.offset == 3:
                    break
        finally:
            await consumer.stop()
        assert {name: json.loads(text) for name, text in kept.items()} == {
            "cellar": {"count": 5, "offset": 2},
            "roof": {"count": 1, "offset": 3},
        }

    run(work)


def test_a_listener_may_wait_for_a_lock_that_is_free_between_calls(cluster: Cluster) -> None:
    async def work() -> None:
        topic, lock, seen = cluster.topic(), asyncio.Lock(), []
        await write(cluster, topic, b"x")

        class Rebalances(ConsumerRebalanceListener):
            async def on_partitions_revoked(self, revoked: Iterable[TopicPartition]) -> None:
                async with lock:
                    seen.append(("revoked", set(revoked)))

            async def on_partitions_assigned(self, assigned: Iterable[TopicPartition]) -> None:
                async with lock:
                    seen.append(("assigned", set(assigned)))

        consumer = reading(cluster, group_id=unique("group"))
        await consumer.start()
        try:
            consumer.subscribe([topic], listener=Rebalances())
            found: list[Record] = []
            while not found:
                messages = await consumer.getmany(timeout_ms=1000)
                async with lock:
                    found += [record for records in messages.values() for record in records]
        finally:
            await consumer.stop()
        assert seen[:2] == [("revoked", set()), ("assigned", {TopicPartition(topic, 0)})]

    run(work)


def test_topics_of_a_pattern_are_found_when_they_come(cluster: Cluster) -> None:
    async def work() -> None:
        family = unique("MyGreatTopic")
        consumer = reading(cluster, metadata_max_age_ms=100)
        await consumer.start()
        try:
            consumer.subscribe(pattern=f"^{family}-.*$")
            values = []
            for number in range(1, 3):
                await write(cluster, f"{family}-{number}", b"%d" % number)
                async for message in consumer:
                    values.append((message.topic, message.value))
                    break
            assert values == [(f"{family}-1", b"1"), (f"{family}-2", b"2")]
        finally:
            await consumer.stop()

    run(work)


def test_partitions_are_chosen_by_hand(cluster: Cluster) -> None:
    async def work() -> None:
        topic = cluster.topic(partitions=3)
        for number in range(3):
            await write(cluster, topic, b"%d" % number, partition=number)
        consumer = reading(cluster)
        await consumer.start()
        try:
            consumer.assign([TopicPartition(topic, 1), TopicPartition(topic, 2)])
            values = set()
            async for message in consumer:
                values.add((message.partition, message.value))
                if len(values) == 2:
                    break
            assert values == {(1, b"1"), (2, b"2")}
            with pytest.raises(IllegalStateError):
                consumer.subscribe([topic])
        finally:
            await consumer.stop()

    run(work)


def test_lag_decides_what_is_read_next(cluster: Cluster) -> None:
    async def work() -> None:
        topic = cluster.topic(partitions=2)
        await write(cluster, topic, *[b"x"] * 6, partition=0)
        await write(cluster, topic, b"y", partition=1)
        before_ms = time.time() * 1000
        consumer = reading(cluster, topic)
        await consumer.start()
        try:
            partitions: list[TopicPartition] = []
            count = 0
            while count < 7:
                found = await consumer.getmany(*partitions, timeout_ms=1000, max_records=1)
                count += sum(len(messages) for messages in found.values())
                partitions = []
                for partition in found:
                    highwater = consumer.highwater(partition)
                    assert highwater is not None
                    lag = highwater - await consumer.position(partition)
                    timestamp = consumer.last_poll_timestamp(partition)
                    assert timestamp is not None
                    assert timestamp >= before_ms - 1
                    if lag > 2:
                        partitions.append(partition)
        finally:
            await consumer.stop()

    run(work)


def test_only_committed_records_up_to_the_stable_offset(modern_cluster: Cluster) -> None:
    async def work() -> None:
        topic = modern_cluster.topic()
        producer = AIOKafkaProducer(bootstrap_servers=modern_cluster.servers, transactional_id=unique("txn"))
        async with producer:
            with pytest.raises(RuntimeError, match="no more"):
                async with producer.transaction():
                    await producer.send_and_wait(topic, b"never")
                    raise RuntimeError("no more")
            async with producer.transaction():
                await producer.send(topic, b"one")
                await producer.send(topic, b"two")
        consumer = aiokafka.AIOKafkaConsumer(
            topic, bootstrap_servers=modern_cluster.servers, isolation_level="read_committed",
            auto_offset_reset="earliest",
        )  # fmt: skip
        await consumer.start()
        try:
            async for message in consumer:
                assert message.value in (b"one", b"two")
                partition = TopicPartition(message.topic, message.partition)
                stable = consumer.last_stable_offset(partition)
                assert stable is not None
                assert stable - message.offset > 0
                assert (await consumer.end_offsets([partition]))[partition] == stable
                if message.value == b"two":
                    break
            await consumer.seek_to_end(partition)
            assert await consumer.position(partition) == stable
        finally:
            await consumer.stop()

    run(work)


def test_every_argument_of_the_manual_is_known(cluster: Cluster) -> None:
    """With the defaults that it names."""

    async def work() -> None:
        topic = cluster.topic()
        common: dict[str, Any] = {
            "loop": None, "bootstrap_servers": cluster.servers, "metadata_max_age_ms": 300000,
            "request_timeout_ms": 40000, "api_version": "auto", "retry_backoff_ms": 100,
            "security_protocol": "PLAINTEXT", "ssl_context": None, "connections_max_idle_ms": 540000,
            "sasl_mechanism": "PLAIN", "sasl_plain_password": None, "sasl_plain_username": None,
            "sasl_kerberos_service_name": "kafka", "sasl_kerberos_domain_name": None,
            "sasl_oauth_token_provider": None,
        }  # fmt: skip
        producer = AIOKafkaProducer(
            client_id=None, key_serializer=None, value_serializer=None, compression_type=None, max_batch_size=16384,
            partitioner=DefaultPartitioner(), max_request_size=1048576, linger_ms=0, send_backoff_ms=100,
            enable_idempotence=False, transactional_id=None, transaction_timeout_ms=60000, **common,
        )  # fmt: skip
        await producer.start()
        await producer.send_and_wait(topic, b"x")
        await producer.stop()
        consumer = AIOKafkaConsumer(
            topic, client_id="aiokafka-0.8.0", group_id=None, key_deserializer=None, value_deserializer=None,
            fetch_max_wait_ms=500, fetch_max_bytes=52428800, fetch_min_bytes=1, max_partition_fetch_bytes=1048576,
            auto_offset_reset="earliest", enable_auto_commit=True, auto_commit_interval_ms=5000, check_crcs=True,
            max_poll_interval_ms=300000, rebalance_timeout_ms=None, session_timeout_ms=10000,
            heartbeat_interval_ms=3000, consumer_timeout_ms=200, max_poll_records=None, exclude_internal_topics=True,
            isolation_level="read_uncommitted", **common,
        )  # fmt: skip
        await consumer.start()
        message = await consumer.getone()
        await consumer.stop()
        assert (message.topic, message.partition, message.value) == (topic, 0, b"x")

    run(work)


def part(claims: dict[str, object]) -> str:
    return base64.urlsafe_b64encode(json.dumps(claims).encode()).rstrip(b"=").decode()


def test_a_token_may_come_from_a_thread() -> None:
    """The manual's coroutine gives the future of a thread's work without awaiting it."""
    token = f"{part({'alg': 'none'})}.{part({'sub': 'alice', 'exp': time.time() + 3600})}."

    class Provider(AbstractTokenProvider):
        async def token(self) -> Any:
            return asyncio.get_running_loop().run_in_executor(None, self._token)

        def _token(self) -> str:
            return token

    async def work() -> None:
        with EmbeddedCluster(sasl=SaslSettings()) as cluster:
            producer = AIOKafkaProducer(
                bootstrap_servers=cluster.bootstrap_servers, security_protocol="SASL_PLAINTEXT",
                sasl_mechanism="OAUTHBEARER", sasl_oauth_token_provider=Provider(),
            )  # fmt: skip
            async with producer:
                assert (await producer.send_and_wait("private", b"x")).offset == 0

    run(work)


def test_errors_have_one_root(cluster: Cluster) -> None:
    async def work() -> None:
        topic, told = cluster.topic(max_message_bytes="1000"), []
        producer = AIOKafkaProducer(bootstrap_servers=cluster.servers)
        await producer.start()
        for value in (b"test data", b"x" * 100_000):
            try:
                future = await producer.send(topic, value)
                told.append((await future).offset)
            except KafkaTimeoutError:
                told.append("time-out")
            except KafkaError as error:
                told.append(f"some error: {error}")
        await producer.stop()
        assert told[0] == 0
        assert "MessageSizeTooLarge" in str(told[1])

    run(work)
