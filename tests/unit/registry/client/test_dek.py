"""registry.client.dek: the DEK registry's client, its cache and its errors."""

from __future__ import annotations

import asyncio
import inspect
import json
import uuid
from collections.abc import Iterator

import httpx
import pytest
import respx

from registry import ResponseError, SchemaRegistryError
from registry.client.aio_dek import AsyncDekRegistryClient
from registry.client.dek import DekRegistryClient
from registry.client.dek_flows import BELIEVED_S, NEWEST
from registry.dek_models import DekAlgorithm

URL = "http://registry.test"
KEKS = f"{URL}/dek-registry/v1/keks"
DEK = {"kekName": "k/1", "subject": "s/1", "version": 1, "algorithm": "AES256_GCM", "encryptedKeyMaterial": "YQ=="}


@pytest.fixture
def client() -> Iterator[DekRegistryClient]:
    with DekRegistryClient.new_client({"url": URL, "max.retries": 0}) as made:
        yield made


def test_against_the_embedded_registry() -> None:
    with DekRegistryClient({"url": f"mock://dek-{uuid.uuid4()}"}) as client:
        kek = client.register_kek("k", "local-kms", "id", kms_props={"a": "b"}, doc="d")
        assert client.get_kek("k") == kek
        dek = client.register_dek("k", "s", "YQ==")
        assert client.get_dek("k", "s") == dek
        assert client.get_dek("k", "s", version=NEWEST).version == 1
        client.register_dek("k", "s", "Yg==", version=2)
        assert client.get_dek("k", "s", version=NEWEST).version == 2  # what was cached is forgotten
        with pytest.raises(ResponseError) as caught:
            client.get_dek("k", "s", DekAlgorithm.AES128_GCM)
        assert (caught.value.http_status_code, caught.value.error_code) == (404, 40470)


def test_names_are_quoted_and_answers_cached(client: DekRegistryClient) -> None:
    with respx.mock:
        route = respx.get(url__startswith=f"{KEKS}/k%2F1/deks/s%2F1/versions/1").respond(json=DEK)
        for _ in range(3):
            assert client.get_dek("k/1", "s/1").version == 1
        assert route.call_count == 1
        assert dict(route.calls[0].request.url.params) == {"algorithm": "AES256_GCM", "deleted": "false"}


def test_older_registries_have_no_subject_in_the_path(client: DekRegistryClient) -> None:
    with respx.mock:
        respx.post(f"{KEKS}/k%2F1/deks/s%2F1").respond(405, json={"error_code": 405, "message": "no"})
        older = respx.post(f"{KEKS}/k%2F1/deks").respond(json=DEK)
        client.register_dek("k/1", "s/1", "YQ==")
        assert json.loads(older.calls[0].request.content)["subject"] == "s/1"


@pytest.mark.parametrize("status", [409, 422, 500])
def test_other_refusals_are_raised(client: DekRegistryClient, status: int) -> None:
    with respx.mock:
        respx.post(f"{KEKS}/k/deks/s").respond(status, json={"error_code": status, "message": "no"})
        with pytest.raises(ResponseError) as caught:
            client.register_dek("k", "s", "YQ==")
        assert caught.value.http_status_code == status


@pytest.mark.parametrize("body", [b"{}", b"[]", b"nonsense", b'{"name": 1}'])
def test_an_answer_that_is_none_is_told(client: DekRegistryClient, body: bytes) -> None:
    with respx.mock:
        respx.get(url__startswith=f"{KEKS}/k").mock(return_value=httpx.Response(200, content=body))
        with pytest.raises(SchemaRegistryError):
            client.get_kek("k")


def test_a_context_is_a_parameter(client: DekRegistryClient) -> None:
    with respx.mock:
        made = {"name": "k", "kmsType": "t", "kmsKeyId": "i"}
        route = respx.post(url__startswith=KEKS).respond(json=made)
        client.register_kek("k", "t", "i", context=".c")
        assert route.calls[0].request.url.params["context"] == ".c"
        assert client.get_kek("k", context=".c").kms_key_id == "i"  # cached


class Clock:
    def __init__(self) -> None:
        self.now_s = 0.0

    def __call__(self) -> float:
        return self.now_s


KEK = {"name": "k", "kmsType": "t", "kmsKeyId": "i"}


@pytest.mark.parametrize(("conf", "believed_s"), [({}, BELIEVED_S), ({"cache.latest.ttl.sec": 10}, 10)])
def test_keys_that_may_change_are_looked_up_again(conf: dict[str, object], believed_s: float) -> None:
    clock = Clock()
    with DekRegistryClient({"url": URL, "max.retries": 0, **conf}, clock=clock) as client, respx.mock:
        kek = respx.get(url__startswith=f"{KEKS}/k?").respond(json=KEK)
        newest = respx.get(url__startswith=f"{KEKS}/k/deks/s/versions/-1").respond(json=DEK)
        first = respx.get(url__startswith=f"{KEKS}/k/deks/s/versions/1").respond(json=DEK)
        for now_s in (0, believed_s * 0.9, believed_s * 1.1):
            clock.now_s = now_s
            client.get_kek("k")
            client.get_dek("k", "s", version=NEWEST)
            client.get_dek("k", "s")
        assert [route.call_count for route in (kek, newest, first)] == [2, 2, 1]


def test_cached_keys_are_used_while_the_registry_does_not_answer(caplog: pytest.LogCaptureFixture) -> None:
    clock = Clock()
    with DekRegistryClient({"url": URL, "max.retries": 0}, clock=clock) as client, respx.mock:
        route = respx.get(url__startswith=f"{KEKS}/k?").respond(json=KEK)
        known = client.get_kek("k")
        route.respond(503)
        clock.now_s = BELIEVED_S + 1
        assert [client.get_kek("k") for _ in range(3)] == [known] * 3
        assert route.call_count == 2  # not asked at every call meanwhile
        assert "the old answer is used" in caplog.text
        route.respond(404, json={"error_code": 40470, "message": "gone"})
        clock.now_s += BELIEVED_S
        for _ in range(2):
            with pytest.raises(ResponseError, match="gone"):
                client.get_kek("k")


# --- asyncio


def test_the_asyncio_client_finds_registers_and_remembers() -> None:
    clock = Clock()

    async def scene() -> None:
        async with AsyncDekRegistryClient.new_client({"url": f"mock://dek-{uuid.uuid4()}"}) as client:
            kek = await client.register_kek("k", "local-kms", "id")
            assert await client.get_kek("k") is kek  # cached
            assert (await client.register_dek("k", "s", "YQ==")).version == 1
            assert (await client.get_dek("k", "s", version=NEWEST)).version == 1
            await client.register_dek("k", "s", "Yg==", version=2)
            assert (await client.get_dek("k", "s", version=NEWEST)).version == 2
            with pytest.raises(ResponseError):
                await client.get_kek("none")
        async with AsyncDekRegistryClient({"url": URL, "max.retries": 0}, clock=clock) as client:
            with respx.mock:
                route = respx.get(url__startswith=f"{KEKS}/k?").respond(json=KEK)
                known = await client.get_kek("k")
                route.respond(503)
                clock.now_s = BELIEVED_S + 1
                assert [await client.get_kek("k") for _ in range(3)] == [known] * 3
                assert route.call_count == 2

    asyncio.run(scene())


def test_both_clients_have_the_same_methods() -> None:
    def public(kind: type) -> dict[str, str]:
        found = inspect.getmembers(kind, inspect.isfunction)
        return {name: str(inspect.signature(method)) for name, method in found if name[0] != "_" or name == "__init__"}

    blocking, awaited = public(DekRegistryClient), public(AsyncDekRegistryClient)
    assert awaited.pop("aclose") == blocking.pop("close")
    assert awaited.pop("new_client").replace("Async", "") == blocking.pop("new_client")
    assert awaited == blocking
