"""Clients of the registry: blocking (`SchemaRegistryClient`) and asyncio (`AsyncSchemaRegistryClient`).

They are imported at their first use, and with them the HTTP library.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from registry.client.aio import AsyncSchemaRegistryClient
    from registry.client.blocking import SchemaRegistryClient

__all__ = ["AsyncSchemaRegistryClient", "SchemaRegistryClient"]

HOMES = {"AsyncSchemaRegistryClient": "registry.client.aio", "SchemaRegistryClient": "registry.client.blocking"}


def __getattr__(name: str) -> Any:
    if name in HOMES:
        import importlib

        return getattr(importlib.import_module(HOMES[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
