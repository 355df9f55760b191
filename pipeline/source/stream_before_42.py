"""Stand-ins for what `pyspark.sql.streaming.datasource` has from Spark 4.2 on, so that streams run on 4.0 and 4.1.

There, Spark knows no read limits: it calls none of the methods that need them.
"""

from __future__ import annotations

from dataclasses import dataclass


class ReadLimit:
    """A limit of the rows of a batch."""


@dataclass
class ReadAllAvailable(ReadLimit):
    """Everything there is."""


@dataclass
class ReadMaxRows(ReadLimit):
    """So many rows."""

    max_rows: int


class SupportsTriggerAvailableNow:
    """A source that can stop at what is there."""
