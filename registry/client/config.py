"""The client's configuration: confluent_kafka's property names, checked early, secrets never shown.

Must not know of HTTP libraries. Source: the properties of `confluent_kafka.schema_registry.SchemaRegistryClient`.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from math import inf
from typing import Any
from urllib.parse import SplitResult, unquote, urlsplit, urlunsplit
from uuid import uuid4

from kserdes_base.config.errors import PropertyError
from kserdes_base.config.reading import split, value_of
from kserdes_base.headers import fits_header
from kserdes_base.oauth.requests import TokenRequest, instance_metadata
from registry.client.cache import MISSING_CAPACITY, MISSING_TTL_S
from registry.client.config_table import TABLE

MOCK_SCHEME = "mock"

HEADERS = {
    "target-sr-cluster": "bearer.auth.logical.cluster",
    "Confluent-Identity-Pool-Id": "bearer.auth.identity.pool.id",
}
"""Header → the property whose value it has."""

# confluent_kafka's words stand first in what it refuses, too: applications look for them.
_INVALID_URL = "Invalid url"
_USER_INFO = "basic.auth.user.info must be in the form of {username}:{password}"
_NEVER_EMPTY = {"url": _INVALID_URL, "basic.auth.user.info": _USER_INFO}

Values = dict[str, Any]
"""All properties by name, None where one is not set and has no default."""


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
        timeout_s: bound of one try, from connecting to the end of the answer.
        max_retries: further rounds over all URLs after the first.
        retries_wait_ms: bound of the first pause between rounds.
        retries_max_wait_ms: bound of every pause.
        cache_capacity: entries of each cache.
        latest_ttl_s: how long "latest" is believed; infinite by default.
        missing_capacity: how many unknown ids are remembered.
        missing_ttl_s: how long an id that the registry does not know is not asked for again; 0: it is asked every time.
        mock_is_own: whether the URL is `mock://` alone: that registry is this client's own, and begins with
            the compatibility level NONE.
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
    latest_ttl_s: float = inf
    missing_capacity: int = MISSING_CAPACITY
    missing_ttl_s: float = MISSING_TTL_S
    mock_is_own: bool = False

    def __reduce__(self) -> Any:
        raise TypeError("a registry client's configuration holds secrets and is not pickled: send the properties")

    @property
    def mock_name(self) -> str | None:
        """The name of an in-process registry (`mock://name`), None for a real one."""
        parts = urlsplit(self.urls[0])
        return (parts.netloc + parts.path) if parts.scheme == MOCK_SCHEME else None

    @property
    def base_urls(self) -> tuple[str, ...]:
        """The base URLs that calls' paths are appended to."""
        return ("http://mock",) if self.mock_name is not None else self.urls

    @classmethod
    def parse(cls, conf: Mapping[str, object]) -> ClientConfig:
        """Reads and checks a configuration.

        Raises:
            PropertyError: a property is unknown (the nearest one is named), out of range, of a wrong type (then it is a
                TypeError too), missing, or contradicts another one.
            TypeError: `conf` is no dict.
        """
        if not isinstance(conf, Mapping):
            raise TypeError(f"a dict of properties is needed, like {{'url': 'http://…'}}, not {type(conf).__name__}")
        values = TABLE.read(conf)
        for name, text in _NEVER_EMPTY.items():
            if conf.get(name) == "":  # elsewhere an empty text is a property that is not set
                raise PropertyError(f"{text}: it is empty", property=name)
        urls, url_user = _urls(values)
        basic = _basic(values, url_user)
        bearer = _bearer(values)
        if basic is not None and bearer:
            raise PropertyError("both basic.auth and bearer.auth credentials are set: use one")
        certificate, key = values["ssl.certificate.location"], values["ssl.key.location"]
        if certificate is None and (key is not None or values["ssl.key.password"] is not None):
            name = "ssl.key.password" if key is None else "ssl.key.location"
            raise PropertyError(
                "ssl.certificate.location required when configuring ssl.key.location or ssl.key.password; "
                f"{name} is set without it",
                property="ssl.certificate.location",
            )
        authorities = values["ssl.ca.location"]
        latest_ttl_s = values["cache.latest.ttl.sec"]
        return cls(
            urls=urls,
            ca_location=None if authorities is False else authorities,
            certificate_location=certificate,
            key_location=key,
            key_password=values["ssl.key.password"],
            verify=values["ssl.verify"] and authorities is not False,
            basic_user_info=basic,
            **bearer,
            proxy=_proxy(values),
            timeout_s=values["timeout"],
            max_retries=values["max.retries"],
            retries_wait_ms=values["retries.wait.ms"],
            retries_max_wait_ms=values["retries.max.wait.ms"],
            cache_capacity=values["cache.capacity"],
            latest_ttl_s=inf if latest_ttl_s is None else latest_ttl_s,
            missing_capacity=values["missing.cache.size"],
            missing_ttl_s=values["missing.id.cache.ttl.sec"],
            mock_is_own=(values["url"] or "").strip() == f"{MOCK_SCHEME}://",
        )


def _urls(conf: Values) -> tuple[tuple[str, ...], tuple[str, str] | None]:
    """The URLs without user info, and the first user info found in them; `mock://` alone is a registry of its own."""
    urls, user_info = [], None
    for item in split(conf["url"] or ""):
        parts = _parts(f"{item}{uuid4()}" if item == f"{MOCK_SCHEME}://" else item, "url")
        if parts.scheme not in ("http", "https", MOCK_SCHEME) or not parts.netloc:
            raise PropertyError(
                f"{_INVALID_URL}: it must be http://…, https://… or mock://name (several are separated by commas)",
                property="url",
            )
        if "@" in parts.path + parts.query + parts.fragment:
            raise PropertyError(
                "url: the password in it must be percent-encoded (%2F for /, %23 for #, %3F for ?)", property="url"
            )
        if parts.username is not None and user_info is None:
            user_info = (unquote(parts.username), unquote(parts.password or ""))
        host = parts.netloc.rpartition("@")[2]
        urls.append(urlunsplit((parts.scheme, host, parts.path.rstrip("/"), "", "")))
    if not urls:
        text = "Missing required configuration property url" if conf["url"] is None else _INVALID_URL
        raise PropertyError(f"{text}: where is the registry?", property="url")
    return tuple(urls), user_info


def _parts(text: str, key: str) -> SplitResult:
    """A URL's parts; errors do not quote the URL, for it may hold a password."""
    try:
        parts = urlsplit(text)
        _ = parts.port  # checked when it is asked for
    except ValueError:
        raise PropertyError(f"{key} is not a URL", property=key) from None
    return parts


def _proxy(conf: Values) -> str | None:
    text: str | None = conf["proxy"]
    if text is None:
        return None
    parts = _parts(text, "proxy")
    if parts.scheme not in ("http", "https", "socks5", "socks5h") or not parts.netloc or "@" in parts.path:
        raise PropertyError(
            "proxy must be http://[user:password@]host:port, with the password percent-encoded", property="proxy"
        )
    return text


def _basic(conf: Values, url_user: tuple[str, str] | None) -> tuple[str, str] | None:
    source, info = conf["basic.auth.credentials.source"], conf["basic.auth.user.info"]
    if source == "SASL_INHERIT":
        user, password = conf["sasl.username"], conf["sasl.password"]
        if user is None or password is None:
            raise PropertyError("SASL_INHERIT needs sasl.username and sasl.password")
        return user, password
    if info is not None and source != "URL":
        if url_user is not None:
            raise PropertyError(
                "basic.auth.user.info configured with userinfo credentials in the URL: use one of the two"
            )
        user, colon, password = info.partition(":")
        if not colon:
            raise PropertyError(_USER_INFO, property="basic.auth.user.info")
        return user, password
    if source == "USER_INFO":
        raise PropertyError("basic.auth.credentials.source is USER_INFO, but basic.auth.user.info is missing")
    return url_user


def _bearer(conf: Values) -> dict[str, Any]:
    """The settings of bearer tokens, empty if there are none."""
    source = conf["bearer.auth.credentials.source"]
    readers = {
        "STATIC_TOKEN": _static_token,
        "OAUTHBEARER": _oauth,
        "OAUTHBEARER_AZURE_IMDS": _azure,
        "CUSTOM": _custom,
    }
    found = readers[source or "STATIC_TOKEN"](conf)
    headers = bearer_headers(conf)
    if found is None:
        if headers or source is not None:
            raise PropertyError("Missing bearer.auth.token", property="bearer.auth.token")
        return {}
    return {**found, "bearer_headers": headers}


def bearer_headers(fields: Mapping[str, object]) -> dict[str, str]:
    """The headers that go with a token: logical cluster and identity pools (one, or a list).

    Args:
        fields: the properties, or what a user's function gave for a token; other fields are left alone.

    Raises:
        PropertyError: one of the two is of a wrong type.
    """
    found = {header: value_of(TABLE.find(name), fields.get(name), name) for header, name in HEADERS.items()}
    headers = {header: str(value) for header, value in found.items() if value is not None}
    for header, value in headers.items():
        _check_header(HEADERS[header], value)
    return headers


def _check_header(name: str, value: str) -> None:
    if not fits_header(value):
        raise PropertyError(
            f"{name} must be printable ASCII, without line breaks: it is sent in a header", property=name
        )


def _static_token(conf: Values) -> dict[str, Any] | None:
    token = conf["bearer.auth.token"]
    if token is None:
        return None
    _check_header("bearer.auth.token", token)
    return {"bearer_token": token}


def _oauth(conf: Values) -> dict[str, Any]:
    names = ("client.id", "client.secret", "scope", "issuer.endpoint.url")
    values = [conf[f"bearer.auth.{name}"] for name in names]
    missing = [f"bearer.auth.{name}" for name, value in zip(names, values, strict=True) if value is None]
    if missing:
        raise PropertyError(f"Missing required OAuth configuration properties: {', '.join(missing)}")
    *client, url = values
    _parts(str(url), "bearer.auth.issuer.endpoint.url")
    return {"token_request": TokenRequest(str(url), *client)}


def _azure(conf: Values) -> dict[str, Any]:
    url, query = conf["bearer.auth.issuer.endpoint.url"], conf["bearer.auth.issuer.endpoint.query"]
    if url is None and query is None:
        raise PropertyError(
            "bearer.auth.issuer.endpoint.query must be provided when bearer.auth.issuer.endpoint.url isn't overridden"
        )
    if url is not None:
        _parts(url, "bearer.auth.issuer.endpoint.url")
    return {"token_request": instance_metadata(url, query, keeps_query=False)}


def _custom(conf: Values) -> dict[str, Any]:
    names = ("bearer.auth.custom.provider.function", "bearer.auth.custom.provider.config")
    if missing := [name for name in names if conf[name] is None]:
        raise PropertyError(f"Missing required custom OAuth configuration properties: {', '.join(missing)}")
    function, argument = (conf[name] for name in names)
    return {"token_function": functools.partial(function, argument)}
