"""Ways into an embedded registry: an httpx transport inside the process, and a real HTTP server on a socket.

Must not know what a request means (`registry.dev.handlers`). Bodies are bounded; the server listens on loopback
unless told otherwise.
"""

from __future__ import annotations

import http.server
import threading
from collections.abc import Iterable
from types import TracebackType
from urllib.parse import parse_qsl, urlsplit

import httpx

from registry.dev.handlers import MAX_BODY_BYTES, MEDIA_TYPE, Request, Response, handle
from registry.dev.store import Store

__all__ = ["EmbeddedRegistry", "InProcessTransport", "RegistryServer", "serve", "shared"]

IDLE_S = 60.0


class EmbeddedRegistry:
    """A registry in this process. Threads may share it.

    It has what this package's client can ask for: subjects, versions, ids, look-ups, soft and permanent deletion,
    references, levels; Avro schemas, whose compatibility is enforced.
    """

    def __init__(self) -> None:
        self._store = Store()
        self._lock = threading.Lock()

    def answer(self, request: Request) -> Response:
        """Answers one request, one at a time."""
        if len(request.body) > MAX_BODY_BYTES:
            return Response(413, b'{"error_code": 413, "message": "Request body is too large"}')
        with self._lock:
            return handle(self._store, request)

    def transport(self) -> InProcessTransport:
        """A transport for `httpx.Client(transport=…)` or `httpx.AsyncClient(transport=…)`: no socket."""
        return InProcessTransport(self)


class InProcessTransport(httpx.BaseTransport, httpx.AsyncBaseTransport):
    """Hands httpx's requests to an embedded registry."""

    def __init__(self, registry: EmbeddedRegistry) -> None:
        self._registry = registry

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """Answers on the caller's thread."""
        return self._answer(request, request.read())

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Answers in the caller's task; nothing in it waits."""
        return self._answer(request, await request.aread())

    def _answer(self, request: httpx.Request, body: bytes) -> httpx.Response:
        path = request.url.raw_path.decode("ascii").partition("?")[0]
        answer = self._registry.answer(Request(request.method, path, dict(request.url.params), body))
        return httpx.Response(answer.status, headers={"Content-Type": MEDIA_TYPE}, content=answer.body)


_shared: dict[str, EmbeddedRegistry] = {}
_shared_lock = threading.Lock()


def shared(name: str) -> EmbeddedRegistry:
    """The embedded registry of this name: one per process, made at first use, what `mock://name` stands for."""
    with _shared_lock:
        return _shared.setdefault(name, EmbeddedRegistry())


class RegistryServer:
    """An embedded registry behind a socket; use it in a `with` statement.

    Args:
        registry: what it serves; None for a new one.
        host: address to listen on.
        port: 0 for a free one.

    Attributes:
        registry: what it serves.
        url: where clients find it.
    """

    def __init__(self, registry: EmbeddedRegistry | None = None, host: str = "127.0.0.1", port: int = 0) -> None:
        self.registry = registry or EmbeddedRegistry()
        self._server = _Server((host, port), self.registry)
        bound_host, bound_port = self._server.server_address[:2]
        self.url = f"http://{bound_host if isinstance(bound_host, str) else bound_host.decode()}:{bound_port}"
        self._thread = threading.Thread(
            target=self._server.serve_forever, args=(0.05,), name=f"registry-{bound_port}", daemon=True
        )
        self._thread.start()

    def __enter__(self) -> RegistryServer:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Stops listening and ends all connections. May be called again."""
        self._server.shutdown()
        self._server.server_close()
        self._thread.join(5.0)


def serve(registry: EmbeddedRegistry | None = None, host: str = "127.0.0.1", port: int = 0) -> RegistryServer:
    """Starts a server: `with serve() as server: SchemaRegistryClient({"url": server.url})`."""
    return RegistryServer(registry, host, port)


class _Server(http.server.ThreadingHTTPServer):
    """One thread per connection; open connections are ended with the server."""

    daemon_threads = True

    def __init__(self, address: tuple[str, int], registry: EmbeddedRegistry) -> None:
        self.registry = registry
        self._open: set[_Connection] = set()
        self._open_lock = threading.Lock()
        super().__init__(address, _Connection)

    def opened(self, connection: _Connection) -> None:
        with self._open_lock:
            self._open.add(connection)

    def closed(self, connection: _Connection) -> None:
        with self._open_lock:
            self._open.discard(connection)

    def server_close(self) -> None:
        super().server_close()
        with self._open_lock:
            left: Iterable[_Connection] = list(self._open)
        for connection in left:
            connection.end()


class _Connection(http.server.BaseHTTPRequestHandler):
    """One connection of a client, kept open between requests."""

    protocol_version = "HTTP/1.1"
    server_version = "kserdes-registry"
    sys_version = ""
    timeout = IDLE_S
    disable_nagle_algorithm = True
    wbufsize = -1  # one segment for head and body; flushed after every request
    server: _Server

    def setup(self) -> None:
        super().setup()
        self.server.opened(self)

    def finish(self) -> None:
        self.server.closed(self)
        super().finish()

    def end(self) -> None:
        """Called from another thread: the read that waits for the next request ends."""
        try:
            self.connection.shutdown(2)
        except OSError:
            return  # the client was faster

    def log_message(self, format: str, *args: object) -> None:
        """Nothing on stderr."""

    def _serve(self) -> None:
        body = self._read_body()
        if body is None:
            return
        parts = urlsplit(self.path)
        query = dict(parse_qsl(parts.query, keep_blank_values=True))
        self._write(self.server.registry.answer(Request(self.command, parts.path, query, body)))

    def _read_body(self) -> bytes | None:
        """The body; None if it was refused and the connection is to be closed."""
        if self.headers.get("Transfer-Encoding"):
            self._refuse(411, "A body needs a Content-Length")
            return None
        text = self.headers.get("Content-Length") or "0"
        if not text.isdecimal() or int(text) > MAX_BODY_BYTES:
            self._refuse(413, f"A body may have up to {MAX_BODY_BYTES} bytes")
            return None
        return self.rfile.read(int(text))

    def _refuse(self, status: int, message: str) -> None:
        self.close_connection = True
        self._write(Response(status, f'{{"error_code": {status}, "message": "{message}"}}'.encode()))

    def _write(self, response: Response) -> None:
        self.send_response(response.status)
        self.send_header("Content-Type", MEDIA_TYPE)
        self.send_header("Content-Length", str(len(response.body)))
        if self.close_connection:
            self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(response.body)

    do_GET = do_POST = do_PUT = do_DELETE = _serve
