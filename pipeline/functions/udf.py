"""Column functions: `from_registry` decodes registry-framed payloads into a column of Spark's types.

Uses closures only (no py4j, no broadcast), so Spark Connect works. Wire format: magic byte 0 and a 4-byte schema id, or
magic byte 1 and a GUID, in front of the payload or in a header. See DESIGN §6.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

import pyarrow as pa

from pipeline.columns.decoding import shared_decoder, spark_type_of
from pipeline.columns.plan import DecodeArguments, DecodePlan, plan_for
from pipeline.errors import OptionError, PlanError
from pipeline.workers import Arrival
from serdes.frames.schema_id import KEY_HEADER, VALUE_HEADER
from serdes.subject import SubjectNameStrategy

if TYPE_CHECKING:
    from pyspark.sql import Column, SparkSession


def from_registry(
    column: Column | str,
    registry: Mapping[str, object],
    *,
    topic: str | None = None,
    subject: str | None = None,
    strategy: str | SubjectNameStrategy | None = None,
    field: str = "value",
    format: str = "auto",
    reader_schema: str | None = None,
    version: int | None = None,
    id: int | None = None,
    model: Any = None,
    columns: Sequence[str] | None = None,
    types: Sequence[str] | None = None,
    message_type: str = "",
    headers: Column | str | None = None,
    mode: str = "PERMISSIVE",
    bad_row: Literal["null", "struct"] = "null",
    error_field: str | None = None,
    evolution: Literal["ignore", "restart"] = "ignore",
    recursive_max_depth: int = 0,
    unnamed: Literal["skip", "refuse", "map"] = "skip",
    times: Literal["number", "time"] = "number",
    rules: str = "run",
    rule_conf: Mapping[str, Any] | None = None,
) -> Column:
    """A column of framed values decoded to one whose type comes from the registry while the plan is made.

    Avro, Protobuf and JSON Schema; records become structs, and any other root what it is.

    Payloads of any number of schema ids may stand in one column: each is resolved from its writer schema to the one
    reader schema. Nulls stay null. All schemas of the subject travel with the job, so executors need the registry
    only for ids that were registered later. The column is decoded once, whatever of it is filtered or selected later.
    Calls with the same arguments ask the registry once in five minutes (`cache.latest.ttl.sec` sets another time,
    `forget_plans()` forgets) and compile once per process, so it may be called in `foreachBatch`.

    Args:
        column: binary column, e.g. `"value"` of a Kafka source.
        registry: configuration of `registry.SchemaRegistryClient`, e.g. `{"url": "http://…"}`. What is secret in it is
            not part of the plan; write it as `${env:NAME}` or `${file:PATH}` if executors have to ask the registry.
        topic: the subject is `<topic>-<field>` (the topic name strategy), unless `strategy` says otherwise.
        subject: the subject itself.
        strategy: `topic`, `record` or `topic_record`, or a function as serializers take it; with the last three `types`
            names the records.
        field: `"value"` or `"key"`.
        format: `avro`, `json` or `protobuf`, to be sure; `auto` is the subject's.
        reader_schema: text of the schema to resolve to, of the subject's format; default: the newest version.
        version: the version of the subject to resolve to.
        id: the registered schema to resolve to.
        model: a class (dataclass, pydantic model, …; Protobuf: a message class) whose schema to resolve to.
        columns: paths of the fields to decode (`["id", "address.city"]`); the struct has only these, and the rest is
            skipped, which is faster. Spark can't tell a function which fields of its struct are used.
        types: names of records, full or without namespace: the column is a struct of one field for each, of which one
            is set in a row. A row of another type is null and no error, so one name makes a filter.
        message_type: full name of Protobuf's message type; default: the first one of the reader schema.
        headers: the column of headers (array of structs of `key` and `value`), where ids or GUIDs may stand in the
            header `__value_schema_id` (`__key_schema_id` for keys).
        mode: `PERMISSIVE`: a row that can't be decoded is null; `FAILFAST`: it stops the job with `RowError`;
            `DEADLETTER`: the column is a struct of `value` and `error`, for `split`.
        bad_row: in PERMISSIVE without error field, `null`, or a `struct` whose fields are null.
        error_field: name of a string field added at the end of the struct, null for good rows; a bad row is then a
            struct with only this field set.
        evolution: `ignore` goes on with the columns of the plan; `restart` stops the job with `SchemaChangedError` when
            a payload shows that the subject has a newer version with other columns; each call then asks the registry.
        recursive_max_depth: how often a record may stand inside of itself; deeper fields are left out. 0 refuses
            recursive schemas.
        unnamed: what becomes of members of JSON objects that the reader schema does not name: `skip` them, `refuse`
            their rows, or keep them in a `map`: objects that admit them have one more field, `additionalProperties`.
        times: times of day as the `number` that is written, or as Spark's TIME (`time`; Spark 4.1 and later).
        rules: schemas with rules that run when values are read (encryption, migrations, checks): `run` them, row by row
            on executors, which reach the registry; `refuse` the plan; or `ignore` them.
        rule_conf: properties of rule executors; secrets as `${env:NAME}` or `${file:PATH}`.

    Raises:
        OptionError: arguments that are wrong or don't fit together.
        PlanError: the registry can't be reached or has no such subject.
    """
    given = DecodeArguments(
        topic=topic,
        subject=subject,
        strategy=strategy,
        field=field,
        format=format,
        reader_schema=reader_schema,
        version=version,
        id=id,
        model=model,
        columns=columns,
        types=types,
        message_type=message_type,
        mode=mode,
        bad_row=bad_row,
        error_field=error_field,
        evolution=evolution,
        recursive_max_depth=recursive_max_depth,
        unnamed=unnamed,
        times=times,
        rules=rules,
        rule_conf=rule_conf,
    )
    plan = plan_for(registry, given)
    decoded: Column = decoding(plan, headers is not None)(
        *(column_of(column), *(() if headers is None else (header_column(headers, field),)))
    )
    return decoded


def decoding(plan: DecodePlan, headed: bool = False) -> Any:
    """The plan as a function of columns: frames, and if `headed` values of the header that names schemas.

    Not deterministic for Spark, which would otherwise decode once more for a filter on a decoded field.

    Raises:
        PlanError, OptionError: see `spark_type_of`.
    """
    make = arrow_function()
    arrival = Arrival()

    def decode_headed(frames: pa.Array, ids: pa.Array | None) -> pa.Array:
        decoded = shared_decoder(plan).decode(frames, ids)
        arrival.settle()
        return decoded

    def decode(frames: pa.Array) -> pa.Array:
        return decode_headed(frames, None)

    function: Any = decode_headed if headed else decode
    arguments = ("frames", "ids") if headed else ("frames",)
    # Spark reads the types, not their names
    function.__annotations__ = {**dict.fromkeys(arguments, pa.Array), "return": pa.Array}
    return make(function, spark_type_of(plan)).asNondeterministic()


def arrow_function() -> Any:
    """Spark's `arrow_udf`, without its annotations, which know no struct as a return type.

    Raises:
        PlanError: this Spark has none.
    """
    try:
        from pyspark.sql.pandas.functions import arrow_udf
    except ImportError as error:
        raise PlanError(
            "functions of columns need Spark 4.1 or later: use decode_frame and encode_frame, or let the source decode"
            " and the sink encode (value.format)"
        ) from error
    return arrow_udf


def column_of(column: Any) -> Any:
    """A column, checked.

    Raises:
        OptionError: it is neither a name nor a column.
    """
    from pyspark.sql import Column, functions

    if isinstance(column, str) and column:
        return functions.col(column)
    if isinstance(column, Column):
        return column
    raise OptionError(f"a column or its name is needed, not {type(column).__name__} {column!r}")


def header_column(headers: Any, field: str) -> Any:
    """The value of the header that names the schema, of a column of headers; null where there is none."""
    from pyspark.sql import functions

    name = KEY_HEADER if field == "key" else VALUE_HEADER
    named = functions.filter(column_of(headers), lambda one: (one["key"] == name) & one["value"].isNotNull())
    return functions.get(named, functions.lit(0))["value"]


def tune(spark: SparkSession, *, rows_per_batch: int = 10_000) -> None:
    """Sets session properties that make Arrow UDFs fast on Spark 4.x.

    `spark.sql.execution.arrow.maxBytesPerBatch` is set to its largest value and the columnar input path is switched
    off: on Spark 4.3 a struct column gained 1.2 to 1.9 times, nearly all of it from the input path. `rows_per_batch`
    then bounds the memory of a batch: lower it for large records.
    """
    spark.conf.set("spark.sql.execution.arrow.maxBytesPerBatch", str(2**31 - 2))
    spark.conf.set("spark.sql.execution.arrow.pythonUDF.columnarInput.enabled", "false")
    spark.conf.set("spark.sql.execution.arrow.maxRecordsPerBatch", str(rows_per_batch))
