"""The hash of a text in Java, for what servers written in Java decide by it.

Must not know what is decided. Source: `java.lang.String.hashCode`.
"""

from __future__ import annotations


def java_hash(text: str) -> int:
    """`String.hashCode()` as an unsigned number of 32 bits."""
    units = text.encode("utf-16-be", "surrogatepass")
    value = 0
    for high, low in zip(units[::2], units[1::2], strict=True):
        value = (value * 31 + (high << 8) + low) & 0xFFFFFFFF
    return value
