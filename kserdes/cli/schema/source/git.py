"""Schema files of a git revision, read through the git command.

Must not know of schemas. Paths and revisions come from users: nothing they write is taken for an option of git;
submodules, oversized blobs and links that lead out of the folder are not read.
"""

from __future__ import annotations

import os
import posixpath
import subprocess
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from kserdes.cli.schema.source.files import MAX_FILE_BYTES, decode, is_schema_path, matches, too_large
from kserdes.cli.shell.unusable import Unusable

SHALLOW = "this is a shallow clone: git fetch --unshallow, or in CI fetch-depth: 0 (GitHub), GIT_DEPTH: 0 (GitLab)"

PLACES = ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX")
"""Variables set by hooks of git, relative to another folder than ours: the repository is the one with the schemas."""

REGULAR = (b"100644", b"100755", b"100664")
LINK = b"120000"


@dataclass(frozen=True, slots=True)
class Entry:
    """A file of a revision, or a submodule."""

    sha: bytes
    size: int
    regular: bool
    link: bool = False
    submodule: bool = False


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
        """The name of the commit (or tree) a revision stands for; HEAD before the first commit is the empty tree.

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
        why = "; fetch it first"
        if not self.run("rev-list", "--all", "--max-count=1"):
            if revision == "HEAD":
                return self.run("hash-object", "-t", "tree", "--stdin", given=b"").decode().strip()
            why = "; there are no commits yet"
        elif self.shallow:
            why = f"; {SHALLOW}"
        raise Unusable(f"git knows no revision {revision!r}{why}", kind="UNKNOWN_REVISION")

    @property
    def shallow(self) -> bool:
        """Whether the clone lacks older commits."""
        return self.run("rev-parse", "--is-shallow-repository").strip() == b"true"

    def inside(self, folder: Path) -> str:
        """A folder's path from the repository's top, `""` for the top itself."""
        path = os.path.relpath(os.path.realpath(folder), os.path.realpath(self.top)).replace(os.sep, "/")
        if path == ".." or path.startswith("../"):
            raise Unusable(f"{folder} is not in the git repository {self.top}", kind="NO_REPOSITORY")
        return "" if path == "." else path

    def listing(self, tree: str, folder: str) -> dict[str, Entry]:
        """The files and submodules of a commit below a folder, by their path in the folder."""
        prefix = f"{folder}/" if folder else ""
        limits = ["--", prefix] if prefix else []
        out = self.run("ls-tree", "-r", "-l", "-z", "--full-tree", tree, *limits)
        found = {}
        for line in out.split(b"\0"):
            head, _, name = line.partition(b"\t")
            path = name.decode("utf-8", "surrogateescape")[len(prefix) :]
            if path:
                mode, kind, sha, size = head.split()
                regular = kind == b"blob" and mode in REGULAR
                found[path] = Entry(sha, 0 if size == b"-" else int(size), regular, mode == LINK, kind == b"commit")
        return found

    def ignored(self, folder: str) -> frozenset[str]:
        """The files below a folder that git ignores and does not have, by their path in the folder."""
        prefix = f"{folder}/" if folder else ""
        out = self.run("ls-files", "-z", "--others", "--ignored", "--exclude-standard", "--", prefix or ".")
        return frozenset(name.decode("utf-8", "surrogateescape")[len(prefix) :] for name in out.split(b"\0") if name)

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
        """The commits up to a revision that changed something below a folder, oldest first.

        Raises:
            Unusable: the clone does not have all of them.
        """
        if self.shallow:
            raise Unusable(f"not all earlier versions are here; {SHALLOW}", kind="UNUSABLE_BASELINE")
        out = self.run("log", "--format=%H", "--reverse", "--end-of-options", revision, "--", folder or ".")
        return out.decode().split()


class GitTree:
    """The schema files of a folder as they are in a revision.

    Args:
        repository: where.
        tree: the commit's name.
        folder: the folder's path from the repository's top.
        exclude: patterns of paths to leave out.
        listed: patterns of paths that are schema files whatever their suffix.

    Attributes:
        submodules: the folders whose files are in repositories of their own.
    """

    def __init__(
        self,
        repository: Repository,
        tree: str,
        folder: str,
        exclude: Sequence[str] = (),
        listed: Sequence[str] = (),
    ) -> None:
        self._repository = repository
        listing = repository.listing(tree, folder)
        self.submodules = tuple(path for path, entry in listing.items() if entry.submodule)
        self._listing = {path: entry for path, entry in listing.items() if is_schema_path(path, listed)}
        self.entries = {path: entry for path, entry in self._listing.items() if not matches(path, exclude)}

    @cached_property
    def paths(self) -> Sequence[str]:
        """All schema files, sorted."""
        return sorted(self.entries)

    @cached_property
    def _blobs(self) -> dict[bytes, bytes]:
        files = self._listing if any(entry.link for entry in self.entries.values()) else self.entries
        wanted = (
            entry.sha for entry in files.values() if (entry.link or entry.regular) and entry.size <= MAX_FILE_BYTES
        )
        return self._repository.blobs(wanted)

    def _behind_links(self, path: str) -> Entry | None:
        """The file that a path leads to; None if that is none of the listing, or a circle."""
        seen = set()
        while (entry := self._listing.get(path)) is not None and entry.link:
            if path in seen or entry.size > MAX_FILE_BYTES:
                return None
            seen.add(path)
            target = self._blobs[entry.sha].decode("utf-8", "surrogateescape")
            path = posixpath.normpath(posixpath.join(posixpath.dirname(path), target))
        return entry

    def read(self, path: str) -> str:
        """The text of a file.

        Raises:
            Unusable: it is no text, too large, a submodule, or a link to no schema file of the folder.
        """
        entry = self._behind_links(path)
        if entry is None or not entry.regular:
            raise Unusable("not a regular file in that revision", kind="UNREADABLE_FILE")
        if entry.size > MAX_FILE_BYTES:
            raise too_large(entry.size)
        return decode(self._blobs[entry.sha])
