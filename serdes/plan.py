"""Which schema a serializer writes or reads with, found out once: flows that ask the registry.

Must not know how a registry is reached: a flow yields `Ask`s and is sent answers, so the blocking and the asyncio
shell share it. What comes out is a plan: everything the hot path needs, with no lock, look-up or parsing left.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias, TypeVar

from registry import InvalidSchemaError, RegisteredSchema, Schema, SchemaRegistryError
from registry.references import closure
from serdes.avro_codec import AvroSchema, Decode, Encode, decoder, encoder, load_texts
from serdes.context import SerializationContext
from serdes.errors import SerializationError
from serdes.framing import PREFIX_BYTES, frame_prefix, schema_id_of
from serdes.options import ReadOptions, WriteOptions

__all__ = ["Ask", "Flow", "ReadPlan", "ReadPlanner", "WritePlan", "WritePlanner", "latest_ttl_s"]

T = TypeVar("T")
LATEST_TTL = "cache.latest.ttl.sec"


@dataclass(frozen=True, slots=True)
class Ask:
    """Call a method of the registry client. Outcome: what it returns; its `SchemaRegistryError` is thrown in."""

    operation: str
    arguments: tuple[Any, ...]


Flow: TypeAlias = Generator[Ask, Any, T]


@dataclass(frozen=True, slots=True)
class WritePlan:
    """How values of one topic and field are written.

    Attributes:
        schema_id: the id in the frames.
        encode: value → frame.
        stale_at_s: when "latest" has to be asked again (monotonic seconds), None for never.
    """

    schema_id: int
    encode: Encode
    stale_at_s: float | None = None


@dataclass(frozen=True, slots=True)
class ReadPlan:
    """How frames of one schema id are read.

    Attributes:
        schema_id: the id in the frames.
        decode: frame → value.
        stale_at_s: when "latest" has to be asked again (monotonic seconds), None for never.
    """

    schema_id: int
    decode: Decode
    stale_at_s: float | None = None


def latest_ttl_s(client: Any) -> float | None:
    """How long a registry client believes in "latest": a plan must not believe longer. None: for ever."""
    value = client.config().get(LATEST_TTL) if hasattr(client, "config") else None
    return value if isinstance(value, (int, float)) else None


class WritePlanner:
    """Makes the plans of one serializer.

    Args:
        schema: what it was given: text, `Schema`, `RegisteredSchema`, or None.
        conf: its properties.
        latest_ttl_s: how long "latest" is believed, None for ever.
        clock: monotonic seconds.

    Raises:
        ValueError: bad properties.
        SerializationError: the schema is not valid Avro (with references this shows at first use).
    """

    def __init__(
        self,
        schema: str | Schema | RegisteredSchema | None,
        conf: Mapping[str, Any] | None,
        latest_ttl_s: float | None,
        clock: Callable[[], float],
    ) -> None:
        self._schema = as_schema(schema)
        self._options = WriteOptions.parse(conf, self._schema is not None)
        self._latest_ttl_s = latest_ttl_s if self._options.use_latest else None
        self._clock = clock
        self._parsed: AvroSchema | None = None
        if self._schema is not None and not self._schema.references:
            self._parsed = load_texts(self._schema.schema_str)

    def plan(self, ctx: SerializationContext | None) -> Flow[WritePlan]:
        """The plan for a context.

        Raises:
            SerializationError: the registry refuses or can't be reached, or a schema can't be used.
        """
        options = self._options
        if self._parsed is None and self._schema is not None:
            self._parsed = yield from _load(self._schema)
        subject = options.strategy(ctx, None if self._parsed is None else self._parsed.name)
        try:
            schema_id, parsed = yield from self._choose(subject)
        except SchemaRegistryError as error:
            raise _registry_error(f"the schema for subject {subject!r} is not available", error) from error
        encode = encoder(
            parsed, frame_prefix(schema_id), strict=options.strict, allow_default=options.strict_allow_default
        )
        stale_at_s = None if self._latest_ttl_s is None else self._clock() + self._latest_ttl_s
        return WritePlan(schema_id, encode, stale_at_s)

    def _choose(self, subject: str | None) -> Flow[tuple[int, AvroSchema]]:
        """The schema to write with, and its id."""
        options = self._options
        if options.use_schema_id is not None:
            schema = yield Ask("get_schema", (options.use_schema_id, subject))
            return options.use_schema_id, (yield from _load(schema))
        if options.use_latest:
            registered = yield Ask("get_latest_version", (subject,))
            return registered.schema_id, (yield from _load(registered.schema))
        assert self._parsed is not None  # the options demand a schema here
        if options.auto_register:
            schema_id = yield Ask("register_schema", (subject, self._schema, options.normalize))
            return schema_id, self._parsed
        registered = yield Ask("lookup_schema", (subject, self._schema, options.normalize))
        return registered.schema_id, self._parsed


class ReadPlanner:
    """Makes the decoders of one deserializer.

    Args:
        schema: the reader schema, or None to read with the writer's (or the newest, if the properties say so).
        conf: its properties.
        return_record_name: records in unions come as `(name, record)`.
        latest_ttl_s: how long "latest" is believed, None for ever.
        clock: monotonic seconds.

    Attributes:
        per_place: whether a plan is good for one topic and field only, not for every frame of its id.

    Raises:
        ValueError: bad properties.
        SerializationError: the schema is not valid Avro (with references this shows at first use).
    """

    def __init__(
        self,
        schema: str | Schema | RegisteredSchema | None,
        conf: Mapping[str, Any] | None,
        return_record_name: bool,
        latest_ttl_s: float | None,
        clock: Callable[[], float],
    ) -> None:
        self._options = ReadOptions.parse(conf)
        self.per_place = self._options.use_latest and schema is None
        self._latest_ttl_s = latest_ttl_s if self.per_place else None
        self._clock = clock
        self._return_record_name = return_record_name
        self._schema = as_schema(schema)
        self._reader: AvroSchema | None = None
        if self._schema is not None and not self._schema.references:
            self._reader = load_texts(self._schema.schema_str)

    def plan(self, frame: bytes, ctx: SerializationContext | None) -> Flow[ReadPlan]:
        """The plan for the schema id of a frame.

        Raises:
            SerializationError: not a frame, an unknown id, the registry can't be reached, or a schema can't be used.
        """
        schema_id = schema_id_of(frame)
        try:
            written = yield Ask("get_schema", (schema_id,))
            writer = yield from _load(written)
            reader = yield from self._read_with(ctx, writer)
        except SchemaRegistryError as error:
            raise _registry_error("the schema is not available", error).located(None, None, schema_id) from error
        except SerializationError as error:
            raise error.located(None, None, schema_id) from error.__cause__
        decode = decoder(writer, reader, skip=PREFIX_BYTES, return_record_name=self._return_record_name)
        stale_at_s = None if self._latest_ttl_s is None else self._clock() + self._latest_ttl_s
        return ReadPlan(schema_id, decode, stale_at_s)

    def _read_with(self, ctx: SerializationContext | None, writer: AvroSchema) -> Flow[AvroSchema | None]:
        if self._reader is None and self._schema is not None:
            self._reader = yield from _load(self._schema)
        if self._reader is not None or not self._options.use_latest:
            return self._reader
        subject = self._options.strategy(ctx, writer.name)
        registered = yield Ask("get_latest_version", (subject,))
        return (yield from _load(registered.schema))


def as_schema(schema: str | Schema | RegisteredSchema | None) -> Schema | None:
    """What a user may give as a schema, as a `Schema`.

    Raises:
        TypeError: something else.
    """
    if schema is None or isinstance(schema, Schema):
        return schema
    if isinstance(schema, RegisteredSchema):
        return schema.schema
    if isinstance(schema, str):
        return Schema(schema, "AVRO")
    raise TypeError(f"a schema is a str or a Schema, not {type(schema).__name__}")


def _load(schema: Schema) -> Flow[AvroSchema]:
    """Parses a schema; what it refers to is fetched."""
    if schema.schema_type != "AVRO":
        raise SerializationError(f"the schema is {schema.schema_type}, Avro is needed")
    walk = closure(schema)
    try:
        reference = next(walk)
        while True:
            registered = yield Ask("get_version", (reference.subject, reference.version, True))
            reference = walk.send(registered.schema)
    except StopIteration as stop:
        return load_texts(schema.schema_str, [found.schema_str for _, found in stop.value])
    except InvalidSchemaError as error:
        raise SerializationError(error.error_message) from error


def _registry_error(what: str, error: SchemaRegistryError) -> SerializationError:
    made = SerializationError(f"{what}: {error}")
    made.registry_away = error.retriable
    return made
