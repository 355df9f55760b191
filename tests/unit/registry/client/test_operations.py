"""Every operation of both clients against an embedded registry; own tokens and transports; many callers at once."""

from __future__ import annotations

import asyncio
import json
import logging
import threading
import uuid
from collections.abc import Callable, Iterator
from typing import Any

import httpx
import pytest
import respx

from registry import (
    AssociationCreateOrUpdateInfo,
    AssociationCreateOrUpdateRequest,
    AsyncSchemaRegistryClient,
    ConfigCompatibilityLevel,
    Metadata,
    ResponseError,
    Schema,
    SchemaRegistryClient,
    ServerConfig,
    TransportError,
    UnexpectedAnswerError,
)

URL = "http://registry.test"
INT, STRING = Schema('"int"'), Schema('"string"')


class Both:
    """Calls an operation of the blocking or of the asyncio client."""

    def __init__(self, kind: str, conf: dict[str, Any], **more: Any) -> None:
        self.kind = kind
        if kind == "blocking":
            self.client: Any = SchemaRegistryClient(conf, **more)
        else:
            self.loop = asyncio.new_event_loop()
            self.client = AsyncSchemaRegistryClient(conf, **more)

    def __getattr__(self, name: str) -> Callable[..., Any]:
        method: Callable[..., Any] = getattr(self.client, name)
        if self.kind == "blocking" or not asyncio.iscoroutinefunction(method):
            return method
        return lambda *args, **kwargs: self.loop.run_until_complete(method(*args, **kwargs))

    def close(self) -> None:
        if self.kind == "blocking":
            self.client.close()
        else:
            self.loop.run_until_complete(self.client.aclose())
            self.loop.close()


@pytest.fixture(params=["blocking", "asyncio"])
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def client(kind: str) -> Iterator[Both]:
    made = Both(kind, {"url": f"mock://operations-{uuid.uuid4()}"})
    yield made
    made.close()


# --- operations


def test_a_schema_by_guid(client: Both) -> None:
    guid = client.register_schema_full_response("s", INT).guid
    assert client.get_schema_by_guid(guid) == INT
    assert client.get_schema_by_guid(guid) is client.get_schema_by_guid(guid)  # cached
    with pytest.raises(ResponseError) as caught:
        client.get_schema_by_guid(str(uuid.uuid4()))
    assert caught.value.http_status_code == 404


def test_the_newest_version_with_metadata(client: Both) -> None:
    client.set_compatibility("s", "NONE")
    for text, owner in (('"int"', "a"), ('"string"', "b"), ('"long"', "b")):
        client.register_schema("s", Schema(text, metadata=Metadata(properties={"owner": owner, "x": "y"})))
    assert client.get_latest_with_metadata("s", {"owner": "a"}).version == 1
    assert client.get_latest_with_metadata("s", {"owner": "b", "x": "y"}).version == 3
    with pytest.raises(ResponseError):
        client.get_latest_with_metadata("s", {"owner": "c"})


def test_a_registration_updates_what_is_newest_at_once(client: Both) -> None:
    client.set_compatibility("s", "NONE")
    client.register_schema("s", INT)
    assert client.get_latest_version("s").version == 1
    client.register_schema("s", STRING)
    assert client.get_latest_version("s").version == 2


def test_modes(client: Both) -> None:
    assert client.get_global_mode() == "READWRITE"
    with pytest.raises(ResponseError) as caught:
        client.get_mode("s")
    assert caught.value.error_code == 40409
    assert client.update_mode("s", "READONLY") == "READONLY"
    assert client.get_mode("s") == "READONLY"
    with pytest.raises(ResponseError) as caught:
        client.register_schema("s", INT)
    assert caught.value.error_code == 42205
    assert client.delete_mode("s") == "READONLY"
    client.register_schema("s", INT)
    assert client.update_global_mode("IMPORT", force=True) == "IMPORT"
    assert client.get_global_mode() == "IMPORT"


def test_configurations(client: Both) -> None:
    full = ServerConfig(
        compatibility=ConfigCompatibilityLevel.FULL,
        compatibility_group="major",
        default_metadata=Metadata(properties={"owner": "me"}),
        override_metadata=Metadata(properties={"by": "registry"}),
        alias="t",
        normalize=True,
        compatibility_policy="LENIENT",
    )
    client.set_config("s", full)
    found = client.get_config("s")
    assert (found.compatibility_level, found.alias, found.normalize) == ("FULL", "t", True)
    assert (found.compatibility_group, found.compatibility_policy) == ("major", "LENIENT")
    assert found.default_metadata == full.default_metadata
    assert client.delete_config("s").alias == "t"
    with pytest.raises(ResponseError) as caught:
        client.get_compatibility("s")
    assert caught.value.error_code == 40408


def test_contexts(client: Both) -> None:
    client.register_schema(":.eu:s", INT)
    assert client.get_contexts() == [".", ".eu"]
    assert client.get_subjects(":.eu:") == [":.eu:s"]


def test_associations(client: Both) -> None:
    request = AssociationCreateOrUpdateRequest(
        "orders", "lkc", "topic-1", "topic", [AssociationCreateOrUpdateInfo("orders-v", "value", "STRONG", schema=INT)]
    )
    made = client.create_association(request)
    assert [item.subject for item in made.associations] == ["orders-v"]
    found = client.get_associations_by_resource_name("orders", "lkc", association_types=["value", "key"])
    assert [(item.subject, item.association_type, item.resource_id) for item in found] == [
        ("orders-v", "value", "topic-1")
    ]
    assert client.get_associations_by_resource_name("orders", "-", "topic", ["key"]) == []
    client.delete_associations("topic-1", cascade_lifecycle=True)
    assert client.get_associations_by_resource_name("orders", "-") == []
    assert client.get_subjects() == []


def test_compatibility_is_tested_against_one_or_all(client: Both) -> None:
    client.set_compatibility("s", "NONE")
    client.register_schema("s", STRING)
    client.register_schema("s", INT)
    client.set_compatibility("s", "BACKWARD_TRANSITIVE")
    assert client.test_compatibility("s", Schema('"long"')) is True
    assert client.test_compatibility("s", Schema('"long"'), 1) is False
    assert client.test_compatibility_all_versions("s", Schema('"long"'), verbose=True) is False


def test_caches_can_be_cleared(client: Both) -> None:
    schema_id = client.register_schema("s", INT)
    first = client.get_schema(schema_id)
    client.clear_latest_caches()
    assert client.get_schema(schema_id) is first
    client.clear_caches()
    assert client.get_schema(schema_id) is not first


# --- credentials, transports


def test_a_token_is_asked_for_once_and_sent(kind: str) -> None:
    conf = {
        "url": URL,
        "bearer.auth.credentials.source": "OAUTHBEARER",
        "bearer.auth.client.id": "id",
        "bearer.auth.client.secret": "geheim",
        "bearer.auth.scope": "s",
        "bearer.auth.issuer.endpoint.url": "http://issuer.test/token",
        "bearer.auth.logical.cluster": "lsrc",
    }
    with respx.mock:
        issuer = respx.post("http://issuer.test/token").respond(json={"access_token": "t", "expires_in": 60})
        route = respx.get(f"{URL}/subjects").respond(json=[])
        client = Both(kind, conf)
        for _ in range(3):
            client.get_subjects()
        client.close()
    assert issuer.call_count == 1
    assert [call.request.headers["Authorization"] for call in route.calls] == ["Bearer t"] * 3
    assert route.calls[0].request.headers["target-sr-cluster"] == "lsrc"


def custom(function: Any) -> dict[str, Any]:
    return {
        "url": URL,
        "bearer.auth.credentials.source": "CUSTOM",
        "bearer.auth.custom.provider.function": function,
        "bearer.auth.custom.provider.config": {"k": "v"},
    }


@respx.mock
def test_a_function_gives_tokens(kind: str) -> None:
    route = respx.get(f"{URL}/subjects").respond(json=[])
    client = Both(kind, custom(lambda conf: {"bearer.auth.token": conf["k"]}))
    client.get_subjects()
    client.close()
    assert route.calls[0].request.headers["Authorization"] == "Bearer v"


@respx.mock
def test_a_coroutine_function_may_give_tokens_to_the_asyncio_client() -> None:
    route = respx.get(f"{URL}/subjects").respond(json=[])

    async def function(conf: dict[str, str]) -> dict[str, str]:
        await asyncio.sleep(0)
        return {"bearer.auth.token": conf["k"]}

    client = Both("asyncio", custom(function))
    client.get_subjects()
    client.close()
    assert route.calls[0].request.headers["Authorization"] == "Bearer v"


def test_a_function_that_fails_is_named(kind: str) -> None:
    def function(conf: dict[str, str]) -> dict[str, str]:
        raise OSError("vault is sealed")

    client = Both(kind, custom(function))
    with pytest.raises(TransportError, match=r"provider\.function failed: OSError$"):
        client.get_subjects()
    client.close()


def test_an_own_transport_and_own_auth_are_used(kind: str) -> None:
    seen: list[httpx.Request] = []

    def answer(request: httpx.Request) -> httpx.Response:
        seen.append(request)
        return httpx.Response(200, json=["s"])

    transport, auth = httpx.MockTransport(answer), httpx.BasicAuth("u", "p")
    client = Both(kind, {"url": URL}, transport=transport, auth=auth)
    assert client.get_subjects() == ["s"]
    client.close()
    assert seen[0].headers["Authorization"].startswith("Basic ")


# --- what goes wrong


FAULTS = [
    (
        httpx.Response(200, content=b"<html>proxy</html>"),
        UnexpectedAnswerError,
        "not JSON but an HTML page of 18 bytes: is this a schema registry",
    ),
    (httpx.Response(200, content=b'{"schema": '), ResponseError, "not JSON"),
    (httpx.Response(200, json={"no": "schema"}), ResponseError, "lacks a required member"),
    (httpx.Response(302, headers={"Location": "http://elsewhere"}), ResponseError, "HTTP 302"),
    (httpx.Response(403, json={"error_code": 40301, "message": "not yours"}), ResponseError, "not yours"),
    (
        httpx.Response(500, content=b"oops"),
        ResponseError,
        "HTTP 500: the answer has no error code of a schema registry, it is 'oops'",
    ),
    (httpx.ConnectError("refused"), TransportError, "no answer from http://registry.test: refused"),
    (
        httpx.ConnectError("[SSL: WRONG_VERSION_NUMBER] wrong version number (_ssl.c:1006)"),
        TransportError,
        r"WRONG_VERSION_NUMBER.*; does the port speak TLS\? \(a plain one needs http:// in the url\)",
    ),
    (
        httpx.ConnectError("[SSL: CERTIFICATE_VERIFY_FAILED] certificate verify failed: self-signed certificate"),
        TransportError,
        "self-signed certificate; ssl.ca.location names the file of the CA to trust",
    ),
    (httpx.ReadTimeout("slow"), TransportError, "timed out"),
    (httpx.RemoteProtocolError("cut off"), TransportError, "cut off"),
]


@pytest.mark.parametrize(("outcome", "error", "text"), FAULTS)
def test_faults_are_told(kind: str, outcome: Any, error: type[Exception], text: str) -> None:
    with respx.mock:
        route = respx.get(f"{URL}/schemas/ids/1")
        if isinstance(outcome, Exception):
            route.mock(side_effect=outcome)
        else:
            fresh = httpx.Response(outcome.status_code, headers=outcome.headers, content=outcome.content)
            route.mock(return_value=fresh)
        client = Both(kind, {"url": URL, "max.retries": 0})
        with pytest.raises(error, match=text):
            client.get_schema(1)
        client.close()


def test_a_busy_registry_is_asked_again(kind: str) -> None:
    busy = httpx.Response(429, headers={"Retry-After": "0"})
    with respx.mock:
        route = respx.get(f"{URL}/schemas/ids/1")
        route.side_effect = [busy, httpx.Response(503), httpx.Response(200, json={"schema": '"int"'})]
        client = Both(kind, {"url": URL, "retries.wait.ms": 1})
        assert client.get_schema(1) == INT
        client.close()
    assert route.call_count == 3


def test_another_registry_is_asked_and_stays_first(kind: str) -> None:
    with respx.mock:
        down = respx.get("http://a.test/subjects").mock(side_effect=httpx.ConnectError("refused"))
        up = respx.get("http://b.test/subjects").respond(json=[])
        client = Both(kind, {"url": "http://a.test,http://b.test"})
        for _ in range(3):
            client.get_subjects()
        client.close()
    assert (down.call_count, up.call_count) == (1, 3)


# --- many callers


@respx.mock
def test_a_thousand_threads_make_one_request() -> None:
    ready = threading.Event()

    def slow(request: httpx.Request) -> httpx.Response:
        ready.wait(5)
        return httpx.Response(200, json={"schema": '"int"'})

    route = respx.get(f"{URL}/schemas/ids/1").mock(side_effect=slow)
    found: list[Schema] = []
    with SchemaRegistryClient({"url": URL}) as client:
        threads = [threading.Thread(target=lambda: found.append(client.get_schema(1))) for _ in range(1000)]
        for thread in threads:
            thread.start()
        ready.set()
        for thread in threads:
            thread.join(60)
    assert found == [INT] * 1000
    assert route.call_count == 1


@respx.mock
def test_in_an_outage_callers_share_one_request_and_its_error() -> None:
    ready = threading.Event()

    def down(request: httpx.Request) -> httpx.Response:
        ready.wait(5)
        raise httpx.ConnectError("refused")

    route = respx.get(f"{URL}/schemas/ids/1").mock(side_effect=down)
    errors: list[Exception] = []

    def ask(client: SchemaRegistryClient) -> None:
        try:
            client.get_schema(1)
        except TransportError as error:
            errors.append(error)

    with SchemaRegistryClient({"url": URL, "max.retries": 0}) as client:
        threads = [threading.Thread(target=ask, args=(client,)) for _ in range(50)]
        for thread in threads:
            thread.start()
        while len(client._flights._under_way) == 0:
            threading.Event().wait(0.001)
        ready.set()
        for thread in threads:
            thread.join(60)
    assert len(errors) == 50
    assert len({id(error) for error in errors}) == 50  # each its own, with its own traceback
    assert route.call_count < 50


# --- secrets


@pytest.mark.parametrize(
    "conf",
    [
        {"url": "http://alice:geheim@registry.test"},
        {"url": URL, "basic.auth.user.info": "alice:geheim"},
        {"url": URL, "bearer.auth.token": "geheim"},
        {"url": URL, "proxy": "http://proxy:geheim@127.0.0.1:1"},
        {
            "url": URL,
            "bearer.auth.credentials.source": "OAUTHBEARER",
            "bearer.auth.client.id": "id",
            "bearer.auth.client.secret": "geheim",
            "bearer.auth.scope": "s",
            "bearer.auth.issuer.endpoint.url": "http://127.0.0.1:1/token",
        },
    ],
)
def test_secrets_do_not_show(kind: str, conf: dict[str, Any], caplog: pytest.LogCaptureFixture) -> None:
    import base64
    import pickle
    import traceback

    with caplog.at_level(logging.DEBUG):
        client = Both(kind, {**conf, "max.retries": 1, "retries.wait.ms": 1, "timeout": 0.2})
        shown = repr(client.client)
        with pytest.raises(TransportError) as caught:
            client.get_subjects()
        client.close()
    error = caught.value
    shown += str(error) + repr(error) + str(pickle.loads(pickle.dumps(error))) + caplog.text
    shown += "".join(traceback.format_exception(error)) + json.dumps(str(error.__cause__))
    for secret in ("geheim", base64.b64encode(b"alice:geheim").decode(), base64.b64encode(b"id:geheim").decode()):
        assert secret not in shown


@pytest.mark.parametrize("given", ['"int"', None])
@pytest.mark.parametrize(
    "operation", ["register_schema", "lookup_schema", "test_compatibility", "test_compatibility_all_versions"]
)
def test_what_is_no_schema_is_refused_and_named(client: Both, operation: str, given: object) -> None:
    with pytest.raises(TypeError, match=rf"a Schema is needed, like Schema\(.*\), not {type(given).__name__}"):
        getattr(client, operation)("orders-value", given)
    assert client.get_subjects() == []


def test_a_level_is_no_configuration(client: Both) -> None:
    with pytest.raises(TypeError, match=r"a ServerConfig is needed, like ServerConfig\(.*\), not str"):
        client.set_config("orders-value", "FULL")
