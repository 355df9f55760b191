from __future__ import annotations

import base64
import json
import random
from typing import Any
from urllib.parse import parse_qs

import pytest

from registry.client.auth import Anonymous, Basic, Bearer, Credentials, OAuth, credentials
from registry.client.config import ClientConfig
from registry.client.steps import Reply, Unreachable
from registry.errors import OAuthTokenError, TransportError
from tests.unit.registry.client.driving import Driver


def headers(source: Credentials) -> dict[str, str]:
    return dict(Driver([]).run(source.authorize()))


def configured(driver: Driver | None = None, /, **conf: Any) -> Credentials:
    clock = Driver([]).clock if driver is None else driver.clock
    return credentials(ClientConfig.parse({"url": "http://a", **conf}), clock, random.Random(1))


def test_basic() -> None:
    token = headers(configured(**{"basic.auth.user.info": "alice:pä:ss"}))["Authorization"]
    assert token.startswith("Basic ")
    assert base64.b64decode(token[6:]).decode() == "alice:pä:ss"


def test_bearer() -> None:
    source = configured(**{"bearer.auth.token": "t", "bearer.auth.logical.cluster": "c"})
    assert headers(source) == {"Authorization": "Bearer t", "target-sr-cluster": "c"}


def test_nothing() -> None:
    assert isinstance(configured(), Anonymous)
    assert headers(configured()) == {}


def test_no_secret_in_repr() -> None:
    assert "geheim" not in repr(Basic("alice", "geheim")) + repr(Bearer("geheim"))
    assert base64.b64encode(b"alice:geheim").decode() not in repr(Basic("alice", "geheim"))


# --- OAuth2

OAUTH = {
    "bearer.auth.credentials.source": "OAUTHBEARER",
    "bearer.auth.client.id": "me:too",
    "bearer.auth.client.secret": "geheim/%",
    "bearer.auth.scope": "registry",
    "bearer.auth.issuer.endpoint.url": "https://issuer/token",
    "bearer.auth.logical.cluster": "lsrc-1",
    "bearer.auth.identity.pool.id": ["p1", "p2"],
}


def token(value: str = "t1", life_s: float | None = 100) -> Reply:
    body: dict[str, Any] = {"access_token": value, "token_type": "bearer"}
    return Reply(200, json.dumps(body if life_s is None else {**body, "expires_in": life_s}).encode())


def ask(driver: Driver, source: Credentials) -> dict[str, str]:
    return dict(driver.run(source.authorize()))


def test_a_token_is_asked_for_as_rfc_6749_says() -> None:
    driver = Driver([token()])
    found = ask(driver, configured(driver, **OAUTH))
    assert found == {
        "Authorization": "Bearer t1",
        "target-sr-cluster": "lsrc-1",
        "Confluent-Identity-Pool-Id": "p1,p2",
    }
    (sent,) = driver.sent
    assert (sent.method, sent.url) == ("POST", "https://issuer/token")
    assert parse_qs((sent.content or b"").decode()) == {"grant_type": ["client_credentials"], "scope": ["registry"]}
    assert base64.b64decode(sent.headers["Authorization"][6:]).decode() == "me%3Atoo:geheim%2F%25"


def test_a_token_is_kept_for_most_of_its_life() -> None:
    driver = Driver([token("t1"), token("t2")])
    source = configured(driver, **OAUTH)
    assert [ask(driver, source)["Authorization"] for _ in range(3)] == ["Bearer t1"] * 3
    driver.now_s += 79
    assert ask(driver, source)["Authorization"] == "Bearer t1"
    driver.now_s += 2
    assert ask(driver, source)["Authorization"] == "Bearer t2"
    assert len(driver.sent) == 2
    assert len(set(driver.shared)) == 1  # so that only one asks at a time


def test_a_renewal_that_fails_leaves_the_old_token_in_use(caplog: pytest.LogCaptureFixture) -> None:
    driver = Driver([token("t1"), Unreachable("refused", sent=False)])
    source = configured(driver, **OAUTH, **{"max.retries": 1, "retries.max.wait.ms": 5000})
    ask(driver, source)
    driver.now_s += 85
    assert ask(driver, source)["Authorization"] == "Bearer t1"
    assert "not renewed yet" in caplog.text
    asked = len(driver.sent)
    ask(driver, source)
    assert len(driver.sent) == asked  # not for every request
    driver.now_s += 20
    with pytest.raises(TransportError, match="no token from https://issuer/token: refused"):
        ask(driver, source)


def test_a_busy_issuer_is_asked_again() -> None:
    driver = Driver([Reply(503, b""), Unreachable("reset", sent=True), token()])
    assert ask(driver, configured(driver, **OAUTH))["Authorization"] == "Bearer t1"
    assert len(driver.waits) == 2


def test_a_life_that_is_not_told_is_short() -> None:
    driver = Driver([Reply(200, b'{"access_token": "t1", "expires_in": null}'), token("t2")])
    source = configured(driver, **OAUTH)
    assert ask(driver, source)["Authorization"] == "Bearer t1"
    driver.now_s += 300
    assert ask(driver, source)["Authorization"] == "Bearer t2"


def test_a_token_that_no_header_takes_is_refused_and_not_shown() -> None:
    fields = {"bearer.auth.token": "geheim\n", "bearer.auth.logical.cluster": "c", "bearer.auth.identity.pool.id": "p"}
    for name in ("bearer.auth.token", "bearer.auth.logical.cluster"):
        with pytest.raises(ValueError, match=f"{name} must be printable ASCII, without line breaks") as refused:
            ClientConfig.parse({"url": "http://a", **fields, "bearer.auth.token": "t", name: "geheim\r\nX: y"})
        assert "geheim" not in str(refused.value)
    custom = {
        "bearer.auth.credentials.source": "CUSTOM",
        "bearer.auth.custom.provider.function": lambda conf: fields,
        "bearer.auth.custom.provider.config": {},
    }
    driver = Driver([])
    with pytest.raises(TransportError, match="without line breaks") as caught:
        ask(driver, configured(driver, **custom))
    assert "geheim" not in str(caught.value)


@pytest.mark.parametrize(
    ("reply", "text"),
    [
        (
            Reply(401, b'{"error": "invalid_client", "error_description": "who?"}'),
            r"\(HTTP 401\): invalid_client: who?",
        ),
        (Reply(400, b"<html>"), r"\(HTTP 400\)$"),
        (Reply(200, b"{}"), r"\(HTTP 200\)"),
        (Reply(200, b"[]"), r"\(HTTP 200\)"),
        (Reply(200, b'{"access_token": 5}'), r"\(HTTP 200\)"),
        (Reply(200, b'{"access_token": ""}'), r"\(HTTP 200\)"),
        (Reply(200, '{"access_token": "geheim-tökén"}'.encode()), r"\(HTTP 200\)"),
        (Reply(200, b'{"access_token": "geheim\\n"}'), r"\(HTTP 200\)"),
        (Reply(200, b'{"access_token": "x", "expires_in": "soon"}'), r"\(HTTP 200\)"),
        (Reply(200, b'{"access_token": "x", "expires_in": NaN}'), r"\(HTTP 200\)"),
        (Reply(200, b'{"access_token": "x", "expires_in": 1e999}'), r"\(HTTP 200\)"),
    ],
)
def test_token_refusals_are_raised_at_once(reply: Reply, text: str) -> None:
    driver = Driver([reply])
    with pytest.raises(TransportError, match=text) as caught:
        ask(driver, configured(driver, **OAUTH))
    assert len(driver.sent) == 1
    assert "geheim" not in str(caught.value) + repr(caught.value)


def test_a_refusal_that_repeats_a_secret_is_not_shown() -> None:
    basic = base64.b64encode(b"me%3Atoo:geheim%2F%25").decode()
    for echo in ("geheim/%", "geheim%2F%25", basic, f"eyJhbGciOiJub25lIn0.{'x' * 20}.", "x" * 40):
        for body in ({"error": f"no {echo}"}, {"error": "invalid_client", "error_description": f"not {echo}"}):
            driver = Driver([Reply(401, json.dumps(body).encode())])
            with pytest.raises(OAuthTokenError, match=r"\(HTTP 401\): (no|invalid_client: not) …$") as caught:
                ask(driver, configured(driver, **OAUTH))
            assert echo not in str(caught.value) + repr(caught.value)


def test_a_life_that_is_no_number_is_refused() -> None:
    driver = Driver([Reply(200, b'{"access_token": "geheim", "expires_in": true}')])
    with pytest.raises(OAuthTokenError, match="HTTP 200"):
        ask(driver, configured(driver, **OAUTH))


def test_a_token_without_a_life_is_renewed_now_and_then() -> None:
    driver = Driver([token("t1", None), token("t2", None)])
    source = configured(driver, **OAUTH)
    ask(driver, source)
    driver.now_s += 290
    assert ask(driver, source)["Authorization"] == "Bearer t2"


def test_azure_s_metadata_service_needs_no_secret() -> None:
    driver = Driver([token()])
    conf = {
        "bearer.auth.credentials.source": "OAUTHBEARER_AZURE_IMDS",
        "bearer.auth.issuer.endpoint.query": "resource=x&api-version=2018-02-01",
        "bearer.auth.logical.cluster": "lsrc-1",
    }
    assert ask(driver, configured(driver, **conf))["Authorization"] == "Bearer t1"
    (sent,) = driver.sent
    assert sent.url == "http://169.254.169.254/metadata/identity/oauth2/token?resource=x&api-version=2018-02-01"
    assert (sent.method, dict(sent.headers)) == ("GET", {"Metadata": "true"})


# --- a user's function


def custom(result: Any) -> Credentials:
    def function(conf: dict[str, Any]) -> Any:
        assert conf == {"a": 1}
        if isinstance(result, Exception):
            raise result
        return result

    return configured(
        **{
            "bearer.auth.credentials.source": "CUSTOM",
            "bearer.auth.custom.provider.function": function,
            "bearer.auth.custom.provider.config": {"a": 1},
        }
    )


def test_a_function_gives_token_and_headers() -> None:
    fields = {"bearer.auth.token": "t", "bearer.auth.logical.cluster": "c", "bearer.auth.identity.pool.id": "p"}
    assert headers(custom(fields)) == {
        "Authorization": "Bearer t",
        "target-sr-cluster": "c",
        "Confluent-Identity-Pool-Id": "p",
    }


@pytest.mark.parametrize("result", [None, {}, "token", *({"bearer.auth.token": wrong} for wrong in ("", 5, "tökén"))])
def test_a_function_that_gives_no_token(result: Any) -> None:
    with pytest.raises(TransportError, match=r"gave (no|a) 'bearer\.auth\.token'"):
        headers(custom(result))


def test_a_function_that_fails() -> None:
    with pytest.raises(TransportError, match="failed: RuntimeError"):
        headers(custom(RuntimeError("no")))
    with pytest.raises(TransportError, match="own"):
        headers(custom(TransportError(-1, -1, "own")))


def test_no_secret_of_any_kind_shows() -> None:
    driver = Driver([token("t0ken")])
    source = configured(driver, **OAUTH)
    ask(driver, source)
    assert isinstance(source, OAuth)
    shown = repr(source) + repr(driver.sent) + repr(ClientConfig.parse({"url": "http://a", **OAUTH}))
    for secret in ("geheim", "t0ken", driver.sent[0].headers["Authorization"][6:]):
        assert secret not in shown
