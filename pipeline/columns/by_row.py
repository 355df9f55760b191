"""Columns whose rows say themselves under which subject they are written: by a column of names, by their type, or both.

What an argument says for all rows is asked for on the driver; a subject that a row names is asked for where the row
is, once for each process and subject. Must not know of sessions.
"""

from __future__ import annotations

import dataclasses
import functools
import threading
import time
from collections import OrderedDict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc

from pipeline.columns.arguments import check_registry
from pipeline.columns.batch_encoder import BatchEncoder, row_error, shared_encoder
from pipeline.columns.encode_plan import EncodePlan
from pipeline.columns.encoding import EncodeArguments, encode_plan_for, not_had, plan_with, record_name
from pipeline.columns.keys import content_key
from pipeline.columns.modes import Fault, Mode, RowCode
from pipeline.columns.plan import field_names
from pipeline.columns.references import resolved, travelling_rules
from pipeline.columns.remembered import REMEMBERED_S, Remembered
from pipeline.columns.resolver import client_of, remembering, travelling_conf
from pipeline.columns.roots import has_record
from pipeline.errors import LookupFailedError, OptionError, PlanError
from registry import IncompatibleSchemaError, InvalidSchemaError, SchemaRegistryClient, SchemaRegistryError
from serdes import SerializationError

REFUSED_S: Final = 60.0
"""So long a subject that can't be written is not asked for again."""
MAX_REFUSED: Final = 1000
"""After so many subjects of one batch that can't be written, further ones are not asked for."""
KEPT: Final = 1000


@dataclass(frozen=True, slots=True)
class RowType:
    """One record type of a column.

    Attributes:
        name: of the record, as the user gave it; empty where the column has one type.
        field: the field of the column's struct that holds it; empty where the column has one type.
        arguments: how it is written, without subject and topic if rows name them; no secrets.
        plan: where an argument names the subject.
    """

    name: str
    field: str
    arguments: EncodeArguments
    plan: EncodePlan | None = None


@dataclass(frozen=True)
class ByRowPlan:
    """The plan to write a column whose rows have different subjects; picklable, and without secrets.

    Attributes:
        registry: configuration of the registry client; secrets as references.
        types: the record types in the column.
        by: what a column of its own says for each row: `topic`, `subject`, or nothing.
        mode: FAILFAST, or PERMISSIVE: a row that can't be written is null.
    """

    registry: Mapping[str, object] = dataclasses.field(repr=False)
    types: tuple[RowType, ...]
    by: str
    mode: Mode

    @functools.cached_property
    def key(self) -> str:
        """A hash of the content; it travels with the plan."""
        types = [[one.name, one.field, one.plan.key if one.plan else _content(one.arguments)] for one in self.types]
        registry = [dict(self.registry), getattr(self.registry, "withheld", ())]
        return content_key([registry, types, self.by, self.mode.value])

    def __getstate__(self) -> dict[str, Any]:
        return {field.name: getattr(self, field.name) for field in dataclasses.fields(self)} | {"key": self.key}


def _content(arguments: EncodeArguments) -> dict[str, Any]:
    written = arguments.written()
    facts = {field.name: getattr(arguments, field.name) for field in dataclasses.fields(arguments)}
    return {**facts, "schema": None if written is None else written.to_dict()}


_plans: Final = Remembered[ByRowPlan]()


def writing_plan(registry: Mapping[str, object], arguments: EncodeArguments) -> EncodePlan | ByRowPlan:
    """The plan for these arguments; remembered for five minutes.

    Raises:
        PlanError: the registry can't be reached or refuses, or a schema can't be written from columns.
        OptionError: the configuration or an argument is wrong.
    """
    if not arguments.by and arguments.types is None:
        return encode_plan_for(registry, arguments)
    check_registry(registry)
    return _plans.get(registry, arguments, lambda: _made(registry, arguments))


def write(plan: EncodePlan | ByRowPlan, values: pa.Array, names: pa.Array | None = None) -> pa.Array:
    """Frames of a batch.

    Args:
        plan: of this or another process.
        values: the column.
        names: topics or subjects of the rows, if rows name them.

    Raises:
        RowError, PlanError, LookupFailedError: see `ByRowEncoder.encode`.
    """
    if isinstance(plan, EncodePlan):
        return shared_encoder(plan).encode(values)
    return _shared(plan).encode(values, names)


def write_leniently(
    plan: EncodePlan | ByRowPlan, values: pa.Array, names: pa.Array | None = None
) -> tuple[pa.Array, list[Fault]]:
    """Frames of a batch, and what is wrong with its rows, for a plan of mode PERMISSIVE; arguments as of `write`.

    Raises:
        PlanError, LookupFailedError: see `ByRowEncoder.encode`.
    """
    return shared_encoder(plan).read(values) if isinstance(plan, EncodePlan) else _shared(plan).read(values, names)


# ---- on the driver


def _made(registry: Mapping[str, object], arguments: EncodeArguments) -> ByRowPlan:
    conf = travelling_conf(registry)
    types = []
    try:
        with SchemaRegistryClient(resolved(registry)) as client:
            for one in _types(arguments):
                _check_schema(client, one)
                if not arguments.by:
                    one = dataclasses.replace(one, plan=plan_with(client, conf, one.arguments, one.name))
                types.append(one)
    except (SchemaRegistryError, SerializationError, ValueError) as error:
        raise not_had(error) from error
    plan = ByRowPlan(conf, tuple(types), arguments.by, Mode.of(arguments.mode))
    _shared(plan)  # says what is wrong with a schema
    return plan


def _types(arguments: EncodeArguments) -> Iterator[RowType]:
    """The record types, each with arguments of its own."""
    rule_conf = travelling_rules(arguments.rule_conf or {})
    if arguments.types is None:
        alone = dataclasses.replace(arguments, schema=arguments.written(), rule_conf=rule_conf)
        yield RowType("", "", alone)
        return
    fields = field_names(arguments.types)
    schemas = _schemas(arguments, fields)
    for name, field in zip(arguments.types, fields, strict=True):
        namespace, _, short = name.rpartition(".")
        own = dataclasses.replace(
            arguments,
            types=None,
            schema=schemas.get(name),
            name=short,
            namespace=namespace or arguments.namespace,
            rule_conf=rule_conf,
        )
        yield RowType(name, field, dataclasses.replace(own, schema=own.written()))


def _schemas(arguments: EncodeArguments, fields: Sequence[str]) -> Mapping[str, Any]:
    """The schema of each type; of a struct type the types of its fields, from which schemas are derived.

    Raises:
        OptionError: the struct has other fields.
    """
    given: Any = arguments.schema
    if given is None or isinstance(given, Mapping):
        return given or {}
    names = [field.name for field in given]
    if sorted(names) != sorted(fields):
        raise OptionError(f"schema has the fields {', '.join(names)}, but types are {', '.join(fields)}")
    assert arguments.types is not None
    return {name: given[field].dataType for name, field in zip(arguments.types, fields, strict=True)}


def _check_schema(client: SchemaRegistryClient, one: RowType) -> None:
    """Refuses a schema that is not valid, or of another record than its type.

    Raises:
        OptionError: it is of another record.
        SerializationError, ValueError, SchemaRegistryError: it is not valid, or a reference is not known.
    """
    schema = one.arguments.written()
    if schema is None:
        return
    resolve = remembering(client, {})
    name = record_name(schema, resolve)
    if one.name and not has_record(schema, resolve, one.name):
        raise OptionError(f"the schema for {one.name!r} is of the record {name!r}")


# ---- on executors


@dataclass(frozen=True, slots=True)
class _Found:
    """The result of looking for a subject: an encoder, or why there is none; and until when that counts."""

    encoder: BatchEncoder | None
    reason: str
    until_s: float


class ByRowEncoder:
    """Encodes batches for one plan; safe to share between threads.

    Raises:
        PlanError: a schema can't be written from columns, or has rules and they are refused.
    """

    def __init__(self, plan: ByRowPlan) -> None:
        self._plan = plan
        self._fixed = [None if one.plan is None else shared_encoder(one.plan) for one in plan.types]
        self._found: OrderedDict[tuple[int, str], _Found] = OrderedDict()
        self._lock = threading.Lock()

    def encode(self, values: pa.Array, names: pa.Array | None = None) -> pa.Array:
        """One frame for each value; a null value (a tombstone) is null.

        Args:
            values: the column.
            names: topics or subjects of the rows, if rows name them.

        Raises:
            RowError: mode FAILFAST, and a row can't be written, or its subject.
            PlanError: the column is not of the plan's types.
            LookupFailedError: the registry or a key service is away.
        """
        frames, faults = self.read(values, names)
        if faults and self._plan.mode is Mode.FAILFAST:
            raise row_error(min(faults, key=lambda fault: fault.row))
        return frames

    def read(self, values: pa.Array, names: pa.Array | None = None) -> tuple[pa.Array, list[Fault]]:
        """Frames and faults, whatever the mode; raises as `encode` does, but for RowError."""
        kinds, faults = self._kinds(values)
        groups: list[tuple[int, str, pa.Array]] = []
        if names is None:
            groups = [(kind, "", rows) for kind, rows in _grouped(kinds)]
        else:
            _check_names(names, self._plan.by)
            nameless = pc.and_(kinds.is_valid(), names.is_null())
            reason = f"the row names no {self._plan.by}"
            faults += [Fault(row, RowCode.BAD_SUBJECT, reason) for row in pc.indices_nonzero(nameless).to_pylist()]
            coded = names.dictionary_encode()
            texts = coded.dictionary.to_pylist()
            codes = pc.add(pc.multiply(kinds.cast(pa.int64()), len(texts)), coded.indices.cast(pa.int64()))
            groups = [(code // len(texts), texts[code % len(texts)], rows) for code, rows in _grouped(codes)]
        frames, order = self._groups(values, groups, faults)
        return _in_order(frames, order, len(values)), faults

    def _kinds(self, values: pa.Array) -> tuple[pa.Array, list[Fault]]:
        """The number of each row's type, null for rows that are null or bad."""
        types = self._plan.types
        if not types[0].name:
            return pc.if_else(values.is_valid(), pa.scalar(0, pa.int64()), None), []
        fields = [one.field for one in types]
        if not pa.types.is_struct(values.type) or sorted(field.name for field in values.type) != sorted(fields):
            told = ", ".join(fields)
            raise PlanError(f"types need a column that is a struct of the fields {told}, not {values.type}")
        columns = [column.is_valid().cast(pa.int64()) for column in _columns(values, fields)]
        count, kind = columns[0], pc.multiply(columns[0], 0)
        for number, column in enumerate(columns[1:], 1):
            count, kind = pc.add(count, column), pc.add(kind, pc.multiply(column, number))
        one = pc.equal(count, 1)
        faults = []
        for row in pc.indices_nonzero(pc.and_not(values.is_valid(), one)).to_pylist():
            several = [name for name, column in zip(fields, columns, strict=True) if column[row].as_py()]
            told = f"{' and '.join(several)} are set, of which one can be" if several else f"no {' or '.join(fields)}"
            faults.append(Fault(row, RowCode.BAD_VALUE, told))
        return pc.if_else(one, kind, None), faults

    def _groups(
        self, values: pa.Array, groups: Sequence[tuple[int, str, pa.Array]], faults: list[Fault]
    ) -> tuple[list[pa.Array], list[pa.Array]]:
        """Frames of each group, and their rows."""
        frames, order = [], []
        columns = _columns(values, [one.field for one in self._plan.types])
        refused = 0
        for kind, name, rows in groups:
            found = self._encoder(kind, name, ask=refused < MAX_REFUSED)
            if isinstance(found, BatchEncoder):
                column = columns[kind] if len(rows) == len(values) else columns[kind].take(rows)
                try:
                    made, bad = found.read(column)
                except PlanError as error:
                    if not self._plan.by:
                        raise
                    found = str(error)
                else:
                    faults += [dataclasses.replace(fault, row=rows[fault.row].as_py()) for fault in bad]
                    frames.append(made)
                    order.append(rows)
                    continue
            refused += 1
            reason = f"{self._plan.by} {name!r}: {found}"
            faults += [Fault(row, RowCode.BAD_SUBJECT, reason) for row in rows.to_pylist()]
        return frames, order

    def _encoder(self, kind: int, name: str, *, ask: bool) -> BatchEncoder | str:
        """The encoder of a type under the name of a row; or why there is none."""
        fixed = self._fixed[kind]
        if fixed is not None:
            return fixed
        with self._lock:
            found = self._found.get((kind, name))
        if found is None or found.until_s < time.monotonic():
            if not ask:
                return f"it was not looked up, for {MAX_REFUSED} others of this batch can't be written"
            found = self._look_up(kind, name)
            with self._lock:
                self._found[kind, name] = found
                while len(self._found) > KEPT:
                    self._found.popitem(last=False)
        return found.encoder or found.reason

    def _look_up(self, kind: int, name: str) -> _Found:
        """Asks the registry for the schema of a type under the name of a row.

        Raises:
            LookupFailedError: it does not say.
        """
        plan, one = self._plan, self._plan.types[kind]
        client = client_of(plan.registry)
        named: dict[str, Any] = {plan.by: name, "by": ""}
        try:
            arguments = dataclasses.replace(one.arguments, **named)
            encoder = BatchEncoder(plan_with(client, plan.registry, arguments, one.name or None))
        except SchemaRegistryError as error:
            if not (error.not_found or isinstance(error, (IncompatibleSchemaError, InvalidSchemaError))):
                told = f"the schema to write for {plan.by} {name!r} can't be had from the registry: {error}"
                raise LookupFailedError(told) from error
            return _Found(None, str(error), time.monotonic() + REFUSED_S)
        except (SerializationError, ValueError, PlanError) as error:
            return _Found(None, str(error), time.monotonic() + REFUSED_S)
        kept_s: Any = plan.registry.get("cache.latest.ttl.sec")
        return _Found(encoder, "", time.monotonic() + (REMEMBERED_S if kept_s is None else float(kept_s)))


def _check_names(names: pa.Array, by: str) -> None:
    if not (pa.types.is_string(names.type) or pa.types.is_large_string(names.type)):
        raise PlanError(f"the column that names the {by} of each row has to be a text, not {names.type}")


def _columns(values: pa.Array, fields: Sequence[str]) -> list[pa.Array]:
    """The fields of a struct array, null where the struct is; or the array itself, for the one type without a name."""
    if not fields[0]:
        return [values]
    places = {field.name: number for number, field in enumerate(values.type)}
    flat = values.flatten()
    return [flat[places[name]] for name in fields]


def _grouped(codes: pa.Array) -> Iterator[tuple[int, pa.Array]]:
    """Each number in an array, and the rows that have it, in order; nulls belong to nobody."""
    rows = pc.indices_nonzero(codes.is_valid())
    found = codes.take(rows)
    order = pc.array_sort_indices(found)  # stable
    rows, begin = rows.take(order), 0
    for one in pc.value_counts(found.take(order)).to_pylist():
        yield one["values"], rows.slice(begin, one["counts"])
        begin += one["counts"]


def _in_order(frames: Sequence[pa.Array], order: Sequence[pa.Array], rows: int) -> pa.Array:
    """Frames of groups, each in its row; null where no group has the row."""
    if not frames:
        return pa.nulls(rows, pa.binary())
    if any(pa.types.is_large_binary(one.type) for one in frames):
        frames = [one.cast(pa.large_binary()) for one in frames]
    places = pa.concat_arrays(order)
    present = pc.is_in(pa.array(range(rows), places.type), places)
    ranks = pc.subtract(pc.cumulative_sum(present.cast(pa.int64())), 1)
    return pa.concat_arrays(frames).take(pc.array_sort_indices(places).take(pc.if_else(present, ranks, None)))


_encoders: Final[OrderedDict[str, ByRowEncoder]] = OrderedDict()
_encoders_lock: Final = threading.Lock()


def _shared(plan: ByRowPlan) -> ByRowEncoder:
    """The encoder of this plan in this process."""
    with _encoders_lock:
        encoder = _encoders.get(plan.key)
        if encoder is None:
            encoder = _encoders[plan.key] = ByRowEncoder(plan)
            while len(_encoders) > 64:
                _encoders.popitem(last=False)
        return encoder
