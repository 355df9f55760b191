"""The writers of the data source `kserdes`: frames to topics, at least once, idempotent by default.

A task sends its rows and waits until all are delivered; only then it is done. A task that fails may leave rows in the
topic: another try writes them again. API: `pyspark.sql.datasource` (4.0; streams 4.1).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pyarrow as pa
from pyspark.sql.datasource import DataSourceArrowWriter, WriterCommitMessage

from pipeline.errors import OptionError
from pipeline.write_options import WriteOptions
from pipeline.writing import WritePlan, plan_write, write_rows

try:
    from pyspark.sql.datasource import DataSourceStreamArrowWriter
except ImportError:  # Spark 4.0 streams rows, not columns, to Python
    DataSourceStreamArrowWriter = None  # type: ignore[assignment,misc]

if TYPE_CHECKING:
    from pyspark.sql.datasource import DataSourceStreamWriter
    from pyspark.sql.types import StructType

__all__ = ["KserdesWriter", "make_stream_writer", "make_writer"]


@dataclass
class Written(WriterCommitMessage):
    """What a task tells the driver: how many rows it has delivered."""

    rows: int


class KserdesWriter(DataSourceArrowWriter):
    """Writes a frame."""

    def __init__(self, plan: WritePlan) -> None:
        self._plan = plan

    def write(self, iterator: Iterator[pa.RecordBatch]) -> WriterCommitMessage:
        """Sends the rows of a task and waits for their delivery.

        Raises:
            WriteError: see `write_rows`.
        """
        return Written(write_rows(iterator, self._plan))


def make_writer(options: Mapping[str, str], schema: StructType, overwrite: bool) -> KserdesWriter:
    """The writer of a frame.

    Raises:
        OptionError, PlanError: see `plan_write`; or the mode is `overwrite`.
    """
    return KserdesWriter(_planned(options, schema, overwrite))


def make_stream_writer(options: Mapping[str, str], schema: StructType, overwrite: bool) -> DataSourceStreamWriter:
    """The writer of a stream.

    Raises:
        OptionError, PlanError: as `make_writer`; or this Spark has no writers of columns for streams.
    """
    if DataSourceStreamArrowWriter is None:  # type: ignore[redundant-expr,unused-ignore]
        raise OptionError("streams are written with Spark 4.1 or later: use foreachBatch and write each batch")

    class KserdesStreamWriter(DataSourceStreamArrowWriter):
        """Writes the batches of a stream."""

        def __init__(self, plan: WritePlan) -> None:
            self._plan = plan

        def write(self, iterator: Iterator[pa.RecordBatch]) -> WriterCommitMessage:
            """As `KserdesWriter.write`."""
            return Written(write_rows(iterator, self._plan))

    return KserdesStreamWriter(_planned(options, schema, overwrite))


def _planned(options: Mapping[str, str], schema: StructType, overwrite: bool) -> WritePlan:
    from pyspark.sql.pandas.types import to_arrow_schema

    if overwrite:
        raise OptionError('a topic can\'t be overwritten: use mode("append"), or outputMode("append") or "update"')
    columns = {column.name: column.dataType.simpleString() for column in schema.fields}
    return plan_write(WriteOptions.parse(options), columns, to_arrow_schema(schema, timezone="UTC"))
