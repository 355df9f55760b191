"""Protobuf schemas to descriptors, at run time: no `protoc` on the machine, no generated classes.

Must not know of compatibility or serialization. Source: `descriptor.proto`; what Confluent's registry accepts and
protoc does not is made acceptable where that changes no bytes (`relaxed`). Safe in threads and after forks.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from google.protobuf.descriptor_pb2 import FileDescriptorProto, FileDescriptorSet
from google.protobuf.descriptor_pool import DescriptorPool
from google.protobuf.message import DecodeError

from registry.errors import InvalidSchemaError
from registry.models import Schema
from registry.schemas.formats import Referenced
from registry.schemas.protobuf.descriptor import from_bytes, pool_of, refuse_many
from registry.schemas.protobuf.protoc import descriptors
from registry.schemas.protobuf.relaxed import relaxed
from registry.schemas.protobuf.sources import built_in, decoded, is_path, texts_by_name
from registry.schemas.protobuf.text import text_of

__all__ = ["FILE_NAME", "compile", "pool", "pool_of"]

FILE_NAME: Final = "default.proto"
"""The schema's own name in its descriptor, as in Confluent's registry; references keep their names."""

RELAXABLE: Final = ("map_entry", "no reference has this name", "was not found", "unknown. Ensure")
"""Parts of protoc's complaints that may be about what only protoc minds."""

CACHED_SIZE: Final = 1 << 18
"""Descriptors of texts longer than this together are not kept."""


def compile(
    schema: Schema, referenced: Referenced = (), name: str = FILE_NAME, lenient: bool = True
) -> FileDescriptorSet:
    """The descriptors of a schema and all files it imports.

    Args:
        schema: a `.proto` text, or base64 of a `FileDescriptorProto`.
        referenced: all schemas it is made of (`references.resolve_all`), of either form.
        name: what the schema's own file is called.
        lenient: also take what only protoc minds: written-out map entries, imports of files that are not there and
            not needed, unknown custom options (all of which can come out of a registry).

    Returns:
        Every file after those it imports, the schema's own file last; the caller's to change.

    Raises:
        InvalidSchemaError: protoc refuses it; the text has the line and column.
    """
    references = tuple(texts_by_name(schema, referenced).items())
    small = len(schema.schema_str) + sum(len(text) for _, text in references) <= CACHED_SIZE
    build = _cached if small else _serialized_set
    return FileDescriptorSet.FromString(build(schema.schema_str, references, name, lenient))


def pool(schema: Schema, referenced: Referenced = (), name: str = FILE_NAME) -> DescriptorPool:
    """A pool with the schema and all it imports, and nothing else.

    Raises:
        InvalidSchemaError: it is not a valid schema.
    """
    return pool_of(compile(schema, referenced, name))


def _serialized_set(text: str, references: tuple[tuple[str, str], ...], name: str, lenient: bool) -> bytes:
    texts = {path: _as_text(content, path) for path, content in references}
    main = _main_name(name, texts)
    if (data := decoded(text)) is not None:
        return _with_imports(data, texts, main, lenient).SerializeToString()
    return FileDescriptorSet(file=_descriptors(text, texts, main, lenient)).SerializeToString()


_cached = lru_cache(maxsize=256)(_serialized_set)


def _as_text(content: str, path: str) -> str:
    data = decoded(content)
    return content if data is None else text_of(from_bytes(data, path))


def _descriptors(text: str, texts: dict[str, str], main: str, lenient: bool) -> list[FileDescriptorProto]:
    try:
        return descriptors(text, texts, main)
    except InvalidSchemaError as refused:
        if not lenient or not any(part in refused.error_message for part in RELAXABLE):
            raise
        try:
            return descriptors(*relaxed(text, texts), main)
        except InvalidSchemaError:
            raise refused from None


def _main_name(name: str, texts: dict[str, str]) -> str:
    """The schema's own name, changed if a reference or a built-in file has it already."""
    while name in texts or built_in(name) is not None:
        name = f"_{name}"
    return name


def _with_imports(data: bytes, texts: dict[str, str], main: str, lenient: bool) -> FileDescriptorSet:
    """A given descriptor behind the files it imports."""
    try:
        own = FileDescriptorProto.FromString(data)
    except DecodeError as error:
        raise InvalidSchemaError.local("neither a .proto text nor base64 of a FileDescriptorProto") from error
    refuse_many(own)
    own.name = main
    result = FileDescriptorSet()
    present: set[str] = set()
    for path in own.dependency:
        if not is_path(path):
            raise InvalidSchemaError.local(f"the descriptor imports {path[:200]!r}, which is not an import path")
        for file in _descriptors(f'syntax = "proto3"; import "{path}";', texts, main, lenient)[:-1]:
            if file.name not in present:
                present.add(file.name)
                result.file.append(file)
    result.file.append(own)
    pool_of(result)
    return result
