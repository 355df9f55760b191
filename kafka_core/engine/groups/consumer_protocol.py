"""The bytes that members of a classic group exchange through the coordinator: subscriptions and assignments.

Must not know states or requests: values in, bytes out, and back.
Spec: ConsumerProtocolSubscription/Assignment v0-v3 (KIP-429 owned partitions, KIP-792 generation, KIP-881 rack), each
behind a two-byte version; user data of the sticky assignor: [topic [partitions]] generation, as org.apache.kafka's
StickyAssignor writes it.
"""

from __future__ import annotations

import contextlib
import logging
import struct
from collections.abc import Iterable, Sequence
from typing import Final

from kafka_core.engine.consuming.subscription import Key
from kafka_core.engine.groups.assignors import GroupMember, OwnAssignor
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
STICKY_VERSION: Final = VERSION.pack(1)
logger: Final = logging.getLogger("kafka_core.consumer")


def grouped(keys: Iterable[Key]) -> dict[str, list[int]]:
    """Partitions by topic, both sorted."""
    topics: dict[str, list[int]] = {}
    for topic, partition in sorted(keys):
        topics.setdefault(topic, []).append(partition)
    return topics


def encode_subscription(
    topics: Iterable[str],
    owned: Iterable[Key],
    generation: int,
    rack: str | None,
    *,
    assignor: str,
    own: OwnAssignor | None = None,
) -> bytes:
    """A member's subscription when it joins, for one of its assignors.

    Only a cooperative member names its partitions as owned; an eager one has given them up, and the sticky assignor
    finds them in the user data. An application's own assignor says itself what stands there.
    """
    cooperative = assignor == "cooperative-sticky" if own is None else own.cooperative
    keys = sorted(owned)
    user_data = None
    if own is not None:
        user_data = own.user_data(frozenset(topics))
    elif cooperative:
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
        rack_id=rack or None,
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
        try:
            owned, generation = decode_sticky(message.user_data)
        except ProtocolError as error:  # as Java's leader does: the member is only no longer known to own anything
            logger.warning("member %s: %s", member_id, error)
            owned, generation = (), -1
    elif generation < 0 and message.user_data is not None and len(message.user_data) >= COUNT.size:
        generation = COUNT.unpack_from(message.user_data)[0] if assignor == "cooperative-sticky" else -1
    rack = message.rack_id or None
    user_data = bytes(message.user_data or b"")
    return GroupMember(member_id, frozenset(message.topics), instance_id, tuple(owned), generation, rack, user_data)


def split_version(data: Buffer, newest: int, what: str) -> tuple[int, memoryview]:
    """The version in front, at most the newest we know (later ones only add fields at the end), and the rest."""
    view = memoryview(data)
    if len(view) < VERSION.size:
        raise ProtocolError(f"the {what} is only {len(view)} bytes long")
    version = VERSION.unpack_from(view)[0]
    if version < 0:
        raise ProtocolError(f"the {what} has version {version}")
    return min(version, newest), view[VERSION.size :]


def encode_assignment(keys: Iterable[Key], user_data: bytes = b"") -> bytes:
    """The assignment that the leader gives to one member."""
    message = ConsumerProtocolAssignment(
        assigned_partitions=[
            assignment_messages.TopicPartition(topic=topic, partitions=found) for topic, found in grouped(keys).items()
        ],
        user_data=user_data or None,
    )
    return VERSION.pack(ASSIGNMENT_VERSION) + encode_bytes(message, ASSIGNMENT_VERSION)


def decode_assignment(data: Buffer) -> frozenset[Key]:
    """The assignment of this member; no bytes mean no partitions.

    Raises:
        ProtocolError: the bytes are no assignment.
    """
    return decode_share(data)[0]


def decode_share(data: Buffer) -> tuple[frozenset[Key], bytes]:
    """As `decode_assignment`, and what the leader's assignor says to the member's.

    Raises:
        ProtocolError: the bytes are no assignment.
    """
    if not len(data):
        return frozenset(), b""
    version, body = split_version(data, ASSIGNMENT_VERSION, "assignment")
    message = decode(ConsumerProtocolAssignment, version, body, exact=False)
    keys = frozenset((item.topic, number) for item in message.assigned_partitions for number in item.partitions)
    return keys, bytes(message.user_data or b"")


def encode_sticky(keys: Iterable[Key], generation: int) -> bytes:
    """User data of the `sticky` assignor, version 1: what a member has, and since which generation."""
    topics: dict[str, list[int]] = {}
    for topic, number in keys:
        topics.setdefault(topic, []).append(number)
    parts = [COUNT.pack(len(topics))]
    for topic, numbers in topics.items():
        name = topic.encode()
        parts += [VERSION.pack(len(name)), name, COUNT.pack(len(numbers)), *map(COUNT.pack, numbers)]
    return b"".join([*parts, COUNT.pack(generation)])


def decode_sticky(data: Buffer) -> tuple[list[Key], int]:
    """Owned partitions and generation, which is -1 in version 0: that ends without one.

    kafka-python 3.0 writes the version in front, which nobody else does: 65,536 topics and more, to all others.

    Raises:
        ProtocolError: the bytes are no user data of the sticky assignor.
    """
    view = memoryview(data)
    try:
        return _sticky(view)
    except (struct.error, ValueError) as error:
        if view[: VERSION.size] == STICKY_VERSION:
            with contextlib.suppress(struct.error, ValueError):
                return _sticky(view[VERSION.size :])
        raise ProtocolError(f"the user data of the sticky assignor can't be read: {error}") from error


def _sticky(view: memoryview) -> tuple[list[Key], int]:
    keys: list[Key] = []
    topics, position = _size(COUNT, view, 0)
    for _ in range(topics):
        size, position = _size(VERSION, view, position)
        topic = bytes(view[position : position + size]).decode()
        count, position = _size(COUNT, view, position + size)
        keys += [(topic, number) for number in struct.unpack_from(f">{count}i", view, position)]
        position += COUNT.size * count
    generation: int = COUNT.unpack_from(view, position)[0] if position < len(view) else -1
    return keys, generation


def _size(form: struct.Struct, view: memoryview, position: int) -> tuple[int, int]:
    """A length or count and where it ends. A negative one would lead backwards, to the same bytes again and again."""
    size: int = form.unpack_from(view, position)[0]
    if size < 0:
        raise ValueError(f"a length of {size} at byte {position}")
    return size, position + form.size
