"""Generated source: names, packers, and the way back from a failing line to its field."""

from __future__ import annotations

import struct

import pytest

from kafka_core.protocol.emit import FIXED_FORMATS, FORMAT_NAMES, FORMAT_SIZES, Lines, Part, fill_indexes


def function_that_fails_at(third: str) -> Lines:
    lines = Lines("<test>", {"helper": int})
    lines.add("def run(items):")
    lines.depth += 1
    lines.add("for i7, item in enumerate(items):")
    lines.depth += 1
    lines.add(third, Part("items[{i7}].size"))
    lines.compile("run")
    return lines


def test_a_failing_line_leads_to_its_field_and_index() -> None:
    lines = function_that_fails_at("helper(item)")
    with pytest.raises(ValueError, match="invalid literal") as caught:
        lines.namespace["run"](["1", "x"])
    frame, parts = lines.failing_frame(caught.value)
    assert frame.f_locals["item"] == "x"
    assert [fill_indexes(part.path, frame) for part in parts] == ["items[1].size"]


def test_an_error_from_elsewhere_is_a_bug() -> None:
    lines = function_that_fails_at("pass")
    with pytest.raises(AssertionError, match="does not come from this function"):
        lines.failing_frame(ValueError())


def test_names_are_never_used_twice() -> None:
    lines = Lines("<test>")
    assert lines.name("v") != lines.name("v")
    first, second = lines.constant("D", 1), lines.constant("D", 1)
    assert first != second
    assert lines.namespace[first] == 1


def test_packers_are_big_endian_and_shared() -> None:
    lines = Lines("<test>")
    assert lines.packer("pack", "h?") == ("pack_ht", 3)
    assert lines.namespace["pack_ht"](1, True) == b"\x00\x01\x01"
    name, size = lines.packer("unpack", "h?")
    assert lines.namespace[name](b"x\x00\x01\x01", 1) == (1, True)
    assert size == 3


def test_every_format_has_a_name_and_a_size() -> None:
    for kind, letter in FIXED_FORMATS.items():
        assert FORMAT_NAMES[letter] == kind
        assert FORMAT_SIZES[letter] == struct.calcsize(">" + letter)
