from __future__ import annotations

import inspect

import pytest

from registry import AsyncSchemaRegistryClient, RegisteredSchema, Schema, SchemaRegistryClient
from serdes.asks import Ask, Inquiry, SchemaSource, ask
from serdes.formats.avro.format import AvroFormat
from serdes.formats.json.format import JsonFormat
from serdes.formats.protobuf.format import ProtobufFormat
from serdes.formats.protocol import ReadHooks, SchemaFormat, WriteHooks


class Source:
    """Knows one schema."""

    def get_schema(self, schema_id: int) -> Schema:
        return Schema(f'"{schema_id}"')


def test_a_flow_yields_calls_and_is_sent_answers() -> None:
    def flow() -> Inquiry[str]:
        schema = yield from ask(lambda source: source.get_schema(1))
        return schema.schema_str * 2

    running = flow()
    asked = next(running)
    assert isinstance(asked, Ask)
    with pytest.raises(StopIteration) as stop:
        running.send(asked.call(Source()))  # type: ignore[arg-type]
    assert stop.value.value == '"1""1"'


def test_both_registry_clients_have_what_serializers_call() -> None:
    client = SchemaRegistryClient({"url": "mock://asks"})
    source: SchemaSource = client  # type checkers compare the methods
    assert source is client
    schema = Schema('"string"')
    registered: RegisteredSchema = source.register_schema_full_response("s", schema)
    assert source.get_schema(registered.schema_id) == schema
    names = [name for name in vars(SchemaSource) if not name.startswith("_")]
    assert len(names) == 8
    for kind in (SchemaRegistryClient, AsyncSchemaRegistryClient):
        for name in names:
            wanted = list(inspect.signature(getattr(SchemaSource, name)).parameters)
            assert list(inspect.signature(getattr(kind, name)).parameters)[: len(wanted)] == wanted, name


# ---- formats

METHODS = ("parse", "name", "indexes", "complete", "encoder", "decoder")


@pytest.mark.parametrize("form", [AvroFormat, JsonFormat, ProtobufFormat])
def test_all_formats_have_the_same_methods(form: type) -> None:
    for name in METHODS:
        wanted = list(inspect.signature(getattr(SchemaFormat, name)).parameters)
        assert list(inspect.signature(getattr(form, name)).parameters) == wanted


def test_hooks_do_nothing_by_default() -> None:
    assert (WriteHooks().value, WriteHooks().payload, WriteHooks().blocking) == (None, None, False)
    assert (ReadHooks().payload, ReadHooks().migrate, ReadHooks().value) == (None, None, None)
