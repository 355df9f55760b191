from __future__ import annotations

import asyncio
import inspect
from collections.abc import Coroutine
from typing import Any

import pytest

from registry import AsyncSchemaRegistryClient
from serdes import MessageField, SerializationContext, SerializationError
from serdes.avro import AsyncAvroDeserializer, AsyncAvroSerializer, AvroDeserializer, AvroSerializer
from serdes.kernels import WriteCall, pure

ORDER = '{"type":"record","name":"Order","fields":[{"name":"id","type":"string"},{"name":"n","type":"int"}]}'
VALUE = SerializationContext("orders", MessageField.VALUE)


def run(coroutine: Coroutine[Any, Any, Any]) -> Any:
    return asyncio.run(asyncio.wait_for(coroutine, 60))


@pytest.mark.parametrize(
    ("blocking", "awaited"), [(AvroSerializer, AsyncAvroSerializer), (AvroDeserializer, AsyncAvroDeserializer)]
)
def test_both_shells_are_alike(blocking: type, awaited: type) -> None:
    def shape(cls: type, name: str) -> str:
        return str(inspect.signature(getattr(cls, name))).replace("AsyncSchemaRegistryClient", "SchemaRegistryClient")

    assert shape(blocking, "__init__") == shape(awaited, "__init__")
    call = pure.WriteCall if issubclass(blocking, WriteCall) else pure.ReadCall  # compiled ones have no signature
    names = [list(inspect.signature(cls.__call__).parameters) for cls in (call, awaited)]
    assert names[0] == names[1]
    assert inspect.getdoc(call.__call__) == inspect.getdoc(awaited.__call__)
    assert (awaited.__doc__ or "").endswith(f"for tasks of one event loop; see `{blocking.__name__}`.")


def test_out_and_back_with_many_tasks(request: pytest.FixtureRequest) -> None:
    async def scene() -> None:
        async with AsyncSchemaRegistryClient({"url": f"mock://{request.node.nodeid}"}) as client:
            serialize = AsyncAvroSerializer(client, ORDER, lambda value, ctx: dict(value))
            deserialize = AsyncAvroDeserializer(client, from_dict=lambda value, ctx: (value["id"], value["n"]))

            async def one(at: int) -> Any:
                return await deserialize(await serialize([("id", "x"), ("n", at)], VALUE), VALUE)

            assert await asyncio.gather(*(one(at) for at in range(20))) == [("x", at) for at in range(20)]
            assert await serialize(None, VALUE) is None
            assert await deserialize(None, VALUE) is None

    run(scene())


def test_code_that_awaits_the_constructor_and_aclose(request: pytest.FixtureRequest) -> None:
    async def scene() -> None:
        async with AsyncSchemaRegistryClient({"url": f"mock://{request.node.nodeid}"}) as client:
            serialize = await AsyncAvroSerializer(client, ORDER)
            deserialize = await AsyncAvroDeserializer(client)
            assert await deserialize(await serialize({"id": "x", "n": 1}, VALUE), VALUE) == {"id": "x", "n": 1}
            for made in (serialize, deserialize):
                await made.aclose()
                await made.aclose()

    run(scene())


def test_errors_are_located(request: pytest.FixtureRequest) -> None:
    async def scene() -> None:
        async with AsyncSchemaRegistryClient({"url": f"mock://{request.node.nodeid}"}) as client:
            with pytest.raises(SerializationError, match=r"topic orders, value, schema id 1, at Order\.n: "):
                await AsyncAvroSerializer(client, ORDER)({"id": "x", "n": "y"}, VALUE)
            with pytest.raises(SerializationError, match=r"topic orders, value, schema id 9: .*not found"):
                await AsyncAvroDeserializer(client)(b"\x00\x00\x00\x00\x09abc", VALUE)
            with pytest.raises(SerializationError, match=r"topic orders, value, schema id 1, at Order.id: .*truncated"):
                await AsyncAvroDeserializer(client)(b"\x00\x00\x00\x00\x01\x08a", VALUE)
            with pytest.raises(SerializationError, match="incompatible"):
                await AsyncAvroSerializer(client, '"int"')(5, VALUE)

    run(scene())


def test_latest_is_used(request: pytest.FixtureRequest) -> None:
    async def scene() -> None:
        async with AsyncSchemaRegistryClient({"url": f"mock://{request.node.nodeid}"}) as client:
            frame = await AsyncAvroSerializer(client, '"int"')(5, VALUE)
            await AsyncAvroSerializer(client, '"double"')(5.0, VALUE)
            conf = {"auto.register.schemas": False, "use.latest.version": True}
            assert await AsyncAvroSerializer(client, conf=conf)(0.0, VALUE) == b"\x00\x00\x00\x00\x02" + bytes(8)
            latest = AsyncAvroDeserializer(client, conf={"use.latest.version": True})
            assert repr(await latest(frame, VALUE)) == "5.0"

    run(scene())
