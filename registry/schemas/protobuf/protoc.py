"""protoc inside this process: `.proto` texts in, descriptors or its complaints out.

Must not know of schemas. Source: `grpc_tools._protoc_compiler` (decision 0030). protoc keeps the interpreter lock while
it works, so threads take turns; it starts no threads and keeps nothing between calls, so a fork between calls is safe.
"""

from __future__ import annotations

import re
import tempfile
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from google.protobuf.descriptor_pb2 import FileDescriptorProto

from registry.errors import InvalidSchemaError
from registry.limits import MAX_PROTOC_MARKS, MAX_PROTOC_TYPES
from registry.schemas.protobuf.sources import TOO_MANY, built_in, imports, marks, refuse_extremes

TYPE_WORD = re.compile(r"\b(?:message|enum|group|map|service)\b")
IMPLIED_SYNTAX: Final = 'syntax = "proto2";'
FIRST_WORD = re.compile(r"(?:\s|//[^\n]*(?:\n|\Z)|/\*.*?\*/)*+(\w*)", re.DOTALL)
# The two forms in which protoc's Python generator writes a descriptor; the first one, or both, have the same bytes.
SERIALIZED = re.compile(rb"AddSerializedFile\(b'((?:[^'\\]|\\.)*+)'\)", re.DOTALL)


def descriptors(text: str, texts: Mapping[str, str], main: str) -> list[FileDescriptorProto]:
    """The descriptors of a text and of what it imports.

    Args:
        text: the text.
        texts: what it may import besides built-in files, by path.
        main: what its file is called; a path that is neither in `texts` nor built in.

    Returns:
        Each after those it imports, the text's own last.

    Raises:
        InvalidSchemaError: protoc refuses a text; the message has the line and column.
    """
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
            "Protobuf schemas need optional packages: "
            "pip install grpcio-tools googleapis-common-protos (the extra 'proto' of kserdes)"
        ) from missing
    return _protoc_compiler


def _write_files(folder: Path, text: str, texts: Mapping[str, str], main: str) -> set[str]:
    """Writes the text and all it imports; what can't be found is left to protoc to complain about.

    Returns:
        Names of the files whose first line was lengthened by `IMPLIED_SYNTAX`.
    """
    shifted, types, size = set(), 0, 0
    waiting, known = [(main, text)], {main}
    while waiting:
        name, content = waiting.pop()
        refuse_extremes(content, "" if name == main else name)
        types += len(TYPE_WORD.findall(content))
        if types > MAX_PROTOC_TYPES:
            raise InvalidSchemaError.local(f"more than {MAX_PROTOC_TYPES:,} types, map fields and services")
        size += marks(content)
        if size > MAX_PROTOC_MARKS:
            raise InvalidSchemaError.local(TOO_MANY.format(MAX_PROTOC_MARKS))
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


def _text_of(path: str, texts: Mapping[str, str]) -> str | None:
    """Well-known types are always protoc's own: it has to understand their options."""
    own = built_in(path)
    return own if own is not None and path.startswith("google/protobuf/") else texts.get(path, own)


def _embedded(code: bytes) -> bytes:
    found = SERIALIZED.search(code)
    assert found is not None, "grpcio-tools writes descriptors in another way than this version knows"
    return found[1].decode("unicode_escape").encode("latin-1")


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
