"""Schemas in contexts of a registry: what a serializer makes of their references."""

from __future__ import annotations

import json
import uuid
from typing import Any

import pytest

from registry import Schema, SchemaReference, SchemaRegistryClient
from serdes import MessageField, SerializationContext, SerializationError
from serdes.avro import AvroDeserializer, AvroSerializer


def _in_contexts(url: str) -> SchemaRegistryClient:
    """A registry whose default context and two more have the same subjects, which refer to one another."""
    client = SchemaRegistryClient({"url": url})
    for context in ("", ":.x:", ":.y:"):
        symbol = {"type": "enum", "name": "E", "symbols": [f"S{context.strip(':.')}"]}
        client.register_schema(f"{context}e", Schema(json.dumps(symbol)))
        middle = {"type": "record", "name": "M", "fields": [{"name": "e", "type": "E"}]}
        client.register_schema(f"{context}m", Schema(json.dumps(middle), "AVRO", [SchemaReference("E", "e", 1)]))
    return client


OUTER = Schema(
    json.dumps({"type": "record", "name": "O", "fields": [{"name": "m", "type": "M"}]}),
    "AVRO",
    [SchemaReference("M", "m", 1)],
)


@pytest.mark.parametrize("written", ["given", "latest", "by the record's name"])
def test_references_of_a_schema_in_a_context_are_that_context_s(written: str) -> None:
    """Ids, subjects and texts are the same in all contexts; what a reference stands for is not."""
    with _in_contexts(f"mock://{uuid.uuid4()}") as client:

        def strategy(ctx: Any, name: str | None) -> str:
            if written == "by the record's name" and name is None:
                raise ValueError("no name")
            return f":.{ctx.topic}:{ctx.topic}-value"

        conf: dict[str, Any] = {"subject.name.strategy": strategy}
        if written == "latest":
            conf |= {"auto.register.schemas": False, "use.latest.version": True}
            for topic in "xy":
                client.register_schema(f":.{topic}:{topic}-value", OUTER)
        write = AvroSerializer(client, None if written == "latest" else OUTER, conf=conf)
        read = AvroDeserializer(
            client, conf={"subject.name.strategy": lambda ctx, _: f":.{ctx.topic}:{ctx.topic}-value"}
        )
        for topic in "xyxy":
            ctx = SerializationContext(topic, MessageField.VALUE)
            value = {"m": {"e": f"S{topic}"}}
            assert read(write(value, ctx), ctx) == value
            with pytest.raises(SerializationError, match="enum E"):
                write({"m": {"e": "S"}}, ctx)
