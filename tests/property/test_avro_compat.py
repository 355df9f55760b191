"""The compatibility engine against what really happens when data is read."""

from __future__ import annotations

import json

import fastavro.schema
from hypothesis import given, settings
from hypothesis import strategies as st

from registry import Schema
from registry.compat import check
from registry.schemas.avro.canonical import parsing_form
from registry.schemas.canonical import FINGERPRINTS, avro_text, fingerprint
from serdes.errors import SerializationError
from serdes.formats.avro.codec import decoder, encoder, load_texts
from tests.strategies.avro import Case, evolutions, schemas


@given(schemas(), st.integers(0, 4))
def test_the_normal_form_is_the_same_schema_and_stays(text: str, indent: int) -> None:
    normal = avro_text(json.dumps(json.loads(text), indent=indent))
    assert normal == avro_text(text)
    assert avro_text(normal) == normal
    assert check(Schema(normal), [Schema(text)], "FULL").compatible


@given(schemas())
def test_fingerprints_and_parsing_forms_are_those_of_fastavro(text: str) -> None:
    form = fastavro.schema.to_parsing_canonical_form(json.loads(text))
    assert parsing_form(text) == form
    for algorithm in FINGERPRINTS:
        assert fingerprint(Schema(text), algorithm) == fastavro.schema.fingerprint(form, algorithm)


@given(evolutions())
def test_normalizing_changes_no_verdict(evolution: tuple[Case, str]) -> None:
    texts = evolution[1], evolution[0].text
    plain, normal = (check(*_pair(texts, normalize), "FULL").compatible for normalize in (False, True))
    assert plain == normal


def _pair(texts: tuple[str, str], normalize: bool) -> tuple[Schema, list[Schema]]:
    new, old = (Schema(avro_text(text, (), normalize)) for text in texts)
    return new, [old]


@settings(max_examples=4 * settings.default.max_examples)  # the profile is loaded: 2,000 cases in `thorough`
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
    if compatible and error is not None:
        # bytes may be read as a string, by the specification; these were not the bytes of one
        assert str(error.__cause__) == "a text that is not UTF-8", error
    if value is not None:
        assert value.keys() == {field["name"] for field in json.loads(new)["fields"]}
