from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from kserdes.cli.schema.source import renames
from kserdes.cli.schema.source.renames import renamed
from tests.unit.kserdes.cli.schema.helpers import collection, record, write

FIELDS = [f"field{number}:string" for number in range(12)]


def pairs(tmp_path: Path, old: Mapping[str, object], new: Mapping[str, object]) -> dict[str, str]:
    left, right = write(tmp_path / "old", old), write(tmp_path / "new", new)
    return renamed(collection(right), sorted(new), collection(left), sorted(old))


def test_the_same_text_is_the_same_file(tmp_path: Path) -> None:
    same = '{"type": "array", "items": "int"}'
    assert pairs(tmp_path, {"a.avsc": same, "z.avsc": '"int"'}, {"b.avsc": same}) == {"b.avsc": "a.avsc"}


def test_the_same_name_is_the_same_schema(tmp_path: Path) -> None:
    found = pairs(tmp_path, {"a.avsc": record("x.Order", "id:int")}, {"d/b.avsc": record("x.Order", *FIELDS)})
    assert found == {"d/b.avsc": "a.avsc"}


def test_similar_texts_are_paired_best_first_and_once(tmp_path: Path) -> None:
    old = {"a.avsc": record("A", *FIELDS), "b.avsc": record("B", *FIELDS[:6])}
    new = {"c.avsc": record("C", *FIELDS, "more:int"), "d.avsc": record("D", *FIELDS[:6])}
    assert pairs(tmp_path, old, new) == {"c.avsc": "a.avsc", "d.avsc": "b.avsc"}


def test_unlike_texts_and_other_types_are_not_paired(tmp_path: Path) -> None:
    assert pairs(tmp_path, {"a.avsc": record("A", *FIELDS)}, {"b.avsc": record("B", "z:long")}) == {}
    assert pairs(tmp_path, {"x.json": "{}"}, {"x.avsc": '"int"'}) == {}


def test_two_files_of_one_text_are_not_guessed_at(tmp_path: Path) -> None:
    found = pairs(tmp_path, {"a.avsc": '"int"', "b.avsc": '"int"'}, {"c.avsc": '"long"'})
    assert found == {}


def test_unreadable_files_are_passed_over(tmp_path: Path) -> None:
    assert pairs(tmp_path, {"a.avsc": "{"}, {"b.avsc": "{"}) == {}


def test_too_many_pairs_are_not_compared_by_likeness(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(renames, "MAX_COMPARED", 0)
    assert pairs(tmp_path, {"a.avsc": record("A", *FIELDS)}, {"b.avsc": record("B", *FIELDS)}) == {}


def test_schemas_of_different_names_must_be_more_alike(tmp_path: Path) -> None:
    half = {"a.avsc": record("A", *FIELDS[:6], "x1:string", "x2:string", "x3:string")}
    assert pairs(tmp_path / "named", {"o.avsc": record("O", *FIELDS[:9])}, half) == {}
    nameless = {name: {"type": "array", "items": value} for name, value in half.items()}
    old = {"o.avsc": {"type": "array", "items": record("O", *FIELDS[:9])}}
    assert pairs(tmp_path / "nameless", old, nameless) == {"a.avsc": "o.avsc"}
