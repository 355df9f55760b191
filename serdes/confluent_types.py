"""Classes for the messages of Confluent's built-in files `confluent/type/*.proto`."""

from __future__ import annotations

from typing import Any, Final

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

BYTES: Final = descriptor_pb2.FieldDescriptorProto.TYPE_BYTES
UINT32: Final = descriptor_pb2.FieldDescriptorProto.TYPE_UINT32
INT32: Final = descriptor_pb2.FieldDescriptorProto.TYPE_INT32


def message_class(name: str, fields: tuple[tuple[str, int], ...]) -> Any:
    """The class of a message, whose file has its name in small letters and nothing else.

    The file stands in the pool of generated classes, where files that import it look for it.

    Args:
        name: the message's.
        fields: names and types, numbered from 1.
    """
    pool = descriptor_pool.Default()
    path = f"confluent/type/{name.lower()}.proto"
    try:
        made = pool.FindFileByName(path)
    except KeyError:
        file = descriptor_pb2.FileDescriptorProto(name=path, package="confluent.type", syntax="proto3")
        message = file.message_type.add(name=name)
        for number, (field, kind) in enumerate(fields, 1):
            label = descriptor_pb2.FieldDescriptorProto.LABEL_OPTIONAL
            message.field.add(name=field, number=number, label=label, type=kind)
        pool.AddSerializedFile(file.SerializeToString())
        made = pool.FindFileByName(path)
    return message_factory.GetMessageClass(made.message_types_by_name[name])
