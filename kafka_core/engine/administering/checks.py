"""Arguments of administration calls: refused on the caller's side when they make no sense.

Must not know connections or the wire. TypeError and ValueError as confluent_kafka.admin raises them.
"""

from collections.abc import Mapping

from kafka_core.admin_model import NewPartitions, NewTopic, OffsetSpec, checked_list, unique
from kafka_core.engine.administering import topics as admin_topics
from kafka_core.model import ConsumerGroupState, ConsumerGroupTopicPartitions, ConsumerGroupType, TopicPartition


def check_new_topics(topics: object) -> list[NewTopic]:
    """The topics as a list; TypeError or ValueError when they make no sense."""
    found = checked_list(topics, NewTopic, "NewTopic objects")
    unique([topic.topic for topic in found], "topic")
    for topic in found:
        admin_topics.check_new_topic(topic)
    return found


def check_new_partitions(items: object) -> list[NewPartitions]:
    """The items as a list; TypeError or ValueError when they make no sense."""
    found = checked_list(items, NewPartitions, "NewPartitions objects")
    unique([item.topic for item in found], "topic")
    for item in found:
        check_count(item.new_total_count, f"{item.topic}: new_total_count")
        if item.new_total_count < 1:
            raise ValueError(f"{item.topic}: new_total_count must be at least 1")
    return found


def check_count(value: object, what: str) -> None:
    """TypeError or ValueError when it is no number that a request can carry."""
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError(f"{what} must be a whole number, not {type(value).__name__}")
    if not -(2**31) <= value < 2**31:
        raise ValueError(f"{what} is out of range: {value}")


def check_names(names: object, what: str) -> list[str]:
    """The names as a list; TypeError or ValueError when they make no sense."""
    return unique(checked_list(names, str, what), what.removesuffix("s"))


def check_filters(states: object, types: object) -> None:
    """TypeError when the filters are not sets of the enums."""
    for values, kind, name in ((states, ConsumerGroupState, "states"), (types, ConsumerGroupType, "types")):
        if not isinstance(values, set | frozenset | tuple | list) or not all(isinstance(item, kind) for item in values):
            raise TypeError(f"{name} must be a set of {kind.__name__}")


def check_group_offsets(request: object, *, offsets_needed: bool) -> dict[str, ConsumerGroupTopicPartitions]:
    """The groups by id; TypeError or ValueError when they make no sense."""
    found = checked_list(request, ConsumerGroupTopicPartitions, "ConsumerGroupTopicPartitions objects")
    unique([group.group_id for group in found], "group")
    for group in found:
        if not group.group_id:
            raise ValueError("a group id is empty")
        if group.topic_partitions is not None or offsets_needed:
            items = unique(checked_list(group.topic_partitions, TopicPartition, "TopicPartition objects"), "partition")
            for item in items:
                if item.partition < 0 or (offsets_needed and item.offset < 0):
                    raise ValueError(f"{item}: partition and offset must not be negative")
    return {group.group_id: group for group in found}


def check_offset_specs(specs: object) -> dict[TopicPartition, OffsetSpec]:
    """The partitions with what to look for; TypeError or ValueError when they make no sense."""
    if not isinstance(specs, Mapping):
        raise TypeError(f"expected a dict of TopicPartition and OffsetSpec, not {type(specs).__name__}")
    if not specs:
        raise ValueError("expected at least one partition")
    for partition, spec in specs.items():
        if not isinstance(partition, TopicPartition) or not isinstance(spec, OffsetSpec):
            raise TypeError("expected a dict of TopicPartition and OffsetSpec")
        if not partition.topic or partition.partition < 0:
            raise ValueError(f"{partition}: topic and partition must be given")
    return dict(specs)


def checked_timeout(value: float | None, name: str, default_s: float) -> float:
    """Seconds; the default for None. Raises TypeError or ValueError when it is no duration."""
    if value is None:
        return default_s
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise TypeError(f"{name} must be a number of seconds")
    if not 0 <= value <= 3600:
        raise ValueError(f"{name} must be from 0 to 3600 seconds, not {value}")
    return float(value)
