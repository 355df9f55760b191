from __future__ import annotations

from registry.schemas.protobuf.model import Option, OptionKind, map_types, option_value


def test_the_types_of_a_map() -> None:
    assert map_types("map<string, a.B>") == ("string", "a.B")
    assert map_types("mapped") is None


def test_the_last_option_of_a_name_counts() -> None:
    options = [
        Option("a", OptionKind.NUMBER, "1"),
        Option(".a", OptionKind.NUMBER, "2"),
        Option("b", OptionKind.NUMBER, "3"),
    ]
    assert option_value(options, "a") == "2"
    assert option_value(options, "c") is None
