"""An address where nobody listens, for as long as the test lasts.

A port that was looked for and let go again may be taken by another process before it is used.
"""

from __future__ import annotations

import socket
from collections.abc import Iterator

import pytest

__all__ = ["refused_port"]


@pytest.fixture
def refused_port() -> Iterator[int]:
    """A port of all local addresses that is held, but not listened on: connections to it are refused."""
    with socket.socket() as held:
        held.bind(("", 0))
        port: int = held.getsockname()[1]
        yield port
