"""serdes.rules.cel_functions: forms of text."""

from __future__ import annotations

import pytest

from serdes.rules.bounds import Bounds
from serdes.rules.cel import evaluate

LONG = "a" * 64


@pytest.mark.parametrize(
    ("function", "text", "expected"),
    [
        ("isEmail", "ada@example.org", True),
        ("isEmail", "ada@", False),
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
