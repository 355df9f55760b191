"""The plan by which a job decodes a column: made on the driver, pickled into closures, equal if its content is equal.

The contract with functions and the source: `DecodeArguments` are what a user says, checked at once; `plan_for` asks the
registry (or remembers) and gives a `DecodePlan`; `columns.decoding.shared_decoder(plan)` gives the process's decoder,
whose `read(frames, ids)` gives values and faults and whose `column` applies the plan's mode; `spark_type_of(plan)` is
the column's type. A plan's `key` is a hash of its content, so equal plans are compiled once per process. Nothing secret
is in a plan, in its text or in its pickle. Must not know of sessions.
"""

from __future__ import annotations

import dataclasses
import functools
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

from pipeline.columns.arguments import (
    check_names,
    check_registry,
    check_shared,
    check_texts,
    check_words,
    named_subject,
)
from pipeline.columns.keys import content_key
from pipeline.columns.modes import Mode
from pipeline.columns.references import travelling_rules
from pipeline.columns.remembered import Remembered
from pipeline.columns.resolver import Chosen, Rules, Snapshot, take_snapshot
from pipeline.columns.roots import has_record
from pipeline.errors import OptionError
from serdes.columnar import ColumnOptions
from serdes.subject import SubjectNameStrategy

DEFAULTS: Final = ColumnOptions()


@dataclass(frozen=True, slots=True)
class DecodeArguments:
    """The arguments of `from_registry`: how the values of a column are read.

    Raises:
        OptionError: an argument is of the wrong type or unknown, or two don't fit together.
    """

    topic: str | None = None
    subject: str | None = None
    strategy: str | SubjectNameStrategy | None = None
    field: str = "value"
    format: str = "auto"
    reader_schema: str | None = None
    version: int | None = None
    id: int | None = None
    model: Any = None
    columns: Sequence[str] | None = None
    types: Sequence[str] | None = None
    message_type: str = ""
    mode: str = "PERMISSIVE"
    bad_row: Literal["null", "struct"] = "null"
    error_field: str | None = None
    evolution: Literal["ignore", "restart"] = "ignore"
    recursive_max_depth: int = 0
    unnamed: Literal["skip", "refuse", "map"] = "skip"
    times: Literal["number", "time"] = "number"
    rules: str = "run"
    rule_conf: Mapping[str, Any] | None = None

    def __post_init__(self) -> None:
        check_shared(self)
        check_texts(self, ("reader_schema", "error_field"))
        check_words(
            self,
            {
                "bad_row": ("null", "struct"),
                "evolution": ("ignore", "restart"),
                "unnamed": ("skip", "refuse", "map"),
                "times": ("number", "time"),
            },
        )
        _check_numbers(self)
        check_names(self, "columns", "paths of fields")
        check_names(self, "types", "names of records")
        Mode.of(self.mode)
        Rules.of(self.rules)
        given = [name for name in ("reader_schema", "version", "id", "model") if getattr(self, name) is not None]
        if len(given) > 1:
            raise OptionError(f"{' and '.join(given)} contradict each other: each says which schema to read as")
        if self.types is None:
            if (self.topic is None) == (self.subject is None) and self.id is None:
                raise OptionError("from_registry needs either topic='…' or subject='…' (or id=…)")
            if self.strategy not in (None, "topic") and self.subject is None and not callable(self.strategy):
                raise OptionError(f"strategy {self.strategy!r} needs types=['…']: the names of the records")
        elif given or self.columns is not None or self.message_type:
            raise OptionError("types=[…] stands alone: each type is read as its newest version, with all columns")
        if self.error_field is not None and Mode.of(self.mode) is Mode.DEADLETTER:
            raise OptionError("mode DEADLETTER has a field 'error' of its own: leave error_field out")

    def subject_of(self, name: str | None) -> str | None:
        """The subject of a record's name.

        Raises:
            OptionError: the strategy needs a topic, or gives no subject.
        """
        if self.subject is not None or (self.topic is None and self.strategy in (None, "topic")):
            return self.subject
        return named_subject(self, name)

    def by_record(self) -> bool:
        """Whether each record type has a subject of its own."""
        return self.subject is None and self.strategy not in (None, "topic")

    def options(self) -> ColumnOptions:
        """The options of turning payloads into columns."""
        columns = None if self.columns is None else tuple(self.columns)
        return ColumnOptions(
            columns=columns,
            message_type=self.message_type,
            recursive_max_depth=self.recursive_max_depth,
            unnamed=self.unnamed,
        )

    def chosen(self, name: str | None) -> Chosen:
        """The choice of the schema that the values are read as."""
        schema_type = None if self.format == "auto" else self.format.upper()
        if self.model is not None:
            text, schema_type = schema_of_model(self.model, schema_type)
            return Chosen(text=text, schema_type=schema_type)
        return Chosen(self.reader_schema, self.version, self.id, name, schema_type)


def _check_numbers(given: DecodeArguments) -> None:
    for name in ("version", "id", "recursive_max_depth"):
        value = getattr(given, name)
        if value is not None and (not isinstance(value, int) or isinstance(value, bool) or value < 0):
            raise OptionError(f"{name} must be a number that is not negative, not {value!r}")


def schema_of_model(model: Any, schema_type: str | None) -> tuple[str, str]:
    """The schema of a class, and its format.

    Raises:
        OptionError: the class has none.
    """
    from serdes.typed import avro_schema

    if hasattr(model, "DESCRIPTOR"):
        from serdes.formats.protobuf.codec import descriptor_text

        return descriptor_text(model.DESCRIPTOR.file), "PROTOBUF"
    if schema_type == "JSON":
        if not hasattr(model, "model_json_schema"):
            raise OptionError(f"model {model!r} has no JSON Schema: give a pydantic model")
        return json.dumps(model.model_json_schema()), "JSON"
    try:
        return avro_schema(model), "AVRO"
    except TypeError as error:
        raise OptionError(f"model: {error}") from error


@dataclass(frozen=True, slots=True)
class Part:
    """One record type of a column.

    Attributes:
        name: of the record, as the user gave it; empty where the column has one type.
        field: the field of the column's struct that holds it; empty where the column has one type.
        snapshot: its schemas.
    """

    name: str
    field: str
    snapshot: Snapshot


@dataclass(frozen=True)
class DecodePlan:
    """The plan to decode a column of frames; picklable, and without secrets.

    Attributes:
        parts: the record types in the column; one, unless `types` were given.
        options: how payloads become columns.
        mode: what happens to bad rows.
        error_field: name of the field with their reasons.
        bad_row: whether a bad row without error field is `null` or a `struct` of nulls.
        evolution: whether a newer schema with other columns stops the job (`restart`).
        times: whether times of day are numbers, as they are written, or Spark's TIME.
        rules: what happens to schemas with rules.
        rule_conf: properties of rule executors, secrets as references.
        topic: what rules are told, if the user named it.
        field: `key` or `value`.
    """

    parts: tuple[Part, ...]
    options: ColumnOptions = DEFAULTS
    mode: Mode = Mode.PERMISSIVE
    error_field: str | None = None
    bad_row: str = "null"
    evolution: str = "ignore"
    times: str = "number"
    rules: Rules = Rules.REFUSE
    rule_conf: Mapping[str, Any] = dataclasses.field(default_factory=dict, repr=False)
    topic: str | None = None
    field: str = "value"

    @classmethod
    def of(cls, snapshot: Snapshot, mode: Mode = Mode.PERMISSIVE, **rest: Any) -> DecodePlan:
        """The plan of one record type."""
        return cls((Part("", "", snapshot),), mode=mode, **rest)

    @functools.cached_property
    def key(self) -> str:
        """A hash of the content; equal plans have equal keys, in every process."""
        return content_key(_content(self))

    def __getstate__(self) -> dict[str, Any]:
        return {field.name: getattr(self, field.name) for field in dataclasses.fields(self)} | {"key": self.key}


def _content(plan: DecodePlan) -> list[Any]:
    parts = [[part.name, part.field, _snapshot(part.snapshot)] for part in plan.parts]
    rest = [plan.mode.value, plan.error_field, plan.bad_row, plan.evolution, plan.times, plan.rules.value]
    return [parts, dataclasses.asdict(plan.options), rest, dict(plan.rule_conf), plan.topic, plan.field]


def _snapshot(snapshot: Snapshot) -> list[Any]:
    schemas = {str(schema_id): schema.to_dict() for schema_id, schema in snapshot.schemas.items()}
    references = [[*key, schema.to_dict()] for key, schema in sorted(snapshot.references.items())]
    registry = [dict(snapshot.registry), getattr(snapshot.registry, "withheld", ())]
    return [snapshot.subject, snapshot.reader.to_dict(), schemas, references, dict(snapshot.guids), registry]


# --- making and remembering


_plans: Final = Remembered[DecodePlan]()


def plan_for(registry: Mapping[str, object], arguments: DecodeArguments, *, anew: bool = False) -> DecodePlan:
    """The plan for these arguments; asks the registry unless it was made within the last five minutes.

    So `foreachBatch` may call `from_registry` for every batch. `cache.latest.ttl.sec` in the configuration sets another
    time; `forget_plans()` forgets. With `evolution="restart"` every call asks: a job that stopped for a newer version
    gets it when it is started again, in the same driver and at once.

    Args:
        registry: configuration of the registry client.
        arguments: the user's.
        anew: ask the registry in any case.

    Raises:
        PlanError: the registry can't be reached, has no such subject, or the schema can't be used.
        OptionError: the configuration is wrong.
    """
    check_registry(registry)
    anew = anew or arguments.evolution == "restart"
    return _plans.get(registry, arguments, lambda: _made(registry, arguments), anew=anew)


def _made(registry: Mapping[str, object], arguments: DecodeArguments) -> DecodePlan:
    rules = Rules.of(arguments.rules)
    return DecodePlan(
        tuple(_parts(registry, arguments, rules)),
        arguments.options(),
        Mode.of(arguments.mode),
        arguments.error_field,
        arguments.bad_row,
        arguments.evolution,
        arguments.times,
        rules,
        travelling_rules(arguments.rule_conf or {}),
        arguments.topic,
        arguments.field,
    )


def _parts(registry: Mapping[str, object], arguments: DecodeArguments, rules: Rules) -> list[Part]:
    if arguments.types is None:
        snapshot = take_snapshot(registry, arguments.subject_of(None), arguments.chosen(None), rules)
        return [Part("", "", snapshot)]
    fields = field_names(arguments.types)
    parts = []
    for name, field in zip(arguments.types, fields, strict=True):
        chosen = arguments.chosen(None if arguments.by_record() else name)
        snapshot = take_snapshot(registry, arguments.subject_of(name), chosen, rules, has_record)
        parts.append(Part(name, field, snapshot))
    return parts


def field_names(types: Sequence[str]) -> list[str]:
    """The fields of a column of several types: names without namespace, or whole if two would be the same.

    Raises:
        OptionError: a type stands there twice.
    """
    if len(set(types)) < len(types):
        raise OptionError(f"types names a record twice: {list(types)}")
    short = [name.rpartition(".")[2] for name in types]
    lower = [name.lower() for name in short]
    return [
        name if lower.count(name.lower()) == 1 else full.replace(".", "_")
        for name, full in zip(short, types, strict=True)
    ]
