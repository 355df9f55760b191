"""Texts as they may be shown: URLs without what is secret in them, answers without the secrets of what they answer.

Must not know what asked whom.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Final
from urllib.parse import urlsplit, urlunsplit

HIDDEN: Final = "…"
SHORTEST_SECRET: Final = 4
"""The length of the shortest secret; shorter text may be a part of any word."""
TOKEN_LIKE: Final = re.compile(r"eyJ[\w-]+(\.[\w-]*)*|(?<![\w+/=.-])[\w+/=.-]{40,}")
"""JWTs, and words longer than any name or UUID."""


def masked(url: str) -> str:
    """A URL as it may be shown: without user info, query and fragment.

    Raises:
        ValueError: it is none. The text may quote it.
    """
    parts = urlsplit(url)
    return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))


def without_secrets(text: str, secrets: Collection[str]) -> str:
    """A text of somebody else in which neither known secrets are shown nor what looks like a token.

    Args:
        secrets: in every spelling in which they may come back; those of less than `SHORTEST_SECRET` characters stay.
    """
    for secret in sorted(secrets, key=len, reverse=True):
        if len(secret) >= SHORTEST_SECRET:
            text = text.replace(secret, HIDDEN)
    return TOKEN_LIKE.sub(HIDDEN, text)
