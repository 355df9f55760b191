"""A transport for httpx's clients that hands requests to an embedded registry, without a socket.

Must not know what a request means.
"""

from __future__ import annotations

import asyncio
from typing import Protocol

import httpx

from registry.dev.handlers.requests import MEDIA_TYPE, Response
from registry.dev.operations.comparison import LARGE


class Responder(Protocol):
    """The part of `EmbeddedRegistry` that a transport needs."""

    def respond(
        self, method: str, target: str, body: bytes = b"", content_type: str | None = None, accept: str | None = None
    ) -> Response:
        """Answers a request given as its parts."""


class InProcessTransport(httpx.BaseTransport, httpx.AsyncBaseTransport):
    """Gives httpx's requests to an embedded registry."""

    def __init__(self, registry: Responder) -> None:
        self._registry = registry

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """Answers on the caller's thread."""
        return self._answer(request, request.read())

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Answers in the caller's task, where nothing waits; large schemas, slow to compare, on a thread."""
        body = await request.aread()
        if len(body) > LARGE:
            return await asyncio.to_thread(self._answer, request, body)
        return self._answer(request, body)

    def _answer(self, request: httpx.Request, body: bytes) -> httpx.Response:
        media = request.headers.get("Content-Type"), request.headers.get("Accept")
        answer = self._registry.respond(request.method, request.url.raw_path.decode("ascii"), body, *media)
        headers = [("Content-Type", MEDIA_TYPE), *answer.headers]
        return httpx.Response(answer.status, headers=headers, content=answer.body)
