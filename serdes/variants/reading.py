"""A variant as its reader sees it: its type, its value, its fields and elements, its JSON."""

from __future__ import annotations

import decimal
import struct
import uuid
from typing import Final

from serdes.variants.encoding import (
    Container,
    VariantError,
    VariantType,
    check_version,
    container_at,
    key_of,
    scalar_at,
    text,
    type_at,
)
from serdes.variants.rendering import decimal_of, json_text

FEW: Final = 32
"""Objects with fewer fields are looked through from the first; in others the fields are in the order of their keys."""
WHOLE: Final = (VariantType.BYTE, VariantType.SHORT, VariantType.INT, VariantType.LONG)
DECIMAL: Final = (VariantType.DECIMAL4, VariantType.DECIMAL8, VariantType.DECIMAL16)
STAMPS: Final = (
    VariantType.TIMESTAMP_TZ,
    VariantType.TIMESTAMP_NTZ,
    VariantType.TIMESTAMP_NANOS_TZ,
    VariantType.TIMESTAMP_NANOS_NTZ,
)


class Variant:
    """A value of any shape.

    Fields and elements are variants that share their parent's bytes. Nothing is read before it is asked for: bytes that
    are no variant show when they are. Variants are equal when their bytes are.

    Args:
        value: the value's bytes, or those around it.
        metadata: the dictionary of keys.
        pos: where in `value` it begins.

    Raises:
        VariantError: the metadata is empty or not of version 1; from methods: the bytes are malformed, or the value is
            of another type.
    """

    __slots__ = ("metadata", "pos", "value")

    def __init__(self, value: bytes | bytearray, metadata: bytes | bytearray, pos: int = 0) -> None:
        if pos < 0:
            raise VariantError("a variant can't begin before its bytes")
        self.value = value if isinstance(value, bytes) else bytes(value)
        self.metadata = metadata if isinstance(metadata, bytes) else bytes(metadata)
        self.pos = pos
        check_version(self.metadata)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Variant):
            return NotImplemented
        return (self.metadata, self.standalone_value_bytes()) == (other.metadata, other.standalone_value_bytes())

    def __hash__(self) -> int:
        return hash((self.metadata, self.standalone_value_bytes()))

    def __repr__(self) -> str:
        try:
            return f"<Variant {self.get_type().value}>"
        except VariantError as error:
            return f"<Variant: {error}>"

    def standalone_value_bytes(self) -> bytes:
        """The bytes from the start of the value; those of its parent may follow."""
        return self.value[self.pos :] if self.pos else self.value

    def avro_fields(self) -> dict[str, bytes]:
        """The record of Avro's logical type `variant`."""
        return {"metadata": self.metadata, "value": self.standalone_value_bytes()}

    def get_type(self) -> VariantType:
        """The type of the value."""
        return type_at(self.value, self.pos)

    # --- single values

    def _data(self, *kinds: VariantType) -> bytes:
        """The bytes after the first byte, and the length, of a value of one of these types."""
        found = self.get_type()
        if found not in kinds:
            raise VariantError(f"the variant is {found.value}, not {' or '.join(kind.value for kind in kinds)}")
        return scalar_at(self.value, self.pos).data

    def _int(self, *kinds: VariantType) -> int:
        return int.from_bytes(self._data(*kinds), "little", signed=True)

    def get_boolean(self) -> bool:
        """True or false."""
        self._data(VariantType.BOOLEAN)
        return self.value[self.pos] >> 2 == 1

    def get_byte(self) -> int:
        """A number of 8 bits."""
        return self._int(VariantType.BYTE)

    def get_short(self) -> int:
        """A number of 16 bits or fewer."""
        return self._int(*WHOLE[:2])

    def get_int(self) -> int:
        """A number of 32 bits or fewer."""
        return self._int(*WHOLE[:3])

    def get_long(self) -> int:
        """A whole number; also a date's days, and the microseconds or nanoseconds of a time or a timestamp."""
        return self._int(*WHOLE, VariantType.DATE, VariantType.TIME, *STAMPS)

    def get_float(self) -> float:
        """A number of 32 bits with a fraction."""
        (made,) = struct.unpack("<f", self._data(VariantType.FLOAT))
        return float(made)

    def get_double(self) -> float:
        """A number of 64 bits with a fraction."""
        (made,) = struct.unpack("<d", self._data(VariantType.DOUBLE))
        return float(made)

    def get_decimal(self) -> decimal.Decimal:
        """A decimal, with its scale."""
        return decimal_of(self.get_type(), self._data(*DECIMAL))

    def get_binary(self) -> bytes:
        """Bytes."""
        return self._data(VariantType.BINARY)

    def get_uuid(self) -> uuid.UUID:
        """A UUID."""
        return uuid.UUID(bytes=self._data(VariantType.UUID))

    def get_string(self) -> str:
        """A text."""
        return text(self._data(VariantType.STRING))

    # --- objects and arrays

    def _object(self) -> Container:
        return container_at(self.value, self.pos, VariantType.OBJECT)

    def _array(self) -> Container:
        return container_at(self.value, self.pos, VariantType.ARRAY)

    def _at(self, pos: int) -> Variant:
        return Variant(self.value, self.metadata, pos)

    def num_object_fields(self) -> int:
        """The number of an object's fields."""
        return self._object().length

    def num_array_elements(self) -> int:
        """The number of an array's elements."""
        return self._array().length

    def get_field_by_key(self, key: str) -> Variant | None:
        """An object's field; None if it has no such field."""
        found = self._object()
        low, high = 0, found.length
        while low < high:
            middle = low if found.length < FEW else (low + high) // 2
            known = key_of(self.metadata, found.key(middle))
            if known == key:
                return self._at(found.child(middle))
            if found.length < FEW or known < key:
                low = middle + 1
            else:
                high = middle
        return None

    def get_field_at_index(self, idx: int) -> tuple[str, Variant]:
        """An object's field, by its place, with its key.

        Raises:
            VariantError: there is no such field.
        """
        found = self._object()
        if not 0 <= idx < found.length:
            raise VariantError(f"field {idx} of an object of {found.length}")
        return key_of(self.metadata, found.key(idx)), self._at(found.child(idx))

    def get_element_at_index(self, index: int) -> Variant | None:
        """An array's element; None if it has no such element."""
        found = self._array()
        return self._at(found.child(index)) if 0 <= index < found.length else None

    # --- as JSON

    def to_json(self) -> str:
        """The value as a JSON text.

        Doubles that JSON can't have are written as NaN, Infinity and -Infinity; bytes in base64; times as RFC 3339 has
        them, with seconds and as many groups of three digits as they need.

        Raises:
            VariantError: also for values that share bytes, more than 1,000 levels, a text of more than 128 Mi
                characters, and times outside the years 1 to 9999.
        """
        return json_text(self.value, self.metadata, self.pos)


def from_bytes(value: bytes | bytearray, metadata: bytes | bytearray) -> Variant:
    """The variant of its two byte strings."""
    return Variant(value, metadata)


def to_json_string(variant: Variant) -> str:
    """The variant as a JSON text."""
    return variant.to_json()
