from __future__ import annotations

import pytest

from registry.schemas.protobuf.model import Field, OptionKind
from registry.schemas.protobuf.options import Names, indented, normalized, option_list, option_text
from registry.schemas.protobuf.reader import read

NAMES = Names(
    lambda name: f"p.{name.removeprefix('.p.').removeprefix('p.')}" if name.endswith(("one", "many")) else None,
    lambda name: Field("repeated" if name.endswith("many") else None, "string", name, 1) if "." in name else None,
)


def texts(text: str) -> list[str]:
    return [option_text(option, NAMES) for option in normalized(read(text).options, NAMES)]


@pytest.mark.parametrize(
    "text",
    [
        'java_package = "a\\n\\"b\\\\"',
        "deprecated = true",
        "(a.b).c.d = 0x10",
        "(a) = {\n  b: 1,\n  c: {\n    d: V\n  },\n  e: [\n    1,\n    2\n  ]\n}",
        "(a) = [1]",
        "(a) = [\n  1,\n  2\n]",
    ],
)
def test_text_reads_back(text: str) -> None:
    assert option_text(read(f"option {text};").options[0], None) == text


def test_lists_behind_fields() -> None:
    one, two = read("option a = 1; option b = 2;").options
    assert option_list([one], None) == "[a = 1]"
    assert option_list([one, two], None) == "[\n  a = 1,\n  b = 2\n]"


def test_order_and_full_names() -> None:
    assert texts("option z = 1; option (one) = 2; option b = 3;") == ["b = 3", "(p.one) = 2", "z = 1"]


def test_parts_of_one_option_are_put_together() -> None:
    found = texts('option (one).b = 1; option (p.one) = {c: "x"}; option (.p.one).b = 2; option (one).b = 1;')
    assert found == ['(p.one) = {\n  b: [\n    1,\n    2\n  ],\n  c: "x"\n}']
    assert texts("option (many) = 1; option (many) = 2;") == ["(p.many) = 1", "(p.many) = 2"]
    assert texts("option (one) = 1; option (one) = 2;") == ["(p.one) = 2"]


def test_maps_in_order_and_lists_of_one() -> None:
    assert texts("option (one) = {z: [1], a: [], [x.one]: 2};") == ["(p.one) = {\n  [p.x.one]: 2,\n  z: 1\n}"]


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("1.50", "1.5"),
        ("0.12345", "0.123"),
        ("1e10", "10000000000"),
        ("010", "8"),
        ("08", "08"),
        ("0x1F", "31"),
        ("-1.5", "-1.5"),
        ("1e-3", "0.001"),
        ("1e999999999", "1e999999999"),
        ("1e39", "999999999999999939709166371603178586112"),
        ("-nan", "-nan"),
    ],
)
def test_numbers_are_shown_as_java_does(written: str, shown: str) -> None:
    option = read(f"option a = {written};").options[0]
    assert option.kind is OptionKind.NUMBER
    assert option_text(option, NAMES) == f"a = {shown}"
    assert option_text(option, None) == f"a = {written}"


def test_indentation() -> None:
    assert indented("a\n\nb\n\n") == "  a\n  \n  b\n"
