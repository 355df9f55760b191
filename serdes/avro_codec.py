"""Avro values ↔ bytes, over fastavro: schemas parsed once, errors translated and located.

Must not know of frames, topics or registries. Source: Avro specification 1.12, "Binary Encoding", "Schema
Resolution" and "Logical Types".
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache
from io import BytesIO
from typing import Any, Final, cast

import fastavro
from fastavro.schema import SchemaParseException, UnknownType

from registry import InvalidSchemaError, Schema
from registry.compat.avro_diff import differences
from registry.compat.avro_model import AvroType, Kind, NamedType, parse
from registry.references import Resolver, resolve_all
from serdes import avro_guard
from serdes.avro_fault import find_fault, hinted
from serdes.avro_ranges import first_out_of_range, is_decimal, range_check
from serdes.errors import SerializationError
from serdes.formats import Decode, Encode

ANY_PRECISION: Final = 1_000_000
__all__ = ["AvroSchema", "Decode", "Encode", "decoder", "encoder", "load", "load_texts"]


@dataclass(frozen=True, slots=True, eq=False)
class AvroSchema:
    """A parsed schema.

    Attributes:
        text: as it was given.
        model: our own model of it.
        parsed: fastavro's.
        readable: the same, to read with: fastavro rounds decimals to the schema's precision, here nothing is rounded.
        named: fastavro's table of named types.
        guard: what data of this schema must be checked for before fastavro sees it.
    """

    text: str
    model: AvroType
    parsed: Any
    readable: Any
    named: dict[str, Any]
    guard: avro_guard.Guard | None

    @property
    def name(self) -> str | None:
        """The full name of a named type, the type's of others (`string`, `array`); None for unions."""
        if isinstance(self.model, NamedType):
            return self.model.name
        return None if self.model.kind is Kind.UNION else self.model.kind.value


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
    others = list(referenced)
    named: dict[str, Any] = {}
    try:
        model = parse(text, others)
        for other in others:
            fastavro.parse_schema(_node(other), named_schemas=named)
        parsed = fastavro.parse_schema(_node(text), named_schemas=named)
    except InvalidSchemaError as error:
        raise SerializationError(f"the Avro schema is not valid: {error.error_message}") from error
    except (SchemaParseException, UnknownType, ValueError, KeyError, TypeError, RecursionError) as error:
        raise SerializationError(f"the Avro schema is not valid: {type(error).__name__}: {error}") from error
    readable = hinted(_unrounded(parsed), {name: _unrounded(node) for name, node in named.items()})
    return AvroSchema(text, model, hinted(parsed, named), readable, named, avro_guard.guard_for(model))


def _unrounded(node: Any) -> Any:
    """A parsed schema whose decimals have any precision."""
    if isinstance(node, list):
        return [_unrounded(branch) for branch in node]
    if not isinstance(node, dict):
        return node
    made = {key: _unrounded(part) if key in ("type", "items", "values") else part for key, part in node.items()}
    if "fields" in node:
        made["fields"] = [{**field, "type": _unrounded(field["type"])} for field in node["fields"]]
    if node.get("logicalType") == "decimal" and "precision" in node:
        made["precision"] = ANY_PRECISION
    return made


def _node(text: str) -> Any:
    stripped = text.strip()
    return stripped if stripped.isalpha() else json.loads(stripped)


def encoder(
    schema: AvroSchema,
    prefix: bytes = b"",
    *,
    strict: bool = False,
    allow_default: bool = False,
    convert: Callable[[Any], Any] | None = None,
) -> Encode:
    """A function that encodes values of a schema.

    Values of a top-level `bytes` schema are written without a length, whatever its logical type, as Confluent's
    serializers of all languages do.

    Args:
        schema: what the values are.
        prefix: put in front of every result.
        strict: a record must have exactly the schema's fields.
        allow_default: as `strict`, but fields with a default may be missing.
        convert: what to make of a value that does not fit; it gives back the same object if there is nothing to do.

    The function raises:
        SerializationError: the value does not fit; `path` names the place.
    """
    if schema.model.kind is Kind.BYTES:
        return _raw_encoder(schema, prefix)
    return _encoder(schema, prefix, strict, allow_default, convert)


def _encoder(
    schema: AvroSchema,
    prefix: bytes,
    strict: bool = False,
    allow_default: bool = False,
    convert: Callable[[Any], Any] | None = None,
) -> Encode:
    write, parsed, guard, fits = fastavro.schemaless_writer, schema.parsed, schema.guard, range_check(schema.model)
    options = {"strict": strict, "strict_allow_default": allow_default} if strict or allow_default else {}
    again = None if convert is None else _encoder(schema, prefix, strict, allow_default)

    def encode(value: Any) -> bytes:
        if guard is not None:
            guard.check_value(value)
        if fits is not None and not fits(value):
            path, reason = first_out_of_range(schema.model, value) or ("", "a number does not fit")
            raise SerializationError(reason, path=path)
        buffer = BytesIO()
        buffer.write(prefix)
        try:
            write(buffer, parsed, value, **options)
        except Exception as error:
            converted = value if convert is None else convert(value)
            if again is None or converted is value:
                raise _unfit(schema, value, options, error) from error
        else:
            return buffer.getvalue()
        return again(converted)

    return encode


def _raw_encoder(schema: AvroSchema, prefix: bytes) -> Encode:
    with_length = _encoder(schema, b"") if is_decimal(schema.model) else None

    def encode(value: Any) -> bytes:
        if isinstance(value, (bytes, bytearray, memoryview)):
            return prefix + value
        if with_length is None:
            raise SerializationError(f"bytes are needed, not {type(value).__name__}", path="")
        return prefix + cast(bytes, fastavro.schemaless_reader(BytesIO(with_length(value)), "bytes", None))

    return encode


def _unfit(schema: AvroSchema, value: Any, options: dict[str, bool], error: Exception) -> SerializationError:
    fault = find_fault(schema.parsed, schema.named, value, options)
    if fault is None:
        return SerializationError(f"the value does not fit the schema: {type(error).__name__}: {error}")
    return SerializationError(fault.reason, path=fault.path)


def decoder(
    writer: AvroSchema,
    reader: AvroSchema | None = None,
    *,
    skip: int = 0,
    return_record_name: bool = False,
    return_named_type: bool = False,
) -> Decode:
    """A function that decodes payloads written with one schema into values of another.

    Args:
        writer: the schema the payloads were written with.
        reader: the schema of the values; None for the writer's own.
        skip: bytes in front of every payload.
        return_record_name: records in unions come as `(name, record)`.
        return_named_type: so do enums and fixed types.

    The function raises:
        SerializationError: truncated, trailing bytes, not data of this schema, or the schemas can't be resolved.
    """
    wanted = {"return_record_name": return_record_name, "return_named_type": return_named_type}
    options = {name: True for name, on in wanted.items() if on}
    if writer.model.kind is Kind.BYTES:
        return _raw_decoder(writer, reader, skip, options)
    return _decoder(writer, reader, skip, options)


def _decoder(writer: AvroSchema, reader: AvroSchema | None, skip: int, options: dict[str, Any]) -> Decode:
    read, written, guard = fastavro.schemaless_reader, writer.readable, writer.guard
    target = None if reader is None or reader.text == writer.text else reader.readable
    reasons = cache(lambda: _reasons(reader or writer, writer))

    def decode(frame: bytes) -> Any:
        if guard is not None:
            guard.check_bytes(frame, skip)
        buffer = BytesIO(frame)
        buffer.seek(skip)
        try:
            value = read(buffer, written, target, **options)
        except fastavro.read.SchemaResolutionError as error:
            why = reasons() or str(error)
            raise SerializationError(f"the payload's schema can't be resolved to the reader's: {why}") from error
        except Exception as error:
            raise SerializationError(_unreadable(error, len(frame) - skip)) from error
        if buffer.tell() != len(frame):
            left = len(frame) - buffer.tell()
            raise SerializationError(f"{left} bytes are left over after the value: the payload is not of this schema")
        return value

    return decode


def _raw_decoder(writer: AvroSchema, reader: AvroSchema | None, skip: int, options: dict[str, Any]) -> Decode:
    target = reader or writer
    if target.model.kind is Kind.BYTES and not is_decimal(target.model):
        return lambda frame: bytes(frame[skip:])
    with_length = _decoder(writer, reader, 0, options)

    def decode(frame: bytes) -> Any:
        buffer = BytesIO()
        fastavro.schemaless_writer(buffer, "bytes", bytes(frame[skip:]))
        return with_length(buffer.getvalue())

    return decode


def _reasons(reader: AvroSchema, writer: AvroSchema) -> str:
    """Why one schema can't read all data of the other; empty if that is not known."""
    try:
        found = differences(reader.model, writer.model)
    except InvalidSchemaError:  # too much to compare
        return ""
    return "; ".join(item.message for item in found[:3])


def _unreadable(error: Exception, size_bytes: int) -> str:
    if isinstance(error, EOFError):
        return f"the payload of {size_bytes} bytes ends inside the value: truncated, or not of this schema"
    return f"the payload can't be decoded with its schema: {type(error).__name__}: {error}"
