"""`to_registry`: a column of values written as registry-framed payloads.

Closures only, so Spark Connect works.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

import pyarrow as pa

from pipeline.columns.by_row import write, writing_plan
from pipeline.columns.encoding import EncodeArguments
from pipeline.errors import OptionError
from pipeline.functions.udf import arrow_function, column_of
from pipeline.workers import Arrival
from serdes.subject import SubjectNameStrategy

if TYPE_CHECKING:
    from pyspark.sql import Column
    from pyspark.sql.types import DataType

    from registry import Schema


def to_registry(
    column: Column | str,
    registry: Mapping[str, object],
    *,
    topic: str | Column | None = None,
    subject: str | Column | None = None,
    strategy: str | SubjectNameStrategy | None = None,
    field: str = "value",
    schema: str | Schema | DataType | Mapping[str, str | Schema | DataType] | None = None,
    types: Sequence[str] | None = None,
    format: str = "auto",
    name: str = "Record",
    namespace: str = "",
    auto_register: bool = True,
    message_type: str = "",
    mode: str = "FAILFAST",
    rules: str = "run",
    rule_conf: Mapping[str, Any] | None = None,
    unnamed: Literal["map"] | None = None,
) -> Column:
    """A column of values written as registry-framed payloads: magic byte 0, schema id, payload.

    Nulls stay null (tombstones). The schema is registered or looked up once, on the driver, while the plan is made. If
    a column names the topic or subject of each row, executors do that instead, once for each subject in a process and
    five minutes (`cache.latest.ttl.sec`), and have to reach the registry.

    Args:
        column: a struct as a rule; with an Avro schema whose root is no record, any column.
        registry: see `from_registry`.
        topic: the subject is `<topic>-<field>`, unless `strategy` says otherwise. A text for all rows, or a column with
            the topic of each. A row whose subject can't be written is as bad as one whose value can't.
        subject: the subject itself, a text or a column; give either this or `topic`.
        strategy: `topic`, `record` or `topic_record`, or a function as serializers take it.
        field: `"value"` or `"key"`.
        schema: text of the schema or a `registry.Schema`; a Spark type (`frame.schema["v"].dataType`), from which an
            Avro schema or a JSON Schema is derived; default: the newest version of the subject. With `types` a dict of
            one for each, or the column's own type.
        types: names of records: the column is a struct of one field for each, as `from_registry` makes it of the same
            `types`, and the field that is set says as what its row is written. With `strategy="record"` or
            `"topic_record"` each type has a subject of its own; without, it is the newest version of the subject that
            has the record.
        format: of a text or a derived schema (`auto`: Avro); of a registered one, to be sure.
        name: of a derived record; with `types` it is the type's.
        namespace: of a derived record, Avro only.
        auto_register: register the schema if it is not yet, under the subjects that rows name, too; else it has to be
            registered.
        message_type: full name of Protobuf's message type; default: the first one of the schema.
        mode: `FAILFAST`: a row that can't be written stops the job with `RowError`; `PERMISSIVE`: it is null.
        rules: schemas with rules that run when values are written: `run` them, row by row on executors, over rows that
            fit the schema; `refuse` the plan; or `ignore` them: nothing is checked or encrypted.
        rule_conf: properties of rule executors; secrets as `${env:NAME}` or `${file:PATH}`.
        unnamed: with `map`, the entries of a map called `additionalProperties`, as `from_registry` makes it, are
            members of the JSON object that it stands in, unless the schema names a member so. Not with a derived
            schema.

    Raises:
        OptionError: arguments that are wrong or don't fit together.
        PlanError: the registry can't be reached or refuses, or the schema can't be written from columns.
    """
    from pyspark.sql.types import BinaryType

    make = arrow_function()  # nothing is registered where nothing could be written
    named, names = names_of(topic, subject)
    given = EncodeArguments(
        strategy=strategy,
        field=field,
        schema=schema,
        types=types,
        format=format,
        name=name,
        namespace=namespace,
        auto_register=auto_register,
        message_type=message_type,
        mode=mode,
        rules=rules,
        rule_conf=rule_conf,
        unnamed=unnamed,
        **named,
    )
    plan = writing_plan(registry, given)
    arrival = Arrival()

    def encode_named(values: pa.Array, names: pa.Array | None) -> pa.Array:
        written = write(plan, values, names)
        arrival.settle()
        return written

    def encode(values: pa.Array) -> pa.Array:
        return encode_named(values, None)

    function: Any = encode if names is None else encode_named
    arguments = ("values",) if names is None else ("values", "names")
    function.__annotations__ = {**dict.fromkeys(arguments, pa.Array), "return": pa.Array}
    encoded: Column = make(function, BinaryType())(column_of(column), *(() if names is None else (names,)))
    return encoded


def names_of(topic: Any, subject: Any) -> tuple[dict[str, Any], Column | None]:
    """Arguments `topic`, `subject` and `by`, and the column that names one of the first two for each row.

    Raises:
        OptionError: there are two such columns, or one beside a name.
    """
    from pyspark.sql import Column

    given = {name: value for name, value in (("topic", topic), ("subject", subject)) if value is not None}
    columns = [name for name, value in given.items() if isinstance(value, Column)]
    if columns and len(given) > 1:
        raise OptionError("to_registry needs either topic=… or subject=…, not both")
    return ({"by": columns[0]}, given[columns[0]]) if columns else (given, None)
