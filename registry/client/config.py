"""The client's configuration: confluent_kafka's property names, checked early, secrets never shown.

Must not know of HTTP libraries. Source: the properties of `confluent_kafka.schema_registry.SchemaRegistryClient`.
"""

from __future__ import annotations

import difflib
import functools
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import SplitResult, unquote, urlsplit, urlunsplit

from registry.client.cache import MISSING_CAPACITY, MISSING_TTL_S

__all__ = ["MOCK_SCHEME", "ClientConfig", "TokenRequest", "bearer_headers", "masked"]

MOCK_SCHEME = "mock"

KEYS = (
    "url",
    "ssl.ca.location",
    "ssl.key.location",
    "ssl.key.password",
    "ssl.certificate.location",
    "ssl.verify",
    "basic.auth.credentials.source",
    "basic.auth.user.info",
    "sasl.username",
    "sasl.password",
    "bearer.auth.credentials.source",
    "bearer.auth.token",
    "bearer.auth.client.id",
    "bearer.auth.client.secret",
    "bearer.auth.scope",
    "bearer.auth.issuer.endpoint.url",
    "bearer.auth.issuer.endpoint.query",
    "bearer.auth.custom.provider.function",
    "bearer.auth.custom.provider.config",
    "bearer.auth.logical.cluster",
    "bearer.auth.identity.pool.id",
    "proxy",
    "timeout",
    "max.retries",
    "retries.wait.ms",
    "retries.max.wait.ms",
    "cache.capacity",
    "cache.latest.ttl.sec",
    "missing.cache.size",
    "missing.id.cache.ttl.sec",
)


LOGICAL_CLUSTER = "target-sr-cluster"
IDENTITY_POOL = "Confluent-Identity-Pool-Id"


@dataclass(frozen=True, slots=True)
class TokenRequest:
    """How tokens are asked for.

    Attributes:
        url: the token endpoint.
        client_id: OAuth2 client; None for Azure's instance metadata service, which needs none.
        client_secret: its secret.
        scope: what the token is to be good for.
    """

    url: str
    client_id: str | None = None
    client_secret: str | None = field(default=None, repr=False)
    scope: str | None = None


@dataclass(frozen=True, slots=True)
class ClientConfig:
    """The configuration as values.

    Attributes:
        urls: base URLs without user info and without a slash at the end; tried in this order.
        ca_location: PEM file with the authorities to trust; None: those of the system's bundle.
        certificate_location: PEM file of the client's certificate.
        key_location: PEM file of its key; None: the key is in the certificate's file.
        key_password: password of the key.
        verify: whether the server's certificate is checked.
        basic_user_info: user and password.
        bearer_token: a static token.
        bearer_headers: headers that go with the token (logical cluster, identity pool).
        token_request: where tokens are asked for (OAUTHBEARER, OAUTHBEARER_AZURE_IMDS).
        token_function: the user's function that gives the fields of a token (CUSTOM).
        proxy: URL of an HTTP proxy.
        timeout_s: bound of one try, connect and answer each.
        max_retries: further rounds over all URLs after the first.
        retries_wait_ms: bound of the first pause between rounds.
        retries_max_wait_ms: bound of every pause.
        cache_capacity: entries of each cache.
        latest_ttl_s: how long "latest" is believed; infinite by default.
        missing_capacity: how many unknown ids are remembered.
        missing_ttl_s: how long an id that the registry does not know is not asked for again; 0: it is asked every time.
    """

    urls: tuple[str, ...]
    ca_location: str | None = None
    certificate_location: str | None = None
    key_location: str | None = None
    key_password: str | None = field(default=None, repr=False)
    verify: bool = True
    basic_user_info: tuple[str, str] | None = field(default=None, repr=False)
    bearer_token: str | None = field(default=None, repr=False)
    bearer_headers: Mapping[str, str] = field(default_factory=dict)
    token_request: TokenRequest | None = None
    token_function: Callable[[], Any] | None = field(default=None, repr=False)
    proxy: str | None = field(default=None, repr=False)
    timeout_s: float = 30.0
    max_retries: int = 3
    retries_wait_ms: int = 1000
    retries_max_wait_ms: int = 20_000
    cache_capacity: int = 1000
    latest_ttl_s: float = math.inf
    missing_capacity: int = MISSING_CAPACITY
    missing_ttl_s: float = MISSING_TTL_S

    def __reduce__(self) -> Any:
        raise TypeError("a registry client's configuration holds secrets and is not pickled: send the properties")

    @property
    def mock_name(self) -> str | None:
        """The name of an in-process registry (`mock://name`), None for a real one."""
        parts = urlsplit(self.urls[0])
        return (parts.netloc + parts.path) if parts.scheme == MOCK_SCHEME else None

    @property
    def base_urls(self) -> tuple[str, ...]:
        """What calls' paths are appended to."""
        return ("http://mock",) if self.mock_name is not None else self.urls

    @classmethod
    def parse(cls, conf: Mapping[str, object]) -> ClientConfig:
        """Reads and checks a configuration.

        Raises:
            ValueError: an unknown key (the nearest known one is named), a missing `url`, a value out of range, or
                settings that contradict each other.
            TypeError: a value of the wrong type, or no dict.
        """
        if not isinstance(conf, Mapping):
            raise TypeError(f"a dict of properties is needed, like {{'url': 'http://…'}}, not {type(conf).__name__}")
        _refuse_unknown(conf)
        urls, url_user = _urls(conf)
        basic = _basic(conf, url_user)
        bearer = _bearer(conf)
        if basic is not None and bearer:
            raise ValueError("both basic.auth and bearer.auth credentials are set: use one")
        certificate, key = _text(conf, "ssl.certificate.location"), _text(conf, "ssl.key.location")
        if key is not None and certificate is None:
            raise ValueError("ssl.key.location is set without ssl.certificate.location")
        return cls(
            urls=urls,
            ca_location=None if conf.get("ssl.ca.location") is False else _text(conf, "ssl.ca.location"),
            certificate_location=certificate,
            key_location=key,
            key_password=_text(conf, "ssl.key.password"),
            verify=_flag(conf, "ssl.verify", True) and conf.get("ssl.ca.location") is not False,
            basic_user_info=basic,
            **bearer,
            proxy=_proxy(conf),
            timeout_s=_number(conf, "timeout", 30.0),
            max_retries=int(_number(conf, "max.retries", 3, whole=True, zero=True)),
            retries_wait_ms=int(_number(conf, "retries.wait.ms", 1000, whole=True, zero=True)),
            retries_max_wait_ms=int(_number(conf, "retries.max.wait.ms", 20_000, whole=True, zero=True)),
            cache_capacity=int(_number(conf, "cache.capacity", 1000, whole=True)),
            latest_ttl_s=_number(conf, "cache.latest.ttl.sec", math.inf),
            missing_capacity=int(_number(conf, "missing.cache.size", MISSING_CAPACITY, whole=True)),
            missing_ttl_s=_number(conf, "missing.id.cache.ttl.sec", MISSING_TTL_S, zero=True),
        )


def _refuse_unknown(conf: Mapping[str, object]) -> None:
    for key in conf:
        if key not in KEYS:
            near = difflib.get_close_matches(str(key), KEYS, 1, 0.5)
            hint = f"; did you mean {near[0]!r}?" if near else ""
            raise ValueError(f"unknown property {key!r}{hint}")


def _urls(conf: Mapping[str, object]) -> tuple[tuple[str, ...], tuple[str, str] | None]:
    """The URLs without user info, and the first user info found in them."""
    text = _text(conf, "url")
    urls, user_info = [], None
    for item in (text or "").split(","):
        if not item.strip():
            continue
        parts = _parts(item.strip(), "url")
        if parts.scheme not in ("http", "https", MOCK_SCHEME) or not parts.netloc:
            raise ValueError("url must be http://…, https://… or mock://name (several are separated by commas)")
        if "@" in parts.path + parts.query + parts.fragment:
            raise ValueError("url: the password in it must be percent-encoded (%2F for /, %23 for #, %3F for ?)")
        if parts.username is not None and user_info is None:
            user_info = (unquote(parts.username), unquote(parts.password or ""))
        host = parts.netloc.rpartition("@")[2]
        urls.append(urlunsplit((parts.scheme, host, parts.path.rstrip("/"), "", "")))
    if not urls:
        raise ValueError("url is missing: where is the registry?")
    return tuple(urls), user_info


def _parts(text: str, key: str) -> SplitResult:
    """A URL's parts; what is wrong with one is said without it, for it may hold a password."""
    try:
        parts = urlsplit(text)
        _ = parts.port  # checked when it is asked for
    except ValueError:
        raise ValueError(f"{key} is not a URL") from None
    return parts


def masked(url: str) -> str:
    """A URL as it may be shown: without user info and without its query."""
    parts = urlsplit(url)
    return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))


def _proxy(conf: Mapping[str, object]) -> str | None:
    text = _text(conf, "proxy")
    if text is None:
        return None
    parts = _parts(text, "proxy")
    if parts.scheme not in ("http", "https", "socks5", "socks5h") or not parts.netloc or "@" in parts.path:
        raise ValueError("proxy must be http://[user:password@]host:port, with the password percent-encoded")
    return text


def _basic(conf: Mapping[str, object], url_user: tuple[str, str] | None) -> tuple[str, str] | None:
    source = (_text(conf, "basic.auth.credentials.source") or "").upper()
    info = _text(conf, "basic.auth.user.info")
    if source not in ("", "URL", "USER_INFO", "SASL_INHERIT"):
        raise ValueError("basic.auth.credentials.source must be URL, USER_INFO or SASL_INHERIT")
    if source == "SASL_INHERIT":
        user, password = _text(conf, "sasl.username"), _text(conf, "sasl.password")
        if user is None or password is None:
            raise ValueError("SASL_INHERIT needs sasl.username and sasl.password")
        return user, password
    if info is not None and source != "URL":
        if url_user is not None:
            raise ValueError("credentials are given in url and in basic.auth.user.info: use one")
        user, colon, password = info.partition(":")
        if not colon:
            raise ValueError("basic.auth.user.info must be user:password")
        return user, password
    if source == "USER_INFO":
        raise ValueError("basic.auth.credentials.source is USER_INFO, but basic.auth.user.info is missing")
    return url_user


def _bearer(conf: Mapping[str, object]) -> dict[str, Any]:
    """The settings of bearer tokens, empty if there are none."""
    source = (_text(conf, "bearer.auth.credentials.source") or "STATIC_TOKEN").upper()
    readers = {
        "STATIC_TOKEN": _static_token,
        "OAUTHBEARER": _oauth,
        "OAUTHBEARER_AZURE_IMDS": _azure,
        "CUSTOM": _custom,
    }
    if source not in readers:
        raise ValueError(f"bearer.auth.credentials.source {source!r} is unknown: {', '.join(readers)}")
    found = readers[source](conf)
    headers = bearer_headers(conf)
    if found is None:
        if headers or "bearer.auth.credentials.source" in conf:
            raise ValueError("bearer.auth.token is missing")
        return {}
    return {**found, "bearer_headers": headers}


def bearer_headers(fields: Mapping[str, object]) -> dict[str, str]:
    """The headers that go with a token: logical cluster and identity pools (one, or a list)."""
    pools = fields.get("bearer.auth.identity.pool.id")
    if isinstance(pools, (list, tuple)):
        if not all(isinstance(pool, str) for pool in pools):
            raise TypeError("bearer.auth.identity.pool.id must be a string or a list of strings")
        pools = ",".join(str(pool) for pool in pools)
    named = {**fields, "bearer.auth.identity.pool.id": pools}
    found = {
        LOGICAL_CLUSTER: _text(named, "bearer.auth.logical.cluster"),
        IDENTITY_POOL: _text(named, "bearer.auth.identity.pool.id"),
    }
    return {header: value for header, value in found.items() if value is not None}


def _static_token(conf: Mapping[str, object]) -> dict[str, Any] | None:
    token = _text(conf, "bearer.auth.token")
    if token is not None and not token.isascii():
        raise ValueError("bearer.auth.token must be ASCII: it stands in a header")
    return None if token is None else {"bearer_token": token}


def _oauth(conf: Mapping[str, object]) -> dict[str, Any]:
    names = ("issuer.endpoint.url", "client.id", "client.secret", "scope")
    values = [_text(conf, f"bearer.auth.{name}") for name in names]
    missing = [f"bearer.auth.{name}" for name, value in zip(names, values, strict=True) if value is None]
    if missing:
        raise ValueError(f"OAUTHBEARER needs {', '.join(missing)}")
    _parts(str(values[0]), "bearer.auth.issuer.endpoint.url")
    return {"token_request": TokenRequest(str(values[0]), *values[1:])}


AZURE_TOKENS = "http://169.254.169.254/metadata/identity/oauth2/token"


def _azure(conf: Mapping[str, object]) -> dict[str, Any]:
    url, query = _text(conf, "bearer.auth.issuer.endpoint.url"), _text(conf, "bearer.auth.issuer.endpoint.query")
    if url is None and query is None:
        raise ValueError("OAUTHBEARER_AZURE_IMDS needs bearer.auth.issuer.endpoint.query")
    parts = _parts(url or AZURE_TOKENS, "bearer.auth.issuer.endpoint.url")
    return {"token_request": TokenRequest(urlunsplit((*parts[:3], query or parts.query, "")))}


def _custom(conf: Mapping[str, object]) -> dict[str, Any]:
    function = conf.get("bearer.auth.custom.provider.function")
    argument = conf.get("bearer.auth.custom.provider.config")
    if function is None or argument is None:
        raise ValueError("CUSTOM needs bearer.auth.custom.provider.function and bearer.auth.custom.provider.config")
    if not callable(function):
        raise TypeError("bearer.auth.custom.provider.function must be callable")
    if not isinstance(argument, dict):
        raise TypeError("bearer.auth.custom.provider.config must be a dict")
    return {"token_function": functools.partial(function, argument)}


def _text(conf: Mapping[str, object], key: str) -> str | None:
    value = conf.get(key)
    if value is not None and not isinstance(value, str):
        raise TypeError(f"{key} must be a string, not {type(value).__name__}")
    return value or None


def _flag(conf: Mapping[str, object], key: str, default: bool) -> bool:
    value = conf.get(key, default)
    if isinstance(value, str) and value.lower() in ("true", "false"):
        return value.lower() == "true"
    if not isinstance(value, bool):
        raise TypeError(f"{key} must be a boolean")
    return value


def _number(conf: Mapping[str, object], key: str, default: float, *, whole: bool = False, zero: bool = False) -> float:
    value = conf.get(key)
    if value is None:
        return default
    if isinstance(value, bool) or not isinstance(value, int if whole else (int, float)):
        raise TypeError(f"{key} must be {'a whole number' if whole else 'a number'}, not {type(value).__name__}")
    if not math.isfinite(value):
        raise ValueError(f"{key} must be a finite number")
    if value < 0 or (value == 0 and not zero):
        raise ValueError(f"{key} must be {'at least 0' if zero else 'more than 0'}")
    return value
