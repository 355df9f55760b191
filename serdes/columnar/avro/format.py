"""Avro as columns: the format of `serdes.columnar.contract`, on the kernel where it is compiled.

Must not know of ids or registries. One object for the process; what is made once per schema is kept in what it gives.
"""

from __future__ import annotations

import array
import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from registry import Schema
from registry.schemas.references import Resolver
from serdes.columnar.assemble import array_of, errors_of, row_error
from serdes.columnar.avro import reference
from serdes.columnar.avro.faults import fault_of
from serdes.columnar.avro.narrowing import Narrowed, narrowed
from serdes.columnar.avro.plan import Plan, compiled
from serdes.columnar.avro.types import arrow_type
from serdes.columnar.contract import ColumnOptions, DecodeResult
from serdes.columnar.frames import Frames
from serdes.columnar.layout import Layout, layout_of
from serdes.errors import SerializationError
from serdes.formats.avro.codec import AvroSchema, Decode, Tags, decoder, load, resolution_faults
from serdes.kernels import IMPL


@dataclass(frozen=True, eq=False)
class AvroTarget:
    """A reader schema as columns, made once.

    Attributes:
        read_as: what payloads are resolved to: the schema, cut to the columns that are wanted.
        narrowed: its types, and what was cut.
        type: of the columns, a struct.
        layout: of the type.
        shapes: of the layout, as builders take them.
        options: its options.
    """

    read_as: AvroSchema
    narrowed: Narrowed
    type: pa.StructType
    layout: Layout
    shapes: bytes
    options: ColumnOptions


@dataclass(frozen=True, eq=False)
class AvroPlan:
    """The plan to read payloads of one writer's schema; `str(plan)` shows the program.

    Attributes:
        target: their target.
        plan: the kernel's.
        objects: gives what decodes them to objects, for the path without kernels.
    """

    target: AvroTarget
    plan: Plan
    objects: Callable[[], Decode]

    def __str__(self) -> str:
        return str(self.plan)


class AvroColumns:
    """Avro for `ColumnarDecoder`.

    Args:
        impl: `native` or `pure`.
    """

    def __init__(self, impl: str = IMPL) -> None:
        self._impl = impl

    def load(self, schema: Schema, resolve: Resolver | None) -> AvroSchema:
        """Parses a schema with all it refers to.

        Raises:
            SerializationError: it is not an Avro schema, or a reference can't be resolved.
        """
        return load(schema, resolve)

    def arrow_type(self, reader: AvroSchema, options: ColumnOptions) -> pa.DataType:
        """The struct type of the columns.

        Raises:
            SerializationError: there is none.
        """
        return target_of(reader, options).type

    def plan(self, writer: AvroSchema, reader: AvroSchema, options: ColumnOptions) -> AvroPlan:
        """The plan to read payloads of one schema as another; compiled once, shared by threads.

        Raises:
            SerializationError: the plan would be too large.
        """
        target = target_of(reader, options)
        reasons = functools.cache(lambda: resolution_faults(target.read_as, writer))
        plan = compiled(writer.model, target.narrowed, target.layout, options, reasons)
        objects = functools.cache(lambda: _decoder(writer, target))
        return AvroPlan(target, plan, objects)

    def decode(
        self, frames: Frames, plans: Sequence[AvroPlan], plan_of_row: bytes, options: ColumnOptions
    ) -> DecodeResult:
        """Decodes a batch, rows in order; there is at least one plan.

        Raises:
            SerializationError: a column would be too large for Arrow: the batch has to be smaller.
        """
        target = plans[0].target
        if self._impl == "pure":
            rows = array.array("i")
            rows.frombytes(plan_of_row)
            decoders = [plan.objects() for plan in plans]
            return reference.decode(frames, decoders, rows, target.narrowed.type, target.type, options)
        return _native(frames, plans, plan_of_row, target)


@functools.lru_cache(maxsize=64)
def target_of(reader: AvroSchema, options: ColumnOptions) -> AvroTarget:
    """The part shared by all plans for one reader schema.

    Raises:
        SerializationError: it is no record, or has no columns.
    """
    cut = narrowed(reader.model, options)
    kind = arrow_type(cut.type, options)
    if not pa.types.is_struct(kind):
        raise SerializationError(f"columns need a record schema, not {reader.model.kind.value}")
    layout = layout_of(kind)
    return AvroTarget(AvroSchema(reader.text, cut.type), cut, kind, layout, layout.shapes(), options)


def _decoder(writer: AvroSchema, target: AvroTarget) -> Decode:
    return decoder(writer, target.read_as, tags=Tags.PLACES, max_empty_items=target.options.max_empty_items)


def _native(frames: Any, plans: Sequence[AvroPlan], plan_of_row: bytes, target: AvroTarget) -> DecodeResult:
    from serdes.kernels.native import avro_columns, columns

    builders = columns.Builders(target.shapes)
    programs = [plan.plan.native for plan in plans]
    options = target.options
    try:
        found = avro_columns.decode(
            frames, builders, programs, plan_of_row, options.max_row_bytes, options.max_empty_items
        )
    except OverflowError as error:
        raise SerializationError(str(error)) from error
    errors = {}
    for row, which, *facts in found:
        plan = plans[which].plan
        errors[row] = row_error(frames, row, fault_of(plan.program, plan.root, plan.reasons, facts))
    return DecodeResult(array_of(builders, target.type), errors_of(frames.rows, errors))
