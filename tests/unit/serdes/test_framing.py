from __future__ import annotations

import pytest

from serdes.errors import SerializationError
from serdes.framing import PREFIX_BYTES, frame_prefix, schema_id_of


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
        (b"\x05hello world", "unknown magic byte 5"),
        (b"{", "unknown magic byte 123"),
        (b"\x01" + b"g" * 16, "by GUID"),
    ],
)
def test_what_is_not_a_frame(frame: bytes, text: str) -> None:
    with pytest.raises(SerializationError, match=text):
        schema_id_of(frame)
