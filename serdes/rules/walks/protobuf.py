"""Applies a transform to the fields of a Protobuf message, by the tags in the registered schema's options.

Must not know of rules' languages. The message given is not changed: a copy is. Fields of the schema and of the message
are matched by number, so a renamed field is found. Extensions are walked, and what is packed in an `Any` if the schema
has its type. Source: Confluent's data contracts for Protobuf (`confluent.field_meta`).
"""

from __future__ import annotations

import datetime
from collections.abc import Iterable
from typing import Any, Final

from google.protobuf.message import DecodeError
from google.protobuf.message_factory import GetMessageClass
from google.protobuf.unknown_fields import UnknownFieldSet

from registry import RuleKind, RuleMode
from serdes.rules.model import FieldTransform, FieldTransformer, FieldType, RuleConditionError, RuleContext, RuleError
from serdes.rules.walks.protobuf_meta import tags_of

WRAPPERS: Final = frozenset(
    f"google.protobuf.{kind}Value"
    for kind in ("String", "Bytes", "Int32", "Int64", "UInt32", "UInt64", "Float", "Double", "Bool")
)
ANY: Final = "google.protobuf.Any"
SINGLE: Final = {
    "google.protobuf.Timestamp": FieldType.LONG,
    "confluent.type.Decimal": FieldType.BYTES,
    "google.protobuf.Duration": FieldType.RECORD,
}
"""Messages that stand for one value, and what rules are told they are."""
TYPES: Final = {
    "CPPTYPE_INT32": FieldType.INT,
    "CPPTYPE_UINT32": FieldType.INT,
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
    """The application of a transform to messages of a registered type (`google.protobuf.descriptor.Descriptor`)."""
    files = imported(descriptor.file)

    def apply(ctx: RuleContext, transform: FieldTransform, message: Any) -> Any:
        made = type(message)()
        made.CopyFrom(message)
        _Walk(ctx, transform, descriptor.file.pool, files).message(descriptor, made)
        return made

    return apply


def imported(file: Any) -> frozenset[str]:
    """The names of a file and of all that it imports, directly or not: what is in the pool beside, no reader knows."""
    found: set[str] = set()
    waiting = [file]
    while waiting:
        one = waiting.pop()
        if one.name not in found:
            found.add(one.name)
            waiting += one.dependencies
    return frozenset(found)


class _Walk:
    """One transform on its way over one message."""

    def __init__(self, ctx: RuleContext, transform: FieldTransform, pool: Any, files: frozenset[str]) -> None:
        self._ctx = ctx
        self._transform = transform
        self._pool = pool
        self._files = files
        self._changes = ctx.rule.kind is not RuleKind.CONDITION

    def message(self, registered: Any, message: Any) -> None:
        """Walks a message of a registered type, in place.

        Raises:
            RuleError: part of it can't be transformed.
        """
        for field in _fields_set(message):
            known = self._known(registered, field)
            if known is None:
                continue  # no tags
            self._ctx.enter_field(message, known.full_name, known.name, type_of(field), tags_of(known), field)
            try:
                self._field(known, field, message)
            finally:
                self._ctx.exit_field()
        if self._changes and self._ctx.rule_mode is RuleMode.WRITE:
            self._refuse_unseen(registered, message)

    def _known(self, registered: Any, field: Any) -> Any:
        if not field.is_extension:
            return registered.fields_by_number.get(field.number)
        return self._extension(registered, field.number)

    def _extension(self, registered: Any, number: int) -> Any:
        try:
            found = self._pool.FindExtensionByNumber(registered, number)
        except KeyError:
            return None
        return found if found.file.name in self._files else None

    def _refuse_unseen(self, registered: Any, message: Any) -> None:
        """A value that only the registered schema has a name for (the producer's class is older) can't be transformed:
        it must not go out in clear.
        """
        unseen: Any = UnknownFieldSet(message)  # a sequence, which its types do not say
        for number in {one.field_number for one in unseen}:
            known = registered.fields_by_number.get(number) or self._extension(registered, number)
            if known is not None and self._is_meant(known, set()):
                raise RuleError(
                    f"the message has a value for {known.full_name}, which its class does not know: rules can't be "
                    "applied to it"
                )

    def _is_meant(self, known: Any, seen: set[str]) -> bool:
        """Whether the rule is for a field, or for one inside it."""
        entered = self._ctx.enter_field(None, known.full_name, known.name, type_of(known), tags_of(known))
        self._ctx.exit_field()
        inner = (known.message_type.fields_by_name["value"] if is_map(known) else known).message_type
        if inner is None or inner.full_name in SINGLE or inner.full_name in WRAPPERS:
            return self._ctx.is_tagged(entered)
        if inner.full_name in seen:
            return False
        seen.add(inner.full_name)
        return any(self._is_meant(field, seen) for field in inner.fields)

    def _field(self, known: Any, field: Any, message: Any) -> None:
        value = message.Extensions[field] if field.is_extension else getattr(message, field.name)
        if is_map(field):
            child = known.message_type.fields_by_name["value"].message_type if is_map(known) else None
            item = field.message_type.fields_by_name["value"]
            entered = self._ctx.current_field()
            if entered is not None:  # the transform is for a value of the map
                entered.field_type, entered.field_descriptor = type_of(item), item
            for key in list(value):
                result = self._one(child, value[key])
                if item.message_type is not None:
                    _store(value[key], result)
                elif self._changes:
                    value[key] = result
        elif is_repeated(field):
            results = [self._one(known.message_type, item) for item in value]
            if field.message_type is None:
                del value[:]
                value.extend(results)
            else:
                for item, result in zip(value, results, strict=True):
                    _store(item, result)
        else:
            result = self._one(known.message_type, value)
            if field.message_type is not None:
                _store(value, result)
            elif self._changes and field.is_extension:
                message.Extensions[field] = result
            elif self._changes:
                setattr(message, field.name, result)

    def _one(self, registered: Any, value: Any) -> Any:
        """One value: a message is walked in place, anything else is transformed; conditions change nothing."""
        name = value.DESCRIPTOR.full_name if _is_message(value) else None
        if name in WRAPPERS:
            return self._wrapped(value)
        if name == ANY:
            return self._packed(value)
        if name is not None and name not in SINGLE:
            if registered is not None:
                self.message(registered, value)
            return value
        entered = self._ctx.current_field()
        if entered is None or not self._ctx.is_tagged(entered):
            return value
        result = self._transform(self._ctx, entered, value)
        if self._changes:
            return result
        if result is False:
            raise RuleConditionError(self._ctx.rule)
        return value

    def _wrapped(self, wrapper: Any) -> Any:
        """Transforms the value in a wrapper message, in place."""
        entered = self._ctx.current_field()
        if entered is not None:
            entered.field_type = type_of(wrapper.DESCRIPTOR.fields_by_name["value"])
        result = self._one(None, wrapper.value)
        if self._changes:
            wrapper.value = result
        return wrapper

    def _packed(self, packed: Any) -> Any:
        """Walks the message in an `Any`, in place."""
        name = packed.type_url.rpartition("/")[2]
        try:
            found = self._pool.FindMessageTypeByName(name)
        except KeyError:
            found = None
        if found is None or found.file.name not in self._files:
            if name and self._changes and not self._ctx.rule.tags:
                raise RuleError(
                    f"rule {self._ctx.rule.name!r} is for all fields, and the schema does not have {name}, which is "
                    "packed in an Any: import its file"
                )
            return packed  # nobody can have tagged its fields
        inner = GetMessageClass(found)()
        try:
            inner.ParseFromString(packed.value)
        except DecodeError as error:
            raise RuleError(f"what is packed in an Any is no {name}") from error
        _store(inner, self._one(found, inner))
        made = inner.SerializeToString(deterministic=True)
        if self._changes and made != packed.value:
            packed.value = made
        return packed


def _fields_set(message: Any) -> Iterable[Any]:
    """The fields that have a value: all without presence, the set ones of the others, and extensions."""
    for field in message.DESCRIPTOR.fields:
        if not field.has_presence or message.HasField(field.name):
            yield field
    for field, _ in message.ListFields():
        if field.is_extension:
            yield field


def _store(message: Any, result: Any) -> None:
    """Gives a message that stands for one value what a transform made of it; others were walked in place.

    Raises:
        RuleError: that does not fit.
    """
    name = message.DESCRIPTOR.full_name
    if _is_message(result):
        if result is not message:
            message.CopyFrom(result)
    elif name == "google.protobuf.Duration" and isinstance(result, datetime.timedelta):
        message.FromTimedelta(result)
    elif name == "google.protobuf.Timestamp" and isinstance(result, datetime.datetime):
        message.FromDatetime(result)
    else:
        raise RuleError(f"the rule gave a {type(result).__name__} for a {name}")


def type_of(field: Any) -> FieldType:
    """The kind of a field, or of its items."""
    if is_map(field):
        return FieldType.MAP
    if field.message_type is not None:
        return SINGLE.get(field.message_type.full_name, FieldType.RECORD)
    if field.type == field.TYPE_BYTES:
        return FieldType.BYTES
    names = (name for name in TYPES if field.cpp_type == getattr(field, name))
    return TYPES[next(names)]


def is_map(field: Any) -> bool:
    return field.message_type is not None and bool(field.message_type.GetOptions().map_entry)


def is_repeated(field: Any) -> bool:
    known = getattr(field, "is_repeated", None)  # protobuf 6 and later
    return bool(field.label == field.LABEL_REPEATED if known is None else known)


def _is_message(value: Any) -> bool:
    return hasattr(value, "DESCRIPTOR")
