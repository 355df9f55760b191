"""Serialized `FileDescriptorProto`s to the elements of `model`.

Must not compare or write texts. Custom options are dropped, but for Confluent's own. Source: `descriptor.proto`;
Confluent's registry (`ProtobufSchema.toProtoFile`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, MutableSequence
from functools import cache
from typing import Any, Final

from google.protobuf.descriptor_pb2 import FieldDescriptorProto, FileDescriptorSet
from google.protobuf.descriptor_pool import DescriptorPool
from google.protobuf.message import DecodeError
from google.protobuf.message_factory import GetMessageClass

from registry.errors import InvalidSchemaError
from registry.limits import MAX_PROTO_MARKS
from registry.schemas.protobuf.model import (
    Constant,
    Enum,
    Extend,
    Extensions,
    Field,
    File,
    Message,
    OneOf,
    Option,
    OptionKind,
    Range,
    Reserved,
    Rpc,
    Service,
)
from registry.schemas.protobuf.protoc import descriptors
from registry.schemas.protobuf.sources import TOO_MANY

EDITIONS: Final = {1000: "2023", 1001: "2024"}
LABELS: Final = {1: "optional", 2: "required", 3: "repeated"}
REPEATED: Final = 3
FILE_OPTIONS: Final = (
    "java_package",
    "java_outer_classname",
    "java_multiple_files",
    "java_generate_equals_and_hash",
    "java_string_check_utf8",
    "optimize_for",
    "go_package",
    "cc_generic_services",
    "java_generic_services",
    "py_generic_services",
    "deprecated",
    "cc_enable_arenas",
    "objc_class_prefix",
    "csharp_namespace",
    "swift_prefix",
    "php_class_prefix",
    "php_namespace",
    "php_metadata_namespace",
    "ruby_package",
)
MESSAGE_OPTIONS: Final = ("no_standard_descriptor_accessor", "deprecated", "map_entry")
FIELD_OPTIONS: Final = ("ctype", "packed", "jstype", "deprecated")
ENUM_OPTIONS: Final = ("allow_alias", "deprecated")
TYPE_LISTS: Final = ("message_type", "nested_type", "enum_type")
METHOD_OPTIONS: Final = ("deprecated", "idempotency_level")


def from_bytes(data: bytes, which: str = "") -> File:
    """The declarations of a serialized descriptor.

    Raises:
        InvalidSchemaError: it is no descriptor.
    """
    try:
        file = _descriptor_class().FromString(data)
    except DecodeError as error:
        reason = f"{which or 'the schema'} is neither a .proto text nor base64 of a FileDescriptorProto"
        raise InvalidSchemaError.local(reason) from error
    refuse_many(file)
    return _DescriptorReader(file).file()


def refuse_many(file: Any) -> None:
    """Refuses a descriptor with too many declarations, before anybody looks at each.

    Raises:
        InvalidSchemaError: as for a text of as many.
    """
    total = 0
    for size in _sizes(file):
        total += size
        if total > MAX_PROTO_MARKS:
            raise InvalidSchemaError.local(TOO_MANY.format(MAX_PROTO_MARKS))


def _sizes(file: Any) -> Iterator[int]:
    """The number of declarations in each list of a descriptor, each read before the list is entered."""
    waiting = [file]
    while waiting:
        for field, value in waiting.pop().ListFields():
            if isinstance(value, MutableSequence):
                yield len(value) * (4 if field.name in TYPE_LISTS else 1)
                if field.message_type is not None:
                    waiting.extend(value)


def pool_of(files: FileDescriptorSet) -> DescriptorPool:
    """A pool with these files.

    Raises:
        InvalidSchemaError: they don't fit together.
    """
    made = DescriptorPool()
    for file in files.file:
        try:
            made.Add(file)
            made.FindFileByName(file.name)
        except (TypeError, KeyError) as error:
            raise InvalidSchemaError.local(f"{file.name}: {error}") from error
    return made


@cache
def _descriptor_class() -> Any:
    """The class of descriptors in which Confluent's options are known fields."""
    files = descriptors('syntax = "proto3"; import "confluent/meta.proto";', {}, "uses_meta.proto")
    known = pool_of(FileDescriptorSet(file=files))
    return GetMessageClass(known.FindMessageTypeByName("google.protobuf.FileDescriptorProto"))


class _DescriptorReader:
    def __init__(self, descriptor: Any) -> None:
        self.descriptor = descriptor
        self.proto3 = descriptor.syntax == "proto3"

    def file(self) -> File:
        given = self.descriptor
        public = set(given.public_dependency)
        return File(
            syntax=EDITIONS.get(given.edition) if given.syntax == "editions" else given.syntax or None,
            package=given.package or None,
            imports=[path for index, path in enumerate(given.dependency) if index not in public],
            public_imports=[path for index, path in enumerate(given.dependency) if index in public],
            types=[*map(self.message, given.message_type), *map(_enum, given.enum_type)],
            services=[_service(item) for item in given.service],
            extends=self.extends(given.extension),
            options=_options(given.options, FILE_OPTIONS),
        )

    def message(self, given: Any) -> Message:
        one_ofs = [OneOf(item.name) for item in given.oneof_decl]
        result = Message(given.name, options=_options(given.options, MESSAGE_OPTIONS))
        for item in given.field:
            if item.HasField("oneof_index") and not item.proto3_optional:
                one_ofs[item.oneof_index].fields.append(self.field(item, in_one_of=True))
            else:
                result.fields.append(self.field(item))
        result.one_ofs = [item for item in one_ofs if item.fields]
        result.nested = [*map(self.message, given.nested_type), *map(_enum, given.enum_type)]
        result.reserved = [Reserved([_range(item.start, item.end - 1)]) for item in given.reserved_range]
        result.reserved += [Reserved([name]) for name in given.reserved_name]
        result.extensions = [Extensions([_range(item.start, item.end - 1)]) for item in given.extension_range]
        result.extends = self.extends(given.extension)
        return result

    def field(self, given: Any, in_one_of: bool = False) -> Field:
        return Field(
            label=None if in_one_of else self.label(given),
            type=given.type_name or FieldDescriptorProto.Type.Name(given.type).removeprefix("TYPE_").lower(),
            name=given.name,
            number=given.number,
            options=_options(given.options, FIELD_OPTIONS),
            default=_default(given) if given.HasField("default_value") and not self.proto3 else None,
            json_name=given.json_name if given.HasField("json_name") else None,
        )

    def label(self, given: Any) -> str | None:
        if given.proto3_optional:
            return "optional"
        if self.descriptor.syntax in ("proto3", "editions") and given.label != REPEATED:
            return None
        return LABELS[given.label]

    def extends(self, fields: Iterable[Any]) -> list[Extend]:
        by_name: dict[str, list[Field]] = {}
        for item in fields:
            by_name.setdefault(item.extendee, []).append(self.field(item))
        return [Extend(name, found) for name, found in by_name.items()]


def _enum(given: Any) -> Enum:
    return Enum(
        given.name,
        [Constant(item.name, item.number, _options(item.options, ("deprecated",))) for item in given.value],
        _options(given.options, ENUM_OPTIONS),
        [
            *(Reserved([_range(item.start, item.end)]) for item in given.reserved_range),
            *(Reserved([name]) for name in given.reserved_name),
        ],
    )


def _service(given: Any) -> Service:
    rpcs = [
        Rpc(
            item.name,
            item.input_type,
            item.output_type,
            item.client_streaming,
            item.server_streaming,
            _options(item.options, METHOD_OPTIONS),
        )
        for item in given.method
    ]
    return Service(given.name, rpcs, _options(given.options, ("deprecated",)))


def _range(first: int, last: int) -> int | Range:
    return first if first == last else Range(first, last)


# --- options


def _options(given: Any, names: tuple[str, ...]) -> list[Option]:
    """The options of these names, in this order, and Confluent's."""
    result = []
    for name in names:
        if given.HasField(name):
            kind, text = _plain(given.DESCRIPTOR.fields_by_name[name], getattr(given, name))
            result.append(Option(name, kind, text))
    for descriptor, value in given.ListFields():
        if descriptor.is_extension and descriptor.full_name.startswith("confluent.") and (meta := _meta(value)):
            result.append(Option(descriptor.full_name, OptionKind.MAP, meta, parenthesized=True))
    return result


def _plain(descriptor: Any, value: Any) -> tuple[OptionKind, str]:
    if descriptor.enum_type is not None:
        return OptionKind.ENUM, descriptor.enum_type.values_by_number[value].name
    return (OptionKind.BOOLEAN, str(value).lower()) if isinstance(value, bool) else (OptionKind.STRING, value)


def _meta(value: Any) -> dict[str, Any]:
    """Confluent's description, parameters, tags and rules; a decimal's parameters have their value first, as always."""
    result: dict[str, Any] = {"doc": value.doc} if value.doc else {}
    params = []
    for key in sorted(value.params):
        pair = {"key": key, "value": value.params[key]}
        params.append(dict(reversed(pair.items())) if key in ("precision", "scale") else pair)
    if params:
        result["params"] = params
    if value.tags:
        result["tags"] = list(value.tags)
    if value.rules:
        names = ("name", "doc", "expr", "sql")
        result["rules"] = [{name: said for name in names if (said := getattr(rule, name))} for rule in value.rules]
    return result


def _default(given: FieldDescriptorProto) -> str:
    """A field's default as a text has it: wire reads no plus, which protoc writes into exponents."""
    is_real = given.type in (FieldDescriptorProto.TYPE_DOUBLE, FieldDescriptorProto.TYPE_FLOAT)
    return given.default_value.replace("e+", "e") if is_real else given.default_value
