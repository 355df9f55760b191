"""Confluent's options on Protobuf's files, messages, fields and enums: tags and rules.

Must not know of rules' languages. Options are read as bytes: the extensions (1088, `confluent.Meta`) need not be known
to this process' Protobuf. Source: `confluent/meta.proto`.
"""

from __future__ import annotations

from typing import Any, Final

META: Final = 1088
TAGS: Final = 3
RULES: Final = 4


def tags_of(descriptor: Any) -> frozenset[str]:
    """The tags of a field."""
    return frozenset(_text(body) for number, body in _meta(descriptor) if number == TAGS)


def rules_of(descriptor: Any) -> list[list[str]]:
    """The rules of anything that has options, each as the texts of its four fields, empty where a field is not set."""
    found = (dict(_fields(body)) for number, body in _meta(descriptor) if number == RULES)
    return [[_text(parts.get(number, b"")) for number in range(1, 5)] for parts in found]


def _meta(descriptor: Any) -> list[tuple[int, bytes]]:
    options = descriptor.GetOptions().SerializeToString()
    return [part for number, body in _fields(options) if number == META for part in _fields(body)]


def _text(body: bytes) -> str:
    return body.decode("utf-8", "replace")


def _fields(data: bytes) -> list[tuple[int, bytes]]:
    """The length-delimited fields of an encoded message. It comes from our own encoder, so it is well-formed."""
    found, position = [], 0
    while position < len(data):
        tag, position = _varint(data, position)
        kind = tag & 7
        if kind == 0:
            _, position = _varint(data, position)
        elif kind == 2:
            size, position = _varint(data, position)
            found.append((tag >> 3, data[position : position + size]))
            position += size
        else:
            position += 8 if kind == 1 else 4
    return found


def _varint(data: bytes, position: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = data[position]
        value |= (byte & 0x7F) << shift
        position, shift = position + 1, shift + 7
        if byte < 0x80:
            return value, position
