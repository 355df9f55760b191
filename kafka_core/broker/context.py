"""One client connection as the broker's logic sees it, and the context of one request on it.

Must not know: sockets and transports (the shell holds those), other connections.
Spec: KIP-511 (client software name), KIP-368 (session lifetime).
"""

from __future__ import annotations

from dataclasses import dataclass

from kafka_core.broker.security.sasl import SaslExchange


@dataclass(slots=True, eq=False)
class Connection:
    """State that lives as long as the connection."""

    connection_id: int
    broker_id: int
    client_host: str
    #: False until SASL succeeded, where SASL is asked for.
    authenticated: bool = True
    principal: str = "ANONYMOUS"
    mechanism: str | None = None
    exchange: SaslExchange | None = None
    #: SaslHandshake v0: tokens come as bare frames without request headers.
    bare_tokens: bool = False
    #: Monotonic seconds after which the client must have authenticated again.
    session_ends_at_s: float | None = None
    software_name: str = ""
    software_version: str = ""
    client_port: int = 0
    #: The answer on its way is the last one (failed authentication).
    close_after_reply: bool = False

    @property
    def client(self) -> tuple[str, str]:
        """Principal and host as ACLs name them."""
        return f"User:{self.principal}", self.client_host.removeprefix("/")


@dataclass(frozen=True, slots=True)
class Context:
    """The facts of one request beside its body."""

    connection: Connection
    broker_id: int
    api_key: int
    api_version: int
    correlation_id: int
    client_id: str | None
