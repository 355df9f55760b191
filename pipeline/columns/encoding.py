"""Arrow in, frames out: one batch of Spark's values becomes one column of registry-framed payloads.

What is written is decided on the driver (`encode_plan_for`): schema, id, subject; it travels as an `EncodePlan`, equal
for equal content, without secrets. Must not know of sessions.
"""

from __future__ import annotations

import dataclasses
import functools
import json
import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

import pyarrow as pa
import pyarrow.compute as pc

from pipeline.columns.arguments import (
    check_names,
    check_registry,
    check_shared,
    check_texts,
    check_words,
    named_subject,
)
from pipeline.columns.keys import content_key
from pipeline.columns.modes import Fault, Mode, RowCode, fault_of
from pipeline.columns.references import resolved, travelling_rules
from pipeline.columns.remembered import Remembered
from pipeline.columns.resolver import ReferenceKey, Rules, bare, client_of, remembering, travelling_conf
from pipeline.columns.roots import ROOT, has_record, wrapped
from pipeline.columns.schema import arrow_of
from pipeline.errors import LookupFailedError, OptionError, PlanError, RowError
from registry import Schema, SchemaReference, SchemaRegistryClient, SchemaRegistryError
from registry.schemas.references import resolve_all, within
from serdes import SerializationError
from serdes.columnar import ColumnarEncoder, avro_schema_of, json_schema_of, writing_rules
from serdes.context import MessageField, SerializationContext
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


@dataclass(frozen=True)
class EncodePlan:
    """The plan to write a column; picklable, and without secrets.

    Attributes:
        registry: configuration of the registry client, for rules; secrets as references.
        subject: under which the schema is registered.
        schema: the writer's.
        schema_id: its id.
        references: its references.
        message_type: full name of Protobuf's message type; empty for the first.
        mode: FAILFAST, or PERMISSIVE: a row that can't be written is null.
        rules: what happens if the schema has rules that run when values are written.
        rule_conf: properties of rule executors, secrets as references.
        topic: what rules are told.
        field: `key` or `value`.
        unnamed: see `ColumnarEncoder`.
    """

    registry: Mapping[str, object] = dataclasses.field(repr=False)
    subject: str
    schema: Schema
    schema_id: int
    references: Mapping[ReferenceKey, Schema]
    message_type: str = ""
    mode: Mode = Mode.FAILFAST
    rules: Rules = Rules.REFUSE
    rule_conf: Mapping[str, Any] = dataclasses.field(default_factory=dict, repr=False)
    topic: str | None = None
    field: str = "value"
    unnamed: Literal["map"] | None = None

    @functools.cached_property
    def key(self) -> str:
        """A hash of the content; it travels with the plan."""
        references = [[*key, schema.to_dict()] for key, schema in sorted(self.references.items())]
        facts = [self.subject, self.schema_id, self.message_type, self.mode.value, self.rules.value, self.topic]
        content = [dict(self.registry), self.schema.to_dict(), references, facts, dict(self.rule_conf)]
        return content_key([*content, self.field, self.unnamed])

    def __getstate__(self) -> dict[str, Any]:
        return {field.name: getattr(self, field.name) for field in dataclasses.fields(self)} | {"key": self.key}


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


class BatchEncoder:
    """Encodes batches for one plan; safe to share between threads.

    Raises:
        PlanError: the schema is not valid, or has rules and they are refused, or can't run beside `unnamed`.
    """

    def __init__(self, plan: EncodePlan) -> None:
        self._plan = plan
        self._lock = threading.Lock()
        self._row: Callable[[Any], bytes] | None = None
        self._ruled = bool(writing_rules(plan.schema)) and plan.rules is Rules.RUN
        if self._ruled and plan.unnamed is not None:
            told = "its rules run on rows, which have no members without a name: leave unnamed out, or rules='ignore'"
            raise PlanError(f"subject {plan.subject!r}, schema id {plan.schema_id}: {told}")
        try:
            self._records = None if self._ruled else self._encoder(plan.schema)
        except (SerializationError, ValueError) as error:
            told = f"subject {plan.subject!r}, schema id {plan.schema_id}"
            raise PlanError(f"{told}: the schema can't be written from columns: {error}") from error
        self._roots: ColumnarEncoder | None = None

    def _encoder(self, schema: Schema) -> ColumnarEncoder:
        plan = self._plan
        references = plan.references
        return ColumnarEncoder(
            schema,
            plan.schema_id,
            lambda one: references[one.subject, one.version],
            message_type=plan.message_type,
            unnamed=plan.unnamed,
        )

    def check(self, kind: pa.DataType) -> None:
        """Checks that columns of this type can be written; what rules write is known by its rows alone.

        Raises:
            PlanError: they can't.
        """
        try:
            if self._records is not None and pa.types.is_struct(kind):
                self._records.encoder(kind)
        except SerializationError as error:
            subject = self._plan.subject
            raise PlanError(
                f"columns of type {kind} can't be written as subject {subject!r} wants it: {error}"
            ) from error

    def encode(self, values: pa.Array) -> pa.Array:
        """One frame for each value; a null value (a tombstone) is null.

        Raises:
            RowError: mode FAILFAST, and a row can't be written.
            PlanError: no row of this type can be written.
            LookupFailedError: rules need the registry or a key service, which is away.
        """
        frames, faults = self.read(values)
        if self._plan.mode is Mode.FAILFAST and faults:
            raise row_error(faults[0])
        return frames

    def read(self, values: pa.Array) -> tuple[pa.Array, list[Fault]]:
        """Frames and faults, whatever the mode; raises as `encode` does, but for RowError."""
        if self._ruled:
            return self._by_rules(values)
        try:
            if pa.types.is_struct(values.type):
                assert self._records is not None
                result = self._records.encode(values)
            else:
                result = self._root_encoder().encode(_as_records(values))
        except SerializationError as error:
            raise PlanError(f"columns of type {values.type} can't be written: {error}") from error
        errors = result.errors
        bad = pc.indices_nonzero(errors.is_valid()).to_pylist() if errors.null_count < len(errors) else []
        return result.frames, [self._fault(row, errors[row].as_py()) for row in bad]

    def _fault(self, row: int, text: str) -> Fault:
        return fault_of(row, RowCode.BAD_VALUE, text, self._plan.schema_id)

    def _root_encoder(self) -> ColumnarEncoder:
        if self._roots is None:
            if self._plan.schema.schema_type != "AVRO":
                raise SerializationError(f"{self._plan.schema.schema_type} is written from structs")
            self._roots = self._encoder(wrapped(self._plan.schema))
        return self._roots

    def _by_rules(self, values: pa.Array) -> tuple[pa.Array, list[Fault]]:
        """Through the serializer of the format, one by one."""
        with self._lock:
            if self._row is None:
                self._row = self._serializer()
        made: list[bytes | None] = []
        faults = []
        for row, value in enumerate(values.to_pylist(maps_as_pydicts="strict")):
            frame = None
            if value is not None:
                try:
                    frame = self._row(value)
                except SerializationError as error:
                    if error.registry_away:
                        raise LookupFailedError(f"rules need a service that is away: {error}") from error
                    faults.append(self._fault(row, str(error)))
                    if self._plan.mode is Mode.FAILFAST:
                        break
            made.append(frame)
        return pa.array(made, pa.binary()), faults

    def _serializer(self) -> Callable[[Any], bytes]:
        plan = self._plan
        client, subject = client_of(plan.registry), plan.subject
        conf: dict[str, Any] = {
            "auto.register.schemas": False,
            "use.schema.id": plan.schema_id,
            "subject.name.strategy": lambda ctx, name: subject,
        }
        rule_conf = resolved(plan.rule_conf)
        made: Any
        if plan.schema.schema_type == "AVRO":
            from serdes.avro import AvroSerializer

            made = AvroSerializer(client, plan.schema, conf=conf, rule_conf=rule_conf)
        elif plan.schema.schema_type == "JSON":
            from serdes.json_schema import JSONSerializer

            made = JSONSerializer(plan.schema, client, conf=conf, rule_conf=rule_conf)
        else:
            from serdes.protobuf import ProtobufSerializer

            conf["message.type"] = plan.message_type
            made = ProtobufSerializer(plan.schema, client, conf, rule_conf)
        context = SerializationContext(plan.topic or subject, MessageField(plan.field))
        return lambda value: bytes(made(value, context))


def row_error(fault: Fault) -> RowError:
    """The error that FAILFAST raises."""
    facts: dict[str, Any] = {"code": fault.code.value, "schema_id": fault.schema_id, "path": fault.path}
    return RowError(fault.row, str(fault), verb="encoded", **facts)


def _as_records(values: pa.Array) -> pa.Array:
    return pa.StructArray.from_arrays([values], names=[ROOT], mask=pc.is_null(values))


_encoders: OrderedDict[str, BatchEncoder] = OrderedDict()
_lock = threading.Lock()
_KEPT: Final = 64


def shared_encoder(plan: EncodePlan) -> BatchEncoder:
    """The encoder of this plan in this process."""
    with _lock:
        encoder = _encoders.get(plan.key)
        if encoder is None:
            encoder = _encoders[plan.key] = BatchEncoder(plan)
            while len(_encoders) > _KEPT:
                _encoders.popitem(last=False)
        return encoder
