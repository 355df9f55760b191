"""Message: what its methods say, for messages that were made and for those that were read."""

from __future__ import annotations

import pickle
from types import ModuleType, SimpleNamespace
from typing import Any, get_args, get_origin

import pytest

from kafka_core import kernels as selected
from kafka_core.errors import KafkaError
from kafka_core.records import NewRecord, build_batch
from tests.strategies.records import plain

FULL = {
    "topic": "t",
    "partition": 3,
    "offset": 7,
    "key": b"k",
    "value": b"value",
    "headers": [("a", b"x"), ("a", None)],
    "timestamp": (1, 1234),
    "latency": 0.5,
    "leader_epoch": 4,
}


def test_everything_that_was_given(kernels: ModuleType) -> None:
    message = kernels.Message(**FULL)
    assert plain(message) == (
        "t", 3, 7, b"k", b"value", [("a", b"x"), ("a", None)], None, (1, 1234), 0.5, 4, 5,
    )  # fmt: skip
    assert repr(message) == "Message(t[3] at 7, 5 bytes)"


def test_nothing_given(kernels: ModuleType) -> None:
    assert plain(kernels.Message()) == (None, None, None, None, None, None, None, (0, 0), None, None, 0)


def test_arguments_have_the_order_of_confluent_kafka(kernels: ModuleType) -> None:
    error = KafkaError(KafkaError._FAIL, "no")
    arguments: tuple[Any, ...] = ("t", 3, 7, b"k", b"value", [("a", b"x")], error, (1, 1234), 0.5, 4)
    assert plain(kernels.Message(*arguments)) == (*arguments, len(b"value"))


def test_parameters_are_for_annotations(kernels: ModuleType) -> None:
    typed = kernels.Message[str, dict]
    assert (get_origin(typed), get_args(typed)) == (kernels.Message, (str, dict))
    assert type(typed("t", key="k", value={})) is kernels.Message

    class Order(kernels.Message[str, dict]):  # type: ignore[misc,name-defined]
        pass

    assert isinstance(Order("t", key="k"), kernels.Message)


@pytest.mark.parametrize("unknown", [None, -1])
def test_unknown_numbers_are_none(kernels: ModuleType, unknown: int | None) -> None:
    message = kernels.Message(partition=unknown, offset=unknown, leader_epoch=unknown)
    assert (message.partition(), message.offset(), message.leader_epoch()) == (None, None, None)


def test_event(kernels: ModuleType) -> None:
    error = KafkaError(KafkaError._PARTITION_EOF, "end")
    message = kernels.Message(topic="t", partition=1, offset=5, error=error)
    assert message.error() is error
    assert "t[1]" in repr(message)
    assert "_PARTITION_EOF" in repr(message)


def test_setters(kernels: ModuleType) -> None:
    message = kernels.Message(**FULL)
    error = KafkaError(KafkaError._FAIL)
    message.set_key({"id": 1})
    message.set_value([1, 2])
    message.set_headers({"h": b"1"})
    message.set_topic("u")
    message.set_error(error)
    assert plain(message) == ("u", 3, 7, {"id": 1}, [1, 2], [("h", b"1")], error, (1, 1234), 0.5, 4, 2)
    message.set_key(None)
    message.set_value(None)
    message.set_headers(None)
    message.set_error(None)
    assert plain(message) == ("u", 3, 7, None, None, None, None, (1, 1234), 0.5, 4, 0)


def read(kernels: ModuleType) -> Any:
    record = NewRecord(b"value", b"k", [("a", b"x"), ("a", None)], 1234)
    batch = bytearray(build_batch([record], base_offset=7, partition_leader_epoch=4))
    (header,) = kernels.scan_batches(batch)
    return kernels.RecordCursor(batch, 61, len(batch), header, "t", 3, 0).next()


def test_setters_of_a_message_that_was_read(kernels: ModuleType) -> None:
    message = read(kernels)
    message.set_value(None)
    message.set_key(None)
    message.set_headers(None)
    assert plain(message) == ("t", 3, 7, None, None, None, None, (1, 1234), None, 4, 0)


def test_an_error_set_on_a_message_that_was_read_keeps_the_rest(kernels: ModuleType) -> None:
    message = read(kernels)
    message.set_error(KafkaError(KafkaError._VALUE_DESERIALIZATION))
    assert message.headers() == [("a", b"x"), ("a", None)]
    assert message.value() == b"value"


def test_length(kernels: ModuleType) -> None:
    assert len(read(kernels)) == 5
    assert len(kernels.Message(value="text")) == 4
    with pytest.raises(TypeError):
        len(kernels.Message(value=5))


def test_a_message_without_value_is_still_true(kernels: ModuleType) -> None:
    assert bool(kernels.Message())


def test_equal_by_content_and_not_hashable(kernels: ModuleType) -> None:
    assert kernels.Message(**{**FULL, "latency": None}) == read(kernels)
    assert kernels.Message(**FULL) != kernels.Message(**{**FULL, "offset": 8})
    assert kernels.Message() != "something else"
    with pytest.raises(TypeError):
        hash(kernels.Message())


def test_pickles(kernels: ModuleType) -> None:
    error = KafkaError(KafkaError._FAIL, "no")
    for message in (read(kernels), kernels.Message(**FULL), kernels.Message(error=error)):
        again = pickle.loads(pickle.dumps(message))
        assert type(again) is selected.Message  # whatever kernels the reading process has
        assert plain(again) == plain(message)


def test_deserialized_is_what_set_left_there(kernels: ModuleType) -> None:
    message = kernels.Message("t", key=b"k", value=b"v")
    assert (message.deserialized_key(), message.deserialized_value(), message.delivery_count()) == (b"k", b"v", None)
    message.set_key(1)
    message.set_value({"a": 1})
    assert (message.deserialized_key(), message.deserialized_value()) == (1, {"a": 1})


def test_the_offset_behind_a_record_is_stored(kernels: ModuleType) -> None:
    states = {("t", 0): SimpleNamespace(), ("t", 1): SimpleNamespace(), ("", 0): SimpleNamespace()}
    assert kernels.OffsetStore(states)(kernels.Message(topic="t", partition=0, offset=2**40, leader_epoch=4))
    assert kernels.OffsetStore(states)(kernels.Message(topic="t", partition=1, offset=0, leader_epoch=-7))
    assert kernels.OffsetStore(states)(kernels.Message(partition=0, offset=1))
    stored = [(state.stored, state.stored_epoch, state.stored_metadata) for state in states.values()]
    assert stored == [(2**40 + 1, 4, None), (1, -1, None), (2, -1, None)]


def test_each_offset_goes_to_the_state_of_its_own_partition(kernels: ModuleType) -> None:
    states = {(topic, number): SimpleNamespace() for topic in ("t", "u") for number in (0, 1)}
    store = kernels.OffsetStore(states)
    places = [("t", 0), ("t", 0), ("t", 1), ("u", 1), ("u", 0), ("t", 0)]
    for offset, (topic, number) in enumerate(places):
        assert store(kernels.Message(topic=topic, partition=number, offset=offset))
        assert not store(kernels.Message(topic=topic, partition=2, offset=9))
    assert {key: state.stored for key, state in states.items()} == {
        ("t", 0): 6,
        ("t", 1): 3,
        ("u", 1): 4,
        ("u", 0): 5,
    }


def test_a_state_that_was_taken_away_is_told_no_offset(kernels: ModuleType) -> None:
    states = {("t", 0): SimpleNamespace()}
    store = kernels.OffsetStore(states)
    assert store(kernels.Message(topic="t", partition=0, offset=5))
    gone = states.pop(("t", 0))
    store.forget()
    assert not store(kernels.Message(topic="t", partition=0, offset=6))
    states["t", 0] = SimpleNamespace()
    assert store(kernels.Message(topic="t", partition=0, offset=7))
    assert (gone.stored, states["t", 0].stored) == (6, 8)


def test_events_and_records_of_no_state_store_no_offset(kernels: ModuleType) -> None:
    states = {("t", 0): SimpleNamespace()}
    for record in (
        kernels.Message(topic="t", partition=0, offset=5, error=KafkaError(KafkaError._PARTITION_EOF)),
        kernels.Message(topic="t", partition=0),
        kernels.Message(topic="t", partition=0, offset=-1001),
        kernels.Message(topic="t", offset=5),
        kernels.Message(topic="t", partition=9, offset=5),
    ):
        assert not kernels.OffsetStore(states)(record)
    assert vars(states["t", 0]) == {}


# ---- rows


def test_rows_have_all_fields_of_messages_that_were_made(kernels: ModuleType) -> None:
    bare = kernels.Message("u", 0, 8, value={"a": 1}, headers=[])
    assert kernels.message_rows([kernels.Message(**FULL), bare, kernels.Message()]) == [
        ("t", 3, 7, 1, 1234, b"k", b"value", (("a", b"x"), ("a", None))),
        ("u", 0, 8, 0, 0, None, {"a": 1}, ()),
        (None, -1, -1001, 0, 0, None, None, ()),
    ]
    assert kernels.message_rows([]) == []


def test_rows_have_all_fields_of_messages_that_were_read(kernels: ModuleType) -> None:
    made = [
        NewRecord(b"v", b"k", [("h", b"x"), ("i", None)], timestamp_ms=5),
        NewRecord(None, None, timestamp_ms=6),
        NewRecord(b"", b"", timestamp_ms=7),
    ]
    data = build_batch(made, base_offset=40)
    (header,) = kernels.scan_batches(data)
    found: list[Any] = []
    kernels.RecordCursor(data, 61, len(data), header, "t", 1, 3).take(found, 9)
    found[1].set_value("of a deserializer")
    rows = [
        ("t", 1, 40, 1, 5, b"k", b"v", (("h", b"x"), ("i", None))),
        ("t", 1, 41, 1, 6, None, "of a deserializer", ()),
        ("t", 1, 42, 1, 7, b"", b"", ()),
    ]
    assert kernels.message_rows(found) == rows
    assert kernels.message_rows(found) == rows  # nothing is taken away


def test_rows_end_before_the_first_error(kernels: ModuleType) -> None:
    good, bad = kernels.Message("t", 0, 1), kernels.Message("t", 0, error=KafkaError(KafkaError._PARTITION_EOF))
    assert [row[2] for row in kernels.message_rows([good, good, bad, good])] == [1, 1]
    assert kernels.message_rows([bad]) == []


@pytest.mark.parametrize("wrong", [None, 5, [5], ["x"]])
def test_rows_are_of_lists_of_messages(kernels: ModuleType, wrong: Any) -> None:
    with pytest.raises((TypeError, AttributeError)):
        kernels.message_rows(wrong)
