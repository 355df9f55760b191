from __future__ import annotations

import pytest

from registry import InvalidSchemaError
from registry.schemas.avro.canonical import avro_text


@pytest.mark.parametrize(
    ("text", "normal"),
    [
        ("string", '"string"'),
        ('{"type": "string"}', '"string"'),
        ('[ "null", {"type":"array", "items": "long"} ]', '["null",{"type":"array","items":"long"}]'),
        ('{"logicalType":"date","type":"int"}', '{"type":"int","logicalType":"date"}'),
        (
            '{"fields":[{"type":"int","name":"b","default":1,"doc":"ü"}],"type":"record","doc":"d","name":"x.A"}',
            '{"type":"record","name":"A","namespace":"x","doc":"d","fields":[{"name":"b","type":"int","doc":"ü","default":1}]}',
        ),
        (
            '{"type":"enum","name":"E","symbols":["A"],"default":"A","aliases":["Old","y.Other"],"namespace":"x"}',
            '{"type":"enum","name":"E","namespace":"x","symbols":["A"],"default":"A","aliases":["Old","y.Other"]}',
        ),
        ('{"size":4,"type":"fixed","name":"F"}', '{"type":"fixed","name":"F","size":4}'),
    ],
)
def test_normal_form(text: str, normal: str) -> None:
    assert avro_text(text) == normal
    assert avro_text(normal) == normal


def test_later_mentions_are_names_short_in_their_namespace() -> None:
    inner = '{"type":"record","name":"B","namespace":"x","fields":[]}'
    fields = f'[{{"name":"p","type":{inner}}},{{"name":"q","type":"x.B"}}]'
    text = f'{{"type":"record","name":"A","namespace":"x","fields":{fields}}}'
    assert avro_text(text).endswith('{"name":"q","type":"B"}]}')


def test_names_of_references_stay_names() -> None:
    used = '{"type":"record","name":"B","namespace":"y","fields":[]}'
    text = '{"type":"record","name":"A","namespace":"x","fields":[{"name":"p","type":"y.B"}]}'
    assert avro_text(text, [used]) == text.replace(" ", "")


def test_normalize_orders_unknown_properties() -> None:
    text = '{"type":"int","z":1,"a":2}'
    assert avro_text(text) == '{"type":"int","z":1,"a":2}'
    assert avro_text(text, normalize=True) == '{"type":"int","a":2,"z":1}'


def test_invalid() -> None:
    with pytest.raises(InvalidSchemaError):
        avro_text('{"type":"record"}')
