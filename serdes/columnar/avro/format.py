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

from serdes.columnar.assemble import array_of, errors_of
from serdes.columnar.avro import reference
from serdes.columnar.avro.faults import fault_of
from serdes.columnar.avro.narrowing import Narrowed, narrowed
from serdes.columnar.avro.plan import Plan, compiled
from serdes.columnar.avro.types import arrow_type
from serdes.columnar.contract import ColumnOptions, DecodeResult
from serdes.columnar.frames import Frames
from serdes.columnar.layout import Layout, layout_of
from serdes.errors import SerializationError
from serdes.formats.avro.codec import AvroSchema, Decode, Tags, decoder, resolution_faults
from serdes.kernels import IMPL

__all__ = ["AvroColumns", "AvroPlan", "AvroTarget"]


@dataclass(frozen=True, eq=False)
class AvroTarget:
    """A reader schema as columns, made once.

    Attributes:
        schema: as it was registered.
        narrowed: cut to the columns that are wanted.
        type: of the columns, a struct.
        layout: of the type.
        shapes: of the layout, as builders take them.
        options: what it was made with.
    """

    schema: AvroSchema
    narrowed: Narrowed
    type: pa.StructType
    layout: Layout
    shapes: bytes
    options: ColumnOptions


@dataclass(frozen=True, eq=False)
class AvroPlan:
    """How payloads of one writer's schema are read; `str(plan)` shows the program."""

    target: AvroTarget
    plan: Plan
    decode: Callable[[], Decode]

    def __str__(self) -> str:
        return str(self.plan)


class AvroColumns:
    """Avro for `ColumnarDecoder`.

    Args:
        impl: `native` or `pure`.
    """

    def __init__(self, impl: str = IMPL) -> None:
        self._impl = impl

    def target(self, reader: AvroSchema, options: ColumnOptions) -> AvroTarget:
        """What all plans for one reader schema share.

        Raises:
            SerializationError: it is no record, or has no columns.
        """
        cut = narrowed(reader.model, options)
        kind = arrow_type(cut.type, options)
        if not pa.types.is_struct(kind):
            raise SerializationError(f"columns need a record schema, not {reader.model.kind.value}")
        layout = layout_of(kind)
        return AvroTarget(reader, cut, kind, layout, layout.shapes(), options)

    def arrow_type(self, reader: AvroSchema, options: ColumnOptions) -> pa.DataType:
        """The struct type of the columns.

        Raises:
            SerializationError: there is none.
        """
        return self.target(reader, options).type

    def plan(self, writer: AvroSchema, reader: AvroTarget, options: ColumnOptions) -> AvroPlan:
        """How payloads of one schema are read as another; compiled once, shared by threads.

        Raises:
            SerializationError: the plan would be too large.
        """
        reasons = functools.cache(lambda: resolution_faults(reader.schema, writer))
        plan = compiled(writer.model, reader.narrowed, reader.layout, options, reasons)
        made = functools.cache(lambda: _decoder(writer, reader, options))
        if self._impl == "pure":
            made()
        return AvroPlan(reader, plan, made)

    def decode(
        self, frames: Frames, plans: Sequence[AvroPlan], plan_of_row: bytes, options: ColumnOptions, target: AvroTarget
    ) -> DecodeResult:
        """Decodes a batch, rows in order.

        Raises:
            SerializationError: a column would be too large for Arrow: the batch has to be smaller.
        """
        if self._impl == "pure":
            rows = array.array("i")
            rows.frombytes(plan_of_row)
            decoders = [plan.decode() for plan in plans]
            return reference.decode(frames, decoders, rows, target.narrowed.type, target.type, options)
        return _native(frames, plans, plan_of_row, target)


def _decoder(writer: AvroSchema, reader: AvroTarget, options: ColumnOptions) -> Decode:
    schema = AvroSchema(reader.schema.text, reader.narrowed.type)
    return decoder(writer, schema, tags=Tags.PLACES, max_empty_items=options.max_empty_items)


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
    errors = {row: str(fault_of(plans[which].plan, facts)) for row, which, *facts in found}
    return DecodeResult(array_of(builders, target.type), errors_of(frames.rows, errors))
