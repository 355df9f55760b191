"""No compiled kernel of the serializers keeps memory: neither of what it did, nor of what it refused."""

from __future__ import annotations

import contextlib
import datetime
import functools
import json
import uuid
from collections.abc import Callable
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from benchmarks.serdes import JSON_ORDER, ORDER, proto_order, text_of
from kafka_core import Message
from registry import Schema, SchemaRegistryClient
from serdes import MessageField, SerializationContext
from serdes.avro import AvroDeserializer, AvroSerializer
from serdes.clients.fields import FieldDeserializers, FieldSerializers
from serdes.columnar import ColumnarDecoder, ColumnarEncoder, ColumnOptions
from serdes.errors import SerializationError, ValueDeserializationError, ValueSerializationError
from serdes.json_schema import JSONDeserializer, JSONSerializer
from serdes.kernels import IMPL
from serdes.kernels.native import fields as messages
from serdes.protobuf import ProtobufDeserializer, ProtobufSerializer
from tests.memory import kept

pytest.importorskip("serdes.kernels.native")
pytestmark = pytest.mark.skipif(IMPL != "native", reason="the compiled kernels are not in use")

LOGICAL: dict[str, tuple[dict[str, Any], Any]] = {
    "moment": ({"type": "long", "logicalType": "timestamp-micros"}, datetime.datetime.now(datetime.UTC)),
    "day": ({"type": "int", "logicalType": "date"}, datetime.date(2026, 1, 2)),
    "time": ({"type": "int", "logicalType": "time-millis"}, datetime.time(1, 2, 3)),
    "price": ({"type": "bytes", "logicalType": "decimal", "precision": 20, "scale": 2}, Decimal("5.25")),
    "key": ({"type": "string", "logicalType": "uuid"}, uuid.uuid4()),
    "counts": ({"type": "map", "values": ["null", "long", "string"]}, {"a": 1, "b": None, "c": "d"}),
    "octets": ({"type": "fixed", "name": "F", "size": 4}, b"abcd"),
}
LOGICAL_SCHEMA = json.dumps(
    {"type": "record", "name": "L", "fields": [{"name": name, "type": kind} for name, (kind, _) in LOGICAL.items()]}
)
LOGICAL_ROW = {name: value for name, (_, value) in LOGICAL.items()}


@dataclass
class Address:
    city: str
    postcode: str


@dataclass
class Person:
    name: str
    address: Address
    tags: list[str] = field(default_factory=list)


PERSON = Person("Ada", Address("London", "N1"), ["a"])


def topic(name: str) -> SerializationContext:
    return SerializationContext(name, MessageField.VALUE)


def refused(call: Callable[[], object]) -> None:
    with pytest.raises(SerializationError):
        call()


protobuf_order = functools.cache(proto_order)


@functools.cache
def client() -> SchemaRegistryClient:
    return SchemaRegistryClient({"url": "mock://leaks"})


@functools.cache
def pair(name: str) -> tuple[Any, Any]:
    """A serializer and a deserializer that are kept, as applications keep them."""
    registry = client()
    if name == "json":
        text = text_of("order.schema.json")
        return JSONSerializer(text, registry), JSONDeserializer(text, schema_registry_client=registry)
    if name == "loose":
        made = JSONSerializer('{"title": "loose"}', registry, conf={"validate": False})
        return made, JSONDeserializer(None, schema_registry_client=registry, conf={"validate": False})
    if name == "protobuf":
        kind = type(protobuf_order())
        return ProtobufSerializer(kind, registry), ProtobufDeserializer(kind, schema_registry_client=registry)
    if name == "models":
        return AvroSerializer(registry, model=Person), AvroDeserializer(registry, model=Person)
    text = {"order": text_of("order.avsc"), "logical": LOGICAL_SCHEMA}[name]
    return AvroSerializer(registry, text), AvroDeserializer(registry)


def avro() -> None:
    for name, value, wrong in (
        ("order", ORDER, {**ORDER, "tags": ["a", 5]}),
        ("logical", LOGICAL_ROW, {**LOGICAL_ROW, "price": Decimal("1.234")}),
        ("models", PERSON, Person("Ada", Address("London", 5))),  # type: ignore[arg-type]
    ):
        write, read = pair(name)
        context = topic(name)
        frame = write(value, context)
        assert read(frame, context) == value
        refused(lambda write=write, wrong=wrong, context=context: write(wrong, context))  # type: ignore[misc]
        for bad in (frame[:-2], frame + b"!", frame[:7] + b"\xff" * 20):
            with contextlib.suppress(SerializationError):
                read(bad, context)


def json_and_protobuf() -> None:
    for name, value in (("json", JSON_ORDER), ("loose", {"a": [1.5, 1e300, {"b": "ü\n" * 50}], "c": None})):
        write, read = pair(name)
        context = topic(name)
        frame = write(value, context)
        assert read(frame, context) == value
        refused(lambda write=write, context=context: write({"x": float("nan"), "y": {5}}, context))  # type: ignore[misc]
        refused(lambda read=read, frame=frame, context=context: read(frame[:-3], context))  # type: ignore[misc]
    write, read = pair("protobuf")
    frame = write(protobuf_order(), topic("protobuf"))
    assert read(frame, topic("protobuf")) == protobuf_order()
    refused(lambda: read(frame[:-3], topic("protobuf")))


def straight_line() -> None:
    """Messages whose value is read where they are, and records written as they are produced."""
    write, read = pair("order")
    frame = write(ORDER, topic("order"))

    reader, writer = FieldDeserializers(None, read).reader, FieldSerializers(None, write).writer
    sent: list[Any] = []
    for value in (frame, frame[:-2], None):
        with contextlib.suppress(ValueDeserializationError):
            reader.read(Message("order", 0, 1, None, value))
    writer.write("order", b"k", ORDER, None)
    with pytest.raises(ValueSerializationError):
        messages.ProduceCall(writer, lambda *given: sent.append(given))("order", b"k", {"id": 5})
    messages.last_of_each([Message("order", 0, at) for at in range(3)])


@functools.cache
def columnar(kind: str) -> tuple[ColumnarDecoder, ColumnarEncoder, bytes]:
    """Both ways of a format, and a frame."""
    text = {
        "AVRO": text_of("order.avsc"),
        "JSON": text_of("order.schema.json"),
        "PROTOBUF": text_of("order.proto"),
    }[kind]
    schema = Schema(text, kind)
    frame = {
        "AVRO": lambda: pair("order")[0](ORDER, topic("order")),
        "JSON": lambda: pair("json")[0](JSON_ORDER, topic("json")),
        "PROTOBUF": lambda: pair("protobuf")[0](protobuf_order(), topic("protobuf")),
    }[kind]()
    decoder = ColumnarDecoder(lambda _: schema, schema, options=ColumnOptions(), impl="native")
    return decoder, ColumnarEncoder(schema, 7), frame


def columns(kind: str) -> None:
    """A batch of good, damaged and missing frames, read and written again."""
    decoder, encoder, frame = columnar(kind)
    batch = [frame, None, frame[:-3], frame[: len(frame) // 2] + b"\xff" * 12, b"x", b""]
    for array in (pa.array(batch, pa.binary()), pa.array(batch, pa.large_binary()), pa.array(batch, pa.binary_view())):
        struct = decoder.decode(array).struct
    assert struct[0].is_valid
    found = encoder.encode(struct)
    assert found.frames[0].is_valid
    unfit = encoder.encode(
        pa.StructArray.from_arrays(struct.flatten(), fields=list(struct.type))
    )  # nulls, not null rows
    assert unfit.frames[0].is_valid


WORK: dict[str, tuple[Callable[[], None], str]] = {
    "avro": (avro, "avro avro_logical avro_objects calls"),
    "json and protobuf": (json_and_protobuf, "calls json_values doubles"),
    "straight line": (straight_line, "fields"),
    "avro columns": (lambda: columns("AVRO"), "avro_columns avro_frames frames columns arrays"),
    "json columns": (lambda: columns("JSON"), "json_columns json_frames"),
    "protobuf columns": (lambda: columns("PROTOBUF"), "protobuf_columns protobuf_frames"),
}


@pytest.mark.parametrize("name", WORK)
def test_nothing_leaks(name: str) -> None:
    found = kept(WORK[name][0])
    assert found.objects < 30
    assert found.malloc_bytes < 1_000
    assert found.arrow_bytes <= 0


def test_every_kernel_is_among_them() -> None:
    sources = (Path(__file__).parents[4] / "serdes" / "kernels" / "native").glob("*.pyx")
    assert {path.stem for path in sources} == {name for _, names in WORK.values() for name in names.split()}
