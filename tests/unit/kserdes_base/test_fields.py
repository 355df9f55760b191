"""kserdes_base.fields: texts are split as librdkafka splits them."""

from __future__ import annotations

import pytest

from kserdes_base.fields import fields_of


@pytest.mark.parametrize(
    ("text", "fields"),
    [
        ("", [""]),
        ("a,,b", ["a", "", "b"]),
        (" a b ,\tc", ["a b", "c"]),
        (r"a\,b,\\", ["a,b", "\\"]),
        (r"\ta\n", ["\ta"]),  # an escaped blank counts before a field, and no blank does behind it
        (r"\0,\x", ["\0", "x"]),
        ("a\\", ["a"]),
        ("\u00a0a", ["\u00a0a"]),
    ],
)
def test_fields(text: str, fields: list[str]) -> None:
    assert fields_of(text, ",") == fields


def test_the_separator_is_chosen() -> None:
    assert fields_of("a;b,c", ";") == ["a", "b,c"]
