"""serdes.rules.jsonata: transforms between versions."""

from __future__ import annotations

import pytest

from registry import RuleKind
from serdes.rules import RuleError
from serdes.rules.jsonata import JsonataExecutor
from tests.unit.serdes.rules.samples import context, rule


def run(expr: str | None, message: object) -> object:
    return JsonataExecutor().transform(context(rule(type="JSONATA", kind=RuleKind.TRANSFORM, expr=expr)), message)


def test_a_field_is_renamed() -> None:
    expression = "$merge([$sift($, function($v, $k) {$k != 'size'}), {'height': $.'size'}])"
    assert run(expression, {"id": 1, "size": 180}) == {"id": 1, "height": 180}


@pytest.mark.parametrize("expr", ["{", "$nope()", None])
def test_an_expression_that_can_not_be_run_says_why(expr: str | None) -> None:
    with pytest.raises(RuleError, match=r"failed|no expression"):
        run(expr, {"a": 1})
