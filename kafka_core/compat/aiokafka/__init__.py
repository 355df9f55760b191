"""aiokafka 0.14's clients on ours: native on asyncio, without a thread.

Holds the public names. `kafka_core.compat.confluent.install()` makes `import aiokafka` give them;
docs/guide/migrating-aiokafka.md says what behaves differently.
"""

from kafka_core.compat.aiokafka.client import AIOKafkaClient
from kafka_core.compat.aiokafka.consumer import AIOKafkaConsumer
from kafka_core.compat.aiokafka.errors import ConsumerStoppedError, IllegalOperation
from kafka_core.compat.aiokafka.interfaces import ConsumerRebalanceListener
from kafka_core.compat.aiokafka.producer import AIOKafkaProducer
from kafka_core.compat.aiokafka.structs import ConsumerRecord, OffsetAndMetadata, OffsetAndTimestamp, TopicPartition

__all__ = [
    "AIOKafkaClient",
    "AIOKafkaConsumer",
    "AIOKafkaProducer",
    "ConsumerRebalanceListener",
    "ConsumerRecord",
    "ConsumerStoppedError",
    "IllegalOperation",
    "OffsetAndMetadata",
    "OffsetAndTimestamp",
    "TopicPartition",
]
