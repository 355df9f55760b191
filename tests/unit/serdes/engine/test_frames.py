"""The depth of a serializer's call: the frames between the caller and the codec, on both ways."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable
from typing import Any

import pytest

from registry import AsyncSchemaRegistryClient, SchemaRegistryClient
from serdes import MessageField, SerializationContext
from serdes.avro import AsyncAvroDeserializer, AsyncAvroSerializer, AvroDeserializer, AvroSerializer
from serdes.formats.avro.format import AvroFormat

SCHEMA = '{"type":"record","name":"Order","fields":[{"name":"id","type":"string"},{"name":"n","type":"int"}]}'
ORDER = {"id": "x", "n": 1}
VALUE = SerializationContext("orders", MessageField.VALUE)
COLD, HOT = 6, 2


@pytest.fixture
def url(request: pytest.FixtureRequest) -> str:
    return f"mock://{request.node.nodeid}"


@pytest.fixture(autouse=True)
def marked(monkeypatch: pytest.MonkeyPatch) -> None:
    """Codecs are made as they are, behind a function that can be seen from here."""
    encoder, decoder = AvroFormat.encoder, AvroFormat.decoder

    def marked_encoder(*args: Any, **more: Any) -> Callable[[Any], bytes]:
        encode = encoder(*args, **more)

        def codec(value: Any) -> bytes:
            return encode(value)

        return codec

    def marked_decoder(*args: Any, **more: Any) -> Callable[[bytes], Any]:
        decode = decoder(*args, **more)

        def codec(frame: bytes) -> Any:
            return decode(frame)

        return codec

    monkeypatch.setattr(AvroFormat, "encoder", marked_encoder)
    monkeypatch.setattr(AvroFormat, "decoder", marked_decoder)


def path_of(call: Callable[[], Any]) -> list[str]:
    """The frames that a call has on the stack when it reaches the codec; compiled functions have none."""
    found: list[str] = []

    def look(frame: Any, event: str, arg: object) -> None:
        if event == "call" and frame.f_code.co_name == "codec" and not found:
            while frame.f_code is not path_of.__code__:
                found.append(frame.f_code.co_qualname)
                frame = frame.f_back

    sys.setprofile(look)
    try:
        call()
    finally:
        sys.setprofile(None)
    return found[:-1]  # without the test's own function


def step(coroutine: Any) -> Any:
    """Runs a coroutine that never waits."""
    with pytest.raises(StopIteration) as stopped:
        coroutine.send(None)
    return stopped.value.value


def test_a_blocking_call(url: str) -> None:
    with SchemaRegistryClient({"url": url}) as client:
        write, read = AvroSerializer(client, SCHEMA), AvroDeserializer(client)
        frame = AvroSerializer(client, SCHEMA)(ORDER, VALUE)
        for limit in (COLD, HOT, HOT):
            for call in ((lambda: write(ORDER, VALUE)), (lambda: read(frame, VALUE))):
                path = path_of(call)
                assert 1 <= len(path) <= limit, path


def test_an_asyncio_call(url: str) -> None:
    async def scene() -> None:
        async with AsyncSchemaRegistryClient({"url": url}) as client:
            write, read = AsyncAvroSerializer(client, SCHEMA), AsyncAvroDeserializer(client)
            frame = await write(ORDER, VALUE)
            await client.register_schema("orders-value", (await client.get_schema(1)))
            await read(frame, VALUE)
            for call in ((lambda: step(write(ORDER, VALUE))), (lambda: step(read(frame, VALUE)))):
                path = path_of(call)
                assert len(path) <= HOT + 1, path  # the function that steps the coroutine is one of them

    asyncio.run(asyncio.wait_for(scene(), 60))


def test_the_long_way_past_the_short_one_is_as_short(url: str) -> None:
    """A function of the user's, for which there is no short way."""
    with SchemaRegistryClient({"url": url}) as client:
        write = AvroSerializer(client, SCHEMA, lambda order, ctx: order)
        read = AvroDeserializer(client, from_dict=lambda value, ctx: value)
        frame = write(ORDER, VALUE)
        read(frame, VALUE)
        for call in ((lambda: write(ORDER, VALUE)), (lambda: read(frame, VALUE))):
            path = path_of(call)
            assert HOT < len(path) <= COLD, path
