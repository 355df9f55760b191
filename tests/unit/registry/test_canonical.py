from __future__ import annotations

import pytest

from registry import InvalidSchemaError, Schema, SchemaReference
from registry.canonical import canonical_text


def test_each_format_has_its_own_form() -> None:
    assert canonical_text(Schema(' { "type" : "string" } ')) == '"string"'


def test_names_of_references_stay_names() -> None:
    used = Schema('{"type":"record","name":"y.B","fields":[]}')
    text = '{"type":"record","name":"A","fields":[{"name":"p","type":"y.B"}]}'
    assert canonical_text(Schema(text), [(SchemaReference("y.B", "b", 1), used)]) == text


def test_unknown_types_are_invalid() -> None:
    with pytest.raises(InvalidSchemaError, match="'XML' is unknown"):
        canonical_text(Schema("<a/>", "XML"))
