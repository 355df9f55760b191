from __future__ import annotations

import json
import os
from pathlib import Path

import fastavro
import pytest
from click.testing import CliRunner

from kserdes.cli.schema.group import schema as command
from kserdes.cli.schema.source import files
from kserdes.cli.schema.source.data_file import written_schema
from kserdes.cli.schema.source.files import FolderTree, decode, is_schema_path, matches, shown, write_whole
from kserdes.cli.shell.unusable import Unusable
from tests.unit.kserdes.cli.schema.helpers import record, write


def test_a_folder_gives_its_schema_files_sorted(tmp_path: Path) -> None:
    names = [
        "b.avsc",
        "a/x.json",
        "a/y.PROTO",
        "readme.md",
        "package.json",
        ".git/z.avsc",
        "node_modules/q.json",
        ".h.avsc",
    ]
    write(tmp_path, dict.fromkeys(names, "{}"))
    assert FolderTree(tmp_path).paths == ["a/x.json", "a/y.PROTO", "b.avsc"]
    assert FolderTree(tmp_path, ["a/*"]).paths == ["b.avsc"]


def test_links_in_circles_end_and_links_out_of_the_folder_are_not_read(tmp_path: Path) -> None:
    root = write(tmp_path / "root", {"deep/a.avsc": '"int"'})
    write(tmp_path, {"secret.avsc": '"string"'})
    (root / "deep" / "loop").symlink_to(root, target_is_directory=True)
    (root / "out.avsc").symlink_to(tmp_path / "secret.avsc")
    (root / "self.avsc").symlink_to(root / "self.avsc")
    (root / "alias.avsc").symlink_to(root / "deep" / "a.avsc")
    tree = FolderTree(root)
    assert tree.paths == ["alias.avsc", "deep/a.avsc", "out.avsc", "self.avsc"]
    assert tree.read("alias.avsc") == '"int"'
    with pytest.raises(Unusable, match="leads out of the folder"):
        tree.read("out.avsc")
    with pytest.raises(Unusable, match="can't be read"):
        tree.read("self.avsc")


def test_a_pipe_is_not_read(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.avsc")
    with pytest.raises(Unusable, match="not a regular file"):
        FolderTree(tmp_path).read("pipe.avsc")


def test_an_error_is_kept_and_raised_again(tmp_path: Path) -> None:
    tree = FolderTree(tmp_path)
    with pytest.raises(Unusable):
        tree.read("late.avsc")
    write(tmp_path, {"late.avsc": "1"})
    with pytest.raises(Unusable):
        tree.read("late.avsc")


@pytest.mark.parametrize(
    ("data", "kind", "line", "column"),
    [
        (b"", "EMPTY_FILE", 1, 1),
        (b" \n\t", "EMPTY_FILE", 1, 1),
        (b'{"a":\n "\xff"}', "NOT_UTF8", 2, 3),
        (b'{"a":\n\n  \x00}', "BINARY_FILE", 3, 3),
    ],
)
def test_undecodable_files_are_refused_with_the_place(data: bytes, kind: str, line: int, column: int) -> None:
    with pytest.raises(Unusable) as caught:
        decode(data)
    assert (caught.value.kind, caught.value.line, caught.value.column) == (kind, line, column)


def test_a_byte_order_mark_is_dropped() -> None:
    assert decode(b"\xef\xbb\xbf{}") == "{}"


def test_huge_files_are_refused_unread(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "MAX_FILE_BYTES", 10)
    write(tmp_path, {"big.avsc": "x" * 11})
    monkeypatch.setattr(Path, "read_bytes", lambda self: pytest.fail("it was read"))
    with pytest.raises(Unusable, match="11 bytes are more than"):
        FolderTree(tmp_path).read("big.avsc")
    with pytest.raises(Unusable, match="11 bytes are more than"):
        decode(b"x" * 11)


@pytest.mark.parametrize(
    ("path", "patterns", "expected"),
    [
        ("a/b.avsc", ["*.avsc"], True),
        ("a/b.avsc", ["a/*"], True),
        ("a/b.avsc", ["b/*"], False),
        ("x/a/b.avsc", ["*/a/*"], True),
        ("a/b.avsc", [], False),
    ],
)
def test_patterns_without_a_slash_mean_names(path: str, patterns: list[str], expected: bool) -> None:
    assert matches(path, patterns) is expected


def test_configuration_files_are_no_schemas() -> None:
    assert [is_schema_path(name) for name in ("tsconfig.json", "tsconfig.app.json", "a/package-lock.json")] == [
        False
    ] * 3
    assert is_schema_path("a/order.schema.json")


def test_paths_are_shown_from_the_working_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert shown(tmp_path / "a" / "b.avsc") == "a/b.avsc"
    assert shown(Path("/elsewhere/b.avsc")) == "/elsewhere/b.avsc"
    assert shown(Path("caf\udce9.avsc")) == "caf\\udce9.avsc"


def test_a_write_that_fails_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.txt"
    path.write_text("old")
    path.chmod(0o640)

    def full(number: int) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr("os.fsync", full)
        with pytest.raises(OSError, match="No space left"):
            write_whole(path, "new")
    assert (path.read_text(), [item.name for item in tmp_path.iterdir()]) == ("old", ["a.txt"])
    write_whole(path, "new")
    assert (path.read_text(), path.stat().st_mode & 0o777) == ("new", 0o640)


def test_links_and_devices_stay_what_they_are(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("old")
    (tmp_path / "link").symlink_to("a.txt")
    write_whole(tmp_path / "link", "new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "a.txt").read_text() == "new"
    write_whole(Path("/dev/null"), "nothing")
    assert not Path("/dev/null").is_file()


# ---- data file


def data_file(folder: Path, schema: dict[str, object], *values: object, codec: str = "null") -> Path:
    path = folder / "old.avro"
    with path.open("wb") as file:
        fastavro.writer(file, schema, values, codec=codec)
    return path


@pytest.mark.parametrize("codec", ["null", "deflate"])
def test_the_writers_schema_is_read(tmp_path: Path, codec: str) -> None:
    path = data_file(tmp_path, record("Order", "id:long"), {"id": 1}, codec=codec)
    found = written_schema(path)
    assert found.schema_type == "AVRO"
    assert json.loads(str(found.schema_str))["fields"][0]["name"] == "id"


def test_damage_is_named(tmp_path: Path) -> None:
    whole = data_file(tmp_path, record("Order", "id:long"), {"id": 1}).read_bytes()
    path = tmp_path / "damaged.avro"
    for data in (b"", b"Obj\x01", b"no data file", whole[:40], whole.replace(b'"record"', b'"rekord"')):
        path.write_bytes(data)
        with pytest.raises(Unusable, match="not an Avro data file, or its header is damaged"):
            written_schema(path)
    with pytest.raises(Unusable, match="No such file"):
        written_schema(tmp_path / "none.avro")


def test_diff_says_whether_a_schema_reads_old_data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data_file(tmp_path, record("Order", "id:long"), {"id": 1})
    write(tmp_path, {"wider.avsc": record("Order", "id:double"), "other.avsc": record("Order", "id:string")})
    monkeypatch.chdir(tmp_path)
    for schema, readable in (("wider.avsc", True), ("other.avsc", False)):
        result = CliRunner().invoke(command, ["diff", "old.avro", schema, "--format", "json"])
        assert result.exit_code == 0, result.output
        assert json.loads(result.output)["backward"]["compatible"] is readable
