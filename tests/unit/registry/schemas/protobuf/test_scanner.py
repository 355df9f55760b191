from __future__ import annotations

import re

import pytest

from registry import InvalidSchemaError
from registry.schemas.protobuf.scanner import Scanner


def test_words_strings_and_signs() -> None:
    scan = Scanner("\ufeffmessage a.B /* c */ = -0x10 // d\n (e.f) [g] \"h\" 'i';;;")
    assert [scan.word(), scan.word()] == ["message", "a.B"]
    scan.need("=")
    assert scan.integer() == -16
    assert [scan.name(), scan.name()] == ["e.f", "g"]
    assert scan.at_string()
    assert scan.string() == "hi"
    scan.skip_semicolons()
    assert scan.at_end()


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        (r'"a\n\t\"\\\'"', "a\n\t\"\\'"),
        (r'"\x41\101\u0042\U00000043\q"', "AABCq"),
        (r'"\U7fffffff"', "\ufffd"),
        ("'it\"s'", 'it"s'),
        ('"a" "b"', "ab"),
    ],
)
def test_escapes(written: str, meant: str) -> None:
    assert Scanner(written).string() == meant


@pytest.mark.parametrize("text", ["99999999999", "1.5", "a", "2147483648", "9" * 10_000])
def test_tokens_that_are_no_integers_are_refused(text: str) -> None:
    with pytest.raises(InvalidSchemaError, match="expected an integer"):
        Scanner(text).integer()


def test_errors_have_a_place() -> None:
    scan = Scanner("a\n  b ;", "x.proto: ")
    scan.word()
    scan.word()
    with pytest.raises(InvalidSchemaError, match=re.escape("x.proto: line 2, column 5: expected '=', found ';'")):
        scan.need("=")


@pytest.mark.parametrize(("text", "reason"), [("/* a", "unterminated comment"), ('"a', "string"), ('"\\', "string")])
def test_unterminated(text: str, reason: str) -> None:
    with pytest.raises(InvalidSchemaError, match=reason):
        Scanner(text).string()


def test_a_match_is_accepted_by_stepping_over_it() -> None:
    scan = Scanner("abc def")
    found = scan.match(re.compile("abc"))
    assert found is not None
    scan.skip_to(found.end())
    assert scan.word() == "def"
