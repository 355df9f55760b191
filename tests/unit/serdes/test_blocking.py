from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import Any

import pytest

from registry import Schema, SchemaRegistryClient
from serdes import MessageField, SerializationContext, SerializationError
from serdes.avro import AvroDeserializer, AvroSerializer

ORDER = '{"type":"record","name":"Order","fields":[{"name":"id","type":"string"},{"name":"n","type":"int"}]}'
WIDER = (
    '{"type":"record","name":"Order","fields":[{"name":"id","type":"string"},{"name":"n","type":"long"},'
    '{"name":"note","type":["null","string"],"default":null}]}'
)
VALUE = SerializationContext("orders", MessageField.VALUE)


@dataclass
class Order:
    id: str
    n: int


class Counting(SchemaRegistryClient):
    """Counts what is asked of it."""

    def __init__(self, url: str, **conf: Any) -> None:
        super().__init__({"url": url, **conf})
        self.calls: list[str] = []

    def __getattribute__(self, name: str) -> Any:
        if name.startswith(("get_", "register_", "lookup_")):
            self.calls.append(name)
        return super().__getattribute__(name)


@pytest.fixture
def client(request: pytest.FixtureRequest) -> Any:
    with Counting(f"mock://{request.node.nodeid}") as made:
        yield made


def test_dicts_out_and_back(client: Counting) -> None:
    frame = AvroSerializer(client, ORDER)({"id": "x", "n": 1}, VALUE)
    assert frame == b"\x00\x00\x00\x00\x01\x02x\x02"
    assert AvroDeserializer(client)(frame, VALUE) == {"id": "x", "n": 1}
    assert client.get_subjects() == ["orders-value"]


def test_objects_out_and_back(client: Counting) -> None:
    serialize = AvroSerializer(client, ORDER, lambda order, ctx: {"id": ctx.topic + order.id, "n": order.n})
    deserialize = AvroDeserializer(client, from_dict=lambda value, ctx: Order(**value))
    assert deserialize(serialize(Order("1", 2), VALUE), VALUE) == Order("orders1", 2)


def test_none_stays_none_and_asks_nothing(client: Counting) -> None:
    assert AvroSerializer(client, ORDER, lambda order, ctx: {})(None, VALUE) is None
    assert AvroDeserializer(client, from_dict=lambda value, ctx: value["x"])(None, VALUE) is None
    assert client.calls == []


def test_the_registry_is_asked_once_per_topic_and_field(client: Counting) -> None:
    serialize, deserialize = AvroSerializer(client, ORDER), AvroDeserializer(client)
    for topic in ("a", "b"):
        for field in (MessageField.KEY, MessageField.VALUE):
            for _ in range(5):
                context = SerializationContext(topic, field)
                deserialize(serialize({"id": "x", "n": 1}, context), context)
    assert client.calls.count("register_schema_full_response") == 4
    assert client.calls.count("get_schema") == 1


def test_reader_schema_evolves_both_ids(client: Counting) -> None:
    old = AvroSerializer(client, ORDER)({"id": "x", "n": 1}, VALUE)
    new = AvroSerializer(client, WIDER)({"id": "y", "n": 2, "note": "hi"}, VALUE)
    deserialize = AvroDeserializer(client, WIDER)
    assert [deserialize(frame, VALUE) for frame in (old, new)] == [
        {"id": "x", "n": 1, "note": None},
        {"id": "y", "n": 2, "note": "hi"},
    ]


def test_latest_is_asked_again_after_its_time(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0.0]
    monkeypatch.setattr("serdes.calls.time.monotonic", lambda: now[0])
    conf = {"auto.register.schemas": False, "use.latest.version": True}
    with Counting(f"mock://{request.node.nodeid}", **{"cache.latest.ttl.sec": 10}) as client:
        client.register_schema("orders-value", Schema(ORDER))
        serialize = AvroSerializer(client, conf=conf)
        deserialize = AvroDeserializer(client, conf={"use.latest.version": True})
        frame = serialize({"id": "x", "n": 1}, VALUE)
        assert deserialize(frame, VALUE) == {"id": "x", "n": 1}
        client.register_schema("orders-value", Schema(WIDER))
        now[0] = 9.0
        assert serialize({"id": "x", "n": 1}, VALUE) == frame
        assert deserialize(frame, VALUE) == {"id": "x", "n": 1}
        now[0] = 11.0
        assert serialize({"id": "x", "n": 1}, VALUE) == b"\x00\x00\x00\x00\x02\x02x\x02\x00"
        assert deserialize(frame, VALUE) == {"id": "x", "n": 1, "note": None}


def test_encode_errors_are_located(client: Counting) -> None:
    serialize = AvroSerializer(client, ORDER)
    with pytest.raises(SerializationError) as caught:
        serialize({"id": "x", "n": "many"}, VALUE)
    error = caught.value
    assert (error.topic, error.field, error.schema_id, error.path) == ("orders", "value", 1, "Order.n")
    assert str(error) == "topic orders, value, schema id 1, at Order.n: a value of type str does not fit int"


@pytest.mark.parametrize(
    "frame", [b"", b"\x00", b"\x00\x00\x00\x00\x01\x02", b"\x00\x00\x00\x00\x09abc", b"\x07abcdefg"]
)
def test_decode_errors_are_located(client: Counting, frame: bytes) -> None:
    AvroSerializer(client, ORDER)({"id": "x", "n": 1}, VALUE)
    with pytest.raises(SerializationError) as caught:
        AvroDeserializer(client)(frame, VALUE)
    assert (caught.value.topic, caught.value.field) == ("orders", "value")


def test_an_unknown_id_is_asked_again_later(client: Counting) -> None:
    deserialize = AvroDeserializer(client)
    frame = b"\x00\x00\x00\x00\x01\x02x\x02"
    with pytest.raises(SerializationError, match="Schema 1 not found"):
        deserialize(frame, VALUE)
    AvroSerializer(client, ORDER)({"id": "x", "n": 1}, VALUE)
    assert deserialize(frame, VALUE) == {"id": "x", "n": 1}


def test_without_context_only_strategies_that_need_none(client: Counting) -> None:
    with pytest.raises(SerializationError, match="SerializationContext is needed"):
        AvroSerializer(client, ORDER)({"id": "x", "n": 1})
    serialize = AvroSerializer(client, ORDER, conf={"subject.name.strategy.type": "RECORD"})
    assert AvroDeserializer(client)(serialize({"id": "x", "n": 1})) == {"id": "x", "n": 1}


def test_an_incompatible_schema_says_why(client: Counting) -> None:
    AvroSerializer(client, ORDER)({"id": "x", "n": 1}, VALUE)
    with pytest.raises(SerializationError, match=r"incompatible.*long can't read string"):
        AvroSerializer(client, ORDER.replace('"string"', '"long"'))({"id": 1, "n": 1}, VALUE)


def test_bad_arguments(client: Counting) -> None:
    with pytest.raises(ValueError, match="to_dict must be callable"):
        AvroSerializer(client, ORDER, to_dict={})  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="from_dict must be callable"):
        AvroDeserializer(client, from_dict=5)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="a schema is needed"):
        AvroSerializer(client)
    with pytest.raises(ValueError, match="return_record_name must be a boolean value"):
        AvroDeserializer(client, return_record_name="yes")  # type: ignore[arg-type]


def test_threads_share_one(client: Counting) -> None:
    serialize, deserialize = AvroSerializer(client, ORDER), AvroDeserializer(client)
    wrong: list[Any] = []

    def work(at: int) -> None:
        for number in range(200):
            value = {"id": str(at), "n": number}
            context = SerializationContext(f"topic{number % 3}", MessageField.VALUE)
            if deserialize(serialize(value, context), context) != value:
                wrong.append(value)

    threads = [threading.Thread(target=work, args=(at,)) for at in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert not wrong
    assert sorted(client.get_subjects()) == ["topic0-value", "topic1-value", "topic2-value"]


def test_return_record_name(client: Counting) -> None:
    branch = '{"type":"record","name":"%s","fields":[{"name":"x","type":"int"}]}'
    schema = f"[{branch % 'A'},{branch % 'B'}]"
    frame = AvroSerializer(client, schema)(("B", {"x": 1}), VALUE)
    assert AvroDeserializer(client, return_record_name=True)(frame, VALUE) == ("B", {"x": 1})
    assert AvroDeserializer(client)(frame, VALUE) == {"x": 1}
