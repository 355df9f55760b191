"""Schema files of a git revision, read through the git command.

Must not know of schemas. Paths and revisions come from users: nothing they write is taken for an option of git, and
links, submodules and oversized blobs are not read.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from registry.cli.files import MAX_BYTES, decode, is_schema_path, matches, too_large
from registry.cli.findings import Unusable

__all__ = ["GitTree", "Repository"]

PLACES = ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX")
"""What hooks of git set, relative to another folder than ours: the repository is the one the schemas are in."""

REGULAR = (b"100644", b"100755", b"100664")


@dataclass(frozen=True, slots=True)
class Entry:
    """A file of a revision."""

    sha: bytes
    size: int
    regular: bool


class Repository:
    """The git repository a folder is in.

    Raises:
        Unusable: git is not installed, or the folder is in no repository.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        top = self.run("rev-parse", "--show-toplevel").decode("utf-8", "surrogateescape").removesuffix("\n")
        self.top = self._folder = Path(top)

    def run(self, *arguments: str, given: bytes | None = None) -> bytes:
        """The output of a git command, run at the repository's top.

        Raises:
            Unusable: git fails; with what it says.
        """
        command = ["git", "-c", "core.quotePath=off", "--literal-pathspecs", *arguments]
        environment = {name: value for name, value in os.environ.items() if name not in PLACES}
        environment |= {"LC_ALL": "C", "GIT_OPTIONAL_LOCKS": "0"}
        try:
            done = subprocess.run(
                command, cwd=self._folder, input=given, capture_output=True, check=False, env=environment
            )
        except FileNotFoundError as error:
            raise Unusable("git is not installed, or not on the PATH", kind="NO_GIT") from error
        except OSError as error:
            raise Unusable(f"git can't be run: {error}", kind="NO_GIT") from error
        if done.returncode != 0:
            reason = done.stderr.decode("utf-8", "replace").strip().removeprefix("fatal: ")
            if "not a git repository" in reason:
                raise Unusable(f"{self._folder} is not in a git repository", kind="NO_REPOSITORY")
            raise Unusable(f"git {arguments[0]} failed: {reason}", kind="GIT_FAILED")
        return done.stdout

    def commit(self, revision: str) -> str:
        """The name of the commit (or tree) a revision stands for.

        Raises:
            Unusable: there is none.
        """
        for kind in ("commit", "tree"):
            try:
                found = self.run("rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{{kind}}}")
            except Unusable as error:
                if error.kind != "GIT_FAILED":
                    raise
                continue
            return found.decode().strip()
        raise Unusable(
            f"git knows no revision {revision!r}; in CI, fetch it first (a shallow clone has one commit only)",
            kind="UNKNOWN_REVISION",
        )

    def inside(self, folder: Path) -> str:
        """A folder's path from the repository's top, `""` for the top itself."""
        path = os.path.relpath(os.path.realpath(folder), os.path.realpath(self.top)).replace(os.sep, "/")
        if path == ".." or path.startswith("../"):
            raise Unusable(f"{folder} is not in the git repository {self.top}", kind="NO_REPOSITORY")
        return "" if path == "." else path

    def listing(self, tree: str, folder: str) -> dict[str, Entry]:
        """The schema files of a commit below a folder, by their path in the folder."""
        prefix = f"{folder}/" if folder else ""
        limits = ["--", prefix] if prefix else []
        out = self.run("ls-tree", "-r", "-l", "-z", "--full-tree", tree, *limits)
        found = {}
        for line in out.split(b"\0"):
            head, _, name = line.partition(b"\t")
            path = name.decode("utf-8", "surrogateescape")[len(prefix) :]
            if path and is_schema_path(path):
                mode, kind, sha, size = head.split()
                regular = kind == b"blob" and mode in REGULAR
                found[path] = Entry(sha, int(size) if regular else 0, regular)
        return found

    def blobs(self, names: Iterable[bytes]) -> dict[bytes, bytes]:
        """The contents of blobs, all from one `git cat-file --batch`."""
        wanted = list(dict.fromkeys(names))
        if not wanted:
            return {}
        out = self.run("cat-file", "--batch", given=b"\n".join(wanted) + b"\n")
        found, at = {}, 0
        for name in wanted:
            end = out.index(b"\n", at)
            head = out[at:end].split()
            if len(head) != 3:
                raise Unusable(f"git has no object {name.decode()}: the clone is incomplete", kind="GIT_FAILED")
            size = int(head[2])
            found[name] = out[end + 1 : end + 1 + size]
            at = end + size + 2
        return found

    def commits_of(self, revision: str, folder: str) -> list[str]:
        """The commits up to a revision that changed something below a folder, oldest first."""
        out = self.run("log", "--format=%H", "--reverse", "--end-of-options", revision, "--", folder or ".")
        return out.decode().split()


class GitTree:
    """The schema files of a folder as they are in a revision.

    Args:
        repository: where.
        tree: the commit's name.
        folder: the folder's path from the repository's top.
        exclude: patterns of paths to leave out.
    """

    def __init__(self, repository: Repository, tree: str, folder: str, exclude: Sequence[str] = ()) -> None:
        self._repository = repository
        listing = repository.listing(tree, folder)
        self.entries = {path: entry for path, entry in listing.items() if not matches(path, exclude)}

    @cached_property
    def paths(self) -> Sequence[str]:
        """All schema files, sorted."""
        return sorted(self.entries)

    @cached_property
    def _blobs(self) -> dict[bytes, bytes]:
        wanted = (entry.sha for entry in self.entries.values() if entry.regular and entry.size <= MAX_BYTES)
        return self._repository.blobs(wanted)

    def read(self, path: str) -> str:
        """The text of a file.

        Raises:
            Unusable: it is no text, too large, a link or a submodule.
        """
        entry = self.entries[path]
        if not entry.regular:
            raise Unusable("not a regular file in that revision", kind="UNREADABLE_FILE")
        if entry.size > MAX_BYTES:
            raise too_large(entry.size)
        return decode(self._blobs[entry.sha])
