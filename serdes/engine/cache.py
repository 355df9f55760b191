"""The plans that a serializer or deserializer has made: one cache, whose keys are topic, field and name of a schema.

Must not know how plans are made. The kernels look into the same store (`serdes.kernels`).
"""

from __future__ import annotations

import time
from typing import Generic, NamedTuple, TypeVar

from serdes.context import SerializationContext, place
from serdes.engine.plan import ReadPlan, WritePlan
from serdes.kernels import PlanStore

P = TypeVar("P", WritePlan, ReadPlan)


class PlanKey(NamedTuple):
    """What a plan is good for.

    Attributes:
        topic: None for all topics, and for values without a context.
        field: likewise.
        named: the bytes of a frame or header that name the schema; empty for writing.
        in_header: whether they were in a header.
    """

    topic: str | None = None
    field: str | None = None
    named: bytes = b""
    in_header: bool = False

    def at(self, ctx: SerializationContext | None) -> PlanKey:
        """The same for the topic and field of a context alone; without a context for those without one."""
        topic, field = place(ctx)
        return PlanKey(topic or "", field or "", self.named, self.in_header)


class PlanCache(Generic[P]):
    """The plans of one serializer or deserializer, for all threads that share it.

    Attributes:
        store: where they are, for the kernels.
    """

    def __init__(self) -> None:
        self.store = PlanStore()

    def get(self, key: PlanKey) -> P | None:
        """The plan for a key; None if it has to be made, or made again."""
        plan: P | None = self.store.plans.get(key)
        if plan is None or (plan.stale_at_s is not None and time.monotonic() >= plan.stale_at_s):
            return None
        return plan


def now_s() -> float:
    """The clock by which plans grow stale: monotonic seconds."""
    return time.monotonic()
