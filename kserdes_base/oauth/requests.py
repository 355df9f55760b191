"""Requests to token endpoints. No I/O.

Must not know who asks, nor HTTP libraries. Spec: RFC 6749 §4.4 (client credentials), RFC 7523 (JWT bearer grant),
KIP-768; for Azure, what its instance metadata service takes.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final
from urllib.parse import parse_qsl, quote, quote_plus, unquote, urlencode, urlsplit, urlunsplit

from kserdes_base.headers import basic_header
from kserdes_base.masking import masked

JWT_BEARER: Final = "urn:ietf:params:oauth:grant-type:jwt-bearer"
CLIENT_CREDENTIALS: Final = "client_credentials"
AZURE_TOKENS: Final = "http://169.254.169.254/metadata/identity/oauth2/token"
AZURE_HEADERS: Final = {"Metadata": "true"}
_SPELLINGS: Final[tuple[Callable[[str], str], ...]] = (
    str,
    quote_plus,
    lambda text: quote(text, safe=""),
    lambda text: json.dumps(text)[1:-1],
)


@dataclass(frozen=True, slots=True, repr=False)
class TokenRequest:
    """One request for a token; `repr` shows no secret.

    Who asks shows an assertion or its own id and secret; an Azure host shows nothing.

    Attributes:
        url: the token endpoint.
        client_id: OAuth2 client; None for an assertion, and for Azure's instance metadata service.
        client_secret: its secret.
        scope: of the token.
        assertion: signed by who asks.
        form_encoded: whether id and secret are form-encoded before they are joined (RFC 6749 §2.3.1). librdkafka and
            Java join them as they are, and the endpoints of brokers are set up for them.
    """

    url: str
    client_id: str | None = None
    client_secret: str | None = None
    scope: str | None = None
    assertion: str | None = None
    form_encoded: bool = True

    def __repr__(self) -> str:
        return f"TokenRequest({masked(self.url)})"

    @property
    def form(self) -> dict[str, str]:
        """The fields of the body; none: a GET without a body."""
        if self.assertion is not None:
            fields = {"grant_type": JWT_BEARER, "assertion": self.assertion}
        elif self.client_id is not None:
            fields = {"grant_type": CLIENT_CREDENTIALS}
        else:
            return {}
        return {**fields, "scope": self.scope} if self.scope else fields

    @property
    def method(self) -> str:
        """POST where there is a form."""
        return "POST" if self.form else "GET"

    @property
    def headers(self) -> dict[str, str]:
        """The headers of the request."""
        form = self.form
        if not form:
            return dict(AZURE_HEADERS)
        credentials = {"Authorization": self._basic} if self.client_id is not None else {}
        return {**credentials, "Content-Type": "application/x-www-form-urlencoded", "Accept": "application/json"}

    @property
    def content(self) -> bytes | None:
        """The body: the form, encoded."""
        form = self.form
        return urlencode(form).encode() if form else None

    @property
    def _basic(self) -> str:
        pair = (self.client_id or "", self.client_secret or "")
        return basic_header(*(quote(one, safe="") for one in pair) if self.form_encoded else pair)

    @property
    def secrets(self) -> frozenset[str]:
        """The values that must not be shown: assertions, passwords, as they are and as they are sent."""
        parts = urlsplit(self.url)
        known = {unquote(parts.password or ""), *(value for _, value in parse_qsl(parts.query))}
        known |= {parts.password or "", self.client_secret or "", self.assertion or ""}
        if self.client_id is not None:
            known.add(self._basic.removeprefix("Basic "))
        return frozenset(spelt(one) for one in known if one for spelt in _SPELLINGS)


def instance_metadata(url: str | None, query: str | None, *, keeps_query: bool) -> TokenRequest:
    """The request of an Azure host to its metadata service.

    Args:
        url: where that is not at its usual place.
        query: names API version, resource and client.
        keeps_query: whether a query of the URL's own stands before the other one. librdkafka joins the two;
            confluent_kafka's registry client puts the other one in its place.

    Raises:
        ValueError: no URL.
    """
    parts = urlsplit(url or AZURE_TOKENS)
    joined = "&".join(one for one in (parts.query, query) if one) if keeps_query else query or parts.query
    return TokenRequest(urlunsplit((*parts[:3], joined, "")))
