"""The asyncio client of the registry, `AsyncSchemaRegistryClient`."""

from registry.client.aio import AsyncSchemaRegistryClient

__all__ = ["AsyncSchemaRegistryClient"]
