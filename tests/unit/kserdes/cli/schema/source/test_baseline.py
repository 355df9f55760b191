from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from kserdes.cli.schema.source.baseline import TreeBaseline
from kserdes.cli.schema.source.git import Repository
from kserdes.cli.schema.source.git_baseline import GitBaseline, Place
from kserdes.cli.schema.source.inputs import type_by
from kserdes.cli.shell.settings import Settings
from kserdes.cli.shell.unusable import Unusable
from registry.errors import InvalidSchemaError
from tests.unit.kserdes.cli.schema.helpers import collection, commit, record, repository, write


def folders(tmp_path: Path, old: Mapping[str, object], new: Mapping[str, object]) -> TreeBaseline:
    write(tmp_path / "new", new)
    write(tmp_path / "old", old)
    before = collection(tmp_path / "old")
    before.label = "old"
    return TreeBaseline(collection(tmp_path / "new"), before, lambda path: f"old/{path}")


def in_git(folder: Path, revision: str = "main", inside: str = "") -> GitBaseline:
    place = Place(inside, (), (), type_by(Settings()))
    return GitBaseline(collection(folder / inside), Repository(folder), revision, place)


def labels(baseline: TreeBaseline, path: str, transitive: bool = False) -> list[str]:
    return [old.label for old in baseline.history(path, "any", transitive).versions]


def test_a_file_is_compared_with_the_one_of_its_path(tmp_path: Path) -> None:
    baseline = folders(tmp_path, {"a.avsc": '"int"', "b.avsc": "1"}, {"a.avsc": '"long"', "c.avsc": '"x"'})
    history = baseline.history("a.avsc", "a", False)
    assert [(old.label, old.schema.schema_str) for old in history.versions] == [("old/a.avsc", '"int"')]
    assert labels(baseline, "c.avsc") == []
    assert baseline.settings("a") == (None, None)


def test_a_file_beside_a_version_folder_is_compared_with_all_of_it(tmp_path: Path) -> None:
    old = {f"orders/v{number}.avsc": str(number) for number in (1, 2, 10)}
    baseline = folders(tmp_path, old, {"orders.avsc": '"int"'})
    assert labels(baseline, "orders.avsc") == ["old/orders/v1.avsc", "old/orders/v2.avsc", "old/orders/v10.avsc"]
    assert baseline.deleted() == []


def test_a_version_is_compared_with_those_before_it(tmp_path: Path) -> None:
    old = {"o/v1.avsc": "1", "o/v2.avsc": "2", "o/v9.avsc": "9"}
    new = {"o/v1.avsc": "1", "o/v2.avsc": "2", "o/v3.avsc": "3", "o/v4.avsc": "4"}
    baseline = folders(tmp_path, old, new)
    assert labels(baseline, "o/v4.avsc") == ["old/o/v1.avsc", "old/o/v2.avsc", "old/o/v3.avsc"]
    texts = [item.schema.schema_str for item in baseline.history("o/v4.avsc", "o", True).versions]
    assert texts == ["1", "2", "3"]
    assert [path for path in new if baseline.settled(path)] == ["o/v1.avsc", "o/v2.avsc"]


def test_an_edited_version_is_compared_with_itself_as_it_was(tmp_path: Path) -> None:
    baseline = folders(tmp_path, {"o/v1.avsc": "1", "o/v2.avsc": "2"}, {"o/v1.avsc": "1", "o/v2.avsc": "0"})
    assert labels(baseline, "o/v2.avsc") == ["old/o/v1.avsc", "old/o/v2.avsc"]
    assert not baseline.settled("o/v2.avsc")


def test_one_folder_is_compared_within_itself(tmp_path: Path) -> None:
    write(tmp_path, {"o/v1.avsc": "1", "o/v2.avsc": "2", "x.avsc": "3"})
    side = collection(tmp_path)
    baseline = TreeBaseline(side, side, str, same=True)
    assert labels(baseline, "o/v2.avsc") == ["o/v1.avsc"]
    assert labels(baseline, "x.avsc") == []
    assert baseline.settled("o/v1.avsc")
    assert not baseline.settled("o/v2.avsc")
    assert baseline.deleted() == []


def test_renamed_and_deleted_files_are_told_apart(tmp_path: Path) -> None:
    fields = [f"f{number}:int" for number in range(9)]
    baseline = folders(
        tmp_path,
        {"a.avsc": record("A", *fields), "gone.avsc": '"int"', "o/v1.avsc": "1", "p/v1.avsc": "1"},
        {"d/b.avsc": record("A", *fields, "new:int"), "o/v2.avsc": "2"},
    )
    history = baseline.history("d/b.avsc", "b", False)
    assert history.renamed_from == "a.avsc"
    assert [old.label for old in history.versions] == ["old/a.avsc"]
    assert baseline.deleted() == ["gone.avsc", "o/v1.avsc", "p/v1.avsc"]


def test_references_are_resolved_on_their_own_side(tmp_path: Path) -> None:
    order, money = record("Order", "m:Money"), record("Money", "x:int")
    baseline = folders(
        tmp_path,
        {"order.avsc": order, "money.avsc": money},
        {"order.avsc": order, "money.avsc": record("Money", "x:long")},
    )
    (old,) = baseline.history("order.avsc", "order", False).versions
    assert '"int"' in baseline.resolve(old.schema.references[0]).schema_str
    assert '"long"' in baseline.resolve(baseline.new.schema("order.avsc").references[0]).schema_str
    write(tmp_path / "old", {"money.avsc": "{"})
    fresh = folders(tmp_path, {}, {})
    with pytest.raises(InvalidSchemaError, match="not JSON"):
        fresh.resolve(old.schema.references[0])


def test_an_earlier_version_that_can_not_be_read_is_named(tmp_path: Path) -> None:
    baseline = folders(tmp_path, {"a.avsc": b"\xff"}, {"a.avsc": '"int"'})
    with pytest.raises(Unusable, match=r"old/a\.avsc: not UTF-8") as caught:
        baseline.history("a.avsc", "a", False)
    assert caught.value.kind == "UNUSABLE_BASELINE"


def test_git_gives_the_revisions_file_or_all_it_ever_was(tmp_path: Path) -> None:
    repository(tmp_path, {"s/a.avsc": "1", "s/b.avsc": "9"})
    for text in ("2", "{broken", "1", "3"):
        commit(write(tmp_path, {"s/a.avsc": text}))
    write(tmp_path, {"s/a.avsc": "4"})
    baseline = in_git(tmp_path, inside="s")
    assert labels(baseline, "a.avsc") == ["main:s/a.avsc"]
    versions = baseline.history("a.avsc", "a", True).versions
    assert [old.schema.schema_str for old in versions] == ["1", "2", "3"]
    assert versions[-1].label == "main:s/a.avsc"
    assert labels(baseline, "b.avsc", transitive=True) == ["main:s/b.avsc"]


def test_a_changed_reference_makes_another_version_in_git(tmp_path: Path) -> None:
    repository(tmp_path, {"order.avsc": record("Order", "m:Money"), "money.avsc": record("Money", "x:int")})
    commit(write(tmp_path, {"money.avsc": record("Money", "x:long")}))
    commit(write(tmp_path, {"money.avsc": record("Money", "x:double")}))
    baseline = in_git(tmp_path)
    versions = baseline.history("order.avsc", "order", True).versions
    found = [baseline.resolve(old.schema.references[0]).schema_str for old in versions]
    assert [kind for text in found for kind in ("int", "long", "double") if f'"{kind}"' in text] == [
        "int",
        "long",
        "double",
    ]
