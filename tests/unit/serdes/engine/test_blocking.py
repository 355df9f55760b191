from __future__ import annotations

import asyncio
import gc
import threading
import weakref
from dataclasses import dataclass
from typing import Any

import pytest

from registry import Schema, SchemaRegistryClient
from serdes import MessageField, SerializationContext, SerializationError
from serdes.avro import AvroDeserializer, AvroSerializer
from serdes.engine.owning import AsyncOwner, Owner

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
    monkeypatch.setattr("serdes.engine.cache.time.monotonic", lambda: now[0])
    conf = {"auto.register.schemas": False, "use.latest.version": True}
    with Counting(f"mock://{request.node.nodeid}", **{"cache.latest.ttl.sec": 10}) as client:
        client.register_schema("orders-value", Schema(ORDER))
        serialize = AvroSerializer(client, conf=conf)
        deserialize = AvroDeserializer(client, conf=NEWEST)
        frame = serialize({"id": "x", "n": 1}, VALUE)
        assert deserialize(frame, VALUE) == {"id": "x", "n": 1}
        with SchemaRegistryClient({"url": f"mock://{request.node.nodeid}"}) as somebody_else:
            somebody_else.register_schema("orders-value", Schema(WIDER))
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
    with pytest.raises(SerializationError, match="SerializationContext is required"):
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


NEWEST = {"use.latest.version": True}
LATEST = {"auto.register.schemas": False, "use.latest.version": True}


def id_of(frame: bytes | None) -> int:
    assert frame is not None
    return int.from_bytes(frame[1:5], "big")


def test_a_plan_lasts_no_longer_than_the_answer_it_was_made_of(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [0.0]
    monkeypatch.setattr("serdes.engine.cache.time.monotonic", lambda: now[0])
    url = f"mock://{request.node.nodeid}"
    with Counting(url, **{"cache.latest.ttl.sec": 10}) as client, SchemaRegistryClient({"url": url}) as other:
        other.register_schema("orders-value", Schema(ORDER))
        client.get_latest_version("orders-value")
        now[0] = 9.0
        serialize, read = (
            AvroSerializer(client, conf=LATEST),
            AvroDeserializer(client, conf=NEWEST),
        )
        frame = serialize({"id": "x", "n": 1}, VALUE)
        assert read(frame, VALUE) == {"id": "x", "n": 1}
        other.register_schema("orders-value", Schema(WIDER))
        now[0] = 10.0
        assert id_of(serialize({"id": "x", "n": 1}, VALUE)) == 2
        assert read(frame, VALUE) == {"id": "x", "n": 1, "note": None}


@pytest.mark.parametrize("change", ["register", "delete", "clear", "clear latest"])
def test_a_change_by_the_same_client_ends_plans_that_use_the_newest_version(change: str, client: Counting) -> None:
    client.register_schema("orders-value", Schema(ORDER))
    if change == "delete":
        client.register_schema("orders-value", Schema(WIDER))
    serialize, read = AvroSerializer(client, conf=LATEST), AvroDeserializer(client, conf=NEWEST)
    before = serialize({"id": "x", "n": 1}, VALUE)
    for _ in range(2):
        assert serialize({"id": "x", "n": 1}, VALUE) == before
        read(before, VALUE)
    calls = len(client.calls)
    if change == "register":
        client.register_schema("orders-value", Schema(WIDER))
    elif change == "delete":
        client.delete_version("orders-value", 2)
    elif change == "clear":
        client.clear_caches()
    else:
        client.clear_latest_caches()
    after = serialize({"id": "x", "n": 1}, VALUE)
    if change != "delete":  # what the newer version wrote can't be read with the older one
        wide = {"id": "x", "n": 1, "note": None}
        assert read(before, VALUE) == (wide if change == "register" else {"id": "x", "n": 1})
    assert id_of(after) == {"register": 2, "delete": 1}.get(change, 1)
    assert len(client.calls) > calls


def test_a_deletion_by_the_same_client_has_the_schema_registered_again(client: Counting) -> None:
    serialize = AvroSerializer(client, ORDER)
    serialize({"id": "x", "n": 1}, VALUE)
    client.delete_subject("orders-value")
    assert client.get_subjects() == []
    serialize({"id": "x", "n": 1}, VALUE)
    assert client.get_subjects() == ["orders-value"]


def test_registrations_of_others_cost_a_serializer_nothing(client: Counting) -> None:
    serialize, read = AvroSerializer(client, ORDER), AvroDeserializer(client)
    frame = serialize({"id": "x", "n": 1}, VALUE)
    read(frame, VALUE)
    calls = list(client.calls)
    for number in range(3):
        client.register_schema(f"other-{number}", Schema(ORDER))
    del client.calls[len(calls) :]
    assert (serialize({"id": "x", "n": 1}, VALUE), read(frame, VALUE)) == (frame, {"id": "x", "n": 1})
    assert client.calls == calls


def test_a_plan_that_was_on_its_way_during_a_change_is_not_kept(client: Counting) -> None:
    client.register_schema("orders-value", Schema(ORDER))
    serialize = AvroSerializer(client, conf={**LATEST, "subject.name.strategy.type": "TOPIC"})
    flow = serialize._engine.prepare(VALUE)
    next(flow)
    old = client.get_latest_version("orders-value")
    client.register_schema("orders-value", Schema(WIDER))
    with pytest.raises(StopIteration):
        flow.send(old)
    assert id_of(serialize({"id": "x", "n": 1}, VALUE)) == 2


def test_a_client_holds_no_serializer(client: Counting) -> None:
    serialize = weakref.ref(AvroSerializer(client, ORDER))
    gc.collect()
    assert serialize() is None


def test_a_plan_that_was_made_without_a_context_is_good_for_no_topic(client: Counting) -> None:
    """With a strategy of the user's, values without a context have a subject of their own."""

    def strategy(ctx: SerializationContext | None, name: str | None) -> str:
        return "nowhere" if ctx is None else f"{ctx.topic}-value"

    for subject, schema in (("nowhere", ORDER), ("orders-value", ORDER), ("orders-value", WIDER)):
        client.register_schema(subject, Schema(schema))
    frame = b"\x00\x00\x00\x00\x01\x02x\x02"
    read = AvroDeserializer(client, conf={**NEWEST, "subject.name.strategy": strategy})
    for _ in range(2):
        assert read(frame) == {"id": "x", "n": 1}
        assert read(frame, VALUE) == {"id": "x", "n": 1, "note": None}


# ---- what closing a serializer closes: its rules always, its registry client only if it owns it


class Closed:
    """Counts how often it was closed, and how."""

    def __init__(self, client: Any = None) -> None:
        self.client = client
        self.calls: list[str] = []

    def close(self) -> None:
        self.calls.append("close")

    async def aclose(self) -> None:
        self.calls.append("aclose")


@pytest.mark.parametrize("owns", [False, True])
def test_a_client_is_closed_only_by_who_owns_it(owns: bool) -> None:
    for kind, wanted in ((Owner, "close"), (AsyncOwner, "aclose")):
        owner = kind()
        owner._engine = Closed(Closed())
        if owns:
            owner.own_schema_registry_client()
        if isinstance(owner, AsyncOwner):
            owner.close()
            assert owner._engine.client.calls == []
            asyncio.run(owner.aclose())
        else:
            owner.close()
        assert owner._engine.client.calls == ([wanted] if owns else [])
        assert set(owner._engine.calls) == {"close"}


def test_without_a_client_there_is_nothing_to_close() -> None:
    owner = Owner()
    owner._engine = Closed()
    owner.own_schema_registry_client()
    owner.close()
    assert owner._engine.calls == ["close"]
