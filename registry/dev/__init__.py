"""An embedded schema registry for development and tests: in process, or served over HTTP.

Must not be needed by the client for real registries. See `handlers` for the API and `store` for the state.
"""

from registry.dev.mounts import EmbeddedRegistry, InProcessTransport, RegistryServer, serve, shared

__all__ = ["EmbeddedRegistry", "InProcessTransport", "RegistryServer", "serve", "shared"]
