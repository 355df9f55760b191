"""Keeps metadata fresh in the background.

Must not know who needs it: the plan in the state says when a refresh is due and for which topics.
Spec: topic.metadata.refresh.interval.ms; engine/metadata.py (`RefreshPlan`).
"""

import asyncio
import contextlib
import logging
from typing import Final

from kafka_core.aio.cluster.refresh import MetadataRefresher
from kafka_core.aio.cluster.state import ClusterState
from kafka_core.clock import Clock
from kafka_core.errors import KafkaException

logger: Final = logging.getLogger("kafka_core.aio")


class MetadataKeeper:
    """One task per client, for as long as it lives.

    Args:
        request_timeout_s: for one refresh, all brokers together.
    """

    def __init__(
        self, state: ClusterState, refresher: MetadataRefresher, clock: Clock, request_timeout_s: float
    ) -> None:
        self._state = state
        self._refresher = refresher
        self._clock = clock
        self._request_timeout_s = request_timeout_s

    async def run(self) -> None:
        """Refreshes metadata when it is due, for ever."""
        state = self._state
        while True:
            state.changed.clear()
            due_at_s = state.plan.due_at_s()
            wait_s = None if due_at_s is None else due_at_s - self._clock.monotonic()
            if wait_s is not None and wait_s <= 0:
                await self._refresh()
                continue
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(wait_s):
                    await state.changed.wait()

    async def _refresh(self) -> None:
        plan = self._state.plan
        topics = plan.started(self._clock.monotonic())
        ok = False
        try:
            async with asyncio.timeout(self._request_timeout_s):
                await self._refresher.refresh(topics, allow_auto_create=False)
            ok = True
        except (KafkaException, TimeoutError) as error:
            logger.debug("background metadata refresh failed: %s", error)
        finally:
            plan.finished(self._clock.monotonic(), ok=ok, topics=topics)
