"""The dialect of kafka-python 0.9.5: SimpleProducer, SimpleConsumer and their like, on today's brokers.

    from kserdes.compat.simple import KafkaClient, SimpleConsumer, SimpleProducer
    client = KafkaClient("localhost:9092")
    SimpleProducer(client).send_messages(b"my-topic", b"some message")

Modules have the names that they had under `kafka`. No protocol is in them: `kafka_core`'s public clients do all work.
What is different stands in docs/guide/migrating-simple.md. New code should use `kafka_core` itself.
"""

from kserdes.compat.simple.client import KafkaClient
from kserdes.compat.simple.conn import KafkaConnection
from kserdes.compat.simple.consumer import KafkaConsumer, MultiProcessConsumer, SimpleConsumer
from kserdes.compat.simple.partitioner import HashedPartitioner, Murmur2Partitioner, RoundRobinPartitioner
from kserdes.compat.simple.producer import KeyedProducer, SimpleProducer
from kserdes.compat.simple.protocol import create_gzip_message, create_message, create_snappy_message

__all__ = [
    "HashedPartitioner",
    "KafkaClient",
    "KafkaConnection",
    "KafkaConsumer",
    "KeyedProducer",
    "MultiProcessConsumer",
    "Murmur2Partitioner",
    "RoundRobinPartitioner",
    "SimpleConsumer",
    "SimpleProducer",
    "create_gzip_message",
    "create_message",
    "create_snappy_message",
]
