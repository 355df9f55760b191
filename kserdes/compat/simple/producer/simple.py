"""A producer that takes the partitions in turn."""

from __future__ import annotations

import random
from itertools import cycle
from typing import Any

from kserdes.compat.simple.producer.base import Producer
from kserdes.compat.simple.util import kafka_bytestring


class SimpleProducer(Producer):
    """All messages of a call go to one partition, those of the next call to the next.

    Args:
        random_start: begin with any partition, or with the first.
    """

    def __init__(self, *args: Any, random_start: bool = True, **kwargs: Any) -> None:
        self.random_start = random_start
        self.partition_cycles: dict[bytes, cycle[int]] = {}
        super().__init__(*args, **kwargs)

    def _next_partition(self, topic: bytes) -> int:
        if topic not in self.partition_cycles:
            if not self.client.has_metadata_for_topic(topic):
                self.client.ensure_topic_exists(topic)
            numbers = self.client.get_partition_ids_for_topic(topic)
            self.partition_cycles[topic] = cycle(numbers)
            for _ in range(random.randrange(len(numbers)) if self.random_start else 0):
                next(self.partition_cycles[topic])
        return next(self.partition_cycles[topic])

    def send_messages(self, topic: str | bytes, *msg: bytes) -> list[Any]:  # type: ignore[override]
        """Sends values without a key, to one partition. Result and errors as `Producer.send_messages`."""
        name = kafka_bytestring(topic)
        return self._send_messages(name, self._next_partition(name), *msg)
