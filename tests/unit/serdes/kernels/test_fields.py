"""serdes.kernels.*.fields: the straight line of a message and when it is left, in both implementations."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from types import ModuleType
from typing import Any, NamedTuple

import pytest

from kafka_core.errors import KafkaError
from kafka_core.kernels import Message
from serdes import MessageField, SerializationContext

FIELDS = (MessageField.KEY, MessageField.VALUE)


class KeyFailed(Exception):
    """The exception made of an error of the key's function."""


class ValueFailed(Exception):
    """Likewise for the value."""


class Known(NamedTuple):
    """A plan."""

    direct: Any


class Calls(list[Any]):
    """A function that notes its calls, and fails if it is told to."""

    def __init__(self, error: BaseException | None = None) -> None:
        self.error = error

    def __call__(self, value: Any, ctx: Any = None) -> Any:
        self.append((value, ctx))
        if self.error is not None:
            raise self.error
        return ("read", value)


@pytest.fixture
def fields(kernels: ModuleType) -> ModuleType:
    return importlib.import_module(f"{kernels.__name__}.fields")


@pytest.fixture
def known(kernels: ModuleType) -> Callable[..., Any]:
    """Makes a deserializer that knows the decoder of frames that begin with b"a"."""

    def make(decode: Any, long_way: Any = None) -> Any:
        class Read(kernels.ReadCall):  # type: ignore[name-defined,misc]
            def _long_way(self, value: Any, ctx: Any) -> Any:
                return long_way(value, ctx)

            def _blame(self, error: Exception, value: Any, ctx: Any) -> None:
                raise LookupError(f"{ctx.topic} {ctx.field}") from error

        store = kernels.PlanStore()
        store.plans[None, None, b"a", False] = Known(decode)
        return Read(store, 1)

    return make


def reader(fields: ModuleType, key: Any, value: Any, ways: tuple[int, int]) -> Any:
    return fields.FieldReader((key, value), ways, SerializationContext, FIELDS, (KeyFailed, ValueFailed))


def writer(fields: ModuleType, key: Any, value: Any, ways: tuple[int, int], context: Any = SerializationContext) -> Any:
    return fields.FieldWriter((key, value), ways, context, FIELDS, (KeyFailed, ValueFailed))


def message(key: Any = b"ak", value: Any = b"av", **more: Any) -> Message:
    return Message(topic="t", partition=0, offset=5, key=key, value=value, **more)


def content(found: Message) -> tuple[Any, Any]:
    return found.key(), found.value()


# --- reading


def test_known_decoders_need_no_context(fields: ModuleType, known: Any) -> None:
    read = known(lambda frame: frame.decode())
    for take in ("read", "read_now"):
        found = message()
        getattr(reader(fields, read, read, (1, 1)), take)(found)
        assert content(found) == ("ak", "av")
        found = message(None, None)
        getattr(reader(fields, read, read, (1, 1)), take)(found)
        assert content(found) == (None, None)


def test_functions_whose_context_is_for_errors_only_get_none(fields: ModuleType) -> None:
    plain = Calls()
    found = message()
    reader(fields, None, plain, (0, 2)).read(found)
    assert content(found) == (b"ak", ("read", b"av"))
    assert plain == [(b"av", None)]


def test_text_is_read_without_a_call(fields: ModuleType) -> None:
    function = Calls()
    for raw, text in ((b"", ""), ("grün €".encode(), "grün €"), (None, None)):
        for take in ("read", "read_now"):
            found = message(raw, raw)
            getattr(reader(fields, function, function, (4, 4)), take)(found)
            assert content(found) == (text, text)
    assert function == []


def test_what_is_no_text_is_left_to_the_function(fields: ModuleType) -> None:
    broken = message(b"ak", b"\xff")
    wanted = [(b"\xff", SerializationContext("t", MessageField.VALUE, None, b"ak"))]
    function = Calls()
    made = reader(fields, None, function, (0, 4))
    assert not made.read_now(broken)
    assert content(broken) == (b"ak", b"\xff")
    made.read(broken)
    assert (content(broken), function) == ((b"ak", ("read", b"\xff")), wanted)
    replaced = message()
    replaced.set_value("set before")
    made.read(replaced)
    assert replaced.value() == ("read", "set before")


def test_any_function_is_called_once_with_its_context(fields: ModuleType) -> None:
    key, value = Calls(), Calls()
    found = message(headers=[("h", b"1")])
    reader(fields, key, value, (3, 3)).read(found)
    assert key == [(b"ak", SerializationContext("t", MessageField.KEY, [("h", b"1")]))]
    assert value == [(b"av", SerializationContext("t", MessageField.VALUE, [("h", b"1")], b"ak"))]
    assert content(found) == (("read", b"ak"), ("read", b"av"))


def test_headers_may_name_another_schema(fields: ModuleType, known: Any) -> None:
    long_way = Calls()
    read = known(lambda frame: "short", long_way)
    found = message(headers=[("__value_schema_id", b"1")])
    assert not reader(fields, None, read, (0, 1)).read_now(found)
    assert content(found) == (b"ak", b"av")
    reader(fields, None, read, (0, 1)).read(found)
    assert [ctx.headers for _, ctx in long_way] == [[("__value_schema_id", b"1")]]
    assert content(found) == (b"ak", ("read", b"av"))


def test_other_headers_name_no_schema(fields: ModuleType, known: Any) -> None:
    read = known(lambda frame: "short")
    for take in ("read", "read_now"):
        found = message(headers=[("trace", b"1"), ("tenant", None)])
        getattr(reader(fields, None, read, (0, 1)), take)(found)
        assert content(found) == (b"ak", "short")


def test_a_message_that_is_read_is_stored_too(fields: ModuleType, known: Any) -> None:
    one = reader(fields, None, known(lambda frame: "short"), (0, 1))
    stored: list[Any] = []

    def store(record: Any) -> bool:
        assert content(record) == (b"ak", "short")
        stored.append(record)
        return len(stored) == 1

    found = [message(), message(), message()]
    assert [one.take(found[0], store), one.take(found[1], store), one.take(found[2], None)] == [True, False, True]
    assert stored == found[:2]
    assert content(found[2]) == (b"ak", "short")


def test_events_and_what_can_not_be_read_are_not_stored(fields: ModuleType, known: Any) -> None:
    stored: list[Any] = []
    event = Message(topic="t", key=b"ak", value=b"av", error=KafkaError(KafkaError._PARTITION_EOF))
    assert reader(fields, None, known(lambda frame: "short"), (0, 1)).take(event, stored.append) is None
    assert content(event) == (b"ak", b"av")
    with pytest.raises(ValueFailed):
        reader(fields, None, known(lambda frame: frame.missing), (0, 1)).take(message(), stored.append)
    assert stored == []


def test_errors_of_a_known_decoder_have_their_context(fields: ModuleType, known: Any) -> None:
    bad = known(lambda frame: frame.missing)
    found = message()
    cases: list[tuple[tuple[Any, Any], tuple[int, int], type[Exception], str]] = [
        ((bad, None), (1, 0), KeyFailed, "t key"),
        ((Calls(), bad), (2, 1), ValueFailed, "t value"),
    ]
    for functions, ways, error, text in cases:
        with pytest.raises(error) as caught:
            reader(fields, *functions, ways).read(found)
        assert isinstance(caught.value.__cause__, LookupError)
        assert str(caught.value.__cause__) == text
        assert caught.value.args[1] is found
        assert not reader(fields, *functions, ways).read_now(found)
        assert content(found) == (b"ak", b"av")


@pytest.mark.parametrize("take", ["read", "read_many"])
def test_a_function_that_fails_was_called_once(fields: ModuleType, take: str) -> None:
    key, value = Calls(), Calls(KeyError("no"))
    found = message()
    made = reader(fields, key, value, (3, 3))
    if take == "read":
        with pytest.raises(ValueFailed) as caught:
            made.read(found)
        failed: Any = caught.value
    else:
        good, failed = made.read_many([found])
        assert good == 0
    assert (failed.args, failed.__cause__) == ((value.error, found), value.error)
    assert (len(key), len(value)) == (1, 1)
    assert content(found) == (b"ak", b"av")


def test_without_waiting_no_other_function_is_called(fields: ModuleType) -> None:
    value = Calls()
    found = message()
    made = reader(fields, Calls(), value, (2, 3))
    assert not made.read_now(found)
    assert made.read_many_now([found]) == 0
    assert (value, content(found)) == ([], (b"ak", b"av"))


def test_many_are_read_up_to_an_event_or_a_poison(fields: ModuleType, known: Any) -> None:
    made = reader(fields, None, known(bytes.decode, Calls(ValueError("no"))), (0, 1))
    event = Message(topic="t", error=KafkaError(KafkaError._PARTITION_EOF))
    for stop in (event, message(value=b"b")):
        batch = [message(), message(value=None), stop, message()]
        good, failed = made.read_many(batch)
        assert (good, isinstance(failed, ValueFailed)) == (2, stop is not event)
        assert [found.value() for found in batch[:2] + batch[3:]] == ["av", None, b"av"]
        assert made.read_many_now([message(), stop]) == 1
    assert made.read_many([message()] * 0) == (0, None)
    assert made.read_many_now([message(), message()]) == 2


@pytest.mark.parametrize("way", [2, 3])
def test_an_interrupt_goes_through(fields: ModuleType, way: int) -> None:
    made = reader(fields, None, Calls(KeyboardInterrupt()), (0, way))
    for call in (lambda: made.read(message()), lambda: made.read_many([message()])):
        with pytest.raises(KeyboardInterrupt):
            call()


# --- writing


@pytest.fixture
def encoder(kernels: ModuleType) -> Callable[..., Any]:
    """Makes a serializer that knows the encoder of the topic `t`'s values."""

    def make(encode: Any, long_way: Any = None) -> Any:
        class Write(kernels.WriteCall):  # type: ignore[name-defined,misc]
            def _long_way(self, value: Any, ctx: Any) -> Any:
                return long_way(value, ctx)

            def _blame(self, error: Exception, value: Any, ctx: Any) -> None:
                raise LookupError(f"{ctx.topic} {ctx.field}") from error

        store = kernels.PlanStore()
        store.plans["t", "value", b"", False] = Known(encode)
        return Write(store)

    return make


def test_known_encoders_need_no_context(fields: ModuleType, encoder: Any) -> None:
    made = writer(fields, Calls(), encoder(str.encode), (2, 1), context=None)
    for headers, passed in (
        (None, None),
        ([], None),
        ({}, None),
        ({"h": b"1"}, {"h": b"1"}),
        ((("h", b"1"),), [("h", b"1")]),
    ):
        assert made.write("t", 1, "v", headers) == (("read", 1), b"v", passed)
        assert made.write_now("t", 1, "v", headers) == (("read", 1), b"v", passed)
    assert made.write("t", 1, None, None) == (("read", 1), None, None)


def test_text_is_written_without_a_call(fields: ModuleType) -> None:
    function = Calls()
    made = writer(fields, function, function, (4, 4))
    for write in (made.write, made.write_now):
        assert write("t", "grün €", "", None) == ("grün €".encode(), b"", None)
        assert write("t", None, None, None) == (None, None, None)
    assert function == []


@pytest.mark.parametrize("given", [b"bytes", 5, "\ud800"])
def test_what_can_not_be_written_as_text_is_left_to_the_function(fields: ModuleType, given: Any) -> None:
    function = Calls()
    made = writer(fields, None, function, (0, 4))
    assert made.write_now("t", None, given, None) is None
    assert made.write("t", None, given, None) == (None, ("read", given), None)
    assert function == [(given, SerializationContext("t", MessageField.VALUE, [], None))]


def test_headers_that_functions_add_are_not_the_caller_s(fields: ModuleType) -> None:
    def add(value: Any, ctx: SerializationContext) -> bytes:
        assert isinstance(ctx.headers, list)
        ctx.headers.append((ctx.field, ctx.key))
        return b"written"

    mine = {"h": b"1"}
    made = writer(fields, add, add, (3, 3))
    headers = [("h", b"1"), ("key", None), ("value", "k")]
    assert made.write("t", "k", "v", mine) == (b"written", b"written", headers)
    assert mine == {"h": b"1"}
    assert made.write_now("t", "k", "v", mine) is None


@pytest.mark.parametrize("topic", ["t", ["not", "hashable"]])
def test_errors_of_a_known_encoder_have_their_context(fields: ModuleType, encoder: Any, topic: Any) -> None:
    made = writer(fields, None, encoder(str.encode, Calls(LookupError())), (0, 1))
    assert made.write_now(topic, b"k", 5, None) is None
    with pytest.raises(ValueFailed) as caught:
        made.write(topic, b"k", 5, None)
    assert isinstance(caught.value.__cause__, (LookupError, TypeError))
    assert caught.value.args[1] is topic


def test_a_serializer_that_fails_was_called_once(fields: ModuleType) -> None:
    key = Calls(KeyError("no"))
    with pytest.raises(KeyFailed) as caught:
        writer(fields, key, Calls(), (3, 3)).write("t", "k", "v", None)
    assert (caught.value.args, len(key)) == ((key.error, "t"), 1)


def test_produce_gives_all_arguments_on(fields: ModuleType) -> None:
    sent: list[Any] = []
    made = writer(fields, None, Calls(), (0, 2))
    call = fields.ProduceCall(made, lambda *given: sent.append(given))
    callback = print
    call("t", b"k", "v", 3, callback, 7, {"h": b"1"})
    call("t", value="v", headers=None)
    call(topic="t")
    assert sent == [
        ("t", ("read", "v"), b"k", 3, None, callback, 7, {"h": b"1"}),
        ("t", ("read", "v"), None, -1, None, None, 0, None),
        ("t", ("read", None), None, -1, None, None, 0, None),
    ]


# --- places


def test_the_last_message_of_each_partition(fields: ModuleType) -> None:
    batch = [Message(topic=topic, partition=at, offset=number) for number, (topic, at) in enumerate(
        [("t", 0), ("t", 0), ("t", 1000), ("u", 1000), ("t", 1000), ("t", 0), ("u", 1000)]
    )]  # fmt: skip
    last = fields.last_of_each(batch)
    assert {(found.topic(), found.partition()): found.offset() for found in last} == {
        ("t", 0): 5,
        ("t", 1000): 4,
        ("u", 1000): 6,
    }
    assert fields.last_of_each([]) == []
