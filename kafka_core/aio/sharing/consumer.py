"""The asyncio share consumer: the same core as the blocking one, on the application's own event loop.

Must not know the protocol or threads; `share_calls.py` has the methods.
Spec: confluent_kafka.ShareConsumer (which has no asyncio twin); callbacks may be functions or coroutine functions.
"""

from __future__ import annotations

import asyncio
import inspect
import time
from collections.abc import Coroutine, Mapping
from typing import Any, TypeVar

from kafka_core.aio.sharing.core import ShareCore
from kafka_core.aio.sharing.share_calls import AIOShareConsumerCalls
from kafka_core.aio.tasks.closing import Closing
from kafka_core.aio.tasks.dropped import Leash
from kafka_core.aio.tasks.handover import weakly
from kafka_core.config import Role, parse
from kafka_core.engine.sharing.holdings import Holdings
from kserdes_base.forks import FORKED, share_no_fork

T = TypeVar("T")


class AIOShareConsumer(AIOShareConsumerCalls):
    """A member of a share group (KIP-932) for asyncio: records are given out to its members like tasks of a queue.

    One task at a time calls it; see `ShareConsumer`. Callbacks may be coroutine functions, and are awaited. One that is
    dropped without `close()` gives a ResourceWarning and leaves its group; what it held is released.

    Args:
        conf: properties as for the blocking ShareConsumer.

    Raises:
        ConfigError: an unknown or ill-typed property, one that share groups do not have, or one that is missing.
    """

    def __init__(self, conf: Mapping[str, object]) -> None:
        self._closed = self._in_callback = False
        config, self._own_callbacks = weakly(parse(conf, Role.SHARE), awaits=True)
        self._explicit = config.text("share.acknowledgement.mode") == "explicit"
        self._holdings = Holdings()
        self._seen = None
        self._topics = []
        self._callback = None
        self._untold, self._notices, self._given = [], [], []
        self._inside = {}
        self._closing = Closing()
        self._core = core = ShareCore(config)
        self._leash = Leash(self, core.client.loop, lambda: core.close(()))
        share_no_fork(self)

    async def close(self) -> None:
        """Sends the acknowledgements, has the brokers release all other records, leaves the group.

        Records that were polled and not acknowledged are released, in implicit mode too: whether the last poll's
        records were processed is not known here; `commit_sync()` before it accepts them. Bounded in time; harmless
        when called again. A caller that is cancelled does not stop it.
        """
        if not self._closed:
            if not self._closing.running:  # the run itself is inside a call: another close() waits for it
                with self._alone(closes=True):
                    pass  # refused here, not in the one run of the closing
            await self._closing.run(self._end)

    def _after_fork(self) -> None:
        """In a forked child: see `kserdes_base.forks`. What was given out here is the parent's."""
        if self._core.client.loop() is not None and not self._closed:
            self._closed, self._why_closed = True, FORKED

    def _ended(self) -> None:
        self._leash.closed()

    # ---- how it waits

    async def _run(self, work: Coroutine[Any, Any, T]) -> T:
        return await work

    async def _settled(self, result: object) -> None:
        if inspect.isawaitable(result):
            await result

    def _who(self) -> object:
        return asyncio.current_task()

    def _now_s(self) -> float:
        return time.monotonic()
