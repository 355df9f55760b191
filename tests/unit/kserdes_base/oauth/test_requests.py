"""kserdes_base.oauth.requests: what is sent to token endpoints, and which of it is secret."""

from __future__ import annotations

import base64
from urllib.parse import parse_qs

import pytest

from kserdes_base.oauth.requests import AZURE_TOKENS, JWT_BEARER, TokenRequest, instance_metadata

URL = "https://issuer/token"


def shown_pair(request: TokenRequest) -> str:
    return base64.b64decode(request.headers["Authorization"].removeprefix("Basic ")).decode()


@pytest.mark.parametrize(("form_encoded", "pair"), [(True, "me%3Atoo:a%20b%2F%25"), (False, "me:too:a b/%")])
def test_a_client_shows_id_and_secret(form_encoded: bool, pair: str) -> None:
    request = TokenRequest(URL, "me:too", "a b/%", "read write", form_encoded=form_encoded)
    assert (request.method, shown_pair(request)) == ("POST", pair)
    assert parse_qs((request.content or b"").decode()) == {
        "grant_type": ["client_credentials"],
        "scope": ["read write"],
    }
    assert request.headers["Content-Type"] == "application/x-www-form-urlencoded"


def test_an_assertion_takes_the_place_of_a_secret() -> None:
    request = TokenRequest(URL, assertion="a.b.c")
    assert (request.method, request.form) == ("POST", {"grant_type": JWT_BEARER, "assertion": "a.b.c"})
    assert "Authorization" not in request.headers


@pytest.mark.parametrize(
    ("url", "query", "keeps_query", "asked"),
    [
        (None, "a=b", True, f"{AZURE_TOKENS}?a=b"),
        (None, "a=b", False, f"{AZURE_TOKENS}?a=b"),
        ("http://h/t?z=1#part", "a=b", True, "http://h/t?z=1&a=b"),
        ("http://h/t?z=1#part", "a=b", False, "http://h/t?a=b"),
        ("http://h/t?z=1", None, True, "http://h/t?z=1"),
        ("http://h/t?z=1", None, False, "http://h/t?z=1"),
    ],
)
def test_an_azure_host_asks_with_a_query(url: str | None, query: str | None, keeps_query: bool, asked: str) -> None:
    request = instance_metadata(url, query, keeps_query=keeps_query)
    assert (request.url, request.method, request.content) == (asked, "GET", None)
    assert request.headers == {"Metadata": "true"}


@pytest.mark.parametrize("form_encoded", [True, False])
def test_every_spelling_of_a_secret_is_known(form_encoded: bool) -> None:
    url = "https://user:p%40ss@issuer/token?key=hidden"
    request = TokenRequest(url, "me", 'a b/"%', "scope", form_encoded=form_encoded)
    pair = request.headers["Authorization"].removeprefix("Basic ")
    assert {"p%40ss", "p@ss", "hidden", 'a b/"%', "a+b%2F%22%25", "a%20b%2F%22%25", 'a b/\\"%', pair} <= request.secrets
    assert TokenRequest(URL, assertion="a.b/c").secrets == {"a.b/c", "a.b%2Fc"}
    assert not {"me", "scope", "", URL} & request.secrets


def test_no_secret_is_in_a_repr() -> None:
    request = TokenRequest("https://user:geheim@issuer/token?key=geheim", "me", "geheim", assertion="geheim")
    assert repr(request) == "TokenRequest(https://issuer/token)"
