"""Protobuf in the compatibility engine: parse, compare, canonical text, and the serialized form both ways.

Must not know of levels or registries. Source: Confluent's registry (`ProtobufSchema`, `SchemaDiff`); what it finds and
how it judges is in docs/compatibility-protobuf.md.
"""

from __future__ import annotations

import base64

from registry.compat.difference import Difference, Roles
from registry.compat.protobuf.kinds import COMPATIBLE
from registry.compat.protobuf.messages import ProtobufSchema, changes
from registry.models import Schema
from registry.schemas.formats import Referenced
from registry.schemas.protobuf import parser as protobuf_parser
from registry.schemas.protobuf.descriptor import from_bytes
from registry.schemas.protobuf.model import File
from registry.schemas.protobuf.reader import read
from registry.schemas.protobuf.sources import decoded, texts_by_name
from registry.schemas.protobuf.text import text_of
from registry.schemas.protobuf.types import Types

__all__ = ["canonical", "differences", "parse", "to_serialized", "to_text"]


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


def differences(reader: ProtobufSchema, writer: ProtobufSchema, roles: Roles, policy: str) -> list[Difference]:
    """All that keeps `reader` from reading data of `writer`.

    Args:
        reader: the schema that reads.
        writer: the schema of the data.
        roles: how messages call them.
        policy: without meaning for Protobuf.

    Raises:
        InvalidSchemaError: there is too much to compare.
    """
    return [change.worded(roles) for change in changes(reader, writer) if change.kind not in COMPATIBLE]


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
