from __future__ import annotations

import pytest

from kserdes.cli.schema.lint.rules import (
    RULES,
    camel,
    enabled,
    field_case_text,
    pascal,
    right_case,
    snake,
    upper,
    words,
)
from kserdes.cli.shell.settings import LintSettings
from kserdes.cli.shell.unusable import Unusable

DEFAULTS = {name for name, rule in RULES.items() if rule.default}


def test_the_command_line_wins_over_the_configuration() -> None:
    assert enabled(LintSettings()) == DEFAULTS
    settings = LintSettings(disable=("avro-doc", "json-title"), enable=("avro-field-doc",))
    assert enabled(settings) == DEFAULTS - {"avro-doc", "json-title"} | {"avro-field-doc"}
    found = enabled(settings, disable=["avro-field-doc"], enable=["avro-doc"])
    assert found == DEFAULTS - {"json-title"}


def test_all_rules_at_once() -> None:
    assert enabled(LintSettings(), disable=["all"], enable=["json-id"]) == {"json-id"}
    assert enabled(LintSettings(enable=("all",))) == set(RULES)


def test_unknown_rules_are_named_with_the_nearest() -> None:
    with pytest.raises(Unusable, match="'avro-dok'; did you mean 'avro-doc'"):
        enabled(LintSettings(), disable=["avro-dok"])
    with pytest.raises(Unusable, match="see kserdes schema lint --list-rules"):
        enabled(LintSettings(enable=("zzzz",)))


@pytest.mark.parametrize(
    ("name", "forms"),
    [
        ("order_id", {"snake"}),
        ("id", {"snake", "camel"}),
        ("orderId", {"camel"}),
        ("OrderId", {"pascal"}),
        ("ORDER_ID", {"upper"}),
        ("X", {"pascal", "upper"}),
        ("order__id", set()),
        ("order-id", set()),
        ("line_2", {"snake"}),
        ("_id", {"snake", "camel"}),
        ("", set()),
    ],
)
def test_forms_of_names(name: str, forms: set[str]) -> None:
    known = {"snake": snake, "camel": camel, "pascal": pascal, "upper": upper}
    assert {form for form, test in known.items() if test(name)} == forms


def test_the_case_of_fields_is_a_setting() -> None:
    assert right_case("a_b", "snake")
    assert not right_case("a_b", "camel")
    assert right_case("A-b", "any")
    assert (field_case_text("snake"), field_case_text("camel")) == ("snake_case", "camelCase")


@pytest.mark.parametrize(
    ("name", "expected"),
    [("OrderKind", ["Order", "Kind"]), ("HTTPStatus", ["HTTP", "Status"]), ("order_kind2", ["order", "kind", "2"])],
)
def test_names_have_words(name: str, expected: list[str]) -> None:
    assert words(name) == expected
