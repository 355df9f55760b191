"""Applies a transform to the fields of a Protobuf message, by the tags in the registered schema's options.

Must not know of rules' languages. The message given is not changed: a copy is. Fields of the schema and of the message
are matched by number, so a renamed field is found. Source: Confluent's data contracts for Protobuf
(`confluent.field_meta`).
"""

from __future__ import annotations

from typing import Any, Final

from registry import RuleKind
from serdes.rules.model import FieldTransform, FieldTransformer, FieldType, RuleConditionError, RuleContext

__all__ = ["field_tags", "field_transformer"]

WRAPPERS: Final = frozenset(
    f"google.protobuf.{kind}Value"
    for kind in ("String", "Bytes", "Int32", "Int64", "UInt32", "UInt64", "Float", "Double", "Bool")
)
SINGLE: Final = frozenset({"google.protobuf.Timestamp", "google.protobuf.Duration"})
"""Messages that stand for one value."""
TYPES: Final = {
    "CPPTYPE_INT32": FieldType.INT,
    "CPPTYPE_UINT32": FieldType.LONG,
    "CPPTYPE_INT64": FieldType.LONG,
    "CPPTYPE_UINT64": FieldType.LONG,
    "CPPTYPE_DOUBLE": FieldType.DOUBLE,
    "CPPTYPE_FLOAT": FieldType.FLOAT,
    "CPPTYPE_BOOL": FieldType.BOOLEAN,
    "CPPTYPE_ENUM": FieldType.ENUM,
    "CPPTYPE_STRING": FieldType.STRING,
    "CPPTYPE_MESSAGE": FieldType.RECORD,
}


def field_transformer(descriptor: Any) -> FieldTransformer:
    """How a transform is applied to messages of a registered type (`google.protobuf.descriptor.Descriptor`)."""

    def apply(ctx: RuleContext, transform: FieldTransform, message: Any) -> Any:
        made = type(message)()
        made.CopyFrom(message)
        _walk(ctx, descriptor, made, transform)
        return made

    return apply


def field_tags(field: Any) -> frozenset[str]:
    """The tags in a field's options: field 3 (`tags`) of the extension 1088 (`confluent.field_meta`)."""
    return _tags_of(field.GetOptions().SerializeToString())


META: Final = 1088
META_TAGS: Final = 3


def _tags_of(options: bytes) -> frozenset[str]:
    """Reads the tags off the encoded options: the extension need not be known to this process' Protobuf."""
    metas = [body for number, body in _fields(options) if number == META]
    found = [body for meta in metas for number, body in _fields(meta) if number == META_TAGS]
    return frozenset(body.decode("utf-8", "replace") for body in found)


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


def _walk(ctx: RuleContext, registered: Any, message: Any, transform: FieldTransform) -> None:
    for field in message.DESCRIPTOR.fields:
        known = registered.fields_by_number.get(field.number)
        if known is None or (field.has_presence and not message.HasField(field.name)):
            continue  # no tags, or no value
        kind = _type(field)
        ctx.enter_field(message, known.full_name, known.name, kind, field_tags(known), field)
        try:
            _walk_field(ctx, known, field, message, transform)
        finally:
            ctx.exit_field()


def _walk_field(ctx: RuleContext, known: Any, field: Any, message: Any, transform: FieldTransform) -> None:
    value = getattr(message, field.name)
    if _is_map(field):
        child = known.message_type.fields_by_name["value"].message_type if _is_map(known) else None
        for key in list(value):
            result = _one(ctx, child, value[key], transform)
            if result is not value[key] and not _is_message(result):
                value[key] = result
    elif _is_repeated(field):
        results = [_one(ctx, known.message_type, item, transform) for item in value]
        if not results or not _is_message(results[0]):
            del value[:]
            value.extend(results)
    else:
        result = _one(ctx, known.message_type, value, transform)
        if not _is_message(result):
            _store(message, field, result)


def _one(ctx: RuleContext, registered: Any, value: Any, transform: FieldTransform) -> Any:
    """One value: a message is walked in place, anything else is transformed; conditions change nothing."""
    if _is_message(value) and value.DESCRIPTOR.full_name in WRAPPERS:
        return _wrapped(ctx, value, transform)
    if _is_message(value) and value.DESCRIPTOR.full_name not in SINGLE:
        if registered is not None:
            _walk(ctx, registered, value, transform)
        return value
    entered = ctx.current_field()
    if entered is None or not ctx.is_tagged(entered):
        return value
    if entered.field_type is FieldType.MAP:
        entered.field_type = _type_of(value, entered.field_type)
    result = transform(ctx, entered, value)
    if ctx.rule.kind is not RuleKind.CONDITION:
        return result
    if result is False:
        raise RuleConditionError(ctx.rule)
    return value


def _wrapped(ctx: RuleContext, wrapper: Any, transform: FieldTransform) -> Any:
    """Transforms the value in a wrapper message, in place."""
    entered = ctx.current_field()
    if entered is not None:
        entered.field_type = _type(wrapper.DESCRIPTOR.fields_by_name["value"])
    result = _one(ctx, None, wrapper.value, transform)
    if ctx.rule.kind is not RuleKind.CONDITION:
        wrapper.value = result
    return wrapper


def _type_of(value: Any, otherwise: FieldType) -> FieldType:
    """The type of a map's value, by what it is."""
    kinds = ((bool, FieldType.BOOLEAN), (int, FieldType.LONG), (float, FieldType.DOUBLE))
    more = ((str, FieldType.STRING), (bytes, FieldType.BYTES))
    return next((kind for python, kind in kinds + more if isinstance(value, python)), otherwise)


def _store(message: Any, field: Any, value: Any) -> None:
    if field.message_type is None:
        setattr(message, field.name, value)
    elif field.message_type.full_name == "google.protobuf.Duration":
        getattr(message, field.name).FromTimedelta(value)
    else:
        getattr(message, field.name).FromDatetime(value)


def _type(field: Any) -> FieldType:
    if _is_map(field):
        return FieldType.MAP
    if _is_repeated(field) and field.message_type is not None:
        return FieldType.ARRAY
    if field.type == field.TYPE_BYTES:
        return FieldType.BYTES
    names = (name for name in TYPES if field.cpp_type == getattr(field, name))
    return TYPES[next(names)]


def _is_map(field: Any) -> bool:
    return field.message_type is not None and bool(field.message_type.GetOptions().map_entry)


def _is_repeated(field: Any) -> bool:
    known = getattr(field, "is_repeated", None)  # protobuf 6 and later
    return bool(field.label == field.LABEL_REPEATED if known is None else known)


def _is_message(value: Any) -> bool:
    return hasattr(value, "DESCRIPTOR")
