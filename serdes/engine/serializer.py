"""The engine of serializers of all formats: find or make a plan, encode the value, locate errors.

Must not know of threads or event loops (`serdes.engine.drivers` runs the inquiries) nor of single formats.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from registry import Schema
from serdes.asks import Inquiry, aside
from serdes.context import SerializationContext, place
from serdes.engine.cache import PlanCache, PlanKey, now_s
from serdes.engine.errors import blame, converted
from serdes.engine.plan import WritePlan, WritePlanner, default_strategy, latest_ttl_s, latest_until, listen_to
from serdes.formats.protocol import SchemaFormat
from serdes.options import WriteOptions, check_callable
from serdes.rules.contracts import RuleContracts

if TYPE_CHECKING:
    from registry.client.cache import Forgotten
    from serdes.rules.registry import RuleRegistry


class SerializerEngine:
    """Serializes values of one format, as inquiries that ask a registry. Threads may share one.

    Args:
        client: the registry client, blocking or asyncio.
        form: the format.
        schema: what values are written with, None if the registry chooses.
        options: the serializer's properties.
        to_dict: makes what the format knows of the caller's objects; None for nothing.
        rule_conf: configuration of rule executors.
        rule_registry: rule executors and actions of one's own.

    Attributes:
        client: as given.
        cache: the plans.

    Raises:
        ValueError: `to_dict` is not callable.
        SerializationError: the schema is not valid (with references this shows at first use).
    """

    def __init__(
        self,
        client: Any,
        form: SchemaFormat,
        schema: Schema | None,
        options: WriteOptions,
        to_dict: Callable[[Any, Any], Any] | None = None,
        rule_conf: Mapping[str, Any] | None = None,
        rule_registry: RuleRegistry | None = None,
    ) -> None:
        check_callable(to_dict, "to_dict")
        self.client = client
        self.cache: PlanCache[WritePlan] = PlanCache()
        self._to_dict = to_dict
        self._strategy = options.strategy or default_strategy(client)
        self._contracts = RuleContracts(client, form, False, rule_conf, rule_registry, options.validation)
        self._planner = WritePlanner(
            *(form, schema, options, self._strategy, latest_ttl_s(client), now_s, self._contracts),
            latest_until(client),
        )
        self._moves = options.moves
        listen_to(client, self)

    def set_cluster_id_resolver(self, resolver: Callable[[], str | Awaitable[str]]) -> None:
        """Sets a function that gives the Kafka cluster's id, which the associated subject strategy may need."""
        if hasattr(self._strategy, "set_cluster_id_resolver"):
            self._strategy.set_cluster_id_resolver(resolver)

    def close(self) -> None:
        """Closes what rules made; the registry client stays open. May be called again."""
        self._contracts.close()

    def serialize(self, obj: Any, ctx: SerializationContext | None) -> Inquiry[bytes]:
        """Serializes a value that is not None.

        Raises:
            SerializationError: the value does not fit, or there is no schema to write it with.
        """
        plan = self.cache.get(PlanKey(*place(ctx)))
        if plan is None:
            plan = yield from self.prepare(ctx)
        if plan.blocking:
            ready = plan
            return (yield from aside(lambda: self._write(ready, obj, ctx)))
        return self._write(plan, obj, ctx)

    def prepare(self, ctx: SerializationContext | None) -> Inquiry[WritePlan]:
        """Makes the plan for a context and keeps it, unless the registry client forgets meanwhile what it is made of.

        Raises:
            SerializationError: there is no schema to write with.
        """
        plans = self.cache.store.plans
        try:
            plan = yield from self._planner.plan(ctx)
        except Exception as error:
            blame("there is no schema to write with", error, ctx)
            raise
        if not any((plan.before, plan.finish, self._to_dict)) and plan.stale_at_s is None:
            plan = replace(plan, direct=plan.encode)
        self.cache.keep(plans, PlanKey(*place(ctx)), plan)
        return plan

    def blame(self, error: Exception, ctx: SerializationContext | None) -> None:
        """Tells an error of an encoder where it happened.

        Raises:
            SerializationError: made of an error of another type.
        """
        plan = self.cache.get(PlanKey(*place(ctx)))
        blame("the value can't be encoded", error, ctx, None if plan is None else plan.schema_id)

    def _write(self, plan: WritePlan, obj: Any, ctx: SerializationContext | None) -> bytes:
        try:
            value = obj if self._to_dict is None else converted("to_dict", self._to_dict, obj, ctx)
            if plan.before is not None:
                value = plan.before(value, ctx)
            payload = plan.encode(value)
            return payload if plan.finish is None else plan.finish(payload, ctx)
        except Exception as error:
            blame("the value can't be encoded", error, ctx, plan.schema_id)
            raise

    def _registry_forgot(self, what: Forgotten) -> None:
        """Plans made of what was forgotten are made again; the registry client calls this."""
        from registry.client.cache import Forgotten

        if self._moves or what >= Forgotten.REGISTRATIONS:
            self.cache.store.forget()
