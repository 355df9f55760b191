"""The OAUTHBEARER token of one client: fetched off the loop, shared by all its connections, renewed early.

Must not know connections; what a token looks like is in wire/sasl/oauthbearer.py.
Spec: KIP-255; renewal at 80 % of the token's life as the Java client's `ExpiringCredentialRefreshingLogin` does.
"""

import asyncio
import contextlib
import logging
from collections.abc import Callable
from typing import Any, Final

from kafka_core.aio.tasks.race import in_daemon_thread
from kafka_core.clock import Clock
from kafka_core.config import Config
from kafka_core.errors import AuthError, KafkaException
from kafka_core.wire.sasl import Token, token_from_callback, unsecured_token

logger: Final = logging.getLogger("kafka_core.aio")

RETRY_S: Final = 10.0
"""Wait after a failed renewal while the old token still holds."""


class TokenSource:
    """Gives the current token; calls `fetch` (in a daemon thread, never on the loop, no poll needed) for a new one.

    Args:
        fetch: Blocking; returns a valid token or raises.
    """

    def __init__(self, fetch: Callable[[], Token], clock: Clock) -> None:
        self._fetch = fetch
        self._clock = clock
        self._token: Token | None = None
        self._fetching: asyncio.Task[Token] | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._closed = False

    @classmethod
    def from_config(cls, config: Config, clock: Clock) -> "TokenSource | None":
        """The source for `oauth_cb` (or unsecured tokens, where enabled); None when the client needs no token."""
        if not config.text("security.protocol").startswith("sasl_") or config.text("sasl.mechanism") != "OAUTHBEARER":
            return None
        text = config.optional_text("sasl.oauthbearer.config")
        callback = config.callback("oauth_cb")
        if callback is not None:
            return cls(lambda: _call(callback, text, clock), clock)
        if config.flag("enable.sasl.oauthbearer.unsecure.jwt"):
            return cls(lambda: unsecured_token(text or "", clock.time_ms() / 1000), clock)
        return None

    async def get(self) -> Token:
        """A token that has not expired; concurrent callers share one fetch.

        Raises:
            AuthError: the callback failed or returned something else than a valid token.
        """
        if self._token is not None and self._token.expires_at_s > self._clock.time_ms() / 1000:
            return self._token
        return await asyncio.shield(self._start())

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
            self._fetching.add_done_callback(_look_at)
        return self._fetching

    async def _renew(self) -> Token:
        delay_s = RETRY_S
        try:
            token = self._token = await in_daemon_thread("kafka-core-oauth", self._fetch)
            delay_s = token.refresh_delay_s(self._clock.time_ms() / 1000)
            return token
        except Exception as error:
            logger.warning("no new OAUTHBEARER token: %s", error)
            raise
        finally:
            self._fetching = None
            # Without any token nobody would use the next one: the next connection asks again.
            if not self._closed and self._token is not None:
                self._timer = asyncio.get_running_loop().call_later(delay_s, self._start)


def _call(callback: Callable[..., Any], text: str | None, clock: Clock) -> Token:
    try:
        result = callback(text)
    except KafkaException:
        raise
    except Exception as error:
        raise AuthError(f"oauth_cb failed: {error!r}") from error
    return token_from_callback(result, clock.time_ms() / 1000)


def _look_at(task: "asyncio.Task[Token]") -> None:
    """Look at the error of a renewal that nobody waits for; it was logged."""
    with contextlib.suppress(asyncio.CancelledError):
        task.exception()
