"""The other clients of the interop tests, in one shape: rows in, rows out, and members of a group in threads.

Must not know what is tested. A row is (timestamp in ms, key, value, headers).
"""

from __future__ import annotations

import asyncio
import threading
import time
import warnings
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import aiokafka
import confluent_kafka as ck
from aiokafka.coordinator.assignors.range import RangePartitionAssignor as AioRange
from aiokafka.coordinator.assignors.roundrobin import RoundRobinPartitionAssignor as AioRoundRobin

from kafka_core import Consumer, Producer, TopicPartition

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # it reads its schemas by a deprecated function when imported
    import kafka
    from kafka import codec as kp_codec
    from kafka.coordinator.assignors.range import RangePartitionAssignor as KpRange
    from kafka.coordinator.assignors.roundrobin import RoundRobinPartitionAssignor as KpRoundRobin

LIMIT_S = 60.0
Headers = Sequence[tuple[str, bytes | None]]
Row = tuple[int, bytes | None, bytes | None, list[tuple[str, bytes | None]]]
#: The record and the partition it was found in, or went to.
Placed = tuple[int, Row]


def kafka_python_has(codec: str) -> bool:
    """Whether kafka-python has the module it needs for a codec."""
    return codec == "none" or bool(getattr(kp_codec, f"has_{codec}")())


def wait_until(condition: Callable[[], object], what: str) -> None:
    deadline_s = time.monotonic() + LIMIT_S
    while not condition():
        assert time.monotonic() < deadline_s, f"{what}: not within {LIMIT_S:g} s"
        time.sleep(0.02)


# ---- writing: the partition each row went to


def ours_write(servers: str, topic: str, rows: Sequence[Row], partition: int = -1, **conf: Any) -> list[int]:
    where: list[int] = []

    def report(error: Any, message: Any) -> None:
        assert error is None, error
        where.append(message.partition())

    with Producer({"bootstrap.servers": servers, **_dotted(conf)}) as writer:
        for ts, key, value, headers in rows:
            writer.produce(topic, value, key, partition, timestamp=ts, headers=headers, on_delivery=report)
            writer.flush(LIMIT_S)
    return where


def confluent_write(servers: str, topic: str, rows: Sequence[Row], partition: int = -1, **conf: Any) -> list[int]:
    where: list[int] = []

    def report(error: Any, message: Any) -> None:
        assert error is None, error
        where.append(message.partition())

    writer = ck.Producer({"bootstrap.servers": servers, "log_level": 0, "linger.ms": 0, **_dotted(conf)})
    for ts, key, value, headers in rows:
        writer.produce(topic, value, key, partition, timestamp=ts, headers=list(headers), on_delivery=report)
        writer.flush(LIMIT_S)
    return where


def aiokafka_write(servers: str, topic: str, rows: Sequence[Row], partition: int = -1, **conf: Any) -> list[int]:
    async def run() -> list[int]:
        async with aiokafka.AIOKafkaProducer(bootstrap_servers=servers, **conf) as writer:
            where = []
            for ts, key, value, headers in rows:
                target = None if partition < 0 else partition
                sent = await writer.send(topic, value, key, target, timestamp_ms=ts, headers=list(headers))
                where.append((await sent).partition)
            return where

    return asyncio.run(asyncio.wait_for(run(), LIMIT_S))


def kafka_python_write(servers: str, topic: str, rows: Sequence[Row], partition: int = -1, **conf: Any) -> list[int]:
    writer = kafka.KafkaProducer(bootstrap_servers=servers, **conf)
    where = []
    for ts, key, value, headers in rows:
        target = None if partition < 0 else partition
        sent = writer.send(topic, value, key, list(headers), target, ts)
        where.append(sent.get(LIMIT_S).partition)
    writer.close(5)
    return where


# ---- reading: all rows with their partitions, in order within a partition


def ours_read(servers: str, topic: str, count: int, partitions: int = 1) -> list[Placed]:
    conf = {"bootstrap.servers": servers, "group.id": "reads-only", "enable.auto.commit": False}
    found: list[Placed] = []
    deadline_s = time.monotonic() + LIMIT_S
    with Consumer(conf) as reader:
        reader.assign([TopicPartition(topic, number, 0) for number in range(partitions)])
        while len(found) < count and time.monotonic() < deadline_s:
            for item in reader.consume(count - len(found), 0.5):
                assert item.error() is None, item.error()
                found.append(_placed(item))
    return sorted(found, key=lambda item: item[0])


def confluent_read(servers: str, topic: str, count: int, partitions: int = 1) -> list[Placed]:
    conf = {"bootstrap.servers": servers, "group.id": "reads-only", "enable.auto.commit": False, "log_level": 0}
    reader = ck.Consumer(conf)
    reader.assign([ck.TopicPartition(topic, number, 0) for number in range(partitions)])
    found: list[Placed] = []
    deadline_s = time.monotonic() + LIMIT_S
    while len(found) < count and time.monotonic() < deadline_s:
        for item in reader.consume(count - len(found), 0.2):
            assert item.error() is None, item.error()
            found.append(_placed(item))
    reader.close()
    return sorted(found, key=lambda item: item[0])


def aiokafka_read(servers: str, topic: str, count: int, partitions: int = 1) -> list[Placed]:
    async def run() -> list[Placed]:
        async with aiokafka.AIOKafkaConsumer(bootstrap_servers=servers, group_id=None) as reader:
            parts = [aiokafka.TopicPartition(topic, number) for number in range(partitions)]
            reader.assign(parts)
            await reader.seek_to_beginning(*parts)
            items = [await reader.getone() for _ in range(count)]
            return [(item.partition, (item.timestamp, item.key, item.value, list(item.headers))) for item in items]

    return sorted(asyncio.run(asyncio.wait_for(run(), LIMIT_S)), key=lambda item: item[0])


def kafka_python_read(servers: str, topic: str, count: int, partitions: int = 1) -> list[Placed]:
    reader = kafka.KafkaConsumer(bootstrap_servers=servers, group_id=None, consumer_timeout_ms=int(LIMIT_S * 1000))
    parts = [kafka.TopicPartition(topic, number) for number in range(partitions)]
    reader.assign(parts)
    reader.seek_to_beginning(*parts)
    found: list[Placed] = []
    for item in reader:
        found.append((item.partition, (item.timestamp, item.key, item.value, list(item.headers))))
        if len(found) == count:
            break
    reader.close()
    return sorted(found, key=lambda item: item[0])


def _placed(message: Any) -> Placed:
    return message.partition(), (message.timestamp()[1], message.key(), message.value(), message.headers() or [])


def _dotted(conf: dict[str, Any]) -> dict[str, Any]:
    return {name.replace("_", "."): value for name, value in conf.items()}


WRITE: dict[str, Callable[..., list[int]]] = {
    "ours": ours_write,
    "confluent": confluent_write,
    "aiokafka": aiokafka_write,
    "kafka-python": kafka_python_write,
}
READ: dict[str, Callable[..., list[Placed]]] = {
    "ours": ours_read,
    "confluent": confluent_read,
    "aiokafka": aiokafka_read,
    "kafka-python": kafka_python_read,
}
PEERS = ["confluent", "aiokafka", "kafka-python"]


# ---- members of a group


def group_conf(strategy: str) -> dict[str, object]:
    """An assignor of the members, or `broker`: the broker assigns (KIP-848)."""
    if strategy == "broker":
        return {"group.protocol": "consumer"}
    return {"heartbeat.interval.ms": 300, "partition.assignment.strategy": strategy}


class GroupMember:
    """A consumer of any client in a thread of its own, until the block ends."""

    def __init__(self, client: str, servers: str, topic: str, group: str, strategy: str) -> None:
        self.values: list[bytes] = []
        self.partitions: set[int] = set()
        self._stop = threading.Event()
        run = {"ours": self._ours, "confluent": self._confluent}.get(client)
        run = run or {"aiokafka": self._aiokafka, "kafka-python": self._kafka_python}[client]
        self._thread = ThreadPoolExecutor(1)
        self._done = self._thread.submit(run, servers, topic, group, strategy)

    def __enter__(self) -> GroupMember:
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.shutdown(wait=False)
        self._done.result(LIMIT_S)

    def _like_confluent(self, reader: Any, topic: str) -> None:
        reader.subscribe([topic])
        while not self._stop.is_set():
            self.values += [message.value() for message in reader.consume(100, 0.1) if message.error() is None]
            self.partitions = {item.partition for item in reader.assignment()}
        reader.close()

    def _ours(self, servers: str, topic: str, group: str, strategy: str) -> None:
        conf = {"bootstrap.servers": servers, "group.id": group, "auto.offset.reset": "earliest"}
        quick = group_conf(strategy)
        self._like_confluent(Consumer({**conf, **quick}), topic)

    def _confluent(self, servers: str, topic: str, group: str, strategy: str) -> None:
        conf = {"bootstrap.servers": servers, "group.id": group, "auto.offset.reset": "earliest", "log_level": 0}
        quick = group_conf(strategy)
        self._like_confluent(ck.Consumer({**conf, **quick}), topic)

    def _kafka_python(self, servers: str, topic: str, group: str, strategy: str) -> None:
        reader = kafka.KafkaConsumer(
            topic,
            bootstrap_servers=servers,
            group_id=group,
            auto_offset_reset="earliest",
            heartbeat_interval_ms=300,
            metadata_max_age_ms=1000,
            partition_assignment_strategy=[{"range": KpRange, "roundrobin": KpRoundRobin}[strategy]],
        )
        # A poll that ends while it joins may leave its share untaken for good, so each is long.
        # It can join, and lead the group, before it knows the topic: then nobody gets a partition, ever.
        wait_until(lambda: reader.partitions_for_topic(topic), "kafka-python knows the topic")
        while not self._stop.is_set():
            for messages in reader.poll(1000).values():
                self.values += [message.value for message in messages]
            self.partitions = {item.partition for item in reader.assignment()}
        reader.close()

    def _aiokafka(self, servers: str, topic: str, group: str, strategy: str) -> None:
        async def run() -> None:
            async with aiokafka.AIOKafkaConsumer(
                topic,
                bootstrap_servers=servers,
                group_id=group,
                auto_offset_reset="earliest",
                heartbeat_interval_ms=300,
                metadata_max_age_ms=1000,
                partition_assignment_strategy=({"range": AioRange, "roundrobin": AioRoundRobin}[strategy],),
            ) as reader:
                while not self._stop.is_set():
                    for messages in (await reader.getmany(timeout_ms=100)).values():
                        self.values += [message.value for message in messages]
                    self.partitions = {item.partition for item in reader.assignment()}

        asyncio.run(run())


# ---- committed offsets


def read_and_commit(client: str, servers: str, topic: str, group: str, count: int) -> None:
    """Reads `count` records of partition 0 from its start and commits the offset after them."""
    if client in ("ours", "confluent"):
        ours = client == "ours"
        conf = {"bootstrap.servers": servers, "group.id": group, "enable.auto.commit": False}
        reader: Any = Consumer(conf) if ours else ck.Consumer({**conf, "log_level": 0})
        part: Any = TopicPartition if ours else ck.TopicPartition
        reader.assign([part(topic, 0, 0)])
        left = count
        while left:
            left -= len(reader.consume(left, 0.5))
        reader.commit(asynchronous=False)
        reader.close()
    elif client == "aiokafka":
        asyncio.run(asyncio.wait_for(_aio_read_and_commit(servers, topic, group, count), LIMIT_S))
    else:
        kp_reader = kafka.KafkaConsumer(bootstrap_servers=servers, group_id=group, enable_auto_commit=False)
        kp_part = kafka.TopicPartition(topic, 0)
        kp_reader.assign([kp_part])
        kp_reader.seek_to_beginning(kp_part)
        for _ in range(count):
            next(kp_reader)
        kp_reader.commit()
        kp_reader.close()


async def _aio_read_and_commit(servers: str, topic: str, group: str, count: int) -> None:
    async with aiokafka.AIOKafkaConsumer(bootstrap_servers=servers, group_id=group, enable_auto_commit=False) as reader:
        part = aiokafka.TopicPartition(topic, 0)
        reader.assign([part])
        await reader.seek_to_beginning(part)
        for _ in range(count):
            await reader.getone()
        await reader.commit()


def committed(client: str, servers: str, topic: str, group: str) -> int | None:
    """The committed offset of partition 0, read by a client."""
    if client in ("ours", "confluent"):
        ours = client == "ours"
        conf = {"bootstrap.servers": servers, "group.id": group}
        reader: Any = Consumer(conf) if ours else ck.Consumer({**conf, "log_level": 0})
        (found,) = reader.committed([(TopicPartition if ours else ck.TopicPartition)(topic, 0)], LIMIT_S)
        reader.close()
        return int(found.offset)
    if client == "aiokafka":
        return asyncio.run(asyncio.wait_for(_aio_committed(servers, topic, group), LIMIT_S))
    kp_reader = kafka.KafkaConsumer(bootstrap_servers=servers, group_id=group)
    offset: int | None = kp_reader.committed(kafka.TopicPartition(topic, 0))
    kp_reader.close()
    return offset


async def _aio_committed(servers: str, topic: str, group: str) -> int | None:
    async with aiokafka.AIOKafkaConsumer(bootstrap_servers=servers, group_id=group) as reader:
        reader.assign([aiokafka.TopicPartition(topic, 0)])
        offset: int | None = await reader.committed(aiokafka.TopicPartition(topic, 0))
        return offset
