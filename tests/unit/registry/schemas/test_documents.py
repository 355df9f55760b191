from __future__ import annotations

import importlib
import json
import sys
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from registry import InvalidSchemaError
from registry.compat import verdict
from registry.limits import MAX_JSON_DEPTH
from registry.schemas import documents
from registry.schemas.documents import dumps, loads, quoted, without_comments
from registry.schemas.formats import MODULES, format_of

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
)


def both(text: str) -> list[Any]:
    """The results of the two readers for a text: a value, or the error's class."""
    found: list[Any] = []
    for read in (loads, documents._loads_deep):
        try:
            found.append(read(text))
        except ValueError:
            found.append(ValueError)
    return found


@given(VALUES, st.sampled_from([None, 2]))
def test_both_readers_read_what_python_reads(value: Any, indent: int | None) -> None:
    assert both(json.dumps(value, indent=indent)) == [value, value]


@given(VALUES, st.integers(0), st.sampled_from(["", ",", "]", "}", ":", '"', " ", "x", "1"]))
def test_both_readers_refuse_the_same(value: Any, at: int, put: str) -> None:
    text = json.dumps(value)
    at %= len(text)
    one, other = both(text[:at] + put + text[at + 1 :])
    assert one == other


@pytest.mark.parametrize("text", ["", "[", "[1,]", '{"a":1,}', "{a:1}", '{"a" 1}', "[1 2]", "[1]x", "[NaN]", "\ufeff1"])
def test_not_json(text: str) -> None:
    assert both(text) == [ValueError, ValueError]


@given(VALUES)
def test_written_values_are_read_back(value: Any) -> None:
    assert json.loads(dumps(value)) == value


def test_depth_ends_at_the_limit() -> None:
    for read in (loads, documents._loads_deep):
        assert dumps(read("[" * MAX_JSON_DEPTH + "]" * MAX_JSON_DEPTH)) == "[" * MAX_JSON_DEPTH + "]" * MAX_JSON_DEPTH
        for depth in (MAX_JSON_DEPTH + 1, 100_000):
            with pytest.raises(ValueError, match="nested deeper than 1000 levels"):
                read("[" * depth + "]" * depth)


def test_depth_ends_at_the_limit_where_python_would_go_deeper() -> None:
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(10_000)
    try:
        with pytest.raises(ValueError, match="nested deeper than 1000 levels"):
            loads("[" * 2_000 + "]" * 2_000)
    finally:
        sys.setrecursionlimit(before)


def test_wide_is_not_deep() -> None:
    assert loads("[" + ",".join(["[]"] * 5_000) + "]") == [[]] * 5_000


def test_constants_are_not_json() -> None:
    with pytest.raises(ValueError, match="Infinity is not JSON"):
        loads('{"a": -Infinity}')


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0, "0.0"),
        (-0.0, "-0.0"),
        (0.001, "0.001"),
        (0.0001, "1.0E-4"),
        (9999999.0, "9999999.0"),
        (1e7, "1.0E7"),
        (-1.25e-10, "-1.25E-10"),
        (1.2345678901234567e19, "1.2345678901234567E19"),
        (float("inf"), '"Infinity"'),
        (float("-inf"), '"-Infinity"'),
        (float("nan"), '"NaN"'),
        (10**30, "1" + "0" * 30),
        (True, "true"),
    ],
)
def test_numbers_as_java_writes_them(value: Any, text: str) -> None:
    assert dumps(value) == text


def test_strings_as_jackson_writes_them() -> None:
    assert quoted('a"b\\\n\x1f/é\u2028') == '"a\\"b\\\\\\n\\u001F/é\u2028"'


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ('{"a": "// b", /* c */ "d": 1} // e', '{"a": "// b",   "d": 1}  '),
        ('"/*" /* " */ "\\"//"', '"/*"   "\\"//"'),
        ("1 /* never ends", "1  "),
    ],
)
def test_comments(text: str, plain: str) -> None:
    assert without_comments(text) == plain


def test_exact_numbers_keep_their_digits() -> None:
    assert dumps(loads("[1.0,1.00,1e2,12345678901234567890.5,7]", exact=True)) == (
        "[1.0,1.00,1E+2,12345678901234567890.5,7]"
    )
    with pytest.raises(ValueError, match="out of range"):
        loads("1e99999999999999999999", exact=True)


# ---- formats


@pytest.mark.parametrize("schema_type", ["AVRO", "JSON", "PROTOBUF"])
def test_a_format_has_a_module_that_parses_and_one_that_compares(schema_type: str) -> None:
    module = format_of(schema_type)
    assert all(callable(getattr(module, name)) for name in ("parse", "canonical"))
    assert callable(importlib.import_module(verdict.MODULES[schema_type]).differences)
    assert list(MODULES) == list(verdict.MODULES) == ["AVRO", "JSON", "PROTOBUF"]


def test_unknown_types_are_invalid() -> None:
    with pytest.raises(InvalidSchemaError, match="schema type 'avro' is unknown: AVRO, JSON, PROTOBUF"):
        format_of("avro")
