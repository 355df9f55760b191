"""Good rows and bad: what mode DEADLETTER decoded becomes two DataFrames.

Expressions of Spark only, so Spark Connect works. The headers of bad rows are those of `pipeline.columns.dead_letters`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from pipeline.columns.dead_letters import ERROR_CLASS, PREFIX
from pipeline.columns.decoding import ERROR_TYPE
from pipeline.errors import OptionError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

ERROR_FIELDS: Final = [field.name for field in ERROR_TYPE]
ORIGIN: Final = ("topic", "partition", "offset", "timestamp")


def split(frame: DataFrame, column: str | None = None, *, field: str = "value") -> tuple[DataFrame, DataFrame]:
    """The rows that could be decoded, and dead letters of those that could not.

    Good rows have all columns of the frame, the decoded values in place of the column of `mode="DEADLETTER"`. Bad rows
    have the columns `key`, `value` (as they came), `headers` (those of the record if the frame has them, then the
    `__dlq.…` headers that typed clients write), `timestamp`, `error` (`code`, `reason`, `schema_id`, `path`) and
    `origin` (`topic`, `partition`, `offset`), as far as the frame has them: ready to be written to a topic.

    Each of the two reads and decodes by itself when it runs; `frame.persist()` first if that is dear.

    Args:
        frame: with a column decoded in mode DEADLETTER.
        column: its name; needed if there are several.
        field: whether the column was decoded from the record's `value` or `key`.

    Raises:
        OptionError: there is no such column, or there are several.
    """
    from pyspark.sql import functions

    if field not in ("key", "value"):
        raise OptionError(f"field must be 'key' or 'value', not {field!r}")
    name = _column(frame, column)
    error = functions.col(f"`{name}`.error")
    good = frame.where(error.isNull()).withColumn(name, functions.col(f"`{name}`.value"))
    bad = frame.where(error.isNotNull())
    return good, bad.select(*_letter(frame, name, field))


def _column(frame: DataFrame, column: str | None) -> str:
    found = [one.name for one in frame.schema if _is_decoded(one.dataType)]
    if column is not None:
        if column not in found:
            raise OptionError(f"column {column!r} was not decoded in mode DEADLETTER: {', '.join(found) or 'none'} was")
        return column
    if len(found) != 1:
        raise OptionError(
            f"split needs a column decoded in mode DEADLETTER: the frame has {', '.join(found) or 'none'};"
            " name one as split(frame, 'column')"
        )
    return found[0]


def _is_decoded(kind: Any) -> bool:
    if getattr(kind, "names", None) != ["value", "error"]:
        return False
    return getattr(kind["error"].dataType, "names", None) == ERROR_FIELDS


def _letter(frame: DataFrame, name: str, field: str) -> list[Any]:
    from pyspark.sql import functions

    has = [one for one in frame.columns if one != name]
    error = functions.col(f"`{name}`.error")
    other = "key" if field == "value" else "value"
    sides = {field: error["raw"]}
    if other in has:
        sides[other] = functions.col(other)
    columns = [sides[side].alias(side) for side in ("key", "value") if side in sides]
    columns.append(_headers(has, error, field).alias("headers"))
    if "timestamp" in has:
        columns.append(functions.col("timestamp"))
    columns.append(functions.struct(*(error[one] for one in ERROR_FIELDS if one != "raw")).alias("error"))
    origin = [functions.col(one) for one in ORIGIN[:3] if one in has]
    return [*columns, functions.struct(*origin).alias("origin")] if origin else columns


def _headers(has: list[str], error: Any, field: str) -> Any:
    from pyspark.sql import functions

    facts: dict[str, Any] = {one: functions.col(one) for one in ORIGIN if one in has}
    if "timestamp" in facts:
        facts["timestamp"] = functions.unix_millis("timestamp")
    facts |= {
        "field": functions.lit(field),
        "error.class": functions.lit(ERROR_CLASS),
        "error.code": error["code"],
        "error.message": error["reason"],
        "schema.id": error["schema_id"],
        "path": error["path"],
    }
    pairs = [
        functions.struct(
            functions.lit(f"{PREFIX}{one}").alias("key"), fact.cast("string").cast("binary").alias("value")
        )
        for one, fact in facts.items()
    ]
    told = functions.filter(functions.array(*pairs), lambda pair: pair["value"].isNotNull())
    if "headers" not in has:
        return told
    return functions.concat(functions.coalesce(functions.col("headers"), functions.array().cast(HEADERS)), told)


HEADERS: Final = "array<struct<key: string, value: binary>>"
