"""Sources of bearer tokens for the registry, by the names of confluent_kafka's private modules.

Our clients have `registry.client.auth`; this is for code that makes, subclasses or calls the other classes. Source:
confluent_kafka 2.16, its docstrings and observed answers.
"""

from __future__ import annotations

import abc
import asyncio
import random
import time
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, ClassVar
from urllib.parse import urlsplit, urlunsplit

import httpx

from kserdes_base.masking import masked
from kserdes_base.oauth.renewal import REFRESH_AT
from kserdes_base.oauth.requests import AZURE_HEADERS, AZURE_TOKENS, CLIENT_CREDENTIALS
from kserdes_base.retries import full_jitter as full_jitter_of
from registry.errors import OAuthTokenError

Response = httpx.Response
BasicAuth = httpx.BasicAuth
Fields = dict[str, str]


def normalize_identity_pool(identity_pool_raw: str | list[str] | None) -> str | None:
    """Identity pools as the header has them: with commas between them; None for none.

    Raises:
        TypeError: neither a text nor a list of texts.
    """
    if identity_pool_raw is None or isinstance(identity_pool_raw, str):
        return identity_pool_raw
    if not isinstance(identity_pool_raw, list):
        raise TypeError(f"identity pool id must be a str or list, not {type(identity_pool_raw)}")
    if not all(isinstance(item, str) for item in identity_pool_raw):
        raise TypeError("All items in identity pool list must be strings")
    return ",".join(identity_pool_raw)


def full_jitter(base_delay_ms: int, max_delay_ms: int, retries_attempted: int) -> float:
    """A random pause before the next try, in milliseconds: its bound doubles with each try, up to a limit."""
    return full_jitter_of(base_delay_ms, max_delay_ms, retries_attempted, random.random)


def _bearer_fields(token: str, logical_cluster: str, identity_pool: str | None) -> Fields:
    fields = {"bearer.auth.token": token, "bearer.auth.logical.cluster": logical_cluster}
    return fields if identity_pool is None else {**fields, "bearer.auth.identity.pool.id": identity_pool}


class BearerFieldProvider(metaclass=abc.ABCMeta):
    """Gives the fields of a token."""

    @abc.abstractmethod
    def get_bearer_fields(self) -> Fields:
        """Token, logical cluster and, if there is one, identity pool, by their properties' names."""


class AsyncBearerFieldProvider(metaclass=abc.ABCMeta):
    """`BearerFieldProvider` for tasks."""

    @abc.abstractmethod
    async def get_bearer_fields(self) -> Fields:
        """As that of `BearerFieldProvider`."""


class Given:
    """A fixed token, and its fields."""

    def __init__(self, token: str, logical_cluster: str, identity_pool: str | None = None) -> None:
        self.token = token
        self.logical_cluster = logical_cluster
        self.identity_pool = identity_pool


class StaticFieldProvider(Given, BearerFieldProvider):
    """A token that was given."""

    def get_bearer_fields(self) -> Fields:
        return _bearer_fields(self.token, self.logical_cluster, self.identity_pool)


class AsyncStaticFieldProvider(Given, AsyncBearerFieldProvider):
    """`StaticFieldProvider` for tasks."""

    async def get_bearer_fields(self) -> Fields:
        return _bearer_fields(self.token, self.logical_cluster, self.identity_pool)


class CustomOAuthClient(BearerFieldProvider):
    """Bearer fields from a user's function."""

    def __init__(self, custom_function: Callable[[dict[str, Any]], Fields], custom_config: dict[str, Any]) -> None:
        self.custom_function = custom_function
        self.custom_config = custom_config

    def get_bearer_fields(self) -> Fields:
        return self.custom_function(self.custom_config)


class AsyncCustomOAuthClient(AsyncBearerFieldProvider):
    """`CustomOAuthClient` for tasks."""

    def __init__(
        self, custom_function: Callable[[dict[str, Any]], Awaitable[Fields]], custom_config: dict[str, Any]
    ) -> None:
        self.custom_function = custom_function
        self.custom_config = custom_config

    async def get_bearer_fields(self) -> Fields:
        return await self.custom_function(self.custom_config)


class Kept:
    """A token, and what says when it ends."""

    ends: ClassVar = "expires_at"
    """The value of the endpoint's answer that holds the end, in seconds since 1970."""

    def __init__(
        self,
        logical_cluster: str,
        identity_pool: str | None,
        max_retries: int,
        retries_wait_ms: int,
        retries_max_wait_ms: int,
    ) -> None:
        self.logical_cluster = logical_cluster
        self.identity_pool = identity_pool
        self.max_retries = max_retries
        self.retries_wait_ms = retries_wait_ms
        self.retries_max_wait_ms = retries_max_wait_ms
        self.token = ""
        self.token_object: dict[str, Any] = {}
        self.token_expiry_threshold = REFRESH_AT

    def token_expired(self) -> bool:
        """Whether less than a fifth of the token's life is left."""
        left_s = float(self.token_object["expires_in"]) * (1 - self.token_expiry_threshold)
        return float(self.token_object[self.ends]) < time.time() + left_s

    def _pause_s(self, tried: int, error: Exception) -> float:
        """Raises OAuthTokenError: that was the last try."""
        if tried >= self.max_retries:
            raise OAuthTokenError(f"Failed to retrieve token after {self.max_retries} attempts due to error: {error}")
        return full_jitter(self.retries_wait_ms, self.retries_max_wait_ms, tried) / 1000


class AbstractOAuthClient(Kept, BearerFieldProvider):
    """Keeps a token until most of its life is over."""

    def get_bearer_fields(self) -> Fields:
        return _bearer_fields(self.get_access_token(), self.logical_cluster, self.identity_pool)

    def get_access_token(self) -> str:
        """The kept token, or a new one.

        Raises:
            OAuthTokenError: there is none after all tries.
        """
        if not self.token or self.token_expired():
            self.generate_access_token()
        return self.token

    @abc.abstractmethod
    def fetch_token(self) -> str:
        """Asks for a token once."""

    def generate_access_token(self) -> None:
        """Asks for a token until there is one.

        Raises:
            OAuthTokenError: there is none after all tries.
        """
        for tried in range(self.max_retries + 1):
            try:
                self.token = self.fetch_token()
            except Exception as error:
                time.sleep(self._pause_s(tried, error))
            else:
                return


class AsyncAbstractOAuthClient(Kept, AsyncBearerFieldProvider):
    """`AbstractOAuthClient` for tasks."""

    async def get_bearer_fields(self) -> Fields:
        return _bearer_fields(await self.get_access_token(), self.logical_cluster, self.identity_pool)

    async def get_access_token(self) -> str:
        """As that of `AbstractOAuthClient`."""
        if not self.token or self.token_expired():
            await self.generate_access_token()
        return self.token

    @abc.abstractmethod
    async def fetch_token(self) -> str:
        """Asks for a token once."""

    async def generate_access_token(self) -> None:
        """As that of `AbstractOAuthClient`."""
        for tried in range(self.max_retries + 1):
            try:
                self.token = await self.fetch_token()
            except Exception as error:
                await asyncio.sleep(self._pause_s(tried, error))
            else:
                return


def _granted(answer: httpx.Response) -> dict[str, Any]:
    """The answer of a token endpoint, with the second at which the token ends."""
    if not answer.is_success:  # httpx's own text has the URL whole, with what is secret in it
        where = masked(str(answer.request.url))
        raise httpx.HTTPStatusError(
            f"status {answer.status_code} from {where}", request=answer.request, response=answer
        )
    token: dict[str, Any] = answer.json()
    if "expires_at" not in token and "expires_in" in token:
        token["expires_at"] = int(time.time()) + int(token["expires_in"])
    return token


class Grant:
    """An OAuth2 client that asks for tokens by its own credentials (RFC 6749 §4.4)."""

    def __init__(self, client_id: str, client_secret: str, scope: str) -> None:
        self.client_id = client_id
        self.client_secret = client_secret
        self.scope = scope

    def _request(self, url: str, grant_type: str) -> dict[str, Any]:
        form = {"grant_type": grant_type, "scope": self.scope}
        return {"url": url, "data": form, "auth": (self.client_id, self.client_secret)}


class BlockingGrant(Grant):
    def fetch_token(self, url: str, grant_type: str) -> dict[str, Any]:
        return _granted(httpx.post(**self._request(url, grant_type)))


class AsyncGrant(Grant):
    async def fetch_token(self, url: str, grant_type: str) -> dict[str, Any]:
        async with httpx.AsyncClient() as client:
            return _granted(await client.post(**self._request(url, grant_type)))


class ByCredentials(Kept):
    """A token for a client's credentials."""

    grant: ClassVar[type[Grant]]

    def __init__(
        self,
        client_id: str,
        client_secret: str,
        scope: str,
        token_endpoint: str,
        logical_cluster: str,
        max_retries: int,
        retries_wait_ms: int,
        retries_max_wait_ms: int,
        identity_pool: str | None = None,
    ) -> None:
        super().__init__(logical_cluster, identity_pool, max_retries, retries_wait_ms, retries_max_wait_ms)
        self.client: Any = self.grant(client_id, client_secret, scope)
        self.token_endpoint = token_endpoint


class OAuthClient(ByCredentials, AbstractOAuthClient):
    """Tokens for a client's credentials."""

    grant = BlockingGrant

    def fetch_token(self) -> str:
        self.token_object = self.client.fetch_token(url=self.token_endpoint, grant_type=CLIENT_CREDENTIALS)
        return str(self.token_object["access_token"])


class AsyncOAuthClient(ByCredentials, AsyncAbstractOAuthClient):
    """`OAuthClient` for tasks."""

    grant = AsyncGrant

    async def fetch_token(self) -> str:
        self.token_object = await self.client.fetch_token(url=self.token_endpoint, grant_type=CLIENT_CREDENTIALS)
        return str(self.token_object["access_token"])


class ByMetadata(Kept):
    """A token of Azure's instance metadata service."""

    ends = "expires_on"
    connect: ClassVar[Callable[[], Any]]

    def __init__(self, token_endpoint: str, *settings: Any, **named: Any) -> None:
        super().__init__(*settings, **named)
        self.client = type(self).connect()
        self.token_endpoint = token_endpoint


class OAuthAzureIMDSClient(ByMetadata, AbstractOAuthClient):
    """Tokens of Azure's instance metadata service."""

    connect = httpx.Client

    def fetch_token(self) -> str:
        self.token_object = self.client.get(self.token_endpoint, headers=AZURE_HEADERS).json()
        return str(self.token_object["access_token"])


class AsyncOAuthAzureIMDSClient(ByMetadata, AsyncAbstractOAuthClient):
    """`OAuthAzureIMDSClient` for tasks."""

    connect = httpx.AsyncClient

    async def fetch_token(self) -> str:
        self.token_object = (await self.client.get(self.token_endpoint, headers=AZURE_HEADERS)).json()
        return str(self.token_object["access_token"])


# ---- from configurations


def _needed(conf: dict[str, Any], names: list[str], what: str) -> None:
    missing = [name for name in names if name not in conf]
    if missing:
        raise ValueError(f"Missing required {what} configuration properties: {', '.join(missing)}")


def _text(conf: dict[str, Any], name: str, said: str = "") -> str:
    """Takes a text out of a configuration."""
    value = conf.pop(name)
    if not isinstance(value, str):
        raise TypeError(f"{said or name} must be a str, not {type(value)}")
    return value


class AbstractOAuthBearerFieldProviderBuilder(metaclass=abc.ABCMeta):
    """Takes what every bearer token needs out of a configuration."""

    required_properties: ClassVar = ["bearer.auth.logical.cluster"]

    def __init__(self, conf: dict[str, Any]) -> None:
        self.conf = conf
        self.logical_cluster = ""
        self.identity_pool: str | None = None

    def _validate(self) -> None:
        _needed(self.conf, AbstractOAuthBearerFieldProviderBuilder.required_properties, "bearer")
        self.logical_cluster = _text(self.conf, "bearer.auth.logical.cluster", "logical cluster")
        self.identity_pool = normalize_identity_pool(self.conf.pop("bearer.auth.identity.pool.id", None))

    @abc.abstractmethod
    def build(self, max_retries: int, retries_wait_ms: int, retries_max_wait_ms: int) -> Any:
        """The provider.

        Raises:
            ValueError: a property is missing.
            TypeError: a property is of a wrong type.
        """


class AbstractOAuthBearerOIDCFieldProviderBuilder(AbstractOAuthBearerFieldProviderBuilder):
    """`OAUTHBEARER`: tokens for a client's credentials."""

    required_properties: ClassVar = [
        "bearer.auth.client.id",
        "bearer.auth.client.secret",
        "bearer.auth.scope",
        "bearer.auth.issuer.endpoint.url",
    ]

    def __init__(self, conf: dict[str, Any]) -> None:
        super().__init__(conf)
        self.client_id = self.client_secret = self.scope = self.token_endpoint = ""

    def _validate(self) -> None:
        super()._validate()
        names = AbstractOAuthBearerOIDCFieldProviderBuilder.required_properties
        _needed(self.conf, names, "OAuth")
        self.client_id, self.client_secret, self.scope, self.token_endpoint = (_text(self.conf, name) for name in names)


class AbstractOAuthBearerOIDCAzureIMDSFieldProviderBuilder(AbstractOAuthBearerFieldProviderBuilder):
    """`OAUTHBEARER_AZURE_IMDS`: tokens of Azure's instance metadata service."""

    def __init__(self, conf: dict[str, Any]) -> None:
        super().__init__(conf)
        self.token_endpoint = AZURE_TOKENS

    def _validate(self) -> None:
        super()._validate()
        own_url = "bearer.auth.issuer.endpoint.url" in self.conf
        if own_url:
            self.token_endpoint = _text(self.conf, "bearer.auth.issuer.endpoint.url")
        try:
            parts = urlsplit(self.token_endpoint)
        except ValueError as error:
            raise ValueError(f"Failed to parse token endpoint URL: {error}") from error
        if self.conf.get("bearer.auth.issuer.endpoint.query"):
            query = _text(self.conf, "bearer.auth.issuer.endpoint.query")
            self.token_endpoint = urlunsplit(parts._replace(query=query, fragment=""))
            return
        self.conf.pop("bearer.auth.issuer.endpoint.query", None)
        if not own_url:
            raise ValueError(
                "bearer.auth.issuer.endpoint.query must be provided "
                "when bearer.auth.issuer.endpoint.url isn't overridden"
            )


class StaticOAuthBearerFieldProviderBuilder(AbstractOAuthBearerFieldProviderBuilder):
    """`STATIC_TOKEN`: a token that was given."""

    def __init__(self, conf: dict[str, Any]) -> None:
        super().__init__(conf)
        self.static_token = ""

    def _validate(self) -> None:
        super()._validate()
        if "bearer.auth.token" not in self.conf:
            raise ValueError("Missing bearer.auth.token")
        self.static_token = _text(self.conf, "bearer.auth.token")

    def build(self, max_retries: int, retries_wait_ms: int, retries_max_wait_ms: int) -> Any:
        self._validate()
        return StaticFieldProvider(self.static_token, self.logical_cluster, self.identity_pool)


class AbstractCustomOAuthBearerFieldProviderBuilder:
    """`CUSTOM`: the result of a user's function."""

    required_properties: ClassVar = ["bearer.auth.custom.provider.function", "bearer.auth.custom.provider.config"]

    def __init__(self, conf: dict[str, Any]) -> None:
        self.conf = conf
        self.custom_function: Callable[[dict[str, Any]], Any] | None = None
        self.custom_config: dict[str, Any] | None = None

    def _validate(self) -> None:
        function, config = self.required_properties
        _needed(self.conf, self.required_properties, "custom OAuth")
        self.custom_function = self.conf.pop(function)
        if not callable(self.custom_function):
            raise TypeError(f"{function} must be a callable, not {type(self.custom_function)}")
        self.custom_config = self.conf.pop(config)
        if not isinstance(self.custom_config, dict):
            raise TypeError(f"{config} must be a dict, not {type(self.custom_config)}")


class OAuthBearerOIDCFieldProviderBuilder(AbstractOAuthBearerOIDCFieldProviderBuilder):
    """Builds `OAuthClient`."""

    client: ClassVar[Callable[..., Any]] = OAuthClient

    def build(self, max_retries: int, retries_wait_ms: int, retries_max_wait_ms: int) -> Any:
        self._validate()
        return type(self).client(
            self.client_id,
            self.client_secret,
            self.scope,
            self.token_endpoint,
            self.logical_cluster,
            max_retries,
            retries_wait_ms,
            retries_max_wait_ms,
            self.identity_pool,
        )


class OAuthBearerOIDCAzureIMDSFieldProviderBuilder(AbstractOAuthBearerOIDCAzureIMDSFieldProviderBuilder):
    """Builds `OAuthAzureIMDSClient`."""

    client: ClassVar[Callable[..., Any]] = OAuthAzureIMDSClient

    def build(self, max_retries: int, retries_wait_ms: int, retries_max_wait_ms: int) -> Any:
        self._validate()
        pauses = (retries_wait_ms, retries_max_wait_ms)
        return type(self).client(self.token_endpoint, self.logical_cluster, self.identity_pool, max_retries, *pauses)


class CustomOAuthBearerFieldProviderBuilder(AbstractCustomOAuthBearerFieldProviderBuilder):
    """Builds `CustomOAuthClient`."""

    client: ClassVar[Callable[..., Any]] = CustomOAuthClient

    def build(self, max_retries: int, retries_wait_ms: int, retries_max_wait_ms: int) -> Any:
        self._validate()
        return type(self).client(self.custom_function, self.custom_config)


class StaticFieldProviderBuilder(StaticOAuthBearerFieldProviderBuilder):
    """Builds `StaticFieldProvider`."""


class AsyncOAuthBearerOIDCFieldProviderBuilder(OAuthBearerOIDCFieldProviderBuilder):
    """Builds `AsyncOAuthClient`."""

    client = AsyncOAuthClient


class AsyncOAuthBearerOIDCAzureIMDSFieldProviderBuilder(OAuthBearerOIDCAzureIMDSFieldProviderBuilder):
    """Builds `AsyncOAuthAzureIMDSClient`."""

    client = AsyncOAuthAzureIMDSClient


class AsyncCustomOAuthBearerFieldProviderBuilder(CustomOAuthBearerFieldProviderBuilder):
    """Builds `AsyncCustomOAuthClient`."""

    client = AsyncCustomOAuthClient


class AsyncStaticFieldProviderBuilder(StaticOAuthBearerFieldProviderBuilder):
    """Builds `AsyncStaticFieldProvider`."""

    def build(self, max_retries: int, retries_wait_ms: int, retries_max_wait_ms: int) -> Any:
        self._validate()
        return AsyncStaticFieldProvider(self.static_token, self.logical_cluster, self.identity_pool)


class FieldProviderBuilder:
    """Finds the builder that a configuration asks for."""

    builders: ClassVar[Mapping[str, Callable[[dict[str, Any]], Any]]] = {
        "OAUTHBEARER": OAuthBearerOIDCFieldProviderBuilder,
        "OAUTHBEARER_AZURE_IMDS": OAuthBearerOIDCAzureIMDSFieldProviderBuilder,
        "STATIC_TOKEN": StaticFieldProviderBuilder,
        "CUSTOM": CustomOAuthBearerFieldProviderBuilder,
    }

    @classmethod
    def build(cls, conf: dict[str, Any], max_retries: int, retries_wait_ms: int, retries_max_wait_ms: int) -> Any:
        """(source, provider), both None for no bearer token; takes its properties out of the configuration.

        Raises:
            ValueError: an unknown source, or a property is missing.
            TypeError: a property is of a wrong type.
        """
        source = conf.pop("bearer.auth.credentials.source", None)
        if source is None:
            return [None, None]
        if source not in cls.builders:
            raise ValueError("Unrecognized bearer.auth.credentials.source")
        return source, cls.builders[source](conf).build(max_retries, retries_wait_ms, retries_max_wait_ms)


class AsyncFieldProviderBuilder(FieldProviderBuilder):
    """`FieldProviderBuilder` for tasks."""

    builders = {
        "OAUTHBEARER": AsyncOAuthBearerOIDCFieldProviderBuilder,
        "OAUTHBEARER_AZURE_IMDS": AsyncOAuthBearerOIDCAzureIMDSFieldProviderBuilder,
        "STATIC_TOKEN": AsyncStaticFieldProviderBuilder,
        "CUSTOM": AsyncCustomOAuthBearerFieldProviderBuilder,
    }
