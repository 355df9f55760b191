"""Earlier versions of schema files in a git revision; for transitive levels, all that a path ever had up to it.

Must not judge anything, nor know of processes: `git` runs the commands. A file that is new in its folder may have come
from another folder of the repository: then what it was there is its earlier version. Whoever has no earlier version
because git does not have the file at all is told so.
"""

from __future__ import annotations

import dataclasses
import posixpath
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

from kserdes.cli.schema.findings import Finding, Severity
from kserdes.cli.schema.source.baseline import History, Old, TreeBaseline
from kserdes.cli.schema.source.git import GitTree, Repository
from kserdes.cli.schema.source.linking import Collection
from kserdes.cli.schema.source.renames import renamed
from kserdes.cli.shell.unusable import Unusable
from registry import InvalidSchemaError, Schema, SchemaReference

IGNORED = Finding(
    "IGNORED_BY_GIT",
    "git ignores this file, so no revision has an earlier version of it; compare it with another folder or a registry",
    severity=Severity.NOTE,
)


@dataclass(frozen=True, slots=True)
class Place:
    """The schema files of a repository.

    Attributes:
        folder: the files' root, as a path from the repository's top.
        exclude: patterns of paths to leave out.
        listed: patterns of paths that are schema files whatever their suffix.
        type_of: path → schema type.
    """

    folder: str
    exclude: Sequence[str]
    listed: Sequence[str]
    type_of: Callable[[str], str]

    def tree(self, repository: Repository, commit: str) -> GitTree:
        """The files as they are in a commit."""
        return GitTree(repository, commit, self.folder, self.exclude, self.listed)

    def at(self, folder: str) -> Place:
        """The same in another folder."""
        return dataclasses.replace(self, folder=folder)


class GitBaseline(TreeBaseline):
    """Earlier versions in a git revision.

    Args:
        new: the files to check.
        repository: where the revision is.
        revision: as the user wrote it.
        place: where in it the files are.
        mark: what sets apart the labels of this one's collections.
    """

    def __init__(self, new: Collection, repository: Repository, revision: str, place: Place, mark: str = "") -> None:
        self._repository = repository
        self._revision = revision
        self._place = place
        self._mark = mark
        self._commit = repository.commit(revision)
        self._tree = place.tree(repository, self._commit)
        self._elsewhere: dict[str, GitBaseline] = {}
        old = Collection(self._tree, revision + mark, place.type_of)
        super().__init__(new, old, lambda path: self._where(revision, path))

    def _where(self, revision: str, path: str) -> str:
        return f"{revision}:{posixpath.join(self._place.folder, path)}"

    def history(self, path: str, subject: str, transitive: bool) -> History:
        """The earlier versions of a file: of its version folder, of its path, or of the path it had before.

        Raises:
            Unusable: they are in a submodule, or can't be read.
        """
        found = super().history(path, subject, transitive)
        if found.versions:
            return found
        source = self._moved.get(path)
        if source is not None:
            return self._from_elsewhere(path, source, transitive)
        for submodule in self._tree.submodules:
            if path.startswith(f"{submodule}/"):
                text = (
                    f"its earlier versions are in the submodule {submodule}: check that folder by itself, or exclude it"
                )
                raise Unusable(text, kind="IN_SUBMODULE")
        return History(note=IGNORED if path in self._ignored else None)

    def _from_elsewhere(self, path: str, source: str, transitive: bool) -> History:
        """The versions of a file that was in another folder, whose root is found by what both paths have in common."""
        was, now = source.split("/"), path.split("/")
        common = 1
        while common < min(len(was), len(now)) and was[-common - 1] == now[-common - 1]:
            common += 1
        root, inside = "/".join(was[:-common]), "/".join(was[-common:])
        other = self._elsewhere.get(root)
        if other is None:
            other = GitBaseline(self.new, self._repository, self._revision, self._place.at(root), f" in /{root}")
            self._elsewhere[root] = other
        return History(other._at(inside, transitive), posixpath.relpath(source, self._place.folder or "."))

    @cached_property
    def _moved(self) -> dict[str, str]:
        """Files that came from outside the folder → their old path from the repository's top."""
        added = [path for path in self._added if path not in self._renames]
        if not added or not self._place.folder:
            return {}
        tree = self._place.at("").tree(self._repository, self._commit)
        inside = f"{self._place.folder}/"
        gone = [
            path for path in tree.paths if not path.startswith(inside) and not (self._repository.top / path).exists()
        ]
        everywhere = Collection(tree, f"{self._revision} as a whole", self._place.type_of)
        return renamed(self.new, added, everywhere, gone) if gone else {}

    @cached_property
    def _ignored(self) -> frozenset[str]:
        return self._repository.ignored(self._place.folder)

    def _at(self, path: str, transitive: bool) -> tuple[Old, ...]:
        last = dataclasses.replace(self._old(path), name=f"the version in {self._revision}")
        if not transitive:
            return (last,)
        found: list[Old] = []
        texts: set[tuple[str, ...]] = set()
        for commit, side in self._commits.items():
            if path in side.tree.paths:
                key = _closure_texts(side, path)
                if key and key not in texts and key != _closure_texts(self.old, path):
                    texts.add(key)
                    found.append(
                        Old(self._where(commit[:10], path), side.schema(path), f"the version in {commit[:10]}")
                    )
        return (*found, last)

    @cached_property
    def _commits(self) -> dict[str, Collection]:
        """The folder as it was after each commit that changed it, oldest first."""
        commits = self._repository.commits_of(self._commit, self._place.folder)
        sides = (self._place.tree(self._repository, commit) for commit in commits)
        return {
            commit: Collection(side, commit + self._mark, self._place.type_of)
            for commit, side in zip(commits, sides, strict=True)
        }

    def resolve(self, reference: SchemaReference) -> Schema:
        """The schema a reference stands for.

        Raises:
            InvalidSchemaError: it can't be read.
        """
        for baseline in (self, *self._elsewhere.values()):
            for side in baseline._sides:
                if side.owns(reference):
                    try:
                        return side.resolve(reference)
                    except Unusable as error:
                        raise InvalidSchemaError.local(f"{reference.subject}: {error.message}") from error
        return super().resolve(reference)

    @property
    def _sides(self) -> Sequence[Collection]:
        """The collections that were made."""
        return (self.old, *self.__dict__.get("_commits", {}).values())


def _closure_texts(side: Collection, path: str) -> tuple[str, ...]:
    """The texts of a schema and of all it refers to; nothing of one that can't be read (it was never in use)."""
    texts, seen, stack = [], {path}, [path]
    try:
        while stack:
            schema = side.schema(stack.pop())
            texts.append(schema.schema_str)
            for reference in schema.references:
                target = side.target(reference)
                if target not in seen:
                    seen.add(target)
                    stack.append(target)
    except Unusable:
        return ()
    return tuple(texts)
