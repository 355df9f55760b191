from __future__ import annotations

import importlib

import pytest

from registry import InvalidSchemaError
from registry.compat import verdict
from registry.schemas.formats import MODULES, format_of


@pytest.mark.parametrize("schema_type", ["AVRO", "JSON", "PROTOBUF"])
def test_a_format_has_a_module_that_parses_and_one_that_compares(schema_type: str) -> None:
    module = format_of(schema_type)
    assert all(callable(getattr(module, name)) for name in ("parse", "canonical"))
    assert callable(importlib.import_module(verdict.MODULES[schema_type]).differences)
    assert list(MODULES) == list(verdict.MODULES) == ["AVRO", "JSON", "PROTOBUF"]


def test_unknown_types_are_invalid() -> None:
    with pytest.raises(InvalidSchemaError, match="schema type 'avro' is unknown: AVRO, JSON, PROTOBUF"):
        format_of("avro")
