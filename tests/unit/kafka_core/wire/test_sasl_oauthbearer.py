"""kafka_core.wire.sasl.oauthbearer: messages, tokens from callbacks, unsecured tokens."""

from __future__ import annotations

import base64
import json
import math

import pytest

from kafka_core.errors import AuthError, ConfigError
from kafka_core.wire.sasl.oauthbearer import OAuthBearerMechanism, Token, token_from_callback, unsecured_token

NOW_S = 1_700_000_000.0


def test_initial_response_of_rfc_7628_and_kip_342() -> None:
    mechanism = OAuthBearerMechanism(Token("vF9dft4qmTc2Nvb3RlckBhbHRhdmlzdGEuY29tCg==", NOW_S))
    assert mechanism.start() == b"n,,\x01auth=Bearer vF9dft4qmTc2Nvb3RlckBhbHRhdmlzdGEuY29tCg==\x01\x01"
    mechanism = OAuthBearerMechanism(Token("abc", NOW_S, extensions={"traceId": "1 2", "b": "x"}))
    assert mechanism.start() == b"n,,\x01auth=Bearer abc\x01traceId=1 2\x01b=x\x01\x01"


def test_accepted_token() -> None:
    assert OAuthBearerMechanism(Token("abc", NOW_S)).respond(b"") is None


def test_refused_token_is_acknowledged_and_then_an_error() -> None:
    mechanism = OAuthBearerMechanism(Token("abc", NOW_S, "ann"))
    assert mechanism.respond(b'{"status":"invalid_token","scope":"a"}') == b"\x01"
    with pytest.raises(AuthError, match=r"user ann with OAUTHBEARER: the broker refuses .* invalid_token, scope a"):
        mechanism.respond(b"")


@pytest.mark.parametrize(
    ("challenge", "shown"), [(b"not json", "not json"), (b"[1]", r"\[1\]"), (b"{}", "{}"), (b"\xff", "\ufffd")]
)
def test_refusals_in_other_words_are_shown_as_they_are(challenge: bytes, shown: str) -> None:
    mechanism = OAuthBearerMechanism(Token("abc", NOW_S))
    mechanism.respond(challenge)
    with pytest.raises(AuthError, match=shown):
        mechanism.respond(b"")


@pytest.mark.parametrize("value", ["", "a b", "a\x01b", "é"])
def test_malformed_tokens_are_refused_without_showing_them(value: str) -> None:
    with pytest.raises(AuthError, match="empty or has forbidden characters") as caught:
        OAuthBearerMechanism(Token(value, NOW_S))
    assert not value or value not in str(caught.value)


@pytest.mark.parametrize(("name", "value"), [("auth", "x"), ("a1", "x"), ("", "x"), ("a", ""), ("a", "x\x01y")])
def test_malformed_extensions_are_refused(name: str, value: str) -> None:
    with pytest.raises(AuthError, match=r"the extension .* is malformed"):
        OAuthBearerMechanism(Token("abc", NOW_S, extensions={name: value}))


def test_token_does_not_show_itself_and_knows_when_to_be_renewed() -> None:
    token = Token("topsecret", NOW_S + 100)
    assert "topsecret" not in repr(token)
    assert token.refresh_delay_s(NOW_S) == pytest.approx(80)
    assert token.refresh_delay_s(NOW_S + 200) == 0


def test_callback_results_as_the_reference_api_takes_them() -> None:
    later = NOW_S + 10
    assert token_from_callback(("t", later), NOW_S) == Token("t", later)
    assert token_from_callback(("t", int(later), "ann"), NOW_S) == Token("t", later, "ann")
    assert token_from_callback(["t", later, "ann", {"a": "b"}], NOW_S) == Token("t", later, "ann", {"a": "b"})
    assert token_from_callback(("t", later, None, None), NOW_S) == Token("t", later)
    token = Token("t", later)
    assert token_from_callback(token, NOW_S) is token


@pytest.mark.parametrize(
    ("result", "reason"),
    [
        (None, "it returned NoneType"),
        ("topsecret", "it returned str"),
        (("topsecret",), "it returned tuple"),
        (("topsecret", NOW_S + 1, "a", {}, 5), "it returned tuple"),
        ((5, NOW_S + 1), "must be text"),
        (("topsecret", NOW_S + 1, 5), "must be text"),
        (("topsecret", "soon"), "expiry must be a number"),
        (("topsecret", True), "expiry must be a number"),
        (("topsecret", math.nan), "expiry must be a number"),
        (("topsecret", NOW_S + 1, "a", ["x"]), "dict of texts"),
        (("topsecret", NOW_S + 1, "a", {"x": 1}), "dict of texts"),
        (("topsecret", NOW_S - 30), "expired 30 s ago"),
    ],
)
def test_other_callback_results_are_refused(result: object, reason: str) -> None:
    with pytest.raises(AuthError, match=f"oauth_cb must return .*{reason}") as caught:
        token_from_callback(result, NOW_S)
    assert "topsecret" not in str(caught.value)


def decoded(part: str) -> object:
    return json.loads(base64.urlsafe_b64decode(part + "=" * (-len(part) % 4)))


def test_unsecured_token() -> None:
    token = unsecured_token("principal=admin scope=a,b lifeSeconds=600 extension_traceId=123", NOW_S)
    header, claims, signature = token.value.split(".")
    assert decoded(header) == {"alg": "none"}
    assert decoded(claims) == {"sub": "admin", "iat": NOW_S, "exp": NOW_S + 600, "scope": ["a", "b"]}
    assert signature == ""
    assert (token.principal, token.expires_at_s, token.extensions) == ("admin", NOW_S + 600, {"traceId": "123"})


def test_unsecured_token_with_other_claim_names_and_an_hour_by_default() -> None:
    token = unsecured_token("principalClaimName=azp principal=admin scopeClaimName=roles scope=r", NOW_S)
    assert decoded(token.value.split(".")[1]) == {"azp": "admin", "iat": NOW_S, "exp": NOW_S + 3600, "roles": ["r"]}


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "principal=NAME is missing"),
        ("principal=", "principal=NAME is missing"),
        ("principal=a lifeSeconds=0", "lifeSeconds"),
        ("principal=a lifeSeconds=x", "lifeSeconds"),
        ("principal=a color=blue", "'color' is unknown"),
        ("principal=a scope", "'scope' is unknown or has no value"),
    ],
)
def test_malformed_settings_of_unsecured_tokens(text: str, reason: str) -> None:
    with pytest.raises(ConfigError, match=reason):
        unsecured_token(text, NOW_S)
