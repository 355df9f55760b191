"""The codecs of record batches, by name and by number.

Must not know how they compress (`compression` does): who does not compress loads no compression library.
Spec: https://kafka.apache.org/documentation/#recordbatch, attributes.
"""

from __future__ import annotations

from enum import IntEnum

from kafka_core.errors import UnknownCodecError


class Codec(IntEnum):
    """`compression.type`; the number is what a batch's attributes hold."""

    NONE = 0
    GZIP = 1
    SNAPPY = 2
    LZ4 = 3
    ZSTD = 4


def codec_of(attributes: int) -> Codec:
    """The codec that a batch's attributes name.

    Raises:
        UnknownCodecError: none that we know.
    """
    number = attributes & 0x07
    try:
        return Codec(number)
    except ValueError:
        raise UnknownCodecError(f"compression codec {number} is unknown") from None
