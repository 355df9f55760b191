"""Credentials: the Authorization header of a request, and the flows that get tokens for it.

Must not know of HTTP libraries. A scheme that must ask somebody (OAuth2) yields steps; the static ones here yield
nothing. Secrets are in no repr and no error. Source: RFC 7617 (Basic), RFC 6750 (Bearer), RFC 6749 §4.4 (client
credentials), Azure's instance metadata service.
"""

from __future__ import annotations

import logging
import random
from collections.abc import Callable, Mapping
from typing import Any, Protocol

from kserdes_base.headers import basic_header, fits_header
from kserdes_base.masking import masked
from kserdes_base.oauth.answers import object_of, reason_of, seconds_of, token_in
from kserdes_base.oauth.renewal import may_be_withdrawn, renewal_s
from kserdes_base.oauth.requests import TokenRequest
from kserdes_base.retries import full_jitter
from registry.client.config import ClientConfig, bearer_headers
from registry.client.steps import Flow, Invoke, Reply, Send, Share, Steps, Unreachable, Wait
from registry.errors import RETRIABLE_STATUSES, OAuthTokenError, SchemaRegistryError, TransportError

DEFAULT_LIFE_S = 300.0
"""The life of a token whose endpoint does not say it; RFC 6749 §5.1 only recommends to state it."""
log = logging.getLogger("registry")


class Credentials(Protocol):
    """A source of a request's credentials."""

    def authorize(self) -> Steps[Mapping[str, str]]:
        """The headers that go with a request."""
        ...

    def refused(self, headers: Mapping[str, str]) -> bool:
        """Whether others may be had in place of headers that a registry refused (401)."""
        ...


class _Fixed:
    """Credentials in whose place there are no others."""

    def refused(self, headers: Mapping[str, str]) -> bool:
        """No."""
        return False


class Anonymous(_Fixed):
    """No credentials."""

    def authorize(self) -> Steps[Mapping[str, str]]:
        """No headers."""
        yield from ()
        return {}


class _Static(_Fixed):
    """Headers that never change."""

    def __init__(self, headers: Mapping[str, str]) -> None:
        self._headers = dict(headers)

    def __repr__(self) -> str:
        return f"{type(self).__name__}(…)"

    def authorize(self) -> Steps[Mapping[str, str]]:
        """The headers, at no cost."""
        yield from ()
        return self._headers


class Basic(_Static):
    """User and password."""

    def __init__(self, user: str, password: str) -> None:
        super().__init__({"Authorization": basic_header(user, password)})


class Bearer(_Static):
    """A token that was given, with headers that go with it."""

    def __init__(self, token: str, headers: Mapping[str, str] | None = None) -> None:
        super().__init__({"Authorization": f"Bearer {token}", **(headers or {})})


class Custom(_Fixed):
    """Credentials of a user's function: a dict of `bearer.auth.token`, `bearer.auth.logical.cluster` and
    `bearer.auth.identity.pool.id`. The function is called for every request, and may keep tokens itself.
    """

    def __init__(self, function: Callable[[], Any], headers: Mapping[str, str]) -> None:
        self._function = function
        self._headers = dict(headers)

    def authorize(self) -> Steps[Mapping[str, str]]:
        """Asks the function.

        Raises:
            TransportError: it fails, or gives no token.
        """
        try:
            fields = yield Invoke(self._function)
        except SchemaRegistryError:
            raise
        except Exception as error:  # whatever a user's function raises
            name = type(error).__name__  # its text may hold what the user's configuration holds
            raise TransportError(-1, -1, f"bearer.auth.custom.provider.function failed: {name}") from error
        token = fields.get("bearer.auth.token") if isinstance(fields, Mapping) else None
        if not isinstance(token, str) or not token:
            raise TransportError(-1, -1, "bearer.auth.custom.provider.function gave no 'bearer.auth.token'")
        if not fits_header(token):
            text = "bearer.auth.custom.provider.function gave a 'bearer.auth.token' that can't be in a header"
            raise TransportError(-1, -1, f"{text}: it must be printable ASCII, without line breaks")
        return {"Authorization": f"Bearer {token}", **self._headers, **bearer_headers(fields)}


class OAuth:
    """A token of an OAuth2 server: kept until most of its life is over, asked for once at a time.

    Args:
        request: where and how to ask.
        headers: those that go with the token.
        retries: how often a failed request is repeated.
        pause_ms: bound of the first pause between tries, and of all.
        clock: monotonic seconds.
        rng: for the jitter.
    """

    def __init__(
        self,
        request: TokenRequest,
        headers: Mapping[str, str],
        retries: int,
        pause_ms: tuple[int, int],
        clock: Callable[[], float],
        rng: random.Random,
    ) -> None:
        self._request = request
        self._headers = dict(headers)
        self._retries = retries
        self._pause_ms = pause_ms
        self._clock = clock
        self._rng = rng
        self._token = ""
        self._asked_at_s = self._refresh_at_s = self._ends_at_s = 0.0

    def __repr__(self) -> str:
        return f"OAuth({masked(self._request.url)})"

    def authorize(self) -> Steps[Mapping[str, str]]:
        """The kept token, or a new one.

        Raises:
            TransportError: no token, and the old one's life is over.
        """
        if self._clock() >= self._refresh_at_s:
            try:
                yield Share(("token", id(self)), self._renew)
            except SchemaRegistryError as error:
                if self._clock() >= self._ends_at_s:
                    raise
                log.warning("the token is not renewed yet, the old one is used on: %s", error)
                self._refresh_at_s = min(self._ends_at_s, self._clock() + self._pause_ms[1] / 1000)
        return {"Authorization": f"Bearer {self._token}", **self._headers}

    def refused(self, headers: Mapping[str, str]) -> bool:
        """Whether there is another token than the refused one, or one may be asked for: this one was withdrawn before
        its end, or the keys of who gave it have changed.
        """
        if headers.get("Authorization") != f"Bearer {self._token}":
            return True  # somebody has renewed it meanwhile
        now_s = self._clock()
        if not may_be_withdrawn(now_s - self._asked_at_s):
            return False
        self._refresh_at_s = self._ends_at_s = now_s
        return True

    def _renew(self) -> Flow[None]:
        outcome: Reply | Unreachable = Unreachable("not asked", sent=False)
        for attempt in range(self._retries + 1):
            if attempt:
                yield Wait(full_jitter(*self._pause_ms, attempt - 1, self._rng.random) / 1000)
            asked_at_s = self._clock()
            outcome = yield self._asking()
            if isinstance(outcome, Reply) and outcome.status not in RETRIABLE_STATUSES:
                return self._keep(outcome, asked_at_s)
        if isinstance(outcome, Unreachable):
            raise OAuthTokenError(f"no token from {masked(self._request.url)}: {outcome.reason}")
        raise OAuthTokenError(f"no token from {masked(self._request.url)}", outcome.status)

    def _asking(self) -> Send:
        request = self._request
        return Send(request.method, request.url, {}, request.headers, request.content, to_registry=False)

    def _keep(self, reply: Reply, asked_at_s: float) -> None:
        try:
            fields = object_of(reply.body)
        except ValueError:
            fields = {}
        token, said = token_in(fields), fields.get("expires_in")
        life_s = DEFAULT_LIFE_S if said is None else seconds_of(said)
        if reply.status != 200 or token is None or not fits_header(token) or life_s is None:
            reason = reason_of(reply.body, self._request.secrets)
            raise OAuthTokenError(f"no token from {masked(self._request.url)}", reply.status, reason)
        self._token, self._asked_at_s = token, asked_at_s
        self._ends_at_s = asked_at_s + life_s
        self._refresh_at_s = asked_at_s + renewal_s(life_s)


def credentials(config: ClientConfig, clock: Callable[[], float], rng: random.Random) -> Credentials:
    """The credentials a configuration asks for."""
    if config.basic_user_info is not None:
        return Basic(*config.basic_user_info)
    if config.bearer_token is not None:
        return Bearer(config.bearer_token, config.bearer_headers)
    if config.token_function is not None:
        return Custom(config.token_function, config.bearer_headers)
    if config.token_request is not None:
        pauses = (config.retries_wait_ms, config.retries_max_wait_ms)
        return OAuth(config.token_request, config.bearer_headers, config.max_retries, pauses, clock, rng)
    return Anonymous()
