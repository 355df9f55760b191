"""Arguments and results of KafkaConsumer, checked and converted: configuration, deserializers, offsets.

Must not know consumers.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from kserdes.compat.kafka import errors
from kserdes.compat.kafka.structs import OffsetAndMetadata, TopicPartition

__all__ = ["are_offsets", "as_offsets", "check", "deserializing", "epoch_of"]


def as_offsets(positions: Mapping[TopicPartition, int]) -> dict[TopicPartition, OffsetAndMetadata]:
    """Positions as commits."""
    return {place: OffsetAndMetadata(at, "", -1) for place, at in positions.items()}


def epoch_of(given: OffsetAndMetadata) -> int | None:
    """The leader's epoch, if one is given."""
    return given.leader_epoch if given.leader_epoch is not None and given.leader_epoch >= 0 else None


def are_offsets(given: Any) -> bool:
    """Whether something is a dict of TopicPartition to OffsetAndMetadata."""
    return isinstance(given, Mapping) and all(
        isinstance(place, TopicPartition) and isinstance(each, OffsetAndMetadata) for place, each in given.items()
    )


def check(config: Mapping[str, Any]) -> None:
    """Refuses what contradicts itself."""
    if config["isolation_level"] not in ("read_uncommitted", "read_committed"):
        raise errors.KafkaConfigurationError("Unrecognized isolation_level")
    if config["group_instance_id"] is not None and config["group_id"] is None:
        raise errors.KafkaConfigurationError("group_instance_id requires group_id")
    idle, request, fetch = (
        config[f"{name}_ms"] for name in ("connections_max_idle", "request_timeout", "fetch_max_wait")
    )
    if not fetch < request < idle:
        raise errors.KafkaConfigurationError(
            f"connections_max_idle_ms ({idle}) must be larger than request_timeout_ms ({request}) which must be larger "
            f"than fetch_max_wait_ms ({fetch})."
        )


def deserializing(given: Any) -> Callable[[Any, Any, Any], Any] | None:
    """A deserializer or a function as one kind of call; nulls stay nulls for a function."""
    if given is None:
        return None
    if callable(getattr(given, "deserialize", None)):
        return lambda topic, headers, data: given.deserialize(topic, headers, data)
    if not callable(given):
        raise TypeError(f"a deserializer is a function or has deserialize(), which {given!r} has not")
    return lambda topic, headers, data: given(data)
