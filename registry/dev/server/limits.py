"""Limits of the embedded registry's HTTP server: sizes and times."""

from __future__ import annotations

from dataclasses import dataclass

from registry.limits import MAX_BODY_BYTES


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits for clients.

    Attributes:
        body_bytes: size of a request body.
        head_s: time until the whole head of a request is there.
        body_s: time until the whole body is there.
        idle_s: time a connection is kept open without a request.
        stop_s: time requests under way get when the server stops.
    """

    body_bytes: int = MAX_BODY_BYTES
    head_s: float = 10.0
    body_s: float = 30.0
    idle_s: int = 60
    stop_s: int = 2
