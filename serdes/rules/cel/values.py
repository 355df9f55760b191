"""Values as CEL sees them, and back.

Must not know of rules. A Protobuf message is a map of its fields: `has()` says whether one is set, reading an unset one
gives its default. Source: the CEL specification, "Values" and "Field Selection".
"""

from __future__ import annotations

import contextvars
import datetime
import decimal
import functools
import uuid
from collections.abc import Callable, Mapping
from typing import Any

from kserdes_base.extras import needed
from serdes.rules.cel.decimals import known_decimal
from serdes.rules.model import RuleError
from serdes.variants import Variant

asking: contextvars.ContextVar[bool] = contextvars.ContextVar("serdes_cel_has", default=False)
"""Whether a value is looked at by `has()`."""
EPOCH_DAY = datetime.date(1970, 1, 1).toordinal()


def to_cel(value: Any, descriptor: Any = None) -> Any:
    """A value as CEL's type for it; dates are days since 1970-01-01; decimals and times of day stay as they are.

    Args:
        value: of any format.
        descriptor: Protobuf's descriptor of the field it comes from: its type tells unsigned numbers from signed ones.
    """
    types = _types()
    if value is None:
        return None
    if descriptor is not None and not _is_message(value) and not isinstance(value, (dict, list)):
        return _scalar(value, descriptor)
    if isinstance(value, Mapping) and not _is_message(value):
        return types.MapType({to_cel(key): to_cel(item) for key, item in value.items()})
    if isinstance(value, list):
        return types.ListType([to_cel(item, descriptor) for item in value])
    for kind, make in _conversions():
        if isinstance(value, kind):
            return make(value)
    return message_to_cel(value) if _is_message(value) else value


def field_to_cel(value: Any, hint: Any) -> Any:
    """A value as CEL's type for it, where a rule stands on it.

    Args:
        value: of any format, not None.
        hint: Protobuf's descriptor of the field it is of; anything else says nothing.
    """
    if _is_message(value) or not hasattr(hint, "cpp_type"):
        number = known_decimal(value)
        return to_cel(value) if number is None else number
    return _of_field(value, hint)


def from_cel(result: Any, original: Any) -> Any:
    """A result as plain values: a variant is its two byte strings by name. A map becomes a message of `original`'s type
    where that is a Protobuf message.
    """
    if isinstance(result, message_map()):
        return result.msg
    plain = _plain(result)
    if isinstance(plain, dict) and _is_message(original):
        return _filled(type(original)(), plain)
    return plain


def _plain(value: Any) -> Any:
    types = _types()
    if isinstance(value, message_map()):
        return value.msg
    if isinstance(value, (types.TimestampType, types.DurationType)) and hasattr(value, "source"):
        return value.source
    if isinstance(value, types.BoolType):
        return bool(value)
    if isinstance(value, Variant):
        return {"metadata": bytes(value.metadata), "value": bytes(value.standalone_value_bytes())}
    if isinstance(value, Mapping):
        return {_plain(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_plain(item) for item in value]
    for kind, make in (
        (types.TimestampType, lambda v: datetime.datetime.fromtimestamp(0, datetime.UTC) + _since_epoch(v)),
        (types.DurationType, lambda v: datetime.timedelta(seconds=v.total_seconds())),
        (types.StringType, str),
        (types.BytesType, bytes),
        (types.DoubleType, float),
        (types.IntType, int),
        (types.UintType, int),
    ):
        if isinstance(value, kind):
            return make(value)
    return value


def _since_epoch(value: datetime.datetime) -> datetime.timedelta:
    """Exact: a timestamp as a float would lose microseconds."""
    gone = value - datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC)
    return datetime.timedelta(gone.days, gone.seconds, gone.microseconds)


@functools.lru_cache(1)
def _types() -> Any:
    return needed("celpy.celtypes", "rules", RuleError)


@functools.lru_cache(1)
def _conversions() -> list[tuple[type[Any], Callable[[Any], Any]]]:
    """In this order: bool is an int, datetime is a date."""
    types = _types()
    return [
        (str, types.StringType),
        ((bytes, bytearray), lambda value: types.BytesType(bytes(value))),  # type: ignore[list-item]
        (bool, types.BoolType),
        (int, types.IntType),
        (float, types.DoubleType),
        (datetime.datetime, lambda value: types.TimestampType(_aware(value))),
        (datetime.timedelta, types.DurationType),
        (datetime.date, lambda value: types.IntType(value.toordinal() - EPOCH_DAY)),
        (uuid.UUID, lambda value: types.StringType(str(value))),
        (tuple, lambda value: value),
    ]


def _aware(value: datetime.datetime) -> datetime.datetime:
    return value if value.tzinfo is not None else value.replace(tzinfo=datetime.UTC)


# --- Protobuf


def _is_message(value: Any) -> bool:
    return hasattr(value, "DESCRIPTOR") and hasattr(value, "SerializeToString")


def message_to_cel(msg: Any) -> Any:
    """A message as CEL has it: times and wrappers as their values, others as maps."""
    name = msg.DESCRIPTOR.full_name
    types = _types()
    if name == "google.protobuf.Timestamp":
        return _remembering(types.TimestampType, _aware(msg.ToDatetime()), msg)
    if name == "google.protobuf.Duration":
        return _remembering(types.DurationType, msg.ToTimedelta(), msg)
    if name in WRAPPERS:
        return _scalar(msg.value, msg.DESCRIPTOR.fields_by_name["value"])
    return message_map()(msg)


@functools.lru_cache(2)
def _with_source(kind: Any) -> Any:
    class WithSource(kind):  # type: ignore[misc]
        """A time that knows its message: Python's own forms have no nanoseconds."""

        source: Any

    return WithSource


def _remembering(kind: Any, value: Any, message: Any) -> Any:
    made = _with_source(kind)(value)
    made.source = message
    return made


WRAPPERS = frozenset(
    f"google.protobuf.{kind}Value"
    for kind in ("String", "Bytes", "Int32", "Int64", "UInt32", "UInt64", "Float", "Double", "Bool")
)


def _scalar(value: Any, descriptor: Any) -> Any:
    types = _types()
    kind = descriptor.cpp_type
    if kind in (descriptor.CPPTYPE_UINT32, descriptor.CPPTYPE_UINT64):
        return types.UintType(value)
    if kind == descriptor.CPPTYPE_MESSAGE:
        return message_to_cel(value)
    return to_cel(value)


def _is_map(field: Any) -> bool:
    return field.message_type is not None and field.message_type.GetOptions().map_entry


def _field(message: Any, field: Any) -> Any:
    return _of_field(getattr(message, field.name), field)


def _of_field(value: Any, field: Any) -> Any:
    types = _types()
    if _is_map(field):
        key, item = field.message_type.fields_by_name["key"], field.message_type.fields_by_name["value"]
        return types.MapType({_scalar(name, key): _scalar(value[name], item) for name in value})
    if _is_repeated(field):
        return types.ListType([_scalar(item, field) for item in value])
    return _scalar(value, field)


def _is_repeated(field: Any) -> bool:
    known = getattr(field, "is_repeated", None)  # protobuf 6 and later
    return bool(field.label == field.LABEL_REPEATED if known is None else known)


def _is_set(message: Any, field: Any) -> bool:
    if field.has_presence:
        return bool(message.HasField(field.name))
    value = getattr(message, field.name)
    return bool(len(value)) if _is_repeated(field) else bool(value != field.default_value)


@functools.lru_cache(1)
def message_map() -> type[Any]:
    """CEL's type of messages that are no single values."""
    types = _types()

    class MessageMap(types.MapType):  # type: ignore[misc, name-defined]
        """A Protobuf message as a map."""

        def __init__(self, msg: Any) -> None:
            super().__init__()
            self.msg, self.desc = msg, msg.DESCRIPTOR
            for name, field in self.desc.fields_by_name.items():
                if _is_set(msg, field):
                    dict.__setitem__(self, types.StringType(name), _field(msg, field))

        def __getitem__(self, name: Any) -> Any:
            if dict.__contains__(self, name) or asking.get() or name not in self.desc.fields_by_name:
                return dict.__getitem__(self, name)
            field = self.desc.fields_by_name[name]
            if field.message_type is not None and field.message_type.full_name in WRAPPERS and not _is_repeated(field):
                return None
            return _field(self.msg, field)

    return MessageMap


def _filled(message: Any, values: Mapping[str, Any]) -> Any:
    """Sets a message's fields from plain values; None leaves a field unset.

    Raises:
        RuleError: there is no such field, or the value does not fit.
    """
    for name, value in values.items():
        field = message.DESCRIPTOR.fields_by_name.get(name)
        if field is None:
            raise RuleError(f"the rule's result has {name!r}, which is no field of {message.DESCRIPTOR.full_name}")
        if value is not None:
            try:
                _set(message, field, value)
            except (TypeError, ValueError, AttributeError) as error:
                raise RuleError(f"the rule's result does not fit field {field.full_name}: {error}") from error
    return message


def _set(message: Any, field: Any, value: Any) -> None:
    target = getattr(message, field.name)
    if _is_map(field):
        if field.message_type.fields_by_name["value"].message_type is None:
            target.update(value)
        else:
            for key, item in value.items():
                _put(target[key], item)
    elif _is_repeated(field):
        if field.message_type is None:
            target.extend(value)
        else:
            for item in value:
                _put(target.add(), item)
    elif field.message_type is None:
        setattr(message, field.name, value)
    else:
        target.SetInParent()
        _put(target, value)


def _put(target: Any, value: Any) -> None:
    """Gives a message the content of another, of a map, or of the single value it stands for."""
    if _is_message(value):
        target.CopyFrom(value)
    elif isinstance(value, Mapping):
        _filled(target, value)
    elif isinstance(value, decimal.Decimal):
        from serdes.decimals import to_proto_decimal

        made = to_proto_decimal(value)
        target.value, target.precision, target.scale = made.value, made.precision, made.scale
    elif isinstance(value, datetime.datetime):
        target.FromDatetime(value)
    elif isinstance(value, datetime.timedelta):
        target.FromTimedelta(value)
    else:
        target.value = value
