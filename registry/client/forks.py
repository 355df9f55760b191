"""Clients after a fork: each starts anew in the child.

Must not know what a client holds.
"""

from __future__ import annotations

import os
import weakref
from typing import Protocol


class _Forkable(Protocol):
    def _after_fork(self) -> None: ...


_forkable: weakref.WeakSet[_Forkable] = weakref.WeakSet()


def share_no_fork(client: _Forkable) -> None:
    """Lets a client start anew in every child of a fork.

    With the parent's connections one of the two would read the answers to the other's requests; and who holds the
    parent's locks or makes its look-ups is not in the child.
    """
    _forkable.add(client)


def _after_fork() -> None:
    for client in list(_forkable):
        client._after_fork()


os.register_at_fork(after_in_child=_after_fork)
