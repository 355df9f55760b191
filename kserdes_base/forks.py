"""Clients after a fork: each is told in the child, where it starts anew or refuses its calls.

Must not know what a client holds. Neither threads nor loops come along into the child, but sockets and selectors do: a
request of the child would go out on a connection whose answers the parent reads, and who holds the parent's locks or
makes its look-ups is not there.
"""

from __future__ import annotations

import itertools
import logging
import os
import weakref
from typing import Final, Protocol

FORKED: Final = (
    "this client was used before the process forked, and its event loop did not come along; make a new one in the "
    "child process (for example in a worker's post-fork hook)"
)
"""The refusal of a client that belongs to an event loop and was begun before the fork."""
log: Final = logging.getLogger("kserdes")


class _Forkable(Protocol):
    def _after_fork(self) -> None:
        """In the child: the client starts anew, or refuses its calls from now on."""


_numbers: Final = itertools.count()
_forkable: Final[weakref.WeakValueDictionary[int, _Forkable]] = weakref.WeakValueDictionary()


def share_no_fork(client: _Forkable) -> None:
    """Tells a client, as long as it lives, when it finds itself in the child of a fork.

    Those that came first are told first: a client may ask the parts that it was made of.
    """
    _forkable[next(_numbers)] = client


def _after_fork() -> None:
    for _, client in sorted(_forkable.items()):
        try:
            client._after_fork()
        except Exception:  # of one client; the others are told all the same
            log.exception("%s is not usable in this child process", type(client).__name__)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
