"""The blocking share consumer: a thin face over ShareCore on a loop thread of its own.

Must not know the protocol: it runs callbacks on the caller's thread, and waits; `share_calls.py` has the rest.
Spec: confluent_kafka.ShareConsumer for names, arguments, callbacks and errors.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Coroutine, Mapping
from typing import Any, TypeVar

from kafka_core.aio.sharing.core import ShareCore
from kafka_core.aio.tasks.handover import weakly
from kafka_core.config import Role, joined, parse
from kafka_core.engine.sharing.holdings import Holdings
from kafka_core.sync.loop_thread import LoopThread
from kafka_core.sync.share_calls import ShareConsumerCalls

T = TypeVar("T")


class ShareConsumer(ShareConsumerCalls):
    """A member of a share group (KIP-932), with the API of confluent_kafka.ShareConsumer.

    A share group gives records out like tasks of a queue: each to one member at a time, locked for a while
    (`group.share.record.lock.duration.ms`, at the broker), and again to another one unless it is acknowledged in time,
    at most as often as the group's delivery limit says. Partitions do not bound how many members may work, and there is
    no order.

    With `share.acknowledgement.mode=implicit` the records of a poll are accepted by the next poll or commit; with
    `explicit` each is acknowledged by itself. A member that does not poll for `max.poll.interval.ms` leaves the group.

    It is called by one thread at a time. It belongs to the process that made it.

    Args:
        conf: properties; at least `bootstrap.servers` and `group.id`. Callbacks `error_cb`, `stats_cb`, `throttle_cb`
            are run by poll() and commits.
        **properties: more of them, for names without dots (`logger`).

    Raises:
        ConfigError: an unknown or ill-typed property, one that share groups do not have, or one that is missing.
    """

    def __init__(self, conf: Mapping[str, object] | None = None, **properties: object) -> None:
        self._closed = self._in_callback = False
        config, self._own_callbacks = weakly(parse(joined(conf, properties), Role.SHARE))
        self._explicit = config.text("share.acknowledgement.mode") == "explicit"
        self._holdings = Holdings()
        self._seen = None
        self._topics = []
        self._callback = None
        self._untold, self._notices, self._given = [], [], []
        self._inside = {}
        self._thread = LoopThread("kafka-core-share-consumer")
        self._core = ShareCore(config)

    def close(self) -> None:
        """Sends the acknowledgements, has the brokers release all other records, leaves the group.

        Records that were polled and not acknowledged are released, in implicit mode too: whether the last poll's
        records were processed is not known here; `commit_sync()` before it accepts them. Bounded in time; harmless
        when called again.
        """
        if self._closed:
            return
        if not self._thread.pid_ok():
            self._closed = True  # the parent's connections and membership are the parent's
            return
        self._end()

    def _ended(self) -> None:
        self._thread.stop()

    # ---- how it waits

    def _run(self, work: Coroutine[Any, Any, T]) -> T:
        return self._thread.run(work)

    def _settled(self, result: object) -> None:
        """Nothing to wait for: coroutine functions were refused."""

    def _who(self) -> object:
        return threading.get_ident()

    def _now_s(self) -> float:
        return time.monotonic()
