"""The parts of both clients that never wait: configuration, caches, listeners.

Must not know how requests are sent. Both shells build on it.
"""

from __future__ import annotations

from abc import ABC
from collections.abc import Mapping
from typing import Any

from registry.client.cache import Listener, SchemaCaches
from registry.client.config import ClientConfig
from registry.errors import TransportError


def closed() -> TransportError:
    """The error of calls on a client that is closed."""
    return TransportError(-1, -1, "the registry client is closed")


class ClientBase(ABC):
    """A client without its operations and its connections; the shell sets what is declared here."""

    _config: ClientConfig
    _conf: dict[str, object]
    _urls: tuple[str, ...]
    _caches: SchemaCaches
    _drive: Any

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(self._urls)})"

    def __reduce__(self) -> Any:
        raise TypeError(
            "a registry client holds connections and secrets and is not pickled: make one where it is needed"
        )

    def config(self) -> dict[str, object]:
        """The configuration the client was made with (a copy; it may hold secrets)."""
        return dict(self._conf)

    def same_registry(self) -> dict[str, object]:
        """The configuration for another client of the same registry: of `mock://` alone it has the name it got."""
        return {**self._conf, "url": self._urls[0]} if self._config.mock_is_own else self.config()

    def clear_caches(self) -> None:
        """Forgets everything that is cached."""
        self._caches.clear()

    def clear_latest_caches(self) -> None:
        """Forgets only the newest versions."""
        self._caches.clear_latest()

    def tell(self, listener: Listener) -> None:
        """Tells a listener, as long as it lives, what this client forgets of the registry: by a change of its own, by
        `clear_caches` and `clear_latest_caches`. Serializers keep plans, which end with it.
        """
        self._caches.tell(listener)

    def latest_until_s(self, subject_name: str, metadata: Mapping[str, str] | None = None) -> float:
        """The end of belief in the cached newest version of a subject, in monotonic seconds.

        Args:
            subject_name: the subject.
            metadata: as for `get_latest_with_metadata` with deleted versions, None for `get_latest_version`.
        """
        return self._caches.latest_until_s(subject_name, metadata)
