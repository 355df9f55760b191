"""Blocking Avro serializer and deserializer: thin shells around plans.

Must not know how a schema is chosen (`serdes.plan`) or how values are encoded (`serdes.avro_codec`). The hot path is
one dictionary look-up and the codec: no lock, no I/O, no registry.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from registry import RegisteredSchema, Schema, SchemaRegistryClient, SchemaRegistryError
from serdes.context import SerializationContext, place
from serdes.errors import SerializationError
from serdes.framing import PREFIX_BYTES
from serdes.options import check_callable
from serdes.plan import Flow, ReadPlan, ReadPlanner, WritePlan, WritePlanner, latest_ttl_s

__all__ = ["AvroDeserializer", "AvroSerializer"]

T = TypeVar("T")


class AvroSerializer:
    """Values → framed Avro. Threads may share one.

    Args:
        schema_registry_client: where schemas are registered or looked up, at the first value of a topic.
        schema_str: the schema: text, `Schema` (for references) or `RegisteredSchema`. It may be missing if
            `use.latest.version` or `use.schema.id` say which one to use.
        to_dict: `to_dict(obj, ctx)` makes what Avro knows (dicts, lists, …) of the caller's objects.
        conf: `auto.register.schemas` (default true), `normalize.schemas`, `use.schema.id`, `use.latest.version`,
            `subject.name.strategy` (a callable) or `subject.name.strategy.type` (TOPIC, RECORD, TOPIC_RECORD),
            `validate.strict`, `validate.strict.allow.default`.

    Raises:
        ValueError: unknown or contradicting properties, or no schema.
        SerializationError: the schema is not valid Avro.
    """

    def __init__(
        self,
        schema_registry_client: SchemaRegistryClient,
        schema_str: str | Schema | RegisteredSchema | None = None,
        to_dict: Callable[[Any, SerializationContext], Any] | None = None,
        conf: Mapping[str, Any] | None = None,
    ) -> None:
        check_callable(to_dict, "to_dict")
        self._client = schema_registry_client
        self._planner = WritePlanner(schema_str, conf, latest_ttl_s(schema_registry_client), time.monotonic)
        self._to_dict: Callable[[Any, Any], Any] | None = to_dict
        self._plans: dict[tuple[str | None, str | None], WritePlan] = {}

    def __call__(self, obj: Any, ctx: SerializationContext | None = None) -> bytes | None:
        """Serializes one value; None stays None.

        Raises:
            SerializationError: the value does not fit (`path` says where), or there is no schema to write it with.
        """
        if obj is None:
            return None
        key = (None, None) if ctx is None else (ctx.topic, ctx.field)
        plan = self._plans.get(key)
        if plan is None or (plan.stale_at_s is not None and time.monotonic() >= plan.stale_at_s):
            plan = self._prepare(key, ctx)
        try:
            return plan.encode(obj if self._to_dict is None else self._to_dict(obj, ctx))
        except SerializationError as error:
            error.located(*place(ctx), plan.schema_id)
            raise

    def _prepare(self, key: tuple[str | None, str | None], ctx: SerializationContext | None) -> WritePlan:
        try:
            plan = _drive(self._client, self._planner.plan(ctx))
        except SerializationError as error:
            error.located(*place(ctx))
            raise
        self._plans[key] = plan
        return plan


class AvroDeserializer:
    """Framed Avro → values. Threads may share one.

    Args:
        schema_registry_client: where writer schemas are looked up, once per schema id.
        schema_str: the reader schema that all values are resolved to; without it values come as they were written.
        from_dict: `from_dict(value, ctx)` makes the caller's objects of what Avro knows.
        return_record_name: records in unions come as `(name, record)`.
        conf: `use.latest.version` (read with the newest version of the subject, if no schema is given),
            `subject.name.strategy`, `subject.name.strategy.type`.

    Raises:
        ValueError: unknown properties.
        SerializationError: the schema is not valid Avro.
    """

    def __init__(
        self,
        schema_registry_client: SchemaRegistryClient,
        schema_str: str | Schema | RegisteredSchema | None = None,
        from_dict: Callable[[Any, SerializationContext], Any] | None = None,
        return_record_name: bool = False,
        conf: Mapping[str, Any] | None = None,
    ) -> None:
        check_callable(from_dict, "from_dict")
        self._client = schema_registry_client
        ttl_s = latest_ttl_s(schema_registry_client)
        self._planner = ReadPlanner(schema_str, conf, return_record_name, ttl_s, time.monotonic)
        self._from_dict: Callable[[Any, Any], Any] | None = from_dict
        self._per_place = self._planner.per_place
        self._plans: dict[Any, ReadPlan] = {}

    def __call__(self, value: bytes | None, ctx: SerializationContext | None = None) -> Any:
        """Deserializes one frame; None stays None.

        Raises:
            SerializationError: not a frame, an unknown schema id, or a payload that is not of its schema.
        """
        if value is None:
            return None
        prefix = value[:PREFIX_BYTES]
        key = (prefix, *place(ctx)) if self._per_place else prefix
        plan = self._plans.get(key)
        if plan is None or (plan.stale_at_s is not None and time.monotonic() >= plan.stale_at_s):
            plan = self._prepare(key, value, ctx)
        try:
            decoded = plan.decode(value)
        except SerializationError as error:
            error.located(*place(ctx), plan.schema_id)
            raise
        return decoded if self._from_dict is None else self._from_dict(decoded, ctx)

    def _prepare(self, key: Any, frame: bytes, ctx: SerializationContext | None) -> ReadPlan:
        try:
            plan = _drive(self._client, self._planner.plan(frame, ctx))
        except SerializationError as error:
            error.located(*place(ctx))
            raise
        self._plans[key] = plan
        return plan


def _drive(client: SchemaRegistryClient, flow: Flow[T]) -> T:
    """Runs a plan's flow to its end, with the client's methods."""
    outcome: Any = None
    error: SchemaRegistryError | None = None
    while True:
        try:
            ask = flow.send(outcome) if error is None else flow.throw(error)
        except StopIteration as stop:
            result: T = stop.value
            return result
        outcome, error = None, None
        try:
            outcome = getattr(client, ask.operation)(*ask.arguments)
        except SchemaRegistryError as raised:
            error = raised
