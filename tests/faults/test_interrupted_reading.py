"""Deserializing consumers that are interrupted while a message is read: nothing of what they had taken is skipped."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import pytest

from kafka_core import Consumer, Producer, TopicPartition
from kafka_core.aio import AIOConsumer
from kafka_core.aio.consuming.positions import Positions
from kafka_core.broker import EmbeddedCluster
from kafka_core.errors import KafkaException
from serdes import AIODeserializingConsumer, DeserializingConsumer
from tests.faults.interrupts import Interrupt
from tests.faults.loop import on_loop, until

RECORDS = [b"%d" % number for number in range(5)]


@pytest.fixture
def servers() -> Iterator[str]:
    with EmbeddedCluster() as cluster:
        with Producer({"bootstrap.servers": cluster.bootstrap_servers}) as producer:
            for record in RECORDS:
                producer.produce("t", record)
        yield cluster.bootstrap_servers


def conf(servers: str, **others: Any) -> dict[str, Any]:
    return {"bootstrap.servers": servers, "group.id": "g", "enable.auto.commit": False, **others}


class Interrupted:
    """Deserializers that meet an interrupt at one record, once."""

    def __init__(self, at: bytes) -> None:
        self.at = at
        self.waits = False

    def read(self, data: bytes | None, context: Any) -> bytes | None:
        if data == self.at and not self.waits:
            self.waits = True
            raise KeyboardInterrupt
        return data

    async def read_later(self, data: bytes | None, context: Any) -> bytes | None:
        if data == self.at and not self.waits:
            self.waits = True
            await asyncio.Event().wait()
        return data


def nothing_stored(consumer: Any) -> bool:
    """Whether a commit is empty, or of where reading began."""
    try:
        committed = consumer.commit(asynchronous=False)
    except KafkaException:
        return True
    return all(place.offset == 0 for place in committed or [])


@pytest.mark.parametrize("at", [b"0", b"2"])
def test_a_poll_that_meets_ctrl_c_gives_its_message_again(servers: str, at: bytes) -> None:
    interrupted = Interrupted(at)
    with DeserializingConsumer[Any, bytes](conf(servers, **{"value.deserializer": interrupted.read})) as consumer:
        consumer.assign([TopicPartition("t", 0, 0)])
        found: list[bytes | None] = []
        while len(found) < len(RECORDS):
            with contextlib.suppress(KeyboardInterrupt):
                message = consumer.poll(60)
                assert message is not None, "its records are not behind the position"
                found.append(message.value())
    assert (found, interrupted.waits) == (RECORDS, True)


@pytest.mark.parametrize("more", [{}, {"poison.policy": "skip"}])
def test_a_consume_that_meets_ctrl_c_gives_all_its_messages_again(servers: str, more: dict[str, Any]) -> None:
    interrupted = Interrupted(b"2")
    own = conf(servers, **{"value.deserializer": interrupted.read, **more})
    with DeserializingConsumer[Any, bytes](own) as consumer:
        consumer.assign([TopicPartition("t", 0, 0)])
        with pytest.raises(KeyboardInterrupt):
            consumer.consume(len(RECORDS), 60)
        assert nothing_stored(consumer)
        found: list[bytes | None] = []
        while len(found) < len(RECORDS):
            found += [message.value() for message in consumer.consume(len(RECORDS), 60)]
    assert found == RECORDS


@pytest.mark.parametrize("call", ["poll", "consume"])
@on_loop
async def test_a_cancelled_call_gives_its_messages_again(call: str, servers: str) -> None:
    interrupted = Interrupted(b"2")
    consumer = AIODeserializingConsumer[Any, bytes](conf(servers, **{"value.deserializer": interrupted.read_later}))
    await consumer.assign([TopicPartition("t", 0, 0)])
    found: list[bytes | None] = []

    async def read() -> None:
        if call == "poll":
            message = await consumer.poll(60)
            found.extend([message.value()] if message is not None else [])
        else:
            found.extend(message.value() for message in await consumer.consume(3, 60))

    while not interrupted.waits:
        task = asyncio.ensure_future(read())
        await until(lambda task=task: task.done() or interrupted.waits)  # type: ignore[misc]
        if not task.done():
            task.cancel()
            await asyncio.wait((task,))
    while len(found) < len(RECORDS):
        await read()
    assert found == RECORDS
    await consumer.close()


def test_offsets_stored_behind_what_is_handed_back_are_taken_back(servers: str) -> None:
    with DeserializingConsumer[Any, bytes](conf(servers)) as consumer:
        consumer.assign([TopicPartition("t", 0, 0)])
        messages: list[Any] = []
        while len(messages) < 2:
            messages += consumer.consume(2 - len(messages), 60)
        consumer.hand_back(messages[1:])
        committed = consumer.commit(asynchronous=False)
        assert [place.offset for place in committed or []] == [1]
        again = consumer.poll(60)
        assert again is not None
        assert again.value() == RECORDS[1]


def values_of(found: Any) -> list[bytes | None]:
    if isinstance(found, list):
        return [message.value() for message in found]
    return found.column("value").to_pylist()  # type: ignore[no-any-return]


READS: dict[str, Callable[[Any], Any]] = {
    "poll": lambda consumer: [consumer.poll(60)],
    "consume": lambda consumer: consumer.consume(3, 60),
    "consume_arrow": lambda consumer: consumer.consume_arrow(3, 60),
}


@pytest.mark.parametrize("call", READS)
@pytest.mark.parametrize("kind", [Consumer, DeserializingConsumer])
def test_ctrl_c_at_any_moment_of_a_call_loses_nothing(servers: str, kind: Callable[[Any], Any], call: str) -> None:
    """The call is interrupted at its first moment, then at its second one, …, until it comes to its end."""
    if call == "consume_arrow":
        pytest.importorskip("pyarrow")
    moments = 0
    with kind(conf(servers)) as consumer:
        for moment in range(10_000):
            consumer.assign([TopicPartition("t", 0, 0)])
            ready_by_s = time.monotonic() + 60
            while not len(consumer._queue) and time.monotonic() < ready_by_s:
                time.sleep(0.001)
            interrupt = Interrupt(moment)
            with interrupt.armed():
                READS[call](consumer)
            if interrupt.where is None:
                break
            moments += 1
            assert nothing_stored(consumer), interrupt.where
            found: list[bytes | None] = []
            while len(found) < len(RECORDS):
                found += values_of(READS[call](consumer))
            assert found == RECORDS, interrupt.where
    assert moments > 5


def note(told: list[Any], _: Consumer, places: list[TopicPartition]) -> None:
    told.append(places)


@pytest.mark.filterwarnings("ignore:coroutine:RuntimeWarning")  # interrupted between being made and being started
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_ctrl_c_at_any_moment_of_a_rebalance_loses_no_callback(servers: str) -> None:
    """Each time a poll() that has to run on_assign is interrupted; the next ones run it, and records come."""
    interrupted = 0
    with Consumer(conf(servers, **{"auto.offset.reset": "earliest"})) as consumer:
        for moment in range(0, 10_000, 7):
            told: list[Any] = []
            consumer.subscribe(["t"], on_assign=partial(note, told))
            ready_by_s = time.monotonic() + 60
            while not consumer._core.inbox and time.monotonic() < ready_by_s:
                time.sleep(0.001)
            interrupt = Interrupt(moment)
            with interrupt.armed():
                consumer.poll(0)
            ends_by_s = time.monotonic() + 60
            message = None
            while message is None and time.monotonic() < ends_by_s:
                message = consumer.poll(0.1)
            assert message is not None, interrupt.where
            assert message.error() is None, interrupt.where
            begun = interrupt.where is not None and "handover.py" in interrupt.where  # it calls on_assign
            assert told or begun, interrupt.where
            consumer.unsubscribe()
            if interrupt.where is None:
                break
            interrupted += 1
    assert interrupted > 5


@pytest.mark.parametrize("call", ["consume", "consume_arrow"])
@pytest.mark.parametrize(("begin", "seeked"), [(3, 0), (0, 4)])
@on_loop
async def test_a_cancelled_call_during_which_a_seek_was_made_goes_on_where_that_went(
    begin: int, seeked: int, call: str, servers: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first record that it held was of the old position: behind the new one (found by the simulator), or before."""
    if call == "consume_arrow":
        pytest.importorskip("pyarrow")
    monkeypatch.setattr(
        Positions, "more_expected", lambda *_: True
    )  # the call waits for the rest, as with busy brokers
    consumer = AIOConsumer(conf(servers))
    await consumer.assign([TopicPartition("t", 0, begin)])
    task = asyncio.ensure_future(getattr(consumer, call)(len(RECORDS) + 5, 60))
    await until(lambda: consumer._core.assignment.require(("t", 0), "test").position == len(RECORDS))
    await consumer.seek(TopicPartition("t", 0, seeked))
    await until(lambda: consumer._core.assignment.require(("t", 0), "test").position == len(RECORDS))
    task.cancel()
    await asyncio.wait((task,))
    found: list[bytes | None] = []
    while not found or found[-1] != RECORDS[-1]:
        found += [message.value() for message in await consumer.consume(1, 60)]
    await consumer.close()
    assert found == RECORDS[seeked:]


def test_handing_records_back_does_not_undo_a_seek(servers: str) -> None:
    with Consumer(conf(servers)) as consumer:
        consumer.assign([TopicPartition("t", 0, 0)])
        taken: list[Any] = []
        while len(taken) < 3:
            taken += consumer.consume(3 - len(taken), 60)
        consumer.seek(TopicPartition("t", 0, 4))
        consumer.hand_back(taken)
        message = consumer.poll(60)
        assert message is not None
        assert message.value() == RECORDS[4]
