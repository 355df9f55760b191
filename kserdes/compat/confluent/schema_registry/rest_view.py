"""A registry client's settings and its plain HTTP calls, as confluent_kafka's `_rest_client` has them.

Our operations don't use it; it is for code that looks at a client's settings or asks for a path of its own. Must not
know of connections: calls run as flows of the client.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import isfinite
from typing import Any, ClassVar

from kserdes.compat.confluent.schema_registry.bearer import AsyncFieldProviderBuilder, FieldProviderBuilder
from registry.client.config import ClientConfig, bearer_headers
from registry.client.steps import Call, Flow, send

REQUIRED = ("bearer.auth.token", "bearer.auth.logical.cluster")


def _answer(method: str, url: str, query: Mapping[str, Any] | None, body: Any) -> Flow[Any]:
    reply = yield from send(Call(method, f"/{url.lstrip('/')}", query or {}, body))
    return reply.json() if reply.body and reply.status != 204 else None


def _sign(headers: dict[str, str], fields: Mapping[str, str]) -> None:
    missing = [name for name in REQUIRED if name not in fields]
    if missing:
        raise ValueError(
            "Missing required bearer auth fields, needs to be set in config or custom function: " + ", ".join(missing)
        )
    headers["Authorization"] = f"Bearer {fields['bearer.auth.token']}"
    headers.update(bearer_headers(fields))


class RestView:
    """A client's settings, by confluent_kafka's names, and plain calls.

    Args:
        config: the client's configuration.
        conf: the same as it was given.
        verify: its TLS.
        session: gives its client of httpx, which is another after a fork.
        drive: runs a flow.
    """

    builder: ClassVar[Any] = FieldProviderBuilder

    def __init__(
        self,
        config: ClientConfig,
        conf: Mapping[str, object],
        verify: Any,
        session: Callable[[], Any],
        drive: Callable[[Flow[Any]], Any],
    ) -> None:
        self._session = session
        self._drive = drive
        self.base_urls = list(config.urls)
        self.verify = verify
        self.auth = config.basic_user_info
        self.proxy = config.proxy
        self.timeout = config.timeout_s
        self.cache_capacity = config.cache_capacity
        self.cache_latest_ttl_sec = config.latest_ttl_s if isfinite(config.latest_ttl_s) else None
        self.max_retries = config.max_retries
        self.retries_wait_ms = config.retries_wait_ms
        self.retries_max_wait_ms = config.retries_max_wait_ms
        self.bearer_auth_credentials_source, self.bearer_field_provider = self.builder.build(
            dict(conf), self.max_retries, self.retries_wait_ms, self.retries_max_wait_ms
        )

    @property
    def session(self) -> Any:
        """The client of httpx."""
        return self._session()

    def handle_bearer_auth(self, headers: dict[str, str]) -> Any:
        """Adds the headers of a bearer token.

        Raises:
            ValueError: there is no provider, or it gives too little.
        """
        _sign(headers, self._provider().get_bearer_fields())

    def get(self, url: str, query: Mapping[str, Any] | None = None) -> Any:
        """The JSON of a path."""
        return self.send_request(url, "GET", query=query)

    def post(self, url: str, body: Any, **kwargs: Any) -> Any:
        """The JSON of the answer."""
        return self.send_request(url, "POST", body)

    def put(self, url: str, body: Any = None) -> Any:
        """The JSON of the answer."""
        return self.send_request(url, "PUT", body)

    def delete(self, url: str, query: Mapping[str, Any] | None = None) -> Any:
        """The JSON of the answer."""
        return self.send_request(url, "DELETE", query=query)

    def send_request(self, url: str, method: str, body: Any = None, query: Mapping[str, Any] | None = None) -> Any:
        """The JSON of the answer, None for an empty one; with the client's retries and credentials.

        Raises:
            SchemaRegistryError: the registry refuses, or does not answer.
        """
        return self._drive(_answer(method, url, query, body))

    def _provider(self) -> Any:
        if self.bearer_field_provider is None:
            raise ValueError("Bearer field provider is not set")
        return self.bearer_field_provider


class AsyncRestView(RestView):
    """`RestView` of an asyncio client: its calls are awaited."""

    builder = AsyncFieldProviderBuilder

    async def handle_bearer_auth(self, headers: dict[str, str]) -> None:
        """As that of `RestView`."""
        _sign(headers, await self._provider().get_bearer_fields())
