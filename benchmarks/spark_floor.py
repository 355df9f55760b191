"""Spark's own cost of a stream's batch that Python reads: a source that makes its rows out of nothing.

Knows no broker and no client. `benchmarks.spark_source` runs it beside the others: what is below its time, no source in
Python can reach.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import pyarrow as pa
from pyspark.sql.datasource import DataSource, DataSourceStreamReader, InputPartition
from pyspark.sql.streaming.datasource import ReadLimit, ReadMaxRows, SupportsTriggerAvailableNow
from pyspark.sql.types import StructType

from pipeline.columns.schema import spark_fields
from pipeline.source.raw import RAW_SCHEMA
from pipeline.workers import Arrival

PARTITIONS = 4
VALUE = b"x" * 100


class FloorReader(DataSourceStreamReader, SupportsTriggerAvailableNow):
    """So many batches of so many rows; an offset is the number of a batch."""

    def __init__(self, rows: int, batches: int) -> None:
        self._rows, self._batches, self._arrival = rows, batches, Arrival()

    def initialOffset(self) -> dict[str, int]:
        return {"at": 0}

    def getDefaultReadLimit(self) -> ReadLimit:
        return ReadMaxRows(self._rows)

    def latestOffset(self, start: Any = None, limit: Any = None) -> dict[str, int]:
        return {"at": min(start["at"] + 1, self._batches)}

    def prepareForTriggerAvailableNow(self) -> None:
        """The end is known."""

    def reportLatestOffset(self) -> dict[str, int]:
        return {"at": self._batches}

    def partitions(self, start: dict[str, int], end: dict[str, int]) -> Sequence[InputPartition]:
        return [InputPartition(number) for number in range(PARTITIONS)] if start != end else []

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        rows = self._rows // PARTITIONS
        values: dict[str, Any] = {"key": pa.nulls(rows, pa.binary()), "value": [VALUE] * rows, "offset": range(rows)}
        same = {"topic": "stream", "partition": partition.value, "timestamp": 0, "timestampType": 0}
        columns = {**values, **{name: [one] * rows for name, one in same.items()}}
        yield pa.RecordBatch.from_pydict({name: columns[name] for name in RAW_SCHEMA.names}, schema=RAW_SCHEMA)
        self._arrival.settle()


class FloorSource(DataSource):
    """`format("floor")` with the options `rows`, of a batch, and `batches`."""

    @classmethod
    def name(cls) -> str:
        return "floor"

    def schema(self) -> StructType:
        return spark_fields(RAW_SCHEMA)

    def streamReader(self, schema: Any) -> FloorReader:
        return FloorReader(int(self.options["rows"]), int(self.options["batches"]))
