"""The asyncio clients, native: no thread pool, everything on the caller's event loop. Names of confluent_kafka.aio.

Each client is imported when it is first asked for (PEP 562): a producer needs nothing of consumers, groups and
administration.
"""

from typing import TYPE_CHECKING

from kserdes_base.lazy import public_names

if TYPE_CHECKING:
    from kafka_core.aio.administering.admin import AIOAdminClient
    from kafka_core.aio.consuming.consumer import AIOConsumer
    from kafka_core.aio.producing.producer import AIOProducer
    from kafka_core.aio.sharing.consumer import AIOShareConsumer

__all__ = ["AIOAdminClient", "AIOConsumer", "AIOProducer", "AIOShareConsumer"]

HOMES = {
    "kafka_core.aio.administering.admin": ("AIOAdminClient",),
    "kafka_core.aio.consuming.consumer": ("AIOConsumer",),
    "kafka_core.aio.producing.producer": ("AIOProducer",),
    "kafka_core.aio.sharing.consumer": ("AIOShareConsumer",),
}

if not TYPE_CHECKING:  # type checkers read the imports above, and know a misspelt name
    __getattr__, __dir__ = public_names(__name__, HOMES)
