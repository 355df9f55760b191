from __future__ import annotations

import asyncio
import inspect
from collections.abc import Coroutine
from typing import Any, TypeVar

import httpx
import pytest
import respx

from registry import (
    AsyncSchemaRegistryClient,
    RegisteredSchema,
    ResponseError,
    Schema,
    SchemaRegistryClient,
    TransportError,
)
from registry.dev import serve

T = TypeVar("T")
URL = "http://registry.test"
QUICK = {"url": URL, "max.retries": 0}
NOT_ALIKE = {"close", "aclose", "new_client"}
NOT_AWAITED = {"config", "clear_caches", "clear_latest_caches", "tell", "latest_until_s"}


def run(coroutine: Coroutine[Any, Any, T]) -> T:
    return asyncio.run(asyncio.wait_for(coroutine, 60))


def methods(cls: type) -> dict[str, Any]:
    return {name: member for name, member in vars(cls).items() if not name.startswith("_") and name not in NOT_ALIKE}


def test_both_shells_have_the_same_methods_signatures_and_docstrings() -> None:
    blocking, awaited = methods(SchemaRegistryClient), methods(AsyncSchemaRegistryClient)
    assert blocking.keys() == awaited.keys()
    for name, method in blocking.items():
        assert inspect.signature(method) == inspect.signature(awaited[name]), name
        assert inspect.getdoc(method) == inspect.getdoc(awaited[name]), name
        assert inspect.iscoroutinefunction(awaited[name]) is (name not in NOT_AWAITED), name


def test_every_method_is_documented() -> None:
    assert [name for name, method in methods(SchemaRegistryClient).items() if not method.__doc__] == []


def test_register_and_read_back_without_network(request: pytest.FixtureRequest) -> None:
    async def scene() -> tuple[Schema, list[str]]:
        async with AsyncSchemaRegistryClient.new_client({"url": f"mock://{request.node.nodeid}"}) as client:
            schema_id = await client.register_schema("s", Schema('"int"'))
            return await client.get_schema(schema_id), await client.get_subjects()

    assert run(scene()) == (Schema('"int"'), ["s"])


@respx.mock(base_url=URL)
def test_concurrent_look_ups_make_one_request(respx_mock: respx.MockRouter) -> None:
    route = respx_mock.get("/schemas/ids/1").respond(json={"schema": '"int"'})

    async def scene() -> list[Schema]:
        async with AsyncSchemaRegistryClient(QUICK) as client:
            return await asyncio.gather(*(client.get_schema(1) for _ in range(1000)))

    assert run(scene()) == [Schema('"int"')] * 1000
    assert route.call_count == 1


@respx.mock(base_url=URL)
def test_concurrent_look_ups_share_the_error(respx_mock: respx.MockRouter) -> None:
    route = respx_mock.get("/schemas/ids/1").respond(404, json={"error_code": 40403, "message": "gone"})

    async def scene() -> list[Any]:
        async with AsyncSchemaRegistryClient(QUICK) as client:
            return await asyncio.gather(*(client.get_schema(1) for _ in range(5)), return_exceptions=True)

    errors = run(scene())
    assert {type(error) for error in errors} == {ResponseError}
    assert len({id(error) for error in errors}) == 5
    assert route.call_count == 1


@respx.mock(base_url=URL)
def test_a_cancelled_caller_leaves_the_look_up_to_the_others(respx_mock: respx.MockRouter) -> None:
    # events: A asks; B waits for A; A is cancelled; the answer comes; B has it
    async def scene() -> tuple[bool, Schema]:
        asked, answered = asyncio.Event(), asyncio.Event()

        async def answer(request: httpx.Request) -> httpx.Response:
            asked.set()
            await answered.wait()
            return httpx.Response(200, json={"schema": '"int"'})

        respx_mock.get("/schemas/ids/1").mock(side_effect=answer)
        async with AsyncSchemaRegistryClient(QUICK) as client:
            one = asyncio.create_task(client.get_schema(1))
            two = asyncio.create_task(client.get_schema(1))
            await asked.wait()
            one.cancel()
            await asyncio.sleep(0)
            answered.set()
            found = await two
            return one.cancelled(), found

    assert run(scene()) == (True, Schema('"int"'))
    assert respx_mock.calls.call_count == 1


@respx.mock(base_url=URL, assert_all_called=False)
def test_close_ends_look_ups_under_way(respx_mock: respx.MockRouter) -> None:
    async def scene() -> Any:
        asked = asyncio.Event()

        async def never(request: httpx.Request) -> httpx.Response:
            asked.set()
            await asyncio.Event().wait()
            raise AssertionError

        respx_mock.get("/schemas/ids/1").mock(side_effect=never)
        client = AsyncSchemaRegistryClient(QUICK)
        task = asyncio.create_task(client.get_schema(1))
        await asked.wait()
        await client.aclose()
        return (await asyncio.gather(task, return_exceptions=True))[0]

    assert isinstance(run(scene()), TransportError)


@respx.mock(base_url=URL)
def test_transport_error(respx_mock: respx.MockRouter) -> None:
    respx_mock.get("/subjects").mock(side_effect=httpx.ConnectError("refused"))

    async def scene() -> None:
        async with AsyncSchemaRegistryClient({**QUICK, "max.retries": 1, "retries.wait.ms": 0}) as client:
            await client.get_subjects()

    with pytest.raises(TransportError, match="refused"):
        run(scene())
    assert respx_mock.calls.call_count == 2


def test_repr() -> None:
    assert repr(AsyncSchemaRegistryClient({"url": "http://a:b@c"})) == "AsyncSchemaRegistryClient(http://c)"


# --- several event loops


def test_connections_and_look_ups_of_a_loop_that_has_ended_are_not_used_in_the_next() -> None:
    with serve() as server, asyncio.Runner() as first, asyncio.Runner() as second:
        client = AsyncSchemaRegistryClient({"url": server.url})

        async def leave_a_look_up() -> None:
            client.clear_caches()
            left.append(asyncio.create_task(client.get_latest_version("s")))
            await asyncio.sleep(0)
            assert client._flights

        async def tidy_up() -> None:
            await asyncio.gather(*left)
            await connections.aclose()

        left: list[asyncio.Task[RegisteredSchema]] = []
        assert first.run(client.register_schema("s", Schema('"int"'))) == 1
        first.run(leave_a_look_up())
        connections = client._http
        assert second.run(asyncio.wait_for(client.get_latest_version("s"), 60)).version == 1
        second.run(client.aclose())
        first.run(tidy_up())


def test_a_loop_that_runs_elsewhere_keeps_its_client() -> None:
    with serve() as server, asyncio.Runner() as runner:
        client = AsyncSchemaRegistryClient({"url": server.url})

        async def both() -> None:
            assert await client.register_schema("s", Schema('"int"')) == 1
            with pytest.raises(TransportError, match="another event loop, which runs"):
                await asyncio.to_thread(asyncio.run, client.get_subjects())
            assert await client.get_subjects() == ["s"]
            await client.aclose()

        runner.run(both())


def test_look_ups_of_a_transport_of_ones_own_are_shared_in_each_loop_alone() -> None:
    async def both() -> None:
        begun, go = asyncio.Event(), asyncio.Event()
        asked: list[httpx.Request] = []

        async def answer(request: httpx.Request) -> httpx.Response:
            asked.append(request)
            if len(asked) == 1:
                begun.set()
                await go.wait()
            return httpx.Response(200, json={"subject": "s", "version": 1, "id": 1, "schema": '"int"'})

        client = AsyncSchemaRegistryClient({"url": URL}, transport=httpx.MockTransport(answer))
        here = asyncio.create_task(client.get_latest_version("s"))
        await begun.wait()
        there = await asyncio.to_thread(asyncio.run, client.get_latest_version("s"))
        go.set()
        assert there.version == (await here).version == 1
        assert len(asked) == 2

    run(both())
