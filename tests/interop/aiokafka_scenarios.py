"""Scenarios for aiokafka's API: coroutines that run on either implementation and give plain values to compare.

Must not know which one they run on: all names come from `Api`. A scenario has a topic of its own with three partitions.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any

LIMIT_S = 60.0


@dataclass(slots=True)
class Api:
    """One implementation, and where to run.

    Attributes:
        clients, errors, structs, admin, resources: its modules.
        servers: of the broker. `topic`, `group`: of this scenario and implementation.
    """

    clients: ModuleType
    errors: ModuleType
    structs: ModuleType
    admin: ModuleType
    resources: ModuleType
    servers: str
    topic: str
    group: str
    _open: list[Any] = field(default_factory=list)

    async def producer(self, **arguments: Any) -> Any:
        """A started producer, stopped at the end."""
        made = self.clients.AIOKafkaProducer(bootstrap_servers=self.servers, **arguments)
        self._open.append(made)
        await made.start()
        return made

    async def consumer(self, *topics: str, **arguments: Any) -> Any:
        """A started consumer that begins at the start, stopped at the end."""
        arguments.setdefault("auto_offset_reset", "earliest")
        made = self.clients.AIOKafkaConsumer(*topics, bootstrap_servers=self.servers, **arguments)
        self._open.append(made)
        await made.start()
        return made

    async def administrator(self) -> Any:
        """A started administrator."""
        made = self.admin.AIOKafkaAdminClient(bootstrap_servers=self.servers)
        self._open.append(made)
        await made.start()
        return made

    def partition(self, number: int = 0) -> Any:
        """A partition of the topic."""
        return self.structs.TopicPartition(self.topic, number)

    async def fill(self, *values: bytes, partition: int = 0, **arguments: Any) -> None:
        """Writes values, one after the other."""
        writer = await self.producer()
        for value in values:
            await writer.send_and_wait(self.topic, value, partition=partition, **arguments)
        await writer.stop()

    async def end(self) -> None:
        """Stops what the scenario made."""
        for client in self._open:
            await (client.close() if hasattr(client, "close") else client.stop())

    async def fails(self, work: Callable[[], Any]) -> str:
        """The class of the error, or `no error` and what came instead."""
        try:
            result = work()
            if isinstance(result, Awaitable):
                result = await asyncio.wait_for(result, LIMIT_S)
        except Exception as error:
            return type(error).__name__
        return f"no error: {type(result).__name__}"

    def plain(self, value: Any) -> Any:
        """A result without what differs by nature: names of topics and groups, times of now."""
        if isinstance(value, dict):
            return {repr(self.plain(key)): self.plain(item) for key, item in value.items()}
        if isinstance(value, set | frozenset):
            return sorted((self.plain(item) for item in value), key=repr)
        if isinstance(value, list | tuple):
            return [self.plain(item) for item in value]
        if isinstance(value, str):
            return value.replace(self.topic, "TOPIC").replace(self.group, "GROUP")
        return value


def seen(record: Any) -> tuple[Any, ...]:
    """The compared parts of a record."""
    return record.partition, record.offset, record.key, record.value, tuple(record.headers), record.timestamp_type


async def take(reader: Any, count: int) -> list[Any]:
    """So many records."""
    found: list[Any] = []
    async with asyncio.timeout(LIMIT_S):
        while len(found) < count:
            for records in (await reader.getmany(timeout_ms=500, max_records=count - len(found))).values():
                found += records
    return found


async def until(done: Callable[[], bool]) -> None:
    """Waits until something is so; neither implementation tells when."""
    async with asyncio.timeout(LIMIT_S):
        while not done():  # noqa: ASYNC110
            await asyncio.sleep(0.02)


Scenario = Callable[[Api], Awaitable[Any]]
SCENARIOS: dict[str, Scenario] = {}


def scenario(work: Scenario) -> Scenario:
    """Registers one."""
    SCENARIOS[work.__name__] = work
    return work


# ---- producing


@scenario
async def send_gives_a_future_of_the_place(api: Api) -> Any:
    writer = await api.producer()
    future = await writer.send(api.topic, b"v", key=b"k", partition=1, timestamp_ms=1_700_000_000_000)
    place = await future
    again = await writer.send_and_wait(api.topic, b"v", partition=1)
    return [
        isinstance(future, asyncio.Future),
        place[:6],
        place.topic_partition,
        again.offset,
        type(place).__name__,
        type(place)._fields,
        again.timestamp > 1_700_000_000_000,
    ]


@scenario
async def records_keep_their_parts(api: Api) -> Any:
    writer = await api.producer()
    for value, key, headers in (
        (b"value", b"key", [("one", b"1"), ("two", b"")]),
        (None, b"key", None),
        (b"", None, []),
        (b"x", b"", [("n", None)]),
    ):
        await writer.send_and_wait(api.topic, value, key=key, headers=headers, partition=0, timestamp_ms=5)
    reader = await api.consumer(api.topic)
    found = await take(reader, 4)
    return [seen(record) for record in found], [
        (record.timestamp, record.serialized_key_size, record.serialized_value_size, record.checksum)
        for record in found
    ]


@scenario
async def keys_choose_the_java_clients_partition(api: Api) -> Any:
    writer = await api.producer()
    keys = [b"", b"a", b"key-1", b"key-2", "ключ".encode(), b"x" * 100]
    return [(await writer.send_and_wait(api.topic, b"v", key=key)).partition for key in keys]


@scenario
async def serializers_make_bytes(api: Api) -> Any:
    writer = await api.producer(key_serializer=str.encode, value_serializer=lambda value: repr(value).encode())
    await writer.send_and_wait(api.topic, {"a": 1}, key="k", partition=0)
    reader = await api.consumer(
        api.topic, key_deserializer=bytes.decode, value_deserializer=lambda raw: raw.decode() + "!"
    )
    record = await reader.getone()
    return record.key, record.value, record.serialized_key_size, record.serialized_value_size


@scenario
async def compressed_records_come_back(api: Api) -> Any:
    for kind in ("gzip", "snappy", "lz4", "zstd"):
        writer = await api.producer(compression_type=kind, linger_ms=20)
        await asyncio.gather(*[writer.send_and_wait(api.topic, kind.encode() * 50, partition=0) for _ in range(5)])
    reader = await api.consumer(api.topic)
    return [(record.offset, record.value) for record in await take(reader, 20)]


@scenario
async def an_application_chooses_partitions(api: Api) -> Any:
    seen_arguments = []

    def choose(key: bytes | None, every: list[int], available: list[int]) -> int:
        seen_arguments.append((key, sorted(every), sorted(available)))
        return every[-1] if key == b"last" else every[0]

    writer = await api.producer(partitioner=choose)
    return [
        (await writer.send_and_wait(api.topic, b"v", key=key)).partition for key in (b"last", b"first", None)
    ], seen_arguments


@scenario
async def what_cannot_be_sent(api: Api) -> Any:
    writer = await api.producer()
    return [
        await api.fails(lambda: writer.send(api.topic)),
        await api.fails(lambda: writer.send(api.topic, "text")),
        await api.fails(lambda: writer.send(api.topic, b"v", key="text")),
        await api.fails(lambda: writer.send(api.topic, b"v", partition=33)),
        await api.fails(lambda: writer.send(api.topic, b"v", partition=-1)),
        await api.fails(lambda: writer.send(api.topic, b"v" * 2_000_000)),
        await api.fails(lambda: writer.send(api.topic, b"v", headers=[("a", "text")])),
        (await writer.send_and_wait(api.topic, b"v", partition=0)).offset,
    ]


@scenario
async def a_stopped_producer(api: Api) -> Any:
    writer = await api.producer()
    future = await writer.send(api.topic, b"v", partition=0)
    await writer.stop()
    return [
        (await future).offset,
        await api.fails(lambda: writer.send(api.topic, b"v")),
        await api.fails(writer.stop),
        await api.fails(writer.flush),
        await writer.partitions_for(api.topic),
    ]


@scenario
async def flush_waits_for_all(api: Api) -> Any:
    writer = await api.producer(linger_ms=50)
    futures = [await writer.send(api.topic, b"%d" % number, partition=number % 3) for number in range(30)]
    await writer.flush()
    return [future.done() for future in futures], sorted([(await future).offset for future in futures])


@scenario
async def a_batch_of_ones_own(api: Api) -> Any:
    writer = await api.producer(max_batch_size=1000)
    batch = writer.create_batch()
    told = []
    while (
        metadata := batch.append(key=b"k", value=b"v" * 50, timestamp=1_700_000_000_000, headers=[("h", b"1")])
    ) is not None:
        told.append((metadata.offset, metadata.size, metadata.timestamp, metadata.crc))
    facts = batch.record_count(), batch.size(), batch.closed()
    place = await (await writer.send_batch(batch, api.topic, partition=2))
    after = batch.append(key=None, value=b"x", timestamp=None), batch.closed()
    second = writer.create_batch()
    second.append(key=None, value=b"x", timestamp=None)
    second.close()
    closed = second.append(key=None, value=b"x", timestamp=None), second.record_count(), second.closed()
    again = await (await writer.send_batch(second, api.topic, partition=2))
    reader = await api.consumer(api.topic)
    records = await take(reader, len(told) + 1)
    return told, facts, place[:4], after, closed, again.offset, [seen(record) for record in records]


@scenario
async def a_record_larger_than_a_batch_fits(api: Api) -> Any:
    writer = await api.producer(max_batch_size=200)
    batch = writer.create_batch()
    first = batch.append(key=None, value=b"v" * 500, timestamp=1)
    return (
        first is not None,
        batch.append(key=None, value=b"v", timestamp=1) is None,
        (await writer.send_and_wait(api.topic, b"w" * 5000, partition=0)).offset,
    )


@scenario
async def without_acknowledgements(api: Api) -> Any:
    first = await api.producer()  # a broker that does not know yet that it leads drops a record that wants no answer
    await first.send_and_wait(api.topic, b"first", partition=0)
    writer = await api.producer(acks=0)
    place = await writer.send_and_wait(api.topic, b"v", partition=0)
    await writer.stop()
    reader = await api.consumer(api.topic)
    return place, [record.value for record in await take(reader, 2)]


@scenario
async def partitions_of_topics(api: Api) -> Any:
    writer = await api.producer()
    return await writer.partitions_for(api.topic), type(await writer.partitions_for(api.topic)).__name__


@scenario
async def a_topic_is_made_by_its_first_record(api: Api) -> Any:
    writer = await api.producer()
    place = await writer.send_and_wait(f"{api.topic}-new", b"v")
    return place.topic, place.partition, place.offset


@scenario
async def idempotent_records(api: Api) -> Any:
    writer = await api.producer(enable_idempotence=True)
    places = await asyncio.gather(
        *[writer.send_and_wait(api.topic, b"%d" % number, partition=0) for number in range(20)]
    )
    return sorted(place.offset for place in places)


@scenario
async def arguments_that_make_no_sense(api: Api) -> Any:
    make, read = api.clients.AIOKafkaProducer, api.clients.AIOKafkaConsumer
    return [
        await api.fails(lambda: make(acks=5)),
        await api.fails(lambda: make(compression_type="zip")),
        await api.fails(lambda: make(enable_idempotence=True, acks=1)),
        await api.fails(lambda: make(transactional_id="x", acks=1)),
        await api.fails(lambda: make(security_protocol="SSL")),
        await api.fails(lambda: make(security_protocol="SASL_PLAINTEXT")),
        await api.fails(lambda: make(unknown=1)),
        await api.fails(lambda: make(security_protocol="X")),
        await api.fails(lambda: read(unknown=1)),
        await api.fails(lambda: read(max_poll_records=0)),
        await api.fails(lambda: make(security_protocol="SASL_PLAINTEXT", sasl_mechanism="X")),
    ]


@scenario
async def nobody_there(api: Api) -> Any:
    found = []
    for kind in (api.clients.AIOKafkaProducer, api.clients.AIOKafkaConsumer, api.admin.AIOKafkaAdminClient):
        client = kind(bootstrap_servers="localhost:1")
        found.append(await api.fails(client.start))
        await (client.close() if hasattr(client, "close") else client.stop())
    return found


# ---- consuming


@scenario
async def positions_move_with_records(api: Api) -> Any:
    await api.fill(b"a", b"b", b"c")
    reader = await api.consumer()
    here = api.partition()
    reader.assign([here])
    before = await reader.position(here)
    record = await reader.getone()
    middle = await reader.position(here), reader.highwater(here), reader.last_poll_timestamp(here) > 1_700_000_000_000
    rest = await take(reader, 2)
    return before, seen(record), middle, [seen(item) for item in rest], await reader.position(here)


@scenario
async def iteration_ends_with_stop(api: Api) -> Any:
    await api.fill(b"a", b"b", b"c")
    reader = await api.consumer(api.topic)
    found = []
    async for record in reader:
        found.append(record.value)
        if len(found) == 3:
            await reader.stop()
    return found, await api.fails(reader.getone), await api.fails(reader.getmany)


@scenario
async def getmany_by_partition(api: Api) -> Any:
    for number in range(3):
        await api.fill(b"%d" % number, b"%d" % number, partition=number)
    reader = await api.consumer(api.topic)
    found: dict[Any, list[Any]] = {}
    async with asyncio.timeout(LIMIT_S):
        while sum(map(len, found.values())) < 6:
            for partition, records in (await reader.getmany(timeout_ms=500)).items():
                found.setdefault(partition, []).extend(record.value for record in records)
    return found, await reader.getmany(), await api.fails(lambda: reader.getmany(max_records=0))


@scenario
async def only_some_partitions(api: Api) -> Any:
    for number in range(3):
        await api.fill(b"a%d" % number, b"b%d" % number, partition=number)
    reader = await api.consumer(api.topic)
    one = await reader.getone(api.partition(1))
    async with asyncio.timeout(LIMIT_S):
        while not (other := await reader.getmany(api.partition(1), timeout_ms=500)):
            pass
    nothing = await reader.getmany(api.partition(1), timeout_ms=50)
    rest = await take(reader, 4)
    return (
        one.value,
        {key: [record.value for record in records] for key, records in other.items()},
        nothing,
        sorted(record.value for record in rest),
    )


@scenario
async def at_most_so_many(api: Api) -> Any:
    await api.fill(*[b"%d" % number for number in range(10)])
    reader = await api.consumer(api.topic, max_poll_records=3)
    sizes = []
    async with asyncio.timeout(LIMIT_S):
        while sum(sizes) < 10:
            sizes += [len(records) for records in (await reader.getmany(timeout_ms=1000)).values()]
    return max(sizes) <= 3, sum(sizes)


@scenario
async def seeking(api: Api) -> Any:
    await api.fill(*[b"%d" % number for number in range(5)])
    reader = await api.consumer()
    here = api.partition()
    reader.assign([here])
    reader.seek(here, 3)
    found = [(await reader.getone()).value, await reader.position(here)]
    found += [await reader.seek_to_beginning(here), await reader.position(here), (await reader.getone()).value]
    found += [await reader.seek_to_end(), await reader.position(here)]
    return found, [
        await api.fails(lambda: reader.seek(here, -1)),
        await api.fails(lambda: reader.seek(api.partition(2), 0)),
        await api.fails(lambda: reader.seek_to_beginning(api.partition(2))),
        await api.fails(lambda: reader.seek_to_end("topic")),
        await api.fails(lambda: reader.position(api.partition(2))),
    ]


@scenario
async def from_the_end(api: Api) -> Any:
    await api.fill(b"old")
    reader = await api.consumer(api.topic, auto_offset_reset="latest")
    start = await reader.position(api.partition())
    await api.fill(b"new")
    return start, (await reader.getone()).value


@scenario
async def offsets_by_time_and_ends(api: Api) -> Any:
    writer = await api.producer()
    for number in range(3):
        await writer.send_and_wait(api.topic, b"v", partition=0, timestamp_ms=1_700_000_000_000 + number)
    reader = await api.consumer()
    one, other = api.partition(), api.partition(1)
    return [
        await reader.beginning_offsets([one, other]),
        await reader.end_offsets([one, other]),
        await reader.offsets_for_times({one: 1_700_000_000_001, other: 5}),
        await reader.offsets_for_times({one: 1_800_000_000_000}),
        await api.fails(lambda: reader.offsets_for_times({one: -1})),
        await reader.beginning_offsets([]),
    ]


@scenario
async def out_of_range_without_a_reset(api: Api) -> Any:
    await api.fill(b"a")
    reader = await api.consumer(auto_offset_reset="none")
    reader.assign([api.partition()])
    reader.seek(api.partition(), 100)
    try:
        async with asyncio.timeout(LIMIT_S):
            while True:
                await reader.getmany(timeout_ms=500)
    except api.errors.OffsetOutOfRangeError as error:
        told = error.args
    await reader.seek_to_beginning(*told[0])
    return told, (await reader.getone()).value


@scenario
async def no_offset_without_a_reset(api: Api) -> Any:
    await api.fill(b"a")
    reader = await api.consumer(auto_offset_reset="none", group_id=api.group)
    reader.assign([api.partition()])
    return await api.fails(reader.getone), reader.seek(api.partition(), 0), (await reader.getone()).value


@scenario
async def pausing(api: Api) -> Any:
    await api.fill(b"a", partition=0)
    await api.fill(b"b", partition=1)
    reader = await api.consumer()
    reader.assign([api.partition(0), api.partition(1)])
    reader.pause(api.partition(0))
    found = [reader.paused(), (await reader.getone()).value, await reader.getmany(timeout_ms=300)]
    reader.resume(api.partition(0))
    return (
        found,
        reader.paused(),
        (await reader.getone()).value,
        await api.fails(lambda: reader.pause(api.partition(2))),
    )


@scenario
async def pauses_and_assignments(api: Api) -> Any:
    await api.fill(b"a", partition=0)
    reader = await api.consumer()
    reader.assign([api.partition(0), api.partition(1)])
    reader.pause(api.partition(0))
    reader.assign([api.partition(0)])
    return reader.paused(), (await reader.getone()).value


@scenario
async def pauses_and_rebalances(api: Api) -> Any:
    await api.fill(b"a", partition=0)
    reader = await api.consumer(api.topic, group_id=api.group, enable_auto_commit=False)
    found = [(await reader.getone()).value]
    reader.pause(api.partition(0))
    reader.unsubscribe()
    reader.subscribe([api.topic])
    await api.fill(b"b", partition=0)
    return found, reader.paused(), (await reader.getone()).value


async def left_group(api: Api, auto_commit: bool, listener: Any = None) -> Any:
    """A reader that has read the first of three records of a group, and has ended its subscription."""
    await api.fill(b"a", b"b", b"c")
    reader = await api.consumer(group_id=api.group, enable_auto_commit=auto_commit, auto_commit_interval_ms=600_000)
    reader.subscribe([api.topic], listener=listener)
    first = await reader.getone()
    reader.unsubscribe()
    return reader, first.value


@scenario
async def a_partition_is_assigned_after_unsubscribe(api: Api) -> Any:
    reader, first = await left_group(api, auto_commit=False)
    reader.assign([api.partition()])
    await api.fill(b"d")
    found = [first] + [(await reader.getone()).value for _ in range(4)]
    return found, reader.assignment(), reader.paused(), reader.subscription()


@scenario
async def another_partition_is_assigned_after_unsubscribe(api: Api) -> Any:
    reader, first = await left_group(api, auto_commit=False)
    reader.assign([api.partition(1)])
    await api.fill(b"d", partition=1)
    return first, (await reader.getone()).value, reader.assignment()


@scenario
async def positions_when_unsubscribing(api: Api) -> Any:
    reader, first = await left_group(api, auto_commit=True)
    reader.assign([api.partition()])
    return first, (await reader.getone()).value, await reader.committed(api.partition())


@scenario
async def listeners_when_unsubscribing(api: Api) -> Any:
    called: list[Any] = []

    class Listener(api.clients.ConsumerRebalanceListener):  # type: ignore[name-defined,misc]
        def __init__(self, name: str) -> None:
            self.name = name

        def on_partitions_revoked(self, revoked: Any) -> None:
            called.append((self.name, "revoked", revoked))

        def on_partitions_assigned(self, assigned: Any) -> None:
            if called[-2:] == [(self.name, "assigned", assigned), (self.name, "revoked", assigned)]:
                del called[-1]  # a member may join again, for metadata that came late
            else:
                called.append((self.name, "assigned", assigned))

    reader, first = await left_group(api, auto_commit=False, listener=Listener("first"))
    reader.assign([api.partition()])
    found = [first, (await reader.getone()).value]
    reader.unsubscribe()
    reader.subscribe([api.topic], listener=Listener("second"))
    found.append((await reader.getone()).value)
    reader.unsubscribe()
    reader.subscribe([api.topic], listener=Listener("third"))
    found.append((await reader.getone()).value)
    reader.unsubscribe()
    await reader.stop()
    return found, called


@scenario
async def positions_when_subscribing_anew(api: Api) -> Any:
    reader, first = await left_group(api, auto_commit=True)
    reader.subscribe([api.topic])
    return first, (await reader.getone()).value, await reader.committed(api.partition())


@scenario
async def a_pause_after_unsubscribe(api: Api) -> Any:
    reader, first = await left_group(api, auto_commit=False)
    reader.assign([api.partition(), api.partition(1)])
    reader.pause(api.partition())
    await api.fill(b"d", partition=1)
    found = (await reader.getone()).value, reader.paused()
    reader.resume(api.partition())
    return first, found, (await reader.getone()).value, reader.paused()


@scenario
async def stopping_right_after_assign_and_unsubscribe(api: Api) -> Any:
    reader, first = await left_group(api, auto_commit=False)
    reader.assign([api.partition()])
    await reader.stop()
    return first, await api.fails(reader.getone)


@scenario
async def a_deserializer_that_fails(api: Api) -> Any:
    await api.fill(b"1", b"x", b"3")
    reader = await api.consumer(api.topic, value_deserializer=int)
    return (await reader.getone()).value, await api.fails(reader.getone)


@scenario
async def what_is_subscribed(api: Api) -> Any:
    reader = api.clients.AIOKafkaConsumer(bootstrap_servers=api.servers, auto_offset_reset="earliest")
    before = reader.assignment(), reader.subscription()
    reader.subscribe([api.topic])
    await reader.start()
    facts = [reader.assignment(), reader.subscription(), reader.partitions_for_topic(api.topic)]
    wrong = [
        await api.fails(lambda: reader.assign([api.partition()])),
        await api.fails(reader.subscribe),
        await api.fails(lambda: reader.subscribe(["a"], pattern="b")),
        await api.fails(lambda: reader.subscribe("text")),
        await api.fails(lambda: reader.subscribe(pattern="[")),
        await api.fails(lambda: reader.subscribe(["a"], listener=1)),
        await api.fails(lambda: reader.commit()),
        await api.fails(lambda: reader.committed(api.partition())),
        await api.fails(lambda: reader.highwater(api.structs.TopicPartition("none", 0))),
    ]
    reader.unsubscribe()
    after = reader.assignment(), reader.subscription()
    reader.assign([api.partition()])
    last = reader.assignment(), await api.fails(lambda: reader.subscribe([api.topic]))
    topics = api.topic in await reader.topics(), "__consumer_offsets" in await reader.topics()
    await reader.stop()
    return before, facts, wrong, after, last, topics


@scenario
async def a_pattern(api: Api) -> Any:
    await api.fill(b"a")
    reader = await api.consumer(group_id=api.group)
    reader.subscribe(pattern=f"^{re.escape(api.topic)}$")
    record = await asyncio.wait_for(reader.getone(), LIMIT_S)
    return record.value, reader.subscription(), reader.assignment()


@scenario
async def a_consumer_as_a_block(api: Api) -> Any:
    async with api.clients.AIOKafkaProducer(bootstrap_servers=api.servers) as writer:
        await writer.send_and_wait(api.topic, b"v", partition=0)
    reader = api.clients.AIOKafkaConsumer(api.topic, bootstrap_servers=api.servers, auto_offset_reset="earliest")
    async with reader as same:
        found = same is reader, (await reader.getone()).value
    return found, await api.fails(reader.getone)


# ---- groups


@scenario
async def committing(api: Api) -> Any:
    await api.fill(*[b"%d" % number for number in range(5)])
    reader = await api.consumer(api.topic, group_id=api.group, enable_auto_commit=False)
    here = api.partition()
    found = [await reader.committed(here)]
    await reader.getone()
    for number in range(3):
        await reader.position(api.partition(number))  # what has no position yet is not committed
    await reader.commit()
    found += [await reader.committed(here), await reader.committed(api.partition(1))]
    await reader.commit({here: 3})
    found += [await reader.committed(here), await reader.seek_to_committed(), await reader.position(here)]
    await reader.commit({here: (4, "text")})
    found.append(await reader.committed(here))
    wrong = [
        await api.fails(lambda: reader.commit({})),
        await api.fails(lambda: reader.commit([1])),
        await api.fails(lambda: reader.commit({here: "x"})),
        await api.fails(lambda: reader.commit({here: (1, 2)})),
        await api.fails(lambda: reader.commit({("t", 0): 1})),
        await api.fails(lambda: reader.commit({api.structs.TopicPartition("none", 0): 1})),
    ]
    admin = await api.administrator()
    return found, wrong, await admin.list_consumer_group_offsets(api.group)


@scenario
async def commits_by_themselves(api: Api) -> Any:
    await api.fill(b"a", b"b", b"c")
    reader = await api.consumer(api.topic, group_id=api.group)
    await take(reader, 2)
    await reader.stop()
    second = await api.consumer(api.topic, group_id=api.group)
    return await second.committed(api.partition()), (await second.getone()).value


@scenario
async def two_members_share(api: Api) -> Any:
    log: list[Any] = []

    def listener(name: str) -> Any:
        class Listener(api.clients.ConsumerRebalanceListener):  # type: ignore[name-defined,misc]
            async def on_partitions_revoked(self, revoked: Any) -> None:
                log.append((name, "revoked", len(revoked)))

            def on_partitions_assigned(self, assigned: Any) -> None:
                log.append((name, "assigned", len(assigned)))

        return Listener()

    def member(name: str) -> Any:
        reader = api.clients.AIOKafkaConsumer(
            bootstrap_servers=api.servers,
            group_id=api.group,
            auto_offset_reset="earliest",
            heartbeat_interval_ms=100,
            client_id=name,
        )
        reader.subscribe([api.topic], listener=listener(name))
        api._open.append(reader)
        return reader

    first, second = member("a"), member("b")
    await first.start()
    alone = len(first.assignment())
    await second.start()
    await until(lambda: len(first.assignment()) + len(second.assignment()) == 3 and len(second.assignment()) > 0)
    shared = sorted(len(reader.assignment()) for reader in (first, second)), first.assignment() & second.assignment()
    await second.stop()
    await until(lambda: len(first.assignment()) == 3)
    return alone, shared, [[item for item in log if item[0] == name][:2] for name in "ab"], ("a", "revoked", 3) in log


@scenario
async def a_listener_seeks(api: Api) -> Any:
    await api.fill(*[b"%d" % number for number in range(5)])
    reader = api.clients.AIOKafkaConsumer(bootstrap_servers=api.servers, group_id=api.group, auto_offset_reset="latest")

    class Listener(api.clients.ConsumerRebalanceListener):  # type: ignore[name-defined,misc]
        async def on_partitions_revoked(self, revoked: Any) -> None:
            pass

        async def on_partitions_assigned(self, assigned: Any) -> None:
            for partition in assigned:
                if partition.partition == 0:
                    reader.seek(partition, 2)
                else:
                    await reader.seek_to_beginning(partition)

    reader.subscribe([api.topic], listener=Listener())
    api._open.append(reader)
    await reader.start()
    return [record.value for record in await take(reader, 3)]


@scenario
async def a_commit_that_comes_too_late(api: Api) -> Any:
    await api.fill(b"a")
    first = await api.consumer(api.topic, group_id=api.group, enable_auto_commit=False, heartbeat_interval_ms=100)
    record = await first.getone()
    admin = await api.administrator()
    described = await admin.describe_consumer_groups([api.group])
    group = described[0].to_object()["groups"][0]
    await first.commit({api.partition(): record.offset + 1})
    return group["state"], group["protocol_type"], group["protocol"], len(group["members"]), record.value


# ---- transactions


@scenario
async def a_transaction_as_a_block(api: Api) -> Any:
    writer = await api.producer(transactional_id=api.group)
    async with writer.transaction():
        await writer.send(api.topic, b"kept", partition=0)
    try:
        async with writer.transaction():
            await writer.send_and_wait(api.topic, b"dropped", partition=0)
            raise KeyError("x")
    except KeyError:
        pass
    async with writer.transaction():
        await writer.send_and_wait(api.topic, b"kept too", partition=0)
    careful = await api.consumer(api.topic, isolation_level="read_committed")
    careless = await api.consumer(api.topic)
    found = [record.value for record in await take(careful, 2)]
    return (
        found,
        careful.last_stable_offset(api.partition()),
        careful.highwater(api.partition()),
        [record.value for record in await take(careless, 3)],
        careless.last_stable_offset(api.partition()),
    )


@scenario
async def an_open_transaction_is_not_read(api: Api) -> Any:
    writer = await api.producer(transactional_id=api.group)
    await writer.begin_transaction()
    await writer.send_and_wait(api.topic, b"open", partition=0)
    careful = await api.consumer(api.topic, isolation_level="read_committed")
    nothing = await careful.getmany(timeout_ms=300)
    ends = await careful.end_offsets([api.partition()])
    await writer.commit_transaction()
    return nothing, ends, (await careful.getone()).value


@scenario
async def calls_out_of_turn(api: Api) -> Any:
    plain, writer = await api.producer(), await api.producer(transactional_id=api.group)
    found = [
        await api.fails(plain.begin_transaction),
        await api.fails(plain.transaction),
        await api.fails(lambda: writer.send(api.topic, b"x")),
        await api.fails(writer.commit_transaction),
        await api.fails(writer.abort_transaction),
        await api.fails(lambda: writer.send_offsets_to_transaction({api.partition(): 1}, api.group)),
    ]
    await writer.begin_transaction()
    found += [await api.fails(writer.begin_transaction)]
    found += [await api.fails(lambda: writer.send_offsets_to_transaction({}, api.group))]
    await writer.abort_transaction()
    return found


@scenario
async def offsets_within_a_transaction(api: Api) -> Any:
    await api.fill(b"in")
    reader = await api.consumer(api.topic, group_id=api.group, enable_auto_commit=False)
    record = await reader.getone()
    writer = await api.producer(transactional_id=api.group)
    async with writer.transaction():
        await writer.send(api.topic, b"out", partition=1)
        await writer.send_offsets_to_transaction({api.partition(): record.offset + 1}, api.group)
    async with asyncio.timeout(LIMIT_S):  # the marker may come a moment later
        while (found := await reader.committed(api.partition())) is None:
            pass
    return found


@scenario
async def a_second_producer_fences_the_first(api: Api) -> Any:
    first = await api.producer(transactional_id=api.group)
    await first.begin_transaction()
    await first.send_and_wait(api.topic, b"x", partition=0)
    await api.producer(transactional_id=api.group)
    return await api.fails(first.commit_transaction)
