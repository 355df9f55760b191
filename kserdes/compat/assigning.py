"""Assignors of a group as the dialects call them: partitions of a cluster shared out among members.

Must not know clients. The algorithms and the sticky assignor's user data (KIP-54) are the engine's, which the clients
run; here are the shapes of the packages, and whether an assignment moved partitions back and forth.
"""

from __future__ import annotations

import logging
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final, TypeVar

from kafka_core import ProtocolError
from kafka_core.engine.groups.assignors import ASSIGNORS, GroupMember
from kafka_core.engine.groups.consumer_protocol import decode_sticky, encode_sticky

__all__ = [
    "Counted",
    "GroupMember",
    "Movements",
    "Owned",
    "OwnedShare",
    "Shares",
    "bytes_of",
    "decode_owned",
    "encode_sticky",
    "group_member",
    "guarded",
    "shared",
    "sorted_shares",
]

logger: Final = logging.getLogger("kserdes.compat")
Owned = list[tuple[str, int]]
"""Topic and partition."""
OwnedShare = tuple[Owned, bytes]
"""The partitions that an application's assignor gives to a member, and the bytes for that member's assignor."""
T = TypeVar("T")
Shares = list[tuple[str, list[int]]]
"""Topics and their partitions, both sorted."""


def group_member(
    member_id: str,
    topics: Iterable[str],
    instance_id: str | None = None,
    owned: Iterable[tuple[str, int]] = (),
    generation: int = -1,
) -> GroupMember:
    """A member as the engine has it."""
    return GroupMember(member_id, frozenset(topics), instance_id, tuple(owned), generation)


def shared(name: str, cluster: Any, members: Iterable[GroupMember]) -> dict[str, Shares]:
    """Member id to its share.

    Args:
        name: of the assignor in the group's protocol.
        cluster: has `partitions_for_topic(topic)`; a topic of which that is None is left out, and logged.
        members: in whatever order.
    """
    found = list(members)
    numbers: dict[str, list[int]] = {}
    for topic in sorted({topic for member in found for topic in member.topics}):
        partitions = cluster.partitions_for_topic(topic)
        if partitions is None:
            logger.warning("no partitions of %s are known", topic)
        numbers[topic] = sorted(partitions or ())
    # The engine counts partitions from 0 on; so do topics, but a cluster that is given need not.
    places = {topic: {number: at for at, number in enumerate(each)} for topic, each in numbers.items()}
    counted = [
        group_member(
            each.member_id,
            each.topics,
            each.instance_id,
            [(topic, places[topic][number]) for topic, number in each.owned if number in places.get(topic, ())],
            each.generation,
        )
        for each in found
    ]
    plan = ASSIGNORS[name].assign(counted, {topic: len(each) for topic, each in numbers.items()}) if counted else {}
    shares: dict[str, Shares] = {}
    wanted = {member.member_id: member.topics for member in found}
    for member_id, keys in plan.items():
        grouped: dict[str, list[int]] = defaultdict(list)
        if name == "range":  # the packages' own lists a topic that is known, though a member gets nothing of it
            grouped.update(
                {topic: [] for topic in wanted[member_id] if cluster.partitions_for_topic(topic) is not None}
            )
        for topic, at in keys:
            grouped[topic].append(numbers[topic][at])
        shares[member_id] = [(topic, sorted(each)) for topic, each in sorted(grouped.items())]
    return shares


class Movements:
    """The partitions that an assignment took from one member and gave to another.

    Args:
        members: with the partitions they owned.
        shares: their partitions now.
    """

    def __init__(self, members: Iterable[GroupMember], shares: Mapping[str, Shares]) -> None:
        owners = {key: member.member_id for member in members for key in member.owned}
        self.pairs = {
            (topic, owners[topic, number], member_id)
            for member_id, share in shares.items()
            for topic, numbers in share
            for number in numbers
            if owners.get((topic, number), member_id) != member_id
        }

    def are_sticky(self) -> bool:
        """Whether no two members exchanged partitions of one topic."""
        return not any((topic, taker, giver) in self.pairs for topic, giver, taker in self.pairs)


def decode_owned(data: bytes) -> tuple[Owned, int]:
    """The partitions that a sticky assignor's member owned, and since which generation; none if data is unreadable."""
    try:
        return decode_sticky(data)
    except ProtocolError as error:
        logger.warning("a member's assignment is left out: %s", error)
        return [], -1


# ---- assignors of applications


class Counted:
    """The cluster as an assignor of an application is given it: topics and their partitions."""

    def __init__(self, counts: Mapping[str, int]) -> None:
        self._counts = {topic: count for topic, count in counts.items() if count}

    def topics(self, exclude_internal_topics: bool = True) -> set[str]:
        """The topics that members of the group want."""
        return {topic for topic in self._counts if not (exclude_internal_topics and topic.startswith("__"))}

    def partitions_for_topic(self, topic: str) -> set[int] | None:
        """Numbers of its partitions; None for a topic that is not there."""
        return set(range(self._counts[topic])) if topic in self._counts else None

    available_partitions_for_topic = partitions_for_topic


def bytes_of(user_data: Any) -> bytes:
    """An assignor's user data as bytes: it may be an object that encodes itself."""
    if user_data is None:
        return b""
    return bytes(user_data) if isinstance(user_data, bytes | bytearray | memoryview) else bytes(user_data.encode())


def sorted_shares(keys: Iterable[tuple[str, int]]) -> Shares:
    """Partitions by topic, both sorted."""
    grouped: dict[str, list[int]] = defaultdict(list)
    for topic, number in sorted(keys):
        grouped[topic].append(number)
    return list(grouped.items())


def guarded(name: str, call: Callable[[], T], otherwise: T) -> T:
    """Calls an application's assignor; if it raises, logs that and returns `otherwise`: the group goes on."""
    try:
        return call()
    except Exception:
        logger.exception("the assignor %r failed", name)
        return otherwise
