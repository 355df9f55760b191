"""Background work of a consumer, beside the application: callbacks of the group, commits at intervals.

Must not keep a consumer alive that the application has dropped.
"""

from __future__ import annotations

import asyncio
import inspect
import logging
import weakref
from collections.abc import Callable, Coroutine
from typing import Any, Final

from kafka_core import Message, StateError
from kafka_core.aio import AIOConsumer
from kserdes.compat.aiokafka.interfaces import ConsumerRebalanceListener
from kserdes.compat.aiokafka.structs import TopicPartition

logger: Final = logging.getLogger("kserdes.compat")
PAUSE_S: Final = 0.01
"""After a callback that failed, so that one that always fails leaves the loop to others."""


def is_closed(consumer: AIOConsumer) -> bool:
    """Whether a StateError means the consumer's own end, not one that the application or a callback made."""
    return consumer.health().state == "closed"


async def serve(consumer: AIOConsumer, tell: weakref.WeakMethod[Callable[[Message], None]]) -> None:
    """Runs the group's callbacks until the consumer is closed, and hands on the errors that come meanwhile.

    What a callback raises ends nothing: without this task there would be no rebalance any more, and nobody would know.
    """
    while True:
        try:
            notice = await consumer.serve()
        except Exception as error:
            if isinstance(error, StateError) and is_closed(consumer):
                return
            logger.exception("a callback failed")
            await asyncio.sleep(PAUSE_S)
            continue
        call = tell()
        if call is None:
            return
        call(notice)
        del call


async def often(interval_s: float, work: weakref.WeakMethod[Callable[[], Coroutine[Any, Any, None]]]) -> None:
    """Does something every so often, as long as its owner is there."""
    while True:
        await asyncio.sleep(interval_s)
        call = work()
        if call is None:
            return
        await call()
        del call


def weak_call(method: Callable[..., Coroutine[Any, Any, None]]) -> Callable[..., Coroutine[Any, Any, None]]:
    """A callback that does not keep its consumer alive."""
    found = weakref.WeakMethod(method)

    async def call(*arguments: object) -> None:
        owned = found()
        if owned is not None:
            await owned(*arguments)

    return call


async def told(listener: ConsumerRebalanceListener | None, name: str, partitions: frozenset[TopicPartition]) -> None:
    """Calls one of a listener's methods; its exceptions are logged, and the rebalance goes on."""
    if listener is None:
        return
    try:
        result = getattr(listener, name)(partitions)
        if inspect.isawaitable(result):
            await result
    except Exception:
        logger.exception("%s of the rebalance listener failed", name)
