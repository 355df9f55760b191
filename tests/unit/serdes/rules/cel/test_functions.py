"""serdes.rules.cel.functions: forms of text."""

from __future__ import annotations

import decimal

import pytest

from serdes.rules import RuleError
from serdes.rules.bounds import Bounds
from serdes.rules.cel.executor import evaluate

LONG = "a" * 64


@pytest.mark.parametrize(
    ("function", "text", "expected"),
    [
        ("isEmail", "ada@example.org", True),
        ("isEmail", "ada@", False),
        ("isEmail", "@ada", True),  # as confluent_kafka
        ("isEmail", "@", False),
        ("isEmail", "ada", False),
        ("isEmail", "Ada <ada@example.org>", False),
        ("isEmail", f"{LONG}a@example.org", False),
        ("isEmail", "a@b@c.org", False),
        ("isHostname", "example.org", True),
        ("isHostname", "example.org.", True),
        ("isHostname", "-x.org", False),
        ("isHostname", "127.0.0.1", False),
        ("isHostname", "a..b", False),
        ("isHostname", "", False),
        ("isHostname", f"{LONG}.org", False),
        ("isHostname", ".".join(["a" * 60] * 5), False),
        ("isIpv4", "127.0.0.1", True),
        ("isIpv4", "::1", False),
        ("isIpv4", "300.0.0.1", False),
        ("isIpv6", "::1", True),
        ("isIpv6", "127.0.0.1", False),
        ("isUri", "https://example.org/a", True),
        ("isUri", "https://example.org", False),
        ("isUri", "/a", False),
        ("isUri", "http://[", False),
        ("isUriRef", "/a", True),
        ("isUriRef", "#x", False),
        ("isUriRef", "http://[", False),
        ("isUuid", "12345678-1234-5678-1234-567812345678", True),
        ("isUuid", "x", False),
    ],
)
def test_forms(function: str, text: str, expected: bool) -> None:
    assert bool(evaluate(f"{function}('{text}')", {}, Bounds("r"))) is expected


@pytest.mark.parametrize(
    ("expr", "expected"),
    [
        ("string(true) + string(1 > 2)", "truefalse"),
        ("string(1) + string(2u) + string(1.5)", "121.5"),
        ("string(b'ab') + string('c')", "abc"),
        ("string(timestamp('2026-01-01T00:00:00.123Z'))", "2026-01-01T00:00:00.123Z"),
        ("string(timestamp('2026-01-01T01:00:00.000001+01:00'))", "2026-01-01T00:00:00.000001Z"),
        ("string(timestamp('2026-01-01T00:00:00Z'))", "2026-01-01T00:00:00Z"),
        ("string(timestamp(5))", "1970-01-01T00:00:05Z"),
        ("string(timestamp(-1500, 3))", "1969-12-31T23:59:58.500Z"),
        ("string(timestamp(1500000000, 9))", "1970-01-01T00:00:01.500Z"),
        ("string(d)", "0.0000001"),
        ("'%s is %d, %.2f%%'.format(['x', 5, 1.234])", "x is 5, 1.23%"),
        ("'%s %s %s'.format([true, b'ab', ['a', 1]])", 'true 6162 ["a", 1]'),
        ("'%x %X %o %b %b'.format([255, 'az', 8, 5, true])", "ff 617A 10 101 1"),
        ("'%e %f'.format([1.5, 2])", "1.500000e+00 2"),
    ],
)
def test_texts_are_made_as_cel_says(expr: str, expected: str) -> None:
    assert evaluate(expr, {"d": decimal.Decimal("1e-7")}, Bounds("r")) == expected


@pytest.mark.parametrize(
    "expr",
    [
        "string(null)",
        "string([1])",
        "string(d)",
        "timestamp(true)",
        "timestamp(5u)",
        "timestamp(5, 4)",
        "timestamp(9223372036854775807)",
        "'%d'.format(['x'])",
        "'%s'.format([])",
        "'x'.format([1])",
        "'%q'.format([1])",
        "'%'.format([1])",
        "'%s'.format('x')",
    ],
)
def test_values_without_a_text_are_refused(expr: str) -> None:
    with pytest.raises(RuleError, match="failed"):
        evaluate(expr, {"d": decimal.Decimal("1e999999")}, Bounds("r"))


def test_a_precision_is_bounded() -> None:
    assert len(evaluate("'%.999999999f'.format([1.5])", {}, Bounds("r"))) < 2000
