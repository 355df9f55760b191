"""CEL's functions for decimals beside confluent-kafka: the same expression, the same value, or refused by both."""

from __future__ import annotations

import decimal
import warnings
from decimal import Decimal
from typing import Any, Final

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from serdes.decimals import to_proto_decimal
from serdes.rules import RuleError, ValidationRule
from serdes.rules.bounds import Bounds
from serdes.rules.cel.executor import evaluate
from serdes.rules.cel.values import field_to_cel
from serdes.rules.inline.cel import CelValidator

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # authlib warns of httpx when it is imported
    celpy = pytest.importorskip("celpy")
    peer_cel = pytest.importorskip("confluent_kafka.schema_registry.rules.cel.cel_validator", exc_type=ImportError)
    peer_extra = pytest.importorskip("confluent_kafka.schema_registry.rules.cel.extra_func", exc_type=ImportError)
    peer_runner = pytest.importorskip(
        "confluent_kafka.schema_registry.rules.cel.cel_field_presence", exc_type=ImportError
    )

pytestmark = [pytest.mark.interop, pytest.mark.filterwarnings("ignore")]
NUMBERS: Final = st.decimals(allow_nan=False, allow_infinity=False, min_value=-(10**9), max_value=10**9)
REFUSED: Final = "refused"


def shown(value: Any) -> Any:
    """A result as facts: a decimal with its scale."""
    return ("decimal", f"{value:f}", value.as_tuple().exponent) if isinstance(value, Decimal) else str(value)


def ours(expression: str, this: Any) -> Any:
    try:
        return shown(evaluate(expression, {"this": field_to_cel(this, None)}, Bounds("r")))
    except RuleError:
        return REFUSED


def theirs(expression: str, this: Any) -> Any:
    environment = celpy.Environment(runner_class=peer_runner.InterpretedRunner)
    try:
        program = environment.program(environment.compile(expression), functions=peer_extra.EXTRA_FUNCS)
        return shown(program.evaluate({"this": peer_cel._to_cel(None, this)}))
    except (celpy.CELEvalError, celpy.CELParseError, decimal.DecimalException, ArithmeticError, TypeError, ValueError):
        return REFUSED


TWO: Final = ("add", "sub", "mul", "div", "mod", "greatest", "least", "eq", "lt", "le", "gt", "ge")
ONE: Final = ("sqrt", "neg", "abs", "sign", "round", "trunc", "floor", "ceil")


@given(st.sampled_from(TWO), NUMBERS, NUMBERS)
@example("div", Decimal("0"), Decimal("0"))
@example("mod", Decimal("5"), Decimal("0.00"))
@example("mod", Decimal("0E+5"), Decimal("1"))
@settings(deadline=None, max_examples=200, derandomize=True)
def test_of_two(name: str, left: Decimal, right: Decimal) -> None:
    expression = f"decimals.{name}(this[0], decimal('{right}'))"
    assert ours(expression, [left]) == theirs(expression, [left])


@given(st.sampled_from(ONE), NUMBERS | NUMBERS.map(lambda one: one * one))
@example("sqrt", Decimal("9.0"))
@example("sqrt", Decimal("0.000"))
@example("sqrt", Decimal("4E+3"))
@example("trunc", Decimal("-0.5"))
@settings(deadline=None, max_examples=200, derandomize=True)
def test_of_one(name: str, value: Decimal) -> None:
    expression = f"decimals.{name}(this)"
    assert ours(expression, value) == theirs(expression, value)


@given(st.sampled_from(["round", "trunc"]), NUMBERS, st.integers(-20, 20))
@settings(deadline=None, max_examples=100, derandomize=True)
def test_with_a_scale(name: str, value: Decimal, scale: int) -> None:
    expression = f"decimals.{name}(this, {scale})"
    assert ours(expression, value) == theirs(expression, value)


@given(NUMBERS, st.integers(0, 4))
@settings(deadline=None, max_examples=50, derandomize=True)
def test_a_message_is_a_decimal(value: Decimal, zeros: int) -> None:
    message = to_proto_decimal(value)
    same = f"decimal('{value:f}{('' if '.' in f'{value:f}' else '.') + '0' * zeros}')"
    for expression in (f"this == {same}", f"{same} in [this]", f"[this] != [{same}]", "string(this)", "double(this)"):
        assert ours(expression, message) == theirs(expression, message)


@pytest.mark.parametrize(
    "expression",
    [
        "decimal('1_0')",
        "decimal(' 1')",
        "decimal('NaN')",
        "decimal('-0.00')",
        "decimal('1e3')",
        "decimal('1e2147483648')",
        "decimal(true)",
        "decimal(null)",
        "decimal(5)",
        "decimal(5u)",
        "decimal(0.1)",
        "decimal(b'12')",
        "decimal(b'\\x01\\x00', 1)",
        "decimal(b'', 2)",
        "decimal(b'\\xff', 0)",
        "decimal(b'\\x01', 1.0)",
        "decimal(b'\\x01', true)",
        "decimal(b'\\x01', 1u)",
        "decimal('1', 1)",
        "decimal([])",
        "decimals.round(decimal('1.5'), 2147483648)",
        "decimals.round(decimal('1.5'), 1u)",
        "decimals.round(decimal('1.5'), 1, 2)",
        "decimals.add('1.5', 2)",
        "decimals.add('x', 2)",
        "decimals.nothing(1)",
        "decimal('1') == 1",
        "decimal('1') == decimal('1.00')",
        "decimal('1') != decimal('1.00')",
        "decimal('1') in [1, decimal('1.0')]",
        "decimal('1') in {'a': 1}",
        "{'a': decimal('1')} == {'a': decimal('1.0')}",
        "[decimal('1')] == [decimal('1'), 2]",
        "1 in [1, 2]",
        "string(decimal('1.50'))",
        "string(decimal('-0'))",
        "double(decimal('1.5'))",
        "double(true)",
        "double(b'1')",
        "double('1.5')",
        "double(3)",
        "decimal('1') < decimal('2')",
    ],
)
def test_expressions(expression: str) -> None:
    assert ours(expression, 5) == theirs(expression, 5)


@pytest.mark.parametrize(
    "expression",
    [
        "decimals.add(decimal('1e100000'), decimal('1'))",
        "decimals.mul(decimal('1e-9'), decimals.round(decimal('1e9000'), 5000))",
        "decimals.mod(decimal('1e100000'), decimal('3'))",
        "decimals.round(decimal('1'), 1000000)",
        "decimals.floor(decimal('1e100000'))",
        "string(decimal('1e100000'))",
        "decimal('1e5000') == decimals.round(decimal('1e5000'), 6000)",
    ],
)
def test_a_few_letters_fill_no_memory(expression: str) -> None:
    """Bounds are ours; the peer's are a thousand times as wide."""
    assert ours(expression, 5) == REFUSED


def test_in_rules_inside_schemas() -> None:
    rule = ValidationRule("r", None, "decimals.gt(this, decimal('1.5')) ? '' : string(this) + ' is too small'")
    for value in (to_proto_decimal(Decimal("1.50")), Decimal("1.50"), Decimal("2")):
        assert CelValidator().execute(rule, None, value) == peer_cel.CelValidator().execute(rule, None, value)
