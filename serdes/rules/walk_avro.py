"""Applies a transform to the fields of an Avro value, and finds the tags written in its schema.

Must not know of rules' languages. Values are plain ones: dicts, lists, `(name, value)` for a branch of a union. Nothing
given is changed: what is transformed is copied. Source: Confluent's data contracts for Avro (`confluent:tags` on
fields).
"""

from __future__ import annotations

import datetime
import decimal
import uuid
from collections.abc import Mapping
from typing import Any, Final

from registry import RuleKind
from registry.compat.avro_model import (
    ArrayType,
    AvroType,
    EnumType,
    Field,
    FixedType,
    Kind,
    MapType,
    Primitive,
    RecordType,
    UnionType,
    type_name,
)
from serdes.rules.model import FieldTransform, FieldTransformer, FieldType, RuleConditionError, RuleContext

__all__ = ["field_transformer", "inline_tags"]

TAGS: Final = "confluent:tags"
TYPES: Final = {kind: FieldType[kind.name] for kind in Kind if kind is not Kind.UNION} | {
    Kind.UNION: FieldType.COMBINED
}
PYTHON: Final[dict[Kind, tuple[type, ...]]] = {
    Kind.NULL: (type(None),),
    Kind.BOOLEAN: (bool,),
    Kind.INT: (int, datetime.date, datetime.time),
    Kind.LONG: (int, datetime.datetime, datetime.time),
    Kind.FLOAT: (float, int),
    Kind.DOUBLE: (float, int),
    Kind.BYTES: (bytes, bytearray, memoryview, decimal.Decimal),
    Kind.STRING: (str, uuid.UUID),
    Kind.FIXED: (bytes, bytearray, memoryview, decimal.Decimal, uuid.UUID),
    Kind.ARRAY: (list, tuple),
    Kind.MAP: (Mapping,),
}


def field_transformer(schema: AvroType) -> FieldTransformer:
    """How a transform is applied to values of a schema."""

    def apply(ctx: RuleContext, transform: FieldTransform, message: Any) -> Any:
        return _walk(ctx, schema, message, transform)

    return apply


def inline_tags(schema: AvroType) -> dict[str, frozenset[str]]:
    """Full name of each field that has tags in the schema → its tags."""
    found: dict[str, frozenset[str]] = {}
    seen: set[int] = set()
    waiting = [schema]
    while waiting:
        avro = waiting.pop()
        if id(avro) in seen:
            continue
        seen.add(id(avro))
        if isinstance(avro, RecordType):
            for field in avro.fields:
                tags = field.props.get(TAGS)
                if isinstance(tags, list):
                    found[f"{avro.name}.{field.name}"] = frozenset(str(tag) for tag in tags)
                waiting.append(field.type)
        elif isinstance(avro, UnionType):
            waiting += avro.branches
        elif isinstance(avro, ArrayType):
            waiting.append(avro.items)
        elif isinstance(avro, MapType):
            waiting.append(avro.values)
    return found


def _walk(ctx: RuleContext, avro: AvroType, value: Any, transform: FieldTransform) -> Any:
    entered = ctx.current_field()
    if entered is not None:
        entered.field_type = TYPES[avro.kind]
    if isinstance(avro, UnionType):
        return _walk_union(ctx, avro, value, transform)
    if isinstance(avro, ArrayType):
        return [_walk(ctx, avro.items, item, transform) for item in value] if _fits(avro, value) else value
    if isinstance(avro, MapType):
        if not _fits(avro, value):
            return value
        return {key: _walk(ctx, avro.values, item, transform) for key, item in value.items()}
    if isinstance(avro, RecordType):
        return _walk_record(ctx, avro, value, transform) if isinstance(value, Mapping) else value
    return transform(ctx, entered, value) if entered is not None and ctx.is_tagged(entered) else value


def _walk_record(ctx: RuleContext, record: RecordType, value: Mapping[str, Any], transform: FieldTransform) -> Any:
    made = dict(value)
    for field in record.fields:
        if field.name in made:
            made[field.name] = _walk_field(ctx, record, field, made, transform)
    return made


def _walk_field(
    ctx: RuleContext, record: RecordType, field: Field, message: dict[str, Any], transform: FieldTransform
) -> Any:
    ctx.enter_field(message, f"{record.name}.{field.name}", field.name, TYPES[field.type.kind])
    try:
        result = _walk(ctx, field.type, message[field.name], transform)
    finally:
        ctx.exit_field()
    if ctx.rule.kind is not RuleKind.CONDITION:
        return result
    if result is False:
        raise RuleConditionError(ctx.rule)
    return message[field.name]


def _walk_union(ctx: RuleContext, union: UnionType, value: Any, transform: FieldTransform) -> Any:
    if isinstance(value, tuple) and len(value) == 2 and isinstance(value[0], str):
        for branch in union.branches:
            if _is_called(branch, value[0]):
                result = _walk(ctx, branch, value[1], transform)
                return (value[0], result) if _fits(branch, result) else result
    chosen = _branch(union, value)
    return value if chosen is None else _walk(ctx, chosen, value, transform)


def _branch(union: UnionType, value: Any) -> AvroType | None:
    """The branch that an encoder takes: the first that fits; of records the one with most of the value's fields."""
    fitting = [branch for branch in union.branches if _fits(branch, value)]
    records = [branch for branch in fitting if isinstance(branch, RecordType)]
    if records and isinstance(value, Mapping) and "-type" not in value:
        best = max(records, key=lambda record: len({field.name for field in record.fields} & set(value)))
        return best if fitting[0] in records else fitting[0]
    return fitting[0] if fitting else None


def _is_called(avro: AvroType, name: str) -> bool:
    return type_name(avro) == name or ("." not in name and type_name(avro).rpartition(".")[2] == name)


def _fits(avro: AvroType, value: Any) -> bool:
    """Whether a value can be meant for a type: enough to choose the branch of a union."""
    if isinstance(avro, RecordType):
        if not isinstance(value, Mapping):
            return False
        hint = value.get("-type")
        if hint is not None:
            return _is_called(avro, str(hint))
        needed = {field.name for field in avro.fields if not field.has_default and not _takes_null(field.type)}
        return needed <= set(value)
    if isinstance(avro, EnumType):
        return isinstance(value, str) and value in avro.symbols
    if isinstance(avro, FixedType) and isinstance(value, (bytes, bytearray)):
        return len(value) == avro.size
    if isinstance(value, bool):
        return avro.kind is Kind.BOOLEAN
    if isinstance(avro, Primitive) and isinstance(value, int) and avro.kind is Kind.INT:
        return -(2**31) <= value < 2**31
    return isinstance(value, PYTHON[avro.kind])


def _takes_null(avro: AvroType) -> bool:
    return isinstance(avro, UnionType) and any(branch.kind is Kind.NULL for branch in avro.branches)
