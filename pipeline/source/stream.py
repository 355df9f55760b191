"""The stream reader of the data source `kserdes`: offsets, admission, and what is said of progress.

Offsets are Spark's own JSON with the ids of topics beside (`points`). Spark builds the reader
twice and pickles it: it opens nothing before it is asked, and is asked in one process on the driver. An error of
`streamReader()` would be hidden by one of Spark's own, so what is wrong comes out of the first call.
API: `pyspark.sql.datasource.DataSourceStreamReader` (4.0; admission control, AvailableNow and lag from 4.2 on).
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from pyspark.sql.datasource import DataSourceStreamReader, InputPartition

from pipeline.source.formats import ReadPlan
from pipeline.source.points import PointText
from pipeline.source.readers import SplitPartition, read_task
from pipeline.workers import Arrival

try:
    from pyspark.sql.streaming.datasource import (
        ReadAllAvailable,
        ReadLimit,
        ReadMaxRows,
        SupportsTriggerAvailableNow,
    )

    TOLD_STARTS = True
except ImportError:  # before Spark 4.2 there is no admission control: a batch takes what is there
    from pipeline.source.stream_before_42 import (  # type: ignore[assignment]
        ReadAllAvailable,
        ReadLimit,
        ReadMaxRows,
        SupportsTriggerAvailableNow,
    )

    TOLD_STARTS = False

if TYPE_CHECKING:
    from pipeline.source.progress import Progress

NO_BOUND = 2**63 - 1


class KserdesStreamReader(DataSourceStreamReader, SupportsTriggerAvailableNow):
    """Gives each batch of a stream its offsets, and reads them on executors."""

    def __init__(self, plan: ReadPlan) -> None:
        self._plan = plan
        self._arrival = Arrival()
        self._progress_made: Progress | None = None

    def initialOffset(self) -> PointText:
        """The start of a query without a checkpoint."""
        return self._progress().initial()

    def getDefaultReadLimit(self) -> ReadLimit:
        """A limit if the options bound batches; `latestOffset` reads them, as one limit of Spark's can't hold two."""
        limits = self._progress().limits
        return ReadMaxRows(limits.most or NO_BOUND) if limits.any else ReadAllAvailable()

    def latestOffset(self, start: PointText | None = None, limit: ReadLimit | None = None) -> PointText:
        """The end of the next batch: `start` itself if there is nothing, or not enough yet."""
        bounded = limit is not None and not isinstance(limit, ReadAllAvailable)
        return self._progress().next_end(start, bounded=bounded, now_s=time.monotonic())

    def prepareForTriggerAvailableNow(self) -> None:
        """From here on the stream ends at the present ends."""
        self._progress().stop_at_what_is_there()

    def reportLatestOffset(self) -> PointText | None:
        """The ends of the partitions when the last batch was planned: Spark's progress shows the lag behind them."""
        return self._progress().reported()

    def partitions(self, start: PointText, end: PointText) -> Sequence[InputPartition]:
        """The splits between two offsets; none for an empty batch, as after a restart."""
        return [SplitPartition(split) for split in self._progress().splits(start, end)]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """The rows of a split, on an executor."""
        yield from read_task(partition.value, self._plan, self._arrival)

    def commit(self, end: PointText) -> None:
        """A batch is done: its end is committed to the group, if one is named."""
        self._progress().done(end)

    def stop(self) -> None:
        """The query has ended."""
        if self._progress_made is not None:
            self._progress_made.close()

    def _progress(self) -> Progress:
        if self._progress_made is None:
            from pipeline.source.progress import Progress

            self._progress_made = Progress(self._plan, time.monotonic(), told_starts=TOLD_STARTS)
        return self._progress_made

    def __getstate__(self) -> Mapping[str, Any]:
        return {"_plan": self._plan, "_arrival": self._arrival, "_progress_made": None}
