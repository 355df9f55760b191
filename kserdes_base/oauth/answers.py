"""Answers of token endpoints: the token, its life, its claims, or why there is none. No I/O.

Must not know who asked, nor what is raised of a bad answer. Spec: RFC 6749 §5; RFC 7519 (claims).
"""

from __future__ import annotations

import base64
import json
import math
from collections.abc import Collection, Mapping
from typing import Any, Final

from kserdes_base.masking import without_secrets

LONGEST_TEXT: Final = 200
"""Characters of an endpoint's refusal that are shown."""


def object_of(answer: str | bytes) -> dict[str, Any]:
    """The fields of an answer; none where it is JSON of another kind than an object.

    Raises:
        ValueError: it is not JSON, or nested too deeply to be read.
    """
    try:
        fields = json.loads(answer)
    except RecursionError as error:
        raise ValueError("nested too deeply") from error
    return fields if isinstance(fields, dict) else {}


def token_in(fields: Mapping[str, object]) -> str | None:
    """The token among an answer's fields."""
    token = fields.get("access_token")
    return token if isinstance(token, str) and token else None


def seconds_of(value: object) -> float | None:
    """A number, or a text that is one (Azure's service sends `expires_in` as text). NaN would be a life without end."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        number = float(value)
    except (ValueError, OverflowError):
        return None
    return number if math.isfinite(number) else None


def claims_of(token: str) -> dict[str, Any]:
    """The claims of a JWT, whose signature is for others to judge; none if it is no JWT."""
    parts = token.split(".")
    if len(parts) != 3:
        return {}
    try:
        return object_of(base64.urlsafe_b64decode(parts[1] + "=" * (-len(parts[1]) % 4)))
    except ValueError:
        return {}


def reason_of(answer: bytes, secrets: Collection[str]) -> str | None:
    """Why the endpoint refused (RFC 6749 §5.2); None if it does not say so in that form.

    Endpoints repeat what they were asked, and proxies change statuses: no secret of the request and nothing that looks
    like a token is in it.

    Args:
        secrets: what must not be shown (`TokenRequest.secrets`).
    """
    try:
        fields = object_of(answer.decode("utf-8", "replace"))
    except ValueError:
        return None
    said = [fields.get(name) for name in ("error", "error_description")]
    words = ": ".join(one for one in said if isinstance(one, str) and one)
    return without_secrets(words, secrets)[:LONGEST_TEXT] or None


def excerpt_of(answer: bytes, secrets: Collection[str]) -> str:
    """`reason_of`, or as much of the text as is readable; of JSON without a reason only the names of its fields."""
    reason = reason_of(answer, secrets)
    if reason is not None:
        return reason
    text = answer.decode("utf-8", "replace")
    try:
        fields = object_of(text)
    except ValueError:
        fields = {}
    if fields:
        text = f"JSON without the field error: it has {', '.join(fields)}"
    return without_secrets(text, secrets)[:LONGEST_TEXT] or "no reason given"
