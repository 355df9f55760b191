"""The records that an application was given by a share group and has not settled: who may become what, and when.

Must not know requests, brokers or loops. It belongs to the application's thread (or task) alone.
Spec: KIP-932 (acknowledgement types, implicit and explicit mode), KIP-1222 (renewing a lock).

    DELIVERED ──acknowledge──▶ MARKED ──take──▶ SENT ──settled──▶ gone
                                 ▲                └── a renewal that worked ──▶ RENEWED
                                 └──────────────────── acknowledge ────────────────┘
"""

from __future__ import annotations

import enum
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final
from uuid import UUID

from kafka_core.engine.consuming.subscription import Key
from kafka_core.errors import KafkaError, StateError
from kafka_core.model import AcknowledgeType

GAP: Final = 0
"""The acknowledgement of an offset that has no record: a control record, or one that was compacted away."""


class Stage(enum.Enum):
    """The stage of a record that the application was given."""

    DELIVERED = "delivered"
    MARKED = "acknowledged"
    SENT = "sent"
    RENEWED = "renewed"


MOVES: Final[Mapping[Stage, frozenset[Stage]]] = {
    Stage.DELIVERED: frozenset({Stage.MARKED}),
    Stage.MARKED: frozenset({Stage.MARKED, Stage.SENT}),
    Stage.SENT: frozenset({Stage.RENEWED}),
    Stage.RENEWED: frozenset({Stage.MARKED}),
}
"""Allowed moves of a record; it is forgotten when the broker has answered."""


@dataclass(frozen=True, slots=True)
class Origin:
    """The place where records were acquired: acknowledgements of them go there and nowhere else.

    Attributes:
        session: the number of the broker's session, of which there is another one after a loss.
    """

    topic: str
    partition: int
    topic_id: UUID
    node_id: int
    session: int


@dataclass(frozen=True, slots=True)
class Acknowledged:
    """Acknowledgements of one origin, to be sent together; `types` by offset."""

    origin: Origin
    types: dict[int, int]


@dataclass(slots=True)
class _Held:
    origin: Origin
    stage: Stage = Stage.DELIVERED
    type: int = GAP


class Holdings:
    """The records that the application holds, by partition and offset."""

    def __init__(self) -> None:
        self._held: dict[Key, dict[int, _Held]] = {}
        self._unmarked = 0  # how many are DELIVERED
        self._marked: dict[Key, set[int]] = {}

    def __len__(self) -> int:
        return sum(map(len, self._held.values()))

    @property
    def unacknowledged(self) -> bool:
        """Whether there are delivered records that nobody has acknowledged; renewed ones do not count."""
        return self._unmarked > 0

    @property
    def acknowledged(self) -> bool:
        """Whether there is something to take."""
        return bool(self._marked)

    def delivered(self, origin: Origin, offsets: Iterable[int]) -> None:
        """The application is given records; one that it held before was acquired again, so the old lock is gone."""
        key = (origin.topic, origin.partition)
        held = self._held.setdefault(key, {})
        for offset in offsets:
            old = held.get(offset)
            if old is not None:
                self._forget(key, offset)
                held = self._held.setdefault(key, held)
            held[offset] = _Held(origin)
            self._unmarked += 1

    def withdrawn(self, origin: Origin, offsets: Iterable[int]) -> None:
        """Records that the application was about to be given, and was not; what was said of them counts no more."""
        key = (origin.topic, origin.partition)
        for offset in offsets:
            held = self._held.get(key, {}).get(offset)
            if held is not None and held.stage in (Stage.DELIVERED, Stage.MARKED) and held.origin == origin:
                self._forget(key, offset)

    def acknowledge(self, topic: str, partition: int, offset: int, kind: AcknowledgeType) -> None:
        """Marks one record; the last word before it is sent counts.

        Raises:
            StateError: it is not in the application's hands.
        """
        held = self._held.get((topic, partition), {}).get(offset)
        if held is None or held.stage is Stage.SENT:
            state = "was never given out here, or is settled" if held is None else "has been sent already"
            raise StateError(f"{topic}[{partition}] at {offset} can't be acknowledged: it {state}")
        self._mark((topic, partition), offset, held, kind)

    def acknowledge_all(self, kind: AcknowledgeType = AcknowledgeType.ACCEPT) -> None:
        """Marks delivered, unacknowledged records, as implicit mode does at the next poll or commit."""
        if self._unmarked:
            for key, offsets in self._held.items():
                for offset, held in offsets.items():
                    if held.stage is Stage.DELIVERED:
                        self._mark(key, offset, held, kind)

    def take(self) -> list[Acknowledged]:
        """Takes the acknowledgements since the last time, to be sent. After Ctrl-C they are as before, or not sent."""
        found: dict[Origin, dict[int, int]] = {}
        taken: list[_Held] = []
        for key, offsets in self._marked.items():
            for offset in sorted(offsets):
                held = self._held.get(key, {}).get(offset)
                if held is not None and held.stage is Stage.MARKED:
                    found.setdefault(held.origin, {})[offset] = held.type
                    taken.append(held)
        self._marked = {}
        for held in taken:
            self._move(held, Stage.SENT)
        return [Acknowledged(origin, types) for origin, types in found.items()]

    def settled(self, sent: Acknowledged, error: KafkaError | None) -> None:
        """The answer to what was taken: it is forgotten, but for locks that were renewed."""
        key = (sent.origin.topic, sent.origin.partition)
        offsets = self._held.get(key, {})
        for offset, kind in sent.types.items():
            held = offsets.get(offset)
            if held is None or held.stage is not Stage.SENT or held.origin != sent.origin:
                continue  # it was acquired again meanwhile
            if kind == AcknowledgeType.RENEW and error is None:
                self._move(held, Stage.RENEWED)
            else:
                self._forget(key, offset)

    # Ctrl-C may come at any call: what belongs together is changed between two of them.

    def _mark(self, key: Key, offset: int, held: _Held, kind: AcknowledgeType) -> None:
        self._marked.setdefault(key, set()).add(offset)  # counts from the moment at which its stage says so
        is_new = held.stage is Stage.DELIVERED
        self._move(held, Stage.MARKED)
        held.type = kind
        if is_new:
            self._unmarked -= 1

    def _forget(self, key: Key, offset: int) -> None:
        offsets = self._held[key]
        if offsets[offset].stage is Stage.DELIVERED:
            self._unmarked -= 1
        del offsets[offset]
        marked = self._marked.get(key)
        if marked is not None:
            marked.discard(offset)
            if not marked:
                self._marked.pop(key, None)
        if not offsets:
            self._held.pop(key, None)

    @staticmethod
    def _move(held: _Held, stage: Stage) -> None:
        if stage not in MOVES[held.stage]:
            raise StateError(f"a record can't go from {held.stage.value} to {stage.value}")
        held.stage = stage


def runs(types: Mapping[int, int]) -> list[tuple[int, int, int]]:
    """Offsets with their types as ranges of neighbours with the same type: (first, last, type), in order."""
    found: list[tuple[int, int, int]] = []
    for offset in sorted(types):
        kind = int(types[offset])
        if found and found[-1][1] == offset - 1 and found[-1][2] == kind:
            found[-1] = (found[-1][0], offset, kind)
        else:
            found.append((offset, offset, kind))
    return found
