"""A producer that chooses the partition by the key."""

from __future__ import annotations

import warnings
from typing import Any

from kserdes.compat.simple.partitioner.base import Partitioner
from kserdes.compat.simple.partitioner.hashed import HashedPartitioner
from kserdes.compat.simple.producer.base import Producer
from kserdes.compat.simple.util import kafka_bytestring


class KeyedProducer(Producer):
    """Messages with one key go to one partition.

    Args:
        partitioner: a class derived from `Partitioner`; one is made for each topic.
    """

    def __init__(self, *args: Any, partitioner: type[Partitioner] | None = None, **kwargs: Any) -> None:
        self.partitioner_class = partitioner or HashedPartitioner
        self.partitioners: dict[bytes, Partitioner] = {}
        super().__init__(*args, **kwargs)

    def _partition(self, topic: bytes, key: bytes | None) -> int:
        if not self.client.has_metadata_for_topic(topic):
            self.client.ensure_topic_exists(topic)
        numbers = self.client.get_partition_ids_for_topic(topic)
        if topic not in self.partitioners:
            self.partitioners[topic] = self.partitioner_class(numbers)
        return self.partitioners[topic].partition(key, numbers)

    def send_messages(  # type: ignore[override]
        self, topic: str | bytes, key: bytes | None, *msg: bytes
    ) -> list[Any]:
        """Sends values with this key. Result and errors as `Producer.send_messages`."""
        name = kafka_bytestring(topic)
        return self._send_messages(name, self._partition(name, key), *msg, key=key)

    def send(self, topic: str | bytes, key: bytes | None, msg: bytes) -> list[Any]:
        """As `send_messages`, for one value; deprecated in the manual."""
        warnings.warn("KeyedProducer.send is deprecated: call send_messages", DeprecationWarning, stacklevel=2)
        return self.send_messages(topic, key, msg)
