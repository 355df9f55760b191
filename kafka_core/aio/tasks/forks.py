"""Clients on an event loop after a fork: the child is told that they are its parent's.

Must not know clients. The loop did not come along, but the sockets and the selector did: a request of the child would
go out on a connection whose answers the parent reads, and closing a transport there would take the parent's socket out
of the selector that both share. So a client that was begun before the fork does nothing at all in the child.
"""

from __future__ import annotations

import os
import weakref
from typing import Final, Protocol

FORKED: Final = (
    "this client was used before the process forked, and its event loop did not come along; make a new one in the "
    "child process (for example in a worker's post-fork hook)"
)


class _Forkable(Protocol):
    def _after_fork(self) -> None:
        """In the child: from now on the client refuses its calls with `FORKED`, if it had been begun."""


_forkable: Final[weakref.WeakSet[_Forkable]] = weakref.WeakSet()


def share_no_fork(client: _Forkable) -> None:
    """Tells a client when it finds itself in the child of a fork."""
    _forkable.add(client)


def _after_fork() -> None:
    for client in list(_forkable):
        client._after_fork()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
