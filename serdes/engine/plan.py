"""Plans: the schema that a serializer writes or reads with, found out once by inquiries to the registry.

Must not know how a registry is reached (an inquiry yields calls and is sent answers) nor what a format is. The result
is a plan: everything the hot path needs, with no lock, look-up or parsing left.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from registry import InvalidSchemaError, RegisteredSchema, Schema, SchemaReference, SchemaRegistryError
from registry.schemas.references import closure, within
from serdes.asks import Inquiry, ask
from serdes.context import SerializationContext
from serdes.errors import SerializationError
from serdes.formats.protocol import Contracts, Decode, Encode, Objects, ReadHooks, Referenced, SchemaFormat, WriteHooks
from serdes.frames.schema_id import SchemaId, header_schema_id_serializer, prefix_schema_id_serializer
from serdes.options import ReadOptions, WriteOptions
from serdes.subject import (
    STRATEGIES,
    AssociatedNameStrategy,
    SubjectNameStrategy,
    subject_of,
    topic_subject_name_strategy,
)

__all__ = [
    "Inquiry",
    "ReadPlan",
    "ReadPlanner",
    "WritePlan",
    "WritePlanner",
    "as_schema",
    "latest_ttl_s",
    "latest_until",
    "listen_to",
]

Until = Callable[[str, Mapping[str, str] | None], float]
LATEST_TTL = "cache.latest.ttl.sec"
Strategy = SubjectNameStrategy | AssociatedNameStrategy


@dataclass(frozen=True, slots=True)
class WritePlan:
    """The plan to write values of one topic and field.

    Attributes:
        schema_id: the id in the frames.
        encode: value → frame, or only the payload if there is a `finish`.
        stale_at_s: when "latest" has to be asked again (monotonic seconds), None for never.
        before: called with the value and the context before it is encoded, None for nothing.
        finish: makes the frame of payload and context; None if `encode` did.
        blocking: whether `before` and `finish` may wait.
        direct: `encode`, if there is nothing else to do; None if there is.
    """

    schema_id: int | None
    encode: Encode
    stale_at_s: float | None = None
    before: Callable[[Any, SerializationContext | None], Any] | None = None
    finish: Callable[[bytes, SerializationContext | None], bytes] | None = None
    blocking: bool = False
    direct: Encode | None = None


@dataclass(frozen=True, slots=True)
class ReadPlan:
    """The plan to read frames of one schema.

    Attributes:
        schema_id: the id in the frames, None where they have a GUID.
        decode: frame → value.
        stale_at_s: when "latest" has to be asked again (monotonic seconds), None for never.
        hooks: of the data contract, None for none.
        skip: how many bytes stand in front of the payload (hooks get it without them).
        anywhere: whether it is good for every topic and field.
        direct: `decode`, if there is nothing else to do; None if there is.
    """

    schema_id: int | None
    decode: Decode
    stale_at_s: float | None = None
    hooks: ReadHooks | None = None
    skip: int = 0
    anywhere: bool = True
    direct: Decode | None = None


def latest_ttl_s(client: Any) -> float | None:
    """Seconds that a registry client believes in "latest": a plan must not believe longer. None: for ever."""
    value = client.config().get(LATEST_TTL) if hasattr(client, "config") else None
    return value if isinstance(value, (int, float)) else None


def latest_until(client: Any) -> Until:
    """The client's `latest_until_s`: tells until when it believes a version to be a subject's newest."""
    found: Until = getattr(client, "latest_until_s", _for_ever)
    return found


def _for_ever(subject: str, metadata: Mapping[str, str] | None) -> float:
    return math.inf


def listen_to(client: Any, listener: Any) -> None:
    """Has a listener told what a registry client forgets; clients of others can't."""
    tell = getattr(client, "tell", None)
    if tell is not None:
        tell(listener)


def default_strategy(client: Any) -> Strategy:
    """confluent_kafka's strategy if none is configured: the associated subject, else by topic."""
    if hasattr(type(client), "get_associations_by_resource_name"):
        return AssociatedNameStrategy()
    return topic_subject_name_strategy


class Schemas:
    """Parsed schemas of one serializer, each parsed once."""

    def __init__(self, form: SchemaFormat) -> None:
        self._form = form
        self._parsed: dict[Schema, tuple[Any, Referenced]] = {}

    def load(self, schema: Schema) -> Inquiry[Any]:
        """Parses a schema; what it refers to is fetched.

        Raises:
            SerializationError: another format's, not valid, or references that make no sense.
        """
        return (yield from self.load_all(schema))[0]

    def load_all(self, schema: Schema) -> Inquiry[tuple[Any, Referenced]]:
        """As `load`, with the schemas it refers to."""
        found = self._parsed.get(schema)
        if found is None:
            _of_format(self._form.schema_type, schema)
            referenced = yield from _referenced(schema)
            found = self._parsed[schema] = self._form.parse(schema, referenced), referenced
        return found


def _of_format(wanted: str, schema: Schema) -> None:
    if schema.schema_type != wanted:
        raise SerializationError(f"the schema is {_title(schema.schema_type)}, {_title(wanted)} is needed")


def _title(schema_type: str) -> str:
    return {"AVRO": "Avro", "PROTOBUF": "Protobuf"}.get(schema_type, schema_type)


def _referenced(schema: Schema) -> Inquiry[Referenced]:
    walk = closure(schema)
    try:
        reference = next(walk)
        while True:
            registered = yield from _version(reference)
            reference = walk.send(within(registered.schema, reference.subject))
    except StopIteration as stop:
        found: Referenced = stop.value
        return found
    except InvalidSchemaError as error:
        raise SerializationError(error.error_message) from error


def _version(reference: SchemaReference) -> Inquiry[RegisteredSchema]:
    return ask(lambda source: source.get_version(reference.subject, reference.version, True))


class WritePlanner:
    """Makes the plans of one serializer.

    Args:
        form: the format.
        schema: the given one, None if the registry chooses.
        options: its properties.
        strategy: how subjects are called.
        latest_ttl_s: how long "latest" is believed, None for ever.
        clock: monotonic seconds.
        contracts: makes hooks of rules, None for no rules.
        latest_until: (subject, metadata) → until when the client believes its newest version: a plan made of an answer
            that was cached for a while lasts no longer than that one.

    Raises:
        SerializationError: the schema is not valid (with references this shows at first use).
    """

    def __init__(
        self,
        form: SchemaFormat,
        schema: Schema | None,
        options: WriteOptions,
        strategy: Strategy,
        latest_ttl_s: float | None,
        clock: Callable[[], float],
        contracts: Contracts | None = None,
        latest_until: Until = _for_ever,
    ) -> None:
        self._form = form
        self._schema = schema
        self._options = options
        self._strategy = strategy
        self._latest_ttl_s = latest_ttl_s if options.moves else None
        self._clock = clock
        self._contracts = contracts
        self._latest_until = latest_until
        self._schemas = Schemas(form)
        if schema is not None and not schema.references:
            _run_dry(self._schemas.load(schema))

    def plan(self, ctx: SerializationContext | None) -> Inquiry[WritePlan]:
        """The plan for a context.

        Raises:
            SerializationError: the registry refuses or can't be reached, or a schema can't be used.
        """
        form = self._form
        what = "a schema that the given one refers to"
        try:
            given, place = None, _qualified(self._strategy, ctx)
            if self._schema is not None:
                given = yield from self._schemas.load(within(self._schema, place))
            what = "the subject"
            subject = yield from subject_of(self._strategy, ctx, None if given is None else form.name(given))
            if self._schema is not None and place is None:
                what = "a schema that the given one refers to"
                given = yield from self._schemas.load(within(self._schema, subject))
            what = f"the schema for subject {subject!r}"
            chosen, parsed = yield from self._choose(subject, ctx, given)
        except SchemaRegistryError as error:
            raise _registry_error(f"{what} is not available", error) from error
        hooks = None
        if self._contracts is not None:
            hooks = yield from self._contracts.writing(subject, chosen.schema, parsed)
        stale_at_s = None
        if self._latest_ttl_s is not None:
            believed_s = self._latest_until(subject, self._options.metadata)
            stale_at_s = min(self._clock() + self._latest_ttl_s, believed_s)
        return self._made(chosen, parsed, hooks or WriteHooks(), stale_at_s)

    def _made(self, chosen: RegisteredSchema, parsed: Any, hooks: WriteHooks, stale_at_s: float | None) -> WritePlan:
        form, seal = self._form, self._options.seal
        zigzag = not self._options.own.get("use.deprecated.format", False)
        schema_id = SchemaId(form.schema_type, chosen.schema_id, chosen.guid, form.indexes(parsed), zigzag)
        before = _on_plain_values(form.model, hooks.value)
        if seal is prefix_schema_id_serializer and hooks.payload is None:
            encode = form.encoder(parsed, schema_id.id_to_bytes(), hooks)
            return WritePlan(chosen.schema_id, encode, stale_at_s, before, None, hooks.blocking)
        rewrite = hooks.payload

        def finish(payload: bytes, ctx: SerializationContext | None) -> bytes:
            return seal(payload if rewrite is None else rewrite(payload, ctx), ctx, schema_id)

        encode = form.encoder(parsed, b"", hooks)
        return WritePlan(chosen.schema_id, encode, stale_at_s, before, finish, hooks.blocking)

    def _choose(
        self, subject: str, ctx: SerializationContext | None, given: Any
    ) -> Inquiry[tuple[RegisteredSchema, Any]]:
        """The schema to write with, as it is registered."""
        options = self._options
        if options.chosen_by_registry:
            chosen = yield from self._chosen_by_registry(subject)
            chosen_schema = within(chosen.schema, subject)
            if options.latest_strict and self._schema is not None:
                yield from self._check(chosen_schema, within(self._schema, subject))
            return chosen, (yield from self._schemas.load(chosen_schema))
        assert self._schema is not None  # the options demand a schema here
        schema = yield from self._form.complete(self._schema, ctx, options)
        if options.auto_register:
            registered = yield from ask(
                lambda source: source.register_schema_full_response(subject, schema, options.normalize)
            )
        else:
            registered = yield from ask(lambda source: source.lookup_schema(subject, schema, options.normalize))
        return RegisteredSchema(subject, registered.version, registered.schema_id, registered.guid, schema), given

    def _chosen_by_registry(self, subject: str) -> Inquiry[RegisteredSchema]:
        options = self._options
        if (schema_id := options.use_schema_id) is not None:
            schema = yield from ask(lambda source: source.get_schema(schema_id, subject))
            guid = None
            if options.seal is header_schema_id_serializer:
                found = yield from ask(lambda source: source.lookup_schema(subject, schema, False, None, True))
                guid = found.guid
            return RegisteredSchema(subject, None, schema_id, guid, schema)
        return (yield from _latest(subject, options.metadata))

    def _check(self, latest: Schema, given: Schema) -> Inquiry[None]:
        """With `latest.compatibility.strict`: the chosen schema must read values of the given one."""
        from registry.compat.verdict import check

        known = {}
        for schema in (latest, given):
            _, referenced = yield from self._schemas.load_all(schema)
            known.update({(reference.subject, reference.version): found for reference, found in referenced})
        verdict = check(
            latest, [given], "BACKWARD", resolve=lambda reference: known[reference.subject, reference.version]
        )
        if not verdict:
            reasons = "; ".join(str(difference) for difference in verdict.differences)
            raise SerializationError(f"the registered schema can't read values of the given one: {reasons}")


Rules: TypeAlias = Callable[[Any, SerializationContext | None], Any]


def _on_plain_values(model: Objects | None, rules: Rules | None) -> Rules | None:
    """Rules for what is written: they know no user's class."""
    if model is None or rules is None:
        return rules
    return lambda value, ctx: rules(model.plain(value), ctx)


def _then_objects(model: Objects | None, hooks: ReadHooks | None) -> ReadHooks | None:
    """Rules for what is read: where they change values, objects are made after that."""
    if model is None or hooks is None or (hooks.value is None and hooks.migrate is None):
        return hooks
    rules = hooks.value

    def value(made: Any, ctx: SerializationContext | None, frame: bytes) -> Any:
        return model.objects(made if rules is None else rules(made, ctx, frame))

    return replace(hooks, value=value)


def _as_it_is(value: Any, ctx: SerializationContext | None, frame: bytes) -> Any:
    return value


def _looked_at(seen: Decode, check: Callable[[Any], None], decode: Decode) -> Decode:
    """A decoder that has values checked as they were written."""

    def both(frame: bytes) -> Any:
        check(seen(frame))
        return decode(frame)

    return both


class ReadPlanner:
    """Makes the decoders of one deserializer.

    Args:
        form: the format.
        schema: the reader schema, or None to read with the writer's (or the newest, if the properties say so).
        options: its properties.
        strategy: how subjects are called.
        latest_ttl_s: how long "latest" is believed, None for ever.
        clock: monotonic seconds.
        online: whether there is a registry.
        contracts: makes hooks of rules, None for no rules.
        latest_until: (subject, metadata) → until when the client believes its newest version: a plan made of an answer
            that was cached for a while lasts no longer than that one.

    Raises:
        SerializationError: the schema is not valid (with references this shows at first use).
    """

    def __init__(
        self,
        form: SchemaFormat,
        schema: Schema | None,
        options: ReadOptions,
        strategy: Strategy,
        latest_ttl_s: float | None,
        clock: Callable[[], float],
        online: bool = True,
        contracts: Contracts | None = None,
        latest_until: Until = _for_ever,
    ) -> None:
        self._form = form
        self._schema = schema
        self._options = options
        self._strategy = strategy
        self._latest = options.moves and schema is None and online
        self._latest_ttl_s = latest_ttl_s if self._latest else None
        self._clock = clock
        self._online = online
        self._contracts = contracts
        self._latest_until = latest_until
        self._schemas = Schemas(form)
        if schema is not None and not schema.references:
            _run_dry(self._schemas.load(schema))

    def plan(self, schema_id: SchemaId, skip: int, ctx: SerializationContext | None) -> Inquiry[ReadPlan]:
        """The plan for what names the schema of a frame.

        Args:
            schema_id: the facts.
            skip: how many bytes they take in front of the payload.
            ctx: topic and field.

        Raises:
            SerializationError: an unknown id, the registry can't be reached, or a schema can't be used.
        """
        form, place = self._form, _qualified(self._strategy, ctx)
        try:
            written = (yield from _written(schema_id, place)) if self._online else None
            if written is not None:
                _of_format(form.schema_type, written)
                form.accept(written, schema_id.message_indexes)
            ruled = self._contracts is not None and any(
                schema is not None and schema.rule_set is not None for schema in (written, self._schema)
            )
            validates = self._contracts is not None and self._contracts.validates
            writer = None
            if written is not None and (form.needs_writer or ruled or validates or self._latest):
                writer = yield from self._schemas.load(within(written, place))
            named = ruled or (validates and self._online)
            target, reader, subject = yield from self._read_with(ctx, writer, named)
            hooks = None
            if self._contracts is not None and (ruled or validates or self._latest):
                hooks = yield from self._contracts.reading(subject, written, target, (writer, reader))
            migrated = hooks is not None and hooks.migrate is not None
            bare = 0 if hooks is not None and hooks.payload is not None else skip
            decode = form.decoder(writer, None if migrated else reader, bare, schema_id.message_indexes, hooks)
            if hooks is not None and hooks.written is not None:
                plain = ReadHooks(value=_as_it_is)
                seen = form.decoder(writer, None, bare, schema_id.message_indexes, plain)
                decode = _looked_at(seen, hooks.written, decode)
            hooks = _then_objects(form.model, hooks)
        except SchemaRegistryError as error:
            made = _registry_error("the schema is not available", error)
            made.registry_away = not (error.not_found or isinstance(error, InvalidSchemaError))
            raise made.located(None, None, schema_id.id) from error
        except SerializationError as error:
            raise error.located(None, None, schema_id.id) from error.__cause__
        stale_at_s = None
        if self._latest_ttl_s is not None and subject is not None:
            believed_s = self._latest_until(subject, self._options.metadata)
            stale_at_s = min(self._clock() + self._latest_ttl_s, believed_s)
        anywhere = not self._latest and hooks is None and place is None
        return ReadPlan(schema_id.id, decode, stale_at_s, hooks, skip, anywhere)

    def _read_with(
        self, ctx: SerializationContext | None, writer: Any, ruled: bool
    ) -> Inquiry[tuple[Schema | None, Any, str | None]]:
        """The schema to read with (None: the writer's), parsed, and the subject if it was needed."""
        if not self._latest and not ruled:
            return self._schema, None if self._schema is None else (yield from self._schemas.load(self._schema)), None
        subject = yield from subject_of(self._strategy, ctx, None if writer is None else self._form.name(writer))
        schema = self._schema
        if self._latest:
            schema = (yield from _latest(subject, self._options.metadata)).schema
            return schema, (yield from self._schemas.load(within(schema, subject))), subject
        return schema, None if schema is None else (yield from self._schemas.load(schema)), subject


def _qualified(strategy: Strategy, ctx: SerializationContext | None) -> str | None:
    """The subject, if a user's strategy puts it into a context of the registry: ids are counted per context."""
    if isinstance(strategy, AssociatedNameStrategy) or strategy in STRATEGIES.values():
        return None
    try:
        subject = strategy(ctx, None)
    except Exception:  # it needs the record's name, which is not known before the schema is
        return None
    return subject if isinstance(subject, str) and subject.startswith(":.") else None


def _written(schema_id: SchemaId, subject: str | None) -> Inquiry[Schema]:
    if (number := schema_id.id) is None:
        return ask(lambda source: source.get_schema_by_guid(str(schema_id.guid)))
    if subject is None:
        return ask(lambda source: source.get_schema(number))
    return ask(lambda source: source.get_schema(number, subject))


def _latest(subject: str, metadata: Mapping[str, str] | None) -> Inquiry[RegisteredSchema]:
    """The newest version of a subject, or the newest that has these properties."""
    if metadata is None:
        return ask(lambda source: source.get_latest_version(subject))
    return ask(lambda source: source.get_latest_with_metadata(subject, dict(metadata), True))


def as_schema(schema: str | Schema | RegisteredSchema | None, schema_type: str = "AVRO") -> Schema | None:
    """The schema given by a user, as a `Schema`.

    Raises:
        TypeError: something else.
    """
    if schema is None or isinstance(schema, Schema):
        return schema
    if isinstance(schema, RegisteredSchema):
        return schema.schema
    if isinstance(schema, str):
        return Schema(schema, schema_type)
    raise TypeError(f"You must pass either str or Schema as a schema, not {type(schema).__name__}")


def _run_dry(inquiry: Inquiry[Any]) -> None:
    """Runs an inquiry that asks nothing."""
    for asked in inquiry:
        raise AssertionError(f"nothing is asked here, not {asked}")


class _UnavailableSchemaError(SerializationError, SchemaRegistryError):
    """The registry's refusal, also for those who catch its errors, as confluent_kafka lets them through."""


def _registry_error(what: str, error: SchemaRegistryError) -> SerializationError:
    made = _UnavailableSchemaError(f"{what}: {error}")
    made.http_status_code, made.error_code, made.error_message = (
        error.http_status_code,
        error.error_code,
        error.error_message,
    )
    made.request, made.unsure = error.request, error.unsure
    made.registry_away = error.retriable
    return made
