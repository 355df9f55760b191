"""Token providers of kafka-python, as the `oauth_cb` of ours.

Must not know clients. Spec: `kafka.net.sasl.oauth.AbstractTokenProvider` of kafka-python 3.0; RFC 7519 for `exp`.
"""

from __future__ import annotations

import abc
import base64
import binascii
import json
import time
from collections.abc import Callable, Mapping
from typing import Any, Final

__all__ = ["AbstractTokenProvider", "token_callback"]

LIFE_S: Final = 300.0
"""Seconds for which a token without an expiry counts."""


class AbstractTokenProvider(abc.ABC):
    """Gives the tokens of OAUTHBEARER."""

    def __init__(self, **config: Any) -> None:  # noqa: B027
        """Nothing of its own."""

    @abc.abstractmethod
    def token(self) -> str:
        """A token that is valid now."""

    def extensions(self) -> Mapping[str, str]:
        """SASL extensions."""
        return {}


def token_callback(provider: Any) -> Callable[[str], tuple[str, float, str, dict[str, str]]]:
    """`oauth_cb` that asks a provider; the token itself says when it ends, if it is a JWT."""
    if not callable(getattr(provider, "token", None)):
        raise TypeError("sasl_oauth_token_provider must have a method token()")

    def oauth_cb(_: str) -> tuple[str, float, str, dict[str, str]]:
        token = provider.token()
        extensions = getattr(provider, "extensions", dict)
        return token, expiry(token), "", dict(extensions() or {})

    return oauth_cb


def expiry(token: str) -> float:
    """The expiry of a token, in seconds since 1970."""
    parts = token.split(".")
    if len(parts) == 3:
        try:
            claims = json.loads(base64.urlsafe_b64decode(parts[1] + "=" * (-len(parts[1]) % 4)))
            return float(claims["exp"])
        except (binascii.Error, ValueError, KeyError, TypeError):
            return time.time() + LIFE_S
    return time.time() + LIFE_S
