"""Hashes against published values."""

from __future__ import annotations

from types import ModuleType

import pytest


@pytest.mark.parametrize(
    ("data", "expected"),
    [  # RFC 3720 B.4, and the usual check value
        (bytes(32), 0x8A9136AA),
        (b"\xff" * 32, 0x62A8AB43),
        (bytes(range(32)), 0x46DD794E),
        (bytes(reversed(range(32))), 0x113FDB5C),
        (b"123456789", 0xE3069283),
        (b"", 0),
    ],
)
def test_crc32c(kernels: ModuleType, data: bytes, expected: int) -> None:
    assert kernels.crc32c(data) == expected
    assert kernels.crc32c(memoryview(bytearray(data))) == expected


@pytest.mark.parametrize("cut", [0, 1, 7, 8, 9, 31, 32])
def test_crc32c_goes_on(kernels: ModuleType, cut: int) -> None:
    data = bytes(range(32))
    assert kernels.crc32c(data[cut:], kernels.crc32c(data[:cut])) == 0x46DD794E


@pytest.mark.parametrize(
    ("data", "expected"),
    [  # what Java's Utils.murmur2 gives, a signed number there
        (b"21", -973932308),
        (b"foobar", -790332482),
        (b"a-little-bit-long-string", -985981536),
        (b"a-little-bit-longer-string", -1486304829),
        (b"lkjh234lh9fiuh90y23oiuhsafujhadof229phr9h19h89h8", -58897971),
        (b"abc", 479470107),
    ],
)
def test_murmur2(kernels: ModuleType, data: bytes, expected: int) -> None:
    assert kernels.murmur2(data) == expected % 2**32
    assert kernels.murmur2(bytearray(data)) == expected % 2**32


@pytest.mark.parametrize(("data", "expected"), [(b"", 0x811C9DC5), (b"a", 0xE40C292C), (b"foobar", 0xBF9CF968)])
def test_fnv1a(kernels: ModuleType, data: bytes, expected: int) -> None:
    assert kernels.fnv1a(data) == expected
