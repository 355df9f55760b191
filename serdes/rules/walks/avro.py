"""Applies a transform to the fields of an Avro value, and finds the tags written in its schema.

Must not know of rules' languages. Values are all that the encoder takes (objects too), seen as it sees them, so that it
writes nothing that was not looked at. Nothing given is changed: what is transformed is copied. Source: Confluent's data
contracts for Avro (`confluent:tags` on fields).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any, Final, TypeVar

from registry import RuleKind
from registry.schemas.avro.model import ArrayType, AvroType, Field, MapType, RecordType, TypeName, UnionType
from serdes.formats.avro.logical import is_variant
from serdes.formats.avro.union import Chooser, fits
from serdes.kernels.misfit import Misfit, entries_of, items_of, record_of
from serdes.rules.model import FieldTransform, FieldTransformer, FieldType, RuleConditionError, RuleContext

TAGS: Final = "confluent:tags"
TYPES: Final = {kind: FieldType[kind.name] for kind in TypeName if kind is not TypeName.UNION} | {
    TypeName.UNION: FieldType.COMBINED
}
T = TypeVar("T")


def field_transformer(schema: AvroType) -> FieldTransformer:
    """The application of a transform to values of a schema."""

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
        items = _shaped(items_of, value)
        return value if items is None else [_walk(ctx, avro.items, item, transform) for item in items]
    if isinstance(avro, MapType):
        entries = _shaped(entries_of, value)
        if entries is None:
            return value
        return {key: _walk(ctx, avro.values, item, transform) for key, item in entries.items()}
    if isinstance(avro, RecordType):
        fields = _shaped(record_of, value)
        if fields is None:
            return value
        before = dict(fields) if is_variant(avro) else None
        made = _walk_record(ctx, avro, fields, transform)
        return value if before is not None and made == before else made  # a variant stays one
    return transform(ctx, entered, value) if entered is not None and ctx.is_tagged(entered) else value


def _shaped(shape: Callable[[Any, str], T], value: Any) -> T | None:
    """A value as the encoder sees it; None for one that the encoder refuses, which may stay as it is."""
    try:
        return shape(value, "")
    except Misfit:
        return None


def _walk_record(ctx: RuleContext, record: RecordType, made: dict[str, Any], transform: FieldTransform) -> Any:
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
    try:
        place, inner = _chooser(union)(value, {})
    except Misfit:
        return value  # the encoder refuses it too
    branch = union.branches[place]
    result = _walk(ctx, branch, inner, transform)
    named = inner is not value and value.__class__ is tuple
    return (value[0], result) if named and fits(branch, result) else result


@lru_cache(maxsize=1024)
def _chooser(union: UnionType) -> Chooser:
    """The chooser of the branch; the encoder has the same."""
    return Chooser(union)
