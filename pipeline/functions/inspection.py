"""Inspection of topics, and names for SQL: `schema_id`, `infer_schema`, `explain_schema`, `register_functions`.

Expressions of Spark and closures only, so Spark Connect works.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from pipeline.columns.decoding import spark_type_of
from pipeline.columns.encoding import record_name
from pipeline.columns.plan import DecodeArguments, plan_for
from pipeline.columns.references import resolved
from pipeline.errors import OptionError, PlanError
from pipeline.functions.udf import column_of, decoding, header_column
from registry import SchemaRegistryClient, SchemaRegistryError
from serdes import SerializationError

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession
    from pyspark.sql.types import DataType

    from registry import Schema

MOST_IDS: Final = 1000
"""So many ids of a topic are explained, those of most rows first."""
SQL_ID: Final = """CREATE OR REPLACE TEMPORARY FUNCTION kserdes_schema_id(frame BINARY) RETURNS BIGINT
RETURN CASE WHEN length(frame) >= 5 AND substring(frame, 1, 1) = X'00'
THEN CAST(conv(hex(substring(frame, 2, 4)), 16, 10) AS BIGINT) END"""


def schema_id(column: Column | str, headers: Column | str | None = None, *, field: str = "value") -> Column:
    """The schema id that a frame or its header names, a bigint; null where there is none (a GUID, or no frame).

    Args:
        column: binary column of frames.
        headers: column of headers, which come first.
        field: `"value"` or `"key"`: which header.
    """
    from pyspark.sql import functions

    found = _id_in(column_of(column))
    return found if headers is None else functions.coalesce(_id_in(header_column(headers, field)), found)


def _id_in(column: Any) -> Any:
    from pyspark.sql import functions

    framed = (functions.length(column) >= 5) & (functions.substring(column, 1, 1) == functions.lit(b"\0"))
    digits = functions.hex(functions.substring(column, 2, 4))
    return functions.when(framed, functions.conv(digits, 16, 10).cast("bigint"))


def infer_schema(registry: Mapping[str, object], subject: str | None = None, **arguments: Any) -> DataType:
    """The Spark type that `from_registry` gives with the same arguments: a StructType, unless the root is no record.

    Raises:
        OptionError, PlanError: see `from_registry`.
    """
    return spark_type_of(plan_for(registry, DecodeArguments(subject=subject, **arguments)))


def explain_schema(
    frame: DataFrame,
    column: str = "value",
    registry: Mapping[str, object] | None = None,
    *,
    headers: Column | str | None = None,
    field: str = "value",
) -> DataFrame:
    """Counts the schema ids in a column: `schema_id` (null: no frame, or a GUID) and `rows`, most frequent first.

    With a registry the frame is read at once, and `format`, `name` and `subjects` (with versions) are added, null for
    ids the registry does not know.

    Args:
        frame: with a binary column.
        column: its name.
        registry: configuration of the registry client.
        headers: column of headers, in which ids may stand.
        field: `"value"` or `"key"`: which header.

    Raises:
        PlanError: the registry can't be reached.
    """
    from pyspark.sql import functions

    named = frame.where(column_of(column).isNotNull()).select(
        schema_id(column, headers, field=field).alias("schema_id")
    )
    counted = named.groupBy("schema_id").agg(functions.count("*").alias("rows"))
    ordered = counted.orderBy(functions.desc("rows"), "schema_id")
    if registry is None:
        return ordered
    found = [(row["schema_id"], row["rows"]) for row in ordered.limit(MOST_IDS).collect()]
    types = "schema_id bigint, rows bigint, format string, name string, subjects array<string>"
    try:
        with SchemaRegistryClient(resolved(registry)) as client:
            told = [(number, rows, *_told(client, number)) for number, rows in found]
    except SchemaRegistryError as error:
        raise PlanError(f"the schemas of the ids can't be read from the registry: {error}") from error
    return frame.sparkSession.createDataFrame(told, types)


def _told(client: SchemaRegistryClient, number: int | None) -> tuple[str | None, str | None, list[str] | None]:
    if number is None:
        return None, None, None
    try:
        schema = client.get_schema(number)
        versions = client.get_schema_versions(number)
    except SchemaRegistryError as error:
        if not error.not_found:
            raise
        return None, None, None
    return schema.schema_type, _name(client, schema), sorted(f"{one.subject} version {one.version}" for one in versions)


def _name(client: SchemaRegistryClient, schema: Schema) -> str | None:
    try:
        return record_name(schema, lambda one: client.get_version(one.subject, one.version).schema)
    except SerializationError:
        return None  # a schema that is not valid has no name; its id and subjects are told


def register_functions(
    spark: SparkSession, registry: Mapping[str, object] | None = None, **functions: Mapping[str, Any]
) -> None:
    """Gives SQL names to functions, for this session.

    Always `kserdes_schema_id(frame)`. A further one for each keyword: `order_of={"topic": "orders"}` makes
    `order_of(value)`, which is `from_registry` with these arguments: a name decodes one kind of values, for SQL has to
    know its type.

    Args:
        spark: the session, classic or Connect.
        registry: configuration of the registry client; needed for functions of one's own.
        functions: name → arguments of `from_registry`.

    Raises:
        OptionError, PlanError: see `from_registry`.
    """
    spark.sql(SQL_ID)
    for name, arguments in functions.items():
        if registry is None:
            raise OptionError(f"function {name!r} needs the registry: register_functions(spark, {{'url': '…'}}, …)")
        spark.udf.register(name, decoding(plan_for(registry, DecodeArguments(**arguments))))
