"""A consumer's configuration as the values that its parts want, and checks of what users hand to its methods.

Must not know the core: properties and arguments in, values out.
Spec: the configuration table (config_table.py); confluent_kafka.Consumer for arguments.
"""

from __future__ import annotations

import base64
import random
from collections.abc import Iterable, Mapping, Sequence
from operator import index
from typing import Any, Final
from uuid import UUID

from kafka_core.aio.consuming.events import Callbacks
from kafka_core.config import Config
from kafka_core.engine.consuming.fetch_queue import Marks
from kafka_core.engine.consuming.fetcher import RESETS, FetchSettings
from kafka_core.engine.groups import assignors
from kafka_core.engine.groups.states import GroupSettings
from kafka_core.errors import KafkaError, KafkaException
from kafka_core.model import OFFSET_INVALID, TopicPartition

KIB: Final = 1024
MAX_CONSUME: Final = 1_000_000


def check_count(num_messages: int) -> None:
    """TypeError or ValueError unless so many messages can be asked for at once."""
    index(num_messages)
    if not 0 <= num_messages <= MAX_CONSUME:
        raise ValueError("num_messages must be between 0 and 1000000 (1M)")


def checked(partitions: Sequence[TopicPartition]) -> list[TopicPartition]:
    """A user's list of partitions; TypeError if it is none."""
    wanted: object = partitions  # callers in untyped code hand in anything
    if isinstance(wanted, Mapping) or not isinstance(wanted, Iterable):
        raise TypeError("expected list of TopicPartition")
    items = list(wanted)
    if not all(isinstance(item, TopicPartition) for item in items):
        raise TypeError("expected list of TopicPartition")
    return items


def check_partition(partition: object) -> None:
    """TypeError if it is no TopicPartition."""
    if not isinstance(partition, TopicPartition):
        raise TypeError(f"expected TopicPartition, not {type(partition).__name__}")


def chosen(message: Any, partitions: Sequence[TopicPartition] | None, doing: str) -> list[TopicPartition] | None:
    """The partitions given to commit() or store_offsets(): of a message (its offset + 1), or named; None for neither.

    A message without an offset gives OFFSET_INVALID, which is not committed.

    Raises:
        ValueError: both are given.
        TypeError: it is no message.
        KafkaException: _INVALID_ARG, the message carries an error or no partition.
    """
    if message is not None and partitions is not None:
        raise ValueError("message and offsets are mutually exclusive")
    if message is None:
        return None if partitions is None else checked(partitions)
    if not callable(getattr(message, "leader_epoch", None)):
        raise TypeError(f"expected a Message, not {type(message).__name__}")
    if (error := message.error()) is not None:
        text = f"Cannot {doing} offsets for message with error: {error.str()!r}"
        raise KafkaException(KafkaError(KafkaError._INVALID_ARG, text))
    topic, partition, offset = message.topic(), message.partition(), message.offset()
    if topic is None or partition is None:
        text = f"Cannot {doing} offsets for a message that has no topic or partition: it was not consumed"
        raise KafkaException(KafkaError(KafkaError._INVALID_ARG, text))
    item = TopicPartition(topic, partition, OFFSET_INVALID if offset is None or offset < 0 else offset + 1)
    item.leader_epoch = message.leader_epoch()
    return [item]


def callbacks_of(config: Config) -> Callbacks:
    """The consumer's callbacks in the configuration but for those of a subscription; None where there is none."""
    return Callbacks(
        config.callback("error_cb"),
        config.callback("stats_cb"),
        config.callback("throttle_cb"),
        config.callback("on_commit"),
        config.callback("on_truncation"),
    )


def marks(config: Config) -> Marks:
    """The bounds of the fetch queue: `queued.min.messages`, and `queued.max.messages.kbytes` in bytes."""
    return Marks(config.integer("queued.min.messages"), config.integer("queued.max.messages.kbytes") * KIB)


def fetch_settings(config: Config) -> FetchSettings:
    """The properties that shape fetches."""
    return FetchSettings(
        max_wait_ms=config.integer("fetch.wait.max.ms"),
        min_bytes=config.integer("fetch.min.bytes"),
        max_bytes=config.integer("fetch.max.bytes"),
        partition_max_bytes=config.integer("max.partition.fetch.bytes"),
        read_committed=config.text("isolation.level") == "read_committed",
        check_crcs=config.flag("check.crcs"),
        partition_eof=config.flag("enable.partition.eof"),
        reset=RESETS[config.text("auto.offset.reset")],
        rack=config.optional_text("client.rack") or "",
    )


def group_settings(config: Config) -> GroupSettings:
    """The properties that shape the membership."""
    classic = config.text("group.protocol") == "classic"
    return GroupSettings(
        group_id=config.text("group.id"),
        assignors=_assignors(config) if classic else (),
        instance_id=config.optional_text("group.instance.id"),
        session_timeout_s=config.seconds("session.timeout.ms"),
        heartbeat_interval_s=config.seconds("heartbeat.interval.ms"),
        max_poll_interval_s=config.seconds("max.poll.interval.ms"),
        request_timeout_s=config.seconds("socket.timeout.ms"),
        rack=config.optional_text("client.rack"),
        topic_patience_s=config.seconds("topic.metadata.propagation.max.ms"),
        remote_assignor=None if classic else config.optional_text("group.remote.assignor"),
    )


def _assignors(config: Config) -> tuple[assignors.Assignor, ...]:
    own: Any = config["partition.assignors"]
    return assignors.choose_own(own) if own else assignors.choose(config.names("partition.assignment.strategy"))


def new_member_id(rng: random.Random) -> str:
    """A consumer's member id (KIP-1082): a random UUID in URL-safe base64, 22 characters."""
    made = UUID(int=rng.getrandbits(128), version=4)
    return base64.urlsafe_b64encode(made.bytes).decode().rstrip("=")
