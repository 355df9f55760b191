"""The base of kafka-python's KafkaAdminClient: our client, time limits, and the reading of outcomes.

Must not know any single call.
"""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import Future
from typing import Any

from kafka_core import KafkaException
from kafka_core import admin as ours

__all__ = ["AdminBase", "outcome"]


class AdminBase:
    """A client of ours with kafka-python's configuration beside it."""

    config: Mapping[str, Any]
    _client: ours.AdminClient

    def _limits(self, timeout_ms: float | None) -> dict[str, float]:
        """Our two time-outs, in seconds, of theirs in ms; None is `request_timeout_ms`."""
        limit_s = (self.config["request_timeout_ms"] if timeout_ms is None else timeout_ms) / 1000
        return {"operation_timeout": limit_s, "request_timeout": limit_s}


def outcome(answer: Future[Any]) -> KafkaException | None:
    """The error of a future, or None; waits for it."""
    failure = answer.exception()
    if failure is not None and not isinstance(failure, KafkaException):
        raise failure
    return failure
