"""Delivers calls to a registry: failover between URLs, retries, pauses, credentials, and errors made of answers.

Must not know of HTTP libraries, threads or the clock on the wall: time and randomness are passed in. Pauses are
full jitter: a random part of an exponentially growing bound, so that many clients do not come back together.
"""

from __future__ import annotations

import dataclasses
import json
import logging
import random
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from kserdes_base.masking import masked
from kserdes_base.retries import full_jitter
from kserdes_base.version import VERSION
from registry.client.auth import Credentials
from registry.client.config import ClientConfig
from registry.client.steps import Call, Flow, Reply, Send, Steps, Unreachable, Wait
from registry.errors import (
    INVALID_SCHEMA,
    RETRIABLE_STATUSES,
    IncompatibleSchemaError,
    InvalidSchemaError,
    ResponseError,
    SchemaRegistryError,
    TransportError,
)

T = TypeVar("T")
log = logging.getLogger("registry")

CLIENT_VERSION = f"python/{VERSION}"
ACCEPT = "application/vnd.schemaregistry.v1+json, application/vnd.schemaregistry+json, application/json"
CONTENT = "application/vnd.schemaregistry.v1+json"
REDIRECTS = range(300, 400)
NO_SUCH_CALL = (404, 405)
NO_PATH = {"message": "Not found"}
"""With the status as `code`: what Redpanda's registry answers for a path it does not have."""
NOT_CARRIED_OUT = frozenset({429, 503})
"""Statuses that say the request was refused at the door: even a call that must not be doubled may be repeated."""


class Delivery:
    """Retries, failover and credentials for all calls of one client.

    Shared by threads without a lock: the only thing that changes is the order of the URLs, replaced as a whole.

    Args:
        config: URLs, bounds and pauses.
        credentials: adds headers.
        clock: monotonic seconds.
        rng: for the jitter.
        wall_clock: seconds since 1970-01-01 UTC, to read `Retry-After` dates where the answer has no date of its own.
    """

    def __init__(
        self,
        config: ClientConfig,
        credentials: Credentials,
        clock: Callable[[], float],
        rng: random.Random,
        wall_clock: Callable[[], float] = lambda: 0.0,
    ) -> None:
        self._config = config
        self._credentials = credentials
        self._clock = clock
        self._rng = rng
        self._wall_clock = wall_clock
        self._urls = config.base_urls

    def run(self, flow: Flow[T]) -> Steps[T]:
        """The flow with every call turned into sends and waits; errors are thrown into it at its call."""
        outcome: Any = None
        error: SchemaRegistryError | None = None
        try:
            while True:
                try:
                    step = flow.send(outcome) if error is None else flow.throw(error)
                except StopIteration as stop:
                    result: T = stop.value
                    return result
                outcome, error = None, None
                try:
                    outcome = (yield from self._deliver(step)) if isinstance(step, Call) else (yield step)
                except SchemaRegistryError as raised:
                    error = raised
        finally:
            flow.close()  # whoever goes away in the middle may have changed something

    def _deliver(self, call: Call) -> Steps[Reply]:
        """One call, tried until it is answered, refused for good, or out of tries or time."""
        deadline = self._clock() + self._config.timeout_s * (self._config.max_retries + 1)
        credentials = yield from self._credentials.authorize()
        headers = {
            **credentials,
            "Accept": ACCEPT,
            "Confluent-Client-Version": CLIENT_VERSION,
        }
        content = None
        if call.body is not None:
            content = json.dumps(call.body).encode()
            headers |= {"Content-Type": CONTENT, "Confluent-Accept-Unknown-Properties": "true"}
        query = {name: _query_text(value) for name, value in call.query.items()}
        outcome: Reply | Unreachable = Unreachable("no URL was tried", sent=False)
        unsure = renewed = False
        for round_number in range(self._config.max_retries + 1):
            if round_number:
                pause_s = self._pause_s(round_number, outcome)
                if self._clock() + pause_s >= deadline:
                    break  # no further try if asked to wait longer than all tries may take
                yield Wait(pause_s)
            for number, url in enumerate(self._urls):
                if number and self._clock() >= deadline:
                    break
                outcome = yield Send(call.method, url + call.path, query, headers, content)
                if not renewed and self._lets_nobody_in(outcome, credentials):
                    renewed, credentials = True, (yield from self._credentials.authorize())
                    headers = {**headers, **credentials}
                    outcome = yield Send(call.method, url + call.path, query, headers, content)
                if not _worth_repeating(outcome, call):
                    return self._settled(call, url, outcome, unsure)
                unsure = unsure or _maybe_done(outcome)
                log.debug("%s %s%s: %s", call.method, url, call.path, _summary(outcome))
        return self._settled(call, self._urls[0], outcome, unsure)

    def _lets_nobody_in(self, outcome: Reply | Unreachable, credentials: Mapping[str, str]) -> bool:
        """Whether a request was refused for its credentials, and there may be others."""
        return isinstance(outcome, Reply) and outcome.status == 401 and self._credentials.refused(credentials)

    def _pause_s(self, round_number: int, outcome: Reply | Unreachable) -> float:
        config = self._config
        bounds_ms = (config.retries_wait_ms, config.retries_max_wait_ms)
        pause_s = full_jitter(*bounds_ms, round_number - 1, self._rng.random) / 1000
        return max(pause_s, retry_after_s(outcome, self._wall_clock())) if isinstance(outcome, Reply) else pause_s

    def _settled(self, call: Call, url: str, outcome: Reply | Unreachable, unsure: bool) -> Reply:
        """The reply, if it is a good one; the URL that gave it is tried first from now on."""
        if isinstance(outcome, Unreachable):
            tried = ", ".join(self._config.urls)
            text = f"{call.method} {call.path}: no answer from {tried}: {outcome.reason}"
            raise TransportError(-1, -1, text) from outcome.cause
        answered = dataclasses.replace(outcome, request=f"{call.method} {self._shown(url)}{call.path}")
        if self._urls[0] != url:
            self._urls = (url, *(other for other in self._urls if other != url))
        if outcome.status >= 300:
            error = error_of(answered)
            error.unsure = unsure
            raise error
        return answered

    def _shown(self, url: str) -> str:
        """A base URL as it may be shown: the configured one, for it has no credentials."""
        return self._config.urls[self._config.base_urls.index(url)]


def _worth_repeating(outcome: Reply | Unreachable, call: Call) -> bool:
    if isinstance(outcome, Unreachable):
        return call.repeatable or not outcome.sent
    if outcome.status in NOT_CARRIED_OUT:
        return True
    return call.repeatable and outcome.status in RETRIABLE_STATUSES


def _maybe_done(outcome: Reply | Unreachable) -> bool:
    """Whether the server may have carried out a call although the try failed."""
    return outcome.sent if isinstance(outcome, Unreachable) else outcome.status not in NOT_CARRIED_OUT


def _summary(outcome: Reply | Unreachable) -> str:
    return outcome.reason if isinstance(outcome, Unreachable) else f"status {outcome.status}"


def _query_text(value: object) -> str | list[str]:
    if isinstance(value, (list, tuple)):
        return [str(item) for item in value]
    return str(value).lower() if isinstance(value, bool) else str(value)


def retry_after_s(reply: Reply, now_s: float) -> float:
    """The seconds that Retry-After asks for, 0 without it: a number, or a date (against the answer's own, if any)."""
    asked = reply.headers.get("retry-after", "").strip()
    if asked.isdecimal():
        return float(asked[:9])
    until = _date_s(asked)
    answered = _date_s(reply.headers.get("date", ""))
    return 0.0 if until is None else max(0.0, until - (now_s if answered is None else answered))


def _date_s(text: str) -> float | None:
    """A date of HTTP (RFC 9110 §5.6.7) in seconds since 1970-01-01 UTC, None if it is none."""
    from email.utils import parsedate_to_datetime  # few answers ask to be waited for

    try:
        return parsedate_to_datetime(text).timestamp()
    except (TypeError, ValueError, OverflowError):
        return None


def error_of(reply: Reply) -> ResponseError:
    """The error an answer stands for."""
    try:
        body = json.loads(reply.body)
    except (ValueError, RecursionError):
        body = None
    code = body.get("error_code") if isinstance(body, Mapping) else None
    if not isinstance(body, Mapping) or not isinstance(code, int) or isinstance(code, bool):
        foreign = reply.unexpected(_foreign(reply), reply.status)
        foreign.lacks_call = _lacks_path(reply, body)
        return foreign
    message = str(body.get("message") or f"HTTP {reply.status}")
    if code == reply.status and code in NO_SUCH_CALL:
        unknown = reply.unexpected(f"{message}: the URL is wrong, or this registry has no such call", code)
        unknown.lacks_call = True
        return unknown
    error: ResponseError
    if reply.status == 409 and code in (409, 40901):
        error = IncompatibleSchemaError(reply.status, code, message, _reasons(message))
    elif code == INVALID_SCHEMA:
        error = InvalidSchemaError(reply.status, code, message)
    else:
        error = ResponseError(reply.status, code, message)
    error.request = reply.request
    return error


def _lacks_path(reply: Reply, body: object) -> bool:
    """Whether a registry that gives no error code says so for a path it does not have (decision 0121).

    Redpanda's has `NO_PATH`. Apicurio's is an answer of JSON that is empty, Karapace's a JSON string: no proxy was seen
    to give one of these.
    """
    if reply.status not in NO_SUCH_CALL:
        return False
    kind = str(reply.headers.get("content-type", "")).lower()
    plain = reply.status == 404 and kind.startswith("application/json") and (not reply.body or body == "Not Found")
    return plain or body == {**NO_PATH, "code": reply.status}


def _foreign(reply: Reply) -> str:
    """The message for an error status without a registry's error code."""
    if reply.status in REDIRECTS:
        return f"HTTP {reply.status}: a redirect to {_target(reply)}; give the URL of the registry itself"
    return f"HTTP {reply.status}: the answer has no error code of a schema registry, it is {reply.described()}"


def _target(reply: Reply) -> str:
    try:
        return masked(str(reply.headers.get("location", ""))) or "nowhere"
    except ValueError:
        return "what is no URL"


def _reasons(message: str) -> list[str]:
    """The reasons inside the text of a 409: what follows `details:`, one for each top-level brace."""
    _, found, details = message.partition("details: [")
    if not found:
        return []
    reasons, depth, start = [], 0, 0
    for at, char in enumerate(details):
        if char == "{":
            start = at if depth == 0 else start
            depth += 1
        elif char == "}" and depth:
            depth -= 1
            if depth == 0:
                reasons.append(details[start : at + 1])
    return reasons
