from __future__ import annotations

import pytest

from registry.dev.handlers.requests import Call, Request, answer, refused
from registry.dev.refusal import Refusal
from registry.dev.state.state import State


def call(target: str, body: bytes = b"", **names: str) -> Call:
    return Call(State(), Request.to("GET", target, body), names)


def test_targets_are_taken_apart_before_they_are_unquoted() -> None:
    request = Request.to("GET", "/subjects/a%2Fb%25/versions/?key=x%26y&key=&flag")
    assert request.path == ("subjects", "a/b%", "versions")
    assert request.query == {"key": ["x&y", ""], "flag": [""]}
    assert Request.to("GET", "/").path == ()


@pytest.mark.parametrize("target", ["/%zz", "/%", "/%f", "/%ff", "/x?a=%zz", "/x?a=%ff", "/x?" + "a=1&" * 2000])
def test_bad_targets_are_400(target: str) -> None:
    with pytest.raises(Refusal) as caught:
        Request.to("GET", target)
    assert caught.value.status == 400


def test_parameters() -> None:
    asked = call("/x?a=TRUE&b=no&n=+5&n=7&empty=")
    assert asked.flag("a")
    assert not asked.flag("b")
    assert not asked.flag("c")
    assert (asked.number("n", 1), asked.number("empty", 2), asked.number("none", 3)) == (5, 2, 3)
    assert asked.texts("n") == [" 5", "7"]
    assert asked.text("none") is None


@pytest.mark.parametrize("text", ["x", "1.5", "99999999999", "٣"])
def test_numbers_that_are_none_are_404_as_in_java(text: str) -> None:
    with pytest.raises(Refusal) as caught:
        call(f"/x?n={text}").number("n", 0)
    assert caught.value.status == 404


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("", [1, 2, 3]),
        ("offset=1", [2, 3]),
        ("limit=2", [1, 2]),
        ("offset=1&limit=1", [2]),
        ("limit=0", [1, 2, 3]),
        ("limit=99999", [1, 2, 3]),
        ("limit=-1&offset=-5", [1, 2, 3]),
    ],
)
def test_pages(query: str, found: list[int]) -> None:
    assert call(f"/x?{query}").page([1, 2, 3]) == found


@pytest.mark.parametrize(
    ("text", "version"), [("latest", -1), ("LATEST", -1), ("-1", -1), (" 3", 3), ("2147483647", 2**31 - 1)]
)
def test_versions(text: str, version: int) -> None:
    assert call("/", version=text).version == version


@pytest.mark.parametrize("text", ["0", "-2", "x", "", "2147483648", "1.0", "٣"])
def test_versions_that_are_none(text: str) -> None:
    with pytest.raises(Refusal) as caught:
        _ = call("/", version=text).version
    assert caught.value.code == 42202


def test_names_in_the_path() -> None:
    assert call("/", subject=":.:a").subject == "a"
    assert call("/", id="-5").schema_id == -5
    with pytest.raises(Refusal):
        _ = call("/", id="five").schema_id


@pytest.mark.parametrize(
    ("body", "status"),
    [(b"", 422), (b" ", 422), (b"{", 400), (b"[]", 400), (b"5", 400), (b"\xff", 400), (b"[" * 200_000, 400)],
)
def test_bodies_that_are_no_objects(body: bytes, status: int) -> None:
    with pytest.raises(Refusal) as caught:
        call("/", body).body()
    assert caught.value.status == status


@pytest.mark.parametrize(
    ("body", "why"),
    [(b'{"schema": "x" 1}', "line 1 column 16"), (b"\xff", "byte 0xff"), (b"[" * 200_000, "too deeply")],
)
def test_broken_json_is_shown_where_it_breaks(body: bytes, why: str) -> None:
    with pytest.raises(Refusal, match=why):
        call("/", body).body()


def test_answers_are_json() -> None:
    assert answer({"a": "ä"}).body == '{"a": "ä"}'.encode()
    response = refused(Refusal(404, 40401, "no", [("X", "y")]))
    assert (response.status, response.headers) == (404, (("X", "y"),))
    assert response.body == b'{"error_code": 40401, "message": "no"}'
