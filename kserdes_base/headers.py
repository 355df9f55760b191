"""Values of HTTP headers: what can be one, and the one that shows a user and a password.

Must not know of HTTP libraries. Spec: RFC 7617 (Basic).
"""

from __future__ import annotations

import base64


def fits_header(value: str) -> bool:
    """Whether a text can stand in a header: h11 quotes one that can't, secret or not, in its error."""
    return value.isascii() and value.isprintable()


def basic_header(user: str, password: str) -> str:
    """The value of the Authorization header for a user."""
    return f"Basic {base64.b64encode(f'{user}:{password}'.encode()).decode()}"
