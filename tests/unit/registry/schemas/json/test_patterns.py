from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from registry.errors import InvalidSchemaError
from registry.limits import MAX_PATTERN_STEPS
from registry.schemas.json.patterns import Patterns, check_pattern

CASES = [
    ("^a", "ab", True),
    ("^a", "ba", False),
    ("a$", "ba", True),
    ("a$", "ba\n", True),
    (r"a\z", "ba\n", False),
    ("", "", True),
    ("^$", "", True),
    ("^[a-c]+$", "abc", True),
    ("^[^a-c]+$", "xyz", True),
    ("^[^a-c]+$", "xaz", False),
    (r"^\d{2,3}$", "123", True),
    (r"^\d{2,3}$", "1234", False),
    (r"^\D$", "x", True),
    (r"^[\s\w]+$", "a b_1", True),
    (r"^\W$", "-", True),
    (r"^\S+$", "a b", False),
    ("^(foo|ba(r|z))?$", "baz", True),
    ("^(foo|bar)$", "fo", False),
    ("^a.c$", "a\nc", False),
    ("(?s)^a.c$", "a\nc", True),
    ("(?m)^b$", "a\nb\nc", True),
    ("(?i)^ABC$", "aBc", True),
    ("^(?i:a)b$", "Ab", True),
    ("^(?i:a)b$", "AB", False),
    (r"\bfoo\b", "a foo b", True),
    (r"\bfoo\b", "afoo", False),
    (r"\Bo", "foo", True),
    ("^(?!x-)", "x-a", False),
    ("^(?!x-)", "y-a", True),
    ("a(?=b)", "ab", True),
    ("(?<=a)b", "ab", True),
    ("(?<!a)b", "ab", False),
    ("^a*?b++$", "aabb", True),
    (r"^\p{Lu}\p{L}+$", "Äpfel", True),
    (r"^\p{L}+$", "é", True),
    (r"^\pL$", "é", True),
    (r"^[\p{L}_]+$", "é_", True),
    (r"^[^\p{L}]$", "é", False),
    (r"^\P{L}$", "1", True),
    (r"^\p{Ll}$", "é", True),
    (r"^\p{IsL}\p{IsAlphabetic}\p{IsLowercase}$", "ééé", True),
    (r"^\p{N}\p{Nd}\p{IsDigit}$", "٣٣٣", True),
    (r"^\p{Nl}$", "Ⅷ", True),
    (r"\p{Digit}|\d", "٣", False),
    (r"\p{Alpha}|\p{Lower}", "é", False),
    (r"\p{Upper}", "É", False),
    (r"^[\p{Alpha}-]+$", "a-b", True),
    (r"^\\p\{L\}$", r"\p{L}", True),
    (r"^\p{Alnum}+$", "a1", True),
    ("^(?<year>[0-9]{4})$", "2024", True),
    ("^(?:ab){2}$", "abab", True),
    ("[é]", "café", True),
]


@pytest.mark.parametrize(("pattern", "text", "expected"), CASES)
def test_occurs(pattern: str, text: str, expected: bool) -> None:
    assert Patterns().occurs(pattern, text) is expected


@given(st.text("ab|()*+?.^$[]", max_size=8), st.text("ab\n", max_size=6))
def test_as_python_finds_it(pattern: str, text: str) -> None:
    try:
        expected = re.search(pattern, text, re.ASCII) is not None
    except (re.error, FutureWarning):
        return
    if "++" in pattern or "*+" in pattern or "?+" in pattern:
        return  # possessive ones give up places that an automaton keeps
    assert Patterns().occurs(pattern, text) is expected


def test_patterns_that_can_not_be_run_never_match() -> None:
    assert not Patterns().occurs(r"(a)\1", "aa")
    assert not Patterns().occurs("(a{1000}){1000}", "a")
    assert not Patterns().occurs("(", "(")


def test_explosive_expressions_are_no_problem() -> None:
    assert not Patterns().occurs("^(a+)+$", "a" * 2_000 + "!")
    assert not Patterns().occurs("^(a|aa)+$", "a" * 2_000 + "!")


def test_the_cost_of_all_patterns_together_is_limited() -> None:
    patterns = Patterns()
    with pytest.raises(InvalidSchemaError, match="takes too long"):
        for _ in range(MAX_PATTERN_STEPS):
            patterns.occurs("^(x|y|z)*$", "xyz" * 100)


@pytest.mark.parametrize("pattern", ["(", "a)", "[a", "\\", "*a", "[b-a]", "a{3,2}"])
def test_no_regular_expression(pattern: str) -> None:
    with pytest.raises(InvalidSchemaError, match="is no regular expression"):
        check_pattern(pattern, "#/pattern")


def test_nested_too_deeply() -> None:
    with pytest.raises(InvalidSchemaError, match="nested too deeply"):
        check_pattern("(" * 20_000 + ")" * 20_000, "#/pattern")


@pytest.mark.parametrize("pattern", [r"\p{L}", "[a-z&&[^b]]", "(?<a>b)", "a++", r"\x{1F600}", r"\Qa(\E"[:4]])
def test_patterns_that_only_java_knows_are_accepted(pattern: str) -> None:
    check_pattern(pattern, "#/pattern")
