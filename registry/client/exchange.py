"""HTTP exchanges, for both kinds of connections: bounded bodies, errors translated.

Must not wait for anything.
"""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Iterator
from typing import Any

import httpx

from kserdes_base.config.errors import PropertyError
from kserdes_base.deadlines import check, tell_of_changes
from registry.client.config import ClientConfig
from registry.client.steps import Unreachable
from registry.limits import MAX_ANSWER_BYTES

INSIDES = ("_stream", "_httpcore_stream", "_stream", "_connection")
"""From httpx's stream of an answer to httpcore's connection."""
log = logging.getLogger("registry")
ADVICE = {
    "WRONG_VERSION_NUMBER": "does the port speak TLS? (a plain one needs http:// in the url)",
    "CERTIFICATE_VERIFY_FAILED": "ssl.ca.location names the file of the CA to trust",
}
"""OpenSSL's reason for a failed handshake → what to look at."""
NOT_SENT = (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout, httpx.UnsupportedProtocol)


def unusable_proxy(config: ClientConfig, error: Exception) -> PropertyError:
    """The error for a proxy, configured or of the environment, that httpx does not take; its URL is not quoted."""
    where = "HTTP_PROXY, HTTPS_PROXY, ALL_PROXY or NO_PROXY of the environment"
    if config.proxy is not None:
        where = "proxy"
    if isinstance(error, ImportError):
        return PropertyError(f"{where}: SOCKS needs the package socksio (pip install 'httpx[socks]')", property="proxy")
    return PropertyError(
        f"{where} can't be used: it must be http://[user:password@]host:port (or https, socks5, socks5h), with user "
        "and password percent-encoded",
        property="proxy",
    )


def unreachable(error: httpx.RequestError | httpx.InvalidURL) -> Unreachable:
    """An error of httpx as a step's outcome; the one place where they are translated."""
    if isinstance(error, httpx.LocalProtocolError):  # its text, and it is its own cause, quotes headers: credentials
        return Unreachable("the request can't be written: is there a line break in a token or in a header?", sent=False)
    reason = str(error) or type(error).__name__
    if isinstance(error, httpx.TimeoutException):
        reason = f"timed out ({type(error).__name__})"
    reason += next((f"; {advice}" for cause, advice in ADVICE.items() if cause in reason), "")
    return Unreachable(reason, sent=not isinstance(error, (*NOT_SENT, httpx.InvalidURL)), cause=error)


class OnlyAnswer(httpx.SyncByteStream, httpx.AsyncByteStream):
    """The body of an answer, whose connection is closed if the server sent more behind it.

    httpx keeps such a connection, and then each caller gets the answer to the request before his own: the schema of
    another id, the id of another schema. What comes later than the answer itself httpx notices.
    """

    def __init__(self, answer: httpx.Response) -> None:
        self._stream: Any = answer.stream
        self._connection: Any = answer.extensions.get("network_stream")
        self._http_version = answer.http_version

    def __iter__(self) -> Iterator[bytes]:
        yield from self._stream
        if self._has_more():
            self._connection.close()

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for chunk in self._stream:
            yield chunk
        if self._has_more():
            await self._connection.aclose()

    def close(self) -> None:
        self._stream.close()

    async def aclose(self) -> None:
        await self._stream.aclose()

    def _has_more(self) -> bool:
        """Whether bytes behind an answer were read with it. Nothing public says it; where httpx changes, False."""
        stream = self._stream
        for name in (*INSIDES, ""):
            state = getattr(stream, "_h11_state", None)
            if state is not None:
                return bool(state.trailing_data[0])
            stream = getattr(stream, name, None)
        if self._connection is not None and self._http_version.startswith("HTTP/1"):
            tell_of_changes(log, "an extra answer of a server or a proxy may be taken for another's")
        return False


class Body:
    """The body of an answer, bounded in size, and in time also where httpx has changed inside (`deadlines.until`)."""

    def __init__(self) -> None:
        self.data = bytearray()

    def add(self, chunk: bytes) -> None:
        """Adds a part.

        Raises:
            httpx.ReadTimeout: it took too long.
            httpx.RemoteProtocolError: it is too large.
        """
        self.data += chunk
        if len(self.data) > MAX_ANSWER_BYTES:
            raise httpx.RemoteProtocolError(f"the answer is larger than {MAX_ANSWER_BYTES} bytes")
        check()
