"""Names in the manual of kafka-python 0.9.5 that its dialect lacks, with the reasons.

Holds names only; the modules of the dialect have the names that they had under `kafka`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

__all__ = ["NAMES_NOT_HERE"]

NAMES_NOT_HERE: Final[Mapping[str, str]] = {
    "consumer.multiprocess.Events": "events between processes; those of MultiProcessConsumer talk by pipes here",
    "consumer.simple.FetchContext": "set what a SimpleConsumer's next request asked for; ours makes no such requests",
}
"""Module and name, without the root: why."""
