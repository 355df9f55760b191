"""Avro as a format of serializers.

Must not know of registries or frames: `serdes.formats.avro.codec` encodes and decodes.
"""

from __future__ import annotations

from registry import Schema
from serdes.asks import Inquiry
from serdes.context import SerializationContext
from serdes.formats.avro.codec import MAX_EMPTY_ITEMS, AvroModel, AvroSchema, Tags, decoder, encoder, load_texts
from serdes.formats.protocol import Decode, Encode, ReadHooks, Referenced, WriteHooks
from serdes.options import WriteOptions


class AvroFormat:
    """Avro; see `serdes.formats.protocol.SchemaFormat`.

    Args:
        strict: a record must have exactly the schema's fields.
        allow_default: as `strict`, but fields with a default may be missing.
        return_record_name: records in unions come as `(name, record)`.
        max_empty_items: array items of one payload that take no bytes.
        model: the class that values are of; None for plain ones.
    """

    schema_type = "AVRO"
    needs_writer = True

    def __init__(
        self,
        strict: bool = False,
        allow_default: bool = False,
        return_record_name: bool = False,
        max_empty_items: int = MAX_EMPTY_ITEMS,
        model: AvroModel | None = None,
    ) -> None:
        self.model = model
        self._strict = strict
        self._allow_default = allow_default
        self._return_record_name = return_record_name
        self._max_empty_items = max_empty_items

    def parse(self, schema: Schema, referenced: Referenced) -> AvroSchema:
        """Parses a schema."""
        return load_texts(schema.schema_str, [found.schema_str for _, found in referenced])

    def name(self, parsed: AvroSchema) -> str | None:
        """The full name of a named type, the type of others; None for unions."""
        return parsed.name

    def indexes(self, parsed: AvroSchema) -> None:
        """Avro's frames have none."""

    def complete(self, schema: Schema, ctx: SerializationContext | None, options: WriteOptions) -> Inquiry[Schema]:
        """The schema as it is."""
        yield from ()
        return schema

    def encoder(self, parsed: AvroSchema, prefix: bytes, hooks: WriteHooks | None = None) -> Encode:
        """See `serdes.formats.avro.codec.encoder`; what a contract makes of values is plain."""
        values = None if hooks is not None and hooks.value is not None else self.model
        return encoder(parsed, prefix, strict=self._strict, allow_default=self._allow_default, values=values)

    def accept(self, written: Schema, indexes: list[int] | None) -> None:
        """Whatever the schema says is read; what doesn't fit shows in the values."""

    def check(self, parsed: AvroSchema) -> None:
        """Values that are read are not checked."""

    def decoder(
        self,
        writer: AvroSchema,
        reader: AvroSchema | None,
        skip: int,
        indexes: list[int] | None,
        hooks: ReadHooks | None = None,
    ) -> Decode:
        """See `serdes.formats.avro.codec.decoder`; a contract that changes values gets plain ones."""
        changed = hooks is not None and (hooks.migrate is not None or hooks.value is not None)
        named = self._return_record_name or (self.model is not None and self.model.named)
        return decoder(
            *(writer, reader),
            skip=skip,
            tags=Tags.NAMES if named else Tags.NOTHING,
            max_empty_items=self._max_empty_items,
            values=None if changed else self.model,
        )
