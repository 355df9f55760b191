"""Requests to token endpoints, and their answers. No I/O: the time is passed in.

Spec: RFC 6749 §4.4 (client credentials), RFC 7523 (JWT bearer grant), KIP-768; RFC 7519 (claims); for Azure, what its
instance metadata service takes.
"""

from __future__ import annotations

import base64
import binascii
import json
import math
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any, Final
from urllib.parse import parse_qsl, quote_plus, urlsplit, urlunsplit

from kafka_core.errors import AuthError
from kafka_core.wire.sasl import Token

TRY_AGAIN: Final = frozenset({408, 425, 429, *range(500, 600)})
"""Statuses that may pass."""
JWT_BEARER: Final = "urn:ietf:params:oauth:grant-type:jwt-bearer"
AZURE_TOKENS: Final = "http://169.254.169.254/metadata/identity/oauth2/token"
LONGEST_TEXT: Final = 200
"""Characters of an endpoint's refusal that are shown."""
HIDDEN: Final = "…"
SHORTEST_SECRET: Final = 4
"""The length of the shortest secret; shorter text may be a part of any word."""
SAID: Final = frozenset({"grant_type", "scope", "Metadata"})
"""The values of a request that are no secrets."""
TOKEN_LIKE: Final = re.compile(r"eyJ[\w-]+(\.[\w-]*)*|(?<![\w+/=.-])[\w+/=.-]{40,}")
"""JWTs, and words longer than any name or UUID."""


@dataclass(frozen=True, slots=True)
class TokenRequest:
    """One request for a token; `repr` shows no secret.

    Args:
        form: fields of the body, sent form-encoded; empty: a GET without a body.
    """

    url: str
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    form: Mapping[str, str] = field(default_factory=dict, repr=False)

    @property
    def method(self) -> str:
        """POST where there is a form."""
        return "POST" if self.form else "GET"

    @property
    def secrets(self) -> frozenset[str]:
        """The values that must not be shown: assertions, passwords, as they are and as they are sent."""
        parts = urlsplit(self.url)
        known = {parts.password or "", *(value for _, value in parse_qsl(parts.query))}
        for name, value in (*self.headers.items(), *self.form.items()):
            if name == "Authorization":
                encoded = value.removeprefix("Basic ")
                known |= {encoded, base64.b64decode(encoded).decode().partition(":")[2]}
            elif name not in SAID:
                known.add(value)
        spelt = {quoting(one) for one in known for quoting in (str, quote_plus, lambda text: json.dumps(text)[1:-1])}
        return frozenset(one for one in spelt if len(one) >= SHORTEST_SECRET)


def client_credentials(url: str, client_id: str, secret: str, scope: str | None) -> TokenRequest:
    """The client shows its own id and secret, in the header, as librdkafka and Java send them (not form-encoded)."""
    user_info = base64.b64encode(f"{client_id}:{secret}".encode()).decode()
    return TokenRequest(
        url, {"Authorization": f"Basic {user_info}"}, _with_scope({"grant_type": "client_credentials"}, scope)
    )


def jwt_bearer(url: str, assertion: str, scope: str | None) -> TokenRequest:
    """The client shows a signed assertion."""
    return TokenRequest(url, {}, _with_scope({"grant_type": JWT_BEARER, "assertion": assertion}, scope))


def instance_metadata(url: str | None, query: str | None) -> TokenRequest:
    """An Azure host asks its metadata service; `query` names API version, resource and client."""
    parts = urlsplit(url or AZURE_TOKENS)
    queries = "&".join(one for one in (parts.query, query) if one)
    return TokenRequest(urlunsplit((*parts[:3], queries, "")), {"Metadata": "true"})


def _with_scope(form: dict[str, str], scope: str | None) -> dict[str, str]:
    return {**form, "scope": scope} if scope else form


def token_of(answer: bytes, subject_claim: str, extensions: Mapping[str, str], now_s: float) -> Token:
    """The token in an endpoint's answer.

    Args:
        subject_claim: the claim that names the principal.
        now_s: seconds since 1970.

    Raises:
        AuthError: the answer has none, or nothing says when it ends, or it has ended. The text does not show the token.
    """
    try:
        fields = json.loads(answer)
    except ValueError:
        raise AuthError("the token endpoint's answer is not JSON") from None
    value = fields.get("access_token") if isinstance(fields, dict) else None
    if not isinstance(value, str) or not value:
        raise AuthError("the token endpoint's answer has no access_token")
    claims = claims_of(value)
    ends = [_number(claims.get("exp"))]
    life_s = _number(fields.get("expires_in"))
    if life_s is not None:  # says it without the two clocks
        ends.append(now_s + life_s)
    known = [end for end in ends if end is not None]
    if not known:
        raise AuthError("the token has no expiry: neither a claim exp nor the answer's expires_in")
    expires_at_s = min(known)
    if expires_at_s <= now_s:
        past_s = now_s - expires_at_s
        raise AuthError(f"the token endpoint gave a token that expired {past_s:.0f} s ago: is the clock here right?")
    subject = claims.get(subject_claim)
    return Token(value, expires_at_s, subject if isinstance(subject, str) else "", extensions)


def claims_of(token: str) -> dict[str, Any]:
    """The claims of a JWT, whose signature is the broker's to judge; none if it is no JWT."""
    parts = token.split(".")
    if len(parts) != 3:
        return {}
    try:
        claims = json.loads(base64.urlsafe_b64decode(parts[1] + "=" * (-len(parts[1]) % 4)))
    except (ValueError, binascii.Error):
        return {}
    return claims if isinstance(claims, dict) else {}


def _number(value: object) -> float | None:
    """A number, or a text that is one (Azure's service sends `expires_in` as text)."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        number = float(value)
    except (ValueError, OverflowError):
        return None
    return number if math.isfinite(number) else None


def refusal_of(answer: bytes, secrets: Collection[str] = ()) -> str:
    """Why the endpoint refused (RFC 6749 §5.2), or as much of its text as is readable; for logs and texts of errors.

    Endpoints repeat what they were asked, and proxies change statuses: no secret of the request and nothing that looks
    like a token is in it, and of JSON without an `error` only the names of its fields.

    Args:
        secrets: what must not be shown (`TokenRequest.secrets`).
    """
    text = answer.decode("utf-8", "replace")
    try:
        fields = json.loads(text)
    except (ValueError, RecursionError):
        fields = None
    if isinstance(fields, dict):
        text = _reason(fields)
    for secret in sorted(secrets, key=len, reverse=True):
        text = text.replace(secret, HIDDEN)
    return TOKEN_LIKE.sub(HIDDEN, text)[:LONGEST_TEXT] or "no reason given"


def _reason(fields: Mapping[str, object]) -> str:
    error, description = fields.get("error"), fields.get("error_description")
    if isinstance(error, str):
        return f"{error}: {description}" if description else error
    return f"JSON without the field error: it has {', '.join(map(str, fields)) or 'none'}"
