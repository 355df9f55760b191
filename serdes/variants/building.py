"""Variants made of single values, and of JSON texts.

Numbers take as few bytes as they need; an object's fields are in the order of their keys, as the encoding asks for.
"""

from __future__ import annotations

import decimal
import json
import struct
import uuid
from collections.abc import Callable, Iterator
from typing import Any, Final

from serdes.variants.encoding import DECIMALS, DEPTH, MOST_SHORT, VERSION, Basic, Code, VariantError
from serdes.variants.reading import Variant

MOST_TEXT: Final = 32 * 1024 * 1024
"""The most characters of a JSON text; a variant has at most half as many bytes."""


def _width(number: int) -> int:
    return max(1, (number.bit_length() + 7) // 8)


class _Open:
    """An object or an array that is being filled: where it begins, and its values' places after that."""

    def __init__(self, start: int, is_object: bool) -> None:
        self.start = start
        self.offsets: list[int] = []
        self.is_object = is_object
        self.keys: dict[str, int] = {}  # in the order of offsets, with their places in the dictionary
        self.waits = False  # a key for its value


class VariantBuilder:
    """Writes a variant value by value.

    Each `append` fills the next place: the variant itself, the next element of an array that was started, or the field
    whose key was given by `append_key`. A call that raises changes nothing.

    Args:
        size_limit: how many bytes the value, and the dictionary of keys, may have.

    Raises:
        VariantError: from methods: there is no place for a value, it can't be held, or the limit is reached.
    """

    DEFAULT_SIZE_LIMIT = 16 * 1024 * 1024

    def __init__(self, size_limit: int = DEFAULT_SIZE_LIMIT) -> None:
        self.size_limit = min(size_limit, 2**32 - 1)
        self._value = bytearray()
        self._dictionary: dict[str, int] = {}
        self._keys = bytearray()
        self._ends: list[int] = []  # of the keys
        self._open: list[_Open] = []

    def build(self) -> Variant:
        """The variant.

        Raises:
            VariantError: nothing was written, or an object or array is still open.
        """
        if self._open or not self._value:
            raise VariantError("an object or array is still open" if self._open else "nothing was written")
        width = _width(max(len(self._keys), len(self._ends)))
        numbers = [len(self._ends), 0, *self._ends]
        metadata = bytes([VERSION | width - 1 << 6]) + _packed(numbers, width) + self._keys
        if len(metadata) > self.size_limit:
            raise VariantError(f"a dictionary of more than {self.size_limit:,} bytes")
        return Variant(bytes(self._value), metadata)

    # --- places

    def _place(self, size: int) -> None:
        """Takes the next place for so many bytes."""
        if len(self._value) + size > self.size_limit:
            raise VariantError(f"a variant of more than {self.size_limit:,} bytes")
        if not self._open:
            if self._value:
                raise VariantError("the variant has its value already")
            return
        inner = self._open[-1]
        if inner.is_object and not inner.waits:
            raise VariantError("a value of an object comes after its key")
        inner.waits = False
        inner.offsets.append(len(self._value) - inner.start)

    def _put(self, code: int, data: bytes = b"") -> None:
        self._place(1 + len(data))
        self._value.append(code << 2 | Basic.PRIMITIVE)
        self._value += data

    def _put_int(self, code: int, number: int, size: int) -> None:
        try:
            data = int(number).to_bytes(size, "little", signed=True)
        except OverflowError:
            raise VariantError(f"{number} does not fit into {size} bytes") from None
        self._put(code, data)

    # --- single values

    def append_null(self) -> None:
        """Null."""
        self._put(Code.NULL)

    def append_boolean(self, b: bool) -> None:
        """True or false."""
        self._put(Code.TRUE if b else Code.FALSE)

    def append_byte(self, value: int) -> None:
        """A number of 8 bits."""
        self._put_int(Code.INT1, value, 1)

    def append_short(self, value: int) -> None:
        """A number of 16 bits."""
        self._put_int(Code.INT2, value, 2)

    def append_int(self, value: int) -> None:
        """A number of 32 bits."""
        self._put_int(Code.INT4, value, 4)

    def append_long(self, value: int) -> None:
        """A number of 64 bits."""
        self._put_int(Code.INT8, value, 8)

    def append_float(self, value: float) -> None:
        """A number of 32 bits with a fraction."""
        try:
            self._put(Code.FLOAT, struct.pack("<f", value))
        except OverflowError:
            raise VariantError(f"{value} does not fit into a float of 32 bits") from None

    def append_double(self, value: float) -> None:
        """A number of 64 bits with a fraction."""
        self._put(Code.DOUBLE, struct.pack("<d", value))

    def append_decimal(self, unscaled: decimal.Decimal | bytes | int, scale: int | None = None) -> None:
        """A decimal; or an unscaled number, or its bytes (two's complement, big-endian), and a scale."""
        if isinstance(unscaled, decimal.Decimal):
            if scale is not None:
                raise VariantError("a Decimal has its own scale")
            sign, digits, exponent = unscaled.as_tuple()
            if not isinstance(exponent, int) or len(digits) > DECIMALS[-1][3]:
                raise VariantError("a decimal of a variant is finite, with at most 38 digits")
            unscaled, scale = int(decimal.Decimal((sign, digits, 0))), -exponent
        elif isinstance(unscaled, (bytes, bytearray)):
            unscaled = int.from_bytes(unscaled, "big", signed=True)
        if scale is None or not isinstance(unscaled, int):
            raise VariantError("a decimal is a Decimal, or an int or bytes and a scale")
        for _, code, size, most in DECIMALS:
            if abs(unscaled) < 10**most and 0 <= scale <= most:
                self._put(code, bytes([scale]) + unscaled.to_bytes(size, "little", signed=True))
                return
        raise VariantError("a decimal of a variant has at most 38 digits, and a scale of 0 to 38")

    def append_string(self, s: str) -> None:
        """A text."""
        data = _encoded(s)
        if len(data) > MOST_SHORT:
            self._put(Code.LONG_STRING, len(data).to_bytes(4, "little") + data)
            return
        self._place(1 + len(data))
        self._value.append(len(data) << 2 | Basic.SHORT_STRING)
        self._value += data

    def append_binary(self, data: bytes) -> None:
        """Bytes."""
        self._put(Code.BINARY, len(data).to_bytes(4, "little") + bytes(data))

    def append_uuid(self, value: uuid.UUID | bytes) -> None:
        """A UUID, or its 16 bytes."""
        data = value.bytes if isinstance(value, uuid.UUID) else bytes(value)
        if len(data) != 16:
            raise VariantError("a UUID has 16 bytes")
        self._put(Code.UUID, data)

    def append_date(self, days_since_epoch: int) -> None:
        """A date, as days since 1970-01-01."""
        self._put_int(Code.DATE, days_since_epoch, 4)

    def append_time(self, micros_since_midnight: int) -> None:
        """A time of day, in microseconds."""
        self._put_int(Code.TIME, micros_since_midnight, 8)

    def append_timestamp_tz(self, micros: int) -> None:
        """A point in time, as microseconds since 1970."""
        self._put_int(Code.TIMESTAMP_TZ, micros, 8)

    def append_timestamp_ntz(self, micros: int) -> None:
        """A date and time without a zone, as microseconds since 1970."""
        self._put_int(Code.TIMESTAMP_NTZ, micros, 8)

    def append_timestamp_nanos_tz(self, nanos: int) -> None:
        """A point in time, as nanoseconds since 1970."""
        self._put_int(Code.TIMESTAMP_NANOS_TZ, nanos, 8)

    def append_timestamp_nanos_ntz(self, nanos: int) -> None:
        """A date and time without a zone, as nanoseconds since 1970."""
        self._put_int(Code.TIMESTAMP_NANOS_NTZ, nanos, 8)

    # --- objects and arrays

    def _start(self, is_object: bool) -> None:
        if len(self._open) >= DEPTH:
            raise VariantError(f"a variant of more than {DEPTH:,} levels")
        self._place(3)
        self._open.append(_Open(len(self._value), is_object))

    def start_object(self) -> None:
        """An object, up to `end_object()`."""
        self._start(is_object=True)

    def append_key(self, key: str) -> None:
        """The key of the next value.

        Raises:
            VariantError: no object is open, the last key has no value yet, or the object has this key already.
        """
        inner = self._open[-1] if self._open else None
        if inner is None or not inner.is_object or inner.waits:
            raise VariantError("a key belongs into an object, before its value")
        if key in inner.keys:
            raise VariantError(f"the object has the key {key!r} already")
        if key not in self._dictionary:
            data = _encoded(key)
            if len(self._keys) + len(data) > self.size_limit:
                raise VariantError(f"a dictionary of more than {self.size_limit:,} bytes")
            self._dictionary[key] = len(self._ends)
            self._keys += data
            self._ends.append(len(self._keys))
        inner.keys[key] = self._dictionary[key]
        inner.waits = True

    def end_object(self) -> None:
        """The end of an object."""
        inner = self._last(is_object=True)
        order = sorted(range(len(inner.offsets)), key=list(inner.keys).__getitem__)
        keys = list(inner.keys.values())
        key_width = _width(max(keys, default=0))
        packed = _packed([keys[index] for index in order], key_width)
        self._close(inner, Basic.OBJECT, [inner.offsets[index] for index in order], packed, key_width)

    def start_array(self) -> None:
        """An array, up to `end_array()`."""
        self._start(is_object=False)

    def end_array(self) -> None:
        """The end of an array."""
        inner = self._last(is_object=False)
        self._close(inner, Basic.ARRAY, inner.offsets)

    def _last(self, is_object: bool) -> _Open:
        inner = self._open[-1] if self._open else None
        if inner is None or inner.is_object is not is_object or inner.waits:
            raise VariantError("there is nothing to end, or a key has no value")
        return inner

    def _close(self, inner: _Open, basic: int, offsets: list[int], keys: bytes = b"", key_width: int = 1) -> None:
        """Writes the numbers before the values, and leaves the object or array."""
        size = len(self._value) - inner.start
        width, is_large = _width(size), len(offsets) > 255
        bits = width - 1 | (key_width - 1 << 2 | is_large << 4 if basic == Basic.OBJECT else is_large << 2)
        count = len(offsets).to_bytes(4 if is_large else 1, "little")
        head = bytes([bits << 2 | basic]) + count + keys + _packed([*offsets, size], width)
        if len(self._value) + len(head) > self.size_limit:
            raise VariantError(f"a variant of more than {self.size_limit:,} bytes")
        self._value[inner.start : inner.start] = head
        self._open.pop()


def _packed(numbers: list[int], width: int) -> bytes:
    return b"".join(number.to_bytes(width, "little") for number in numbers)


def _encoded(s: str) -> bytes:
    try:
        return s.encode()
    except UnicodeEncodeError as error:
        raise VariantError(f"a text that is no Unicode: {error}") from None


# --- of JSON


def parse_json(json_str: str) -> Variant:
    """The variant of a JSON text.

    Numbers with a fraction or an exponent become doubles, others as narrow as they are; those of more than 64 bits
    decimals. Of a key that comes twice the last value counts.

    Raises:
        VariantError: it is not JSON, nested too deep, longer than 32 Mi characters, or holds what no variant can hold.
    """
    if len(json_str) > MOST_TEXT:
        raise VariantError(f"a JSON text of more than {MOST_TEXT:,} characters")
    try:
        tree = json.loads(json_str)
    except RecursionError:
        raise VariantError("the JSON text is nested too deep") from None
    except ValueError as error:
        raise VariantError(f"not JSON: {error}") from None
    builder = VariantBuilder()
    left: list[tuple[Iterator[tuple[str | None, Any]], Callable[[], None]]] = [(iter([(None, tree)]), lambda: None)]
    while left:
        items, end = left[-1]
        for key, item in items:
            if key is not None:
                builder.append_key(key)
            if isinstance(item, dict):
                builder.start_object()
                left.append((iter(item.items()), builder.end_object))
                break
            if isinstance(item, list):
                builder.start_array()
                left.append((((None, one) for one in item), builder.end_array))
                break
            _append(builder, item)
        else:
            end()
            left.pop()
    return builder.build()


def _append(builder: VariantBuilder, item: Any) -> None:
    if item is None:
        builder.append_null()
    elif isinstance(item, bool):
        builder.append_boolean(item)
    elif isinstance(item, float):
        builder.append_double(item)
    elif isinstance(item, str):
        builder.append_string(item)
    else:
        _append_int(builder, item)


def _append_int(builder: VariantBuilder, number: int) -> None:
    needed = (number if number >= 0 else ~number).bit_length() // 8 + 1
    for size, append in (
        (1, builder.append_byte),
        (2, builder.append_short),
        (4, builder.append_int),
        (8, builder.append_long),
    ):
        if needed <= size:
            append(number)
            return
    builder.append_decimal(number, 0)
