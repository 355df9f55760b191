"""The frames of a batch as decoders take them: a binary-like Arrow array, read in place by the compiled kernels.

Must not know of schemas or formats. Which of the two kinds of `Frames` is made is decided by `serdes.kernels.IMPL`;
`Frames` of kernels hold on to the Arrow arrays they point into.
"""

from __future__ import annotations

from typing import Any, Protocol, TypeAlias

import pyarrow as pa

from serdes.kernels import IMPL
from serdes.kernels.pure.frames import Frames as PureFrames

MOST_ID = 2**32


class Frames(Protocol):
    """The rows of a batch: what names each row's schema, and its payload (`serdes.kernels.pure.frames`)."""

    @property
    def rows(self) -> int: ...
    def names(self) -> list[tuple[int | bytes, int]]: ...
    def plan_of_row(self, plans: list[int]) -> bytes: ...
    def rows_of(self, place: int) -> list[int]: ...
    def payload(self, row: int) -> bytes | None: ...
    def frame(self, row: int) -> bytes | None: ...
    def tail(self, row: int) -> bytes | None: ...
    def name_of(self, row: int) -> int | bytes | None: ...


Arrays: TypeAlias = "pa.Array | pa.ChunkedArray"


def frames_of(values: Arrays, ids: Arrays | None = None, impl: str = IMPL) -> Frames:
    """The frames of an array.

    Args:
        values: binary, large binary, binary view, fixed-size binary or null; sliced or chunked. Null is a null row.
        ids: what names each row's schema, if that does not stand in front of the payload: numbers, or values of the
            header (binary: magic byte and id or GUID). A row without one has it in front of the payload.
        impl: `native` or `pure`.

    Raises:
        TypeError: one of the arrays is of another type.
        ValueError: there are not as many ids as values, or an id does not fit in 32 bits.
    """
    return native_frames(values, ids) if impl == "native" else pure_frames(values, ids)


def pure_frames(values: Arrays, ids: Arrays | None = None) -> PureFrames:
    """As `frames_of`, with a copy of every frame as a Python object."""
    _check(values.type)
    made = PureFrames(values.to_pylist())
    if ids is None:
        made.name_by_prefix()
    elif pa.types.is_integer(ids.type):
        made.name_by_number(_numbers(values, ids))
    else:
        _check_headers(values, ids)
        made.name_by_headers(PureFrames(ids.to_pylist()))
    return made


def native_frames(values: Arrays, ids: Arrays | None = None) -> Any:
    """As `frames_of`, in place."""
    made = _rows(values)
    if ids is None:
        made.name_by_prefix()
    elif pa.types.is_integer(ids.type):
        made.name_by_number(_numbers(values, ids))
    else:
        _check_headers(values, ids)
        made.name_by_headers(_rows(ids))
    return made


def _rows(values: Arrays) -> Any:
    from serdes.kernels.native import frames as kernel

    made = kernel.Frames(len(values))
    for chunk in values.chunks if isinstance(values, pa.ChunkedArray) else (values,):
        _add(made, chunk)
    return made


def _add(made: Any, values: pa.Array) -> None:
    kind, offset, rows = values.type, values.offset, len(values)
    if pa.types.is_binary(kind) or pa.types.is_large_binary(kind):
        validity, offsets, data = map(_octets, values.buffers())
        if rows:
            made.add_binary(values, offset, rows, validity, offsets, data, pa.types.is_large_binary(kind))
    elif pa.types.is_fixed_size_binary(kind):
        validity, data = map(_octets, values.buffers())
        made.add_fixed(values, offset, rows, validity, data, kind.byte_width)
    elif pa.types.is_binary_view(kind):
        validity, views, *parts = map(_octets, values.buffers())
        made.add_views(values, offset, rows, validity, views, parts)
    else:
        _check(kind)
        made.add_nulls(rows)


def _octets(buffer: pa.Buffer | None) -> memoryview | None:
    """A buffer with its size, as kernels take it: they believe no address."""
    return None if buffer is None else memoryview(buffer).cast("B")


def _check(kind: pa.DataType) -> None:
    if not (
        pa.types.is_binary(kind)
        or pa.types.is_large_binary(kind)
        or pa.types.is_binary_view(kind)
        or pa.types.is_fixed_size_binary(kind)
        or pa.types.is_null(kind)
    ):
        raise TypeError(f"framed payloads are a binary array, not {kind}")


def _check_headers(values: Arrays, ids: Arrays) -> None:
    try:
        _check(ids.type)
    except TypeError:
        raise TypeError(f"ids are an array of integers or of binary headers, not {ids.type}") from None
    if len(ids) != len(values):
        raise ValueError(f"{len(ids)} ids for {len(values)} frames")


def _numbers(values: Arrays, ids: Arrays) -> list[int | None]:
    numbers: list[int | None] = ids.to_pylist()
    if len(numbers) != len(values):
        raise ValueError(f"{len(numbers)} ids for {len(values)} frames")
    if any(number is not None and not 0 <= number < MOST_ID for number in numbers):
        raise ValueError("a schema id that does not fit in 32 bits")
    return numbers
