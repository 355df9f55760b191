"""Functions on Protobuf's descriptors by the names of confluent_kafka's `common.protobuf`.

Must not hold anything that serializers of ours need: they have `serdes.rules.walks.protobuf`.
"""

from __future__ import annotations

import datetime
from decimal import Decimal
from typing import Any, Final

from kserdes.compat.confluent.serdes.messages import DECIMAL_TYPE_NAME, TIMESTAMP_TYPE_NAME
from serdes.decimals import to_proto_decimal
from serdes.rules import FieldTransform, FieldType, RuleContext
from serdes.rules.walks import protobuf as walk_protobuf
from serdes.rules.walks.protobuf_meta import tags_of

__all__ = [
    "MAX_ENCODABLE_COEFFICIENT_DIGITS",
    "get_inline_tags",
    "get_type",
    "is_cel_leaf_message",
    "is_map_field",
    "set_decimal_message",
    "set_timestamp_message",
    "transform",
]

MAX_ENCODABLE_COEFFICIENT_DIGITS: Final = 4300
LEAVES: Final = frozenset({DECIMAL_TYPE_NAME, TIMESTAMP_TYPE_NAME, "confluent.type.Variant"})


def get_type(fd: Any) -> FieldType:
    """The kind of a field."""
    return walk_protobuf.type_of(fd)


def is_map_field(fd: Any) -> bool:
    """Whether a field is a map."""
    return walk_protobuf.is_map(fd)


def get_inline_tags(fd: Any) -> set[str]:
    """The tags in a field's options (`confluent.field_meta`)."""
    return set(tags_of(fd))


def is_cel_leaf_message(desc: Any) -> bool:
    """Whether messages of this type are one value for CEL."""
    return desc is not None and desc.full_name in LEAVES


def set_decimal_message(target: Any, value: Decimal) -> None:
    """Writes a decimal into a `confluent.type.Decimal`."""
    made = to_proto_decimal(value)
    target.Clear()
    target.value, target.precision, target.scale = made.value, made.precision, made.scale


def set_timestamp_message(target: Any, value: datetime.datetime) -> None:
    """Writes a time into a `google.protobuf.Timestamp`; one without a zone is UTC."""
    target.FromDatetime(value)


def transform(ctx: RuleContext, descriptor: Any, message: Any, field_transform: FieldTransform) -> Any:
    """A copy of a message with a transform applied to its tagged fields."""
    if message is None or descriptor is None:
        return message
    return walk_protobuf.field_transformer(descriptor)(ctx, field_transform, message)
