"""Credentials as flows: what a request's Authorization header is, and what it takes to get it.

Must not know of HTTP libraries. A scheme that must ask somebody (OAuth2) yields `Send` steps; the static ones here
yield nothing. Secrets are in no repr. Source: RFC 7617 (Basic), RFC 6750 (Bearer).
"""

from __future__ import annotations

import base64
from collections.abc import Mapping
from typing import Protocol

from registry.config import ClientConfig
from registry.steps import Steps

__all__ = ["Anonymous", "Basic", "Bearer", "Credentials", "credentials"]


class Credentials(Protocol):
    """Where a request's credentials come from."""

    def authorize(self) -> Steps[Mapping[str, str]]:
        """The headers that go with a request."""
        ...


class Anonymous:
    """No credentials."""

    def authorize(self) -> Steps[Mapping[str, str]]:
        """No headers."""
        yield from ()
        return {}


class _Static:
    """Headers that never change."""

    def __init__(self, headers: Mapping[str, str]) -> None:
        self._headers = dict(headers)

    def __repr__(self) -> str:
        return f"{type(self).__name__}(…)"

    def authorize(self) -> Steps[Mapping[str, str]]:
        """The headers, at no cost."""
        yield from ()
        return self._headers


class Basic(_Static):
    """User and password."""

    def __init__(self, user: str, password: str) -> None:
        token = base64.b64encode(f"{user}:{password}".encode()).decode()
        super().__init__({"Authorization": f"Basic {token}"})


class Bearer(_Static):
    """A token that was given, with headers that go with it."""

    def __init__(self, token: str, headers: Mapping[str, str] | None = None) -> None:
        super().__init__({"Authorization": f"Bearer {token}", **(headers or {})})


def credentials(config: ClientConfig) -> Credentials:
    """The credentials a configuration asks for."""
    if config.basic_user_info is not None:
        return Basic(*config.basic_user_info)
    if config.bearer_token is not None:
        return Bearer(config.bearer_token, config.bearer_headers)
    return Anonymous()
