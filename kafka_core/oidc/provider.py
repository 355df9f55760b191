"""A token endpoint asked over HTTP.

Must not know what else may give tokens. TLS trusts `https.ca.*`, else the machine's authorities.
"""

from __future__ import annotations

import logging
import ssl
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

import httpx

from kafka_core.config import Config
from kafka_core.errors import AuthError, ConfigError, NetworkError
from kafka_core.oidc.assertion import assertion_of
from kafka_core.oidc.pairs import pairs_of
from kafka_core.wire.sasl import Token
from kafka_core.wire.sasl.oauthbearer import is_extension
from kserdes_base import deadlines
from kserdes_base.masking import masked, without_secrets
from kserdes_base.oauth.answers import claims_of, excerpt_of, object_of, seconds_of, token_in
from kserdes_base.oauth.requests import JWT_BEARER, TokenRequest, instance_metadata
from kserdes_base.retries import MAY_PASS

log: Final = logging.getLogger("kafka_core.oidc")

TIMEOUT_S: Final = 20.0
"""For one request in all, as librdkafka has it."""
LATE: Final = f"the token endpoint did not answer within {TIMEOUT_S:g} s"
MAX_ANSWER_BYTES: Final = 1 << 20
TRY_AGAIN: Final = MAY_PASS | {425}
"""Statuses after which the endpoint is asked again; librdkafka repeats after 425 (Too Early), too."""


class TokenEndpoint:
    """Asks one endpoint for tokens.

    Args:
        next_request: makes each request.
        subject_claim: the claim that names the principal.
        extensions: SASL extensions that go with every token.
        context: for https.
        trusts_environment: whether proxies of the environment are used.
        now_s: seconds since 1970.
    """

    def __init__(
        self,
        next_request: Callable[[], TokenRequest],
        *,
        subject_claim: str,
        extensions: Mapping[str, str],
        context: ssl.SSLContext,
        trusts_environment: bool,
        now_s: Callable[[], float],
    ) -> None:
        self._next_request = next_request
        self._subject_claim = subject_claim
        self._extensions = extensions
        self._context = context
        self._trusts_environment = trusts_environment
        self._now_s = now_s

    @classmethod
    def from_config(cls, config: Config, now_s: Callable[[], float]) -> TokenEndpoint:
        """The endpoint that `sasl.oauthbearer.*` describes.

        Raises:
            ConfigError: a key, a file or an extension that cannot be used.
        """
        on_azure = config.text("sasl.oauthbearer.metadata.authentication.type") == "azure_imds"
        return cls(
            _azure_requests(config) if on_azure else _grant_requests(config, now_s),
            subject_claim=config.text("sasl.oauthbearer.sub.claim.name"),
            extensions=extensions_of(config),
            context=_context_of(config),
            trusts_environment=not on_azure,
            now_s=now_s,
        )

    def __call__(self) -> Token:
        """A new token. Blocks for 20 s at most.

        Raises:
            NetworkError: the endpoint cannot be reached, or has a passing trouble: nobody was refused, so callers wait.
            AuthError: the endpoint refuses, or gives no token.
        """
        request = self._next_request()
        status, answer = self._ask(request)
        where = f"no token from {masked(request.url)}"
        if status != httpx.codes.OK:
            kind = NetworkError if status in TRY_AGAIN else AuthError
            raise kind(f"{where}: status {status}, {excerpt_of(answer, request.secrets)}")
        return self._token_of(answer, self._now_s())

    def _token_of(self, answer: bytes, now_s: float) -> Token:
        """The token in an answer. Raises AuthError as `__call__`; the text does not show the token."""
        try:
            fields = object_of(answer)
        except ValueError:
            raise AuthError("the token endpoint's answer is not JSON") from None
        value = token_in(fields)
        if value is None:
            raise AuthError("the token endpoint's answer has no access_token")
        claims, life_s = claims_of(value), seconds_of(fields.get("expires_in"))
        # The answer says it without the two clocks.
        ends = (seconds_of(claims.get("exp")), None if life_s is None else now_s + life_s)
        known = [end for end in ends if end is not None]
        if not known:
            raise AuthError("the token has no expiry: neither a claim exp nor the answer's expires_in")
        expires_at_s = min(known)
        if expires_at_s <= now_s:
            past_s = now_s - expires_at_s
            raise AuthError(
                f"the token endpoint gave a token that expired {past_s:.0f} s ago: is the clock here right?"
            )
        subject = claims.get(self._subject_claim)
        return Token(value, expires_at_s, subject if isinstance(subject, str) else "", self._extensions)

    def _client(self) -> httpx.Client:
        """Raises AuthError: a proxy of the environment is none that httpx takes. Its URL is not quoted."""
        try:
            client = httpx.Client(
                verify=self._context, timeout=TIMEOUT_S, trust_env=self._trusts_environment, follow_redirects=False
            )
        except (httpx.InvalidURL, ValueError, ImportError) as error:
            needs = ": SOCKS needs the package socksio (pip install 'httpx[socks]')"
            raise AuthError(
                "the token endpoint cannot be asked: HTTP_PROXY, HTTPS_PROXY, ALL_PROXY or NO_PROXY of the environment "
                f"cannot be used{needs if isinstance(error, ImportError) else ''}"
            ) from None
        if not deadlines.bound(client):
            deadlines.tell_of_changes(log, "a token endpoint that answers slowly is not left in time")
        return client

    def _ask(self, request: TokenRequest) -> tuple[int, bytes]:
        """Status and body; no redirect is followed, for it would take the secret along."""
        body = bytearray()
        headers = {"Accept": "application/json", **request.headers}
        try:
            with (
                self._client() as client,
                deadlines.until(time.monotonic() + TIMEOUT_S),
                client.stream(request.method, request.url, headers=headers, content=request.content) as response,
            ):
                for chunk in response.iter_bytes():
                    body += chunk
                    if len(body) > MAX_ANSWER_BYTES:
                        raise AuthError(f"the answer of the token endpoint is longer than {MAX_ANSWER_BYTES} bytes")
                    deadlines.check()
                return response.status_code, bytes(body)
        except httpx.TimeoutException as error:
            raise NetworkError(LATE) from error
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            reason = without_secrets(str(error), request.secrets) or type(error).__name__
            raise NetworkError(f"the token endpoint cannot be asked: {reason}") from error


def _azure_requests(config: Config) -> Callable[[], TokenRequest]:
    name = "sasl.oauthbearer.config"
    query = dict(pairs_of(config.optional_text(name) or "", name)).get("query")
    request = instance_metadata(endpoint_of(config), query, keeps_query=True)
    return lambda: request


def _grant_requests(config: Config, now_s: Callable[[], float]) -> Callable[[], TokenRequest]:
    url = endpoint_of(config)
    assert url is not None  # config_rules
    scope = config.optional_text("sasl.oauthbearer.scope")
    if config.text("sasl.oauthbearer.grant.type") == JWT_BEARER:
        assertion = assertion_of(config, now_s)
        return lambda: TokenRequest(url, scope=scope, assertion=assertion())
    client = (config.text("sasl.oauthbearer.client.id"), config.text("sasl.oauthbearer.client.secret"))
    request = TokenRequest(url, *client, scope, form_encoded=False)
    return lambda: request


def endpoint_of(config: Config) -> str | None:
    """The token endpoint, if one is set.

    Raises:
        ConfigError: it is not an http(s) URL.
    """
    name = "sasl.oauthbearer.token.endpoint.url"
    text = config.optional_text(name)
    if text is None:
        return None
    try:
        masked(text)
        url = httpx.URL(text)
    except (ValueError, httpx.InvalidURL):
        url = None
    if url is None or url.scheme not in ("http", "https") or not url.host:
        # The URL is not quoted, and so is no error that quotes it: it may hold a password.
        raise ConfigError(f"{name} must be an http or https URL", property=name)
    return text


def extensions_of(config: Config) -> dict[str, str]:
    """The extensions of `sasl.oauthbearer.extensions`.

    Raises:
        ConfigError: not of the form name=value, or with characters that RFC 7628 forbids.
    """
    name = "sasl.oauthbearer.extensions"
    extensions = dict(pairs_of(config.optional_text(name) or "", name))
    for key, value in extensions.items():
        if not is_extension(key, value):
            raise ConfigError(f"{name}: the extension {key!r} is malformed (RFC 7628 §3.1)", property=name)
    return extensions


def _context_of(config: Config) -> ssl.SSLContext:
    """Raises ConfigError: the authorities cannot be read."""
    location, pem = config.optional_text("https.ca.location"), config.optional_text("https.ca.pem")
    if location == "probe":
        location = None
    folder = location is not None and Path(location).is_dir()
    try:
        return ssl.create_default_context(
            cafile=None if folder else location, capath=location if folder else None, cadata=pem
        )
    except (OSError, ValueError) as error:
        name = "https.ca.location" if location is not None else "https.ca.pem"
        raise ConfigError(f"{name}: {error}", property=name) from error
