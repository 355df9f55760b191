"""Notices that a topic was deleted and created again: offsets of the old one mean nothing in the new one of that name.

Must not know requests or loops: views of the cluster go in, partitions begin anew.
Spec: KIP-516 (topic ids). The Java client and librdkafka keep the old offset if the new log is long enough for it, and
so skip its first records.
"""

from __future__ import annotations

import logging
from typing import Final
from uuid import UUID

from kafka_core.engine.consuming.fetch_queue import FetchQueue
from kafka_core.engine.consuming.subscription import LATEST_TIMESTAMP, Assignment, PartitionState, Phase
from kafka_core.engine.metadata import ClusterView
from kafka_core.errors import KafkaError
from kafka_core.model import OFFSET_BEGINNING, OFFSET_END, OFFSET_INVALID, OFFSET_STORED
from kafka_core.protocol import ZERO_UUID

logger: Final = logging.getLogger("kafka_core.consumer")


class TopicChanges:
    """Compares the topics that partitions belong to with those that the metadata names.

    Args:
        reset: `FetchSettings.reset`.
    """

    def __init__(self, assignment: Assignment, queue: FetchQueue, reset: int | None) -> None:
        self._assignment = assignment
        self._queue = queue
        self._reset = reset
        self._followed: tuple[ClusterView | None, int] = None, 0

    def follow(self, view: ClusterView) -> list[tuple[PartitionState, KafkaError]]:
        """Begins anew with the partitions whose topic is another one by now.

        Returns:
            Partitions that stay halted, with the error to tell: `auto.offset.reset` is `error`.
        """
        if self._followed[0] is view and self._followed[1] == self._assignment.generation:
            return []
        self._followed = view, self._assignment.generation
        halted = []
        for state in self._assignment:
            topic_id = view.topic_id(state.topic)
            if topic_id in (ZERO_UUID, state.topic_id):
                continue
            if state.topic_id == ZERO_UUID:
                state.topic_id = topic_id
            elif not self._begin_anew(state, topic_id):
                halted.append((state, halting_error(state)))
        return halted

    def _begin_anew(self, state: PartitionState, topic_id: UUID) -> bool:
        """Reads the new topic from its beginning, for all of it came after what was read so far; False: it is halted.

        `auto.offset.reset` says where to begin with a log: `latest` would skip here what came before we noticed.
        """
        offset, start = OFFSET_BEGINNING, OFFSET_INVALID
        if topic_id in state.former_positions:
            offset, start = state.former_positions[topic_id]  # a broker that lags behind had named the other meanwhile
        elif state.phase is Phase.COMMITTED:
            offset = OFFSET_STORED  # nothing was read yet
        elif state.phase is Phase.LOOKUP and state.lookup_timestamp == LATEST_TIMESTAMP:
            offset = OFFSET_END
        known = (state.topic, state.partition, state.topic_id, topic_id)
        logger.warning("%s[%d]: the topic was deleted and created again (its id was %s and is %s)", *known)
        self._queue.change_topic(state, topic_id, offset, start)
        if offset == OFFSET_BEGINNING and self._reset is None:
            state.move(Phase.HALTED)
            return False
        return True


def halting_error(state: PartitionState) -> KafkaError:
    """The event for the application."""
    text = (
        f"{state.topic}[{state.partition}]: the topic was deleted and created again and auto.offset.reset is `error`: "
        "seek() to where reading should continue"
    )
    return KafkaError(KafkaError._AUTO_OFFSET_RESET, text)
