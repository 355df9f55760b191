from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import pytest

from kserdes.cli.schema.source import git as module
from kserdes.cli.schema.source.git import GitTree, Repository
from kserdes.cli.shell.unusable import Unusable
from tests.unit.kserdes.cli.schema.helpers import commit, git, repository, write


def test_the_files_of_a_revision_are_those_of_its_commit(tmp_path: Path) -> None:
    repository(tmp_path, {"s/a.avsc": '"int"', "s/deep/ä b.json": "{}", "s/readme.md": "", "other/c.avsc": '"int"'})
    write(tmp_path, {"s/a.avsc": '"long"', "s/new.avsc": '"int"'})
    found = Repository(tmp_path / "s")
    tree = GitTree(found, found.commit("main"), found.inside(tmp_path / "s"))
    assert tree.paths == ["a.avsc", "deep/ä b.json"]
    assert tree.read("a.avsc") == '"int"'
    assert tree.read("deep/ä b.json") == "{}"


def test_the_repository_itself_may_be_the_folder(tmp_path: Path) -> None:
    repository(tmp_path, {"a.avsc": '"int"', "b/c.avsc": '"int"'})
    found = Repository(tmp_path)
    assert found.inside(tmp_path) == ""
    assert GitTree(found, found.commit("HEAD"), "", ["b/*"]).paths == ["a.avsc"]


def test_blobs_come_from_one_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    repository(tmp_path, {f"{number}.avsc": f'"{number}"' for number in range(50)})
    found = Repository(tmp_path)
    calls: list[str] = []
    run = Repository.run

    def counted(self: Repository, *arguments: str, given: bytes | None = None) -> bytes:
        calls.append(arguments[0])
        return run(self, *arguments, given=given)

    monkeypatch.setattr(Repository, "run", counted)
    tree = GitTree(found, found.commit("main"), "")
    assert [tree.read(path) for path in tree.paths] == [f'"{path[:-5]}"' for path in tree.paths]
    assert calls.count("cat-file") == 1


def test_a_revision_that_is_not_there(tmp_path: Path) -> None:
    found = Repository(repository(tmp_path, {"a.avsc": "1"}))
    for revision in ("nope", "main:a.avsc", "--help", "-q", ""):
        with pytest.raises(Unusable, match="git knows no revision") as caught:
            found.commit(revision)
        assert caught.value.kind == "UNKNOWN_REVISION"


def test_a_tag_and_a_tree_are_revisions_too(tmp_path: Path) -> None:
    repository(tmp_path, {"a/b.avsc": '"int"'})
    git(tmp_path, "tag", "-a", "v1", "-m", "one")
    found = Repository(tmp_path)
    assert found.commit("v1") == found.commit("main")
    assert GitTree(found, found.commit("main^{tree}"), "a").paths == ["b.avsc"]


def test_within_a_hook_of_git_the_folders_repository_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    repository(tmp_path, {"s/a.avsc": '"int"'})
    monkeypatch.setenv("GIT_DIR", ".git")
    monkeypatch.setenv("GIT_INDEX_FILE", ".git/index")
    assert Repository(tmp_path / "s").top == tmp_path


def test_blobs_that_are_not_read_are_not_fetched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = Repository(repository(tmp_path, {"a.avsc": "1", "big.avsc": "x" * 99}))
    monkeypatch.setattr(module, "MAX_FILE_BYTES", 50)
    tree = GitTree(found, found.commit("main"), "")
    asked: list[bytes] = []
    blobs = Repository.blobs

    def noted(self: Repository, names: Iterable[bytes]) -> dict[bytes, bytes]:
        asked.extend(names := list(names))
        return blobs(self, names)

    monkeypatch.setattr(Repository, "blobs", noted)
    assert tree.read("a.avsc") == "1"
    assert asked == [tree.entries["a.avsc"].sha]


def test_no_repository(tmp_path: Path) -> None:
    with pytest.raises(Unusable, match="is not in a git repository"):
        Repository(tmp_path)


def test_no_git(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(Unusable, match="git is not installed") as caught:
        Repository(tmp_path)
    assert caught.value.kind == "NO_GIT"


def test_a_folder_of_another_repository_is_refused(tmp_path: Path) -> None:
    found = Repository(repository(tmp_path / "one", {"a.avsc": "1"}))
    with pytest.raises(Unusable, match="is not in the git repository"):
        found.inside(tmp_path)


def test_links_and_huge_blobs_of_a_revision_are_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path, {"big.avsc": "x" * 200, "ok.avsc": '"int"'})
    (tmp_path / "link.avsc").symlink_to("/etc/hostname")
    repository(tmp_path, {})
    monkeypatch.setattr(module, "MAX_FILE_BYTES", 100)
    found = Repository(tmp_path)
    tree = GitTree(found, found.commit("main"), "")
    assert tree.read("ok.avsc") == '"int"'
    with pytest.raises(Unusable, match="not a regular file"):
        tree.read("link.avsc")
    with pytest.raises(Unusable, match="200 bytes are more than"):
        tree.read("big.avsc")


def test_links_to_schema_files_of_the_folder_are_followed(tmp_path: Path) -> None:
    write(tmp_path, {"s/deep/a.avsc": '"int"', "b.avsc": '"long"'})
    for name, target in {
        "one.avsc": "two.avsc",
        "two.avsc": "deep/a.avsc",
        "circle.avsc": "circle.avsc",
        "gone.avsc": "nowhere.avsc",
        "out.avsc": "../b.avsc",
    }.items():
        (tmp_path / "s" / name).symlink_to(target)
    found = Repository(repository(tmp_path, {}))
    tree = GitTree(found, found.commit("main"), "s", ["deep/*"])
    assert tree.paths == ["circle.avsc", "gone.avsc", "one.avsc", "out.avsc", "two.avsc"]
    assert tree.read("one.avsc") == tree.read("two.avsc") == '"int"'
    for path in ("circle.avsc", "gone.avsc", "out.avsc"):
        with pytest.raises(Unusable, match="not a regular file"):
            tree.read(path)


def test_before_the_first_commit_head_is_empty(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q", "-b", "main", ".")
    found = Repository(tmp_path)
    assert GitTree(found, found.commit("HEAD"), "").paths == []
    with pytest.raises(Unusable, match="there are no commits yet"):
        found.commit("main")


def test_a_shallow_clone_has_no_history(tmp_path: Path) -> None:
    repository(tmp_path / "full", {"a.avsc": '"int"'})
    commit(write(tmp_path / "full", {"a.avsc": '"long"'}))
    git(tmp_path, "clone", "-q", "--depth", "1", f"file://{tmp_path}/full", "part")
    found = Repository(tmp_path / "part")
    assert GitTree(found, found.commit("HEAD"), "").read("a.avsc") == '"long"'
    with pytest.raises(
        Unusable, match="git knows no revision 'HEAD~1'; this is a shallow clone: git fetch --unshallow"
    ):
        found.commit("HEAD~1")
    with pytest.raises(Unusable, match="not all earlier versions are here; this is a shallow clone"):
        found.commits_of("HEAD", "")


def test_commits_that_changed_a_folder_come_oldest_first(tmp_path: Path) -> None:
    repository(tmp_path, {"s/a.avsc": "1", "x": "1"})
    commit(write(tmp_path, {"x": "2"}))
    commit(write(tmp_path, {"s/a.avsc": "2"}))
    found = Repository(tmp_path)
    texts = [GitTree(found, name, "s").read("a.avsc") for name in found.commits_of(found.commit("main"), "s")]
    assert texts == ["1", "2"]
    assert len(found.commits_of(found.commit("main"), "")) == 3


def test_a_missing_object_is_an_incomplete_clone(tmp_path: Path) -> None:
    found = Repository(repository(tmp_path, {"a.avsc": "1"}))
    with pytest.raises(Unusable, match="the clone is incomplete"):
        found.blobs([b"0" * 40])
    assert found.blobs([]) == {}
