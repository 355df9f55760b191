from __future__ import annotations

from pathlib import Path

import pytest

from kserdes.cli.schema.transfer.archive import Archive, folder_name
from kserdes.cli.shell.unusable import Unusable
from tests.unit.kserdes.cli.schema.helpers import write

VERSION = {"id": 3, "schema": '"ä"', "version": 1}


def test_archives_round_trip(tmp_path: Path) -> None:
    archive = Archive(tmp_path / "new" / "folder")
    assert archive.manifest() is None
    assert list(archive.subjects()) == []
    archive.write_manifest({"complete": True})
    archive.write_subject("b/x", {"compatibilityLevel": "FULL"}, None, {10, 9})
    for number in (10, 9):
        archive.write_version("b/x", number, VERSION)
    assert archive.manifest() == {"format": "kserdes-registry/1", "complete": True}
    entry = {"subject": "b/x", "config": {"compatibilityLevel": "FULL"}, "mode": None, "versions": [9, 10]}
    assert list(archive.subjects()) == [entry]
    assert archive.versions("b/x") == {9: VERSION, 10: VERSION}
    assert list(archive.versions("b/x")) == [9, 10]
    archive.drop("b/x", 9)
    assert list(archive.versions("b/x")) == [10]
    archive.drop_subject("b/x")
    assert list(archive.subjects()) == []
    assert not list(tmp_path.rglob("*.part"))


def test_names_of_folders_are_safe_and_distinct() -> None:
    names = [
        "orders-value",
        "a/b",
        "..",
        ".",
        "Orders",
        "orders",
        ":.ctx:x",
        "x" * 300,
        "x" * 301,
        "con ä",
        "A b",
        "a%2Fb",
    ]
    found = [folder_name(name) for name in names]
    assert len({name.casefold() for name in found}) == len(names)
    assert found[0] == "orders-value"
    assert all("/" not in name and name[0] != "." and len(name) < 200 for name in found)


@pytest.mark.parametrize(
    ("name", "content", "reason"),
    [
        ("registry.json", "{", "is damaged"),
        ("registry.json", '{"format": "other/9"}', "its format is 'other/9'"),
        ("registry.json", "[]", "no JSON object"),
        ("registry.json", b"\xff", "is damaged"),
        ("subjects/x/subject.json", "{}", "names no subject"),
        ("subjects/x/1.json", '{"id": 1}', "is not a saved version"),
        ("subjects/x/1.json", '{"schema": "s"}', "is not a saved version"),
        ("subjects/x/1.json", '{"schema": "s", "id": 1}', "subject.json is missing"),
    ],
)
def test_damage_is_named(tmp_path: Path, name: str, content: object, reason: str) -> None:
    write(tmp_path, {name: content})
    archive = Archive(tmp_path)
    with pytest.raises(Unusable, match=reason):
        (archive.manifest(), archive.versions("x"), list(archive.subjects()))


def test_a_folder_that_can_not_be_written(tmp_path: Path) -> None:
    write(tmp_path, {"file": ""})
    with pytest.raises(Unusable, match="can't be written"):
        Archive(tmp_path / "file").write_manifest({})
