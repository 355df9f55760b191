"""The engine of deserializers of all formats: open the frame, find or make a plan, decode the payload.

Must not know of threads or event loops (`serdes.engine.drivers` runs the inquiries) nor of single formats.
"""

from __future__ import annotations

import io
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from registry import Schema
from serdes.asks import Inquiry, aside
from serdes.context import SerializationContext
from serdes.engine.cache import PlanCache, PlanKey, now_s
from serdes.engine.errors import blame, converted
from serdes.engine.plan import ReadPlan, ReadPlanner, default_strategy, latest_ttl_s, latest_until, listen_to
from serdes.errors import SerializationError
from serdes.formats.protocol import SchemaFormat
from serdes.frames.framing import GUID_BYTES, PREFIX_BYTES, unpack_indexes
from serdes.frames.schema_id import SchemaId, dual_schema_id_deserializer, header_of, prefix_schema_id_deserializer
from serdes.options import ReadOptions, check_callable
from serdes.rules.contracts import RuleContracts

if TYPE_CHECKING:
    from registry.client.cache import Forgotten
    from serdes.rules.registry import RuleRegistry


class DeserializerEngine:
    """Deserializes frames of one format, as inquiries that ask a registry. Threads may share one.

    Args:
        client: the registry client, blocking or asyncio; None to read with the given schema alone.
        form: the format.
        schema: the reader schema, None to read with the writer's (or the newest, if the properties say so).
        options: the deserializer's properties.
        from_dict: makes the caller's objects of what the format knows; None for nothing.
        rule_conf: configuration of rule executors.
        rule_registry: rule executors and actions of one's own.

    Attributes:
        client: as given.
        cache: the plans.
        start_bytes: how many bytes of a frame name its schema, if it is named by an id and its first message type.

    Raises:
        ValueError: `from_dict` is not callable.
        SerializationError: the schema is not valid (with references this shows at first use).
    """

    def __init__(
        self,
        client: Any,
        form: SchemaFormat,
        schema: Schema | None,
        options: ReadOptions,
        from_dict: Callable[[Any, Any], Any] | None = None,
        rule_conf: Mapping[str, Any] | None = None,
        rule_registry: RuleRegistry | None = None,
    ) -> None:
        check_callable(from_dict, "from_dict")
        self.client = client
        self.cache: PlanCache[ReadPlan] = PlanCache()
        self._from_dict = from_dict
        self._strategy = options.strategy or default_strategy(client)
        self._moves = options.moves and schema is None
        online = client is not None
        self._contracts = None
        if online or options.validation is not None:
            moves, rules = self._moves and online, (rule_conf, rule_registry, options.validation)
            self._contracts = RuleContracts(client, form, moves, *rules)
        self._planner = ReadPlanner(
            *(form, schema, options, self._strategy, latest_ttl_s(client), now_s, online, self._contracts),
            latest_until(client),
        )
        self._schema_type = form.schema_type
        self._with_path = form.schema_type == "PROTOBUF"
        self._zigzag = not options.own.get("use.deprecated.format", False)
        self._dual = options.open is dual_schema_id_deserializer
        self._open = None if self._dual or options.open is prefix_schema_id_deserializer else options.open
        self._placed = False  # whether there are plans that are good for one topic and field only
        self.start_bytes = PREFIX_BYTES + self._with_path
        if online:
            listen_to(client, self)

    def set_cluster_id_resolver(self, resolver: Callable[[], str | Awaitable[str]]) -> None:
        """Sets a function that gives the Kafka cluster's id, which the associated subject strategy may need."""
        if hasattr(self._strategy, "set_cluster_id_resolver"):
            self._strategy.set_cluster_id_resolver(resolver)

    def close(self) -> None:
        """Closes what rules made; the registry client stays open. May be called again."""
        if self._contracts is not None:
            self._contracts.close()

    def deserialize(self, value: Any, ctx: SerializationContext | None) -> Inquiry[Any]:
        """Deserializes one frame that is not None.

        Raises:
            SerializationError: not a frame, an unknown schema, or a payload that is not of its schema.
        """
        try:
            key, frame = self._split(value, ctx)
        except Exception as error:
            blame("the frame can't be opened", error, ctx)
            raise
        plan = self._known(key, ctx)
        if plan is None:
            plan = yield from self._prepare(key, ctx)
        if plan.hooks is not None and plan.hooks.blocking:
            ready = plan
            return (yield from aside(lambda: self._read(ready, frame, ctx)))
        return self._read(plan, frame, ctx)

    def blame(self, error: Exception, frame: bytes, ctx: SerializationContext | None) -> None:
        """Tells an error of a decoder where it happened.

        Raises:
            SerializationError: made of an error of another type.
        """
        plan = self._known(PlanKey(named=frame[: self.start_bytes]), ctx)
        blame("the payload can't be decoded", error, ctx, None if plan is None else plan.schema_id)

    def _split(self, value: Any, ctx: SerializationContext | None) -> tuple[PlanKey, bytes]:
        """The key with the schema's name, and the frame to decode.

        Raises:
            SerializationError: not a frame, or not bytes (then a TypeError too).
        """
        frame = value if value.__class__ is bytes else _as_bytes(value)
        if self._open is not None:
            return self._split_with(self._open, frame, ctx)
        header = header_of(ctx) if self._dual and ctx is not None and ctx.headers else None
        if header is not None:
            return PlanKey(named=header, in_header=True), frame
        size = GUID_BYTES if frame[:1] == b"\x01" else PREFIX_BYTES
        if self._with_path:
            named = frame[: size + 1]
            if named[size:] != b"\x00" and len(named) > size:
                named = frame[: unpack_indexes(frame, size, self._zigzag)[1]]
            return PlanKey(named=named), frame
        return PlanKey(named=frame[:size]), frame

    def _split_with(
        self, function: Callable[..., Any], value: bytes, ctx: SerializationContext | None
    ) -> tuple[PlanKey, bytes]:
        """Asks a user's function; what it finds is made the bytes of a header."""
        schema_id = SchemaId(self._schema_type, zigzag=self._zigzag)
        payload = function(value, ctx, schema_id)
        header = schema_id.id_to_bytes() if schema_id.id is not None else schema_id.guid_to_bytes()
        frame = payload.read() if isinstance(payload, io.BytesIO) else bytes(payload)
        return PlanKey(named=header, in_header=True), frame

    def _known(self, key: PlanKey, ctx: SerializationContext | None) -> ReadPlan | None:
        """The plan for what names the schema, None if it has to be made."""
        plan = self.cache.get(key)
        return self.cache.get(key.at(ctx)) if plan is None and self._placed else plan

    def _prepare(self, key: PlanKey, ctx: SerializationContext | None) -> Inquiry[ReadPlan]:
        """Makes a plan and keeps it, unless the registry client forgets meanwhile what it is made of."""
        plans = self.cache.store.plans
        schema_id = SchemaId(self._schema_type, zigzag=self._zigzag)
        try:
            size = schema_id.read(key.named)
            plan = yield from self._planner.plan(schema_id, 0 if key.in_header else size, ctx)
        except Exception as error:
            blame("there is no schema to read with", error, ctx)
            raise
        if not plan.anywhere:
            self._placed = True
            key = key.at(ctx)
        elif self._open is None and self._from_dict is None and plan.stale_at_s is None:
            plan = replace(plan, direct=plan.decode)
        self.cache.keep(plans, key, plan)
        return plan

    def _read(self, plan: ReadPlan, frame: bytes, ctx: SerializationContext | None) -> Any:
        try:
            value = plan.decode(frame) if plan.hooks is None else _hooked(plan, frame, ctx)
            return value if self._from_dict is None else converted("from_dict", self._from_dict, value, ctx)
        except Exception as error:
            blame("the payload can't be decoded", error, ctx, plan.schema_id)
            raise

    def _registry_forgot(self, what: Forgotten) -> None:
        """Plans made of what was forgotten are made again; the registry client calls this.

        A schema that was found by its id is not what was forgotten, unless it is all.
        """
        from registry.client.cache import Forgotten

        if self._moves or what >= Forgotten.EVERYTHING:
            self.cache.store.forget()


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
