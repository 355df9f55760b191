"""JSON as columns: the format of `serdes.columnar.contract`, on the kernel where it is compiled.

Must not know of ids or registries. A JSON Schema says nothing about how a document is written: all documents are read
as the reader's schema has it, and members that it does not name are passed over, refused, or kept in a map (`unnamed`).
Values are checked against the schema on request (`validate`).
"""

from __future__ import annotations

import array
import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from registry import InvalidSchemaError, Schema
from registry.schemas.references import Resolver, resolve_all
from serdes.columnar.assemble import array_of, errors_of, row_error
from serdes.columnar.contract import ColumnOptions, DecodeResult
from serdes.columnar.frames import Frames
from serdes.columnar.json.plan import JsonPlan, fault_of, plan_of
from serdes.columnar.json.reference import Bad, read
from serdes.columnar.json.types import parts_of
from serdes.errors import SerializationError
from serdes.formats.json.codec import JsonSchema, load, loads
from serdes.kernels import IMPL
from serdes.kernels.json_columns import Fault


@dataclass(frozen=True, eq=False)
class JsonTarget:
    """A reader schema as columns; `str(target)` shows the plan.

    Attributes:
        schema: as it was registered.
        plan: how documents are read.
        shapes: of the columns, as builders take them.
        program: what the kernel runs; None without kernels.
    """

    schema: JsonSchema
    plan: JsonPlan
    shapes: bytes
    program: Any

    def __str__(self) -> str:
        return str(self.plan)


class JsonColumns:
    """JSON for `ColumnarDecoder`.

    Args:
        impl: `native` or `pure`.
    """

    def __init__(self, impl: str = IMPL) -> None:
        self._impl = impl

    def load(self, schema: Schema, resolve: Resolver | None) -> JsonSchema:
        """Parses a schema with all it refers to.

        Raises:
            SerializationError: it is not a JSON Schema, or a reference can't be resolved.
        """
        if schema.schema_type != "JSON":
            raise SerializationError(f"the schema is {schema.schema_type}, JSON is needed")
        try:
            return load(schema, resolve_all(schema, resolve))
        except InvalidSchemaError as error:
            raise SerializationError(error.error_message) from error

    def arrow_type(self, reader: JsonSchema, options: ColumnOptions) -> pa.DataType:
        """The struct type of the columns.

        Raises:
            SerializationError: there is none.
        """
        return _target(reader, options.columns, options.unnamed, self._impl).plan.type

    def plan(self, writer: JsonSchema, reader: JsonSchema, options: ColumnOptions) -> JsonTarget:
        """The plan to read documents: as the reader's schema has it, whatever the writer's is."""
        return _target(reader, options.columns, options.unnamed, self._impl)

    def decode(
        self, frames: Frames, plans: Sequence[JsonTarget], plan_of_row: bytes, options: ColumnOptions
    ) -> DecodeResult:
        """Decodes a batch, rows in order; there is at least one plan.

        Raises:
            SerializationError: a column would be too large for Arrow: the batch has to be smaller.
        """
        target = plans[0]
        rows = array.array("i")
        rows.frombytes(plan_of_row)
        errors: dict[int, str] = {}
        if options.validate:
            errors = _invalid(target.schema, frames, rows)
        if target.program is None:
            struct, found = _pure(target.plan, frames, rows, options.max_row_bytes)
        else:
            struct, found = _native(target, frames, rows.tobytes(), options.max_row_bytes)
        return DecodeResult(struct, errors_of(frames.rows, {**errors, **found}))


@functools.lru_cache(maxsize=64)
def _target(reader: JsonSchema, columns: tuple[str, ...] | None, unnamed: str, impl: str) -> JsonTarget:
    plan = plan_of(parts_of(reader, columns, unnamed == "map"), unnamed == "refuse")
    program = None
    if impl == "native":
        from serdes.kernels.native import json_columns

        program = json_columns.JsonProgram([step.table() for step in plan.steps], plan.depth)
    return JsonTarget(reader, plan, plan.layout.shapes(), program)


def _invalid(schema: JsonSchema, frames: Frames, rows: array.array[int]) -> dict[int, str]:
    """The errors of rows that are not valid; they are not decoded then."""
    errors: dict[int, str] = {}
    for row, chosen in enumerate(rows):
        payload = frames.payload(row) if chosen >= 0 else None
        if payload is None:
            continue
        try:
            schema.check(loads(payload))
        except SerializationError as error:
            errors[row] = row_error(frames, row, error)
            rows[row] = -1
    return errors


def _native(target: JsonTarget, frames: Any, rows: bytes, max_row_bytes: int) -> tuple[pa.Array, Mapping[int, str]]:
    from serdes.kernels.native import columns

    builders = columns.Builders(target.shapes)
    try:
        found = target.program.decode(frames, builders, rows, max_row_bytes)
    except OverflowError as error:
        raise SerializationError(str(error)) from error
    errors = {
        row: row_error(frames, row, fault_of(target.plan, Fault(fault), step, offset, indexes))
        for row, fault, step, offset, indexes in found
    }
    return array_of(builders, target.plan.type), errors


def _pure(
    plan: JsonPlan, frames: Frames, rows: array.array[int], max_row_bytes: int
) -> tuple[pa.Array, Mapping[int, str]]:
    values: list[Any] = []
    errors: dict[int, str] = {}
    for row, chosen in enumerate(rows):
        payload = frames.payload(row) if chosen >= 0 else None
        value = None
        if payload is not None:
            try:
                value = read(plan, payload, max_row_bytes)
            except Bad as error:
                fault = fault_of(plan, error.fault, error.step or 0, None, tuple(error.indexes))
                errors[row] = row_error(frames, row, fault)
        values.append(value)
    return pa.array(values, plan.type), errors
