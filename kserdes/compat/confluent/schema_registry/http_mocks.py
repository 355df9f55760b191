"""Mocks of httpx2's connections, which tests of applications made for confluent_kafka (docs/decisions/0096).

confluent_kafka sends through httpx2 on Python 3.10 and later, so tests of its users put mocks in the place of that
library's connections (pytest-httpx2); our clients send through httpx. After `install()` they ask those mocks, too.
Must not know of registries.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from registry.client.networks import networks

if TYPE_CHECKING:
    import httpx

__all__ = ["install"]


def install() -> None:
    """From now on registry clients of this process ask httpx2's mocks, while there are any. May be called again."""
    if _mocked not in networks:
        networks.append(_mocked)


class Mocks:
    """The mocks that stand in the place of httpcore2's connections.

    Args:
        network: the module httpcore2.
    """

    def __init__(self, network: Any) -> None:
        self._network = network

    def ask(self, request: httpx.Request) -> httpx.Response:
        """The answer of the mocks.

        Raises:
            httpx.RequestError: what a mock raises, as httpx's error of that name.
        """
        import httpx

        kind = self._network.ConnectionPool
        try:
            made = kind.handle_request(kind(), self._written(request))
            return httpx.Response(made.status, headers=made.headers, content=b"".join(made.stream), request=request)
        except Exception as error:
            raise _own_error(error) from error

    async def ask_async(self, request: httpx.Request) -> httpx.Response:
        """`ask` for tasks."""
        import httpx

        kind = self._network.AsyncConnectionPool
        try:
            made = await kind.handle_async_request(kind(), self._written(request))
            body = [chunk async for chunk in made.stream]
            return httpx.Response(made.status, headers=made.headers, content=b"".join(body), request=request)
        except Exception as error:
            raise _own_error(error) from error

    def _written(self, request: httpx.Request) -> Any:
        """httpcore2's request of the same meaning."""
        url = request.url
        place = self._network.URL(scheme=url.raw_scheme, host=url.raw_host, port=url.port, target=url.raw_path)
        return self._network.Request(request.method, place, headers=request.headers.raw, content=request.stream)


def _mocked() -> Mocks | None:
    """The mocks, where tests have put some in the place of httpcore2's connections."""
    network = sys.modules.get("httpcore2")
    if network is None or network.ConnectionPool.handle_request.__name__ == "handle_request":
        return None
    return Mocks(network)


def _own_error(error: Exception) -> Exception:
    import httpx

    kind = getattr(httpx, type(error).__name__, None)
    foreign = type(error).__module__.startswith(("httpx2", "httpcore2"))
    return kind(str(error)) if foreign and isinstance(kind, type) and issubclass(kind, httpx.RequestError) else error
