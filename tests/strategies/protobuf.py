"""Protobuf schemas with everything the language has, and payloads for them: from a seed, for parity of two decoders.

A schema is a `.proto` text of one syntax; its root is the first message type. Payloads come from messages of
`google.protobuf`, in parts and out of order where that means the same, and damaged.
"""

from __future__ import annotations

import random
from typing import Any

from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message_factory import GetMessageClass

from registry import Schema
from serdes.formats.protobuf.codec import ProtobufSchema, load

__all__ = ["damaged", "message", "parsed", "payload", "schema_text"]

NUMBERS = ["double", "float", "int32", "int64", "uint32", "uint64", "sint32", "sint64"]
SCALARS = [*NUMBERS, "fixed32", "fixed64", "sfixed32", "sfixed64", "bool", "string", "bytes"]
KEYS = [kind for kind in SCALARS if kind not in ("double", "float", "bytes")]
WRAPPERS = ["Double", "Float", "Int64", "UInt64", "Int32", "UInt32", "Bool", "String", "Bytes"]
KNOWN = [f"google.protobuf.{name}Value" for name in WRAPPERS] + [
    "google.protobuf.Timestamp",
    "google.protobuf.Duration",
]
OPEN_CONTENT = [f"google.protobuf.{name}" for name in ("Struct", "Value", "ListValue", "Any")]
HEADS = {
    "proto2": 'syntax = "proto2";',
    "proto3": 'syntax = "proto3";',
    "2023": 'edition = "2023";',
}
IMPORTS = "".join(
    f'import "google/protobuf/{name}.proto";' for name in ("wrappers", "timestamp", "duration", "struct", "any")
)


def schema_text(seed: random.Random) -> str:
    """A schema: an outer message type, nested ones and enums behind it."""
    syntax = seed.choice(sorted(HEADS))
    inner = [f"In{at}" for at in range(seed.randint(0, 2))]
    parts = [_message(seed, syntax, name, inner[:at], 1) for at, name in enumerate(inner)]
    root = _message(seed, syntax, "Root", inner, 0)
    closed = "option features.enum_type = CLOSED;" if syntax == "2023" and seed.random() < 0.5 else ""
    enum = f"enum Color {{ {closed} NONE = 0; RED = 1; GREEN = 2; FAR = 70000; BELOW = -3; }}"
    return "\n".join([HEADS[syntax], "package gen;", IMPORTS, root, *parts, enum])


def _message(seed: random.Random, syntax: str, name: str, inner: list[str], level: int) -> str:
    numbers = seed.sample([*range(1, 40), 1000, 1024, 5000, 2**29 - 1], seed.randint(0 if level else 1, 9 - 4 * level))
    fields = [_field(seed, syntax, f"f{at}", number, inner) for at, number in enumerate(numbers)]
    one = [number for number in (50, 51, 52) if seed.random() < 0.4]
    if one:
        kinds = [_type(seed, inner) for _ in one]
        members = "".join(f"{kind} o{at} = {number};" for at, (kind, number) in enumerate(zip(kinds, one, strict=True)))
        fields.append(f"oneof choice {{ {members} }}")
    return f"message {name} {{ {' '.join(fields)} }}"


def _type(seed: random.Random, inner: list[str]) -> str:
    among = [*SCALARS, "Color", *inner, *inner, seed.choice(KNOWN)]
    return seed.choice(OPEN_CONTENT) if seed.random() < 0.05 else seed.choice(among)


def _field(seed: random.Random, syntax: str, name: str, number: int, inner: list[str]) -> str:
    drawn = seed.random()
    kind = _type(seed, inner)
    if drawn < 0.15:
        return f"map<{seed.choice(KEYS)}, {kind}> {name} = {number};"
    scalar = kind in SCALARS or kind == "Color"
    packable = scalar and kind not in ("string", "bytes")
    packed = f" [packed={seed.choice(['true', 'false'])}]" if packable else ""
    if syntax == "proto2":
        if drawn < 0.25:
            label = seed.choice(["optional", "repeated"])
            return f"{label} group G{name} = {number} {{ optional int32 x = 1; repeated string y = 2; }}"
        if drawn < 0.5:
            return f"repeated {kind} {name} = {number}{packed};"
        return f"{'required' if drawn > 0.9 else 'optional'} {kind} {name} = {number};"
    if syntax == "proto3":
        if drawn < 0.45:
            return f"repeated {kind} {name} = {number}{packed};"
        return f"{'optional ' if drawn > 0.7 else ''}{kind} {name} = {number};"
    if drawn < 0.4:
        return f"repeated {kind} {name} = {number};"
    if kind in inner:
        encoding = seed.choice(["DELIMITED", "LENGTH_PREFIXED"])
        return f"{kind} {name} = {number} [features.message_encoding = {encoding}];"
    presence = seed.choice(["EXPLICIT", "IMPLICIT", "LEGACY_REQUIRED"] if scalar and kind != "Color" else ["EXPLICIT"])
    return f"{kind} {name} = {number} [features.field_presence = {presence}];"


def parsed(text: str) -> ProtobufSchema:
    """The schema of a text."""
    return load(Schema(text, "PROTOBUF"))


# --- values


def message(seed: random.Random, descriptor: Any, depth: int = 0) -> Any:
    """A message with some of its fields set."""
    made: Any = GetMessageClass(descriptor)()
    for field in descriptor.fields:
        if field.is_required or seed.random() < 0.7:
            _set(seed, made, field, depth)
    return made


def _set(seed: random.Random, made: Any, field: Any, depth: int) -> None:
    of_message = field.message_type
    if of_message is not None and of_message.GetOptions().map_entry:
        key, value = of_message.fields
        for _ in range(seed.randint(0, 3)):
            held = getattr(made, field.name)
            if value.message_type is not None:
                held[_scalar(seed, key)].MergeFrom(_inner(seed, value.message_type, depth))
            else:
                held[_scalar(seed, key)] = _scalar(seed, value)
    elif of_message is not None:
        for _ in range(seed.randint(0, 3) if field.is_repeated else 1):
            target = getattr(made, field.name)
            (target.add() if field.is_repeated else target).MergeFrom(_inner(seed, of_message, depth))
            if not field.is_repeated:
                target.SetInParent()
    elif field.is_repeated:
        getattr(made, field.name).extend(_scalar(seed, field) for _ in range(seed.randint(0, 5)))
    else:
        setattr(made, field.name, _scalar(seed, field))


def _inner(seed: random.Random, descriptor: Any, depth: int) -> Any:
    if descriptor.full_name.startswith("google.protobuf."):
        return _known(seed, descriptor)
    return message(seed, descriptor, depth + 1)


def _known(seed: random.Random, descriptor: Any) -> Any:
    made: Any = GetMessageClass(descriptor)()
    name = descriptor.name
    if name in ("Timestamp", "Duration"):
        made.seconds = seed.choice([0, 1, 1_700_000_000, seed.randint(0, 9_000_000_000)])
        made.nanos = seed.choice([0, 5, 999_999_999, seed.randint(0, 999_999_999)])
    elif name == "Struct":
        made.update({"a": 1.5, "b": ["x", None, True], "c": {"d": seed.randint(0, 9)}})
    elif name == "ListValue":
        made.extend([1, "zwei", None])
    elif name == "Value":
        made.string_value = "ä\U0001f600"
    elif name == "Any":
        made.type_url, made.value = f"type.example/{seed.choice(['gen.Color', 'not.There'])}", b"\x08\x01"
    elif name != "Empty":
        made.value = _scalar(seed, descriptor.fields_by_name["value"])
    return made


def _scalar(seed: random.Random, field: Any) -> Any:
    kind = field.cpp_type
    if kind == FieldDescriptor.CPPTYPE_ENUM:
        known = [value.number for value in field.enum_type.values]
        return seed.choice(known if field.enum_type.is_closed else [*known, 7, -9])
    if kind == FieldDescriptor.CPPTYPE_BOOL:
        return seed.random() < 0.5
    if kind == FieldDescriptor.CPPTYPE_STRING:
        if field.type == FieldDescriptor.TYPE_BYTES:
            return seed.randbytes(seed.choice([0, 1, 5, 200]))
        return seed.choice(["", "a", "long " * 30, "äöü\u20ac", "\U0001f600", "key"])
    if kind in (FieldDescriptor.CPPTYPE_DOUBLE, FieldDescriptor.CPPTYPE_FLOAT):
        return seed.choice([0.0, -0.0, 1.5, -2.25, float("inf"), 0.5])
    bits = 32 if kind in (FieldDescriptor.CPPTYPE_INT32, FieldDescriptor.CPPTYPE_UINT32) else 64
    unsigned = kind in (FieldDescriptor.CPPTYPE_UINT32, FieldDescriptor.CPPTYPE_UINT64)
    low, high = (0, 2**bits - 1) if unsigned else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)
    return seed.choice([0, 1, low, high, max(low, -5), 300, seed.randint(low, high)])


# --- payloads


def payload(seed: random.Random, descriptor: Any) -> bytes:
    """A payload: one message, or two that are merged by whoever reads them, with an unknown field between."""
    data: bytes = message(seed, descriptor).SerializePartialToString()
    if seed.random() < 0.3:
        unknown = seed.choice([b"", b"\xfa\x3f\x02hi", b"\xfb\x3f\x08\x01\xfc\x3f", b"\xf8\x3f\xff\x01"])
        data += unknown + message(seed, descriptor).SerializePartialToString()
    return data


def damaged(seed: random.Random, data: bytes) -> bytes:
    """A payload with some bytes changed, cut, doubled or swapped."""
    made = bytearray(data)
    for _ in range(seed.randint(1, 3)):
        at = seed.randint(0, len(made))
        way = seed.randint(0, 4)
        if way == 0 and made:
            made[min(at, len(made) - 1)] ^= 1 << seed.randint(0, 7)
        elif way == 1:
            del made[at : at + seed.choice([1, 1, 4, 1000])]
        elif way == 2:
            made[at:at] = seed.randbytes(seed.choice([1, 2, 9]))
        elif way == 3:
            made[at:at] = made[at : at + seed.randint(1, 12)]
        elif made:
            made[min(at, len(made) - 1)] = seed.choice([0, 0x7F, 0x80, 0xFF, 0x0B, 0x0C])
    return bytes(made)
