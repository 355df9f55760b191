"""The OAUTHBEARER token of one client: fetched off the loop, shared by all its connections, renewed early.

Must not know connections; what a token looks like is in wire/sasl/oauthbearer.py, how providers are asked in `oidc`.
Spec: KIP-255; renewal at 80 % of the token's life as the Java client's `ExpiringCredentialRefreshingLogin` does.
"""

import asyncio
import inspect
import logging
import threading
from collections.abc import Callable
from typing import Any, Final

from kafka_core.aio.tasks.background import retrieve_error
from kafka_core.aio.tasks.race import in_daemon_thread
from kafka_core.clock import Clock
from kafka_core.config import Config
from kafka_core.errors import AuthError, ConfigError, KafkaError, KafkaException, NetworkError
from kafka_core.wire.sasl import Token, token_from_callback, unsecured_token
from kserdes_base.oauth.renewal import may_be_withdrawn

logger: Final = logging.getLogger("kafka_core.aio")

_first_token_for = threading.local()

FIRST_TOKEN_S: Final = 10.0
"""Seconds that a client's constructor waits for its first token, as confluent_kafka does."""

RETRY_S: Final = 10.0
"""Wait after a failed renewal while the old token still holds."""


def loop_without_token() -> asyncio.AbstractEventLoop | None:
    """The loop whose client has no token until the calling thread, inside `oauth_cb`, has returned one; else None."""
    found: asyncio.AbstractEventLoop | None = getattr(_first_token_for, "loop", None)
    return found


class TokenSource:
    """Gives the current token; calls `fetch` (in a daemon thread, never on the loop, no poll needed) for a new one.

    Args:
        fetch: Blocking; returns a valid token or raises.
        name: what gives the tokens, for texts.
        awaited: whether a client that is being made waits for its first token.

    Attributes:
        on_failure: told when a token cannot be renewed, and when a client without any token cannot ask for one now,
            once for each reason; a refusal without any token fails a connection, which tells of it.
    """

    def __init__(
        self, fetch: Callable[[], Token], clock: Clock, *, name: str = "oauth_cb", awaited: bool = True
    ) -> None:
        self.name = name
        self.awaited = awaited
        self._fetch = fetch
        self._clock = clock
        self._token: Token | None = None
        self._token_at_s = 0.0
        self._fetching: asyncio.Task[Token] | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._closed = False
        self.on_failure: Callable[[str], None] | None = None
        self._told: str | None = None

    @classmethod
    def from_config(cls, config: Config, clock: Clock) -> "TokenSource | None":
        """The source for `oauth_cb`, a provider, or unsecured tokens; None when the client needs no token.

        Raises:
            ConfigError: `oauth_cb` is a coroutine function; what is said of the provider cannot be used.
        """
        if not config.text("security.protocol").startswith("sasl_") or config.text("sasl.mechanism") != "OAUTHBEARER":
            return None
        text = config.optional_text("sasl.oauthbearer.config")
        callback = config.callback("oauth_cb")
        if callback is not None:
            if inspect.iscoroutinefunction(callback):
                raise ConfigError(
                    "oauth_cb is a coroutine function, but it runs on its own thread, where nothing awaits it: "
                    "make it an ordinary function, which may block",
                    property="oauth_cb",
                )
            return cls(lambda: _call(callback, text, clock), clock)
        if config.text("sasl.oauthbearer.method") == "oidc":
            return cls._of_provider(config, clock)
        if config.flag("enable.sasl.oauthbearer.unsecure.jwt"):
            return cls(lambda: unsecured_token(text or "", clock.time_ms() / 1000), clock)
        return None

    @classmethod
    def _of_provider(cls, config: Config, clock: Clock) -> "TokenSource":
        # Few clients need httpx, which takes longer to import than this package.
        from kafka_core.oidc.aws import aws_tokens
        from kafka_core.oidc.provider import TokenEndpoint, extensions_of

        if config.text("sasl.oauthbearer.metadata.authentication.type") == "aws_iam":
            return cls(aws_tokens(config, extensions_of(config)), clock, name="AWS STS")
        endpoint = TokenEndpoint.from_config(config, lambda: clock.time_ms() / 1000)
        return cls(endpoint, clock, name="the token endpoint", awaited=False)

    async def get(self) -> Token:
        """A token that has not expired; concurrent callers share one fetch.

        Raises:
            AuthError: the callback failed or returned something else than a valid token; the provider refused.
            NetworkError: the provider cannot be asked now.
        """
        token = self._valid()
        if token is not None:
            return token
        return await asyncio.shield(self._start())

    def refused(self, token: Token) -> None:
        """A broker did not take a token: it was withdrawn, or the keys of who gave it have changed.

        The next caller gets another one, unless this one is new.
        """
        if token is self._token and may_be_withdrawn(self._clock.monotonic() - self._token_at_s):
            logger.info("a broker refused the token of %s before its end: a new one is asked for", self.name)
            self._token = None

    def _valid(self) -> Token | None:
        token = self._token
        return token if token is not None and token.expires_at_s > self._clock.time_ms() / 1000 else None

    async def close(self) -> None:
        """Stop renewing; a callback that still runs is left alone, its token dropped."""
        self._closed = True
        if self._timer is not None:
            self._timer.cancel()
        if self._fetching is not None:
            self._fetching.cancel()

    def _start(self) -> "asyncio.Task[Token]":
        if self._fetching is None:
            self._fetching = asyncio.get_running_loop().create_task(self._renew())
            self._fetching.add_done_callback(retrieve_error)
        return self._fetching

    async def _renew(self) -> Token:
        delay_s = RETRY_S
        try:
            token = self._token = await in_daemon_thread(
                "kafka-core-oauth", self._fetch_for, asyncio.get_running_loop()
            )
            self._token_at_s = self._clock.monotonic()
            delay_s = token.refresh_delay_s(self._clock.time_ms() / 1000)
            self._told = None
            return token
        except Exception as raised:
            # Nobody above knows errors of other kinds: the tasks that wait for the token would end with them.
            error = raised if isinstance(raised, KafkaException) else AuthError(f"{self.name}: {raised!r}")
            logger.warning("no new OAUTHBEARER token: %s", error)
            self._tell(error)
            raise error from raised.__cause__ if error is raised else raised
        finally:
            self._fetching = None
            # Without any token nobody would use the next one: the next connection asks again.
            if not self._closed and self._token is not None:
                self._timer = asyncio.get_running_loop().call_later(delay_s, self._start)

    def _tell(self, error: Exception) -> None:
        """Connections that wait for a provider fail as if the broker were away: this says why, as in librdkafka."""
        text = f"Failed to acquire SASL OAUTHBEARER token: {error}"
        waits = isinstance(error, NetworkError) and text != self._told
        if self.on_failure is not None and (self._token is not None or waits):
            self._told = text
            self.on_failure(text)

    def _fetch_for(self, loop: asyncio.AbstractEventLoop) -> Token:
        """On the thread of the callback. A renewal may use the client: it goes on with the token that it has."""
        _first_token_for.loop = None if self._valid() else loop
        try:
            return self._fetch()
        finally:
            _first_token_for.loop = None


async def first_token(tokens: TokenSource) -> None:
    """Waits for the token with which a client begins.

    Raises:
        AuthError: code SASL_AUTHENTICATION_FAILED; there was none within 10 s, or the callback failed.
    """
    code = KafkaError.SASL_AUTHENTICATION_FAILED
    try:
        async with asyncio.timeout(FIRST_TOKEN_S):
            await tokens.get()
    except TimeoutError:
        raise AuthError(f"OAuth token not set within {FIRST_TOKEN_S:g} seconds timeout", code) from None
    except KafkaException as error:
        raise AuthError(f"OAuth token not set: {error}", code) from (error.__cause__ or error)


def _call(callback: Callable[..., Any], text: str | None, clock: Clock) -> Token:
    try:
        result = callback(text)
    except KafkaException:
        raise
    except Exception as error:
        raise AuthError(f"oauth_cb failed: {error!r}") from error
    return token_from_callback(result, clock.time_ms() / 1000)
