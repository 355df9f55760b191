"""serdes.kernels.*.calls: the short way and when it is left, in both implementations."""

from __future__ import annotations

import json
import sys
import threading
from types import ModuleType
from typing import Any, NamedTuple

import orjson
import pytest
from google.protobuf import duration_pb2, timestamp_pb2, wrappers_pb2
from google.protobuf.message import DecodeError

from serdes import MessageField, SerializationContext
from serdes.errors import SerializationError
from serdes.kernels import native

VALUE = SerializationContext("t", MessageField.VALUE)
KEY = SerializationContext("t", MessageField.KEY)


class Known(NamedTuple):
    """A plan."""

    direct: Any


def key_of(name: str) -> tuple[str | None, str | None, bytes, bool]:
    topic, field = name.split("_")
    return topic, field, b"", False


def writer(kernels: ModuleType, **encoders: Any) -> Any:
    class Writer(kernels.WriteCall):  # type: ignore[name-defined,misc]
        def __init__(self) -> None:
            self.store = kernels.PlanStore()
            self.store.plans.update((key_of(name), Known(encode)) for name, encode in encoders.items())
            self.blamed: list[Any] = []
            super().__init__(self.store)

        def _long_way(self, obj: Any, ctx: Any) -> bytes:
            return b"long:%r" % (obj,)

        def _blame(self, error: SerializationError, value: Any, ctx: Any) -> None:
            self.blamed.append((error, value, ctx))

        def add(self, topic: Any, field: Any, encode: Any) -> None:
            self.store.plans[topic, field, b"", False] = Known(encode)

    return Writer()


def reader(kernels: ModuleType, size: int, decoders: dict[bytes, Any]) -> Any:
    class Reader(kernels.ReadCall):  # type: ignore[name-defined,misc]
        def __init__(self) -> None:
            self.store = kernels.PlanStore()
            self.store.plans.update(((None, None, start, False), Known(decode)) for start, decode in decoders.items())
            self.blamed: list[Any] = []
            super().__init__(self.store, size)

        def _long_way(self, value: Any, ctx: Any) -> Any:
            return "long", value

        def _blame(self, error: SerializationError, value: Any, ctx: Any) -> None:
            self.blamed.append((error, value, ctx))

    return Reader()


# --- writing


def test_null_stays_null(kernels: ModuleType) -> None:
    assert writer(kernels)(None) is None
    assert writer(kernels)(None, VALUE) is None
    assert reader(kernels, 1, {})(None, VALUE) is None


def test_the_encoder_of_topic_and_field_is_used(kernels: ModuleType) -> None:
    write = writer(kernels, t_value=lambda obj: b"v%d" % obj, t_key=lambda obj: b"k%d" % obj)
    for _ in range(2):
        assert [write(1, VALUE), write(2, KEY), write(3, ctx=VALUE)] == [b"v1", b"k2", b"v3"]
    assert write(4, SerializationContext("".join(["t"]), MessageField.VALUE)) == b"v4"


def test_unknown_schemas_go_the_long_way_until_known(kernels: ModuleType) -> None:
    write = writer(kernels, t_value=lambda obj: b"v")
    assert [write(1, KEY), write(1), write(1, VALUE), write(1, KEY)] == [b"long:1", b"long:1", b"v", b"long:1"]
    write.add("t", "key", lambda obj: b"k")
    write.add(None, None, lambda obj: b"n")
    assert [write(1, KEY), write(1), write(1, VALUE)] == [b"k", b"n", b"v"]


def test_an_error_of_the_encoder_is_told_where_it_happened(kernels: ModuleType) -> None:
    error = SerializationError("no")

    def refuse(obj: Any) -> bytes:
        raise error

    write = writer(kernels, t_value=refuse)
    with pytest.raises(SerializationError) as caught:
        write(7, VALUE)
    assert caught.value is error
    assert write.blamed == [(error, 7, VALUE)]


def test_errors_of_all_types_are_told(kernels: ModuleType) -> None:
    """The class built on this makes a SerializationError of them, and raises that."""
    write = writer(kernels, t_value=lambda obj: obj.missing)
    with pytest.raises(AttributeError) as caught:
        write(7, VALUE)
    assert write.blamed == [(caught.value, 7, VALUE)]
    read = reader(kernels, 1, {b"a": lambda frame: frame.missing})
    with pytest.raises(AttributeError) as caught:
        read(b"ab", KEY)
    assert read.blamed == [(caught.value, b"ab", KEY)]
    write = writer(kernels, t_value=lambda obj: sys.exit())
    with pytest.raises(SystemExit):
        write(7, VALUE)
    assert write.blamed == []


def test_threads_that_share_one_get_their_own_encoder(kernels: ModuleType) -> None:
    write = writer(kernels, t_value=lambda obj: b"v%d" % obj, t_key=lambda obj: b"k%d" % obj)
    wrong: list[bytes] = []

    def run(ctx: SerializationContext, letter: bytes) -> None:
        made = ((number, write(number, ctx)) for number in range(20_000))
        wrong.extend(frame for number, frame in made if frame != letter + b"%d" % number)

    threads = [threading.Thread(target=run, args=pair) for pair in ((VALUE, b"v"), (KEY, b"k")) * 2]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


# --- reading


def test_the_decoder_of_the_frame_s_start_is_used(kernels: ModuleType) -> None:
    read = reader(kernels, 2, {b"ab": lambda frame: ("ab", frame), b"cd": lambda frame: ("cd", frame)})
    for _ in range(2):
        assert read(b"ab1") == ("ab", b"ab1")
        assert read(b"cd2", VALUE) == ("cd", b"cd2")
        assert read(b"cd", ctx=VALUE) == ("cd", b"cd")


@pytest.mark.parametrize("frame", [b"", b"a", b"ba", bytearray(b"ab"), memoryview(b"ab")])
def test_unknown_schemas_and_values_that_are_no_bytes_go_the_long_way(kernels: ModuleType, frame: Any) -> None:
    read = reader(kernels, 2, {b"ab": lambda frame: "short"})
    assert read(b"ab") == "short"
    assert read(frame) == ("long", frame)


OTHER_HEADERS: list[Any] = [None, [], [("h", b"x"), ("__value_schema_i", None)], {}, {"h": b"x"}]
NAMING_HEADERS: list[Any] = [
    [("h", b"x"), ("__value_schema_id", b"1")],
    [("__key_schema_id", None)],
    {"h": b"x", "__key_schema_id": b"1"},
    [["h", b"x"]],  # whatever else is not what this client gives is looked at by the long way
    [("h",)],
    [(b"__value_schema_id", b"1")],
    {b"h": b"x"},
    (("h", b"x"),),
    [None],
]


@pytest.mark.parametrize(
    ("headers", "short"), [*((item, True) for item in OTHER_HEADERS), *((item, False) for item in NAMING_HEADERS)]
)
def test_only_headers_that_may_name_a_schema_take_the_long_way(kernels: ModuleType, headers: Any, short: bool) -> None:
    read = reader(kernels, 2, {b"ab": lambda frame: "short"})
    context = SerializationContext("t", MessageField.VALUE, headers)
    assert read(b"ab", context) == ("short" if short else ("long", b"ab"))


def test_an_error_of_the_decoder_is_told_where_it_happened(kernels: ModuleType) -> None:
    error = SerializationError("no")

    def refuse(frame: bytes) -> Any:
        raise error

    read = reader(kernels, 1, {b"a": refuse})
    with pytest.raises(SerializationError):
        read(b"ab", VALUE)
    assert read.blamed == [(error, b"ab", VALUE)]


# --- Protobuf messages


def test_messages_of_the_class_are_put_behind_the_prefix(kernels: ModuleType) -> None:
    refused: list[Any] = []
    encode = kernels.MessageEncoder(wrappers_pb2.StringValue, b"\x00p", lambda value: refused.append(value) or b"other")
    message = wrappers_pb2.StringValue(value="x")
    write = writer(kernels, t_value=encode)
    assert encode(message) == write(message, VALUE) == b"\x00p" + message.SerializeToString()
    assert encode(wrappers_pb2.StringValue()) == b"\x00p"
    other = timestamp_pb2.Timestamp()
    assert (encode(other), write({"value": "x"}, VALUE)) == (b"other", b"other")
    assert refused == [other, {"value": "x"}]


def test_a_message_that_can_not_be_encoded_is_given_on(kernels: ModuleType) -> None:
    class Broken:
        def SerializeToString(self) -> bytes:
            raise ValueError("surrogates")

    encode = kernels.MessageEncoder(Broken, b"p", lambda value: b"why not")
    assert encode(Broken()) == b"why not"


@pytest.mark.parametrize("skip", [0, 6])
def test_messages_are_read_behind_what_is_skipped(kernels: ModuleType, skip: int) -> None:
    kind = duration_pb2.Duration
    message = kind(seconds=5, nanos=7)

    def why_not(frame: bytes) -> Any:
        with pytest.raises(DecodeError):
            kind.FromString(frame[skip:])
        raise SerializationError("broken")

    decode = kernels.MessageDecoder(kind.FromString, skip, why_not)
    frame = b"\x00" * skip + message.SerializeToString()
    read = reader(kernels, 6, {frame[:6]: decode})
    assert decode(frame) == message
    if skip:
        assert read(frame) == message
    assert decode(b"\x00" * skip) == kind()
    with pytest.raises(SerializationError, match="broken"):
        decode(b"\x00" * skip + b"\xff")


def test_a_frame_that_is_shorter_than_what_is_skipped_is_an_empty_message(kernels: ModuleType) -> None:
    decode = kernels.MessageDecoder(duration_pb2.Duration.FromString, 6, lambda frame: "broken")
    assert decode(b"\x00\x00") == duration_pb2.Duration()


# --- JSON


def test_json_values_are_put_behind_the_prefix(kernels: ModuleType) -> None:
    judged: list[Any] = []
    for is_valid in (None, lambda value: judged.append(value) or True):
        encode = kernels.JsonEncoder(is_valid, 250, b"\x00p", lambda value: b"other")
        write = writer(kernels, t_value=encode)
        value = {"a": [1, None, 1e300, "x"], "b": ({},)}
        assert encode(value) == write(value, VALUE) == b"\x00p" + orjson.dumps(value)
    assert judged == [value, value]


@pytest.mark.parametrize(
    "value",
    [[float("nan")], [[[[]]]], {1: 2}, [b"x"], ["\ud800"], [2**64], "not valid", "broken"],
)
def test_json_values_that_are_remarkable_not_valid_or_can_not_be_encoded_are_given_on(
    kernels: ModuleType, value: Any
) -> None:
    def is_valid(value: Any) -> bool:
        if value == "broken":
            raise ValueError("of a type that is not known")
        return bool(value != "not valid")

    given: list[Any] = []
    encode = kernels.JsonEncoder(is_valid, 3, b"p", lambda value: given.append(value) or b"other")
    assert encode(value) == b"other"
    assert given == [value] or given[0] is value


@pytest.mark.parametrize("skip", [0, 5])
def test_json_is_read_behind_what_is_skipped(kernels: ModuleType, skip: int) -> None:
    judged: list[Any] = []
    for is_valid in (None, lambda value: judged.append(value) or True):
        decode = kernels.JsonDecoder(orjson.loads, is_valid, 250, skip, lambda frame: ("other", frame))
        frame = b"\x00" * skip + b'{"a":[1,-9223372036854775808]}'
        assert decode(frame) == {"a": [1, -(2**63)]}
        assert reader(kernels, 5, {frame[:5]: decode})(frame) == {"a": [1, -(2**63)]}
    assert len(judged) == 2


@pytest.mark.parametrize(
    "payload",
    [
        b"",
        b"{",
        b'"\xff"',
        b'"not valid"',
        b'"broken"',
        b"[[[[]]]]",
        b"[18446744073709551616]",
        b"-9223372036854775809",
    ],
)
def test_json_that_is_remarkable_not_valid_or_none_is_given_on(kernels: ModuleType, payload: bytes) -> None:
    def is_valid(value: Any) -> bool:
        if value == "broken":
            raise ValueError("of a type that is not known")
        return bool(value != "not valid")

    decode = kernels.JsonDecoder(orjson.loads, is_valid, 3, 1, lambda frame: ("other", frame))
    assert decode(b"!" + payload) == ("other", b"!" + payload)


def test_integers_beyond_64_bits_are_noticed_wherever_they_are(kernels: ModuleType) -> None:
    decode = kernels.JsonDecoder(orjson.loads, None, 250, 0, lambda frame: json.loads(frame))
    for before in range(45):
        for number in (2**63 - 1, 2**64, -(2**64), 10**18, 10**40, 18446744073709551615):
            value = ["x" * before, number, 1.5, number]
            back = decode(json.dumps(value, separators=(",", ":")).encode())
            assert repr(back) == repr(value), (before, number)


def test_depth_is_noticed_in_payloads_of_any_length(kernels: ModuleType) -> None:
    decode = kernels.JsonDecoder(orjson.loads, None, 20, 0, lambda frame: "other")
    for padding in (0, 10, 1000):
        for depth, brackets in ((20, b"[]"), (21, b"[]"), (20, b"{}"), (21, b"{}")):
            opening = b"[" if brackets == b"[]" else b'{"a":'
            closing = brackets[1:]
            inner = brackets if brackets == b"[]" else b"{}"
            payload = opening * (depth - 1) + inner + closing * (depth - 1) + b" " * padding
            assert (decode(payload) == "other") == (depth > 20)
    flat = orjson.dumps([[]] * 1000)
    assert decode(flat) == [[]] * 1000


def test_bytes_to_skip_are_not_negative() -> None:
    with pytest.raises(ValueError, match="must not be negative"):
        native.JsonDecoder(orjson.loads, None, 250, -1, lambda frame: "other")


def test_forgotten_codecs_are_not_used(kernels: ModuleType) -> None:
    write = writer(kernels, t_value=lambda obj: b"old")
    assert write(1, VALUE) == b"old"
    former = write.store.plans
    write.store.forget()
    former["t", "value", b"", False] = Known(lambda obj: b"made meanwhile")
    assert write(1, VALUE) == b"long:1"
    write.add("t", "value", lambda obj: b"new")
    assert write(1, VALUE) == b"new"
    read = reader(kernels, 1, {b"a": lambda frame: "old"})
    assert read(b"ab") == "old"
    read.store.forget()
    assert read(b"ab") == ("long", b"ab")
    read.store.plans[None, None, b"a", False] = Known(lambda frame: "new")
    assert read(b"ab") == "new"


def test_a_plan_that_is_more_than_its_codec_goes_the_long_way(kernels: ModuleType) -> None:
    assert writer(kernels, t_value=None)(1, VALUE) == b"long:1"
    assert reader(kernels, 1, {b"a": None})(b"ab") == ("long", b"ab")


def test_known_codecs_can_be_looked_up(kernels: ModuleType) -> None:
    encode, decode = (lambda obj: b"v"), (lambda frame: "d")
    write, read = writer(kernels, t_value=encode, t_key=None), reader(kernels, 1, {b"a": decode})
    for _ in range(2):
        assert [write.encoder_of("t", field) for field in ("value", "key", "none")] == [encode, None, None]
        assert [read.decoder_of(frame) for frame in (b"ab", b"b", bytearray(b"ab"), "ab")] == [decode, None, None, None]


def test_a_class_that_does_not_call_the_constructor_knows_nothing(kernels: ModuleType) -> None:
    class Write(kernels.WriteCall):  # type: ignore[name-defined,misc]
        def __init__(self) -> None:
            pass

    class Read(kernels.ReadCall):  # type: ignore[name-defined,misc]
        def __init__(self) -> None:
            pass

    for made in (Write(), Read()):
        with pytest.raises(AttributeError):
            made(b"ab", VALUE)


class Plain:
    """A context without slots."""

    def __init__(self, topic: str, field: str) -> None:
        self.topic, self.field, self.headers = topic, field, None


class Computed(SerializationContext):
    """A context that has one of the attributes as a property."""

    topic = property(lambda self: "s", lambda self, value: None)  # type: ignore[assignment]


def test_contexts_of_all_classes_are_asked_for_their_attributes(kernels: ModuleType) -> None:
    serialize = writer(kernels, t_value=lambda obj: b"t", s_value=lambda obj: b"s")
    for _ in range(2):
        assert serialize(1, VALUE) == b"t"
        assert serialize(1, Plain("t", "value")) == b"t"
        assert serialize(1, Computed("t", MessageField.VALUE)) == b"s"
    changed = SerializationContext("t", MessageField.VALUE)
    assert serialize(1, changed) == b"t"
    changed.topic = "s"
    assert serialize(1, changed) == b"s"


@pytest.mark.parametrize("name", ["topic", "field", "headers"])
def test_a_context_that_lacks_an_attribute_is_an_error(kernels: ModuleType, name: str) -> None:
    context = SerializationContext("t", MessageField.VALUE)
    delattr(context, name)
    serialize, deserialize = writer(kernels, t_value=lambda obj: b"t"), reader(kernels, 1, {b"a": lambda frame: frame})
    assert serialize(1, VALUE) == b"t"
    assert deserialize(b"a", VALUE) == b"a"
    with pytest.raises(AttributeError, match=name):
        (deserialize if name == "headers" else serialize)(b"a", context)


def test_what_is_no_error_of_a_codec_passes(kernels: ModuleType) -> None:
    def interrupted(value: Any) -> Any:
        raise KeyboardInterrupt

    serialize, deserialize = writer(kernels, t_value=interrupted), reader(kernels, 1, {b"a": interrupted})
    for call in (serialize, deserialize):
        with pytest.raises(KeyboardInterrupt):
            call(b"a", VALUE)
        assert not call.blamed


def test_results_are_the_caller_s_alone(kernels: ModuleType) -> None:
    made: list[Any] = []

    def fresh(value: Any) -> Any:
        made.append(value * 1000)
        return made[-1]

    serialize, deserialize = writer(kernels, t_value=fresh), reader(kernels, 1, {b"a": fresh})
    for call in (serialize, deserialize):
        result = call(b"ab", VALUE)
        made.clear()
        assert sys.getrefcount(result) == 2
