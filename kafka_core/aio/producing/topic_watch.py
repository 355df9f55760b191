"""Finds the partitions of topics that a producer writes to, and says when a topic is not there after all.

Must not know records: it tells a partition count or an error per topic, once.
Spec: topic.metadata.propagation.max.ms (how long a new topic may take to appear), allow.auto.create.topics.
"""

import asyncio
import functools
import logging
from collections.abc import Callable
from typing import Final, Protocol

from kafka_core.aio.tasks.background import background
from kafka_core.clock import Clock
from kafka_core.engine.metadata import ClusterView
from kafka_core.engine.retry import Action, Backoff, classify
from kafka_core.errors import KafkaError, KafkaException, StateError

logger: Final = logging.getLogger("kafka_core.aio")


class MetadataSource(Protocol):
    """The part of `ClusterClient` that the watch uses."""

    @property
    def metadata(self) -> ClusterView:
        """The newest view."""
        ...

    @property
    def last_error(self) -> KafkaException | None:
        """The first failure that still stands."""
        ...

    async def refresh_metadata(self, topics: list[str], *, timeout_s: float | None = None) -> ClusterView:
        """Ask for these topics."""
        ...


class TopicWatch:
    """Looks topics up in the background, one task per topic, until there is a verdict.

    Args:
        patience_s: How long the cluster may say that it does not know the topic.
        limit_s: How long it may take altogether; what keeps us from asking is in the error then.
        on_found: Called with (topic, partition count).
        on_missing: Called with (topic, error).
    """

    def __init__(
        self,
        source: MetadataSource,
        clock: Clock,
        backoff: Backoff,
        *,
        patience_s: float,
        limit_s: float,
        on_found: Callable[[str, int], object],
        on_missing: Callable[[str, KafkaError], object],
    ) -> None:
        self._source = source
        self._clock = clock
        self._backoff = backoff
        self._patience_s = patience_s
        self._limit_s = limit_s
        self._on_found = on_found
        self._on_missing = on_missing
        self._tasks: dict[str, asyncio.Task[None]] = {}

    def look_up(self, topic: str) -> None:
        """Find that topic, unless somebody is at it already."""
        former = self._tasks.get(topic)
        if former is None or former.done():  # one that has ended looks nothing up, though it is still listed
            task = self._tasks[topic] = background(self._run(topic), f"kafka-core-topic-{topic}")
            task.add_done_callback(functools.partial(self._ended, topic))

    def _ended(self, topic: str, task: "asyncio.Task[None]") -> None:
        if self._tasks.get(topic) is task:
            del self._tasks[topic]

    def stop(self) -> None:
        """Cancel all look-ups; no verdict is given any more."""
        for task in list(self._tasks.values()):
            task.cancel()

    async def _run(self, topic: str) -> None:
        verdict: int | KafkaError
        try:
            verdict = await self._find(topic)
        except Exception as error:  # ours: the records must not wait for a look-up that has ended
            logger.exception("the look-up of topic %r failed", topic)
            verdict = KafkaError(KafkaError._FAIL, f"topic {topic!r}: the look-up failed: {error!r}")
        if isinstance(verdict, int):
            self._on_found(topic, verdict)
        else:
            self._on_missing(topic, verdict)

    async def _find(self, topic: str) -> int | KafkaError:
        began_s = self._clock.monotonic()
        attempt = 0
        while True:
            left_s = began_s + self._limit_s - self._clock.monotonic()
            if left_s <= 0:
                return self._too_late(topic)
            try:
                view = await self._source.refresh_metadata([topic], timeout_s=min(left_s, 60.0))
            except StateError as error:  # closed meanwhile: whoever closed it settles the records
                return error.error
            except KafkaException as error:
                if error.code == KafkaError._INVALID_ARG:  # no request can carry that name
                    return error.error
                logger.debug("no metadata for topic %r yet: %s", topic, error)
            else:
                verdict = self._verdict(view, topic, self._clock.monotonic() - began_s)
                if verdict is not None:
                    return verdict
            await asyncio.sleep(self._backoff.delay_s(attempt))
            attempt += 1

    def _verdict(self, view: ClusterView, topic: str, waited_s: float) -> int | KafkaError | None:
        count = view.partition_count(topic)
        found = view.topics.get(topic)
        code = found.error_code if found is not None else KafkaError.UNKNOWN_TOPIC_OR_PART
        if count is not None:
            return count
        if classify(code) is Action.REFRESH_AND_RETRY and waited_s < self._patience_s:
            return None
        known = KafkaError.from_code(code)
        if code == KafkaError.UNKNOWN_TOPIC_OR_PART:
            text = f"the topic {topic!r} does not exist (waited {waited_s:.3g} s, topic.metadata.propagation.max.ms)"
        else:
            text = f"topic {topic!r}: {known.str()}"
        return KafkaError(known.code(), text, retriable=known.retriable())

    def _too_late(self, topic: str) -> KafkaError:
        cause = self._source.last_error
        text = f"Message timed out: topic {topic!r}: no metadata within {self._limit_s:g} s (message.timeout.ms)"
        return KafkaError(KafkaError._MSG_TIMED_OUT, f"{text}; first cause: {cause}" if cause is not None else text)
