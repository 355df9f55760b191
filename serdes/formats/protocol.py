"""The interface of a schema format: parsing, encoders and decoders. Avro, JSON and Protobuf implement it.

Must not know of registries, threads or event loops: everything here is pure, and what it makes is kept in plans.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

from registry import Schema, SchemaReference
from serdes.asks import Inquiry
from serdes.context import SerializationContext
from serdes.options import WriteOptions

Encode: TypeAlias = Callable[[Any], bytes]
"""Value → the prefix and the payload."""
Decode: TypeAlias = Callable[[bytes], Any]
"""Frame → value; the prefix is left out."""
Referenced: TypeAlias = Sequence[tuple[SchemaReference, Schema]]
"""All schemas that a schema uses, each after those it uses itself."""


class Objects(Protocol):
    """Objects of a user's class as plain values, for the rules of data contracts."""

    def plain(self, value: Any) -> Any:
        """An object as a plain value.

        Raises:
            SerializationError: it is none of the class.
        """
        ...

    def objects(self, value: Any) -> Any:
        """A plain value as an object.

        Raises:
            SerializationError: the class refuses it.
        """
        ...


class SchemaFormat(Protocol):
    """A schema format, as one serializer uses it. `parsed` is whatever its `parse` gives.

    Attributes:
        schema_type: `AVRO`, `JSON` or `PROTOBUF`.
        needs_writer: whether payloads can't be decoded without the schema they were written with.
    """

    schema_type: str
    needs_writer: bool

    @property
    def model(self) -> Objects | None:
        """The class that encoders take and decoders make objects of; None for plain values.

        Where a data contract changes values, encoders take and decoders make plain ones.
        """
        ...

    def parse(self, schema: Schema, referenced: Referenced) -> Any:
        """Parses a schema.

        Raises:
            SerializationError: it is not valid.
        """
        ...

    def name(self, parsed: Any) -> str | None:
        """The record's name for strategies, None if the schema has none."""
        ...

    def indexes(self, parsed: Any) -> list[int] | None:
        """The path of the message type in its file; None for formats without."""
        ...

    def complete(self, schema: Schema, ctx: SerializationContext | None, options: WriteOptions) -> Inquiry[Schema]:
        """The schema to register, with its references; what it refers to is registered before."""
        ...

    def encoder(self, parsed: Any, prefix: bytes, hooks: WriteHooks | None = None) -> Encode:
        """A function that encodes values, with `prefix` in front of each; `hooks` are what a data contract does."""
        ...

    def decoder(
        self, writer: Any, reader: Any, skip: int, indexes: list[int] | None, hooks: ReadHooks | None = None
    ) -> Decode:
        """A function that decodes payloads.

        Args:
            writer: the writer's schema, None if not known.
            reader: the reader's schema, None for the same.
            skip: how many bytes stand in front of every payload.
            indexes: the path of the message type, as the frame has it.
            hooks: what a data contract does with the values: before a migration they are as their writer wrote them,
                and what it changes is not checked yet.
        """
        ...

    def accept(self, written: Schema, indexes: list[int] | None) -> None:
        """Looks at what a frame says of its writer, before it is read.

        Args:
            written: the schema it names, of this format.
            indexes: the path of the message type, as the frame has it.

        Raises:
            SerializationError: the reader wants something else.
        """
        ...

    def check(self, parsed: Any) -> Callable[[Any], None] | None:
        """A function that refuses values that don't fit a schema, for those a data contract made while reading.

        None if there is nothing to check.
        """
        ...


@dataclass(frozen=True, slots=True)
class WriteHooks:
    """A data contract's hooks for writing a value. None for none.

    Attributes:
        value: called with the value before it is encoded.
        payload: called with the encoded payload, before it is framed.
        blocking: whether they may wait (for a key service, say): the asyncio shell runs them in a thread.
    """

    value: Callable[[Any, SerializationContext | None], Any] | None = None
    payload: Callable[[bytes, SerializationContext | None], bytes] | None = None
    blocking: bool = False


@dataclass(frozen=True, slots=True)
class ReadHooks:
    """A data contract's hooks for reading a value. None for none. All are given the whole frame too.

    Attributes:
        payload: called with the payload before it is decoded.
        migrate: called with the value as its writer wrote it; makes of it what the reader's schema says.
        value: called with the value in the end.
        blocking: whether they may wait (for a key service, say): the asyncio shell runs them in a thread.
        written: called with a plain value of the writer's schema, which is not the one that values are read with.
    """

    payload: Callable[[bytes, SerializationContext | None, bytes], bytes] | None = None
    migrate: Callable[[Any, SerializationContext | None, bytes], Any] | None = None
    value: Callable[[Any, SerializationContext | None, bytes], Any] | None = None
    blocking: bool = False
    written: Callable[[Any], None] | None = None


class Contracts(Protocol):
    """Makes hooks of the rules of schemas, once per plan."""

    @property
    def validates(self) -> bool:
        """Whether rules inside schemas run, so that any schema may have some."""
        ...

    def writing(self, subject: str | None, schema: Schema, parsed: Any) -> Inquiry[WriteHooks | None]:
        """The hooks for values that are written with a schema; None if it has no rules."""
        ...

    def reading(
        self, subject: str | None, writer: Schema | None, reader: Schema | None, parsed: tuple[Any, Any]
    ) -> Inquiry[ReadHooks | None]:
        """The hooks for values written with one schema and read with another (None: the same); None for no rules.

        Args:
            subject: where the schemas are registered.
            writer: the schema of the frame.
            reader: the newest version, or the one that was given.
            parsed: both, as the format parsed them.
        """
        ...
