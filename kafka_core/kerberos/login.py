"""A client's identity in Kerberos: its principal and tickets, and a security context for each connection.

Must not know requests or loops; every method may wait for the KDC. Properties are librdkafka's; tickets are asked for
in this process, by the library, where librdkafka runs `kinit`.
"""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from kafka_core.config import Config
from kafka_core.errors import ConfigError, NetworkError
from kafka_core.kerberos.library import (
    HOST_BASED_SERVICE,
    INTEGRITY,
    MUTUAL,
    PRINCIPAL,
    REPLAY,
    SEQUENCE,
    GssError,
    Handle,
    Library,
)
from kafka_core.wire.sasl import failed

MECHANISM: Final = "GSSAPI"
_FLAGS: Final = MUTUAL | REPLAY | SEQUENCE | INTEGRITY
_locks: dict[str, threading.Lock] = {}
"""Cache of tickets → who fills it, one at a time: the library empties it first."""


class Login:
    """One client's identity.

    Args:
        service: the first part of the brokers' principals (`kafka`).
        principal: who we are, if there is a keytab; else the default cache of tickets says it (`kinit` filled it).
        keytab: file with the principal's key; None to use the default cache.
    """

    def __init__(self, library: Library, service: str, principal: str, keytab: str | None) -> None:
        self._library = library
        self._service = service
        self._principal = principal if keytab is not None else ""
        # Tickets of a keytab stay in this process, and clients with the same identity share them. A fork has its own
        # cache, and a lock that nobody held when it was made.
        cache = f"MEMORY:kserdes-{os.getpid()}-{principal}-{keytab}"
        self._store = {"client_keytab": f"FILE:{keytab}", "ccache": cache}
        self._lock = _locks.setdefault(cache, threading.Lock())

    @classmethod
    def from_config(cls, config: Config) -> Login:
        """The identity that `sasl.kerberos.*` describes.

        Raises:
            ConfigError: MIT Kerberos is not installed; there is no such keytab.
        """
        keytab = config.optional_text("sasl.kerberos.keytab") or None
        if keytab is not None and not Path(keytab).is_file():
            raise ConfigError(f"sasl.kerberos.keytab: there is no file {keytab!r}", property="sasl.kerberos.keytab")
        try:
            library = Library()
        except OSError as error:
            raise ConfigError(
                "sasl.mechanism=GSSAPI needs the library libgssapi_krb5 of MIT Kerberos (Debian: libgssapi-krb5-2, "
                f"Fedora: krb5-libs, Homebrew: krb5): {error}",
                property="sasl.mechanism",
            ) from error
        names = ("sasl.kerberos.service.name", "sasl.kerberos.principal")
        service, principal = (config.text(name) for name in names)
        return cls(library, service, principal, keytab)

    def context(self, host: str) -> KerberosContext:
        """A context with the broker on `host` that has its ticket and its first token.

        Raises:
            AuthError: there are no tickets, or the KDC refuses, or knows no such service.
            NetworkError: the KDC can't be asked now.
        """
        with _told(self._principal, f" (service {self._service}/{host})"), self._lock:
            credentials = None
            if self._principal:
                name = self._library.name(self._principal, PRINCIPAL)
                credentials = self._library.credentials(name, self._store)
            target = self._library.name(f"{self._service}@{host}", HOST_BASED_SERVICE)
            return KerberosContext(self._library, credentials, target, self._principal)


class KerberosContext:
    """A security context of an initiator; see `wire.sasl.gssapi.SecurityContext`."""

    def __init__(self, library: Library, credentials: Handle | None, target: Handle, user: str) -> None:
        self.user = user
        self._library, self._credentials, self._target = library, credentials, target
        self._context = library.context()
        self.first, self.established = self._advance(b"")

    def step(self, token: bytes) -> bytes:
        """The answer to the acceptor's token; raises AuthError where the token proves nothing."""
        with _told(self.user):
            answer, self.established = self._advance(token)
            return answer

    def _advance(self, token: bytes) -> tuple[bytes, bool]:
        return self._library.step(self._context, self._credentials, self._target, _FLAGS, token)

    def wrap(self, message: bytes) -> bytes:
        """With a proof of integrity; raises AuthError."""
        with _told(self.user):
            return self._library.wrap(self._context, message)

    def unwrap(self, message: bytes) -> bytes:
        """The message that the acceptor wrapped; raises AuthError where its proof is wrong."""
        with _told(self.user):
            return self._library.unwrap(self._context, message)


@contextlib.contextmanager
def _told(user: str, about: str = "") -> Iterator[None]:
    """Errors of the library as failed authentications, unless nobody was asked."""
    try:
        yield
    except GssError as error:
        if error.passes:
            who = f" for {user}" if user else ""
            raise NetworkError(
                f"no ticket{who} from Kerberos: {error}{about}; is the KDC up, and does krb5.conf have its address?"
            ) from error
        raise failed(MECHANISM, user, f"{error}{about}") from error
