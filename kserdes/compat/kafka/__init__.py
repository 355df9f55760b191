"""The dialect of kafka-python 3.0: its names on our clients.

    from kserdes.compat.kafka import KafkaConsumer, KafkaProducer

or, for code that says `import kafka`, `kserdes.compat.confluent.install()` before its first import. Must not hold
any protocol; docs/guide/migrating-kafka-python.md says what differs. Every name is imported at its first use (PEP 562).
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from kserdes_base.lazy import public_names

if TYPE_CHECKING:
    from kserdes.compat.kafka.admin.client import IsolationLevel, KafkaAdminClient, OffsetSpec
    from kserdes.compat.kafka.consumer import KafkaConsumer
    from kserdes.compat.kafka.listener import AsyncConsumerRebalanceListener, ConsumerRebalanceListener
    from kserdes.compat.kafka.producer import KafkaProducer
    from kserdes.compat.kafka.serializer import DefaultSerializer, Deserializer, JsonSerializer, Serializer
    from kserdes.compat.kafka.structs import (
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
    "kserdes.compat.kafka.admin.client": (
        "IsolationLevel",
        "KafkaAdminClient",
        "OffsetSpec",
    ),
    "kserdes.compat.kafka.consumer": ("KafkaConsumer",),
    "kserdes.compat.kafka.listener": (
        "AsyncConsumerRebalanceListener",
        "ConsumerRebalanceListener",
    ),
    "kserdes.compat.kafka.producer": ("KafkaProducer",),
    "kserdes.compat.kafka.serializer": (
        "DefaultSerializer",
        "Deserializer",
        "JsonSerializer",
        "Serializer",
    ),
    "kserdes.compat.kafka.structs": (
        "ConsumerGroupMetadata",
        "OffsetAndMetadata",
        "TopicPartition",
        "TopicPartitionReplica",
    ),
}

if not TYPE_CHECKING:  # type checkers read the imports above, and know a misspelt name
    __getattr__, __dir__ = public_names(__name__, HOMES, ())
