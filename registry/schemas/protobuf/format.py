"""Protobuf among the formats of schemas: a schema with those it refers to, parsed, as text and as a descriptor.

Must not know of registries. Source: Confluent's registry (`ProtobufSchema`).
"""

from __future__ import annotations

import base64
from dataclasses import dataclass

from registry.models import Schema
from registry.schemas.formats import Referenced
from registry.schemas.protobuf import parser as protobuf_parser
from registry.schemas.protobuf.descriptor import from_bytes
from registry.schemas.protobuf.model import File
from registry.schemas.protobuf.reader import read
from registry.schemas.protobuf.sources import decoded, texts_by_name
from registry.schemas.protobuf.text import text_of
from registry.schemas.protobuf.types import Types


@dataclass(frozen=True, slots=True)
class ProtobufSchema:
    """A parsed schema.

    Attributes:
        file: what it declares.
        types: what its names mean.
    """

    file: File
    types: Types


def parse(schema: Schema, referenced: Referenced) -> ProtobufSchema:
    """The schema with the types it can name. Names that mean nothing are let pass, as in the registry's comparison.

    Raises:
        InvalidSchemaError: it is not Protobuf, or a reference is not.
    """
    file = _file(schema.schema_str)
    places = {reference.name: (reference.subject, reference.version) for reference in schema.references}
    others = [(name, places.get(name), _file(text, name)) for name, text in texts_by_name(schema, referenced).items()]
    return ProtobufSchema(file, Types(file, others))


def _file(text: str, which: str = "") -> File:
    data = decoded(text)
    return read(text, which) if data is None else from_bytes(data, which)


def canonical(schema: Schema, referenced: Referenced, normalize: bool) -> str:
    """The text a registry stores and compares; of a serialized descriptor its text.

    Raises:
        InvalidSchemaError: it is not Protobuf, or a name means nothing.
    """
    parsed = parse(schema, referenced)
    normal = text_of(parsed.file, parsed.types)  # also finds names that mean nothing
    return normal if normalize else text_of(parsed.file)


def to_text(schema: Schema) -> str:
    """The `.proto` text of a schema of either form.

    Raises:
        InvalidSchemaError: it is not Protobuf.
    """
    return text_of(_file(schema.schema_str))


def to_serialized(schema: Schema, referenced: Referenced = ()) -> str:
    """Base64 of the schema's `FileDescriptorProto`, as `format=serialized` of the REST API answers.

    Raises:
        InvalidSchemaError: protoc refuses it.
    """
    file = protobuf_parser.compile(schema, referenced).file[-1]
    return base64.b64encode(file.SerializeToString(deterministic=True)).decode("ascii")
