"""Wire primitives by themselves: varints at their limits, tagged sections, records."""

from __future__ import annotations

from uuid import UUID

import pytest

from kafka_core.protocol import primitives
from kafka_core.protocol.primitives import Malformed
from kafka_core.protocol.schema import ZERO_UUID


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0, "00"),
        (127, "7f"),
        (128, "8001"),
        (300, "ac02"),
        (16383, "ff7f"),
        (16384, "808001"),
        (2**32 - 1, "ffffffff0f"),
    ],
)
def test_uvarint(value: int, text: str) -> None:
    out = bytearray(b"x")
    primitives.write_uvarint(out, value)
    assert out.hex() == "78" + text
    assert primitives.read_uvarint(memoryview(out), 1, len(out)) == (value, len(out))


def test_uvarint_may_be_longer_than_needed() -> None:
    assert primitives.read_uvarint(memoryview(b"\x85\x80\x00"), 0, 3) == (5, 3)


@pytest.mark.parametrize(
    ("text", "reason"),
    [("", "ends inside"), ("ff", "ends inside"), ("ffffffff1f", "32 bits"), ("808080808000", "32 bits")],
)
def test_uvarint_refused(text: str, reason: str) -> None:
    data = bytes.fromhex(text)
    with pytest.raises(Malformed, match=reason):
        primitives.read_uvarint(memoryview(data), 0, len(data))


def test_unknown_tags_are_read_in_their_order() -> None:
    data = bytes.fromhex("02 07 01 aa 05 00 ff")
    assert primitives.read_unknown_tags(memoryview(data), 0, 7) == ([(7, b"\xaa"), (5, b"")], 6)


@pytest.mark.parametrize(("text", "reason"), [("03 0000", "3 elements"), ("01 05 02 00", "2 bytes announced")])
def test_unknown_tags_are_bounded(text: str, reason: str) -> None:
    data = bytes.fromhex(text)
    with pytest.raises(Malformed, match=reason):
        primitives.read_unknown_tags(memoryview(data), 0, len(data))


def test_tags_are_written_in_ascending_order() -> None:
    out = bytearray()
    primitives.write_tags(out, [(1, bytearray(b"k")), (300, bytearray())], [(0, b"u"), (2, b"")], frozenset([1, 300]))
    assert out.hex(" ") == "04 00 01 75 01 01 6b 02 00 ac 02 00"


@pytest.mark.parametrize(
    ("unknown", "reason"),
    [
        ([(1, b"")], "tag 1 is a known field"),
        ([(5, b""), (4, b"")], "tag 4 comes after tag 5"),
        ([(-1, b"")], "tag -1"),
        ([(2**32, b"")], "tag 4294967296"),
        ([(5, bytearray())], "needs bytes, not bytearray"),
    ],
)
def test_tags_java_would_refuse_are_refused(unknown: primitives.TaggedFields, reason: str) -> None:
    with pytest.raises(Malformed, match=reason):
        primitives.write_tags(bytearray(), [], unknown, frozenset([1]))


def test_records_chunks() -> None:
    first, second = b"ab", bytearray(b"c")
    assert primitives.records_chunks(None) == (-1, [])
    assert primitives.records_chunks(b"") == (0, [b""])
    assert primitives.records_chunks(first)[1][0] is first
    assert primitives.records_chunks(memoryview(b"abcd").cast("H")) == (4, [b"abcd"])
    size, chunks = primitives.records_chunks((first, second))
    assert (size, b"".join(chunks)) == (3, b"abc")


@pytest.mark.parametrize("value", ["text", 5, ["text"], [b"", 5]])
def test_records_must_be_buffers(value: object) -> None:
    with pytest.raises(TypeError):
        primitives.records_chunks(value)  # type: ignore[arg-type]


def test_zero_uuid_is_shared() -> None:
    assert primitives.read_uuid(bytes(16)) is ZERO_UUID
    assert primitives.read_uuid(bytes(15) + b"\x01") == UUID(int=1)


def test_arrays_of_numbers() -> None:
    assert primitives.pack_array("h", 2, [1, -1]) == b"\x00\x01\xff\xff"
    assert primitives.unpack_array("h", 2, memoryview(b"x\x00\x01\xff\xff"), 1) == (1, -1)


def test_checks_name_the_wrong_type() -> None:
    assert primitives.check_array([1]) == [1]
    assert primitives.check_array(()) == ()
    with pytest.raises(TypeError, match="a list is needed, not set"):
        primitives.check_array(set())
    with pytest.raises(TypeError, match="a bool is needed, not int"):
        primitives.check_bool(1)
    assert primitives.bytes_like(memoryview(b"abcd").cast("I")).tobytes() == b"abcd"
