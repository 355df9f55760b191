from __future__ import annotations

import pytest

from registry.schemas.avro.canonical import avro_text, parsing_form
from registry.schemas.avro.writer import java_order

DEEP = '{"type":"array","items":' * 900 + '"int"' + "}" * 900


@pytest.mark.parametrize(
    ("text", "form"),
    [
        ('{"type":"int","logicalType":"date"}', '"int"'),
        ('["null",{"type":"map","values":"long","x":1}]', '["null",{"type":"map","values":"long"}]'),
        ('{"type":"fixed","size":4,"name":"F","namespace":"x"}', '{"name":"x.F","type":"fixed","size":4}'),
        (
            '{"type":"enum","name":"E","doc":"d","symbols":["A","B"],"default":"A"}',
            '{"name":"E","type":"enum","symbols":["A","B"]}',
        ),
        (
            '{"type":"error","name":"R","namespace":"x","aliases":["Q"],"fields":['
            '{"name":"a","type":{"type":"string"},"default":"z","order":"ignore"},{"name":"b","type":["null","R"]}]}',
            '{"name":"x.R","type":"record","fields":[{"name":"a","type":"string"},{"name":"b","type":["null","x.R"]}]}',
        ),
    ],
)
def test_parsing_canonical_form(text: str, form: str) -> None:
    assert parsing_form(text) == form
    assert parsing_form(form) == form


def test_the_parsing_form_has_what_references_say() -> None:
    used = '{"type":"fixed","name":"x.F","size":1}'
    assert parsing_form('["x.F",{"type":"array","items":"x.F"}]', [used]) == (
        '[{"name":"x.F","type":"fixed","size":1},{"type":"array","items":"x.F"}]'
    )


def test_names_that_would_be_taken_for_a_kind_are_written_in_full() -> None:
    fields = '[{"name":"a","type":["null","x.int"]},{"name":"b","type":"x.map"}]'
    used = '{"type":"record","name":"x.map","fields":[]}'
    text = f'{{"type":"record","name":"int","namespace":"x","fields":{fields}}}'
    assert avro_text(text, [used]) == text


def test_no_namespace_inside_one_is_said() -> None:
    inner = '{"type":"fixed","name":"F","namespace":"","size":1}'
    text = f'{{"type":"record","name":"R","namespace":"x","fields":[{{"name":"a","type":{inner}}}]}}'
    assert avro_text(text) == text


def test_only_the_outermost_names_of_references_are_known() -> None:
    inner = '{"type":"fixed","name":"C","namespace":"x","size":1}'
    used = f'{{"type":"record","name":"x.B","fields":[{{"name":"c","type":{inner}}}]}}'
    assert avro_text('["x.B","x.C"]', [used]) == f'["x.B",{inner}]'


def test_depth_is_no_problem() -> None:
    assert avro_text(DEEP) == parsing_form(DEEP) == avro_text(DEEP, normalize=True) == DEEP


def test_strings_in_the_order_of_java() -> None:
    assert sorted(["\uff5e", "\U0001f600", "b", "B"], key=java_order) == ["B", "b", "\U0001f600", "\uff5e"]


def test_aliases_are_short_in_their_namespace_and_lose_a_leading_dot() -> None:
    text = '{"type":"fixed","name":"F","namespace":"x","size":1,"aliases":["x.A","y.B",".C",".y.D"]}'
    assert '"aliases":["A","y.B","C",".y.D"]' in avro_text(text)
