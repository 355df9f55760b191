"""A point of a stream, as its checkpoint has it: next offsets, and the ids of the topics that they belong to.

The offsets are Spark's own JSON, `{"topic": {"0": 123}}`, sorted, for Spark compares them as text. The ids stand beside
the topics under a name that no topic can have; checkpoints that were written without them are read, too. Must not know
of Spark or clients. Decision 0099.
"""

from __future__ import annotations

import base64
import binascii
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias

from kafka_core import Uuid
from pipeline.errors import PlanError
from pipeline.source.splits import TOPIC_IDS, Place

PointText: TypeAlias = dict[str, dict[str, Any]]
"""The form that Spark writes as JSON: topic → partition → offset, and perhaps `TOPIC_IDS` → topic → id."""
ID_BYTES: Final = 16


@dataclass(frozen=True, slots=True)
class Point:
    """The position of a stream.

    Attributes:
        offsets: the next one of each partition.
        topic_ids: of the topics, as far as they are known.
    """

    offsets: Mapping[Place, int]
    topic_ids: Mapping[str, Uuid] = field(default_factory=dict)

    @classmethod
    def of(cls, given: Mapping[str, Mapping[str, Any]] | None) -> Point:
        """A point as Spark gives it back; none is one without partitions.

        Raises:
            PlanError: it is none.
        """
        given = given or {}
        try:
            offsets = {
                (topic, int(number)): int(offset)
                for topic, parts in given.items()
                if topic != TOPIC_IDS
                for number, offset in parts.items()
            }
            ids = {topic: _id_of(text) for topic, text in given.get(TOPIC_IDS, {}).items()}
        except (ValueError, TypeError, AttributeError) as error:
            raise PlanError(f"the checkpoint's offsets can't be read: {given!r}: {error}") from error
        return cls(offsets, ids)

    def text(self) -> PointText:
        """As Spark's JSON has it; equal points are equal texts."""
        found: PointText = {}
        for (topic, number), offset in sorted(self.offsets.items()):
            found.setdefault(topic, {})[str(number)] = offset
        ids = {topic: str(self.topic_ids[topic]) for topic in found if topic in self.topic_ids}
        return {**found, TOPIC_IDS: ids} if ids else found

    def is_of_another(self, topic: str, other: Point) -> bool | None:
        """Whether the topic was deleted and created again between two points; None if one does not know its id."""
        mine, its = self.topic_ids.get(topic), other.topic_ids.get(topic)
        return None if mine is None or its is None else mine != its


def _id_of(text: str) -> Uuid:
    found = base64.urlsafe_b64decode(text + "==")
    if len(found) != ID_BYTES:
        raise binascii.Error(f"{text!r} is no topic id")
    return Uuid.from_uuid(uuid.UUID(bytes=found))
