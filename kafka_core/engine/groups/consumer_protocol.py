"""The bytes that members of a classic group exchange through the coordinator: subscriptions and assignments.

Must not know states or requests: values in, bytes out, and back.
Spec: ConsumerProtocolSubscription/Assignment v0-v3 (KIP-429 owned partitions, KIP-792 generation, KIP-881 rack), each
behind a two-byte version; user data of the sticky assignor: [topic [partitions]] generation, as org.apache.kafka's
StickyAssignor writes it.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Sequence
from typing import Final

from kafka_core.engine.consuming.subscription import Key
from kafka_core.engine.groups.assignors import GroupMember
from kafka_core.errors import ProtocolError
from kafka_core.protocol import Buffer, decode, encode_bytes
from kafka_core.protocol.messages import consumer_protocol_assignment as assignment_messages
from kafka_core.protocol.messages import consumer_protocol_subscription as subscription_messages
from kafka_core.protocol.messages.consumer_protocol_assignment import ConsumerProtocolAssignment
from kafka_core.protocol.messages.consumer_protocol_subscription import ConsumerProtocolSubscription

SUBSCRIPTION_VERSION: Final = 3
ASSIGNMENT_VERSION: Final = 3
PROTOCOL_TYPE: Final = "consumer"
VERSION: Final = struct.Struct(">h")
COUNT: Final = struct.Struct(">i")


def grouped(keys: Iterable[Key]) -> dict[str, list[int]]:
    """Partitions by topic, both sorted."""
    topics: dict[str, list[int]] = {}
    for topic, partition in sorted(keys):
        topics.setdefault(topic, []).append(partition)
    return topics


def encode_subscription(
    topics: Iterable[str], owned: Iterable[Key], generation: int, rack: str | None, *, assignor: str
) -> bytes:
    """What a member says of itself when it joins, for one of its assignors.

    Only a cooperative member names its partitions as owned; an eager one has given them up, and the sticky assignor
    finds them in the user data.
    """
    cooperative = assignor == "cooperative-sticky"
    keys = sorted(owned)
    user_data = None
    if cooperative:
        user_data = COUNT.pack(generation)
    elif assignor == "sticky":
        user_data = encode_sticky(keys, generation)
    message = ConsumerProtocolSubscription(
        topics=sorted(topics),
        user_data=user_data,
        owned_partitions=[
            subscription_messages.TopicPartition(topic=topic, partitions=found)
            for topic, found in grouped(keys if cooperative else ()).items()
        ],
        generation_id=generation,
        rack_id=rack,
    )
    return VERSION.pack(SUBSCRIPTION_VERSION) + encode_bytes(message, SUBSCRIPTION_VERSION)


def decode_subscription(data: Buffer, member_id: str, instance_id: str | None, *, assignor: str) -> GroupMember:
    """A member as the leader's assignor sees it.

    Raises:
        ProtocolError: the bytes are no subscription.
    """
    version, body = split_version(data, SUBSCRIPTION_VERSION, f"subscription of member {member_id}")
    message = decode(ConsumerProtocolSubscription, version, body, exact=False)
    owned: Sequence[Key] = [(item.topic, number) for item in message.owned_partitions for number in item.partitions]
    generation = message.generation_id
    if assignor == "sticky" and message.user_data:
        owned, generation = decode_sticky(message.user_data)
    elif generation < 0 and message.user_data is not None and len(message.user_data) >= COUNT.size:
        generation = COUNT.unpack_from(message.user_data)[0] if assignor == "cooperative-sticky" else -1
    return GroupMember(member_id, frozenset(message.topics), instance_id, tuple(owned), generation, message.rack_id)


def split_version(data: Buffer, newest: int, what: str) -> tuple[int, memoryview]:
    """The version in front, at most the newest we know (later ones only add fields at the end), and the rest."""
    view = memoryview(data)
    if len(view) < VERSION.size:
        raise ProtocolError(f"the {what} is only {len(view)} bytes long")
    version = VERSION.unpack_from(view)[0]
    if version < 0:
        raise ProtocolError(f"the {what} has version {version}")
    return min(version, newest), view[VERSION.size :]


def encode_assignment(keys: Iterable[Key]) -> bytes:
    """What the leader hands to one member."""
    message = ConsumerProtocolAssignment(
        assigned_partitions=[
            assignment_messages.TopicPartition(topic=topic, partitions=found) for topic, found in grouped(keys).items()
        ]
    )
    return VERSION.pack(ASSIGNMENT_VERSION) + encode_bytes(message, ASSIGNMENT_VERSION)


def decode_assignment(data: Buffer) -> frozenset[Key]:
    """What this member was given; no bytes mean no partitions.

    Raises:
        ProtocolError: the bytes are no assignment.
    """
    if not len(data):
        return frozenset()
    version, body = split_version(data, ASSIGNMENT_VERSION, "assignment")
    message = decode(ConsumerProtocolAssignment, version, body, exact=False)
    return frozenset((item.topic, number) for item in message.assigned_partitions for number in item.partitions)


def encode_sticky(keys: Iterable[Key], generation: int) -> bytes:
    """User data of the `sticky` assignor, version 1."""
    topics = grouped(keys)
    parts = [COUNT.pack(len(topics))]
    for topic, numbers in topics.items():
        name = topic.encode()
        parts += [VERSION.pack(len(name)), name, COUNT.pack(len(numbers)), *map(COUNT.pack, numbers)]
    return b"".join([*parts, COUNT.pack(generation)])


def decode_sticky(data: Buffer) -> tuple[list[Key], int]:
    """Owned partitions and generation (-1 in version 0); what can't be read counts as nothing owned."""
    view, position, keys = memoryview(data), COUNT.size, []
    try:
        for _ in range(COUNT.unpack_from(view)[0]):
            size = VERSION.unpack_from(view, position)[0]
            topic = bytes(view[position + VERSION.size : position + VERSION.size + size]).decode()
            position += VERSION.size + size
            count = COUNT.unpack_from(view, position)[0]
            numbers = struct.unpack_from(f">{max(count, 0)}i", view, position + COUNT.size)
            position += COUNT.size * (1 + len(numbers))
            keys += [(topic, number) for number in numbers]
        generation = COUNT.unpack_from(view, position)[0] if len(view) >= position + COUNT.size else -1
    except (struct.error, UnicodeDecodeError, MemoryError, OverflowError):
        return [], -1
    return keys, generation
