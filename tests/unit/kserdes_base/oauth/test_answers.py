"""kserdes_base.oauth.answers: what an endpoint gives, and why it gives nothing."""

from __future__ import annotations

import json

import pytest

from kserdes_base.oauth.answers import LONGEST_TEXT, claims_of, excerpt_of, object_of, reason_of, seconds_of, token_in
from tests.identity_provider import unsigned_jwt

DEEP = b"[" * 100_000


def test_fields_of_an_object() -> None:
    assert object_of(b'{"a": 1}') == {"a": 1}
    assert object_of(b"[1]") == {}


@pytest.mark.parametrize("answer", [b"", b"<html>", b"\xff\xfe", DEEP])
def test_what_is_no_json_is_refused(answer: bytes) -> None:
    with pytest.raises(ValueError, match=r".+"):
        object_of(answer)


@pytest.mark.parametrize(("token", "found"), [("t", "t"), ("", None), (5, None), (None, None)])
def test_a_token_is_a_text(token: object, found: str | None) -> None:
    assert token_in({"access_token": token}) == found


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        (60, 60.0),
        (0.5, 0.5),
        ("86400", 86400.0),
        *((wrong, None) for wrong in (None, True, "soon", "NaN", "inf", float("nan"), float("inf"), 10**400, [1])),
    ],
)
def test_a_life_is_a_number_that_ends(value: object, seconds: float | None) -> None:
    assert seconds_of(value) == seconds


def test_claims_of_a_token() -> None:
    assert claims_of(unsigned_jwt(sub="alice"))["sub"] == "alice"


@pytest.mark.parametrize("token", ["opaque", "a.b.c", "a.WzFd.c", "a.é.c", "a.b.c.d", "a." + "W1tb" * 30_000 + ".c"])
def test_what_is_no_jwt_has_no_claims(token: str) -> None:
    assert claims_of(token) == {}


@pytest.mark.parametrize(
    ("answer", "reason", "excerpt"),
    [
        ({"error": "e", "error_description": "d"}, "e: d", "e: d"),
        ({"error": "e"}, "e", "e"),
        ({"error_description": "d"}, "d", "d"),
        ({"error": {"code": 403}}, None, "JSON without the field error: it has error"),
        ({"message": "no", "id": 3}, None, "JSON without the field error: it has message, id"),
        ({"error": "not geheim!"}, "not …!", "not …!"),
        (b"no geheim", None, "no …"),
        (b"", None, "no reason given"),
        (b"\xff no", None, "\ufffd no"),
        (b"x " * 500, None, "x " * (LONGEST_TEXT // 2)),
    ],
)
def test_a_refusal_is_shown_without_secrets(answer: object, reason: str | None, excerpt: str) -> None:
    body = answer if isinstance(answer, bytes) else json.dumps(answer).encode()
    assert reason_of(body, {"geheim"}) == reason
    assert excerpt_of(body, {"geheim"}) == excerpt


def test_a_nested_answer_is_no_reason() -> None:
    assert reason_of(DEEP, ()) is None
    assert excerpt_of(DEEP, ()) == "[" * LONGEST_TEXT
