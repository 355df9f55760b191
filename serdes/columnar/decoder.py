"""Framed bytes in, Arrow columns and row errors out: the interface pipelines decode through.

What names a row's schema is looked up here, once, and kept as a plan; the format of the reader schema compiles and runs
plans (`serdes.columnar.contract.ColumnFormat`). Must not know of Spark or Kafka. Needs pyarrow (the extra `arrow`).
"""

from __future__ import annotations

import dataclasses
import importlib
import uuid
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any, Final, TypeAlias

import pyarrow as pa

from registry import InvalidSchemaError, RuleMode, Schema, SchemaRegistryError
from registry.schemas.references import Resolver
from serdes.columnar.assemble import errors_of
from serdes.columnar.contract import ColumnFormat, ColumnOptions, DecodeResult
from serdes.columnar.frames import Frames, frames_of
from serdes.errors import SerializationError
from serdes.frames.framing import prefix_size
from serdes.kernels import IMPL

__all__ = [
    "ColumnarDecoder",
    "DecodeResult",
    "SchemaResolver",
    "UnappliedRulesError",
    "column_format",
    "reading_rules",
    "rules_refused",
]

DEFAULTS: Final = ColumnOptions()
NO_FRAME: Final = -2
MAX_UNKNOWN_IDS = 1000
"""So many schema ids of one batch may be unknown; further ones are not looked up."""

SchemaResolver: TypeAlias = Callable[[int], Schema]
"""Schema id → writer schema; raises `SchemaRegistryError` for an unknown id or if it can't tell."""


ENCRYPTION = ("ENCRYPT", "ENCRYPT_PAYLOAD")
READING = (None, RuleMode.READ, RuleMode.WRITEREAD)


class UnappliedRulesError(SerializationError):
    """A schema has rules that change values when reading, and columns are decoded without rules."""


def reading_rules(schema: Schema) -> list[str]:
    """The names of a schema's rules that are needed to read its values.

    They are: what transforms or checks while reading, what was encrypted, and migrations between versions.
    """
    migrations = schema.rule_set.migration_rules if schema.rule_set is not None else None
    return [str(rule.name) for rule in migrations or () if not rule.disabled] + rules_of(schema, READING)


def rules_of(schema: Schema, modes: Collection[RuleMode | None]) -> list[str]:
    """The names of a schema's rules that run in one of these modes, or encrypt."""
    rules = schema.rule_set
    if rules is None:
        return []
    return [
        str(rule.name)
        for rule in (*(rules.domain_rules or ()), *(rules.encoding_rules or ()))
        if (rule.mode in modes or rule.type in ENCRYPTION) and not rule.disabled
    ]


def rules_refused(names: Sequence[str]) -> str:
    """The reason for not decoding values of a schema with such rules, and the remedy."""
    listed = ", ".join(map(repr, names))
    return (
        f"the schema has rules ({listed}), and columns are decoded without rules: encrypted fields stay encrypted,"
        " migrations are left out. Decode these values with the deserializer of their format, which runs the rules"
    )


FORMATS: Final = {
    "AVRO": ("serdes.columnar.avro.format", "AvroColumns"),
    "JSON": ("serdes.columnar.json.format", "JsonColumns"),
    "PROTOBUF": ("serdes.columnar.protobuf.format", "ProtobufColumns"),
}
"""Type of the reader schema → where its format is; loaded when it is needed."""


def column_format(schema_type: str, impl: str = IMPL) -> ColumnFormat:
    """The format that reads columns of one type of schema.

    Raises:
        SerializationError: there is none.
    """
    if schema_type not in FORMATS:
        raise SerializationError(f"a schema of type {schema_type} has no columns: {', '.join(FORMATS)} have")
    module, name = FORMATS[schema_type]
    made: ColumnFormat = getattr(importlib.import_module(module), name)(impl)
    return made


class ColumnarDecoder:
    """Decodes frames of any number of schemas into columns of one reader schema.

    Writer schemas are resolved and compiled once per id and kept. Threads may share a decoder: what two of them
    find at once is the same.

    Args:
        resolve: gives the writer schema of an id.
        reader_schema: what all values are resolved to; a record.
        resolve_reference: gives the schema behind a reference; needed where schemas have references.
        columns: which columns to decode, as dotted paths; None for all. The rest is skipped.
        resolve_guid: gives the writer schema of a GUID (36 characters); needed where frames have GUIDs.
        options: how values become columns; `columns` stands above those in it.
        impl: `native` or `pure`: the compiled kernels, or by way of Python objects.

    Attributes:
        arrow_type: the struct type of the columns.

    Raises:
        SerializationError: the reader schema is not a valid record, or is recursive, or a column is not in it.
        UnappliedRulesError: it has rules that run when values are read.
    """

    def __init__(
        self,
        resolve: SchemaResolver,
        reader_schema: Schema,
        resolve_reference: Resolver | None = None,
        *,
        columns: Sequence[str] | None = None,
        resolve_guid: Callable[[str], Schema] | None = None,
        options: ColumnOptions = DEFAULTS,
        impl: str = IMPL,
    ) -> None:
        names = reading_rules(reader_schema)
        if names:
            raise UnappliedRulesError(rules_refused(names))
        if isinstance(columns, str):
            raise ValueError("columns is a sequence of paths, not a text")
        self._impl = impl
        self._resolve = resolve
        self._resolve_guid = resolve_guid
        self._resolve_reference = resolve_reference
        self._options = options if columns is None else dataclasses.replace(options, columns=tuple(columns))
        self._format = column_format(reader_schema.schema_type or "AVRO", impl)
        self._reader = self._format.load(reader_schema, resolve_reference)
        self.arrow_type: pa.StructType = self._format.arrow_type(self._reader, self._options)
        for path in self._options.columns or ():
            if any(path.startswith(f"{other}.") for other in self._options.columns or ()):
                # The shorter path takes everything below it, so nobody has looked whether this one is there.
                self._format.arrow_type(self._reader, dataclasses.replace(self._options, columns=(path,)))
        self._plans: dict[int | bytes, Any] = {}

    def decode(self, frames: pa.Array | pa.ChunkedArray, ids: pa.Array | pa.ChunkedArray | None = None) -> DecodeResult:
        """Decodes a batch.

        Args:
            frames: a binary (large, view or fixed-size binary) array, whole, sliced or chunked, which is read in place;
                a null frame gives a null row without error.
            ids: what names each row's schema where that does not stand in front of the payload: schema ids (integers),
                or the values of the header `__value_schema_id` (binary). Null: it stands in front of the payload.

        A batch may be junk in which every frame names another schema: after `MAX_UNKNOWN_IDS` unknown ids the others
        are not asked for. Ids of many rows come first, so junk does not take the place of a schema in use.

        Raises:
            SchemaRegistryError: a writer schema could not be looked up (registry not reached, or something else answers
                in its place): that is no row's fault.
            UnappliedRulesError: a writer schema has rules that run when values are read: nulls would hide that.
            SerializationError: a column would have more than 2**31 - 1 bytes or items: decode fewer frames at once.
            TypeError: `frames` is not a binary array, or `ids` is neither of integers nor binary.
            ValueError: there are not as many ids as frames.
        """
        rows = frames_of(frames, ids, self._impl)
        named = rows.names()
        places, plans = [-1] * len(named), list[Any]()
        bad: dict[int, str] = {}
        unknown = 0
        for place in self._in_order(named):
            name = named[place][0]
            try:
                plan = self._plan(name, unknown)
            except UnappliedRulesError:
                raise
            except SerializationError as error:
                unknown += isinstance(error.__cause__, SchemaRegistryError)
                bad.update(dict.fromkeys(rows.rows_of(place), str(error)))
                continue
            places[place] = len(plans)
            plans.append(plan)
        no_frames = rows.rows_of(NO_FRAME)
        bad.update((row, _no_frame(rows, row)) for row in no_frames)
        if not plans:
            return DecodeResult(pa.nulls(rows.rows, self.arrow_type), errors_of(rows.rows, bad))
        result = self._format.decode(rows, plans, rows.plan_of_row(places), self._options)
        return DecodeResult(result.struct, _merged(result.errors, bad)) if bad else result

    def reads(self, name: int | bytes) -> bool:
        """Whether payloads of a writer schema were decoded, or can be: its plan is there.

        Args:
            name: its id, or the 16 bytes of its GUID.
        """
        return name in self._plans

    def _in_order(self, named: Sequence[tuple[int | bytes, int]]) -> Iterable[int]:
        """Places of the names: those whose schema is known first, then those of many rows."""
        if len(named) == 1:
            return (0,)
        return sorted(range(len(named)), key=lambda place: (named[place][0] not in self._plans, -named[place][1]))

    def _plan(self, name: int | bytes, unknown: int) -> Any:
        """The plan of one writer schema.

        Args:
            name: its id, or the 16 bytes of its GUID.
            unknown: how many schemas of this batch are unknown already.

        Raises:
            SerializationError: it is unknown, or its schema can't be used, or too many are unknown.
            SchemaRegistryError: it may be there, but can't be looked up now.
        """
        found = self._plans.get(name)
        if found is None:
            schema_id = name if isinstance(name, int) else None
            if unknown >= MAX_UNKNOWN_IDS:
                reason = f"not looked up, for {unknown} schema ids of this batch are unknown: are these framed values?"
                raise SerializationError(reason, schema_id=schema_id)
            try:
                schema = self._looked_up(name)
                writer = self._format.load(schema, self._resolve_reference)
                found = self._format.plan(writer, self._reader, self._options)
            except SchemaRegistryError as error:
                if not error.not_found and not isinstance(error, InvalidSchemaError):
                    raise
                raise SerializationError(error.error_message, schema_id=schema_id) from error
            except SerializationError as error:
                raise error.located(None, None, schema_id) from error
            names = reading_rules(schema)
            if names:
                raise UnappliedRulesError(rules_refused(names), schema_id=schema_id)
            self._plans[name] = found
        return found

    def _looked_up(self, name: int | bytes) -> Schema:
        if isinstance(name, int):
            return self._resolve(name)
        if self._resolve_guid is None:
            raise SerializationError("the frame names its schema by GUID (magic byte 1): give resolve_guid to read it")
        return self._resolve_guid(str(uuid.UUID(bytes=name)))


def _no_frame(rows: Frames, row: int) -> str:
    try:
        prefix_size(rows.frame(row) or b"")
    except SerializationError as error:
        return str(error)
    return "the row's header names no schema: a magic byte and an id, or a GUID, are needed"


def _merged(errors: pa.StringArray, more: Mapping[int, str]) -> pa.StringArray:
    texts = errors.to_pylist()
    for row, text in more.items():
        texts[row] = text
    return pa.array(texts, pa.string())
