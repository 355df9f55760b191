from __future__ import annotations

import datetime
import json
import logging
import random
from collections.abc import Callable
from typing import Any

import pytest

from registry.client.auth import Basic, credentials
from registry.client.config import ClientConfig
from registry.client.delivery import Delivery, error_of, retry_after_s
from registry.client.steps import Call, Flow, Reply, Send, Unreachable, send
from registry.errors import (
    IncompatibleSchemaError,
    InvalidSchemaError,
    ResponseError,
    SchemaRegistryError,
    TransportError,
    UnexpectedAnswerError,
)
from tests.unit.registry.client.driving import Driver, Outcome

GOOD = Reply(200, b"[]")
BUSY = Reply(503, b"", {})
GONE = Unreachable("connection refused", sent=False)
LOST = Unreachable("timed out", sent=True)


def fetch(call: Call) -> Flow[Reply]:
    return (yield from send(call))


def run(driver: Driver, call: Call | None = None, /, **conf: Any) -> Reply:
    return made(driver, **conf)(call or Call("GET", "/subjects"))


def made(driver: Driver, /, **conf: Any) -> Callable[[Call], Reply]:
    config = ClientConfig.parse({"url": "http://a,http://b", **conf})
    delivery = Delivery(config, Basic("alice", "geheim"), driver.clock, random.Random(1))
    return lambda call: driver.run(delivery.run(fetch(call)))


def test_request_has_url_query_headers_and_body() -> None:
    driver = Driver([GOOD])
    run(driver, Call("POST", "/subjects/x", {"deleted": True, "offset": 3}, {"schema": "s"}))
    (sent,) = driver.sent
    assert (sent.method, sent.url, sent.query) == ("POST", "http://a/subjects/x", {"deleted": "true", "offset": "3"})
    assert json.loads(sent.content or b"") == {"schema": "s"}
    assert sent.headers["Authorization"].startswith("Basic ")
    assert "schemaregistry" in sent.headers["Accept"]
    assert "schemaregistry" in sent.headers["Content-Type"]


def test_next_url_is_tried_at_once_and_stays_first() -> None:
    driver = Driver([GONE, GOOD])
    call = made(driver)
    assert call(Call("GET", "/subjects")) == GOOD
    assert driver.waits == []
    call(Call("GET", "/subjects"))
    assert [sent.url for sent in driver.sent] == ["http://a/subjects", "http://b/subjects", "http://b/subjects"]


def test_rounds_with_growing_full_jitter_pauses() -> None:
    driver = Driver([GONE])
    with pytest.raises(TransportError, match="no answer from http://a, http://b: connection refused"):
        run(driver, **{"max.retries": 6, "retries.wait.ms": 100, "retries.max.wait.ms": 500})
    assert len(driver.sent) == 14
    bounds = [0.1, 0.2, 0.4, 0.5, 0.5, 0.5]
    assert all(0 <= wait <= bound for wait, bound in zip(driver.waits, bounds, strict=True))
    assert len(set(driver.waits)) == 6


def test_jitter_differs_between_clients() -> None:
    waits = []
    for seed in (1, 2):
        driver = Driver([BUSY])
        config = ClientConfig.parse({"url": "http://a", "max.retries": 3})
        delivery = Delivery(config, Basic("a", "b"), driver.clock, random.Random(seed))
        with pytest.raises(ResponseError):
            driver.run(delivery.run(fetch(Call("GET", "/"))))
        waits.append(driver.waits)
    assert waits[0] != waits[1]


@pytest.mark.parametrize("status", [408, 429, 500, 502, 503, 504])
def test_passing_troubles_are_repeated(status: int) -> None:
    driver = Driver([Reply(status, b""), GOOD])
    assert run(driver) == GOOD


@pytest.mark.parametrize("status", [400, 401, 404, 409, 422, 501])
def test_lasting_troubles_are_not(status: int) -> None:
    driver = Driver([Reply(status, b"")])
    with pytest.raises(ResponseError):
        run(driver)
    assert len(driver.sent) == 1


@pytest.mark.parametrize(("outcome", "tries"), [(LOST, 1), (Reply(500, b""), 1), (GONE, 2), (BUSY, 2)])
def test_calls_that_must_not_be_doubled_are_repeated_only_if_not_carried_out(outcome: Outcome, tries: int) -> None:
    driver = Driver([outcome])
    with pytest.raises(SchemaRegistryError):
        run(driver, Call("DELETE", "/subjects/x", repeatable=False), **{"max.retries": 0})
    assert len(driver.sent) == tries


OAUTH = {
    "bearer.auth.credentials.source": "OAUTHBEARER",
    "bearer.auth.client.id": "id",
    "bearer.auth.client.secret": "geheim",
    "bearer.auth.scope": "s",
    "bearer.auth.issuer.endpoint.url": "http://issuer/token",
    "bearer.auth.logical.cluster": "lsrc",
    "bearer.auth.identity.pool.id": "pool",
}
NOT_LET_IN = Reply(401, b'{"error_code": 401, "message": "Unauthorized"}')


def issued(name: str) -> Reply:
    return Reply(200, json.dumps({"access_token": name, "expires_in": 3600}).encode())


def with_tokens(driver: Driver) -> Callable[[Call], Reply]:
    config = ClientConfig.parse({"url": "http://a", **OAUTH})
    source = credentials(config, driver.clock, random.Random(1))
    delivery = Delivery(config, source, driver.clock, random.Random(1))
    return lambda call: driver.run(delivery.run(fetch(call)))


def test_a_token_that_is_refused_before_its_end_is_replaced_once() -> None:
    driver = Driver([issued("one"), GOOD, NOT_LET_IN, issued("two"), GOOD, NOT_LET_IN])
    call = with_tokens(driver)
    assert call(Call("GET", "/subjects")) == GOOD
    driver.now_s += 60
    assert call(Call("POST", "/subjects/x/versions", body={}, repeatable=False)) == GOOD
    assert [sent.headers["Authorization"][-3:] for sent in driver.sent if sent.to_registry] == ["one", "one", "two"]
    for _ in range(3):  # a new token is not thrown away: that would be two requests for each call
        with pytest.raises(ResponseError, match="Unauthorized"):
            call(Call("GET", "/subjects"))
    assert len([sent for sent in driver.sent if not sent.to_registry]) == 2


def test_a_refusal_of_an_older_token_does_not_throw_the_new_one_away() -> None:
    driver = Driver([issued("one")])
    config = ClientConfig.parse({"url": "http://a", **OAUTH})
    source = credentials(config, driver.clock, random.Random(1))
    assert driver.run(source.authorize())["Authorization"] == "Bearer one"
    driver.now_s += 60
    assert source.refused({"Authorization": "Bearer before"})
    assert driver.run(source.authorize())["Authorization"] == "Bearer one"
    assert len(driver.sent) == 1


def test_a_user_who_is_refused_is_told_so_at_once() -> None:
    driver = Driver([NOT_LET_IN])
    with pytest.raises(ResponseError, match="Unauthorized"):
        run(driver)
    assert len(driver.sent) == 1


def test_retry_after_is_honoured() -> None:
    driver = Driver([Reply(429, b"", {"retry-after": "7"}), Reply(429, b"", {"retry-after": "7"}), GOOD])
    run(driver, **{"retries.wait.ms": 1})
    assert driver.waits == [7.0]


def test_a_deadline_over_all_tries() -> None:
    driver = Driver([Reply(503, b"", {"retry-after": "100000"})])
    with pytest.raises(ResponseError):
        run(driver, timeout=5)
    assert driver.waits == []


def test_slow_tries_eat_the_deadline() -> None:
    driver = Driver([GONE])

    def slow(step: Send) -> Outcome:
        driver.now_s += 6.0
        return LOST

    driver._outcomes = [slow]
    with pytest.raises(TransportError):
        run(driver, timeout=5, **{"max.retries": 2, "retries.wait.ms": 1})
    assert len(driver.sent) == 3  # 15 s for all: the third try ends after 18


def test_no_secret_in_errors_and_logs(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    driver = Driver([GONE])
    with pytest.raises(TransportError) as caught:
        run(driver, url="http://bob:geheim@a")
    assert "geheim" not in str(caught.value) + caplog.text
    assert "connection refused" in caplog.text


def test_errors_are_thrown_into_the_flow() -> None:
    def careful() -> Flow[str]:
        try:
            yield from send(Call("GET", "/subjects/x"))
        except ResponseError as error:
            return f"caught {error.error_code}"
        return "nothing"

    driver = Driver([Reply(404, b'{"error_code": 40401, "message": "Subject not found."}')])
    delivery = Delivery(ClientConfig.parse({"url": "http://a"}), Basic("a", "b"), driver.clock, random.Random())
    assert driver.run(delivery.run(careful())) == "caught 40401"


def test_error_of_incompatible_schema_holds_the_reasons() -> None:
    details = "{errorType:'TYPE_MISMATCH', description:'a {nested} one'}, {compatibility: 'BACKWARD'}"
    body = json.dumps({"error_code": 409, "message": f"Schema being registered is incompatible, details: [{details}]"})
    error = error_of(Reply(409, body.encode()))
    assert isinstance(error, IncompatibleSchemaError)
    assert error.differences == (
        "{errorType:'TYPE_MISMATCH', description:'a {nested} one'}",
        "{compatibility: 'BACKWARD'}",
    )


def test_error_of_invalid_schema() -> None:
    error = error_of(Reply(422, b'{"error_code": 42201, "message": "Invalid schema"}'))
    assert isinstance(error, InvalidSchemaError)


@pytest.mark.parametrize(
    ("body", "text"),
    [
        (b"<h1>Bad gateway</h1>", "an HTML page of 20 bytes"),
        (
            b"<!DOCTYPE html><html><head><title>\n 502  Bad Gateway </title>",
            "an HTML page of 61 bytes titled '502 Bad Gateway'",
        ),
        (b"<html><title>" + b"long " * 40 + b"</title>" + b"x" * 5000, "an HTML page of 5,221 bytes"),
        (b"", "empty"),
        (b"[]", "'[]'"),
        (b'{"status": "up"}', """'{"status": "up"}'"""),
        (b"upstream\x1b[31m failed", "'upstream\ufffd[31m failed'"),
        (b"y" * 500, f"'{'y' * 120}'… (500 bytes)"),
    ],
)
def test_an_error_without_a_registrys_code_is_described_and_not_printed(body: bytes, text: str) -> None:
    error = error_of(Reply(502, body))
    assert isinstance(error, UnexpectedAnswerError)
    assert (error.http_status_code, error.error_code) == (502, 502)
    assert error.error_message == f"HTTP 502: the answer has no error code of a schema registry, it is {text}"
    assert error.retriable
    assert not error.not_found


@pytest.mark.parametrize(
    ("body", "found"),
    [
        (b'{"error_code": 40401, "message": "no"}', True),
        (b'{"error_code": 40470, "message": "no"}', True),
        (b'{"error_code": 404, "message": "HTTP 404 Not Found"}', False),
        (b'{"error_code": true}', False),
        (b'{"error_code": "40401"}', False),
        (b'{"status": 404, "error": "Not Found"}', False),
        (b"<html>404</html>", False),
        (b"", False),
    ],
)
def test_only_the_registrys_own_code_says_that_something_is_not_there(body: bytes, found: bool) -> None:
    assert error_of(Reply(404, body)).not_found is found


@pytest.mark.parametrize(
    ("location", "text"),
    [
        ("https://ann:geheim@login.example/sso?token=geheim", "a redirect to https://login.example/sso;"),
        ("", "a redirect to nowhere;"),
        ("http://[", "a redirect to what is no URL;"),
    ],
)
def test_a_redirect_is_told_without_what_may_be_secret(location: str, text: str) -> None:
    error = error_of(Reply(302, b"<html>", {"location": location}))
    assert isinstance(error, UnexpectedAnswerError)
    assert text in error.error_message
    assert "geheim" not in str(error)


def test_errors_name_method_and_url_without_credentials() -> None:
    driver = Driver([Reply(404, b'{"error_code": 40401, "message": "no such subject"}')])
    with pytest.raises(ResponseError) as caught:
        run(driver, Call("GET", "/subjects/x/versions", {"deleted": True}), url="http://ann:geheim@a/base/,http://b")
    assert caught.value.request == "GET http://a/base/subjects/x/versions"
    assert str(caught.value).endswith("(HTTP status code 404, SR code 40401; GET http://a/base/subjects/x/versions)")
    assert "geheim" not in repr(caught.value)


@pytest.mark.parametrize(
    ("headers", "expected"),
    [
        ({}, 0),
        ({"retry-after": "7"}, 7),
        ({"retry-after": " 7 "}, 7),
        ({"retry-after": "-7"}, 0),
        ({"retry-after": "soon"}, 0),
        ({"retry-after": "Wed, 21 Oct 2026 07:28:30 GMT", "date": "Wed, 21 Oct 2026 07:28:00 GMT"}, 30),
        ({"retry-after": "Wed, 21 Oct 2026 07:28:00 GMT", "date": "Wed, 21 Oct 2026 07:28:30 GMT"}, 0),
        ({"retry-after": "Wed, 21 Oct 2026 07:28:30 GMT"}, 10),
        ({"retry-after": "Wed, 21 Oct 2026 07:28:30 GMT", "date": "nonsense"}, 10),
    ],
)
def test_retry_after_is_seconds_or_a_date(headers: dict[str, str], expected: float) -> None:
    now_s = datetime.datetime(2026, 10, 21, 7, 28, 20, tzinfo=datetime.UTC).timestamp()
    assert retry_after_s(Reply(429, b"", headers), now_s) == expected


def test_lists_are_repeated_parameters() -> None:
    driver = Driver([GOOD])
    run(driver, Call("GET", "/x", {"key": ["a", 1], "deleted": False}))
    assert driver.sent[0].query == {"key": ["a", "1"], "deleted": "false"}


@pytest.mark.parametrize(
    ("before", "unsure"),
    [([], False), ([GONE], False), ([BUSY], False), ([LOST], True), ([Reply(500, b"")], True), ([LOST, GONE], True)],
)
def test_a_refusal_after_a_try_without_an_answer_says_nothing_about_that_try(
    before: list[Outcome], unsure: bool
) -> None:
    driver = Driver([*before, Reply(404, b"<html>")])
    with pytest.raises(ResponseError) as caught:
        run(driver, Call("POST", "/subjects/s/versions"))
    assert caught.value.unsure is unsure


# ---- steps


def test_reply_json() -> None:
    assert Reply(200, b'{"a": 1}').json() == {"a": 1}


def test_a_page_instead_of_json_is_the_servers_error() -> None:
    with pytest.raises(
        ResponseError, match="not JSON but an HTML page of 18 bytes: is this a schema registry"
    ) as caught:
        Reply(200, b"<html>Login</html>").json()
    assert caught.value.http_status_code == 200


def test_headers_and_bodies_are_not_in_repr() -> None:
    assert "geheim" not in repr(Send("GET", "http://a", {}, {"Authorization": "geheim"}, b"geheim"))
