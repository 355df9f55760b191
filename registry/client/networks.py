"""Substitutes for the network: an extension point, empty unless somebody outside this package fills it.

Must not know any substitute. `kserdes.compat` registers the mocks of another HTTP library here.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final, Protocol

if TYPE_CHECKING:
    import httpx


class Network(Protocol):
    """A substitute for the network: it answers requests itself."""

    def ask(self, request: httpx.Request) -> httpx.Response:
        """The answer.

        Raises:
            httpx.RequestError: there is none.
        """

    async def ask_async(self, request: httpx.Request) -> httpx.Response:
        """The answer, for tasks; errors as of `ask`."""


networks: Final[list[Callable[[], Network | None]]] = []
"""Functions that give a substitute while there is one, else None. They are called before each request of a client that
has no transport of its own."""


def other_network() -> Network | None:
    """The first substitute that there is now; None means the network itself."""
    return next((found for find in networks if (found := find()) is not None), None)
