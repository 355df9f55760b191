"""The asyncio clients, native: no thread pool, everything on the caller's event loop. Names of confluent_kafka.aio."""

from kafka_core.aio.administering.admin import AIOAdminClient
from kafka_core.aio.consuming.consumer import AIOConsumer
from kafka_core.aio.producing.producer import AIOProducer
from kafka_core.aio.sharing.consumer import AIOShareConsumer

__all__ = ["AIOAdminClient", "AIOConsumer", "AIOProducer", "AIOShareConsumer"]
