"""The messages and options of Confluent's built-in `confluent/meta.proto`, as `confluent_kafka`'s `meta_pb2` has them.

Generated modules (`protoc --python_out`) of files with these options import them.
"""

from __future__ import annotations

from typing import Any, Final

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

__all__ = [
    "DESCRIPTOR",
    "Meta",
    "Rule",
    "enum_meta",
    "enum_value_meta",
    "field_meta",
    "file_meta",
    "message_meta",
]

PATH: Final = "confluent/meta.proto"
NUMBER: Final = 1088
"""The options' number in Google's messages of options."""
FILE_META_FIELD_NUMBER = MESSAGE_META_FIELD_NUMBER = FIELD_META_FIELD_NUMBER = NUMBER
ENUM_META_FIELD_NUMBER = ENUM_VALUE_META_FIELD_NUMBER = NUMBER
OPTIONS: Final = {
    "file_meta": "FileOptions",
    "message_meta": "MessageOptions",
    "field_meta": "FieldOptions",
    "enum_meta": "EnumOptions",
    "enum_value_meta": "EnumValueOptions",
}

Field = descriptor_pb2.FieldDescriptorProto


def _file() -> descriptor_pb2.FileDescriptorProto:
    file = descriptor_pb2.FileDescriptorProto(name=PATH, package="confluent", syntax="proto3")
    file.dependency.append("google/protobuf/descriptor.proto")
    file.options.go_package = "../confluent"
    meta, rule = file.message_type.add(name="Meta"), file.message_type.add(name="Rule")
    _add(meta, "doc", 1, Field.TYPE_STRING)
    _add(meta, "params", 2, Field.TYPE_MESSAGE, ".confluent.Meta.ParamsEntry", repeated=True)
    _add(meta, "tags", 3, Field.TYPE_STRING, repeated=True)
    _add(meta, "rules", 4, Field.TYPE_MESSAGE, ".confluent.Rule", repeated=True)
    entry = meta.nested_type.add(name="ParamsEntry")
    entry.options.map_entry = True
    for number, name in enumerate(("key", "value"), 1):
        _add(entry, name, number, Field.TYPE_STRING)
    for number, name in enumerate(("name", "doc", "expr", "sql"), 1):
        _add(rule, name, number, Field.TYPE_STRING)
    for name, extended in OPTIONS.items():
        file.extension.add(
            name=name,
            number=NUMBER,
            label=Field.LABEL_OPTIONAL,
            type=Field.TYPE_MESSAGE,
            type_name=".confluent.Meta",
            extendee=f".google.protobuf.{extended}",
        )
    return file


def _add(message: Any, name: str, number: int, kind: Any, type_name: str = "", repeated: bool = False) -> None:
    label = Field.LABEL_REPEATED if repeated else Field.LABEL_OPTIONAL
    message.field.add(name=name, number=number, label=label, type=kind, type_name=type_name or None)


def _descriptor() -> Any:
    """The file of the pool of generated classes, where files that import it look for it."""
    pool = descriptor_pool.Default()
    try:
        return pool.FindFileByName(PATH)
    except KeyError:
        pool.AddSerializedFile(_file().SerializeToString())
        return pool.FindFileByName(PATH)


DESCRIPTOR: Final[Any] = _descriptor()
Meta: Final[Any] = message_factory.GetMessageClass(DESCRIPTOR.message_types_by_name["Meta"])
Rule: Final[Any] = message_factory.GetMessageClass(DESCRIPTOR.message_types_by_name["Rule"])

file_meta: Final[Any] = DESCRIPTOR.extensions_by_name["file_meta"]
message_meta: Final[Any] = DESCRIPTOR.extensions_by_name["message_meta"]
field_meta: Final[Any] = DESCRIPTOR.extensions_by_name["field_meta"]
enum_meta: Final[Any] = DESCRIPTOR.extensions_by_name["enum_meta"]
enum_value_meta: Final[Any] = DESCRIPTOR.extensions_by_name["enum_value_meta"]
