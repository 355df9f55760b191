"""Ends the connections of a request when its time is over, whatever the peer sends until then.

Must not know of tokens. httpx bounds each read alone: a peer that gives a byte of a header now and then is never late,
and who waits for a token would wait for ever. Source: the "trace" extension of httpcore.
"""

from __future__ import annotations

import socket
import threading
from collections.abc import Mapping
from contextlib import suppress
from types import TracebackType
from typing import Any, Final, Self

OPENED: Final = ("connect_tcp.complete", "start_tls.complete")
"""The last words of the events at which a connection has a socket, or another one."""


class Ending:
    """While it is entered, the connections that `trace` is told of are shut down once the time is over.

    Args:
        limit_s: from entering on.

    Attributes:
        over: whether the time is over.
    """

    def __init__(self, limit_s: float) -> None:
        self.over = False
        self._lock = threading.Lock()
        self._socket: socket.socket | None = None
        self._timer = threading.Timer(limit_s, self._end)
        self._timer.daemon = True

    def __enter__(self) -> Self:
        self._timer.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._timer.cancel()

    def trace(self, event: str, info: Mapping[str, Any]) -> None:
        """The trace function of httpcore, called with each step of a request."""
        if event.endswith(OPENED):
            with self._lock:
                self._socket = info["return_value"].get_extra_info("socket")
            if self.over:
                self._end()

    def _end(self) -> None:
        self.over = True
        with self._lock:
            opened = self._socket
        if opened is not None:
            with suppress(OSError):  # it is closed already
                # Not SSLSocket's own: that takes the TLS state away from the thread that reads.
                socket.socket.shutdown(opened, socket.SHUT_RDWR)
