"""An embedded registry behind a socket: `serve()`.

Must not know what a request means (`registry.dev.handlers`). Needs the extra `server`; it listens on loopback unless
told otherwise.
"""

from __future__ import annotations

import ssl
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType

from registry.dev.server.embedded import EmbeddedRegistry
from registry.dev.server.limits import Limits


class RegistryServer:
    """An embedded registry behind a socket, on a thread of its own; use it in a `with` statement or close it.

    Made by `serve`, which documents the arguments.

    Attributes:
        registry: what it serves.
        url: where clients find it.
    """

    def __init__(
        self,
        registry: EmbeddedRegistry | None = None,
        host: str = "127.0.0.1",
        port: int = 0,
        *,
        auth: Mapping[str, str] | None = None,
        tls: ssl.SSLContext | tuple[str | Path, str | Path] | None = None,
        limits: Limits | None = None,
    ) -> None:
        try:
            from registry.dev.server.http import ServerThread
        except ImportError as error:
            raise ImportError(
                "serving a registry over HTTP needs Starlette and uvicorn: "
                "pip install starlette uvicorn (the extra 'server' of kserdes)"
            ) from error
        self.registry = EmbeddedRegistry() if registry is None else registry
        self._owned = registry is None
        self._thread = ServerThread(self.registry, host, port, auth, tls_context(tls), limits)
        scheme = "http" if tls is None else "https"
        shown = f"[{host}]" if ":" in host else host
        self.url = f"{scheme}://{shown}:{self._thread.port}"

    def __enter__(self) -> RegistryServer:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Stops listening; requests under way get two seconds. May be called again.

        A registry it made is closed too, one that was handed in is not.
        """
        self._thread.close()
        if self._owned:
            self.registry.close()


def tls_context(tls: ssl.SSLContext | tuple[str | Path, str | Path] | None) -> ssl.SSLContext | None:
    """The server's side of TLS.

    Raises:
        ValueError: the files can't be used.
    """
    if tls is None or isinstance(tls, ssl.SSLContext):
        return tls
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    try:
        context.load_cert_chain(*tls)
    except OSError as error:
        names = " and ".join(map(str, tls))
        raise ValueError(f"the certificate and key of the registry ({names}) can't be used: {error}") from error
    return context


def serve(
    registry: EmbeddedRegistry | None = None,
    host: str = "127.0.0.1",
    port: int = 0,
    *,
    auth: Mapping[str, str] | None = None,
    tls: ssl.SSLContext | tuple[str | Path, str | Path] | None = None,
    limits: Limits | None = None,
) -> RegistryServer:
    """Starts a server: `with serve() as server: SchemaRegistryClient({"url": server.url})`. Ready when it returns.

    Args:
        registry: what it serves; None for a new one in memory.
        host: address to listen on.
        port: 0 for a free one.
        auth: user → password, for basic authentication; None lets everybody in.
        tls: a context, or the paths of certificate chain and private key (PEM); None for plain HTTP.
        limits: sizes and times a client has to keep; None for the usual ones.

    Raises:
        ImportError: the extra `server` is not installed.
        OSError: nobody can listen there.
        ValueError: the TLS files can't be used.
    """
    return RegistryServer(registry, host, port, auth=auth, tls=tls, limits=limits)
