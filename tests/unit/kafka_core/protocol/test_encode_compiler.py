"""The encoder's source: runs are packed at once, every type of field has its form, tags come in order."""

from __future__ import annotations

from uuid import UUID

import pytest

from kafka_core.errors import ProtocolError, UnsupportedVersionError
from kafka_core.protocol import encode_bytes
from kafka_core.protocol.encode_compiler import EncodeCompiler
from kafka_core.protocol.messages.fetch import FetchRequest
from tests.unit.kafka_core.protocol.sample_messages import Pair, Zoo

UUIDS = [UUID(int=1), UUID(int=2)]


def test_neighbours_of_fixed_size_are_packed_at_once() -> None:
    source = EncodeCompiler(FetchRequest, 4).compile().source
    assert sum("pack_iiiibi(" in line for line in source) == 1  # five numbers and the count behind them
    assert sum("pack_iqii(" in line or "pack_iqi(" in line for line in source) == 1


def test_the_old_form_of_every_type() -> None:
    message = Zoo(False, 65535, 2**32 - 1, UUIDS, [7, -1], [b"a", b""], Pair(1), Pair(2), None)
    assert encode_bytes(message, 0).hex(" ") == " ".join(
        [
            "00 ff ff ff ff ff ff",
            "00 00 00 02",
            *(value.bytes.hex(" ") for value in UUIDS),
            "00 00 00 02 00 00 00 00 00 00 00 07 ff ff ff ff ff ff ff ff",
            "00 00 00 02 00 00 00 01 61 00 00 00 00",
            "01 02 ff ff ff ff",
        ]
    )


def test_the_flexible_form_of_every_type() -> None:
    message = Zoo(True, 1, 2, UUIDS[:1], None, [b"a"], Pair(1, 2), Pair(3, 4), b"xy")
    assert encode_bytes(message, 1).hex(" ") == " ".join(
        [
            "01 00 01 00 00 00 02",
            "02",
            UUIDS[0].bytes.hex(" "),
            "00",
            "02 02 61",
            "01 00 02 00",
            "01 03 00 04 00",
            "03 78 79",
            "00",
        ]
    )


def test_tagged_fields_are_sorted_by_tag_and_left_out_at_their_default() -> None:
    message = Zoo(tag_id=UUIDS[0], tag_names=None, tag_pairs=[Pair(1, 2)], tag_raw=b"", tag_ratio=1.0)
    assert encode_bytes(message, 1)[16:].hex(" ") == " ".join(
        [
            "05",
            "00 10 " + UUIDS[0].bytes.hex(" "),
            "01 01 00",
            "02 05 02 01 00 02 00",
            "03 01 01",
            "04 08 3f f0 00 00 00 00 00 00",
        ]
    )
    assert encode_bytes(Zoo(), 1)[16:] == b"\x00"
    assert encode_bytes(Zoo(tag_names=["a"]), 1)[16:].hex(" ") == "01 01 03 02 02 61"


@pytest.mark.parametrize(
    "message",
    [
        Zoo(maybe=Pair(), tag_id=UUIDS[0]),
        Zoo(maybe=Pair(), tag_names=None),
        Zoo(maybe=Pair(), tag_pairs=[Pair()]),
        Zoo(maybe=Pair(), tag_raw=b""),
        Zoo(maybe=Pair(), tag_ratio=0.0),
        Zoo(pair=Pair(right=1)),
    ],
)
def test_every_kind_of_field_that_the_version_lacks_must_be_at_its_default(message: Zoo) -> None:
    encode_bytes(Zoo(maybe=Pair()), 0)
    with pytest.raises(UnsupportedVersionError, match="is set, but this version of the message has no such field"):
        encode_bytes(message, 0)


def test_null_structs() -> None:
    assert encode_bytes(Zoo(), 1)[14:16].hex() == "ff01"
    with pytest.raises(ProtocolError, match=r"Zoo v0: maybe\."):
        encode_bytes(Zoo(), 0)


def test_elements_are_named_by_index() -> None:
    with pytest.raises(ProtocolError, match=r"Zoo v1: ids\[1\]: 'int' object has no attribute 'bytes'"):
        encode_bytes(Zoo(ids=[UUIDS[0], 5]), 1)  # type: ignore[list-item]
    with pytest.raises(ProtocolError, match=r"Zoo v1: tag_pairs\[1\]\.right: 40000 is no int16"):
        encode_bytes(Zoo(tag_pairs=[Pair(), Pair(0, 40000)]), 1)
