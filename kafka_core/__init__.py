"""kafka_core: a Kafka client with the names of confluent_kafka, its own protocol implementation and compiled hot loops.

Holds the public names and nothing else. asyncio clients: `kafka_core.aio`; administration: `kafka_core.admin`; the
embedded broker: `kafka_core.broker`. Every name is imported at its first use (PEP 562): who needs the errors only, as
`serdes.avro` does, loads no client.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from kserdes_base.lazy import public_names
from kserdes_base.version import (
    VERSION,
    libversion,
    version,
)

if TYPE_CHECKING:
    from kafka_core import admin as admin
    from kafka_core import aio as aio
    from kafka_core import broker as broker
    from kafka_core import errors as errors
    from kafka_core import kernels as kernels
    from kafka_core import model as model
    from kafka_core import sync as sync
    from kafka_core.errors import (
        AuthError,
        BrokerError,
        ConcurrentModificationException,
        ConfigError,
        ConsumeError,
        CorruptRecordError,
        IllegalStateException,
        KafkaError,
        KafkaException,
        NetworkError,
        ProduceError,
        ProtocolError,
        StateError,
        UnknownCodecError,
        UnsupportedVersionError,
    )
    from kafka_core.kernels import Message
    from kafka_core.listings import (
        ConsumerGroupState,
        ConsumerGroupTopicPartitions,
        ConsumerGroupType,
        ElectionType,
        TopicCollection,
        TopicPartitionInfo,
    )
    from kafka_core.model import (
        OFFSET_BEGINNING,
        OFFSET_END,
        OFFSET_INVALID,
        OFFSET_STORED,
        TIMESTAMP_CREATE_TIME,
        TIMESTAMP_LOG_APPEND_TIME,
        TIMESTAMP_NOT_AVAILABLE,
        AcknowledgeType,
        IsolationLevel,
        LogTruncation,
        Messages,
        Node,
        ThrottleEvent,
        TopicPartition,
        Uuid,
    )
    from kafka_core.partitioners import consistent, fnv1a, murmur2
    from kafka_core.sync.consumer import Consumer
    from kafka_core.sync.producer import Producer
    from kafka_core.sync.share_consumer import ShareConsumer

__version__: Final = VERSION

__all__ = [
    "OFFSET_BEGINNING",
    "OFFSET_END",
    "OFFSET_INVALID",
    "OFFSET_STORED",
    "TIMESTAMP_CREATE_TIME",
    "TIMESTAMP_LOG_APPEND_TIME",
    "TIMESTAMP_NOT_AVAILABLE",
    "AcknowledgeType",
    "AuthError",
    "BrokerError",
    "ConcurrentModificationException",
    "ConfigError",
    "ConsumeError",
    "Consumer",
    "ConsumerGroupState",
    "ConsumerGroupTopicPartitions",
    "ConsumerGroupType",
    "CorruptRecordError",
    "ElectionType",
    "IllegalStateException",
    "IsolationLevel",
    "KafkaError",
    "KafkaException",
    "LogTruncation",
    "Message",
    "Messages",
    "NetworkError",
    "Node",
    "ProduceError",
    "Producer",
    "ProtocolError",
    "ShareConsumer",
    "StateError",
    "ThrottleEvent",
    "TopicCollection",
    "TopicPartition",
    "TopicPartitionInfo",
    "UnknownCodecError",
    "UnsupportedVersionError",
    "Uuid",
    "consistent",
    "fnv1a",
    "libversion",
    "murmur2",
    "version",
]

HOMES: Final[Mapping[str, tuple[str, ...]]] = {
    "kafka_core.errors": (
        "AuthError",
        "BrokerError",
        "ConcurrentModificationException",
        "ConfigError",
        "ConsumeError",
        "CorruptRecordError",
        "IllegalStateException",
        "KafkaError",
        "KafkaException",
        "NetworkError",
        "ProduceError",
        "ProtocolError",
        "StateError",
        "UnknownCodecError",
        "UnsupportedVersionError",
    ),
    "kafka_core.kernels": ("Message",),
    "kafka_core.listings": (
        "ConsumerGroupState",
        "ConsumerGroupTopicPartitions",
        "ConsumerGroupType",
        "ElectionType",
        "TopicCollection",
        "TopicPartitionInfo",
    ),
    "kafka_core.model": (
        "OFFSET_BEGINNING",
        "OFFSET_END",
        "OFFSET_INVALID",
        "OFFSET_STORED",
        "TIMESTAMP_CREATE_TIME",
        "TIMESTAMP_LOG_APPEND_TIME",
        "TIMESTAMP_NOT_AVAILABLE",
        "AcknowledgeType",
        "IsolationLevel",
        "LogTruncation",
        "Messages",
        "Node",
        "ThrottleEvent",
        "TopicPartition",
        "Uuid",
    ),
    "kafka_core.partitioners": ("consistent", "fnv1a", "murmur2"),
    "kafka_core.sync.consumer": ("Consumer",),
    "kafka_core.sync.producer": ("Producer",),
    "kafka_core.sync.share_consumer": ("ShareConsumer",),
}
MODULES: Final = ("admin", "aio", "broker", "errors", "kernels", "model", "sync")
"""Modules that are there after `import kafka_core`, without an import of their own."""

if not TYPE_CHECKING:  # type checkers read the imports above, and know a misspelt name
    __getattr__, __dir__ = public_names(__name__, HOMES, MODULES)
