"""Common parts of this dialect's clients: security arguments, the first contact with the cluster, errors.

Must not know producers or consumers.
"""

from __future__ import annotations

import asyncio
import base64
import contextlib
import inspect
import json
import time
from collections.abc import Callable, Coroutine, Iterable, Iterator, Mapping
from typing import Any, Final, TypeVar

from kafka_core import KafkaError as CoreError
from kafka_core import KafkaException
from kserdes.compat.aiokafka.cluster import collect_hosts
from kserdes.compat.aiokafka.errors import (
    AuthenticationFailedError,
    KafkaConnectionError,
    SaslAuthenticationFailed,
    translated,
)
from kserdes.compat.aiokafka.interfaces import AbstractTokenProvider
from kserdes.compat.arguments import Arguments

__all__ = ["FirstContact", "at_once", "properties", "translating"]

T = TypeVar("T")

MECHANISMS: Final = ("PLAIN", "GSSAPI", "SCRAM-SHA-256", "SCRAM-SHA-512", "OAUTHBEARER")
PROTOCOLS: Final = ("PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL")
TOKEN_LIFE_S: Final = 300.0
"""Seconds for which a token without an expiry counts."""
TOKEN_LIMIT_S: Final = 60.0
UNREACHABLE: Final = frozenset(
    {CoreError._ALL_BROKERS_DOWN, CoreError._TRANSPORT, CoreError._RESOLVE, CoreError._SSL, CoreError._AUTHENTICATION}
)
REFUSED: Final = frozenset({CoreError._AUTHENTICATION, CoreError.SASL_AUTHENTICATION_FAILED})


def properties(
    table: Arguments, values: Mapping[str, Any], loop_of: Callable[[], asyncio.AbstractEventLoop]
) -> dict[str, object]:
    """The properties of a client with these arguments, without those that only one kind of client has.

    Args:
        loop_of: gives the loop on which a token provider runs.

    Raises:
        ValueError: arguments that aiokafka refuses as well.
    """
    table.tell_unused(values)
    protocol, mechanism = values["security_protocol"], values["sasl_mechanism"]
    if protocol not in PROTOCOLS:
        raise ValueError(f"`security_protocol` should be one of {', '.join(PROTOCOLS)}, not {protocol!r}")
    if protocol.endswith("SSL") and values["ssl_context"] is None:
        raise ValueError(f"`ssl_context` is mandatory if security_protocol=={protocol!r}")
    conf = table.properties(values)
    conf["allow.auto.create.topics"] = True
    if not protocol.startswith("SASL"):
        return conf
    if mechanism not in MECHANISMS:
        raise ValueError(f"`sasl_mechanism` should be one of {', '.join(MECHANISMS)}, not {mechanism!r}")
    conf["sasl.mechanism"] = mechanism
    if mechanism == "OAUTHBEARER":
        provider = values["sasl_oauth_token_provider"]
        if not isinstance(provider, AbstractTokenProvider):
            raise ValueError("sasl_oauth_token_provider, an AbstractTokenProvider, is required for OAUTHBEARER")
        conf["oauth_cb"] = _token_callback(provider, loop_of)
        return conf
    if mechanism == "GSSAPI":
        return conf
    if values["sasl_plain_username"] is None or values["sasl_plain_password"] is None:
        raise ValueError(f"sasl_plain_username and sasl_plain_password are required for {mechanism}")
    conf["sasl.username"], conf["sasl.password"] = values["sasl_plain_username"], values["sasl_plain_password"]
    return conf


def _token_callback(
    provider: AbstractTokenProvider, loop_of: Callable[[], asyncio.AbstractEventLoop]
) -> Callable[[str], tuple[object, ...]]:
    """`oauth_cb`, which runs on a thread of its own: has the provider's coroutine run on the client's loop."""

    def call(_: str) -> tuple[object, ...]:
        token = asyncio.run_coroutine_threadsafe(_token(provider), loop_of()).result(TOKEN_LIMIT_S)
        extensions = provider.extensions()
        return (token, _expiry_s(token), "", dict(extensions)) if extensions else (token, _expiry_s(token))

    return call


async def _token(provider: AbstractTokenProvider) -> str:
    """A provider's token; it may give what is to be awaited for it, as the manual's example does."""
    token: Any = await provider.token()
    while inspect.isawaitable(token):
        token = await token
    return str(token)


def _expiry_s(token: str) -> float:
    """Until when a JWT says that it holds; an opaque token is asked for again after a while."""
    parts = token.split(".")
    if len(parts) == 3:
        with contextlib.suppress(ValueError, TypeError, AttributeError):
            claims = json.loads(base64.urlsafe_b64decode(parts[1] + "=" * (-len(parts[1]) % 4)))
            return float(claims.get("exp"))
    return time.time() + TOKEN_LIFE_S


@contextlib.contextmanager
def translating() -> Iterator[None]:
    """Errors of ours become those of aiokafka."""
    try:
        yield
    except KafkaException as error:
        raise translated(error) from error


class FirstContact:
    """Fails a start at the first sign that no broker can be reached, as aiokafka does, instead of waiting.

    Attributes:
        on_error: the client's `error_cb`.
    """

    def __init__(self, servers: str | Iterable[str] | None) -> None:
        self._servers = servers
        self._trouble: asyncio.Future[CoreError] | None = None

    def on_error(self, error: CoreError) -> None:
        """An error of the client as a whole."""
        trouble = self._trouble
        if trouble is not None and not trouble.done() and error.code() in UNREACHABLE | REFUSED:
            trouble.set_result(error)

    async def make(self, ask: Coroutine[Any, Any, T]) -> T:
        """Awaits the client's first question to the cluster.

        Raises:
            KafkaConnectionError: nobody can be reached, or no address was given. AuthenticationFailedError: the
                credentials are refused.
        """
        if self._servers is None or not collect_hosts(self._servers):
            ask.close()
            raise KafkaConnectionError(f"Unable to bootstrap from {self._servers!r}: it names no address")
        self._trouble = asyncio.get_running_loop().create_future()
        asking = asyncio.ensure_future(ask)
        try:
            waits: tuple[asyncio.Future[Any], ...] = asking, self._trouble
            await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
            if asking.done():
                return asking.result()
            error = self._trouble.result()
            raise self._failure(error)
        except KafkaException as error:
            raise self._failure(error.error) from error
        finally:
            self._trouble = None
            if not asking.done():
                asking.cancel()
                await asyncio.wait({asking})

    def _failure(self, error: CoreError) -> Exception:
        if error.code() == CoreError.SASL_AUTHENTICATION_FAILED:
            return SaslAuthenticationFailed(error.str())
        if error.code() in REFUSED:
            return AuthenticationFailedError(error.str())
        return KafkaConnectionError(f"Unable to bootstrap from {self._servers}: {error.str()}")


def at_once(work: Coroutine[Any, Any, T]) -> T:
    """Runs a call of the asyncio consumer that does not wait, from a function that is none itself.

    Once a consumer is started, `assign` (without automatic commits), `assignment`, `subscribe`, `unsubscribe`, `seek`,
    `pause` and `resume` only change what it knows.
    """
    try:
        work.send(None)
    except StopIteration as end:
        result: T = end.value
        return result
    work.close()
    raise RuntimeError(f"{work!r} waits")
