"""Avro values ↔ bytes: schemas parsed once, errors located.

Must not know of frames, topics or registries. `serdes.formats.avro.writing` and `serdes.formats.avro.reading` put
encoders and decoders together, `serdes.kernels` runs them. Source: Avro specification 1.12.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache
from typing import Any, Final, Protocol

from registry import InvalidSchemaError, Schema
from registry.schemas.avro.model import AvroType, NamedType, TypeName, parse
from registry.schemas.references import Resolver, resolve_all
from serdes.errors import SerializationError, UnfitError
from serdes.formats.avro.logical import logical_of, preparing
from serdes.formats.avro.reading import Tags, reader_of
from serdes.formats.avro.writing import writer_of
from serdes.formats.protocol import Decode, Encode, Objects
from serdes.kernels.avro import Decoder, Encoder, Reader, WriteBytes, Writer
from serdes.kernels.misfit import Misfit, Unresolved, octets_of
from serdes.kernels.shape import Unmade
from serdes.options import MAX_EMPTY_ITEMS

__all__ = [
    "MAX_EMPTY_ITEMS",
    "AvroModel",
    "AvroSchema",
    "Decode",
    "Encode",
    "Tags",
    "decoder",
    "encoder",
    "load",
    "load_texts",
    "resolution_faults",
]


@dataclass(frozen=True, slots=True, eq=False)
class AvroSchema:
    """A parsed schema.

    Attributes:
        text: as it was given.
        model: the types.
        referenced: the texts of the schemas whose names it uses.
    """

    text: str
    model: AvroType
    referenced: tuple[str, ...] = ()

    @property
    def name(self) -> str | None:
        """The full name of a named type, the type's of others (`string`, `array`); None for unions."""
        if isinstance(self.model, NamedType):
            return self.model.name
        return None if self.model.kind is TypeName.UNION else self.model.kind.value


def load(schema: Schema, resolve: Resolver | None = None) -> AvroSchema:
    """Parses a schema with all it refers to.

    Raises:
        SerializationError: it is not an Avro schema, or a reference can't be resolved.
    """
    if schema.schema_type != "AVRO":
        raise SerializationError(f"the schema is {schema.schema_type}, Avro is needed")
    try:
        referenced = [found.schema_str for _, found in resolve_all(schema, resolve)]
    except InvalidSchemaError as error:
        raise SerializationError(error.error_message) from error
    return load_texts(schema.schema_str, referenced)


def load_texts(text: str, referenced: Iterable[str] = ()) -> AvroSchema:
    """Parses a schema; `referenced` are the schemas whose names it uses, each after those it uses itself.

    Raises:
        SerializationError: it is not a valid Avro schema.
    """
    try:
        texts = tuple(referenced)
        return AvroSchema(text, parse(text, texts), texts)
    except InvalidSchemaError as error:
        raise SerializationError(f"the Avro schema is not valid: {error.error_message}") from error


class AvroModel(Objects, Protocol):
    """A user's class, whose objects are written and read without plain values between.

    Attributes:
        named: whether records in unions must come with their names, so that objects can be made of plain values.
    """

    named: bool

    def writer(self, avro: AvroType, strict: bool, allow_default: bool) -> Writer:
        """The node that writes objects with a type; see `serdes.formats.avro.writing.writer_of`."""
        ...

    def reader(self, writer: AvroType, reader: AvroType) -> Reader:
        """The node that reads what was written with one type, as another, into objects."""
        ...


def encoder(
    schema: AvroSchema,
    prefix: bytes = b"",
    *,
    strict: bool = False,
    allow_default: bool = False,
    values: AvroModel | None = None,
) -> Encode:
    """A function that encodes values of a schema.

    Values of a top-level `bytes` schema are written without a length, whatever its logical type, as Confluent's
    serializers of all languages do.

    Args:
        schema: what the values are.
        prefix: put in front of every result.
        strict: a record must have exactly the schema's fields.
        allow_default: as `strict`, but fields with a default may be missing.
        values: the class that values are of; None for plain ones.

    The function raises:
        UnfitError: the value does not fit; `path` names the place.
    """
    model = schema.model
    if model.kind is TypeName.BYTES:
        return _raw_encoder(model, prefix)
    root = model.short_name if isinstance(model, NamedType) else ""
    make = writer_of if values is None else values.writer
    return Encoder(_node(make, model, strict or allow_default, allow_default), prefix, _unfit(root))


def _node(make: Callable[..., Any], *arguments: Any) -> Any:
    try:
        return make(*arguments)
    except RecursionError as error:
        raise SerializationError("the Avro schema is nested too deep to encode or decode with it") from error


def _raw_encoder(model: AvroType, prefix: bytes) -> Encode:
    prepare, fault = preparing(model), _unfit("")

    def encode(value: Any) -> bytes:
        try:
            return prefix + (octets_of(value, "bytes") if prepare is None else prepare(value))
        except Exception as error:
            raise fault(error) from error

    return encode


def _unfit(root: str) -> Callable[[Exception], Exception]:
    def fault(error: Exception) -> Exception:
        if isinstance(error, Misfit):
            return UnfitError(error.reason, path=error.path(root))
        if isinstance(error, RecursionError):
            return UnfitError("the value is nested deeper than Python's recursion limit")
        return UnfitError(f"the value can't be read: {type(error).__name__}")

    return fault


def decoder(
    writer: AvroSchema,
    reader: AvroSchema | None = None,
    *,
    skip: int = 0,
    tags: Tags = Tags.NOTHING,
    max_empty_items: int = MAX_EMPTY_ITEMS,
    values: AvroModel | None = None,
) -> Decode:
    """A function that decodes payloads written with one schema into values of another.

    Args:
        writer: the schema the payloads were written with.
        reader: the schema of the values; None for the writer's own.
        skip: bytes in front of every payload.
        tags: what values of unions come with, as tuples `(tag, value)`.
        max_empty_items: array items of one payload that take no bytes; as many as it has bytes are always allowed.
        values: the class that values are to be of; None for plain ones.

    The function raises:
        SerializationError: truncated, trailing bytes, not data of this schema, or the schemas can't be resolved.
    """
    target = (reader or writer).model
    fault = _unreadable(writer, reader or writer)
    if values is None:
        node = _node(reader_of, writer.model, target, tags)
    else:
        node = _node(values.reader, writer.model, target)
    if writer.model.kind is not TypeName.BYTES:
        return Decoder(node, skip, max_empty_items, fault)
    decode = Decoder(node, 0, max_empty_items, fault)
    if target.kind is TypeName.BYTES and logical_of(target) is None:
        return lambda frame: bytes(frame[skip:])
    return lambda frame: decode(WITH_LENGTH(bytes(frame[skip:])))


WITH_LENGTH: Final = Encoder(WriteBytes("bytes"), b"", lambda error: error)


def _unreadable(writer: AvroSchema, reader: AvroSchema) -> Callable[[Exception, int], Exception]:
    root = reader.model.short_name if isinstance(reader.model, NamedType) else ""
    reasons = cache(lambda: resolution_faults(reader, writer))

    def fault(error: Exception, size_bytes: int) -> Exception:
        if isinstance(error, Unresolved):
            why = reasons() or error.reason
            reason = f"the payload's schema can't be resolved to the reader's: {why}"
            return SerializationError(reason, path=error.path(root))
        if isinstance(error, Unmade):
            return SerializationError(error.reason, path=error.path(root) if error.parts else None)
        if isinstance(error, Misfit):
            reason = f"the payload of {size_bytes} bytes can't be decoded with its schema: {error.reason}"
            return SerializationError(reason, path=error.path(root))
        if isinstance(error, RecursionError):
            return SerializationError("the payload is nested deeper than Python's recursion limit")
        return SerializationError(f"the payload can't be decoded with its schema: {type(error).__name__}")

    return fault


def resolution_faults(reader: AvroSchema, writer: AvroSchema) -> str:
    """Why one schema can't read all data of the other; empty if that is not known."""
    from registry.compat.avro import differences

    try:
        found = differences(reader.model, writer.model)
    except InvalidSchemaError:  # too much to compare
        return ""
    return "; ".join(item.message for item in found[:3])
