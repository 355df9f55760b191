from __future__ import annotations

import io
from typing import Any

import pytest

from serdes import MessageField, SerializationContext, SerializationError
from serdes.frames.schema_id import (
    SchemaId,
    dual_schema_id_deserializer,
    header_of,
    header_schema_id_serializer,
    prefix_schema_id_deserializer,
    prefix_schema_id_serializer,
)

GUID = "89791762-2336-4186-9674-299b90a802e2"
GUID_BYTES = bytes.fromhex("8979176223364186" + "9674299b90a802e2")


def context(headers: Any, field: MessageField = MessageField.VALUE) -> SerializationContext:
    return SerializationContext("orders", field, headers)


def test_prefix() -> None:
    frame = prefix_schema_id_serializer(b"pay", None, SchemaId("AVRO", 258))
    assert frame == b"\x00\x00\x00\x01\x02pay"
    found = SchemaId("AVRO")
    assert prefix_schema_id_deserializer(frame, None, found).read() == b"pay"
    assert (found.id, found.guid, found.message_indexes) == (258, None, None)


@pytest.mark.parametrize("headers", [[("a", b"b")], {"a": b"b"}])
@pytest.mark.parametrize(
    ("field", "name"), [(MessageField.KEY, "__key_schema_id"), (MessageField.VALUE, "__value_schema_id")]
)
def test_header(headers: Any, field: MessageField, name: str) -> None:
    ctx = context(headers.copy(), field)
    assert header_schema_id_serializer(b"pay", ctx, SchemaId("AVRO", 1, GUID)) == b"pay"
    assert dict(ctx.headers or {})[name] == b"\x01" + GUID_BYTES
    found = SchemaId("AVRO")
    assert dual_schema_id_deserializer(b"pay", ctx, found).read() == b"pay"
    assert str(found.guid) == GUID
    assert header_of(context(headers, field)) is None


def test_dual_takes_the_prefix_without_a_header() -> None:
    found = SchemaId("AVRO")
    assert dual_schema_id_deserializer(b"\x00\x00\x00\x00\x07x", context([]), found).read() == b"x"
    assert found.id == 7
    assert dual_schema_id_deserializer(b"\x01" + GUID_BYTES + b"x", None, found).read() == b"x"
    assert str(found.guid) == GUID


def test_protobuf_has_the_path_of_its_type() -> None:
    schema_id = SchemaId("PROTOBUF", 1, GUID, [1, 0])
    assert schema_id.id_to_bytes() == b"\x00\x00\x00\x00\x01\x04\x02\x00"
    assert schema_id.guid_to_bytes() == b"\x01" + GUID_BYTES + b"\x04\x02\x00"
    found = SchemaId("PROTOBUF")
    assert found.from_bytes(io.BytesIO(schema_id.id_to_bytes() + b"pay")).read() == b"pay"
    assert found.message_indexes == [1, 0]
    old = SchemaId("PROTOBUF", zigzag=False)
    assert old.read(b"\x00\x00\x00\x00\x01\x02\x01\x00x") == 8
    assert old.message_indexes == [1, 0]


def test_missing_ids_and_headers_are_named() -> None:
    with pytest.raises(SerializationError, match="has no id"):
        SchemaId("AVRO").id_to_bytes()
    with pytest.raises(SerializationError, match="this registry gives none"):
        SchemaId("AVRO", 1).guid_to_bytes()
    for ctx in (None, context(None), context(())):
        with pytest.raises(SerializationError, match="needs a list or a dict of headers"):
            header_schema_id_serializer(b"", ctx, SchemaId("AVRO", 1, GUID))
    with pytest.raises(SerializationError, match="a schema GUID alone need 17"):
        SchemaId("AVRO").read(b"\x01123")


def test_a_header_may_be_text() -> None:
    assert header_of(context([("__value_schema_id", None), ("__value_schema_id", "x")])) == b"x"
