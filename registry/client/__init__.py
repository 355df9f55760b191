"""Clients of the registry: `SchemaRegistryClient`, which blocks, and `AsyncSchemaRegistryClient` for asyncio.

They are imported at their first use, and with them the HTTP library.
"""

from typing import TYPE_CHECKING, Final

from kserdes_base.lazy import public_names

if TYPE_CHECKING:
    from registry.client.aio import AsyncSchemaRegistryClient
    from registry.client.blocking import SchemaRegistryClient

__all__ = ["AsyncSchemaRegistryClient", "SchemaRegistryClient"]

HOMES: Final = {
    "registry.client.aio": ("AsyncSchemaRegistryClient",),
    "registry.client.blocking": ("SchemaRegistryClient",),
}

if not TYPE_CHECKING:  # type checkers read the imports above, and know a misspelt name
    __getattr__, __dir__ = public_names(__name__, HOMES)
