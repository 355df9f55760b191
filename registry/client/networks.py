"""Who answers requests in the place of the network: nobody, unless somebody has put himself here.

Must not know who that is. An extension point: `kserdes.compat` puts mocks of another HTTP library here.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final, Protocol

if TYPE_CHECKING:
    import httpx


class Network(Protocol):
    """Somebody who answers requests in the place of the network."""

    def ask(self, request: httpx.Request) -> httpx.Response:
        """The answer.

        Raises:
            httpx.RequestError: there is none.
        """

    async def ask_async(self, request: httpx.Request) -> httpx.Response:
        """The answer, for tasks; errors as of `ask`."""


networks: Final[list[Callable[[], Network | None]]] = []
"""Each is asked, before a request without a transport of its own goes out, who answers in the place of the network;
None: nobody."""


def other_network() -> Network | None:
    """The first of `networks` that is there now, None for the network itself."""
    return next((found for find in networks if (found := find()) is not None), None)
