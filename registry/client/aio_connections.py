"""The connections of the asyncio client: httpx's client, and one exchange with a server at a time.

Must not know what an operation does (`registry.client.flows`) or when to try again (`registry.client.delivery`). Shells
load this module with the first request, since httpx takes longer to import than all of this package.
`tools/generate_twins.py` writes the connections that wait from those that await.
"""

from __future__ import annotations

import contextlib
import ssl
import time

import httpx

from kserdes_base import deadlines
from registry.client.config import ClientConfig
from registry.client.exchange import Body, OnlyAnswer, log, unreachable, unusable_proxy
from registry.client.networks import other_network
from registry.client.steps import Reply, Send, Unreachable


class AsyncConnections:
    """A client of httpx with no connections yet, and its exchanges.

    Args:
        config: the client's configuration.
        transport: httpx's, in the place of the network; None for the network.
        auth: how httpx signs requests to registries.
        tls: the TLS context; True for httpx's own.

    Attributes:
        http: the client of httpx.
        tls: its TLS context; True where there is no network.

    Raises:
        PropertyError: httpx does not take the proxy, configured or of the environment.
        OSError: certificates that the environment names (`SSL_CERT_FILE`) can't be read.
    """

    def __init__(
        self,
        config: ClientConfig,
        transport: httpx.AsyncBaseTransport | None,
        auth: httpx.Auth | None,
        tls: ssl.SSLContext | bool,
    ) -> None:
        self._timeout_s = config.timeout_s
        self._has_network = transport is None
        self.tls = httpx.create_ssl_context(verify=tls) if self._has_network else tls
        try:
            self.http = httpx.AsyncClient(
                transport=transport,
                auth=auth,
                verify=self.tls,
                timeout=config.timeout_s,
                proxy=config.proxy,
                follow_redirects=False,
            )
        except (httpx.InvalidURL, ValueError, ImportError) as error:
            raise unusable_proxy(config, error) from None  # its text may quote a password
        if self._has_network and not deadlines.bound(self.http):
            deadlines.tell_of_changes(log, "an answer that comes slowly is not bounded as a whole")

    async def aclose(self) -> None:
        """Closes all connections."""
        await self.http.aclose()

    async def exchange(self, step: Send) -> Reply | Unreachable:
        """Sends one request; the outcome of the step."""
        try:
            request = self.http.build_request(
                step.method, step.url, params=step.query, headers=step.headers, content=step.content
            )
            with deadlines.until(time.monotonic() + self._timeout_s):
                answer = await self._answer(request, step.to_registry)
                async with contextlib.aclosing(answer):
                    answer.stream = OnlyAnswer(answer)
                    body = Body()
                    async for chunk in answer.aiter_bytes():
                        body.add(chunk)
        except (httpx.RequestError, httpx.InvalidURL) as error:
            return unreachable(error)
        return Reply(answer.status_code, bytes(body.data), answer.headers)

    async def _answer(self, request: httpx.Request, signed: bool) -> httpx.Response:
        """The answer to a request, its body not read yet.

        Raises:
            httpx.RequestError: there is none.
        """
        network = other_network() if self._has_network else None
        if network is not None:
            return await network.ask_async(request)
        auth = httpx.USE_CLIENT_DEFAULT if signed else None
        return await self.http.send(request, stream=True, auth=auth)
