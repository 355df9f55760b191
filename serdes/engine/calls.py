"""What serializers of all formats do per call, but for waiting: plans found, values encoded, frames opened.

Must not know of threads or event loops (`serdes.engine.blocking` and `serdes.engine.aio` drive the flows) nor of
formats. The hot path is one dictionary look-up and the codec: no lock, no I/O, no registry.
"""

from __future__ import annotations

import io
import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from registry import Schema
from serdes.asks import Flow
from serdes.context import SerializationContext, place
from serdes.engine.plan import (
    ReadPlan,
    ReadPlanner,
    WritePlan,
    WritePlanner,
    default_strategy,
    latest_ttl_s,
    latest_until,
    listen_to,
)
from serdes.errors import SerializationError, foreign
from serdes.formats.protocol import Decode, Encode, Format
from serdes.frames.framing import GUID_BYTES, PREFIX_BYTES, unpack_indexes
from serdes.frames.schema_id import SchemaId, dual_schema_id_deserializer, header_of, prefix_schema_id_deserializer
from serdes.options import ReadOptions, WriteOptions, check_callable
from serdes.rules.contracts import RuleContracts
from serdes.rules.registry import RuleRegistry

if TYPE_CHECKING:
    from registry.client.cache import Forgotten

__all__ = ["Reading", "Writing", "blame"]

Convert = Callable[[Any, Any], Any]


class Writing:
    """A serializer without its way to wait."""

    _to_dict: Convert | None

    def _set_up(
        self,
        client: Any,
        form: Format,
        schema: Schema | None,
        options: WriteOptions,
        to_dict: Convert | None = None,
        rule_conf: Mapping[str, Any] | None = None,
        rule_registry: RuleRegistry | None = None,
    ) -> None:
        check_callable(to_dict, "to_dict")
        strategy = options.strategy or default_strategy(client)
        contracts = RuleContracts(client, form, False, rule_conf, rule_registry)
        self._client = client
        self._contracts = contracts
        self._strategy = strategy
        self._to_dict = to_dict
        self._plans: dict[tuple[str | None, str | None], WritePlan] = {}
        self._quick: dict[tuple[str | None, str | None], Encode] = {}  # of plans that do nothing but encode
        self._planner = WritePlanner(
            form, schema, options, strategy, latest_ttl_s(client), time.monotonic, contracts, latest_until(client)
        )
        self._moves = options.moves
        listen_to(client, self)

    def set_cluster_id_resolver(self, resolver: Callable[[], str]) -> None:
        """Sets a function that gives the Kafka cluster's id, which the associated subject strategy may need."""
        if hasattr(self._strategy, "set_cluster_id_resolver"):
            self._strategy.set_cluster_id_resolver(resolver)

    def close(self) -> None:
        """Closes what rules made; the registry client stays open. May be called again."""
        self._contracts.close()

    def _known(self, ctx: SerializationContext | None) -> WritePlan | None:
        """The plan for a context, None if it has to be made."""
        plan = self._plans.get((None, None) if ctx is None else (ctx.topic, ctx.field))
        if plan is None or (plan.stale_at_s is not None and time.monotonic() >= plan.stale_at_s):
            return None
        return plan

    def _registry_forgot(self, what: Forgotten) -> None:
        """Plans made of what was forgotten are made again. Those that are being made go into the old dictionaries."""
        from registry.client.cache import Forgotten

        if self._moves or what >= Forgotten.REGISTRATIONS:
            self._plans, self._quick = {}, {}

    def _prepare(self, ctx: SerializationContext | None) -> Flow[WritePlan]:
        plans, quick = self._plans, self._quick
        try:
            plan = yield from self._planner.plan(ctx)
        except Exception as error:
            blame("there is no schema to write with", error, None, ctx)
            raise
        key = (None, None) if ctx is None else (ctx.topic, ctx.field)
        plans[key] = plan
        if not any((plan.before, plan.finish, self._to_dict)) and plan.stale_at_s is None:
            quick[key] = plan.encode
        return plan

    def _write(self, plan: WritePlan, obj: Any, ctx: SerializationContext | None) -> bytes:
        try:
            value = obj if self._to_dict is None else _converted("to_dict", self._to_dict, obj, ctx)
            if plan.before is not None:
                value = plan.before(value, ctx)
            payload = plan.encode(value)
            return payload if plan.finish is None else plan.finish(payload, ctx)
        except Exception as error:
            blame("the value can't be encoded", error, plan, ctx)
            raise


def blame(what: str, error: Exception, plan: WritePlan | ReadPlan | None, ctx: SerializationContext | None) -> None:
    """Tells an error where it happened.

    Args:
        what: what could not be done, if the error is not one of ours.
        error: what was raised.
        plan: what was being done, None where that was not known yet.
        ctx: topic and field.

    Raises:
        SerializationError: made of an error of another type; want of memory is nobody's value and stays as it is.
    """
    schema_id = None if plan is None else plan.schema_id
    if isinstance(error, SerializationError):
        error.located(*place(ctx), schema_id)
    elif not isinstance(error, MemoryError):
        raise foreign(what, error).located(*place(ctx), schema_id) from error


def _converted(name: str, function: Convert, value: Any, ctx: SerializationContext | None) -> Any:
    """What a user's function makes of a value."""
    try:
        return function(value, ctx)
    except (SerializationError, MemoryError):
        raise
    except Exception as error:
        raise foreign(f"{name} failed", error) from error


class Reading:
    """A deserializer without its way to wait."""

    _from_dict: Convert | None

    def _set_up(
        self,
        client: Any,
        form: Format,
        schema: Schema | None,
        options: ReadOptions,
        from_dict: Convert | None = None,
        rule_conf: Mapping[str, Any] | None = None,
        rule_registry: RuleRegistry | None = None,
    ) -> None:
        check_callable(from_dict, "from_dict")
        strategy = options.strategy or default_strategy(client)
        online = client is not None
        contracts = None
        if online:
            contracts = RuleContracts(client, form, options.moves and schema is None, rule_conf, rule_registry)
        self._client = client
        self._contracts = contracts
        self._strategy = strategy
        self._from_dict = from_dict
        self._plans: dict[Any, ReadPlan] = {}
        self._quick: dict[bytes, Decode] = {}  # of plans that do nothing but decode, by the frame's start
        self._planner = ReadPlanner(
            *(form, schema, options, strategy, latest_ttl_s(client), time.monotonic, online, contracts),
            latest_until(client),
        )
        self._moves = options.moves and schema is None
        if online:
            listen_to(client, self)
        self._schema_type = form.schema_type
        self._with_path = form.schema_type == "PROTOBUF"
        self._zigzag = not options.own.get("use.deprecated.format", False)
        self._dual = options.open is dual_schema_id_deserializer
        self._open = None if self._dual or options.open is prefix_schema_id_deserializer else options.open
        self._quick_size = PREFIX_BYTES + self._with_path
        self._placed = False  # whether there are plans that are good for one topic and field only

    def set_cluster_id_resolver(self, resolver: Callable[[], str]) -> None:
        """Sets a function that gives the Kafka cluster's id, which the associated subject strategy may need."""
        if hasattr(self._strategy, "set_cluster_id_resolver"):
            self._strategy.set_cluster_id_resolver(resolver)

    def close(self) -> None:
        """Closes what rules made; the registry client stays open. May be called again."""
        if self._contracts is not None:
            self._contracts.close()

    def _split(self, value: bytes, ctx: SerializationContext | None) -> tuple[Any, bytes]:
        """What names the schema, as a key of plans, and the frame to decode.

        Raises:
            SerializationError: not a frame, or not bytes (then a TypeError too).
        """
        try:
            if value.__class__ is not bytes:
                value = _as_bytes(value)
            if self._open is not None:
                named, value = self._open_with(self._open, value, ctx)
            else:
                header = header_of(ctx) if self._dual and ctx is not None and ctx.headers else None
                if header is not None:
                    named = (header,)
                elif self._with_path:
                    start = GUID_BYTES if value[:1] == b"\x01" else PREFIX_BYTES
                    named = value[: start + 1]
                    if named[start:] != b"\x00" and len(named) > start:
                        named = value[: unpack_indexes(value, start, self._zigzag)[1]]
                else:
                    named = value[: GUID_BYTES if value[:1] == b"\x01" else PREFIX_BYTES]
        except Exception as error:
            blame("the frame can't be opened", error, None, ctx)
            raise
        return named, value

    def _open_with(
        self, function: Callable[..., Any], value: bytes, ctx: SerializationContext | None
    ) -> tuple[Any, bytes]:
        """Asks a user's function; what it finds is made the bytes of a header."""
        schema_id = SchemaId(self._schema_type, zigzag=self._zigzag)
        payload = function(value, ctx, schema_id)
        header = schema_id.id_to_bytes() if schema_id.id is not None else schema_id.guid_to_bytes()
        return (header,), payload.read() if isinstance(payload, io.BytesIO) else bytes(payload)

    def _known(self, key: Any, ctx: SerializationContext | None) -> ReadPlan | None:
        """The plan for what names the schema, None if it has to be made."""
        plan = self._plans.get(key)
        if plan is None and self._placed:
            plan = self._plans.get((key, *place(ctx)))
        if plan is None or (plan.stale_at_s is not None and time.monotonic() >= plan.stale_at_s):
            return None
        return plan

    def _registry_forgot(self, what: Forgotten) -> None:
        """As for serializers; a schema that was found by its id is not what was forgotten, unless it is all."""
        from registry.client.cache import Forgotten

        if self._moves or what >= Forgotten.EVERYTHING:
            self._plans, self._quick = {}, {}

    def _prepare(self, key: Any, ctx: SerializationContext | None) -> Flow[ReadPlan]:
        plans, quick = self._plans, self._quick
        schema_id = SchemaId(self._schema_type, zigzag=self._zigzag)
        try:
            if isinstance(key, tuple):
                schema_id.read(key[0])
                skip = 0
            else:
                skip = schema_id.read(key)
            plan = yield from self._planner.plan(schema_id, skip, ctx)
        except Exception as error:
            blame("there is no schema to read with", error, None, ctx)
            raise
        if plan.anywhere:
            plans[key] = plan
            bare = self._open is None and self._from_dict is None and plan.stale_at_s is None
            if bare and len(key) == self._quick_size:
                quick[key] = plan.decode
        else:
            self._placed = True
            plans[(key, *place(ctx))] = plan
        return plan

    def _read(self, plan: ReadPlan, frame: bytes, ctx: SerializationContext | None) -> Any:
        hooks = plan.hooks
        try:
            if hooks is None:
                value = plan.decode(frame)
            else:
                value = _hooked(plan, frame, ctx)
            return value if self._from_dict is None else _converted("from_dict", self._from_dict, value, ctx)
        except Exception as error:
            blame("the payload can't be decoded", error, plan, ctx)
            raise


class _NotBytesError(SerializationError, TypeError):
    pass


def _as_bytes(value: Any) -> bytes:
    if isinstance(value, (bytes, bytearray, memoryview)):
        return bytes(value)
    raise _NotBytesError(f"a frame is bytes, not {type(value).__name__}")


def _hooked(plan: ReadPlan, frame: bytes, ctx: SerializationContext | None) -> Any:
    hooks = plan.hooks
    assert hooks is not None
    if hooks.payload is None:
        value = plan.decode(frame)
    else:
        value = plan.decode(hooks.payload(frame[plan.skip :], ctx, frame))
    if hooks.migrate is not None:
        value = hooks.migrate(value, ctx, frame)
    return value if hooks.value is None else hooks.value(value, ctx, frame)
