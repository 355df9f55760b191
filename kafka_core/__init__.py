"""kafka_core: a Kafka client with the names of confluent_kafka, its own protocol implementation and compiled hot loops.

Holds the public names and nothing else. asyncio clients: `kafka_core.aio`; administration: `kafka_core.admin`; the
embedded broker: `kafka_core.broker`.
"""

from kafka_core.errors import (
    AuthError,
    BrokerError,
    ConfigError,
    ConsumeError,
    CorruptRecordError,
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
from kafka_core.model import (
    OFFSET_BEGINNING,
    OFFSET_END,
    OFFSET_INVALID,
    OFFSET_STORED,
    TIMESTAMP_CREATE_TIME,
    TIMESTAMP_LOG_APPEND_TIME,
    TIMESTAMP_NOT_AVAILABLE,
    ConsumerGroupState,
    ConsumerGroupTopicPartitions,
    ConsumerGroupType,
    ElectionType,
    IsolationLevel,
    Node,
    ThrottleEvent,
    TopicCollection,
    TopicPartition,
    TopicPartitionInfo,
    Uuid,
)
from kafka_core.sync.consumer import Consumer
from kafka_core.sync.producer import Producer
from kafka_core.version import libversion, version

__all__ = [
    "OFFSET_BEGINNING",
    "OFFSET_END",
    "OFFSET_INVALID",
    "OFFSET_STORED",
    "TIMESTAMP_CREATE_TIME",
    "TIMESTAMP_LOG_APPEND_TIME",
    "TIMESTAMP_NOT_AVAILABLE",
    "AuthError",
    "BrokerError",
    "ConfigError",
    "ConsumeError",
    "Consumer",
    "ConsumerGroupState",
    "ConsumerGroupTopicPartitions",
    "ConsumerGroupType",
    "CorruptRecordError",
    "ElectionType",
    "IsolationLevel",
    "KafkaError",
    "KafkaException",
    "Message",
    "NetworkError",
    "Node",
    "ProduceError",
    "Producer",
    "ProtocolError",
    "StateError",
    "ThrottleEvent",
    "TopicCollection",
    "TopicPartition",
    "TopicPartitionInfo",
    "UnknownCodecError",
    "UnsupportedVersionError",
    "Uuid",
    "libversion",
    "version",
]
