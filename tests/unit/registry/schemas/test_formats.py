from __future__ import annotations

import pytest

from registry import InvalidSchemaError
from registry.schemas.formats import MODULES, format_of


def test_a_format_is_a_module_with_three_functions() -> None:
    module = format_of("AVRO")
    assert all(callable(getattr(module, name)) for name in ("parse", "differences", "canonical"))
    assert list(MODULES) == ["AVRO", "JSON", "PROTOBUF"]


def test_unknown_types_are_invalid() -> None:
    with pytest.raises(InvalidSchemaError, match="schema type 'avro' is unknown: AVRO, JSON, PROTOBUF"):
        format_of("avro")
