from __future__ import annotations

import pytest

from registry import InvalidSchemaError, Schema
from registry.compat import check
from registry.schemas.protobuf.format import canonical, to_serialized, to_text


def proto(text: str) -> Schema:
    return Schema(f'syntax = "proto3"; {text}', "PROTOBUF")


def test_canonical_and_serialized_forms() -> None:
    schema = proto(
        'import "google/protobuf/timestamp.proto"; message B { google.protobuf.Timestamp t = 2; int32 x = 1; }'
    )
    assert canonical(schema, [], normalize=True) == (
        'syntax = "proto3";\n\nimport "google/protobuf/timestamp.proto";\n\n'
        "message B {\n  int32 x = 1;\n  .google.protobuf.Timestamp t = 2;\n}\n"
    )
    encoded = Schema(to_serialized(schema), "PROTOBUF")
    assert canonical(encoded, [], normalize=True) == canonical(schema, [], normalize=True)
    assert to_text(encoded).startswith('syntax = "proto3";\n\nimport')
    assert check(encoded, [schema], "FULL").compatible


def test_registering_refuses_names_that_mean_nothing() -> None:
    with pytest.raises(InvalidSchemaError, match='type "Gone" is not defined'):
        canonical(proto("message A { Gone x = 1; }"), [], normalize=False)
