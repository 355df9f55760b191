"""The dialect of kafka-python 3.0: its names on our clients.

    from kafka_core.compat.kafka import KafkaConsumer, KafkaProducer

or, for code that says `import kafka`, `kafka_core.compat.confluent.install()` before its first import. Must not hold
any protocol; docs/guide/migrating-kafka-python.md says what differs. Every name is imported at its first use (PEP 562).
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from kserdes_config.lazy import public_names

if TYPE_CHECKING:
    from kafka_core.compat.kafka.admin import IsolationLevel, KafkaAdminClient, OffsetSpec
    from kafka_core.compat.kafka.consumer import KafkaConsumer
    from kafka_core.compat.kafka.listener import AsyncConsumerRebalanceListener, ConsumerRebalanceListener
    from kafka_core.compat.kafka.producer import KafkaProducer
    from kafka_core.compat.kafka.serializer import DefaultSerializer, Deserializer, JsonSerializer, Serializer
    from kafka_core.compat.kafka.structs import (
        ConsumerGroupMetadata,
        OffsetAndMetadata,
        TopicPartition,
        TopicPartitionReplica,
    )

__all__ = [
    "AsyncConsumerRebalanceListener",
    "ConsumerGroupMetadata",
    "ConsumerRebalanceListener",
    "DefaultSerializer",
    "Deserializer",
    "IsolationLevel",
    "JsonSerializer",
    "KafkaAdminClient",
    "KafkaConsumer",
    "KafkaProducer",
    "OffsetAndMetadata",
    "OffsetSpec",
    "Serializer",
    "TopicPartition",
    "TopicPartitionReplica",
]

HOMES: Final[Mapping[str, tuple[str, ...]]] = {
    "kafka_core.compat.kafka.admin": (
        "IsolationLevel",
        "KafkaAdminClient",
        "OffsetSpec",
    ),
    "kafka_core.compat.kafka.consumer": ("KafkaConsumer",),
    "kafka_core.compat.kafka.listener": (
        "AsyncConsumerRebalanceListener",
        "ConsumerRebalanceListener",
    ),
    "kafka_core.compat.kafka.producer": ("KafkaProducer",),
    "kafka_core.compat.kafka.serializer": (
        "DefaultSerializer",
        "Deserializer",
        "JsonSerializer",
        "Serializer",
    ),
    "kafka_core.compat.kafka.structs": (
        "ConsumerGroupMetadata",
        "OffsetAndMetadata",
        "TopicPartition",
        "TopicPartitionReplica",
    ),
}

if not TYPE_CHECKING:  # type checkers read the imports above, and know a misspelt name
    __getattr__, __dir__ = public_names(__name__, HOMES, ())
