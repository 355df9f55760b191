"""The schema id of a record: in front of its payload, or in a header.

Must not know of codecs or registries. Names and signatures are those of `confluent_kafka.schema_registry` (functions)
and `confluent_kafka.schema_registry.serde` (`SchemaId`), so a user's own functions work here too.
"""

from __future__ import annotations

import io
import uuid
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from serdes.context import MessageField, SerializationContext
from serdes.errors import SerializationError
from serdes.frames.framing import PREFIX_BYTES, frame_prefix, pack_indexes, prefix_size, schema_id_of, unpack_indexes
from serdes.frames.varint_streams import VarintStreams
from serdes.kernels.naming import KEY_HEADER, VALUE_HEADER

__all__ = [
    "KEY_HEADER",
    "VALUE_HEADER",
    "SchemaId",
    "SchemaIdDeserializer",
    "SchemaIdSerializer",
    "dual_schema_id_deserializer",
    "header_of",
    "header_schema_id_serializer",
    "prefix_schema_id_deserializer",
    "prefix_schema_id_serializer",
]


class SchemaId(VarintStreams):
    """The id or GUID of a record's schema.

    Attributes:
        schema_type: `AVRO`, `JSON` or `PROTOBUF`.
        id: the registry's number, None if the GUID names it.
        guid: the schema's GUID, None if the number names it.
        message_indexes: Protobuf's path of the message type, None for other formats.
        zigzag: how numbers of that path are written; False is the deprecated way.
    """

    __slots__ = ("guid", "id", "message_indexes", "schema_type", "zigzag")

    def __init__(
        self,
        schema_type: str,
        schema_id: int | None = None,
        guid: str | None = None,
        message_indexes: list[int] | None = None,
        zigzag: bool = True,
    ) -> None:
        self.schema_type = schema_type
        self.id = schema_id
        self.guid = None if guid is None else uuid.UUID(guid)
        self.message_indexes = message_indexes
        self.zigzag = zigzag

    def id_to_bytes(self) -> bytes:
        """Magic byte 0, the id, and for Protobuf the path of the message type.

        Raises:
            SerializationError: there is no id.
        """
        if self.id is None:
            raise SerializationError("the schema has no id")
        return frame_prefix(self.id) + self._path()

    def guid_to_bytes(self) -> bytes:
        """Magic byte 1, the GUID, and for Protobuf the path of the message type.

        Raises:
            SerializationError: there is no GUID.
        """
        if self.guid is None:
            raise SerializationError("the schema has no GUID: this registry gives none, frames need the schema's id")
        return b"\x01" + self.guid.bytes + self._path()

    def from_bytes(self, payload: io.BytesIO) -> io.BytesIO:
        """Reads the id from the stream, and leaves the stream behind it.

        Raises:
            SerializationError: not a frame.
        """
        start = payload.tell()
        payload.seek(start + self.read(payload.read()))
        return payload

    def read(self, data: bytes) -> int:
        """Reads the id from the start of some bytes; the number of its bytes.

        Raises:
            SerializationError: not a frame.
        """
        size = prefix_size(data)
        if size == PREFIX_BYTES:
            self.id = schema_id_of(data)
        else:
            self.guid = uuid.UUID(bytes=bytes(data[1:size]))
        if self.schema_type == "PROTOBUF":
            self.message_indexes, size = unpack_indexes(data, size, self.zigzag)
        return size

    def _path(self) -> bytes:
        return b"" if self.message_indexes is None else pack_indexes(self.message_indexes, self.zigzag)


SchemaIdSerializer: TypeAlias = Callable[[bytes, SerializationContext | None, Any], bytes]
"""Payload, context and `SchemaId` → the bytes to produce."""
SchemaIdDeserializer: TypeAlias = Callable[[bytes, SerializationContext | None, Any], Any]
"""The consumed bytes, context and an empty `SchemaId` to fill → the payload, as bytes or `io.BytesIO`."""


def prefix_schema_id_serializer(payload: bytes, ctx: SerializationContext | None, schema_id: SchemaId) -> bytes:
    """Puts the schema's id in front of the payload."""
    return schema_id.id_to_bytes() + payload


def header_schema_id_serializer(payload: bytes, ctx: SerializationContext | None, schema_id: SchemaId) -> bytes:
    """Adds the header `__key_schema_id` or `__value_schema_id` with the schema's GUID; the payload stays bare.

    Raises:
        SerializationError: the context has no list or dict of headers, or the schema has no GUID.
    """
    headers: Any = None if ctx is None else ctx.headers
    if ctx is None or not isinstance(headers, (list, dict)):
        raise SerializationError("the schema's GUID goes into a header: the context needs a list or a dict of headers")
    name, value = _header_name(ctx), schema_id.guid_to_bytes()
    if isinstance(headers, list):
        headers.append((name, value))
    else:
        headers[name] = value
    return payload


def prefix_schema_id_deserializer(payload: bytes, ctx: SerializationContext | None, schema_id: SchemaId) -> io.BytesIO:
    """Reads the schema's id from the prefix; returns the payload."""
    return schema_id.from_bytes(io.BytesIO(payload))


def dual_schema_id_deserializer(payload: bytes, ctx: SerializationContext | None, schema_id: SchemaId) -> io.BytesIO:
    """Reads the schema's id from the header if there is one, else from the prefix; returns the payload."""
    header = header_of(ctx)
    if header is None:
        return schema_id.from_bytes(io.BytesIO(payload))
    schema_id.read(header)
    return io.BytesIO(payload)


def header_of(ctx: SerializationContext | None) -> bytes | None:
    """The header that names the schema of a key or value, None if there is none."""
    if ctx is None or not ctx.headers:
        return None
    name, headers = _header_name(ctx), ctx.headers
    pairs = headers.items() if isinstance(headers, Mapping) else headers
    for key, value in pairs:
        if key == name and value is not None:
            return value.encode() if isinstance(value, str) else bytes(value)
    return None


def _header_name(ctx: SerializationContext) -> str:
    return KEY_HEADER if ctx.field == MessageField.KEY else VALUE_HEADER
