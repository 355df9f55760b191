"""`_rest_client`: settings and plain calls by confluent_kafka's names."""

from __future__ import annotations

import asyncio
import functools
import ssl
from collections.abc import Callable, Coroutine
from typing import Any

import httpx
import pytest
import respx

from kserdes.compat.confluent.schema_registry.bearer import AsyncOAuthClient, OAuthClient
from kserdes.compat.confluent.schema_registry.clients import AsyncSchemaRegistryClient, SchemaRegistryClient
from registry import ResponseError, TransportError
from registry.errors import OAuthTokenError

TOKEN = {"bearer.auth.credentials.source": "STATIC_TOKEN", "bearer.auth.token": "t", "bearer.auth.logical.cluster": "c"}


def awaited(test: Callable[[], Coroutine[Any, Any, None]]) -> Callable[[], None]:
    """A test that runs in a loop."""

    @functools.wraps(test)
    def run() -> None:
        asyncio.run(test())

    return run


def test_settings_are_told_by_their_names() -> None:
    conf = {"url": "http://a/,http://b", "basic.auth.user.info": "u:p", "timeout": 5, "max.retries": 7}
    rest: Any = SchemaRegistryClient({**conf, "cache.latest.ttl.sec": 60})._rest_client
    assert (rest.base_urls, rest.auth, rest.timeout, rest.max_retries) == (["http://a", "http://b"], ("u", "p"), 5, 7)
    assert (rest.cache_capacity, rest.cache_latest_ttl_sec, rest.retries_wait_ms) == (1000, 60, 1000)
    assert rest.bearer_auth_credentials_source is None
    assert isinstance(rest.session, httpx.Client)
    assert SchemaRegistryClient({"url": "http://a"})._rest_client.cache_latest_ttl_sec is None
    with pytest.raises(ValueError, match="not set"):
        rest.handle_bearer_auth({})


def test_the_session_and_its_trust_are_those_of_the_requests_to_come(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("SSL_CERT_FILE", "SSL_CERT_DIR", "NO_PROXY", "no_proxy"):  # with them httpx is asked at once
        monkeypatch.delenv(name, raising=False)
    client = SchemaRegistryClient({"url": "https://a"})
    rest = client._rest_client
    assert isinstance(rest.verify, ssl.SSLContext)
    session = rest.session
    assert session is rest.session
    client.close()
    assert session.is_closed
    assert SchemaRegistryClient({"url": "mock://"})._rest_client.verify is True
    with SchemaRegistryClient({"url": "https://a"}) as unused:
        assert unused._rest_client.max_retries == 3
    assert isinstance(unused._rest_client.verify, ssl.SSLContext)
    with pytest.raises(TransportError, match="the registry client is closed"):
        _ = unused._rest_client.session


def test_a_client_has_one_view_which_keeps_its_token() -> None:
    with SchemaRegistryClient({"url": "mock://", **TOKEN}) as client:
        assert client._rest_client is client._rest_client


def test_plain_calls_are_made_with_the_clients_retries_and_errors() -> None:
    with SchemaRegistryClient({"url": "mock://"}) as client:
        rest = client._rest_client
        assert rest.post("subjects/s/versions", {"schema": '"string"'})["id"] == 1
        assert rest.get("/subjects") == ["s"]
        assert rest.get("schemas/types") is not None
        assert rest.put("config", {"compatibility": "NONE"}) == {"compatibility": "NONE"}
        assert rest.delete("subjects/s", {"permanent": "false"}) == [1]
        with pytest.raises(ResponseError):
            rest.get("subjects/none/versions/1")


@awaited
async def test_calls_of_the_client_for_tasks_are_awaited() -> None:
    async with AsyncSchemaRegistryClient({"url": "mock://", **TOKEN}) as client:
        rest = client._rest_client
        assert await rest.get("subjects") == []
        headers: dict[str, str] = {}
        await rest.handle_bearer_auth(headers)
        assert headers == {"Authorization": "Bearer t", "target-sr-cluster": "c"}


def test_tokens_are_asked_for_with_the_clients_credentials(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[dict[str, Any]] = []

    def post(**request: Any) -> httpx.Response:
        asked.append(request)
        answer = {"access_token": "t1", "expires_in": 1000}
        return httpx.Response(200, json=answer, request=httpx.Request("POST", request["url"]))

    monkeypatch.setattr(httpx, "post", post)
    client = OAuthClient("i", "s", "o", "http://tokens", "c", 0, 1, 1)
    assert client.get_access_token() == client.get_access_token() == "t1"
    form = {"grant_type": "client_credentials", "scope": "o"}
    assert asked == [{"url": "http://tokens", "data": form, "auth": ("i", "s")}]


@pytest.mark.parametrize("asynchronous", [False, True])
def test_a_token_endpoint_is_named_without_its_secrets(asynchronous: bool) -> None:
    settings = ("i", "s", "o", "http://user:geheim@tokens/path?key=geheim", "c", 0, 1, 1)
    with respx.mock as router, pytest.raises(OAuthTokenError, match="status 401 from http://tokens/path") as caught:
        router.post(url__regex="http://.*tokens/path.*").respond(401, json={"error": "invalid_client"})
        if asynchronous:
            asyncio.run(AsyncOAuthClient(*settings).get_access_token())
        else:
            OAuthClient(*settings).get_access_token()
    assert "geheim" not in str(caught.value)
