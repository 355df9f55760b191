"""serdes.rules.cel.decimals: decimals in rules; tests/interop/test_cel_decimals_peers.py compares with the peer."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from registry import Schema
from serdes.decimals import from_proto_decimal, to_proto_decimal
from serdes.formats.protobuf.codec import load
from serdes.rules import RuleError
from serdes.rules.bounds import Bounds
from serdes.rules.cel.executor import evaluate
from serdes.rules.cel.values import field_to_cel, from_cel, to_cel

PRICED = """syntax = "proto3"; package t; import "confluent/type/decimal.proto";
message Priced { confluent.type.Decimal price = 1; }"""


def result(expression: str, this: Any = 5) -> Any:
    return evaluate(expression, {"this": field_to_cel(this, None)}, Bounds("r"))


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("decimals.add(decimal('1.10'), decimal('2'))", "3.10"),
        ("decimals.sub(decimal('1'), 2)", "-1"),
        ("decimals.mul(decimal('1.5'), '2.0')", "3.00"),
        ("decimals.div(decimal('2'), decimal('3'))", "0." + "6" * 37 + "7"),
        ("decimals.mod(decimal('-7'), decimal('3'))", "-1"),
        ("decimals.sqrt(decimal('9.0'))", "3"),
        ("decimals.sqrt(decimal('2'))", "1.4142135623730950488016887242096980786"),
        ("decimals.round(decimal('2.5'))", "3"),
        ("decimals.round(decimal('1234'), -2)", "1.2E+3"),
        ("decimals.trunc(decimal('-2.59'), 1)", "-2.5"),
        ("decimals.trunc(decimal('2'), 1)", "2"),
        ("decimals.floor(decimal('-2.1'))", "-3"),
        ("decimals.ceil(decimal('2.1'))", "3"),
        ("decimals.greatest(decimal('2'), 3)", "3"),
        ("decimals.least(decimal('2'), 3)", "2"),
        ("decimals.neg(decimal('2'))", "-2"),
        ("decimals.abs(decimal('-2'))", "2"),
        ("decimal(b'\\x01\\x00', 1)", "25.6"),
        ("decimal(1.5)", "1.5"),
    ],
)
def test_decimals(expression: str, value: str) -> None:
    assert str(result(expression)) == value


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("decimals.sign(decimal('-2'))", -1),
        ("decimals.sign(decimal('0.00'))", 0),
        ("decimals.le(1, decimal('1.0'))", True),
        ("decimal('1') == decimal('1.0')", True),
        ("decimal('1') != decimal('1.0')", False),
        ("decimal('1') == 1", False),
        ("{'a': [decimal('1')]} == {'a': [decimal('1.0')]}", True),
        ("[decimal('1'), 2] == [decimal('1.0'), 3]", False),
        ("[decimal('1')] == [decimal('1.0'), 3]", False),
        ("decimal('2') in [1, decimal('2.0')]", True),
        ("'a' in {'a': decimal('1')}", True),
        ("string(decimal('-0.0'))", "0.0"),
        ("double(decimal('1.5'))", 1.5),
        ("double('1.5')", 1.5),
        ("this in [4, 5]", True),
    ],
)
def test_other_results(expression: str, value: Any) -> None:
    assert result(expression) == value


@pytest.mark.parametrize(
    ("expression", "text"),
    [
        ("decimals.div(decimal('1'), 0)", "division by zero"),
        ("decimals.mod(decimal('1'), 0)", "division by zero"),
        ("decimals.sqrt(decimal('-1'))", "square root of negative number"),
        ("decimals.add(this.nothing, 1)", "failed"),
        ("decimals.add(1)", "does not take that"),
        ("decimals.abs()", "does not take that"),
        ("decimals.add(1 / 0, 1)", "divide by zero"),
        ("decimal('x')", "the text is no number"),
        ("decimal('1e2147483648')", "the text is no number"),
        ("decimal(null)", "takes no null"),
        ("decimal(b'a')", "takes no BytesType"),
        ("decimal('1', 2)", "or bytes and a scale"),
        ("decimal(b'a', 1.0)", "an int of 32 bits"),
        ("decimals.round(decimal('1'), 1, 1)", "takes a decimal and a scale"),
        ("decimals.round(decimal('1'), 20000)", "more than 10000 digits"),
        ("decimals.add(decimal('1e20000'), 1)", "more than 10000 digits"),
        ("decimals.div(decimal('1e2147483647'), decimal('1e-2147483647')) == decimal('x')", "the text is no number"),
        ("double(b'1')", "takes no BytesType"),
    ],
)
def test_refused(expression: str, text: str) -> None:
    with pytest.raises(RuleError, match=text):
        result(expression)


def test_out_of_range() -> None:
    with pytest.raises(RuleError, match=r"decimals\.mul\(\) does not take that, or its result is out of range"):
        result("decimals.mul(this, this)", Decimal("1E+900000000000000000"))


def test_neither_nan_nor_infinite() -> None:
    with pytest.raises(RuleError, match="neither NaN nor infinite"):
        result("decimals.add(this, 1)", Decimal("NaN"))


def test_too_many_bytes() -> None:
    with pytest.raises(RuleError, match="more than 4000 bytes"):
        result("decimal(this, 0)", b"a" * 4001)


def test_messages_are_decimals_and_a_rule_may_give_one() -> None:
    kind = load(Schema(PRICED, "PROTOBUF")).named("t.Priced")
    message: Any = kind()
    message.price.CopyFrom(type(message.price).FromString(to_proto_decimal(Decimal("1.50")).SerializeToString()))
    assert result("this == decimal('1.5')", message.price) == True  # noqa: E712
    names = {"message": to_cel(message)}
    made = evaluate("{'price': decimals.add(message.price, decimal('0.25'))}", names, Bounds("r"))
    changed: Any = from_cel(made, message)
    assert from_proto_decimal(changed.price) == Decimal("1.75")
