"""The decoder's source: runs are read at once, every type of field is read back, counts always have a bound."""

from __future__ import annotations

from uuid import UUID

import pytest

from kafka_core.errors import ProtocolError
from kafka_core.protocol import decode, encode_bytes
from kafka_core.protocol.decode_compiler import DecodeCompiler
from kafka_core.protocol.messages.fetch import FetchRequest, FetchResponse
from tests.unit.kafka_core.protocol.sample_messages import Pair, Unbounded, UnboundedMessage, Zoo


def test_neighbours_of_fixed_size_are_read_at_once() -> None:
    source = DecodeCompiler(FetchRequest, 4).compile().source
    assert sum("unpack_iiiibi(" in line for line in source) == 1
    assert any("unpack_ihqqi(view, p)" in line for line in DecodeCompiler(FetchResponse, 4).compile().source)


@pytest.mark.parametrize("version", [0, 1])
def test_every_type_is_read_back(version: int) -> None:
    message = Zoo(False, 65535, 2**32 - 1, [UUID(int=1)], [7, -1], [b"a", b""], Pair(1), Pair(2), None)
    assert decode(Zoo, version, encode_bytes(message, version)) == message


def test_tagged_fields_are_read_back() -> None:
    message = Zoo(tag_id=UUID(int=9), tag_names=None, tag_pairs=[Pair(1, 2)], tag_raw=b"", tag_ratio=1.0)
    message.unknown_tagged = [(9, b"x"), (300, b"")]
    assert decode(Zoo, 1, encode_bytes(message, 1)) == message
    message.tag_names = ["a", "b"]
    assert decode(Zoo, 1, encode_bytes(message, 1)) == message


def test_absent_fields_get_fresh_defaults() -> None:
    data = encode_bytes(Zoo(maybe=Pair()), 0)
    first, second = decode(Zoo, 0, data), decode(Zoo, 0, data)
    assert first == Zoo(maybe=Pair())
    assert first.tag_names is not second.tag_names
    assert first.unknown_tagged is not second.unknown_tagged


def test_any_byte_but_zero_is_true() -> None:
    data = bytearray(encode_bytes(Zoo(), 1))
    data[0] = 0x80
    assert decode(Zoo, 1, data).flag is True


def test_a_count_without_a_bound_is_refused_when_compiling() -> None:
    with pytest.raises(TypeError, match="Unbounded has no bytes in version 0"):
        decode(UnboundedMessage, 0, bytes(4))


@pytest.mark.parametrize(("version", "size"), [(1, 1), (2, 2)])
def test_counts_are_bounded_by_the_smallest_element(version: int, size: int) -> None:
    message = UnboundedMessage([Unbounded(1), Unbounded(2)])
    data = encode_bytes(message, version)
    assert decode(UnboundedMessage, version, data) == message
    with pytest.raises(ProtocolError, match=f"2 elements announced, but only {2 * size - 1} bytes are left"):
        decode(UnboundedMessage, version, data[: -2 if version == 2 else -1])


def test_smallest_size_counts_every_kind_of_field() -> None:
    compiler = DecodeCompiler(Zoo, 0)
    by_name = {item.name: item for item in Zoo.FIELDS}
    assert compiler.smallest(by_name["pair"], "struct") == 1
    flexible = DecodeCompiler(Zoo, 1)
    assert flexible.smallest(by_name["pair"], "struct") == 4
    assert flexible.smallest(by_name["raw"], "bytes") == 1
    assert compiler.smallest(by_name["raw"], "bytes") == 4
    assert compiler.smallest(by_name["tag_names"], "string") == 2
