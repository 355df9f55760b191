"""Whole DataFrames through Arrow batches: `decode_frame` and `encode_frame`, the fastest way beside the source.

On `mapInArrow`; closures only, so Spark Connect works.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa

from pipeline.columns.by_row import write, writing_plan
from pipeline.columns.decoding import shared_decoder, spark_type_of
from pipeline.columns.encoding import EncodeArguments
from pipeline.columns.plan import DecodeArguments, plan_for
from pipeline.errors import OptionError
from pipeline.functions.udf import header_column
from pipeline.functions.writing import names_of
from pipeline.workers import Arrival

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

IDS: Final = "__kserdes_ids"
NAMES: Final = "__kserdes_names"
ORIGIN: Final = ("topic", "partition", "offset")


def decode_frame(
    frame: DataFrame,
    column: str,
    registry: Mapping[str, object],
    *,
    into: str | None = None,
    headers: Column | str | None = None,
    **arguments: Any,
) -> DataFrame:
    """A frame with a column of framed values decoded; all other columns stay.

    Faster than `from_registry`, and its errors name topic, partition and offset if the frame has these columns. Select
    first what is needed: every column of the frame goes through Python.

    Args:
        frame: with a binary column.
        column: its name; the decoded column takes its place.
        registry: see `from_registry`.
        into: name of the decoded column, which then comes last, and the frames stay.
        headers: see `from_registry`.
        arguments: see `from_registry`.

    Raises:
        OptionError: arguments that are wrong or don't fit together.
        PlanError: the registry can't be reached or has no such subject.
    """
    from pyspark.sql.types import StructField, StructType

    place = _place(frame, column, into)
    given = DecodeArguments(**arguments)
    plan = plan_for(registry, given)
    headed = headers is not None
    if headers is not None:
        frame = frame.withColumn(IDS, header_column(headers, given.field))
    fields = list(frame.schema)[:-1] if headed else list(frame.schema)
    made = StructField(into or column, spark_type_of(plan), True)
    fields = [*fields, made] if into else [*fields[:place], made, *fields[place + 1 :]]
    names = [field.name for field in fields]
    arrival = Arrival()

    def decode(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        decoder = shared_decoder(plan)
        for batch in batches:
            arrays = list(batch.columns)
            ids = arrays.pop() if headed else None
            known = all(name in batch.schema.names for name in ORIGIN)
            origin = {name: batch.column(name) for name in ORIGIN} if known else None
            decoded = decoder.decode(arrays[place], ids, origin)
            arrays = [*arrays, decoded] if into else [*arrays[:place], decoded, *arrays[place + 1 :]]
            yield pa.RecordBatch.from_arrays(arrays, names=names)
        arrival.settle()

    return frame.mapInArrow(decode, StructType(fields))


def encode_frame(
    frame: DataFrame,
    column: str,
    registry: Mapping[str, object],
    *,
    into: str | None = None,
    **arguments: Any,
) -> DataFrame:
    """A frame with a column of values written as registry-framed payloads; all other columns stay.

    Args:
        frame: with the column, a struct as a rule.
        column: its name; the frames take its place.
        registry: see `to_registry`.
        into: name of the column of frames, which then comes last, and the values stay.
        arguments: see `to_registry`; `topic` or `subject` may be a column here, too. The schema is derived from the
            column's type if `schema="derived"`.

    Raises:
        OptionError: arguments that are wrong or don't fit together.
        PlanError: the registry can't be reached or refuses, or the column can't be written.
    """
    from pyspark.sql.types import BinaryType, StructField, StructType

    place = _place(frame, column, into)
    if arguments.get("schema") == "derived":
        arguments = {**arguments, "schema": frame.schema[place].dataType}
    named, by = names_of(arguments.pop("topic", None), arguments.pop("subject", None))
    plan = writing_plan(registry, EncodeArguments(**named, **arguments))
    made = StructField(into or column, BinaryType(), True)
    fields = list(frame.schema)
    fields = [*fields, made] if into else [*fields[:place], made, *fields[place + 1 :]]
    names = [field.name for field in fields]
    arrival = Arrival()
    by_row = by is not None
    if by is not None:
        frame = frame.withColumn(NAMES, by)

    def encode(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            arrays = list(batch.columns)
            frames = write(plan, arrays[place], arrays.pop() if by_row else None)
            arrays = [*arrays, frames] if into else [*arrays[:place], frames, *arrays[place + 1 :]]
            yield pa.RecordBatch.from_arrays(arrays, names=names)
        arrival.settle()

    return frame.mapInArrow(encode, StructType(fields))


def _place(frame: DataFrame, column: object, into: str | None) -> int:
    """The index of a column.

    Raises:
        OptionError: there is none, or the new name is taken.
    """
    names = frame.columns
    if not isinstance(column, str) or column not in names:
        raise OptionError(f"the frame has no column {column!r}: it has {', '.join(names)}")
    if into is not None and into.lower() in (name.lower() for name in names):
        raise OptionError(f"into={into!r} is a column of the frame: choose another name")
    return names.index(column)
