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

__all__ = ["array_of", "errors_of", "row_error"]


def array_of(builders: Any, kind: pa.DataType) -> pa.Array:
    """The array that builders hold; they are spent afterwards.

    Args:
        builders: `serdes.kernels.native.columns.Builders` made with `layout_of(kind).shapes()`.
        kind: its type.

    Raises:
        MemoryError: there is no memory for it.
    """
    return pa.Array._import_from_c(builders.finish(), kind)


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
