"""Assignors of a group as the dialects call them: partitions of a cluster shared out among members.

Must not know clients. The algorithms and the sticky assignor's user data (KIP-54) are the engine's, which the clients
run; here are the shapes of the packages, and whether an assignment moved partitions back and forth.
"""

from __future__ import annotations

import logging
from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Any, Final

from kafka_core.engine.groups.assignors import ASSIGNORS, GroupMember
from kafka_core.engine.groups.consumer_protocol import decode_sticky, encode_sticky
from kafka_core.errors import ProtocolError

__all__ = ["Movements", "Owned", "Shares", "decode_owned", "encode_sticky", "group_member", "shared"]

logger: Final = logging.getLogger("kafka_core.compat")
Owned = list[tuple[str, int]]
"""Topic and partition."""
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
    """Which partitions an assignment took from one member and gave to another.

    Args:
        members: with what they owned.
        shares: what they have now.
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
    """What a member of the sticky assignor owned, and since which generation; what can't be read counts as nothing."""
    try:
        return decode_sticky(data)
    except ProtocolError as error:
        logger.warning("a member's assignment is left out: %s", error)
        return [], -1
