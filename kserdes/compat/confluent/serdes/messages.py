"""Small functions of confluent_kafka's serializer of Protobuf that code of applications and tests calls.

Must not hold anything that serializers of ours need.
"""

from __future__ import annotations

import base64
import io
from typing import Any, Final

from google.protobuf import __version__ as protobuf_version
from google.protobuf import descriptor_pb2
from google.protobuf.message import DecodeError

from serdes.errors import SerializationError

__all__ = ["DECIMAL_TYPE_NAME", "PROTOBUF_MAJOR_VERSION", "TIMESTAMP_TYPE_NAME"]

PROTOBUF_MAJOR_VERSION: Final = int(protobuf_version.split(".")[0])
DECIMAL_TYPE_NAME: Final = "confluent.type.Decimal"
TIMESTAMP_TYPE_NAME: Final = "google.protobuf.Timestamp"


class _ContextStringIO(io.BytesIO):
    """A stream of bytes for `with`."""


def _bytes(v: int) -> bytes:
    """One byte."""
    return bytes((v,))


def _is_repeated(fd: Any) -> bool:
    """Whether a field is repeated."""
    return bool(fd.is_repeated)


def _is_builtin(name: str) -> bool:
    """Whether a file is Google's or Confluent's own."""
    return name.startswith(("confluent/", "google/protobuf/", "google/type/"))


def _create_index_array(msg_desc: Any) -> list[int]:
    """The path of a message type in its file: its number among its siblings, level by level.

    Raises:
        ValueError: it does not stand in its file.
    """
    path: list[int] = []
    current = msg_desc
    while current is not None:
        outer = current.containing_type
        siblings = msg_desc.file.message_types_by_name.values() if outer is None else outer.nested_types
        names = [each.name for each in siblings]
        if current.name not in names:
            where = "MessageDescriptor not found in file" if outer is None else "Nested MessageDescriptor not found"
            raise ValueError(where)
        path.insert(0, names.index(current.name))
        current = outer
    return path


def _schema_to_str(file_descriptor: Any) -> str:
    """A file's descriptor as registries take it: serialized, in Base64."""
    return base64.standard_b64encode(file_descriptor.serialized_pb).decode("ascii")


def _proto_to_str(file_descriptor_proto: Any) -> str:
    """As `_schema_to_str`, of the descriptor's message."""
    return base64.standard_b64encode(file_descriptor_proto.SerializeToString()).decode("ascii")


def _str_to_proto(name: str, schema_str: str) -> Any:
    """The descriptor's message of such a text, under another name.

    Raises:
        ValueError: not Base64.
        SerializationError: no descriptor.
    """
    file = descriptor_pb2.FileDescriptorProto()
    try:
        file.ParseFromString(base64.standard_b64decode(schema_str.encode("ascii")))
    except DecodeError as error:
        raise SerializationError(str(error)) from error
    file.name = name
    return file
