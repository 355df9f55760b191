from __future__ import annotations

import subprocess
import sys

import pytest

import serdes
import serdes.avro
from serdes import MessageField, SerializationContext
from serdes.avro import AvroSerializer
from tests.unit.serdes.fake import FakeRegistry


def test_public_names() -> None:
    assert serdes.avro.__all__ == [
        "AsyncAvroDeserializer",
        "AsyncAvroSerializer",
        "AvroDeserializer",
        "AvroSerializer",
    ]
    assert all(hasattr(serdes, name) for name in serdes.__all__)
    assert serdes.__all__ == sorted(serdes.__all__)


def test_unknown_names() -> None:
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        serdes.nonsense  # type: ignore[attr-defined]  # noqa: B018


@pytest.mark.parametrize("module", ["serdes", "serdes.avro", "serdes.columnar"])
def test_clients_are_imported_at_their_first_use(module: str) -> None:
    code = f"import sys, {module}; print('serdes.clients' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


@pytest.mark.parametrize("text", ["string", '"string"', ' "string"\n', '{"type":"string"}'])
def test_primitive_types_are_registered_as_json(text: str) -> None:
    registry = FakeRegistry()
    AvroSerializer(registry, text)("x", SerializationContext("orders", MessageField.VALUE))
    (registered,) = registry.subjects["orders-value"]
    assert registered.schema.schema_str == '{"type":"string"}'


@pytest.mark.parametrize(
    ("text", "value", "name"), [('"string"', "x", "string"), ('{"type":"array","items":"int"}', [1], "array")]
)
def test_types_without_a_name_are_called_by_their_type(text: str, value: object, name: str) -> None:
    registry = FakeRegistry()
    serialize = AvroSerializer(registry, text, conf={"subject.name.strategy.type": "RECORD"})
    serialize(value, SerializationContext("orders", MessageField.VALUE))
    assert list(registry.subjects) == [name]
