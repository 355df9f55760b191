"""`.proto` texts to descriptors, at run time: protoc inside this process, no binary, no generated classes.

Must not know of compatibility or serialization. Source: `grpc_tools._protoc_compiler` (decision 0030);
`descriptor.proto`. protoc keeps the interpreter lock while it works, so threads take turns; it starts no threads and
keeps nothing between calls, so a fork between calls is safe.
"""

from __future__ import annotations

import ast
import re
import tempfile
import warnings
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

from google.protobuf.descriptor_pb2 import FileDescriptorProto, FileDescriptorSet
from google.protobuf.descriptor_pool import DescriptorPool
from google.protobuf.message import DecodeError

from registry.compat.formats import Referenced
from registry.compat.protobuf_sources import built_in, decoded, imports, is_path, refuse_extremes, texts_by_name
from registry.errors import InvalidSchemaError
from registry.models import Schema

__all__ = ["FILE_NAME", "compile", "pool", "pool_of"]

FILE_NAME: Final = "default.proto"
"""What the schema itself is called in its descriptor, as in Confluent's registry; references keep their names."""

CACHED_SIZE: Final = 1 << 18
"""Descriptors of texts longer than this together are not kept."""

IMPLIED_SYNTAX: Final = 'syntax = "proto2";'
FIRST_WORD = re.compile(r"(?:\s|//[^\n]*(?:\n|\Z)|/\*.*?\*/)*(\w*)", re.DOTALL)
# How protoc's Python generator writes a descriptor down; the first of its two forms, or both, have the same bytes.
SERIALIZED = re.compile(rb"AddSerializedFile\((b'(?:[^'\\]|\\.)*')\)", re.DOTALL)


def compile(schema: Schema, referenced: Referenced = (), name: str = FILE_NAME) -> FileDescriptorSet:
    """The descriptors of a schema and all files it imports.

    Args:
        schema: a `.proto` text, or base64 of a `FileDescriptorProto`.
        referenced: all schemas it is made of (`references.resolve_all`), of either form.
        name: what the schema's own file is called.

    Returns:
        Every file after those it imports, the schema's own file last; the caller's to change.

    Raises:
        InvalidSchemaError: protoc refuses it; the text has the line and column.
    """
    references = tuple(texts_by_name(schema, referenced).items())
    small = len(schema.schema_str) + sum(len(text) for _, text in references) <= CACHED_SIZE
    build = _cached if small else _serialized_set
    return FileDescriptorSet.FromString(build(schema.schema_str, references, name))


def pool(schema: Schema, referenced: Referenced = (), name: str = FILE_NAME) -> DescriptorPool:
    """A pool with the schema and all it imports, and nothing else.

    Raises:
        InvalidSchemaError: it is not a valid schema.
    """
    return pool_of(compile(schema, referenced, name))


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


def _serialized_set(text: str, references: tuple[tuple[str, str], ...], name: str) -> bytes:
    texts = dict(references)
    main = _main_name(name, texts)
    if (data := decoded(text)) is not None:
        return _with_imports(data, texts, main).SerializeToString()
    files = _protoc(text, texts, main)
    return FileDescriptorSet(file=files).SerializeToString()


_cached = lru_cache(maxsize=256)(_serialized_set)


def _main_name(name: str, texts: dict[str, str]) -> str:
    """The schema's own name, changed if a reference or a built-in file has it already."""
    while name in texts or built_in(name) is not None:
        name = f"_{name}"
    return name


def _with_imports(data: bytes, texts: dict[str, str], main: str) -> FileDescriptorSet:
    """A given descriptor behind the files it imports."""
    try:
        own = FileDescriptorProto.FromString(data)
    except DecodeError as error:
        raise InvalidSchemaError.local("neither a .proto text nor base64 of a FileDescriptorProto") from error
    own.name = main
    result = FileDescriptorSet()
    present: set[str] = set()
    for path in own.dependency:
        if not is_path(path):
            raise InvalidSchemaError.local(f"the descriptor imports {path[:200]!r}, which is not an import path")
        for file in _protoc(f'syntax = "proto3"; import "{path}";', texts, main)[:-1]:
            if file.name not in present:
                present.add(file.name)
                result.file.append(file)
    result.file.append(own)
    pool_of(result)
    return result


# --- protoc


def _protoc(text: str, texts: dict[str, str], main: str) -> list[FileDescriptorProto]:
    """The descriptors of a text and what it imports, in the order of protoc: each after those it imports."""
    compiler = _compiler()
    with tempfile.TemporaryDirectory(prefix="kserdes-proto-") as folder:
        shifted = _write_files(Path(folder), text, texts, main)
        if compiler.ProtocWarning not in {entry[2] for entry in warnings.filters}:  # unused imports are no concern
            warnings.filterwarnings("ignore", category=compiler.ProtocWarning)
        try:
            generated = compiler.get_protos(main.encode(), [folder.encode()])
        except compiler.ProtocErrors as error:
            raise InvalidSchemaError.local(_reason(error.errors(), main, shifted)) from error
    return [FileDescriptorProto.FromString(_embedded(code)) for _, code in generated]


def _compiler() -> Any:
    try:
        from grpc_tools import _protoc_compiler
    except ImportError as missing:
        raise InvalidSchemaError.local(
            'Protobuf schemas need optional packages: pip install "kserdes[proto]"'
        ) from missing
    return _protoc_compiler


def _write_files(folder: Path, text: str, texts: dict[str, str], main: str) -> set[str]:
    """Writes the text and all it imports; what can't be found is left to protoc to complain about.

    Returns:
        Names of the files whose first line was lengthened by `IMPLIED_SYNTAX`.
    """
    shifted = set()
    waiting, known = [(main, text)], {main}
    while waiting:
        name, content = waiting.pop()
        refuse_extremes(content, "the schema" if name == main else f"{name}")
        if FIRST_WORD.match(content)[1] not in ("syntax", "edition"):  # type: ignore[index]
            shifted.add(name)
            content = IMPLIED_SYNTAX + content.removeprefix("\ufeff")
        target = folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content.encode())
        for path in imports(content):
            if path not in known and (found := _text_of(path, texts)) is not None:
                known.add(path)
                waiting.append((path, found))
    return shifted


def _text_of(path: str, texts: dict[str, str]) -> str | None:
    """Well-known types are always protoc's own: it has to understand their options."""
    own = built_in(path)
    return own if own is not None and path.startswith("google/protobuf/") else texts.get(path, own)


def _embedded(code: bytes) -> bytes:
    found = SERIALIZED.search(code)
    assert found is not None, "grpcio-tools writes descriptors in another way than this version knows"
    value: bytes = ast.literal_eval(found[1].decode("ascii"))
    return value


def _reason(errors: list[Any], main: str, shifted: set[str]) -> str:
    """One line for all of protoc's complaints: the first in full, how many more there are."""
    located = [error for error in errors if error.line >= 0]
    first = (located or errors)[0]
    missing = [error for error in errors if error.line < 0 and _text(error.message) == "File not found."]
    file = _text(first.filename)
    reason = _text(first.message)
    if missing and "was not found or had errors" in reason:
        reason = f'import "{_text(missing[0].filename)}": no reference has this name, and it is not built in'
    place = "" if file == main else f"{file}: "
    if first.line >= 0:
        column = first.column - (len(IMPLIED_SYNTAX) if first.line == 0 and file in shifted else 0)
        place += f"line {first.line + 1}, column {max(column, 0) + 1}: "
    more = "" if len(errors) == 1 else f" (and {len(errors) - 1} more)"
    return f"{place}{reason}{more}"


def _text(value: bytes | str) -> str:
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else value
