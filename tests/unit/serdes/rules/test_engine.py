"""serdes.rules.engine: which rules run, in which order, and what follows."""

from __future__ import annotations

import logging
from typing import Any

import pytest

from registry import Rule, RuleKind, RuleMode, RuleSet, Schema
from serdes import MessageField, SerializationContext, SerializationError
from serdes.rules import (
    Phase,
    RuleAction,
    RuleContext,
    RuleEngine,
    RuleError,
    RuleExecutor,
    RuleOverride,
    RuleRegistry,
    has_rules,
)
from tests.unit.serdes.rules.samples import ctx, rule, schema

T, C = RuleKind.TRANSFORM, RuleKind.CONDITION


class Append(RuleExecutor):
    """Appends the rule's name; its expression may ask for a failure."""

    def __init__(self) -> None:
        self.configured: list[tuple[Any, Any]] = []
        self.closed = 0
        self.seen: list[RuleContext] = []

    def type(self) -> str:
        return "APPEND"

    def configure(self, client_conf: Any, rule_conf: Any) -> None:
        self.configured.append((client_conf, rule_conf))

    def transform(self, ctx: RuleContext, message: Any) -> Any:
        self.seen.append(ctx)
        if ctx.rule.expr == "raise":
            raise ValueError("no")
        if ctx.rule.expr == "none":
            return None
        if ctx.rule.kind is C:
            return ctx.rule.expr != "false"
        return f"{message}{ctx.rule.name}"

    def close(self) -> None:
        self.closed += 1


class Note(RuleAction):
    def __init__(self, fails: bool = False) -> None:
        self.calls: list[tuple[str | None, Any, str | None]] = []
        self.fails = fails

    def type(self) -> str:
        return "NOTE"

    def run(self, ctx: RuleContext, message: Any, ex: Exception | None) -> None:
        self.calls.append((ctx.rule.name, message, None if ex is None else str(ex)))
        if self.fails:
            raise RuntimeError("action failed")


class Parts:
    """An engine with an executor and an action of its own."""

    def __init__(self, fails: bool = False) -> None:
        self.registry = RuleRegistry()
        self.append, self.note = Append(), Note(fails)
        self.registry.register_executor(self.append)
        self.registry.register_action(self.note)
        self.engine = RuleEngine(self.registry, {"url": "u"}, {"k": "v"})

    def run(
        self,
        mode: RuleMode,
        *rules: Rule,
        phase: Phase = Phase.DOMAIN,
        message: Any = "m",
        where: SerializationContext | None = None,
        **more: Any,
    ) -> Any:
        target = schema(*rules) if phase is Phase.DOMAIN else schema(**{f"{phase.value.lower()}_rules": list(rules)})
        return self.engine.run(phase, mode, where or ctx(), "people-value", None, target, message, **more)


def append(name: str, mode: RuleMode = RuleMode.WRITE, **changes: Any) -> Rule:
    return rule(name, "append", **{"kind": T, "mode": mode, **changes})


def test_rules_run_in_order_when_writing_and_in_reverse_when_reading() -> None:
    rules = [append("a", RuleMode.WRITEREAD), append("b", RuleMode.WRITEREAD), append("w"), append("r", RuleMode.READ)]
    assert Parts().run(RuleMode.WRITE, *rules) == "mabw"
    assert Parts().run(RuleMode.READ, *rules) == "mrba"


def test_a_downgrade_runs_the_rules_of_the_newer_schema_in_reverse() -> None:
    rules = [append("u", RuleMode.UPGRADE), append("x", RuleMode.UPDOWN), append("d", RuleMode.DOWNGRADE)]
    newer, older = schema(migration_rules=rules), schema(migration_rules=[append("old", RuleMode.UPDOWN)])
    engine = Parts().engine
    up = engine.run(Phase.MIGRATION, RuleMode.UPGRADE, ctx(), "s", older, newer, "m")
    down = engine.run(Phase.MIGRATION, RuleMode.DOWNGRADE, ctx(), "s", newer, older, "m")
    assert (up, down) == ("mux", "mdx")


def test_each_phase_has_its_rules() -> None:
    parts = Parts()
    assert parts.run(RuleMode.WRITE, append("e"), phase=Phase.ENCODING, message="p") == "pe"
    both = Schema("{}", rule_set=RuleSet(domain_rules=[append("d")], encoding_rules=[append("e", RuleMode.READ)]))
    assert has_rules(both, Phase.DOMAIN, RuleMode.WRITE)
    assert not has_rules(both, Phase.DOMAIN, RuleMode.READ)
    assert has_rules(both, Phase.ENCODING, RuleMode.READ)
    assert not has_rules(both, Phase.MIGRATION, RuleMode.UPGRADE)
    assert not has_rules(Schema("{}"), Phase.DOMAIN, RuleMode.WRITE)


def test_without_rules_nothing_happens() -> None:
    parts = Parts()
    assert parts.run(RuleMode.WRITE) == "m"
    assert parts.engine.run(Phase.DOMAIN, RuleMode.WRITE, ctx(), "s", None, None, "m") == "m"
    assert parts.append.seen == []


def test_disabled_rules_and_those_for_elsewhere_do_not_run() -> None:
    parts = Parts()
    assert parts.run(RuleMode.WRITE, append("a", disabled=True), append("b")) == "mb"
    for where, expected in (("CLIENT", "ma"), ("ALL", "ma"), ("SERVER", "m")):
        target = Schema("{}", rule_set=RuleSet(domain_rules=[append("a")], enable_at=where))
        assert parts.engine.run(Phase.DOMAIN, RuleMode.WRITE, ctx(), "s", None, target, "m") == expected


def test_overrides_win_over_what_rules_say() -> None:
    parts = Parts()
    parts.registry.register_override(RuleOverride("append", disabled=True))
    assert parts.run(RuleMode.WRITE, append("a")) == "m"
    parts.registry.register_override(RuleOverride("append", disabled=False, on_failure="NOTE", on_success="NOTE"))
    assert parts.run(RuleMode.WRITE, append("a", disabled=True), append("b", expr="raise")) == "ma"
    assert parts.note.calls == [("a", "ma", None), ("b", "ma", "no")]


def test_a_condition_that_does_not_hold_refuses_the_message() -> None:
    with pytest.raises(SerializationError, match="rule 'c' failed"):
        Parts().run(RuleMode.WRITE, append("c", kind=C, expr="false"))
    assert Parts().run(RuleMode.WRITE, append("c", kind=C, expr="true"), append("t")) == "mt"


@pytest.mark.parametrize("expr", ["raise", "none"])
def test_a_failure_runs_its_action_and_refuses_by_default(expr: str) -> None:
    with pytest.raises(SerializationError, match="rule 'a' failed"):
        Parts().run(RuleMode.WRITE, append("a", expr=expr))
    parts = Parts()
    parts.run(RuleMode.WRITE, append("a", expr=expr, on_failure="NOTE"))
    assert len(parts.note.calls) == 1
    assert Parts().run(RuleMode.WRITE, append("a", expr="raise", on_failure="NONE"), append("b")) == "mb"


def test_the_action_of_success() -> None:
    parts = Parts()
    assert parts.run(RuleMode.WRITE, append("a", on_success="NOTE")) == "ma"
    assert parts.note.calls == [("a", "ma", None)]


@pytest.mark.parametrize(("mode", "expected"), [(RuleMode.WRITE, 1), (RuleMode.READ, 0)])
def test_a_rule_for_both_ways_may_name_two_actions(mode: RuleMode, expected: int) -> None:
    parts = Parts()
    parts.run(mode, append("a", RuleMode.WRITEREAD, expr="raise", on_failure="NOTE, NONE"))
    assert len(parts.note.calls) == expected


def test_an_action_of_success_that_fails_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING, "serdes"):
        assert Parts(fails=True).run(RuleMode.WRITE, append("a", on_success="NOTE")) == "ma"
    assert "action NOTE of rule 'a' failed" in caplog.text


@pytest.mark.parametrize("expr", ["raise", "none"])
def test_a_failure_whose_action_fails_or_is_missing_refuses(expr: str) -> None:
    """An `ENCRYPT` rule that failed must not let plain text out because an alarm could not be sent."""
    with pytest.raises(SerializationError, match=r"rule 'a' failed .*so did its action NOTE: action failed"):
        Parts(fails=True).run(RuleMode.WRITE, append("a", expr=expr, on_failure="NOTE"))
    with pytest.raises(SerializationError, match="no rule action 'NOPE'"):
        Parts().run(RuleMode.WRITE, append("a", expr="raise", on_failure="NOPE"))


@pytest.mark.parametrize(("kind", "text"), [(None, "has no type"), ("NOPE", "no executor for rules of type 'NOPE'")])
def test_a_rule_nobody_can_run_refuses_the_message(kind: str | None, text: str) -> None:
    with pytest.raises(SerializationError, match=text):
        Parts().run(RuleMode.WRITE, rule("a", kind))


@pytest.mark.parametrize(
    ("headers", "expected"),
    [
        ([("__rule.name", b"a")], "m"),
        ({"__rule.name": "a"}, "m"),
        ([("__rule.name", b"a"), ("__rule.name", b"b")], "ma"),
        ([("__rule.name", None)], "ma"),
        ([("other", b"a")], "ma"),
        (None, "ma"),
    ],
)
def test_the_rule_that_made_a_dead_letter_is_left_out_for_it(headers: Any, expected: str) -> None:
    assert Parts().run(RuleMode.WRITE, append("a"), where=ctx(headers=headers)) == expected


def test_executors_know_the_whole_message_and_its_key() -> None:
    parts = Parts()
    keyed = SerializationContext("people", MessageField.VALUE, None, "the key")
    parts.run(RuleMode.WRITE, append("a"), append("b"), where=keyed)
    assert [(seen.original_key, seen.original_value) for seen in parts.append.seen] == [("the key", "m")] * 2
    parts.run(RuleMode.READ, append("a", RuleMode.READ), original=b"bytes")
    assert parts.append.seen[-1].original_value == b"bytes"
    parts.run(RuleMode.WRITE, append("a"), message="k", where=ctx(MessageField.KEY))
    assert (parts.append.seen[-1].original_key, parts.append.seen[-1].original_value) == ("k", None)


def test_executors_are_configured_and_closed() -> None:
    parts = Parts()
    assert parts.append.configured == [({"url": "u"}, {"k": "v"})]
    parts.engine.close()
    assert parts.append.closed == 1
    shared = Append()
    RuleRegistry.register_rule_executor(shared)
    try:
        RuleEngine().close()
        assert shared.closed == 0  # others use it
    finally:
        RuleRegistry.get_global_instance().clear()


def test_executors_of_a_rule_registry_are_closed_with_its_last_engine() -> None:
    parts = Parts()
    second = RuleEngine(parts.registry)
    parts.engine.close()
    parts.engine.close()
    assert parts.append.closed == 0
    assert second.run(Phase.DOMAIN, RuleMode.WRITE, ctx(), "s", None, schema(append("a")), "m") == "ma"
    second.close()
    assert parts.append.closed == 1


def test_a_closed_engine_refuses_messages() -> None:
    engine = RuleEngine()
    engine.close()
    with pytest.raises(SerializationError, match="the serializer is closed"):
        engine.run(Phase.DOMAIN, RuleMode.WRITE, ctx(), "s", None, schema(rule("c", expr="true")), "m")
    assert engine._own_executors == {}  # nothing is made that nobody would close


def test_built_in_executors_are_made_once_for_each_engine() -> None:
    engine = RuleEngine()
    target = schema(rule("c", "JSONATA", kind=T, expr="$ & 'x'"))
    for _ in range(2):
        assert engine.run(Phase.DOMAIN, RuleMode.WRITE, ctx(), "s", None, target, "m") == "mx"
    assert len(engine._own_executors) == 1
    engine.close()
    assert engine._own_executors == {}


def test_a_part_that_can_not_be_closed_does_not_keep_the_others_open(caplog: pytest.LogCaptureFixture) -> None:
    class Stuck(Append):
        def type(self) -> str:
            return "STUCK"

        def close(self) -> None:
            raise RuntimeError("stuck")

    parts = Parts()
    parts.registry.clear()
    parts.registry.register_executor(Stuck())
    parts.registry.register_executor(parts.append)
    with caplog.at_level(logging.WARNING, "serdes"):
        parts.engine.close()
    assert parts.append.closed == 1
    assert "STUCK could not be closed" in caplog.text


def test_errors_of_one_s_own_need_not_be_made_as_ours_are() -> None:
    class Own(RuleError):
        def __init__(self, code: int) -> None:
            self.number = code

    class Refusal(SerializationError):
        def __init__(self, code: int) -> None:
            self.number = code

        def __str__(self) -> str:
            return f"code {self.number}"

    class Fails(Append):
        def transform(self, ctx: RuleContext, message: Any) -> Any:
            raise Own(7)

    class Refuses(Note):
        def run(self, ctx: RuleContext, message: Any, ex: Exception | None) -> None:
            raise Refusal(7)

    parts = Parts()
    parts.registry.register_executor(Fails())
    with pytest.raises(SerializationError, match="7"):
        parts.run(RuleMode.READ, append("a", RuleMode.READ))
    parts.registry.register_action(Refuses())
    with pytest.raises(Refusal, match="code 7") as raised:
        parts.run(RuleMode.READ, append("a", RuleMode.READ, on_failure="NOTE"))
    assert (raised.value.retriable, raised.value.set_aside) == (False, None)


@pytest.mark.parametrize("away", [True, False])
def test_that_a_service_was_away_is_said_whatever_the_action(away: bool) -> None:
    class Fails(Append):
        def transform(self, ctx: RuleContext, message: Any) -> Any:
            raise RuleError("no answer", away=away)

    parts = Parts()
    parts.registry.register_executor(Fails())
    for action in ("ERROR", "DLQ"):
        with pytest.raises(SerializationError, match=r"no answer|no topic") as raised:
            parts.run(RuleMode.READ, append("a", RuleMode.READ, on_failure=action))
        assert raised.value.registry_away is away
        assert raised.value.retriable is away
