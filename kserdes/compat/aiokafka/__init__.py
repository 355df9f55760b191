"""The dialect of aiokafka 0.14: its clients on ours, native on asyncio, without a thread.

Holds the public names. `kserdes.compat.confluent.install()` makes `import aiokafka` give them;
docs/guide/migrating-aiokafka.md says what behaves differently.
"""

from kserdes.compat.aiokafka.client import AIOKafkaClient
from kserdes.compat.aiokafka.consumer import AIOKafkaConsumer
from kserdes.compat.aiokafka.errors import ConsumerStoppedError, IllegalOperation
from kserdes.compat.aiokafka.interfaces import ConsumerRebalanceListener
from kserdes.compat.aiokafka.producer import AIOKafkaProducer
from kserdes.compat.aiokafka.structs import ConsumerRecord, OffsetAndMetadata, OffsetAndTimestamp, TopicPartition

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
