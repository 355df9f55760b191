from __future__ import annotations

from pathlib import Path

import pytest

from kserdes.cli.schema.source.inputs import find_inputs, type_by
from kserdes.cli.shell.settings import Settings
from kserdes.cli.shell.unusable import Unusable
from tests.unit.kserdes.cli.schema.helpers import write

NONE = Settings()


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return write(tmp_path, dict.fromkeys(["s/a.avsc", "s/sub/b.json", "t/c.proto", "s/readme.md"], "{}"))


def found(
    arguments: list[str], settings: Settings = NONE, root: str | None = None
) -> dict[str, tuple[list[str], list[str]]]:
    inputs = find_inputs(arguments, settings, root)
    return {item.folder.as_posix(): (item.paths, item.folders) for item in inputs.roots}


def test_a_folder_is_its_own_root(folder: Path) -> None:
    assert found(["s", "t"]) == {"s": (["a.avsc", "sub/b.json"], [""]), "t": (["c.proto"], [""])}
    assert found([]) == {".": (["s/a.avsc", "s/sub/b.json", "t/c.proto"], [""])}


def test_a_files_root_is_its_folder_or_the_configured_path_around_it(folder: Path) -> None:
    assert found(["s/sub/b.json"]) == {"s/sub": (["b.json"], [])}
    configured = Settings(origin=folder / "kserdes.toml", paths=("s", "t"))
    assert found(["s/sub/b.json"], configured) == {(folder / "s").as_posix(): (["sub/b.json"], [])}
    assert found([], configured) == {
        (folder / "s").as_posix(): (["a.avsc", "sub/b.json"], [""]),
        (folder / "t").as_posix(): (["c.proto"], [""]),
    }


def test_a_given_root_holds_for_all(folder: Path) -> None:
    assert found(["s/sub", "s/a.avsc"], root="s") == {"s": (["a.avsc", "sub/b.json"], ["sub/"])}
    assert found(["s/a.avsc"], Settings(origin=folder / "kserdes.toml", root=".")) == {
        folder.as_posix(): (["s/a.avsc"], [])
    }
    with pytest.raises(Unusable, match="is not below the root s"):
        found(["t/c.proto"], root="s")
    with pytest.raises(Unusable, match="the root nope is not a folder"):
        found(["s"], root="nope")


def test_missing_paths_are_results_and_the_rest_goes_on(folder: Path) -> None:
    inputs = find_inputs(["nope", "s/a.avsc"], Settings())
    assert [item.path for item in inputs.missing] == ["nope"]
    assert [item.paths for item in inputs.roots] == [["a.avsc"]]


def test_excluded_files_are_left_out_even_if_named(folder: Path) -> None:
    assert found(["s", "s/a.avsc"], Settings(exclude=("*.avsc",))) == {"s": (["sub/b.json"], [""])}


def test_a_file_is_worked_on_once(folder: Path) -> None:
    assert found(["s", "s/a.avsc", "s"])["s"] == (["a.avsc", "sub/b.json"], [""])


def test_a_file_of_another_suffix_may_be_named(folder: Path) -> None:
    assert found(["s/readme.md"]) == {"s": (["readme.md"], [])}
    with pytest.raises(Unusable, match="which type of schema"):
        type_by(Settings())("readme.md")


def test_types_are_by_pattern_then_by_suffix() -> None:
    kind = type_by(Settings(types={"legacy/*": "AVRO", "*.txt": "PROTOBUF"}))
    assert [kind(path) for path in ("legacy/a.json", "a.json", "x.txt", "a.PROTO", "a.avsc")] == [
        "AVRO",
        "JSON",
        "PROTOBUF",
        "PROTOBUF",
        "AVRO",
    ]


def test_paths_are_shown_as_written(folder: Path) -> None:
    (root,) = find_inputs(["s"], Settings()).roots
    assert root.shown("sub/b.json") == "s/sub/b.json"


def test_a_root_may_be_reached_through_a_link(folder: Path) -> None:
    (folder / "link").symlink_to(folder / "s", target_is_directory=True)
    assert found(["link"]) == {"link": (["a.avsc", "sub/b.json"], [""])}
    assert found(["link/a.avsc"]) == {"link": (["a.avsc"], [])}
