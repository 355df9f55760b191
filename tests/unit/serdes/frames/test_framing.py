from __future__ import annotations

import pytest

from serdes.errors import SerializationError
from serdes.frames.framing import PREFIX_BYTES, frame_prefix, pack_indexes, prefix_size, schema_id_of, unpack_indexes


@pytest.mark.parametrize("schema_id", [0, 1, 2**31, 2**32 - 1])
def test_prefix_and_back(schema_id: int) -> None:
    prefix = frame_prefix(schema_id)
    assert len(prefix) == PREFIX_BYTES
    assert schema_id_of(prefix + b"payload") == schema_id


def test_byte_order() -> None:
    assert frame_prefix(1) == b"\x00\x00\x00\x00\x01"


@pytest.mark.parametrize("schema_id", [-1, 2**32])
def test_ids_that_do_not_fit(schema_id: int) -> None:
    with pytest.raises(SerializationError, match="does not fit"):
        frame_prefix(schema_id)


@pytest.mark.parametrize(
    ("frame", "text"),
    [
        (b"", "empty"),
        (b"\x00\x00\x00", "has 3 bytes"),
        (b"\x05hello world", "Invalid magic byte 5"),
        (b"{", "Invalid magic byte 123"),
        (b"\x01" + b"g" * 16, "by GUID"),
    ],
)
def test_bytes_that_are_no_frame_are_refused(frame: bytes, text: str) -> None:
    with pytest.raises(SerializationError, match=text):
        schema_id_of(frame)


def test_the_prefix_has_a_size() -> None:
    assert prefix_size(b"\x00\x00\x00\x00\x01x") == 5
    assert prefix_size(b"\x01" + bytes(16)) == 17
    for bad, text in (
        (b"", "is empty"),
        (b"\x00\x00", "a schema id alone need 5"),
        (b"\x01" + bytes(15), "a schema GUID alone need 17"),
        (b"\x02" + bytes(20), "Invalid magic byte 2"),
    ):
        with pytest.raises(SerializationError, match=text):
            prefix_size(bad)


@pytest.mark.parametrize(
    ("indexes", "zigzag", "packed"),
    [
        ([0], True, b"\x00"),
        ([0], False, b"\x00"),
        ([1], True, b"\x02\x02"),
        ([1], False, b"\x01\x01"),
        ([0, 0], True, b"\x04\x00\x00"),
        ([127, 8, 1], True, b"\x06\xfe\x01\x10\x02"),
        ([127, 8, 1], False, b"\x03\x7f\x08\x01"),
        ([2**63 - 1], True, b"\x02" + b"\xfe" + b"\xff" * 8 + b"\x01"),
    ],
)
def test_paths_of_message_types(indexes: list[int], zigzag: bool, packed: bytes) -> None:
    assert pack_indexes(indexes, zigzag) == packed
    assert unpack_indexes(b"12" + packed + b"rest", 2, zigzag) == (indexes, 2 + len(packed))


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b"", "ends inside"),
        (b"\x02", "ends inside"),
        (b"\x01", "has -1 parts"),
        (b"\xd2\x0f", "has 1001 parts"),
        (b"\x02\x01", "the index -1"),
        (b"\xff" * 11, "more than 10 bytes"),
    ],
)
def test_paths_that_are_none(data: bytes, text: str) -> None:
    with pytest.raises(SerializationError, match=text):
        unpack_indexes(data, 0)
