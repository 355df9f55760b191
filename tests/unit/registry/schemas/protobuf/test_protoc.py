from __future__ import annotations

import builtins
from typing import Any

import pytest

from registry import InvalidSchemaError
from registry.limits import MAX_PROTOC_TYPES
from registry.schemas.protobuf.protoc import descriptors


def test_imports_come_first() -> None:
    found = descriptors('syntax = "proto3"; import "b.proto";', {"b.proto": 'syntax = "proto3";'}, "a.proto")
    assert [file.name for file in found] == ["b.proto", "a.proto"]


def test_bytes_come_out_of_the_generated_text_as_they_are() -> None:
    text = 'syntax = "proto3"; option java_package = "\\\'\\"\\\\ \\x41 \u00e9\\n"; message A { string x = 1; }'
    assert descriptors(text, {}, "a.proto")[0].options.java_package == "'\"\\ A \u00e9\n"


def test_columns_of_a_first_line_that_was_lengthened() -> None:
    with pytest.raises(InvalidSchemaError, match="line 1, column 9: Expected"):
        descriptors("message {}", {}, "a.proto")


def test_more_types_than_protoc_can_do() -> None:
    with pytest.raises(InvalidSchemaError, match="more than 10,000 types"):
        descriptors("message A {}" * (MAX_PROTOC_TYPES + 1), {}, "a.proto")


def test_more_declarations_than_protoc_has_memory_for() -> None:
    with pytest.raises(InvalidSchemaError, match="more than 80,000 declarations"):
        descriptors('import "b.proto";' + ";" * 40_000, {"b.proto": ";" * 40_000}, "a.proto")


def test_without_the_optional_package(monkeypatch: pytest.MonkeyPatch) -> None:
    genuine = builtins.__import__

    def without(name: str, *args: Any, **kwargs: Any) -> Any:
        if name == "grpc_tools":
            raise ImportError(name)
        return genuine(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(InvalidSchemaError, match=r"pip install grpcio-tools googleapis-common-protos \("):
        descriptors("message A {}", {}, "a.proto")
