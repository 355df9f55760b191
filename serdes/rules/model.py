"""The vocabulary of data contracts: what rules see, and what executors and actions are.

Must not know of formats or of any rule language. Names are those of `confluent_kafka.schema_registry.serde`. Source:
Confluent's documentation, "Data Contracts".
"""

from __future__ import annotations

import abc
import enum
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from registry import Rule, RuleKind, RuleMode, Schema
from serdes.context import SerializationContext
from serdes.errors import SerializationError
from serdes.rules.tags import matching_tags


class RuleError(Exception):
    """A rule could not be run, or its result can't be the value; its `onFailure` decides what follows.

    Args:
        args: what happened.
        away: see the attribute.

    Attributes:
        away: whether a service that the rule needs could not be reached, or let nobody in: nothing is known to be wrong
            with the value then, and later the rule may succeed. The `SerializationError` says it as `registry_away`.
    """

    away = False  # of classes of one's own that don't call this one's `__init__`, too

    def __init__(self, *args: object, away: bool = False) -> None:
        super().__init__(*args)
        self.away = away


class RuleConditionError(RuleError):
    """A condition does not hold.

    Attributes:
        rule: the rule.
    """

    def __init__(self, rule: Rule) -> None:
        super().__init__(rule)
        self.rule = rule

    def __str__(self) -> str:
        return self.error_message(self.rule)

    @staticmethod
    def error_message(rule: Rule) -> str:
        """The error's text for a rule that does not hold: its documentation, or its expression, or its name."""
        if rule.doc:
            return rule.doc
        return f"Rule expr failed: {rule.expr}" if rule.expr else f"Rule failed: {rule.name}"


class FieldType(enum.StrEnum):
    """The type of a field, in the words of all formats."""

    RECORD = "RECORD"
    ENUM = "ENUM"
    ARRAY = "ARRAY"
    MAP = "MAP"
    COMBINED = "COMBINED"
    FIXED = "FIXED"
    STRING = "STRING"
    BYTES = "BYTES"
    INT = "INT"
    LONG = "LONG"
    FLOAT = "FLOAT"
    DOUBLE = "DOUBLE"
    BOOLEAN = "BOOLEAN"
    NULL = "NULL"


PRIMITIVES = frozenset(
    (
        FieldType.STRING,
        FieldType.BYTES,
        FieldType.INT,
        FieldType.LONG,
        FieldType.FLOAT,
        FieldType.DOUBLE,
        FieldType.BOOLEAN,
        FieldType.NULL,
    )
)


@dataclass(slots=True)
class FieldContext:
    """The field a transform is applied to.

    Attributes:
        containing_message: the record it stands in.
        full_name: the record's full name, a dot, the field's name.
        name: the field's name.
        field_type: what it holds; within a union, an array or a map what the value at hand is.
        tags: those in the schema and those in its metadata.
        field_descriptor: Protobuf's descriptor of the field (in a map: of its values), None in other formats.
    """

    containing_message: Any
    full_name: str
    name: str
    field_type: FieldType
    tags: frozenset[str]
    field_descriptor: Any = None

    def is_primitive(self) -> bool:
        """Whether it holds a single value."""
        return self.field_type in PRIMITIVES

    def type_name(self) -> str:
        """The name of its type, e.g. `STRING`."""
        return self.field_type.name


@dataclass(slots=True)
class RuleContext:
    """The facts for a rule while it runs on one value.

    Attributes:
        enabled_env: where the rule set is to run, e.g. `CLIENT`.
        ser_ctx: topic, key or value, headers.
        source: schema the value comes from (migrations only).
        target: schema the value is to have.
        subject: where the schema is registered.
        rule_mode: WRITE, READ, UPGRADE or DOWNGRADE.
        rule: the rule that runs.
        index: its place in `rules`.
        rules: all rules of this phase, in the order they run.
        inline_tags: full name of a field → tags written in the schema.
        field_transformer: applies a transform to every field of a value; None where values have no fields (payloads).
        original_key: the message's key before any rule (on reading: its bytes), as far as it is known.
        original_value: the message's value before any rule.
    """

    enabled_env: str | None
    ser_ctx: SerializationContext
    source: Schema | None
    target: Schema | None
    subject: str
    rule_mode: RuleMode
    rule: Rule
    index: int
    rules: Sequence[Rule]
    inline_tags: Mapping[str, Iterable[str]] | None = None
    field_transformer: FieldTransformer | None = None
    original_key: Any = None
    original_value: Any = None
    _fields: list[FieldContext] = field(default_factory=list)

    def get_parameter(self, name: str) -> str | None:
        """A parameter of the rule; if it has none of that name, a property of the schema's metadata."""
        value = (self.rule.params or {}).get(name)
        if value is None and self.target is not None and self.target.metadata is not None:
            value = (self.target.metadata.properties or {}).get(name)
        return value

    def current_field(self) -> FieldContext | None:
        """The innermost field at work."""
        return self._fields[-1] if self._fields else None

    def enter_field(
        self,
        containing_message: Any,
        full_name: str,
        name: str,
        field_type: FieldType,
        tags: Iterable[str] | None = None,
        field_descriptor: Any = None,
    ) -> FieldContext:
        """Goes into a field. `tags` of None are looked up in `inline_tags`; those of the metadata are added."""
        inline = (self.inline_tags or {}).get(full_name, ()) if tags is None else tags
        all_tags = frozenset(inline) | self.get_tags(full_name)
        entered = FieldContext(containing_message, full_name, name, field_type, all_tags, field_descriptor)
        self._fields.append(entered)
        return entered

    def exit_field(self) -> None:
        """Comes out of the innermost field."""
        self._fields.pop()

    def get_tags(self, full_name: str) -> frozenset[str]:
        """The tags that the schema's metadata gives a field, by patterns of its full name."""
        metadata = None if self.target is None else self.target.metadata
        return matching_tags(full_name, (metadata.tags if metadata is not None else None) or {})

    def is_tagged(self, entered: FieldContext) -> bool:
        """Whether the rule applies to this field: it has no tags of its own, or shares one with the field."""
        return not self.rule.tags or not entered.tags.isdisjoint(self.rule.tags)


FieldTransform: TypeAlias = Callable[[RuleContext, FieldContext, Any], Any]
"""Makes a new value of a field's value."""

FieldTransformer: TypeAlias = Callable[[RuleContext, FieldTransform, Any], Any]
"""Applies a transform to every field of a message that the rule's tags choose; returns the message."""


class RuleBase(abc.ABC):
    """Shared base of executors and actions."""

    def configure(self, client_conf: Mapping[str, Any], rule_conf: Mapping[str, Any]) -> None:  # noqa: B027
        """Configures it; called once for every serializer that may use it.

        Args:
            client_conf: configuration of the serializer's registry client.
            rule_conf: the serializer's `rule_conf`.
        """

    @abc.abstractmethod
    def type(self) -> str:
        """The name that rules call it by, e.g. `CEL`."""

    def close(self) -> None:  # noqa: B027
        """Frees its resources."""


class RuleExecutor(RuleBase):
    """Runs the rules of one type."""

    @abc.abstractmethod
    def transform(self, ctx: RuleContext, message: Any) -> Any:
        """Runs a rule on a message.

        Returns:
            For a condition: whether it holds. For a transform: the new message; None is a failure.

        Raises:
            RuleError: the rule can't be run.
        """


class FieldRuleExecutor(RuleExecutor):
    """Runs rules field by field."""

    @abc.abstractmethod
    def new_transform(self, ctx: RuleContext) -> FieldTransform:
        """The transform of each field."""

    def transform(self, ctx: RuleContext, message: Any) -> Any:
        """Applies the transform to the fields chosen by the rule's tags.

        Where several transforms of a rule set have the same type, mode and tags only one runs: the first when writing,
        and its counterpart when reading. A condition holds if it holds for every field.
        """
        first = ctx.rule_mode in (RuleMode.WRITE, RuleMode.UPGRADE)
        others = ctx.rules[: ctx.index] if first else ctx.rules[ctx.index + 1 :]
        if any(self.are_transforms_with_same_tag(ctx.rule, other) and not other.disabled for other in others):
            return message
        if ctx.field_transformer is None:
            raise RuleError(f"rule {ctx.rule.name!r} of type {self.type()} works on fields, a payload has none")
        made = ctx.field_transformer(ctx, self.new_transform(ctx), message)
        # a condition that does not hold has raised; an empty message must not look as if it did not hold
        return True if ctx.rule.kind is RuleKind.CONDITION else made

    @staticmethod
    def are_transforms_with_same_tag(rule1: Rule, rule2: Rule) -> bool:
        """Whether two transforms would do the same thing to the same fields."""
        return (
            bool(rule1.tags)
            and rule1.kind is RuleKind.TRANSFORM
            and (rule1.kind, rule1.mode, rule1.type) == (rule2.kind, rule2.mode, rule2.type)
            and list(rule1.tags or ()) == list(rule2.tags or ())
        )


class RuleAction(RuleBase):
    """An action that follows a rule that held, or that did not."""

    @abc.abstractmethod
    def run(self, ctx: RuleContext, message: Any, ex: Exception | None) -> None:
        """Acts.

        Args:
            ctx: the rule's context.
            message: the message as it is now.
            ex: why the rule failed; None after success.

        Raises:
            SerializationError: to end the serialization.
        """


class ErrorAction(RuleAction):
    """`ERROR`: the value is refused."""

    def type(self) -> str:
        """`ERROR`."""
        return "ERROR"

    def run(self, ctx: RuleContext, message: Any, ex: Exception | None) -> None:
        """Raises.

        Raises:
            SerializationError: always; it names the rule and why it failed.
        """
        why = "it gave no value" if ex is None else str(ex)
        raise SerializationError(f"rule {ctx.rule.name!r} failed ({ctx.rule_mode.value}): {why}") from ex


class NoneAction(RuleAction):
    """`NONE`: goes on as if nothing had happened."""

    def type(self) -> str:
        """`NONE`."""
        return "NONE"

    def run(self, ctx: RuleContext, message: Any, ex: Exception | None) -> None:
        """Does nothing."""
