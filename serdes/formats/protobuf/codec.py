"""Protobuf messages ↔ bytes: generated classes, or classes built from a schema's descriptors at run time.

Must not know of frames, topics or registries. Source: `google.protobuf`; a message type's path is that of Confluent's
wire format: its place in the file, then in each enclosing type.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, TypeGuard

from google.protobuf.descriptor_pb2 import FileDescriptorProto, FileDescriptorSet
from google.protobuf.message import DecodeError, EncodeError, Message
from google.protobuf.message_factory import GetMessageClass

from registry import InvalidSchemaError, Schema
from registry.schemas.protobuf import parser as protobuf_parser
from registry.schemas.protobuf import reader as protobuf_reader
from registry.schemas.protobuf.descriptor import from_bytes
from registry.schemas.protobuf.model import Message as Declared
from registry.schemas.protobuf.model import map_types, option_value
from registry.schemas.protobuf.sources import built_in, decoded
from serdes.errors import SerializationError, UnfitError, foreign
from serdes.formats.protobuf.dicts import message_of
from serdes.formats.protocol import Decode, Encode, Referenced
from serdes.kernels import MessageDecoder, MessageEncoder

GROUP: Final = 10
"""The type of fields that are groups."""
BUILT_IN = ("confluent/", "google/protobuf/", "google/type/")


@dataclass(frozen=True, slots=True, eq=False)
class ProtobufSchema:
    """A parsed schema.

    Attributes:
        file: the descriptor of the file.
        message: the message class that was chosen, None where the frame says which.
        as_written: whether types are in the writer's order: Confluent's registry writes texts anew, fields first.
    """

    file: Any
    message: type[Message] | None = None
    as_written: bool = True

    @property
    def name(self) -> str | None:
        """The full name of the message type; of the first one in the file where none was chosen."""
        if self.message is not None:
            return str(self.message.DESCRIPTOR.full_name)
        first = next(iter(self.file.message_types_by_name.values()), None)
        return None if first is None else str(first.full_name)

    def at(self, indexes: list[int]) -> type[Message]:
        """The class of the message type at a path.

        Raises:
            SerializationError: there is none, or it may be one of several (`at_any`).
        """
        found = self.at_any(indexes)
        if len(found) > 1 and not self.as_written:
            names = " or ".join(one.full_name for one in found)
            raise SerializationError(
                f"message type {indexes} is {names}: not all clients count the types that protoc makes of map fields, "
                "and the registry's text has them in another order than the writer; give the class, or set message.type"
            )
        return GetMessageClass(found[0])

    def at_any(self, indexes: list[int]) -> list[Any]:
        """The descriptors that a path may mean.

        Python counts the types that protoc makes of maps and groups as those of the text, Java does not; none is ever
        meant for itself if there is another.

        Raises:
            SerializationError: there is none.
        """
        found: list[Any] = [None]
        for index in indexes:
            countings = [counted for holder in found for counted in self._countings(holder)]
            named = {types[index].full_name: types[index] for types in countings if index < len(types)}
            if not named:
                where = "the schema" if found[0] is None else found[0].full_name
                raise SerializationError(f"message type {indexes} is not there: {where} has {len(countings[0])}")
            of_text = {one.full_name for types in countings[2::3] for one in types}
            found = [one for name, one in named.items() if name in of_text] or list(named.values())
        return found

    def _countings(self, holder: Any) -> list[list[Any]]:
        """The types in a message, or in the file: all, without those of maps, and without those of groups, too."""
        named = list(self.file.message_types_by_name.values() if holder is None else holder.nested_types)
        made = made_of_groups(self.file if holder is None else holder)
        without_maps = [one for one in named if not one.GetOptions().map_entry]
        return [named, without_maps, [one for one in without_maps if one.full_name not in made]]

    def named(self, name: str) -> type[Message]:
        """The class of a message type by its full name, or its name without the package.

        Raises:
            SerializationError: there is none.
        """
        package = f"{self.file.package}." if self.file.package else ""
        for full in (name, package + name):
            try:
                found = self.file.pool.FindMessageTypeByName(full)
            except KeyError:
                continue
            return GetMessageClass(found)
        raise SerializationError(f"the schema has no message type {name!r}")


def made_of_groups(holder: Any) -> set[str]:
    """The full names of the types that protoc makes of groups in a message, or in a file.

    Editions have no groups: fields of the same type there (delimited ones) name message types of the text.
    """
    if hasattr(holder, "fields"):
        file, fields = holder.file, [*holder.fields, *holder.extensions]
    else:
        file, fields = holder, list(holder.extensions_by_name.values())
    found = {field.message_type.full_name for field in fields if field.type == GROUP}
    if found:
        described = FileDescriptorProto()
        file.CopyToProto(described)
        found = set() if described.syntax == "editions" else found
    return found


def load(schema: Schema, referenced: Referenced = ()) -> ProtobufSchema:
    """Builds descriptors of a schema with all it imports.

    Raises:
        SerializationError: it is not a Protobuf schema, or the extra `proto` is needed and missing.
    """
    try:
        files = _files(schema, referenced)
        file = protobuf_parser.pool_of(files).FindFileByName(files.file[-1].name)
        return ProtobufSchema(file, as_written=decoded(schema.schema_str) is not None)
    except InvalidSchemaError as error:
        raise SerializationError(f"the Protobuf schema is not valid: {error.error_message}") from error


def _files(schema: Schema, referenced: Referenced) -> FileDescriptorSet:
    """The schema's file behind all it imports.

    What Python's serializers register is base64 of descriptors throughout: they are put together as they are, and
    only built-in files come from the compiler.
    """
    main = decoded(schema.schema_str)
    parts = {reference.name: decoded(found.schema_str) for reference, found in referenced}
    if main is None or not any(data is not None for data in parts.values()):
        return protobuf_parser.compile(schema, referenced)
    files = FileDescriptorSet()
    present: set[str] = set()
    for name, data in (*parts.items(), (protobuf_parser.FILE_NAME, main)):
        if data is None:
            texts = [(reference, found) for reference, found in referenced if parts[reference.name] is None]
            own = next(found for reference, found in texts if reference.name == name)
            added = list(protobuf_parser.compile(own, texts, name).file)
            added[-1].name = name
        else:
            added = _described(data, name, parts)
        for file in added:
            if file.name not in present:
                present.add(file.name)
                files.file.append(file)
    return files


def _described(data: bytes, name: str, parts: Mapping[str, Any]) -> list[FileDescriptorProto]:
    """A file from its descriptor, behind the built-in files it imports."""
    try:
        own = FileDescriptorProto.FromString(data)
    except DecodeError as error:
        raise InvalidSchemaError.local(f"{name}: neither a .proto text nor base64 of a descriptor") from error
    own.name = name
    known = [path for path in own.dependency if path not in parts and built_in(path) is not None]
    text = 'syntax = "proto3";' + "".join(f'import "{path}";' for path in known)
    return [*protobuf_parser.compile(Schema(text, "PROTOBUF")).file[:-1], own]


def of_class(message: type[Message]) -> ProtobufSchema:
    """The schema of a generated class."""
    return ProtobufSchema(message.DESCRIPTOR.file, message)


def descriptor_text(file: Any) -> str:
    """A file as registries take it: base64 of its `FileDescriptorProto`."""
    return base64.standard_b64encode(file.serialized_pb).decode("ascii")


def is_built_in(name: str) -> bool:
    """Whether a file is known everywhere and needs no reference."""
    return name.startswith(BUILT_IN)


def index_path(descriptor: Any) -> list[int]:
    """The path of a message type in its file."""
    path: list[int] = []
    current = descriptor
    while current.containing_type is not None:
        parent = current.containing_type
        path.insert(0, [nested.full_name for nested in parent.nested_types].index(current.full_name))
        current = parent
    return [list(current.file.message_types_by_name).index(current.name), *path]


def types_at(schema: Schema, indexes: list[int]) -> list[str]:
    """The full names that a path of a message type may mean in a schema.

    One, but behind a message with map fields: Java leaves their entry types out when it counts, Python does not.

    Raises:
        SerializationError: the schema is not Protobuf, or has no such type.
    """
    try:
        data = decoded(schema.schema_str)
        file = protobuf_reader.read(schema.schema_str, as_protoc=True) if data is None else from_bytes(data)
    except InvalidSchemaError as error:
        raise SerializationError(f"the Protobuf schema is not valid: {error.error_message}") from error
    holders = [(file.package or "", file.types, False)]
    for index in indexes:
        found: list[tuple[str, Declared]] = []
        for scope, types, any_of_them in holders:
            named = [(f"{scope}.{item.name}" if scope else item.name, item) for item in types if _is_message(item)]
            found += named if any_of_them else named[index : index + 1]
        if not found:
            raise SerializationError(f"message type {indexes} is not there: the schema has no such path")
        holders = [(name, item.nested, _has_entries(item)) for name, item in found]
    return [name for name, _, _ in holders]


def _is_message(item: Any) -> TypeGuard[Declared]:
    return isinstance(item, Declared) and not _is_entry(item)


def _is_entry(item: Any) -> bool:
    return str(option_value(item.options, "map_entry")).lower() == "true"


def _has_entries(item: Declared) -> bool:
    """Whether protoc makes types in a message that are not written there: of maps, and of groups."""
    maps = any(map_types(field.type) is not None for field in item.fields)
    return maps or bool(item.groups) or any(isinstance(part, Declared) and _is_entry(part) for part in item.nested)


def encoder(message: type[Message], prefix: bytes) -> Encode:
    """A function that encodes messages, or dicts of Protobuf's JSON form (names as in the schema, or camelCase).

    Args:
        message: the class of the messages; others are refused.
        prefix: put in front of every result.
    """
    full_name = message.DESCRIPTOR.full_name

    def otherwise(value: Any) -> bytes:
        chosen = _as_message(message, value, full_name)
        try:
            payload: bytes = chosen.SerializeToString()
        except EncodeError as error:  # names required fields that are missing
            raise SerializationError(f"the message can't be encoded: {error}") from error
        except (ValueError, RecursionError) as error:
            raise foreign("the message can't be encoded", error) from error
        return prefix + payload

    return MessageEncoder(message, prefix, otherwise)


def _as_message(message: type[Message], value: Any, full_name: str) -> Message:
    if isinstance(value, Mapping):
        return message_of(message, value)
    if isinstance(value, Message) and value.DESCRIPTOR.full_name == full_name:
        return value
    found = value.DESCRIPTOR.full_name if isinstance(value, Message) else type(value).__name__
    raise UnfitError(f"a message of type {full_name} is needed, not {found}")


def decoder(message: type[Message], skip: int) -> Decode:
    """A function that decodes messages of a class.

    Args:
        message: the class.
        skip: bytes in front of every payload.
    """
    parse, full_name = message.FromString, message.DESCRIPTOR.full_name

    def otherwise(frame: bytes) -> Any:
        try:
            return parse(frame[skip:])
        except (DecodeError, ValueError, RecursionError) as error:
            raise foreign(
                f"the payload of {len(frame) - skip} bytes is not a message of type {full_name}", error
            ) from error

    return MessageDecoder(parse, skip, otherwise)
