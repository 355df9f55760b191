"""The registry inside this process that a `mock://` URL stands for.

Must not know httpx, nor what a registry answers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from registry.client.config import ClientConfig

if TYPE_CHECKING:
    from registry.dev.server.embedded import EmbeddedRegistry


def mock_registry(config: ClientConfig) -> EmbeddedRegistry | None:
    """The in-process registry of a `mock://name` URL, None for a real registry."""
    if config.mock_name is None:
        return None
    from registry.dev.server.embedded import shared  # nobody else needs an embedded registry

    return shared(config.mock_name, compares=not config.mock_is_own)
