"""Both kinds of `Frames`: what names a row's schema, whatever array the rows stand in."""

from __future__ import annotations

import array
import struct
from typing import Any

import pyarrow as pa
import pytest

from serdes.columnar.frames import frames_of
from serdes.frames.framing import frame_prefix

GUID = bytes(range(16))
ONE, TWO, LONG = frame_prefix(1) + b"one", frame_prefix(2) + b"", frame_prefix(1) + b"a payload of more than 12 bytes"
BY_GUID = b"\x01" + GUID + b"by guid"
ROWS: list[bytes | None] = [ONE, None, BY_GUID, TWO, b"", b"\x00\x00", b"\x09abcdefgh", LONG, b"\x01" + GUID[:15]]


@pytest.fixture(params=["pure", "native"])
def impl(request: pytest.FixtureRequest) -> str:
    if request.param == "native":
        pytest.importorskip("serdes.kernels.native.frames")
    return str(request.param)


def check(frames: Any, rows: list[bytes | None]) -> None:
    assert frames.rows == len(rows)
    assert [frames.frame(at) for at in range(len(rows))] == rows
    names = [name for name, _ in frames.names()]
    for at, row in enumerate(rows):
        if row is None:
            assert at in frames.rows_of(-1)
            assert frames.payload(at) is None
            assert frames.name_of(at) is None
        elif row[:1] == b"\x00" and len(row) >= 5:
            assert at in frames.rows_of(names.index(int.from_bytes(row[1:5], "big")))
            assert frames.payload(at) == row[5:]
            assert frames.name_of(at) == int.from_bytes(row[1:5], "big")
        elif row[:1] == b"\x01" and len(row) >= 17:
            assert at in frames.rows_of(names.index(row[1:17]))
            assert frames.payload(at) == row[17:]
            assert frames.name_of(at) == row[1:17]
        else:
            assert at in frames.rows_of(-2)
            assert frames.payload(at) == row
        assert frames.tail(at) is None


@pytest.mark.parametrize("kind", [pa.binary(), pa.large_binary(), pa.binary_view()], ids=str)
def test_every_binary_array_is_read_in_place(impl: str, kind: pa.DataType) -> None:
    whole = pa.array([b"before", *ROWS, b"after"], kind)
    check(frames_of(whole[1:-1], impl=impl), ROWS)
    chunked = pa.chunked_array([whole[1:4], pa.array([], kind), whole[4:-1]])
    check(frames_of(chunked, impl=impl), ROWS)
    check(frames_of(whole[1:1], impl=impl), [])
    check(frames_of(pa.chunked_array([], kind), impl=impl), [])


def test_values_of_a_fixed_size_and_nulls(impl: str) -> None:
    rows = [ONE, None, frame_prefix(3) + b"abc"]
    check(frames_of(pa.array([b"12345678", *rows], pa.binary(8))[1:], impl=impl), rows)
    check(frames_of(pa.nulls(3), impl=impl), [None] * 3)


def test_names_come_in_order_with_their_rows(impl: str) -> None:
    frames = frames_of(pa.array([TWO, ONE, BY_GUID, ONE, b"junk"]), impl=impl)
    assert frames.names() == [(2, 1), (1, 2), (GUID, 1)]
    plans = array.array("i")
    plans.frombytes(frames.plan_of_row([7, 8, -1]))
    assert plans.tolist() == [7, 8, -1, 8, -1]
    with pytest.raises(ValueError, match="as many plans"):
        frames.plan_of_row([1])


def test_many_names_are_told_apart(impl: str) -> None:
    ids = [number * 2**16 for number in range(3000)]
    frames = frames_of(pa.array([frame_prefix(number) for number in (*ids, *ids)]), impl=impl)
    assert frames.names() == [(number, 2) for number in ids]
    assert frames.rows_of(2999) == [2999, 5999]


def test_ids_in_a_column_of_headers_or_of_numbers(impl: str) -> None:
    values = pa.array([b"a", b"b", ONE, None, b"c"])
    headers = pa.array([frame_prefix(5), b"\x01" + GUID + b"\x02\x04", None, frame_prefix(5), b"bad"], pa.binary_view())
    frames = frames_of(values, headers, impl=impl)
    assert frames.names() == [(5, 1), (GUID, 1), (1, 1)]
    assert [frames.payload(row) for row in range(5)] == [b"a", b"b", b"one", None, b"c"]
    assert [frames.tail(row) for row in range(5)] == [b"", b"\x02\x04", None, None, None]
    assert (frames.rows_of(-1), frames.rows_of(-2)) == ([3], [4])
    frames = frames_of(values, pa.array([5, 2**32 - 1, None, 6, 5]), impl=impl)
    assert frames.names() == [(5, 2), (2**32 - 1, 1), (1, 1)]
    assert [frames.payload(row) for row in range(5)] == [b"a", b"b", b"one", None, b"c"]


def test_arrays_that_hold_no_frames_are_refused(impl: str) -> None:
    for values in (pa.array(["x"]), pa.array([1]), pa.array([[b"x"]])):
        with pytest.raises(TypeError, match="binary array, not"):
            frames_of(values, impl=impl)
    with pytest.raises(TypeError, match="ids are an array of integers or of binary headers, not string"):
        frames_of(pa.array([ONE]), pa.array(["x"]), impl=impl)
    for ids in (pa.array([1, 2]), pa.array([b"", b""])):
        with pytest.raises(ValueError, match="2 ids for 1 frames"):
            frames_of(pa.array([ONE]), ids, impl=impl)
    with pytest.raises(ValueError, match="32 bits"):
        frames_of(pa.array([ONE]), pa.array([-1]), impl=impl)


@pytest.mark.parametrize("offsets", [[0, 99], [5, 3], [-1, 3], [0, 2**31 - 1]])
def test_offsets_outside_of_the_data_are_refused(offsets: list[int]) -> None:
    kernel = pytest.importorskip("serdes.kernels.native.frames")
    for large, code in ((False, "2i"), (True, "2q")):
        with pytest.raises(ValueError, match="not within its data"):
            kernel.Frames(1).add_binary(None, 0, 1, None, struct.pack(code, *offsets), b"\0\0\0\0\x07abc", large)


@pytest.mark.parametrize("view", [(-1, 0, 0, 0), (13, 0, 1, 0), (13, 0, 0, -1), (13, 0, 0, 2**30), (2**30, 0, 0, 0)])
def test_views_outside_of_the_data_are_refused(view: tuple[int, ...]) -> None:
    kernel = pytest.importorskip("serdes.kernels.native.frames")
    with pytest.raises(ValueError, match="not within its data"):
        kernel.Frames(1).add_views(None, 0, 1, None, struct.pack("4i", *view), [bytes(20)])


def test_buffers_that_are_too_short_are_refused() -> None:
    kernel = pytest.importorskip("serdes.kernels.native.frames")
    short, enough = bytes(8), bytes(200)
    for name, *arguments in (
        ("add_binary", None, short, enough, False),
        ("add_binary", None, short, enough, True),
        ("add_binary", b"\xff", enough, enough, False),
        ("add_fixed", None, short, 4),
        ("add_fixed", None, None, 4),
        ("add_views", None, short, []),
        ("add_views", None, None, []),
    ):
        for offset in (0, 2**62):
            with pytest.raises(ValueError, match="fewer"):
                getattr(kernel.Frames(9), name)(None, offset, 9, *arguments)
