from __future__ import annotations

import asyncio
import io
from types import SimpleNamespace
from typing import Any

import pytest

from registry import Metadata, Schema
from serdes import MessageField, SerializationContext, SerializationError
from serdes.avro import AsyncAvroDeserializer, AsyncAvroSerializer, AvroDeserializer, AvroSerializer
from serdes.frames.schema_id import (
    SchemaId,
    header_schema_id_serializer,
    prefix_schema_id_deserializer,
)
from serdes.json_schema import JSONDeserializer, JSONSerializer
from tests.unit.serdes.fake import AsyncFakeRegistry, FakeRegistry

VALUE = SerializationContext("orders", MessageField.VALUE)
SCHEMA = '{"type":"record","name":"shop.Order","fields":[{"name":"n","type":"int"}]}'
WIDER = (
    '{"type":"record","name":"shop.Order","fields":[{"name":"n","type":"long"},{"name":"m","type":"int","default":4}]}'
)
NARROWER = '{"type":"record","name":"shop.Order","fields":[{"name":"x","type":"int"}]}'


def context(headers: Any = None, field: MessageField = MessageField.VALUE) -> SerializationContext:
    return SerializationContext("orders", field, headers)


def test_headers_instead_of_a_prefix() -> None:
    registry = FakeRegistry()
    write = AvroSerializer(registry, SCHEMA, conf={"schema.id.serializer": header_schema_id_serializer})
    ctx = context([])
    payload = write({"n": 1}, ctx)
    assert payload == b"\x02"
    assert list(dict(ctx.headers or {})) == ["__value_schema_id"]
    read = AvroDeserializer(registry)
    assert read(payload, ctx) == {"n": 1}
    assert read(payload, ctx) == {"n": 1}
    assert registry.calls.count("get_schema_by_guid") == 1
    with pytest.raises(SerializationError, match="magic byte"):
        AvroDeserializer(registry, conf={"schema.id.deserializer": prefix_schema_id_deserializer})(b"\x02xxxxxx", ctx)


def test_a_registry_without_guids_is_named() -> None:
    write = AvroSerializer(
        FakeRegistry(guids=False), SCHEMA, conf={"schema.id.serializer": header_schema_id_serializer}
    )
    with pytest.raises(SerializationError, match="topic orders, value, schema id 1: the schema has no GUID"):
        write({"n": 1}, context([]))


def test_functions_of_ones_own_put_the_id_where_they_like() -> None:
    def behind(payload: bytes, ctx: SerializationContext | None, schema_id: SchemaId) -> bytes:
        return payload + schema_id.id_to_bytes()

    def from_behind(payload: bytes, ctx: SerializationContext | None, schema_id: SchemaId) -> Any:
        schema_id.from_bytes(io.BytesIO(payload[-5:]))
        return payload[:-5]

    registry = FakeRegistry()
    frame = AvroSerializer(registry, SCHEMA, conf={"schema.id.serializer": behind})({"n": 1}, context())
    assert frame == b"\x02\x00\x00\x00\x00\x01"
    read = AvroDeserializer(registry, conf={"schema.id.deserializer": from_behind})
    assert read(frame, context()) == {"n": 1}
    assert read(frame, context()) == {"n": 1}


def test_latest_with_metadata() -> None:
    registry = FakeRegistry()
    registry.register_schema("orders-value", Schema(WIDER, metadata=Metadata(properties={"stage": "live"})))
    registry.register_schema("orders-value", Schema(SCHEMA))
    conf = {"use.latest.with.metadata": {"stage": "live"}}
    frame = AvroSerializer(registry, conf={**conf, "auto.register.schemas": False})({"n": 1}, context())
    assert frame == b"\x00\x00\x00\x00\x01\x02\x08"
    old = b"\x00\x00\x00\x00\x02\x02"
    assert AvroDeserializer(registry, conf=conf)(old, context()) == {"n": 1, "m": 4}
    with pytest.raises(SerializationError, match="Version not found"):
        AvroSerializer(registry, conf={"use.latest.with.metadata": {"stage": "test"}})({"n": 1}, context())


def test_strict_latest_must_read_what_the_schema_writes() -> None:
    registry = FakeRegistry()
    registry.register_schema("orders-value", Schema(WIDER))
    conf = {"use.latest.version": True, "auto.register.schemas": False, "latest.compatibility.strict": True}
    assert AvroSerializer(registry, SCHEMA, conf=conf)({"n": 1}, context()) == b"\x00\x00\x00\x00\x01\x02\x08"
    with pytest.raises(SerializationError, match=r"can't read values of the given one: .*n"):
        AvroSerializer(registry, NARROWER, conf=conf)({"x": 1}, context())


def test_use_schema_id_with_headers_asks_for_the_guid() -> None:
    registry = FakeRegistry()
    registry.register_schema("orders-value", Schema(SCHEMA))
    conf = {"use.schema.id": 1, "schema.id.serializer": header_schema_id_serializer}
    ctx = context({})
    assert AvroSerializer(registry, conf=conf)({"n": 1}, ctx) == b"\x02"
    assert AvroDeserializer(registry)(b"\x02", ctx) == {"n": 1}


def test_without_a_strategy_the_associated_subject_counts() -> None:
    registry = FakeRegistry()
    registry.associations["orders", "value"] = [SimpleNamespace(subject="mine")]
    write = AvroSerializer(registry, SCHEMA)
    write.set_cluster_id_resolver(lambda: "cluster")
    write({"n": 1}, context())
    write({"n": 1}, context(field=MessageField.KEY))
    assert set(registry.subjects) == {"mine", "orders-key"}
    assert registry.calls.count("associations") == 2


def test_latest_is_for_one_place_only() -> None:
    registry = FakeRegistry()
    registry.register_schema("orders-value", Schema(SCHEMA))
    registry.register_schema("orders-value", Schema(WIDER))
    registry.register_schema("orders-key", Schema(SCHEMA))
    read = AvroDeserializer(registry, conf={"use.latest.version": True})
    frame = b"\x00\x00\x00\x00\x01\x02"
    assert read(frame, context()) == {"n": 1, "m": 4}
    assert read(frame, context(field=MessageField.KEY)) == {"n": 1}
    assert read(frame, context()) == {"n": 1, "m": 4}
    assert registry.calls.count("latest") == 2


def test_asyncio_does_the_same() -> None:
    async def scene() -> None:
        registry = AsyncFakeRegistry(FakeRegistry())
        write = AsyncAvroSerializer(registry, SCHEMA, conf={"schema.id.serializer": header_schema_id_serializer})
        read = AsyncAvroDeserializer(registry)
        ctx = context([])
        assert await write({"n": 1}, ctx) == b"\x02"
        assert await read(b"\x02", ctx) == {"n": 1}

    asyncio.run(scene())


def _boom(*args: Any) -> Any:
    raise KeyError("SECRET")


class Gone(FakeRegistry):
    """A registry client that fails in a way nobody foresaw."""

    def get_schema(self, *args: Any) -> Any:
        raise RuntimeError("SECRET")

    def register_schema_full_response(self, *args: Any) -> Any:
        raise RuntimeError("SECRET")


def test_any_error_of_a_user_function_is_a_serialization_error_without_its_text() -> None:
    registry: Any = FakeRegistry()
    good = AvroSerializer(registry, '"string"')("x", VALUE)
    refused = {"subject.name.strategy": _boom}
    cases: list[tuple[str, Any]] = [
        ("schema id 1: to_dict failed: KeyError", lambda: AvroSerializer(registry, '"string"', _boom)("x", VALUE)),
        ("schema id 1: from_dict failed: KeyError", lambda: AvroDeserializer(registry, None, _boom)(good, VALUE)),
        ("strategy failed: KeyError", lambda: AvroSerializer(registry, '"string"', conf=refused)("x", VALUE)),
        (
            "can't be opened: KeyError",
            lambda: AvroDeserializer(registry, conf={"schema.id.deserializer": _boom})(good, VALUE),
        ),
        (
            "can't be encoded: KeyError",
            lambda: AvroSerializer(registry, '"string"', conf={"schema.id.serializer": _boom})("x", VALUE),
        ),
        ("encoded: KeyError", lambda: JSONSerializer("{}", registry, json_encode=_boom)({}, VALUE)),
        (
            "decoded: KeyError",
            lambda: JSONDeserializer("{}", None, registry, json_decode=_boom)(_json(registry), VALUE),
        ),
        ("RuntimeError", lambda: AvroSerializer(Gone(), '"string"')("x", VALUE)),  # type: ignore[arg-type]
        ("RuntimeError", lambda: AvroDeserializer(Gone())(good, VALUE)),  # type: ignore[arg-type]
    ]
    for text, call in cases:
        for _ in range(2):  # the second time on the short way, where there is one
            with pytest.raises(SerializationError, match=text) as caught:
                call()
            assert str(caught.value).startswith("topic orders, value")
            assert "SECRET" not in str(caught.value)
            assert isinstance(caught.value.__cause__, (KeyError, RuntimeError))


def _json(registry: Any) -> bytes:
    frame = JSONSerializer("{}", registry)({}, VALUE)
    assert frame is not None
    return frame


def test_asyncio_wraps_alike() -> None:
    async def scene() -> None:
        registry: Any = AsyncFakeRegistry(FakeRegistry())
        good = await AsyncAvroSerializer(registry, '"string"')("x", VALUE)
        with pytest.raises(SerializationError, match="to_dict failed: KeyError"):
            await AsyncAvroSerializer(registry, '"string"', _boom)("x", VALUE)
        with pytest.raises(SerializationError, match="from_dict failed: KeyError"):
            await AsyncAvroDeserializer(registry, None, _boom)(good, VALUE)
        with pytest.raises(SerializationError, match="RuntimeError"):
            await AsyncAvroDeserializer(AsyncFakeRegistry(Gone()))(good, VALUE)  # type: ignore[arg-type]

    asyncio.run(scene())


def test_want_of_memory_is_nobody_s_value() -> None:
    """It must not be taken for a poison message, which policies skip."""

    def greedy(*args: Any) -> Any:
        raise MemoryError

    with pytest.raises(MemoryError):
        AvroSerializer(FakeRegistry(), '"string"', greedy)("x", VALUE)  # type: ignore[arg-type]
    with pytest.raises(MemoryError):
        JSONSerializer("{}", FakeRegistry(), json_encode=greedy)({}, VALUE)  # type: ignore[arg-type]


def test_a_frame_that_is_no_bytes_is_both_errors() -> None:
    for kind in (SerializationError, TypeError):
        with pytest.raises(kind, match="a frame is bytes, not str"):
            AvroDeserializer(FakeRegistry())("text", VALUE)  # type: ignore[arg-type]


@pytest.mark.parametrize(("topic", "text"), [(None, "is NoneType"), ("", "is empty"), (5, "is int")])
def test_no_subject_is_made_of_a_topic_that_is_none(topic: Any, text: str) -> None:
    registry: Any = FakeRegistry()
    schema = '{"type":"record","name":"R","fields":[]}'
    ctx = SerializationContext(topic, MessageField.VALUE)
    for name in (None, "TOPIC", "TOPIC_RECORD", "ASSOCIATED"):
        with pytest.raises(SerializationError, match=f"the context's topic {text}"):
            AvroSerializer(registry, schema, conf={"subject.name.strategy.type": name})({}, ctx)
    assert registry.subjects == {}
    AvroSerializer(registry, schema, conf={"subject.name.strategy.type": "RECORD"})({}, ctx)
    assert list(registry.subjects) == ["R"]
