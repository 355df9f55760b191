"""Arrow in, frames out: one batch of Spark's values becomes one column of registry-framed payloads.

What is written is decided on the driver (`encode_plan_for`): schema, id, subject; it travels as an `EncodePlan`, equal
for equal content, without secrets. Must not know of sessions.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

import pyarrow as pa

from pipeline.columns.arguments import (
    check_names,
    check_registry,
    check_shared,
    check_texts,
    check_words,
    named_subject,
)
from pipeline.columns.batch_encoder import shared_encoder
from pipeline.columns.encode_plan import EncodePlan
from pipeline.columns.modes import Mode
from pipeline.columns.references import resolved, travelling_rules
from pipeline.columns.remembered import Remembered
from pipeline.columns.resolver import ReferenceKey, Rules, bare, remembering, travelling_conf
from pipeline.columns.roots import ROOT, has_record
from pipeline.columns.schema import arrow_of
from pipeline.errors import OptionError, PlanError
from registry import Schema, SchemaReference, SchemaRegistryClient, SchemaRegistryError
from registry.schemas.references import resolve_all, within
from serdes import SerializationError
from serdes.columnar import avro_schema_of, json_schema_of
from serdes.subject import SubjectNameStrategy

if TYPE_CHECKING:
    from pyspark.sql.types import DataType

WrittenSchema: TypeAlias = "str | Schema | DataType"


@dataclass(frozen=True, slots=True)
class EncodeArguments:
    """The arguments of `to_registry`: how values are written.

    Attributes:
        by: what a column of its own says for each row, `topic` or `subject`; empty if an argument says it for all.

    Raises:
        OptionError: an argument is of the wrong type or unknown, or two don't fit together.
    """

    topic: str | None = None
    subject: str | None = None
    by: str = ""
    strategy: str | SubjectNameStrategy | None = None
    field: str = "value"
    schema: WrittenSchema | Mapping[str, WrittenSchema] | None = None
    types: Sequence[str] | None = None
    format: str = "auto"
    name: str = "Record"
    namespace: str = ""
    auto_register: bool = True
    message_type: str = ""
    mode: str = "FAILFAST"
    rules: str = "run"
    rule_conf: Mapping[str, Any] | None = None
    unnamed: Literal["map"] | None = None

    def __post_init__(self) -> None:
        if [self.topic, self.subject, self.by or None].count(None) != 2:
            raise OptionError("to_registry needs either topic='…' or subject='…', a name or a column")
        check_shared(self)
        check_texts(self, ("name",))
        check_names(self, "types", "names of records")
        if Mode.of(self.mode) is Mode.DEADLETTER:
            raise OptionError(
                "mode must be FAILFAST or PERMISSIVE: a row that can't be written has no bytes to set aside"
            )
        Rules.of(self.rules)
        check_words(self, {"unnamed": (None, "map")})
        if self.types is not None and self.message_type:
            raise OptionError("message_type and types contradict each other: each type is a message")
        if isinstance(self.schema, Mapping):
            self._check_schemas(self.schema)
        elif self.schema is not None and not is_schema(self.schema):
            raise OptionError(f"schema must be a text, a Schema or a Spark type, not {type(self.schema).__name__}")
        elif self.types is not None and not hasattr(self.schema, "fieldNames") and self.schema is not None:
            raise OptionError("with types, schema is a dict of one for each type, or the struct type of the column")
        given = self.schema.values() if isinstance(self.schema, Mapping) else [self.schema]
        if self.unnamed is not None and any(hasattr(one, "simpleString") for one in given):
            raise OptionError("unnamed='map' needs a schema as text, or a registered one: one of a type names the map")

    def _check_schemas(self, given: Mapping[str, object]) -> None:
        if sorted(given) != sorted(self.types or ()):
            raise OptionError(f"schema names {sorted(given)}, but types are {sorted(self.types or ())}")
        for name, schema in given.items():
            if not is_schema(schema):
                told = f"a text, a Schema or a Spark type, not {type(schema).__name__}"
                raise OptionError(f"schema of {name!r} must be {told}")

    def written(self) -> Schema | None:
        """The schema to write with, None for the subject's newest.

        Raises:
            PlanError: none can be derived from the Spark type.
        """
        kind = "AVRO" if self.format == "auto" else self.format.upper()
        assert not isinstance(self.schema, Mapping)  # each type has arguments of its own
        if self.schema is None or isinstance(self.schema, Schema):
            return self.schema
        if isinstance(self.schema, str):
            return Schema(self.schema, kind)
        arrow = arrow_of(self.schema)
        if not pa.types.is_struct(arrow):
            arrow = pa.struct([(ROOT, arrow)])
        try:
            if kind == "AVRO":
                return Schema(avro_schema_of(arrow, name=self.name, namespace=self.namespace), kind)
            if kind == "JSON":
                return Schema(json_schema_of(arrow, title=self.name), kind)
        except (SerializationError, ValueError) as error:
            raise PlanError(f"no {kind} schema can be derived from {self.schema.simpleString()}: {error}") from error
        raise PlanError("a Protobuf schema can't be derived: give schema='…', for field numbers are a choice")

    def subject_of(self, name: str | None) -> str:
        """The subject for a record's name.

        Raises:
            OptionError: the strategy gives none.
        """
        return named_subject(self, name) if self.subject is None else self.subject


def is_schema(given: object) -> bool:
    """Whether it is what a schema to write can be given as."""
    return isinstance(given, (str, Schema)) or hasattr(given, "simpleString")


_plans: Final = Remembered[EncodePlan]()


def encode_plan_for(registry: Mapping[str, object], arguments: EncodeArguments) -> EncodePlan:
    """The plan for these arguments; registers or looks up the schema, unless it did within the last five minutes.

    Raises:
        PlanError: the registry can't be reached or refuses, or the schema can't be written from columns.
        OptionError: the configuration or an argument is wrong.
    """
    check_registry(registry)
    return _plans.get(registry, arguments, lambda: _made(registry, arguments))


def _made(registry: Mapping[str, object], arguments: EncodeArguments) -> EncodePlan:
    try:
        with SchemaRegistryClient(resolved(registry)) as client:
            plan = plan_with(client, travelling_conf(registry), arguments)
    except (SchemaRegistryError, SerializationError, ValueError) as error:
        raise not_had(error) from error
    shared_encoder(plan)  # says what is wrong with the schema
    return plan


def not_had(error: Exception) -> Exception:
    """The user's error where the schema to write can't be had: an OptionError as it is, or a PlanError."""
    if isinstance(error, OptionError):
        return error
    return PlanError(f"the schema to write can't be had from the registry: {error}")


def plan_with(
    client: SchemaRegistryClient, conf: Mapping[str, object], arguments: EncodeArguments, record: str | None = None
) -> EncodePlan:
    """The plan for these arguments, by this client.

    Args:
        client: of the registry.
        conf: its configuration, as it travels.
        arguments: without `types`, and with a subject or topic.
        record: the name of the record type, if the column has several.

    Raises:
        SchemaRegistryError, SerializationError, ValueError: the registry refuses, or a schema is not valid.
        PlanError: the subject has other schemas than are wanted.
        OptionError: an argument is wrong.
    """
    references: dict[ReferenceKey, Schema] = {}
    resolve = remembering(client, references)
    written = arguments.written()
    rules = Rules.of(arguments.rules)
    name = record or (None if written is None else record_name(written, resolve, arguments.message_type))
    subject = arguments.subject_of(name)
    if written is None:
        schema, schema_id = _newest(client, subject, record, resolve)
    elif arguments.auto_register:
        schema, schema_id = within(written, subject), client.register_schema(subject, written)
    else:
        schema, schema_id = within(written, subject), client.lookup_schema(subject, written).schema_id
    resolve_all(schema, resolve)
    wanted = arguments.format.upper()
    if wanted not in ("AUTO", schema.schema_type):
        raise PlanError(f"subject {subject!r} has schemas of format {schema.schema_type}, not {wanted}")
    if rules is Rules.IGNORE:
        schema = bare(schema)
    return EncodePlan(
        conf,
        subject,
        schema,
        schema_id,
        references,
        record if record is not None and schema.schema_type == "PROTOBUF" else arguments.message_type,
        Mode.of(arguments.mode),
        rules,
        travelling_rules(arguments.rule_conf or {}),
        arguments.topic,
        arguments.field,
        arguments.unnamed,
    )


def _newest(
    client: SchemaRegistryClient, subject: str, record: str | None, resolve: Callable[[SchemaReference], Schema]
) -> tuple[Schema, int]:
    """The newest version of a subject, or the newest one that has this record; and its id."""
    newest = client.get_latest_version(subject)
    schema = within(newest.schema, subject)
    if record is None or has_record(schema, resolve, record):
        return schema, newest.schema_id
    for version in sorted(client.get_versions(subject), reverse=True):
        older = client.get_version(subject, version)
        schema = within(older.schema, subject)
        if has_record(schema, resolve, record):
            return schema, older.schema_id
    raise PlanError(f"subject {subject!r}: no version has a record {record!r}")


def record_name(schema: Schema, resolve: Callable[[SchemaReference], Schema], message_type: str = "") -> str | None:
    """The record's name, as subject name strategies take it; Protobuf's first one, unless a message type is named.

    Raises:
        SerializationError: the schema is not valid, or has no such message type.
    """
    if schema.schema_type == "AVRO":
        from serdes.formats.avro.codec import load

        return load(schema, resolve).name
    if schema.schema_type == "JSON":
        document = json.loads(schema.schema_str)
        return document.get("title") if isinstance(document, dict) else None
    from serdes.columnar.protobuf.format import load_resolved

    loaded = load_resolved(schema, resolve)
    return str(loaded.named(message_type).DESCRIPTOR.full_name) if message_type else loaded.name
