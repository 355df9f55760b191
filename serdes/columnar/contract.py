"""The interface of columnar formats: results, options, and the parts that a format provides.

Must not know of any format, nor of registries. Needs pyarrow (the extra `arrow`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal, Protocol

import pyarrow as pa

from serdes.columnar.frames import Frames

MAX_ROW_BYTES: Final = 128 * 2**20


@dataclass(frozen=True, slots=True)
class DecodeResult:
    """One decoded batch; both arrays have a row for every frame.

    Attributes:
        struct: the values; null where the frame was null or could not be decoded.
        errors: what was wrong with a row; null where it is fine.
    """

    struct: pa.StructArray
    errors: pa.StringArray


@dataclass(frozen=True, slots=True)
class EncodeResult:
    """One encoded batch; both arrays have a row for every row of the struct array.

    Attributes:
        frames: the frames; null where the row was null or could not be encoded.
        errors: what was wrong with a row; null where it is fine.
    """

    frames: pa.BinaryArray
    errors: pa.StringArray


@dataclass(frozen=True, slots=True)
class ColumnOptions:
    """Options of turning payloads into columns.

    Attributes:
        columns: which columns to decode, as dotted paths (`address.city`; arrays, maps and `[null, T]` are passed
            through); None for all. The rest is skipped and not looked at.
        unions: what a union of several types becomes: `struct`, of `member0`, `member1`, … of which one is set, as in
            Spark; or `dense`, Arrow's own union.
        enums: enums as their `name`, or their `number` in the reader schema.
        time_unit: of Protobuf's Timestamp and Duration: `us` (finer parts are cut off, as in Spark) or `ns`.
        message_type: the name of Protobuf's message type; empty for the first one of the reader schema.
        recursive_max_depth: how often a record may stand inside of itself; fields that go deeper are left out. 0
            refuses recursive reader schemas.
        max_row_bytes: what the items of a row's arrays and maps may take in the columns; a row of more is an error.
        max_empty_items: array items of one payload that take no bytes; as many as it has bytes are always allowed.
        unnamed: what becomes of members of JSON objects that the reader's schema does not name, though
            `additionalProperties` or `patternProperties` may admit them: `skip`, as in other formats the fields that
            the reader lacks; `refuse`, which makes them an error of their row; or `map`: each object that admits them
            has one more column, a map called `additionalProperties`.
        validate: whether documents of JSON are checked against the reader's schema first, one by one as objects.
    """

    columns: tuple[str, ...] | None = None
    unions: Literal["struct", "dense"] = "struct"
    enums: Literal["name", "number"] = "name"
    time_unit: Literal["us", "ns"] = "us"
    message_type: str = ""
    recursive_max_depth: int = 0
    max_row_bytes: int = MAX_ROW_BYTES
    max_empty_items: int = 10_000
    unnamed: Literal["skip", "refuse", "map"] = "skip"
    validate: bool = False

    def __post_init__(self) -> None:
        if self.unions not in ("struct", "dense"):
            raise ValueError(f"unions={self.unions!r}: it is 'struct' or 'dense'")
        if self.enums not in ("name", "number"):
            raise ValueError(f"enums={self.enums!r}: it is 'name' or 'number'")
        if self.time_unit not in ("us", "ns"):
            raise ValueError(f"time_unit={self.time_unit!r}: it is 'us' or 'ns'")
        if self.unnamed not in ("skip", "refuse", "map"):
            raise ValueError(f"unnamed={self.unnamed!r}: it is 'skip', 'refuse' or 'map'")
        if self.recursive_max_depth < 0 or self.max_row_bytes <= 0 or self.max_empty_items < 0:
            raise ValueError("recursive_max_depth, max_row_bytes and max_empty_items are not negative")
        paths: object = self.columns
        if isinstance(paths, str) or paths == ():
            raise ValueError("columns is a sequence of at least one path")


class ColumnFormat(Protocol):
    """Reading one format; its results are immutable, and shared by threads."""

    def load(self, schema: Any, resolve: Any) -> Any:
        """Parses a registered schema with all it refers to; the other methods take what comes out.

        Raises:
            SerializationError: it is not a schema of this format, or a reference can't be resolved.
        """

    def arrow_type(self, reader: Any, options: ColumnOptions) -> pa.DataType:
        """The type of the columns that a reader schema has.

        Raises:
            SerializationError: it has none.
        """

    def plan(self, writer: Any, reader: Any, options: ColumnOptions) -> Any:
        """The plan to read payloads of one schema as another; made once, immutable, `str(plan)` shows it.

        Raises:
            SerializationError: no payload of that schema can be read.
        """

    def decode(self, frames: Frames, plans: Sequence[Any], plan_of_row: bytes, options: ColumnOptions) -> DecodeResult:
        """Decodes a batch, rows in order.

        Args:
            frames: the batch.
            plans: of `plan`.
            plan_of_row: a native int of 32 bits for each row: its place in `plans`; -1 for a row that stays null.
            options: those the plans were made with.
        """


class FrameEncoder(Protocol):
    """Writing one format: made for one schema, one Arrow type and its options."""

    def encode(self, struct: pa.StructArray) -> EncodeResult:
        """Encodes a batch, rows in order."""
