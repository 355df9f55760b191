"""Time-outs as confluent_kafka's users give them: seconds, where None or anything negative is no limit.

Must not know Kafka.
Spec: confluent_kafka: `poll(-1)`, `flush(None)`.
"""

import time


def limit_s(timeout: float | None) -> float | None:
    """The limit in seconds; None: no limit."""
    return None if timeout is None or timeout < 0 else timeout


def deadline_after(timeout: float | None) -> float | None:
    """The end of the time, in monotonic seconds; None: never."""
    return None if timeout is None or timeout < 0 else time.monotonic() + timeout


def check_limit(timeout: object) -> None:
    """TypeError unless it is a number of seconds, or None; said before anything about the producer."""
    if timeout is not None and not isinstance(timeout, int | float):
        raise TypeError(f"timeout must be a number of seconds, not {type(timeout).__name__}")
