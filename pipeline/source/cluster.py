"""The driver's questions to the cluster: partitions and their offsets; all partitions in one request.

Must not know of Spark. Offsets are asked through `AdminClient.list_offsets` (ListOffsets, one request per broker).
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterable, Mapping
from types import TracebackType
from typing import Final, Self

from kafka_core import ConsumerGroupTopicPartitions, IsolationLevel, KafkaException, TopicPartition, Uuid
from kafka_core.admin import AdminClient, OffsetSpec
from kafka_core.errors import ConfigError, KafkaError
from kafka_core.listings import TopicMetadata
from pipeline.errors import OptionError, PlanError
from pipeline.source.options import Assigned, Pattern, ReadOptions
from pipeline.source.splits import EARLIEST, LATEST, Place

INTERNAL: Final = "__"
"""Topics that begin so are the brokers' own: a pattern does not mean them."""
ASKED_AGAIN: Final = 5
ASKED_AGAIN_S: Final = 0.2
"""The number of repeated requests, and seconds between them, for what a broker knew a moment ago and does not know now.

One that lags behind the others, or takes a partition over, may not know of it yet."""


def at_time(time_ms: int) -> OffsetSpec:
    """The first offset that is so young: none, if no record is."""
    return OffsetSpec.for_timestamp(time_ms)


class Cluster:
    """The driver's connection; made at the first question, closed with `close`.

    Not thread-safe.

    Args:
        options: of the read.

    Attributes:
        topic_ids: of the topics that `partitions` found last, as far as the cluster has ids.

    Every method raises:
        PlanError: the cluster does not answer, or refuses.
        OptionError: the client refuses an option `kafka.…`.
    """

    def __init__(self, options: ReadOptions) -> None:
        self._options = options
        self._made: AdminClient | None = None
        self._known: frozenset[Place] = frozenset()
        self.topic_ids: dict[str, Uuid] = {}

    def partitions(self, *, missing_fail: bool = True) -> list[Place]:
        """All partitions that the options name, in order; those of the last time are looked for again if missing.

        Args:
            missing_fail: whether one that is not there is an error; else it is left out.

        Raises:
            PlanError: a topic or partition that is named is not there.
        """
        left = ASKED_AGAIN if self._known else 0
        found = self._listed(missing_fail=missing_fail and not left)
        while left and not self._known.issubset(found):
            time.sleep(ASKED_AGAIN_S)
            left -= 1
            found = self._listed(missing_fail=missing_fail and not left)
        self._known = frozenset(found)
        return found

    def offsets(self, wanted: Mapping[Place, OffsetSpec]) -> dict[Place, int]:
        """The offset of each partition, -1 where there is none so young; a partition that is gone is left out."""
        found = self._offsets(wanted)
        for _ in range(ASKED_AGAIN):
            missing = {place: spec for place, spec in wanted.items() if place not in found}
            if not missing:
                break
            time.sleep(ASKED_AGAIN_S)
            found |= self._offsets(missing)
        return found

    def earliest(self, places: Iterable[Place]) -> dict[Place, int]:
        """The first offset of each partition."""
        return self.offsets(dict.fromkeys(places, OffsetSpec(EARLIEST)))

    def latest(self, places: Iterable[Place]) -> dict[Place, int]:
        """The offset after the last record of each partition; with read_committed after the last stable one."""
        return self.offsets(dict.fromkeys(places, OffsetSpec(LATEST)))

    def commit(self, group: str, offsets: Mapping[Place, int]) -> None:
        """Commits progress to a group in which nobody reads."""
        placed = [TopicPartition(*place, offset) for place, offset in sorted(offsets.items())]
        try:
            for answer in (
                self._admin().alter_consumer_group_offsets([ConsumerGroupTopicPartitions(group, placed)]).values()
            ):
                failed = [place for place in answer.result().topic_partitions or () if place.error is not None]
                if failed:
                    raise KafkaException(failed[0].error)
        except KafkaException as error:
            raise self._failed(f"progress can't be committed to the group {group!r}", error) from error

    def close(self) -> None:
        """Closes the connection; the next question opens another."""
        made, self._made = self._made, None
        if made is not None:
            made.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def _admin(self) -> AdminClient:
        if self._made is None:
            self._made = AdminClient(self._options.admin_config())
        return self._made

    def _listed(self, *, missing_fail: bool) -> list[Place]:
        chosen = self._options.topics
        self.topic_ids = {}
        try:
            if isinstance(chosen, Pattern):
                return self._matching(chosen)
            if isinstance(chosen, Assigned):
                return self._assigned(chosen, missing_fail)
            return [
                (topic, number)
                for topic in chosen.names
                for number in sorted(self._topic(topic, missing_fail).partitions)
            ]
        except KafkaException as error:
            raise self._failed("topics can't be listed", error) from error

    def _offsets(self, wanted: Mapping[Place, OffsetSpec]) -> dict[Place, int]:
        if not wanted:
            return {}
        level = IsolationLevel.READ_COMMITTED if self._options.read_committed else IsolationLevel.READ_UNCOMMITTED
        places = {TopicPartition(*place): spec for place, spec in wanted.items()}
        found: dict[Place, int] = {}
        try:
            answers = self._admin().list_offsets(places, isolation_level=level, request_timeout=self._options.timeout_s)
            for place, answer in answers.items():
                try:
                    found[place.topic, place.partition] = answer.result().offset
                except KafkaException as error:
                    if error.args[0].code() != KafkaError.UNKNOWN_TOPIC_OR_PART:
                        raise
        except KafkaException as error:
            topics = ", ".join(sorted({topic for topic, _ in wanted}))
            raise self._failed(f"the offsets of {topics} can't be read", error) from error
        return found

    def _topic(self, topic: str, missing_fail: bool) -> TopicMetadata:
        try:
            metadata = self._admin().list_topics(topic, timeout=self._options.timeout_s).topics[topic]
        except KafkaException as error:
            raise self._failed(f"the offsets of {topic} can't be read", error) from error
        missing = metadata.error is not None and metadata.error.code() == KafkaError.UNKNOWN_TOPIC_OR_PART
        if metadata.error is not None and (missing_fail or not missing):
            raise PlanError(f"topic {topic!r} can't be read: {metadata.error}")
        self._remember(topic, metadata)
        return metadata

    def _assigned(self, chosen: Assigned, missing_fail: bool) -> list[Place]:
        found: list[Place] = []
        for topic, numbers in sorted(chosen.partitions.items()):
            there = self._topic(topic, missing_fail).partitions
            unknown = [number for number in numbers if number not in there]
            if unknown and missing_fail:
                raise PlanError(f'topic {topic!r} has {len(there)} partitions, but "assign" names {unknown}')
            found += [(topic, number) for number in numbers if number in there]
        return found

    def _matching(self, chosen: Pattern) -> list[Place]:
        pattern = re.compile(chosen.text)
        topics = self._admin().list_topics(timeout=self._options.timeout_s).topics
        found: list[Place] = []
        for topic, metadata in sorted(topics.items()):
            if metadata.error is None and not topic.startswith(INTERNAL) and pattern.search(topic):
                self._remember(topic, metadata)
                found += [(topic, number) for number in sorted(metadata.partitions)]
        return found

    def _remember(self, topic: str, metadata: TopicMetadata) -> None:
        if metadata.topic_id is not None:
            self.topic_ids[topic] = metadata.topic_id

    def _failed(self, what: str, error: KafkaException) -> OptionError | PlanError:
        if isinstance(error, ConfigError):
            return OptionError(f"an option kafka.… is refused: {error}")
        return PlanError(f"{what}: {error}")
