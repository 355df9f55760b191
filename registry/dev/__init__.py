"""An embedded schema registry for development and tests: `EmbeddedRegistry` in this process, `serve()` over HTTP.

Must not be needed by the client for real registries. See `handlers` for the API and `state` for what it knows.
"""

from typing import TYPE_CHECKING, Final

from kserdes_base.lazy import public_names

if TYPE_CHECKING:
    from registry.dev.server.embedded import EmbeddedRegistry, shared
    from registry.dev.server.limits import Limits
    from registry.dev.server.serving import RegistryServer, serve
    from registry.dev.server.transport import InProcessTransport
    from registry.dev.state.storage import StorageError

__all__ = ["EmbeddedRegistry", "InProcessTransport", "Limits", "RegistryServer", "StorageError", "serve", "shared"]

HOMES: Final = {
    "registry.dev.server.embedded": ("EmbeddedRegistry", "shared"),
    "registry.dev.server.limits": ("Limits",),
    "registry.dev.server.serving": ("RegistryServer", "serve"),
    "registry.dev.server.transport": ("InProcessTransport",),
    "registry.dev.state.storage": ("StorageError",),
}

if not TYPE_CHECKING:  # type checkers read the imports above, and know a misspelt name
    __getattr__, __dir__ = public_names(__name__, HOMES)
