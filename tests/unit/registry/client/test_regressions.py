"""Bugs that were found in the registry client, each by its behaviour."""

from __future__ import annotations

import asyncio
import contextlib
import math
import pickle
import sys
import threading
import time
import uuid
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import httpx
import pytest

from registry import (
    AsyncSchemaRegistryClient,
    Metadata,
    MetadataProperties,
    MetadataTags,
    ResponseError,
    Rule,
    RuleParams,
    Schema,
    SchemaRegistryClient,
    ServerConfig,
    TransportError,
)
from registry.client.cache import Cache
from registry.client.config import ClientConfig
from registry.client.delivery import error_of
from registry.client.steps import Reply
from tests.unit.registry.client.driving import Driver
from tests.unit.registry.client.test_delivery import LOST, made

INT = Schema('"int"')


@pytest.mark.parametrize("name", [".", "..", "a/../b", "%2e%2e", "x?y#z"])
def test_a_subject_s_name_is_one_segment_of_the_path_whatever_it_is(name: str) -> None:
    """httpx takes `/config/.` for `/config`: the level of the whole registry was changed instead."""
    with SchemaRegistryClient({"url": f"mock://{uuid.uuid4()}"}) as client:
        client.set_config(name, ServerConfig(compatibility="FULL"))
        client.update_mode(name, "READONLY")
        assert client.get_config().compatibility_level == "BACKWARD"
        assert client.get_global_mode() == "READWRITE"
        assert client.get_config(name).compatibility_level == "FULL"
        client.update_mode(name, "READWRITE")
        client.register_schema(name, INT)
        assert client.get_subjects() == [name]
        assert client.delete_subject(name) == [1]


def test_an_empty_name_is_not_the_whole_registry() -> None:
    with SchemaRegistryClient({"url": f"mock://{uuid.uuid4()}"}) as client:
        for call in (client.get_config, client.delete_subject, client.get_latest_version, client.get_mode):
            with pytest.raises(ValueError, match="a name is empty"):
                call("")
        with pytest.raises(ValueError, match="a name is empty"):
            client.set_config("", ServerConfig(compatibility="NONE"))
        assert client.get_config().compatibility_level == "BACKWARD"


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        ("HTTP_PROXY", "ftp://user:s3cret@proxy:3128"),
        ("HTTP_PROXY", "http://user:s3cr/et@proxy:3128"),
        ("ALL_PROXY", "socks5://user:s3cret@proxy:3128"),
        ("NO_PROXY", "[::1,10.0.0.0/8"),
    ],
)
def test_a_proxy_that_can_not_be_used_is_a_wrong_property(
    monkeypatch: pytest.MonkeyPatch, variable: str, value: str
) -> None:
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)
    monkeypatch.setitem(sys.modules, "socksio", None)
    monkeypatch.setenv(variable, value)
    with pytest.raises(ValueError, match=r"HTTP_PROXY, .* of the environment") as raised:
        SchemaRegistryClient({"url": "http://registry"})
    assert "s3cr" not in str(raised.value)
    with SchemaRegistryClient({"url": "mock://x"}):  # asks no network
        pass
    monkeypatch.delenv(variable)
    for proxy in ("socks5://user:s3cret@proxy:3128", "http://user:s3\x01cret@proxy:3128"):
        with pytest.raises(ValueError, match=r"^proxy") as raised:
            AsyncSchemaRegistryClient({"url": "http://registry", "proxy": proxy})
        assert "s3" not in str(raised.value).partition("(")[0]


class Server:
    """Answers requests one by one, when it is told to; `held` are those that wait."""

    def __init__(self) -> None:
        self.hold: set[str] = set()
        self.held, self.go = threading.Event(), threading.Event()
        self.version = 1

    def __call__(self, request: httpx.Request) -> httpx.Response:
        answer: Any = {"subject": "s", "version": self.version, "id": self.version, "schema": '"int"'}
        if request.method in self.hold:
            self.hold.discard(request.method)
            self.held.set()
            assert self.go.wait(60)
        if request.method == "DELETE":
            answer = [self.version]
        if request.method == "POST":
            self.version += 1
            answer = {"id": self.version, "version": self.version}
        return httpx.Response(200, json=answer)


@pytest.fixture
def server() -> Server:
    return Server()


@pytest.fixture
def client(server: Server) -> Iterator[SchemaRegistryClient]:
    with SchemaRegistryClient({"url": "http://r"}, transport=httpx.MockTransport(server)) as made_client:
        yield made_client


def test_the_newest_version_after_a_registration_is_the_new_one(server: Server, client: SchemaRegistryClient) -> None:
    server.hold = {"GET"}
    early = threading.Thread(target=client.get_latest_version, args=("s",))
    early.start()
    assert server.held.wait(60)
    client.register_schema("s", INT)
    found: list[int | None] = []
    late = threading.Thread(target=lambda: found.append(client.get_latest_version("s").version))
    late.start()
    late.join(60)  # does not wait for the look-up that began before
    server.go.set()
    early.join(60)
    assert found == [2]
    assert client.get_latest_version("s").version == 2


def test_a_registration_that_was_deleted_meanwhile_is_not_remembered(
    server: Server, client: SchemaRegistryClient
) -> None:
    server.hold = {"POST"}
    first = threading.Thread(target=client.register_schema, args=("s", INT))
    first.start()
    assert server.held.wait(60)
    client.delete_subject("s")
    server.go.set()
    first.join(60)
    assert client.register_schema("s", INT) == 3  # sent again


def test_used_entries_stay_in_the_cache() -> None:
    for ttl_s in (math.inf, 1000.0):
        cache: Cache[int] = Cache(3, contextlib.nullcontext(), ttl_s, lambda: 0.0)
        cache.put("used", 1)
        for number in range(1000):
            assert cache.get("used") == 1
            cache.put(number, number)
        assert len(cache._entries) == 3


def test_a_deadline_counts_between_urls_too() -> None:
    driver = Driver([])

    def slow(step: Any) -> Any:
        driver.now_s += 1.0
        return LOST

    driver._outcomes = [slow]
    from registry.client.steps import Call

    with pytest.raises(TransportError):
        made(driver, url="http://a,http://b,http://c", timeout=1, **{"max.retries": 0})(Call("GET", "/x"))
    assert len(driver.sent) == 1


@pytest.mark.parametrize("kind", ["blocking", "asyncio"])
def test_an_answer_that_drips_or_never_ends_is_given_up(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    now_s = 0.0
    clock = SimpleNamespace(monotonic=lambda: now_s, time=time.time)
    monkeypatch.setattr("registry.client.connections.time", clock)
    monkeypatch.setattr("registry.client.aio_connections.time", clock)
    monkeypatch.setattr("kserdes_base.deadlines.time", clock)

    def drip() -> Iterator[bytes]:
        nonlocal now_s
        for _ in range(100):
            now_s += 0.02
            yield b"["

    def flood() -> Iterator[bytes]:
        for _ in range(200):
            yield bytes(1024 * 1024)

    class Stream(httpx.SyncByteStream, httpx.AsyncByteStream):
        def __init__(self, parts: Iterator[bytes]) -> None:
            self.parts = parts

        def __iter__(self) -> Iterator[bytes]:
            return self.parts

        async def __aiter__(self) -> Any:
            for part in self.parts:
                yield part

    for parts, timeout, text in ((drip, 0.1, "timed out"), (flood, 60, "larger than")):
        transport = httpx.MockTransport(lambda request, parts=parts: httpx.Response(200, stream=Stream(parts())))
        conf = {"url": "http://r", "timeout": timeout, "max.retries": 0}
        with pytest.raises(TransportError, match=text):
            ask(kind, conf, transport)
    assert 0.1 < now_s < 0.2  # not the two seconds that all of it would take


def ask(kind: str, conf: dict[str, Any], transport: Any) -> Any:
    if kind == "blocking":
        with SchemaRegistryClient(conf, transport=transport) as client:
            return client.get_subjects()

    async def scene() -> Any:
        async with AsyncSchemaRegistryClient(conf, transport=transport) as client:
            return await client.get_subjects()

    return asyncio.run(scene())


def test_json_that_is_too_deep_is_told() -> None:
    deep = b"[" * 100_000
    with pytest.raises(ResponseError, match="not JSON"):
        Reply(200, deep).json()
    assert "HTTP 500" in str(error_of(Reply(500, deep)))


@pytest.mark.parametrize(
    "conf",
    [
        {"timeout": math.nan},
        {"timeout": math.inf},
        {"cache.latest.ttl.sec": math.nan},
        {"bearer.auth.token": "žeton"},
        {"url": "http://u:geheim/1@h"},
        {"url": "http://u:geheim#1@h"},
        {"url": "http://u:geheim?1@h"},
        {"url": "http://u:geheim\u2100@h"},
        {"url": "http://u:geheim@h:port"},
        {"proxy": "u:geheim@h:3128"},
        {"proxy": "http://u:geheim/x@h"},
        {"proxy": "http://u:geheim\u2100@h"},
    ],
)
def test_settings_that_can_not_be_used_are_refused_without_showing_them(conf: dict[str, Any]) -> None:
    with pytest.raises(ValueError) as caught:
        ClientConfig.parse({"url": "http://r", **conf})
    shown = f"{caught.value!r}{caught.value.__cause__!r}"
    assert "geheim" not in shown
    assert "žeton" not in shown


OAUTH = {
    "url": "http://r",
    "bearer.auth.credentials.source": "OAUTHBEARER",
    "bearer.auth.client.id": "id",
    "bearer.auth.client.secret": "s",
    "bearer.auth.scope": "s",
    "bearer.auth.issuer.endpoint.url": "http://u:geheim@issuer/token?key=geheim",
    "max.retries": 0,
}


def test_the_url_of_an_issuer_shows_no_secret() -> None:
    def refuse(request: httpx.Request) -> httpx.Response:
        return httpx.Response(400, json={"error": "invalid"})

    with pytest.raises(TransportError, match="no token from http://issuer/token") as caught:
        ask("blocking", OAUTH, httpx.MockTransport(refuse))
    assert "geheim" not in str(caught.value)


def test_an_issuer_is_not_shown_the_user_s_own_authentication() -> None:
    seen: dict[str, str] = {}

    def answer(request: httpx.Request) -> httpx.Response:
        seen[request.url.host] = request.headers["Authorization"]
        token = {"access_token": "t", "expires_in": 60}
        return httpx.Response(200, json=token if request.url.host == "issuer" else [])

    transport, auth = httpx.MockTransport(answer), httpx.BasicAuth("own", "own")
    with SchemaRegistryClient(
        {**OAUTH, "bearer.auth.issuer.endpoint.url": "http://issuer/token"}, transport=transport, auth=auth
    ) as client:
        client.get_subjects()
    own = httpx.BasicAuth("own", "own")._auth_header
    assert (seen["issuer"] == own, seen["r"] == own) == (False, True)


def test_secrets_are_not_pickled() -> None:
    with pytest.raises(TypeError, match="not pickled"):
        pickle.dumps(ClientConfig.parse({"url": "http://r", "bearer.auth.token": "geheim"}))
    with SchemaRegistryClient({"url": "http://r"}) as client, pytest.raises(TypeError, match="not pickled"):
        pickle.dumps(client)


def test_wrappers_take_their_names_and_those_of_others() -> None:
    class Theirs:
        params = tags = properties = {"a": "b"}

    assert RuleParams(params={"a": "b"}) == MetadataTags(tags={"a": "b"}) == MetadataProperties(properties={"a": "b"})
    assert Rule("r", params=Theirs()).params == {"a": "b"}  # type: ignore[arg-type]
    found = Metadata(Theirs(), Theirs())  # type: ignore[arg-type]
    assert (found.tags, found.properties) == ({"a": "b"}, {"a": "b"})


def test_a_closed_asyncio_client_says_so() -> None:
    async def scene() -> None:
        client = AsyncSchemaRegistryClient({"url": "http://r"})
        await client.aclose()
        await client.get_subjects()

    with pytest.raises(TransportError, match="the registry client is closed"):
        asyncio.run(scene())


@pytest.mark.parametrize(("one", "other"), [("s", ":.:s"), (":.:s", "s")])
def test_a_subject_is_the_same_with_the_default_context_in_front(one: str, other: str) -> None:
    with SchemaRegistryClient({"url": f"mock://{uuid.uuid4().hex}"}) as client:
        client.set_compatibility("s", "NONE")
        client.register_schema(one, INT)
        assert client.get_latest_version(one).version == 1
        client.register_schema(other, Schema('"long"'))
        assert client.get_latest_version(one).version == 2
        client.delete_subject(other)
        with pytest.raises(ResponseError, match="not found"):
            client.get_latest_version(one)
        client.register_schema(one, INT)  # once more: what was deleted is not registered
        assert client.get_versions(other) == [3]


def test_what_is_deleted_under_an_alias_is_not_taken_for_registered() -> None:
    with SchemaRegistryClient({"url": f"mock://{uuid.uuid4().hex}"}) as client:
        client.register_schema("s", INT)
        client.set_config("alias", ServerConfig(alias="s"))
        assert client.delete_subject("alias") == [1]
        client.register_schema("s", INT)
        assert client.get_versions("s") == [2]
        assert client.delete_version("alias", 2) == 2
        client.register_schema("s", INT)
        assert client.get_versions("s") == [3]


@pytest.mark.parametrize("wrong", [True, False, 7.5, "x", None])
def test_an_id_that_is_no_whole_number_is_nobodys(wrong: object) -> None:
    def answer(request: httpx.Request) -> httpx.Response:
        return httpx.Response(200, json={"id": wrong, "version": 1, "subject": "s", "schema": INT.schema_str})

    with SchemaRegistryClient({"url": "http://r"}, transport=httpx.MockTransport(answer)) as client:
        for call in (lambda: client.register_schema("s", INT), lambda: client.get_latest_version("s").schema_id):
            with pytest.raises(ResponseError, match="lacks a required member"):
                call()
