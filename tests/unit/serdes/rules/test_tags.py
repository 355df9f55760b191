"""serdes.rules.tags: patterns of full names."""

from __future__ import annotations

import pytest

from serdes.rules.tags import matches, matching_tags


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
