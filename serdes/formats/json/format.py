"""JSON Schema as a format of serializers.

Must not know of registries or frames: `serdes.formats.json.codec` checks, encodes and decodes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from registry import Schema
from serdes.asks import Inquiry
from serdes.context import SerializationContext
from serdes.formats.json.codec import JsonSchema, decoder, encoder, load
from serdes.formats.protocol import Decode, Encode, ReadHooks, Referenced, WriteHooks
from serdes.options import WriteOptions


class JsonFormat:
    """JSON; see `serdes.formats.protocol.SchemaFormat`.

    Args:
        validate: whether values are checked against their schema.
        encode_json: the user's own encoder, value → str or bytes.
        decode_json: the user's own decoder, bytes → value.
    """

    schema_type = "JSON"
    needs_writer = True
    model = None

    def __init__(
        self,
        validate: bool = True,
        encode_json: Callable[[Any], Any] | None = None,
        decode_json: Callable[[Any], Any] | None = None,
    ) -> None:
        self._validate = validate
        self._encode_json = encode_json
        self._decode_json = decode_json

    def parse(self, schema: Schema, referenced: Referenced) -> JsonSchema:
        """Parses a schema."""
        return load(schema, referenced, self._validate)

    def name(self, parsed: JsonSchema) -> str | None:
        """The title."""
        return parsed.name

    def indexes(self, parsed: JsonSchema) -> None:
        """JSON's frames have none."""

    def complete(self, schema: Schema, ctx: SerializationContext | None, options: WriteOptions) -> Inquiry[Schema]:
        """The schema as it is."""
        yield from ()
        return schema

    def encoder(self, parsed: JsonSchema, prefix: bytes, hooks: WriteHooks | None = None) -> Encode:
        """See `serdes.formats.json.codec.encoder`."""
        return encoder(parsed, prefix, self._validate, self._encode_json)

    def decoder(
        self,
        writer: JsonSchema | None,
        reader: JsonSchema | None,
        skip: int,
        indexes: list[int] | None,
        hooks: ReadHooks | None = None,
    ) -> Decode:
        """See `serdes.formats.json.codec.decoder`; values are checked against the reader's schema, else the writer's:
        here, or in the end if a contract changes them.
        """
        changed = hooks is not None and (hooks.migrate is not None or hooks.value is not None)
        return decoder(None if changed else reader or writer, skip, self._validate, self._decode_json)

    def accept(self, written: Schema, indexes: list[int] | None) -> None:
        """Whatever the schema says is read; what doesn't fit shows in the values."""

    def check(self, parsed: JsonSchema) -> Callable[[Any], None] | None:
        """The schema's validator."""
        return parsed.check if self._validate else None
