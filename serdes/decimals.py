"""`decimal.Decimal` and the Protobuf message `confluent.type.Decimal`, each made of the other.

Must not know of serializers. Names are those of `confluent_kafka.schema_registry.protobuf` and its `decimal_utils`. The
message is that of the built-in `confluent/type/decimal.proto`: the unscaled number as two's complement, big-endian, in
as few bytes as it takes, its number of digits, and how many of them are behind the point.
"""

from __future__ import annotations

import decimal
from typing import Any, Final

from serdes import confluent_types

__all__ = ["decimal_to_protobuf", "from_proto_decimal", "to_proto_decimal", "unscaled_to_bytes"]

EXACT: Final = decimal.Context(prec=decimal.MAX_PREC, Emax=decimal.MAX_EMAX, Emin=decimal.MIN_EMIN)
DIGITS: Final = 100_000
"""The most digits of a number: an exponent of a billion would be written out."""


Decimal: Final[Any] = confluent_types.message_class(
    "Decimal",
    (("value", confluent_types.BYTES), ("precision", confluent_types.UINT32), ("scale", confluent_types.INT32)),
)
"""The message's class: `value`, `precision`, `scale`."""
DESCRIPTOR: Final = Decimal.DESCRIPTOR.file


def unscaled_to_bytes(unscaled: int) -> bytes:
    """A whole number as two's complement, big-endian, in as few bytes as it takes (one for 0)."""
    size_bytes = (unscaled if unscaled >= 0 else ~unscaled).bit_length() // 8 + 1
    return unscaled.to_bytes(size_bytes, "big", signed=True)


def to_proto_decimal(d: decimal.Decimal) -> Any:
    """A message that holds the number with its own scale, which is negative for `1E+2`.

    Raises:
        ValueError: it is not finite.
    """
    sign, digits, exponent = d.as_tuple()
    if not isinstance(exponent, int):
        raise ValueError(f"cannot convert non-finite Decimal {str(d)!r} to confluent.type.Decimal")
    unscaled = int(decimal.Decimal((sign, digits, 0)))
    return Decimal(value=unscaled_to_bytes(unscaled), precision=len(digits), scale=-exponent)


def decimal_to_protobuf(value: decimal.Decimal, scale: int) -> Any:
    """A message that holds the number with this scale.

    Raises:
        ValueError: it is not finite, has more digits behind the point, or more than 100,000 in all.
    """
    _, digits, exponent = value.as_tuple()
    if not isinstance(exponent, int):
        raise ValueError(f"cannot convert non-finite Decimal {str(value)!r} to confluent.type.Decimal")
    if scale < -exponent:
        raise ValueError(f"Scale provided does not match the decimal: {value} has {-exponent} digits behind the point")
    if len(digits) + exponent + scale > DIGITS:
        raise ValueError(f"a decimal of more than {DIGITS} digits")
    return to_proto_decimal(value.quantize(decimal.Decimal((0, (1,), -scale)), context=EXACT))


def from_proto_decimal(msg: Any) -> decimal.Decimal:
    """The number in a message, exactly; its `precision` is ignored."""
    unscaled = int.from_bytes(msg.value, "big", signed=True)
    return decimal.Decimal(unscaled).scaleb(-msg.scale, context=EXACT)


protobuf_to_decimal = from_proto_decimal
