"""Source lines of a compiled codec, and the map from a failing line back to the field it belongs to.

Knows nothing of messages' meaning. The generated functions run straight through without error handling; when one
fails, the line number in the traceback and the frame's local variables say which field, which array index and where.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from dataclasses import dataclass, field
from types import FrameType
from typing import Any, NamedTuple

FIXED_FORMATS = {
    "bool": "?",
    "int8": "b",
    "int16": "h",
    "uint16": "H",
    "int32": "i",
    "uint32": "I",
    "int64": "q",
    "float64": "d",
    "uuid": "16s",
}
FORMAT_NAMES = {letter: kind for kind, letter in FIXED_FORMATS.items()}
FORMAT_SIZES = {letter: struct.calcsize(">" + letter) for letter in FIXED_FORMATS.values()}


class Part(NamedTuple):
    """One value that a line reads or writes: field path (with `{i3}` for array indexes), format, source expression."""

    path: str
    letter: str = ""
    expression: str = ""


@dataclass(slots=True)
class Lines:
    """Growing source of one function."""

    file_name: str
    namespace: dict[str, Any] = field(default_factory=dict)
    source: list[str] = field(default_factory=list)
    sites: dict[int, tuple[Part, ...]] = field(default_factory=dict)
    depth: int = 0
    counter: int = 0

    def add(self, line: str, *parts: Part) -> None:
        """Appends one line at the current depth; parts are the fields it is about."""
        self.source.append("    " * self.depth + line)
        self.sites[len(self.source)] = parts

    def name(self, prefix: str) -> str:
        """A local variable name not used before."""
        self.counter += 1
        return f"{prefix}{self.counter}"

    def constant(self, prefix: str, value: object) -> str:
        """A global name for the value inside the generated code."""
        name = self.name(prefix)
        self.namespace[name] = value
        return name

    def packer(self, prefix: str, letters: str) -> tuple[str, int]:
        """Global name of the bound pack or unpack_from of a big-endian struct, and its size."""
        layout = struct.Struct(">" + letters)
        name = f"{prefix}_{letters.replace('?', 't')}"
        self.namespace[name] = layout.pack if prefix == "pack" else layout.unpack_from
        return name, layout.size

    def compile(self, name: str) -> Callable[..., Any]:
        """The finished function."""
        exec(compile("\n".join(self.source) + "\n", self.file_name, "exec"), self.namespace)
        function: Callable[..., Any] = self.namespace[name]
        return function

    def failing_frame(self, error: BaseException) -> tuple[FrameType, tuple[Part, ...]]:
        """The generated function's frame in the error's traceback and the fields of the line it stopped at."""
        trace = error.__traceback__
        while trace is not None and trace.tb_frame.f_code.co_filename != self.file_name:
            trace = trace.tb_next
        assert trace is not None, "the error does not come from this function"
        return trace.tb_frame, self.sites[trace.tb_lineno]


def fill_indexes(path: str, frame: FrameType) -> str:
    """`topics[{i3}].name` with the index the frame was at."""
    return path.format_map(frame.f_locals)
