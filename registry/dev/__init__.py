"""An embedded schema registry for development and tests: in process, or served over HTTP.

Must not be needed by the client for real registries. See `handlers` for the API and `state` for what it knows.
"""

from registry.dev.server.mounts import EmbeddedRegistry, InProcessTransport, RegistryServer, serve, shared
from registry.dev.state.storage import StorageError

__all__ = ["EmbeddedRegistry", "InProcessTransport", "RegistryServer", "StorageError", "serve", "shared"]
