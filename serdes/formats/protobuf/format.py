"""Protobuf as a format of serializers: with a generated class, or with what the registry's schema says.

Must not know of frames or how a registry is reached: `serdes.formats.protobuf.codec` encodes and decodes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from google.protobuf.message import Message

from registry import RegisteredSchema, Schema, SchemaReference
from serdes.asks import Inquiry, ask
from serdes.context import SerializationContext
from serdes.errors import SerializationError
from serdes.formats.protobuf.codec import (
    ProtobufSchema,
    decoder,
    descriptor_text,
    encoder,
    index_path,
    is_built_in,
    load,
    of_class,
    types_at,
)
from serdes.formats.protocol import Decode, Encode, ReadHooks, Referenced, WriteHooks
from serdes.options import ANY_TYPE, WriteOptions


class ProtobufFormat:
    """Protobuf; see `serdes.formats.protocol.SchemaFormat`.

    Args:
        message: the generated class, None if the schema or the frame say what messages are.
        type_name: the name of the message type, if there is no class; empty for the first of the file (when
            writing) or the one the frame says (when reading).
        any_type: whether frames of message types with other names are read with the class too.
    """

    schema_type = "PROTOBUF"
    model = None

    def __init__(self, message: type[Message] | None = None, type_name: str = "", any_type: bool = False) -> None:
        self._message = message
        self._type_name = type_name
        self._any_type = any_type
        self._own = None if message is None else descriptor_text(message.DESCRIPTOR.file)
        self.needs_writer = message is None

    def schema(self) -> Schema | None:
        """The schema of the class, still without references; None without a class."""
        return None if self._own is None else Schema(self._own, "PROTOBUF")

    def parse(self, schema: Schema, referenced: Referenced) -> ProtobufSchema:
        """Builds descriptors; none have to be built for the class's own schema."""
        if self._message is not None and schema.schema_str == self._own:
            return of_class(self._message)
        return load(schema, referenced)

    def name(self, parsed: ProtobufSchema) -> str | None:
        """The full name of the message type."""
        if self._message is not None:
            return str(self._message.DESCRIPTOR.full_name)
        return str(parsed.named(self._type_name).DESCRIPTOR.full_name) if self._type_name else parsed.name

    def indexes(self, parsed: ProtobufSchema) -> list[int]:
        """The path of the message type in the file that is registered."""
        return index_path(self._chosen(parsed).DESCRIPTOR)

    def complete(self, schema: Schema, ctx: SerializationContext | None, options: WriteOptions) -> Inquiry[Schema]:
        """The schema with references to all files it imports, which are registered (or looked up) before it."""
        if self._message is None:
            return schema
        references = yield from _dependencies(self._message.DESCRIPTOR.file, ctx, options)
        return Schema(schema.schema_str, "PROTOBUF", references)

    def message_class(self, parsed: ProtobufSchema) -> type[Message]:
        """The class of the messages that are written with a schema."""
        return self._message or self._chosen(parsed)

    def encoder(self, parsed: ProtobufSchema, prefix: bytes, hooks: WriteHooks | None = None) -> Encode:
        """See `serdes.formats.protobuf.codec.encoder`."""
        return encoder(self.message_class(parsed), prefix)

    def migrated(self, made: Message) -> Message:
        """A message of the reader's schema as one of the class that was given, if one was."""
        return made if self._message is None else self._message.FromString(made.SerializePartialToString())

    def accept(self, written: Schema, indexes: list[int] | None) -> None:
        """With a class: the frame's message type must have its full name.

        Raises:
            SerializationError: another type; both names are in the text.
        """
        if self._message is None or self._any_type:
            return
        wanted = self._message.DESCRIPTOR.full_name
        found = types_at(written, indexes or [0])
        if wanted not in found:
            raise SerializationError(
                f"the frame has a message of type {' or '.join(found)}, not {wanted}; "
                f"if that is meant, set {ANY_TYPE} to True"
            )

    def check(self, parsed: ProtobufSchema) -> None:
        """Messages fit their type."""

    def decoder(
        self,
        writer: ProtobufSchema | None,
        reader: ProtobufSchema | None,
        skip: int,
        indexes: list[int] | None,
        hooks: ReadHooks | None = None,
    ) -> Decode:
        """See `serdes.formats.protobuf.codec.decoder`."""
        if self._message is not None and (hooks is None or hooks.migrate is None):
            return decoder(self._message, skip)
        assert writer is not None  # needs_writer
        message = self._of_frame(writer, indexes or [0])
        if reader is not None:
            message = reader.named(message.DESCRIPTOR.full_name)
        return decoder(message, skip)

    def _of_frame(self, writer: ProtobufSchema, indexes: list[int]) -> type[Message]:
        if not self._type_name:
            return writer.at(indexes)
        found = [one.full_name for one in writer.at_any(indexes)]
        wanted = writer.named(self._type_name)
        if wanted.DESCRIPTOR.full_name not in found:
            names = " or ".join(found)
            raise SerializationError(f"the frame has a message of type {names}, not {self._type_name}")
        return wanted

    def _chosen(self, parsed: ProtobufSchema) -> type[Message]:
        if self._message is not None:
            return parsed.named(self._message.DESCRIPTOR.full_name)
        return parsed.named(self._type_name) if self._type_name else parsed.at([0])


def _dependencies(file: Any, ctx: SerializationContext | None, options: WriteOptions) -> Inquiry[list[SchemaReference]]:
    """References to what a file imports, each registered after what it imports itself."""
    subject_of: Callable[[Any, Any], Any] = options.own["reference.subject.name.strategy"]
    references = []
    for imported in file.dependencies:
        if options.own["skip.known.types"] and is_built_in(imported.name):
            continue
        inner = yield from _dependencies(imported, ctx, options)
        schema = Schema(descriptor_text(imported), "PROTOBUF", inner)
        subject = subject_of(ctx, imported)
        registered = yield from _registered(subject, schema, options)
        references.append(SchemaReference(imported.name, subject, registered.version or 1))
    return references


def _registered(subject: str, schema: Schema, options: WriteOptions) -> Inquiry[RegisteredSchema]:
    """The version of a subject with a schema, registered if the options say so."""
    if options.auto_register:
        made = yield from ask(lambda source: source.register_schema_full_response(subject, schema, options.normalize))
        if made.version is not None:
            return made
    return (yield from ask(lambda source: source.lookup_schema(subject, schema, options.normalize)))
