"""Baselines: the earlier versions of a schema file, in a folder, in a git revision, or in a registry.

Must not judge anything. Folders and the rules that pair files across sides are here; revisions are in `git_baseline`,
registries in `registry_baseline`, since they need a client.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Protocol

from kserdes.cli.schema.findings import Finding
from kserdes.cli.schema.source.linking import Collection
from kserdes.cli.schema.source.renames import renamed
from kserdes.cli.schema.source.versions import Numbered, history_key, numbered, series
from kserdes.cli.shell.unusable import Unusable
from registry import InvalidSchemaError, Schema, SchemaReference


@dataclass(frozen=True, slots=True)
class Old:
    """One earlier version.

    Attributes:
        label: where it is, e.g. `main:schemas/order.avsc`.
        schema: the schema.
        name: how to call it in a sentence, if that can be shorter than the label.
    """

    label: str
    schema: Schema
    name: str | None = None


@dataclass(frozen=True, slots=True)
class History:
    """The earlier versions of a file.

    Attributes:
        versions: oldest first.
        renamed_from: the file's old path, if that was another one.
        note: what there is to say of a file without versions.
    """

    versions: tuple[Old, ...] = ()
    renamed_from: str | None = None
    note: Finding | None = None


class Baseline(Protocol):
    """A source of earlier versions."""

    def history(self, path: str, subject: str, transitive: bool) -> History:
        """The earlier versions of a file.

        Raises:
            Unusable: they are there but can't be read.
        """

    def resolve(self, reference: SchemaReference) -> Schema:
        """The schema a reference of an earlier version stands for."""

    def settings(self, subject: str) -> tuple[str | None, str | None]:
        """Level and policy that are set for a subject there."""

    def deleted(self) -> Sequence[str]:
        """Files that were there and are no more."""


@dataclass
class TreeBaseline:
    """Earlier versions in another tree of files.

    Attributes:
        new: the files to check.
        old: what they are compared with.
        where: path of an old file → how to call it.
        same: both sides are the same folder, whose version folders are compared within themselves.
    """

    new: Collection
    old: Collection
    where: Callable[[str], str]
    same: bool = False
    _old_paths: frozenset[str] = field(init=False)

    def __post_init__(self) -> None:
        self._old_paths = frozenset(self.old.tree.paths)

    def history(self, path: str, subject: str, transitive: bool) -> History:
        """The earlier versions of a file: of its version folder, of the same path, or of the path it had before."""
        version = numbered(path)
        if version is not None:
            return History(tuple(self._versions_before(version)))
        if path in self._old_paths and not self.same:
            return History(self._at(path, transitive))
        folder = self._old_series.get(history_key(path), [])
        if folder:
            return History(tuple(self._old(item.path) for item in folder))
        source = self._renames.get(path)
        return History() if source is None else History(self._at(source, transitive), source)

    def _at(self, path: str, transitive: bool) -> tuple[Old, ...]:
        """The versions that one path had; here only the last is known."""
        return (self._old(path),)

    def _versions_before(self, version: Numbered) -> list[Old]:
        """The published versions of lower numbers (or this one, if the file was edited), gaps filled by new files."""
        published = {item.number: item.path for item in self._old_series.get(version.key, ())}
        own = {item.number: item.path for item in self._new_series.get(version.key, ())}
        found = [
            self._old(published[number])
            if number in published
            else Old(self.where(own[number]), self.new.schema(own[number]))
            for number in sorted({*published, *own})
            if number < version.number
        ]
        edited = published.get(version.number)
        if edited is not None and not self.same and self.old.tree.read(edited) != self.new.tree.read(version.path):
            found.append(self._old(edited))
        return found

    def settled(self, path: str) -> bool:
        """Whether a file is an older version of a version folder and as it was published: nothing to check."""
        version = numbered(path)
        if version is None or version.number == self._new_series[version.key][-1].number:
            return False
        return self.same or (path in self._old_paths and self.old.tree.read(path) == self.new.tree.read(path))

    def _old(self, path: str) -> Old:
        try:
            return Old(self.where(path), self.old.schema(path))
        except Unusable as error:
            raise Unusable(f"{self.where(path)}: {error.message}", kind="UNUSABLE_BASELINE") from error

    def resolve(self, reference: SchemaReference) -> Schema:
        """The schema a reference stands for.

        Raises:
            InvalidSchemaError: it can't be read.
        """
        try:
            return (self.new if self.new.owns(reference) else self.old).resolve(reference)
        except Unusable as error:
            raise InvalidSchemaError.local(f"{reference.subject}: {error.message}") from error

    def settings(self, subject: str) -> tuple[str | None, str | None]:
        """Folders have no levels of their own."""
        return None, None

    def deleted(self) -> Sequence[str]:
        """Old files that no new file stands for."""
        kept = {*self.new.tree.paths, *self._renames.values()}
        replaced = {history_key(path) for path in self.new.tree.paths}
        gone = [path for path in self.old.tree.paths if path not in kept]
        return [path for path in gone if (item := numbered(path)) is None or item.key not in replaced]

    @cached_property
    def _old_series(self) -> dict[tuple[str, str], list[Numbered]]:
        return series(self.old.tree.paths)

    @cached_property
    def _new_series(self) -> dict[tuple[str, str], list[Numbered]]:
        return series(self.new.tree.paths)

    @cached_property
    def _added(self) -> list[str]:
        """Files of which the old side has neither this path nor a version folder."""
        return [path for path in self.new.tree.paths if path not in self._old_paths and numbered(path) is None]

    @cached_property
    def _renames(self) -> dict[str, str]:
        now = frozenset(self.new.tree.paths)
        replaced = {history_key(path) for path in now}
        added = self._added
        removed = [
            path
            for path in self.old.tree.paths
            if path not in now and ((item := numbered(path)) is None or item.key not in replaced | {*self._new_series})
        ]
        return renamed(self.new, added, self.old, removed) if added and removed else {}
