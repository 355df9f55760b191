"""An identity provider on loopback: a token endpoint that answers as told, and notes what it was asked."""

from __future__ import annotations

import base64
import json
import ssl
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit


@dataclass(frozen=True)
class Asked:
    """One request; names of headers in lower case."""

    method: str
    path: str
    query: dict[str, list[str]]
    headers: dict[str, str]
    form: dict[str, list[str]]


def unsigned_jwt(**claims: object) -> str:
    """An unsecured token, as brokers take it in tests; without `exp=None` it holds for an hour."""

    def part(value: dict[str, object]) -> str:
        return base64.urlsafe_b64encode(json.dumps(value).encode()).rstrip(b"=").decode()

    now_s = int(time.time())
    claims = {"sub": "alice", "iat": now_s, "exp": now_s + 3600, **claims}
    return f"{part({'alg': 'none'})}.{part({name: value for name, value in claims.items() if value is not None})}."


@dataclass
class IdentityProvider:
    """A provider's answer, and the requests it got.

    Attributes:
        body: the answer, bytes as they are or an object that becomes JSON.
    """

    url: str = ""
    status: int = 200
    body: object = field(default_factory=lambda: {"access_token": unsigned_jwt(), "token_type": "Bearer"})
    asked: list[Asked] = field(default_factory=list)

    def answer(self) -> bytes:
        return self.body if isinstance(self.body, bytes) else json.dumps(self.body).encode()


@contextmanager
def identity_provider(context: ssl.SSLContext | None = None) -> Iterator[IdentityProvider]:
    """A running provider, over TLS where a context is given."""
    provider = IdentityProvider()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            text = self.rfile.read(int(self.headers.get("Content-Length", 0))).decode()
            parts = urlsplit(self.path)
            headers = {name.lower(): value for name, value in self.headers.items()}
            provider.asked.append(
                Asked(
                    self.command, parts.path, parse_qs(parts.query), headers, parse_qs(text, strict_parsing=bool(text))
                )
            )
            body = provider.answer()
            self.send_response(provider.status)
            self.send_header("Content-Length", str(len(body)))
            if provider.status in (301, 302, 307):
                self.send_header("Location", "/elsewhere")
            self.end_headers()
            self.wfile.write(body)

        do_GET = do_POST

        def log_message(self, format: str, *args: object) -> None:
            """Says nothing: what was asked is in `asked`."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        if context is not None:
            server.socket = context.wrap_socket(server.socket, server_side=True)
        scheme = "http" if context is None else "https"
        provider.url = f"{scheme}://127.0.0.1:{server.server_port}/token"
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield provider
        finally:
            server.shutdown()
            thread.join()
