"""Arrow arrays of what kernels filled, handed over without a copy through Arrow's C data interface.

Must not know of formats. Source: https://arrow.apache.org/docs/format/CDataInterface.html.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from uuid import UUID

import pyarrow as pa

from serdes.columnar.frames import Frames
from serdes.errors import SerializationError


def array_of(builders: Any, kind: pa.DataType) -> pa.Array:
    """The array that builders hold; they are spent afterwards.

    Args:
        builders: `serdes.kernels.native.columns.Builders` made with `layout_of(kind).shapes()`.
        kind: its type.

    Raises:
        MemoryError: there is no memory for it.
    """
    return pa.Array._import_from_c(builders.finish(), kind)


def binary_of(data: Any, offsets: Any, validity: Any, rows: int, nulls: int, large: bool) -> pa.Array:
    """The frames that a kernel wrote, of `serdes.kernels.native.arrays.Block`s; offsets have 64 bits if `large`."""
    kind = pa.large_binary() if large else pa.binary()
    return pa.Array.from_buffers(kind, rows, [_buffer(validity), _buffer(offsets), _buffer(data)], nulls)


def _buffer(block: Any) -> pa.Buffer | None:
    return None if block is None else pa.foreign_buffer(block.address, block.size, block)


def errors_of(rows: int, errors: Mapping[int, str]) -> pa.StringArray:
    """The column of errors: the text of each row that has one, null for the others."""
    if not errors:
        return pa.nulls(rows, pa.string())
    texts: list[str | None] = [None] * rows
    for row, text in errors.items():
        texts[row] = text
    return pa.array(texts, pa.string())


def row_error(frames: Frames, row: int, error: SerializationError) -> str:
    """The text of a row's error, with what names its schema."""
    name = frames.name_of(row)
    if isinstance(name, bytes):
        error.reason = f"schema GUID {UUID(bytes=name)}: {error.reason}"
        return str(error)
    return str(error.located(None, None, name))
