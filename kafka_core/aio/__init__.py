"""The asyncio clients, native: no thread pool, everything on the caller's event loop. Names of confluent_kafka.aio."""

from kafka_core.aio.admin import AIOAdminClient
from kafka_core.aio.consumer import AIOConsumer
from kafka_core.aio.producer import AIOProducer

__all__ = ["AIOAdminClient", "AIOConsumer", "AIOProducer"]
