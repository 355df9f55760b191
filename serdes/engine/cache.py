"""The plans that a serializer or deserializer has made: one cache, whose keys are topic, field and name of a schema.

Must not know how plans are made. The kernels look into the same store (`serdes.kernels`).
"""

from __future__ import annotations

import time
from collections import deque
from typing import Any, Final, Generic, NamedTuple, TypeVar

from serdes.context import SerializationContext, place
from serdes.engine.plan import ReadPlan, WritePlan
from serdes.kernels import PlanStore

P = TypeVar("P", WritePlan, ReadPlan)
Place = tuple[str | None, str | None, bytes, bool]
"""A `PlanKey`, as the kernels know it."""
MOST_PLANS: Final = 50_000
"""The most plans of a serializer, about 1.3 kB each: a service may write to ever new topics (for replies, say)."""


class PlanKey(NamedTuple):
    """The values that a plan is good for.

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
        self._order: deque[tuple[dict[Place, Any], Place]] = deque()  # threads use it by atomic operations

    def keep(self, plans: dict[Place, Any], key: Place, plan: P) -> None:
        """Keeps a plan; of more than `MOST_PLANS` the oldest goes, and is made again where it is needed.

        Args:
            plans: what `store.plans` was before the plan was made.
            key: of the plan.
            plan: the plan.
        """
        new = key not in plans
        plans[key] = plan
        if new:
            self._order.append((plans, key))
            if len(self._order) > MOST_PLANS:
                older, gone = self._order.popleft()
                older.pop(gone, None)

    def get(self, key: PlanKey) -> P | None:
        """The plan for a key; None if it has to be made, or made again."""
        plan: P | None = self.store.plans.get(key)
        if plan is None or (plan.stale_at_s is not None and time.monotonic() >= plan.stale_at_s):
            return None
        return plan


def now_s() -> float:
    """The clock by which plans grow stale: monotonic seconds."""
    return time.monotonic()
