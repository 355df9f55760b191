"""The layout of a variant's two byte strings.

Must not know of Python's types for the values. The metadata is a dictionary of keys: a byte with the version and the
width of its numbers, the count, one offset more than keys, the keys. A value begins with a byte of which two bits say
whether it is a primitive, a short string, an object or an array. Numbers are little-endian. Any byte may be wrong:
nothing is believed that does not fit into what is there.
"""

from __future__ import annotations

from enum import Enum
from typing import Final, NamedTuple

VERSION: Final = 1
MOST_SHORT: Final = 63
"""The most bytes of a short string."""
DEPTH: Final = 1_000
"""The greatest depth of nested objects and arrays."""


class VariantError(ValueError):
    """Bytes that are not a variant, a value of another type than asked for, or one that no variant can hold."""


class VariantType(Enum):
    """The type of a variant's value."""

    OBJECT = "OBJECT"
    ARRAY = "ARRAY"
    NULL = "NULL"
    BOOLEAN = "BOOLEAN"
    BYTE = "BYTE"
    SHORT = "SHORT"
    INT = "INT"
    LONG = "LONG"
    STRING = "STRING"
    DOUBLE = "DOUBLE"
    DECIMAL4 = "DECIMAL4"
    DECIMAL8 = "DECIMAL8"
    DECIMAL16 = "DECIMAL16"
    DATE = "DATE"
    TIMESTAMP_TZ = "TIMESTAMP_TZ"
    TIMESTAMP_NTZ = "TIMESTAMP_NTZ"
    FLOAT = "FLOAT"
    BINARY = "BINARY"
    TIME = "TIME"
    TIMESTAMP_NANOS_TZ = "TIMESTAMP_NANOS_TZ"
    TIMESTAMP_NANOS_NTZ = "TIMESTAMP_NANOS_NTZ"
    UUID = "UUID"


class Basic:
    """The two lowest bits of a value's first byte."""

    PRIMITIVE = 0
    SHORT_STRING = 1
    OBJECT = 2
    ARRAY = 3


class Code:
    """The other six bits of a primitive's first byte."""

    NULL = 0
    TRUE = 1
    FALSE = 2
    INT1 = 3
    INT2 = 4
    INT4 = 5
    INT8 = 6
    DOUBLE = 7
    DECIMAL4 = 8
    DECIMAL8 = 9
    DECIMAL16 = 10
    DATE = 11
    TIMESTAMP_TZ = 12
    TIMESTAMP_NTZ = 13
    FLOAT = 14
    BINARY = 15
    LONG_STRING = 16
    TIME = 17
    TIMESTAMP_NANOS_TZ = 18
    TIMESTAMP_NANOS_NTZ = 19
    UUID = 20


WITH_LENGTH: Final = -1
PRIMITIVES: Final[dict[int, tuple[VariantType, int]]] = {
    Code.NULL: (VariantType.NULL, 0),
    Code.TRUE: (VariantType.BOOLEAN, 0),
    Code.FALSE: (VariantType.BOOLEAN, 0),
    Code.INT1: (VariantType.BYTE, 1),
    Code.INT2: (VariantType.SHORT, 2),
    Code.INT4: (VariantType.INT, 4),
    Code.INT8: (VariantType.LONG, 8),
    Code.DOUBLE: (VariantType.DOUBLE, 8),
    Code.DECIMAL4: (VariantType.DECIMAL4, 5),
    Code.DECIMAL8: (VariantType.DECIMAL8, 9),
    Code.DECIMAL16: (VariantType.DECIMAL16, 17),
    Code.DATE: (VariantType.DATE, 4),
    Code.TIMESTAMP_TZ: (VariantType.TIMESTAMP_TZ, 8),
    Code.TIMESTAMP_NTZ: (VariantType.TIMESTAMP_NTZ, 8),
    Code.FLOAT: (VariantType.FLOAT, 4),
    Code.BINARY: (VariantType.BINARY, WITH_LENGTH),
    Code.LONG_STRING: (VariantType.STRING, WITH_LENGTH),
    Code.TIME: (VariantType.TIME, 8),
    Code.TIMESTAMP_NANOS_TZ: (VariantType.TIMESTAMP_NANOS_TZ, 8),
    Code.TIMESTAMP_NANOS_NTZ: (VariantType.TIMESTAMP_NANOS_NTZ, 8),
    Code.UUID: (VariantType.UUID, 16),
}
"""By code: the type, and how many bytes follow the first one."""
DECIMALS: Final = (
    (VariantType.DECIMAL4, Code.DECIMAL4, 4, 9),
    (VariantType.DECIMAL8, Code.DECIMAL8, 8, 18),
    (VariantType.DECIMAL16, Code.DECIMAL16, 16, 38),
)
"""Type, code, bytes of the unscaled number, and the most digits, which the scale may not exceed either."""


def part(data: bytes, start: int, size: int) -> bytes:
    """So many bytes.

    Raises:
        VariantError: there are fewer.
    """
    if start + size > len(data):
        raise VariantError(f"malformed variant: {size} bytes at {start} are not within the {len(data)} there are")
    return data[start : start + size]


def number(data: bytes, start: int, size: int) -> int:
    """An unsigned number.

    Raises:
        VariantError: the bytes end before.
    """
    return int.from_bytes(part(data, start, size), "little")


def text(data: bytes) -> str:
    """UTF-8.

    Raises:
        VariantError: it is not.
    """
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        raise VariantError(f"malformed variant: a text is not UTF-8: {error}") from None


def check_version(metadata: bytes) -> None:
    """Refuses metadata of another version.

    Raises:
        VariantError: it is empty, or not of version 1.
    """
    version = number(metadata, 0, 1) & 0x0F
    if version != VERSION:
        raise VariantError(f"unsupported variant metadata version: {version}")


def key_of(metadata: bytes, index: int) -> str:
    """A key of the dictionary.

    Raises:
        VariantError: there is none, or it is malformed.
    """
    width = (number(metadata, 0, 1) >> 6) + 1
    count = number(metadata, 1, width)
    if index >= count:
        raise VariantError(f"malformed variant: key {index} of a dictionary of {count}")
    place = 1 + (index + 1) * width
    start, end = number(metadata, place, width), number(metadata, place + width, width)
    if start > end:
        raise VariantError("malformed variant: a key ends before it begins")
    return text(part(metadata, 1 + (count + 2) * width + start, end - start))


def type_at(value: bytes, at: int) -> VariantType:
    """The type of the value that begins here.

    Raises:
        VariantError: nothing begins here, or something unknown.
    """
    first = number(value, at, 1)
    basic, code = first & 3, first >> 2
    if basic == Basic.PRIMITIVE:
        if code not in PRIMITIVES:
            raise VariantError(f"unknown variant primitive type: {code}")
        return PRIMITIVES[code][0]
    if basic == Basic.SHORT_STRING:
        return VariantType.STRING
    return VariantType.OBJECT if basic == Basic.OBJECT else VariantType.ARRAY


class Scalar(NamedTuple):
    """A primitive or a string: its type, what follows its first byte (and its length), and its size with these."""

    type: VariantType
    data: bytes
    size: int


def scalar_at(value: bytes, at: int) -> Scalar:
    """The primitive or string that begins here.

    Raises:
        VariantError: there is none, or its end is missing.
    """
    kind = type_at(value, at)
    first = value[at]
    if first & 3 == Basic.SHORT_STRING:
        return Scalar(kind, part(value, at + 1, first >> 2), 1 + (first >> 2))
    if first & 3 != Basic.PRIMITIVE:
        raise VariantError(f"the variant is {kind.value}, no single value")
    size = PRIMITIVES[first >> 2][1]
    if size == WITH_LENGTH:
        size = number(value, at + 1, 4)
        return Scalar(kind, part(value, at + 5, size), 5 + size)
    return Scalar(kind, part(value, at + 1, size), 1 + size)


class Container(NamedTuple):
    """An object (with keys) or an array: how many values, how wide its numbers are, and where they begin."""

    value: bytes
    length: int
    key_width: int
    offset_width: int
    keys_at: int
    offsets_at: int
    data_at: int

    def key(self, index: int) -> int:
        """The index of a field's key in the dictionary."""
        return number(self.value, self.keys_at + index * self.key_width, self.key_width)

    def child(self, index: int) -> int:
        """The position of a field's or an element's value."""
        return self.data_at + number(self.value, self.offsets_at + index * self.offset_width, self.offset_width)


def container_at(value: bytes, at: int, kind: VariantType) -> Container:
    """The object or array that begins here; its numbers are all within the bytes.

    Raises:
        VariantError: there is none of this type, or its numbers go beyond the end.
    """
    found = type_at(value, at)
    if found is not kind:
        raise VariantError(f"the variant is {found.value}, not {kind.value}")
    bits = value[at] >> 2
    offset_width = (bits & 3) + 1
    key_width = (bits >> 2 & 3) + 1 if kind is VariantType.OBJECT else 0
    is_large = bits >> (4 if kind is VariantType.OBJECT else 2) & 1
    count_size = 4 if is_large else 1
    count = number(value, at + 1, count_size)
    keys_at = at + 1 + count_size
    offsets_at = keys_at + count * key_width
    data_at = offsets_at + (count + 1) * offset_width
    if data_at > len(value):
        raise VariantError(f"malformed variant: {count} values do not fit into {len(value)} bytes")
    return Container(value, count, key_width, offset_width, keys_at, offsets_at, data_at)
