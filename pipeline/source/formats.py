"""The columns of a read: the driver's plan of them, and their making on executors.

Must not know of sessions. What decodes keys and values is loaded where that is done only (`decoding`).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pyarrow as pa

from pipeline.errors import OptionError
from pipeline.source.options import ReadOptions
from pipeline.source.raw import raw_schema, slices

if TYPE_CHECKING:
    from pipeline.client.letter_box import LetterBox
    from pipeline.source.decoding import FieldPlan


@dataclass(frozen=True)
class ReadPlan:
    """The columns of a read, and how to make them; travels to executors.

    Attributes:
        options: of the read.
        fields: how keys and values are decoded, as far as they are.
    """

    options: ReadOptions
    fields: tuple[FieldPlan, ...] = ()

    @property
    def arrow_schema(self) -> pa.Schema:
        """The columns, in order."""
        schema = raw_schema(self.options)
        for one in self.fields:
            schema = schema.set(schema.get_field_index(one.field), pa.field(one.field, one.arrow_type))
        name = self.options.error_field
        return schema if name is None else schema.append(pa.field(name, pa.string()))

    def columns(self, batches: Iterator[pa.RecordBatch], box: LetterBox | None) -> Iterator[pa.RecordBatch]:
        """Raw batches with keys and values decoded.

        Args:
            batches: of `read_split`, with `headers`.
            box: where rows go that can't be decoded, in mode DEADLETTER.

        Raises:
            RowError, LookupFailedError, PlanError: as `decoded`.
        """
        from pipeline.source.decoding import decoded

        schema = self.arrow_schema
        for raw in batches:
            made = decoded(raw, self.fields, schema, self.options, box)
            yield from slices(made, self.options.bytes_per_batch)


def plan_read(options: ReadOptions) -> ReadPlan:
    """Asks the registry what keys and values are decoded to; nothing if they are not.

    Raises:
        PlanError: the registry can't be reached, has no such subject, or its schema has no columns.
        OptionError: the subject has another format, or the error field is a column already.
    """
    plan = ReadPlan(options, _field_plans(options))
    names = [name.lower() for name in plan.arrow_schema.names]
    if len(set(names)) < len(names):
        raise OptionError(f'"errorField" {options.error_field!r} is a column already: choose another name')
    return plan


def _field_plans(options: ReadOptions) -> tuple[FieldPlan, ...]:
    if options.key is None and options.value is None:
        return ()
    from pipeline.source.decoding import field_plans

    return field_plans(options)
