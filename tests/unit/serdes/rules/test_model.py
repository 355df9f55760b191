"""serdes.rules.model: contexts, conditions, what field executors leave out."""

from __future__ import annotations

from typing import Any

import pytest

from registry import Metadata, Rule, RuleKind, RuleMode
from serdes import SerializationError
from serdes.rules import (
    ErrorAction,
    FieldRuleExecutor,
    FieldTransform,
    FieldType,
    NoneAction,
    RuleConditionError,
    RuleContext,
    RuleError,
)
from serdes.rules.tags import matches, matching_tags
from tests.unit.serdes.rules.samples import context, rule, schema


class Upper(FieldRuleExecutor):
    def type(self) -> str:
        return "UPPER"

    def new_transform(self, ctx: RuleContext) -> FieldTransform:
        return lambda ctx, field, value: value.upper()


def each_field(ctx: RuleContext, transform: FieldTransform, message: Any) -> Any:
    made = {}
    for name, value in message.items():
        entered = ctx.enter_field(message, f"Person.{name}", name, FieldType.STRING)
        made[name] = transform(ctx, entered, value) if ctx.is_tagged(entered) else value
        ctx.exit_field()
    return made


def test_a_parameter_comes_from_the_rule_then_from_the_metadata() -> None:
    chosen = rule(params={"a": "rule"})
    ctx = context(chosen, target=schema(chosen, metadata=Metadata(properties={"a": "metadata", "b": "metadata"})))
    assert [ctx.get_parameter(name) for name in "abc"] == ["rule", "metadata", None]
    assert context(target=None).get_parameter("a") is None


def test_a_field_has_the_tags_of_the_schema_and_of_the_metadata() -> None:
    tagged = schema(metadata=Metadata(tags={"Person.*": ["META"]}))
    ctx = context(target=tagged, inline_tags={"Person.name": ["PII"]})
    entered = ctx.enter_field({}, "Person.name", "name", FieldType.STRING)
    assert entered.tags == {"PII", "META"}
    assert ctx.current_field() is entered
    assert ctx.enter_field({}, "Person.name", "name", FieldType.RECORD, ["OWN"]).tags == {"OWN", "META"}
    ctx.exit_field()
    assert ctx.current_field() is entered
    ctx.exit_field()
    assert ctx.current_field() is None


@pytest.mark.parametrize(
    ("tags", "expected"), [(None, True), ([], True), (["PII"], True), (["PII", "X"], True), (["X"], False)]
)
def test_a_rule_without_tags_is_for_all_fields(tags: list[str] | None, expected: bool) -> None:
    ctx = context(rule(tags=tags))
    assert ctx.is_tagged(ctx.enter_field({}, "f", "f", FieldType.STRING, ["PII"])) is expected


def test_single_values_are_told_from_the_others() -> None:
    ctx = context()
    primitive = {kind for kind in FieldType if ctx.enter_field({}, "f", "f", kind, ()).is_primitive()}
    assert primitive == {
        FieldType(name) for name in ("STRING", "BYTES", "INT", "LONG", "FLOAT", "DOUBLE", "BOOLEAN", "NULL")
    }
    assert ctx.enter_field({}, "f", "f", FieldType.LONG).type_name() == "LONG"


def test_a_field_executor_goes_over_the_tagged_fields() -> None:
    ctx = context(rule(kind=RuleKind.TRANSFORM, tags=["PII"]), inline_tags={"Person.a": ["PII"]})
    ctx.field_transformer = each_field
    assert Upper().transform(ctx, {"a": "x", "b": "y"}) == {"a": "X", "b": "y"}


@pytest.mark.parametrize(
    ("mode", "index", "runs"),
    [
        (RuleMode.WRITE, 0, True),
        (RuleMode.WRITE, 1, False),
        (RuleMode.READ, 0, False),
        (RuleMode.READ, 1, True),
        (RuleMode.UPGRADE, 1, False),
        (RuleMode.DOWNGRADE, 1, True),
    ],
)
def test_of_two_equal_transforms_one_runs(mode: RuleMode, index: int, runs: bool) -> None:
    def twin(name: str) -> Rule:
        return rule(name, "UPPER", kind=RuleKind.TRANSFORM, mode=RuleMode.WRITEREAD, tags=["PII"])

    rules = [twin("one"), twin("two")]
    ctx = context(rules[index], mode, index=index, rules=rules, inline_tags={"Person.a": ["PII"]})
    ctx.field_transformer = each_field
    assert Upper().transform(ctx, {"a": "x"}) == {"a": "X" if runs else "x"}


@pytest.mark.parametrize(("mode", "index"), [(RuleMode.WRITE, 1), (RuleMode.READ, 0)])
def test_a_disabled_twin_does_not_keep_a_transform_from_running(mode: RuleMode, index: int) -> None:
    """Else a field would be written in clear because a rule that is switched off stands before the one that is not."""
    rules = [
        rule(name, "UPPER", kind=RuleKind.TRANSFORM, mode=RuleMode.WRITEREAD, tags=["PII"], disabled=place != index)
        for place, name in enumerate(("one", "two"))
    ]
    ctx = context(rules[index], mode, index=index, rules=rules, inline_tags={"Person.a": ["PII"]})
    ctx.field_transformer = each_field
    assert Upper().transform(ctx, {"a": "x"}) == {"a": "X"}


def test_a_condition_on_the_fields_of_an_empty_message_holds() -> None:
    ctx = context(rule("r", "UPPER"))
    ctx.field_transformer = each_field
    assert Upper().transform(ctx, {}) is True


def test_a_payload_has_no_fields() -> None:
    with pytest.raises(RuleError, match="works on fields"):
        Upper().transform(context(rule("r", "UPPER")), b"payload")


@pytest.mark.parametrize(
    ("given", "text"),
    [
        ({"doc": "must be adult", "expr": "x"}, "must be adult"),
        ({"expr": "message.age > 17"}, "Rule expr failed: message.age > 17"),
        ({}, "Rule failed: r"),
    ],
)
def test_a_condition_that_fails_says_which(given: dict[str, str], text: str) -> None:
    assert str(RuleConditionError(rule(**given))) == text


def test_the_action_error_names_rule_and_reason() -> None:
    with pytest.raises(SerializationError, match=r"rule 'r' failed \(WRITE\): broken"):
        ErrorAction().run(context(), None, ValueError("broken"))
    with pytest.raises(SerializationError, match="it gave no value"):
        ErrorAction().run(context(), None, None)
    NoneAction().run(context(), None, ValueError("broken"))
    assert (ErrorAction().type(), NoneAction().type()) == ("ERROR", "NONE")


# ---- tags


@pytest.mark.parametrize(
    ("name", "pattern", "expected"),
    [
        ("shop.Order.email", "shop.Order.email", True),
        ("shop.Order.email", "shop.Order.mail", False),
        ("shop.Order.email", "shop.*.email", True),
        ("shop.eu.Order.email", "shop.*.email", False),
        ("shop.eu.Order.email", "shop.**.email", True),
        ("shop.Order.email", "**.email", True),
        ("email", "**.email", False),
        ("email", "**.*", True),
        ("shop.Order", "**.*", True),
        ("shop.Order.e1", "shop.Order.e?", True),
        ("shop.Order.e.", "shop.Order.e?", False),
        ("shop.Order", "shop*", False),
        ("shop.Order", "shop**", True),
        ("shopXOrder", "shop.Order", False),
        ("a*b", r"a\*b", True),
        ("axb", r"a\*b", False),
        ("a\\", "a\\", True),
        ("a(b", "a(b", True),
        ("a\nb", "a?b", True),
    ],
)
def test_patterns(name: str, pattern: str, expected: bool) -> None:
    assert matches(name, pattern) is expected


def test_all_patterns_that_match_give_their_tags() -> None:
    tags = {"shop.*.email": ["PII"], "**": ["ALL", "PII"], "other": ["NO"]}
    assert matching_tags("shop.Order.email", tags) == {"PII", "ALL"}


def test_many_stars_do_not_explode() -> None:
    assert not matches("a" * 5_000, "*" * 200 + "b")
