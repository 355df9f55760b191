"""The compatibility engine against what really happens when data is read."""

from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from registry import Schema
from registry.canonical import avro_text
from registry.compat import check
from serdes.avro_codec import decoder, encoder, load_texts
from serdes.errors import SerializationError
from tests.strategies.avro import Case, evolutions, schemas


@given(schemas())
def test_a_schema_is_compatible_with_itself(text: str) -> None:
    assert check(Schema(text), [Schema(text)], "FULL_TRANSITIVE").compatible


@given(schemas(), st.integers(0, 4))
def test_the_normal_form_is_the_same_schema_and_stays(text: str, indent: int) -> None:
    normal = avro_text(json.dumps(json.loads(text), indent=indent))
    assert normal == avro_text(text)
    assert avro_text(normal) == normal
    assert check(Schema(normal), [Schema(text)], "FULL").compatible


@given(evolutions())
def test_full_is_backward_and_forward(evolution: tuple[Case, str]) -> None:
    old, new = Schema(evolution[0].text), Schema(evolution[1])
    verdicts = [check(new, [old], level).compatible for level in ("BACKWARD", "FORWARD", "FULL")]
    assert verdicts[2] == (verdicts[0] and verdicts[1])
    assert check(old, [new], "BACKWARD").compatible == verdicts[1]


@given(evolutions(), st.data())
def test_backward_compatible_means_that_old_data_can_be_read(evolution: tuple[Case, str], data: st.DataObject) -> None:
    old, new = evolution
    writer, reader = load_texts(old.text), load_texts(new)
    payload = encoder(writer)(data.draw(old.values))
    compatible = check(Schema(new), [Schema(old.text)], "BACKWARD").compatible
    error = value = None
    try:
        value = decoder(writer, reader)(payload)
    except SerializationError as raised:
        error = raised
    if compatible:
        assert error is None
    if value is not None:
        assert value.keys() == {field["name"] for field in json.loads(new)["fields"]}
