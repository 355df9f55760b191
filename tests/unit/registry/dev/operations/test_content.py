from __future__ import annotations

import pytest

from registry.dev.names import Name
from registry.dev.operations.content import canonical, is_empty, qualified
from registry.dev.refusal import Refusal
from registry.dev.state.state import State, Version
from registry.models import Schema, SchemaReference

USED = Schema('{"type":"record","name":"U","fields":[]}')
USING = '{"type": "record", "name": "R", "fields": [{"name": "u", "type": "U"}]}'


@pytest.fixture
def state() -> State:
    made = State()
    made.put(":.eu:u", Version(1, 1), USED)
    return made


def test_empty_is_what_has_no_text() -> None:
    assert is_empty(Schema(" \n"))
    assert not is_empty(USED)


def test_references_are_qualified_only_where_needed() -> None:
    schema = Schema(USING, references=[SchemaReference("U", "u", 1)])
    assert qualified(Name.parse("r"), schema) is schema
    assert qualified(Name.parse(":.eu:r"), schema).references == (SchemaReference("U", ":.eu:u", 1),)


def test_canonical_text_keeps_references_as_they_were_said(state: State) -> None:
    schema = canonical(state, ":.eu:r", Schema(USING, references=[SchemaReference("U", "u", -1)]), False)
    assert schema.schema_str == '{"type":"record","name":"R","fields":[{"name":"u","type":"U"}]}'
    assert schema.references == (SchemaReference("U", "u", 1),)


@pytest.mark.parametrize("reference", [SchemaReference("U", "u", 2), SchemaReference("U", "none", -1)])
def test_missing_references_are_42201(state: State, reference: SchemaReference) -> None:
    with pytest.raises(Refusal, match="No schema reference found") as caught:
        canonical(state, ":.eu:r", Schema(USING, references=[reference]), False)
    assert caught.value.code == 42201


def test_unknown_types_are_42201(state: State) -> None:
    with pytest.raises(Refusal, match="XML"):
        canonical(state, "r", Schema("<x/>", "XML"), False)


def test_deleted_schemas_serve_what_is_registered_only(state: State) -> None:
    state.mark_deleted(":.eu:u", Version(1, 1))
    with pytest.raises(Refusal, match="No schema reference found"):
        canonical(state, ":.eu:r", Schema(USING, references=[SchemaReference("U", "u", 1)]), False)
