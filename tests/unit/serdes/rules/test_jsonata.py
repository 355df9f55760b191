"""serdes.rules.jsonata: transforms between versions."""

from __future__ import annotations

import subprocess
import sys

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


def test_the_library_does_not_change_the_limit_on_recursion() -> None:
    code = "import sys; from serdes.rules.jsonata import _library; _library(); print(sys.getrecursionlimit())"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout == "1000\n"
