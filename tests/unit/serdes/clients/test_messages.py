from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from kafka_core.errors import ConsumeError, KafkaError, KafkaException
from kafka_core.kernels import Message
from kafka_core.model import TopicPartition
from registry import SchemaRegistryClient
from serdes import (
    SerializationContext,
    SerializationError,
)
from serdes.clients.fields import FieldDeserializers, settle
from serdes.clients.messages import PolledMessages, taking
from serdes.clients.poison import Letter, PoisonPolicy
from serdes.errors import (
    FieldError,
    ValueDeserializationError,
)


@pytest.fixture
def client(request: pytest.FixtureRequest) -> Iterator[SchemaRegistryClient]:
    with SchemaRegistryClient({"url": f"mock://{request.node.nodeid}"}) as made:
        yield made


def message(offset: int = 0, partition: int = 0, value: Any = b"v", key: Any = b"k", error: Any = None) -> Message:
    return Message(
        topic="t",
        partition=partition,
        offset=offset,
        value=value,
        key=key,
        headers=[("h", b"1")],
        error=error,
        leader_epoch=4,
    )


def failing(value: Any, ctx: SerializationContext) -> Any:
    raise SerializationError("no", schema_id=3, path="a.b")


def place(partition: int, offset: int) -> tuple[str, int, int]:
    return ("t", partition, offset)


def places(found: list[TopicPartition]) -> list[tuple[str, int, int]]:
    return [(item.topic, item.partition, item.offset) for item in found]


def sorted_out(*messages: tuple[str, Message]) -> PolledMessages:
    batch = PolledMessages()
    for kind, item in messages:
        if batch.skips(item):
            continue
        if kind == "good":
            batch.good(item)
        elif kind == "poison":
            batch.poison(item, ValueDeserializationError(SerializationError("no"), item))
        else:
            batch.event(item, KafkaError(KafkaError._PARTITION_EOF))
    return batch


def test_all_good() -> None:
    items = [message(0), message(1), message(5, partition=1)]
    batch = sorted_out(*(("good", item) for item in items))
    assert batch.messages == items
    assert places(batch.stores) == [place(0, 2), place(1, 6)]
    assert batch.stores[0].leader_epoch == 4
    assert batch.seeks == []
    assert batch.verdict() == (None, [])


def test_poison_holds_back_what_is_behind_it_in_its_partition_only() -> None:
    batch = sorted_out(
        ("good", message(0)), ("poison", message(1)), ("good", message(2)), ("good", message(8, partition=1))
    )  # fmt: skip
    assert [(item.partition(), item.offset()) for item in batch.messages] == [(0, 0), (1, 8)]
    assert places(batch.seeks) == [place(0, 1)]
    assert places(batch.stores) == [place(0, 1), place(1, 9)]
    assert batch.verdict() == (None, [])


def test_poison_is_raised_if_nothing_is_handed_out() -> None:
    batch = sorted_out(("poison", message(1)), ("good", message(2)), ("poison", message(4, partition=1)))
    assert batch.messages == []
    assert batch.verdict()[0] is batch.poisons[0]
    assert places(batch.seeks) == [place(0, 1), place(1, 4)]
    assert batch.stores == []


def test_events_are_raised_one_by_one_and_never_lost() -> None:
    batch = sorted_out(("event", message(1)), ("event", message(2)))
    raised, held = batch.verdict()
    assert isinstance(raised, ConsumeError)
    assert raised.kafka_message.offset() == 1
    assert [event.kafka_message.offset() for event in held if isinstance(event, ConsumeError)] == [2]


def test_events_wait_for_messages() -> None:
    batch = sorted_out(("event", message(1)), ("good", message(2)))
    raised, held = batch.verdict()
    assert raised is None
    assert len(held) == 1


def test_events_behind_a_poison_wait() -> None:
    batch = sorted_out(("poison", message(1)), ("event", message(9, partition=3)))
    raised, held = batch.verdict()
    assert raised is batch.poisons[0]
    assert held == batch.events


class Consumer:
    """Notes what is done with it."""

    def __init__(self, failing: bool = False) -> None:
        self.done: list[Any] = []
        self.failing = failing

    def go_back(self, place: TopicPartition) -> None:
        self.done.append(("back", place.offset))

    def keep(self, found: list[TopicPartition]) -> None:
        self.done.append(("keep", [item.offset for item in found]))

    def set_aside(self, letter: Letter) -> None:
        if self.failing:
            raise KafkaException(KafkaError(KafkaError._TIMED_OUT))
        self.done.append(("letter", letter.value))

    def let_go(self, letter: Letter) -> None:
        self.done.append(("gone", letter.origin[2]))


def bad_at(*offsets: int) -> Any:
    def read(value: Any, ctx: SerializationContext) -> Any:
        if int(value) in offsets:
            raise SerializationError("no")
        return value

    return read


def take(
    policy: PoisonPolicy, *offsets: int, client: Any = None
) -> tuple[list[int | None], Exception | None, list[Any]]:
    consumer = client or Consumer()
    raw = [Message(topic="t", partition=0, offset=at, value=str(at).encode()) for at in range(3)]
    batch, raised = settle(taking(raw, FieldDeserializers(None, bad_at(*offsets)), policy, consumer, True))
    return [item.offset() for item in batch.messages], raised, consumer.done


def test_raising_goes_back() -> None:
    assert take(PoisonPolicy(), 1) == ([0], None, [("back", 1), ("keep", [1])])
    handed, raised, done = take(PoisonPolicy(), 0)
    assert (handed, done) == ([], [("back", 0)])
    assert isinstance(raised, ValueDeserializationError)


def test_skipping_goes_on_and_tells() -> None:
    told: list[FieldError] = []
    assert take(PoisonPolicy(True, told.append), 1) == ([0, 2], None, [("keep", [3])])
    assert [error.offset for error in told] == [1]
    assert take(PoisonPolicy(True), 0, 1, 2) == ([], None, [("keep", [3])])


def test_a_callback_that_fails_holds_the_message_back() -> None:
    def fails(error: FieldError) -> None:
        raise KeyError("x")

    handed, raised, done = take(PoisonPolicy(True, fails), 0)
    assert (handed, done) == ([], [("back", 0)])
    assert raised is not None
    assert raised.__notes__ == ["and on.poison failed: KeyError: 'x'"]


def test_dead_letters_are_delivered_before_offsets_are_stored() -> None:
    assert take(PoisonPolicy(True, None, "dead"), 1) == ([0, 2], None, [("letter", b"1"), ("keep", [3]), ("gone", 1)])
    handed, raised, done = take(PoisonPolicy(True, None, "dead"), 0, client=Consumer(failing=True))
    assert (handed, done) == ([], [("back", 0)])
    assert raised is not None
    assert "was not delivered to dead" in raised.__notes__[0]


def test_messages_that_could_be_read_later_are_raised_whatever_the_policy() -> None:
    def away(value: Any, ctx: SerializationContext) -> Any:
        error = SerializationError("away")
        error.registry_away = True
        raise error

    consumer = Consumer()
    raw = [Message(topic="t", partition=0, offset=0, value=b"0")]
    batch, raised = settle(taking(raw, FieldDeserializers(None, away), PoisonPolicy(True), consumer, True))
    assert (batch.messages, consumer.done) == ([], [("back", 0)])
    assert isinstance(raised, ValueDeserializationError)


def test_what_a_rule_has_set_aside_is_raised_once_and_passed() -> None:
    def aside(value: Any, ctx: SerializationContext) -> Any:
        if value == b"1":
            error = SerializationError("a rule failed")
            error.set_aside = "dead"
            error.registry_away = True
            raise error
        return value

    def taken(policy: PoisonPolicy, *offsets: int) -> tuple[list[int | None], Any, list[Any], list[Any]]:
        consumer = Consumer()
        raw = [Message(topic="t", partition=0, offset=at, value=str(at).encode()) for at in offsets]
        batch, raised = settle(taking(raw, FieldDeserializers(None, aside), policy, consumer, True))
        return [item.offset() for item in batch.messages], raised, batch.events, consumer.done

    handed, raised, events, done = taken(PoisonPolicy(), 1)
    assert (handed, events, done) == ([], [raised], [("keep", [2])])
    assert isinstance(raised, ValueDeserializationError)
    assert raised.set_aside == "dead"
    handed, raised, events, done = taken(PoisonPolicy(), 0, 1, 2)
    assert (handed, raised, done) == ([0, 2], None, [("keep", [3])])
    assert [type(event) for event in events] == [ValueDeserializationError]
    assert taken(PoisonPolicy(True), 0, 1, 2) == ([0, 2], None, [], [("keep", [3])])
    assert taken(PoisonPolicy(True, None, "dead"), 0, 1, 2) == ([0, 2], None, [], [("keep", [3])])
    assert ("letter", b"1") in taken(PoisonPolicy(True, None, "elsewhere"), 0, 1, 2)[3]
