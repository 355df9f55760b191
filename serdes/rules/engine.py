"""Runs the rules of a schema on a value, in order, with what follows each.

Must not know of formats or rule languages. Source: the order and the actions of confluent_kafka's serializers.
"""

from __future__ import annotations

import contextvars
import enum
import logging
import threading
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from registry import Rule, RuleKind, RuleMode, RuleSet, Schema
from serdes.context import MessageField, SerializationContext
from serdes.errors import SerializationError
from serdes.rules.model import FieldTransformer, RuleAction, RuleConditionError, RuleContext, RuleError, RuleExecutor
from serdes.rules.registry import RuleRegistry, built_in_action, built_in_executor

RULE_NAME_HEADER: Final = "__rule.name"
"""Header of a dead letter that names the rule that failed: that rule is left out when the letter is read again."""
log = logging.getLogger("serdes")
SAME_WAY = {
    RuleMode.WRITEREAD: (RuleMode.WRITE, RuleMode.READ),
    RuleMode.UPDOWN: (RuleMode.UPGRADE, RuleMode.DOWNGRADE),
}
original_key: contextvars.ContextVar[Any] = contextvars.ContextVar("serdes_original_key", default=None)
"""The key of values whose context does not say it."""


class Phase(enum.StrEnum):
    """The list of a rule set that runs."""

    MIGRATION = "MIGRATION"
    """On the value of another version."""
    DOMAIN = "DOMAIN"
    """On the value."""
    ENCODING = "ENCODING"
    """On the encoded payload."""

    def rules(self, rule_set: RuleSet | None) -> Sequence[Rule]:
        """The rules of this phase."""
        if rule_set is None:
            return ()
        if self is Phase.MIGRATION:
            return rule_set.migration_rules or ()
        return (rule_set.domain_rules if self is Phase.DOMAIN else rule_set.encoding_rules) or ()


def has_rules(schema: Schema, phase: Phase, mode: RuleMode) -> bool:
    """Whether a schema has rules of a phase that run in a mode."""
    return any(_runs_in(rule, mode) for rule in phase.rules(schema.rule_set))


def _runs_in(rule: Rule, mode: RuleMode) -> bool:
    return rule.mode is mode or (rule.mode in SAME_WAY and mode in SAME_WAY[rule.mode])


class RuleEngine:
    """The rules of one serializer. Threads may share it.

    Args:
        registry: executors and actions that were added; None for the global ones.
        client_conf: configuration of the serializer's registry client, for executors that need one.
        rule_conf: the serializer's `rule_conf`.
        own_conf: `client_conf` for executors and actions that this engine makes itself; None if it is the same.

    Raises:
        RuleError: an executor refuses the configuration.
    """

    def __init__(
        self,
        registry: RuleRegistry | None = None,
        client_conf: Mapping[str, Any] | None = None,
        rule_conf: Mapping[str, Any] | None = None,
        own_conf: Mapping[str, Any] | None = None,
    ) -> None:
        self._registry = registry or RuleRegistry.get_global_instance()
        self._owns_registry = registry is not None
        self._closed = False
        self._conf = (dict(client_conf or {}), dict(rule_conf or {}))
        self._own_conf = (dict(client_conf or {}) if own_conf is None else dict(own_conf), self._conf[1])
        self._own_executors: dict[str, RuleExecutor] = {}
        self._own_actions: dict[str, RuleAction] = {}
        self._lock = threading.RLock()
        for part in (*self._registry.get_executors(), *self._registry.get_actions()):
            part.configure(*self._conf)
        if self._owns_registry:
            self._registry.retain()

    def close(self) -> None:
        """Closes what this engine made, and what stands in a registry of its own (never the global one) when the last
        engine that was given that registry is closed. Messages are refused afterwards.
        """
        with self._lock:
            if self._closed:
                return
            self._closed = True
            parts: list[RuleAction | RuleExecutor] = [*self._own_actions.values(), *self._own_executors.values()]
            self._own_actions, self._own_executors = {}, {}
        if self._owns_registry and self._registry.release():
            parts += [*self._registry.get_actions(), *self._registry.get_executors()]
        for part in parts:
            try:
                part.close()
            except Exception:
                log.warning("rule executor or action %s could not be closed", part.type(), exc_info=True)

    def run(
        self,
        phase: Phase,
        mode: RuleMode,
        ser_ctx: SerializationContext,
        subject: str,
        source: Schema | None,
        target: Schema | None,
        message: Any,
        inline_tags: Mapping[str, Iterable[str]] | None = None,
        field_transformer: FieldTransformer | None = None,
        original: Any = None,
    ) -> Any:
        """Runs all rules of a phase that are for this mode.

        Args:
            phase: which rules.
            mode: WRITE, READ, UPGRADE or DOWNGRADE.
            ser_ctx: topic, key or value, headers.
            subject: where the schema is registered.
            source: the schema that a migration comes from.
            target: the schema whose rules run (on a downgrade: `source`'s).
            message: the value or payload.
            inline_tags: tags written in the schema.
            field_transformer: how a transform is applied to every field.
            original: the message as the user or the broker gave it; None: as `message`.

        Returns:
            The message after all transforms.

        Raises:
            SerializationError: a rule failed and its action (ERROR, unless it says otherwise) refuses the message or
                fails itself; or the engine is closed.
        """
        if self._closed:
            raise SerializationError("the schema has rules, but the serializer is closed")
        owner = source if mode is RuleMode.DOWNGRADE else target
        rules = list(phase.rules(None if owner is None else owner.rule_set))
        if mode in (RuleMode.READ, RuleMode.DOWNGRADE):  # undone in reverse
            rules.reverse()
        if not rules or owner is None:
            return message
        whole = message if original is None else original
        is_key = ser_ctx.field is MessageField.KEY
        for index, rule in enumerate(rules):
            ctx = RuleContext(
                None if owner.rule_set is None else owner.rule_set.enable_at,
                ser_ctx,
                source,
                target,
                subject,
                mode,
                rule,
                index,
                rules,
                inline_tags,
                field_transformer,
                whole if is_key else original_key.get() if ser_ctx.key is None else ser_ctx.key,
                None if is_key else whole,
            )
            if _runs_in(rule, mode) and not self._disabled(ctx) and not _comes_from_its_dead_letter(ctx):
                message = self._run_one(ctx, message)
        return message

    def _run_one(self, ctx: RuleContext, message: Any) -> Any:
        rule = ctx.rule
        try:
            result = self._executor(rule).transform(ctx, message)
            if rule.kind is RuleKind.CONDITION:
                if not result:
                    raise RuleConditionError(rule)
            elif rule.kind is RuleKind.TRANSFORM:
                message = result
        except SerializationError:
            raise
        except Exception as error:  # whatever an executor raises is the failure of its rule
            self._act(ctx, self._on_failure(rule), "ERROR", message, error)
            return message
        if message is None:
            self._act(ctx, self._on_failure(rule), "ERROR", message, None)
        else:
            self._act(ctx, self._on_success(rule), "NONE", message, None)
        return message

    def _executor(self, rule: Rule) -> RuleExecutor:
        if rule.type is None:
            raise RuleError(f"rule {rule.name!r} has no type")
        name = rule.type.upper()
        found = self._registry.get_executor(name) or self._own_executors.get(name)
        if found is None:
            with self._lock:
                found = self._own_executors.get(name) or built_in_executor(name)
                if found is None:
                    raise RuleError(
                        f"there is no executor for rules of type {rule.type!r}: add one to the RuleRegistry"
                    )
                if name not in self._own_executors:
                    found.configure(*self._own_conf)
                    self._own_executors[name] = found
        return found

    def _action(self, name: str) -> RuleAction:
        found = self._registry.get_action(name) or self._own_actions.get(name)
        if found is None:
            with self._lock:
                found = self._own_actions.get(name) or built_in_action(name)
                if found is None:
                    raise SerializationError(f"there is no rule action {name!r}: add one to the RuleRegistry")
                if name not in self._own_actions:
                    found.configure(*self._own_conf)
                    self._own_actions[name] = found
        return found

    def _act(self, ctx: RuleContext, name: str | None, default: str, message: Any, why: Exception | None) -> None:
        action = self._action(_for_this_way(name, ctx) or default)
        away = isinstance(why, RuleError) and why.away
        try:
            action.run(ctx, message, why)
        except SerializationError as refused:
            refused.registry_away = refused.registry_away or away
            raise
        except Exception as error:
            if default == "ERROR":  # nobody decided that the message may go on without its rule
                text = f"rule {ctx.rule.name!r} failed ({ctx.rule_mode.value}), and so did its action {action.type()}"
                both = SerializationError(f"{text}: {error}")
                both.registry_away = away
                raise both from error
            log.warning("action %s of rule %r failed", action.type(), ctx.rule.name, exc_info=True)

    def _on_success(self, rule: Rule) -> str | None:
        override = self._registry.get_override(rule.type or "")
        return rule.on_success if override is None or override.on_success is None else override.on_success

    def _on_failure(self, rule: Rule) -> str | None:
        override = self._registry.get_override(rule.type or "")
        return rule.on_failure if override is None or override.on_failure is None else override.on_failure

    def _disabled(self, ctx: RuleContext) -> bool:
        override = self._registry.get_override(ctx.rule.type or "")
        if override is not None and override.disabled is not None:
            return override.disabled
        return bool(ctx.rule.disabled) or ctx.enabled_env not in (None, "ALL", "CLIENT")


def _for_this_way(name: str | None, ctx: RuleContext) -> str | None:
    """Of two actions (`DLQ,NONE`) of a rule for both ways, the one for this way."""
    if name and "," in name and ctx.rule.mode in SAME_WAY:
        forth, back = name.split(",", 1)
        return (forth if ctx.rule_mode in (RuleMode.WRITE, RuleMode.UPGRADE) else back).strip()
    return name


def _comes_from_its_dead_letter(ctx: RuleContext) -> bool:
    """Whether this message was set aside by this rule before: it would fail again."""
    headers = ctx.ser_ctx.headers
    if not headers or ctx.rule.name is None:
        return False
    pairs = headers.items() if isinstance(headers, Mapping) else headers
    named = [value for key, value in pairs if key == RULE_NAME_HEADER]
    if not named:
        return False
    last = named[-1]
    return (last.encode() if isinstance(last, str) else last) == ctx.rule.name.encode()
