"""One schema named on the command line: a file, a file in a git revision, or a version of a subject.

Must not compare anything. `file.avsc`; `REVISION:path/file.avsc` as git writes it (from the repository's top, or from
here with `./`); `SUBJECT:3` or `SUBJECT:latest` for a registry; `data.avro`, the schema that the data was written with.
"""

from __future__ import annotations

import os
import posixpath
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from kserdes.cli.schema.source import data_file
from kserdes.cli.schema.source.files import shown
from kserdes.cli.schema.source.git import GitTree, Repository
from kserdes.cli.schema.source.inputs import HERE, find_inputs, type_by
from kserdes.cli.schema.source.linking import Collection
from kserdes.cli.schema.source.registry_baseline import RegistryBaseline, VersionSource
from kserdes.cli.shell.settings import Settings
from kserdes.cli.shell.unusable import Unusable
from registry import InvalidSchemaError, ResponseError, Schema, SchemaReference
from registry.schemas.references import Resolver, within


@dataclass(frozen=True, slots=True)
class Side:
    """A schema with what its references stand for.

    Attributes:
        label: how the user named it.
        schema: the schema.
        owns: whether a reference was made by this side; a registry's side takes any.
        resolve: the schema a reference stands for.
        remote: whether the schema is a registry's.
    """

    label: str
    schema: Schema
    owns: Callable[[SchemaReference], bool]
    resolve: Resolver
    remote: bool = False


def both(left: Side, right: Side) -> Resolver:
    """Resolves the references of either side: from files, else from the registry."""
    first, second = (right, left) if left.remote else (left, right)
    return lambda reference: (first if first.owns(reference) else second).resolve(reference)


def side(text: str, settings: Settings, registry: Callable[[], VersionSource], root: str | None = None) -> Side:
    """The schema a text names.

    Args:
        text: as the user wrote it.
        settings: the configuration.
        registry: gives the registry's client, called only if it is needed.
        root: where a file's references are resolved.

    Raises:
        Unusable: there is no such schema.
    """
    if os.path.lexists(text):
        return _file(text, settings, root)
    head, colon, tail = text.rpartition(":")
    if colon and (tail.isdecimal() or tail == "latest") and head:
        return _registered(head, tail, registry())
    if ":" in text:
        return _revision(text, settings, root)
    raise Unusable(f"{text}: there is no such file, and it is neither REVISION:PATH nor SUBJECT:VERSION")


def _in_collection(label: str, collection: Collection, path: str) -> Side:
    def resolve(reference: SchemaReference) -> Schema:
        try:
            return collection.resolve(reference)
        except Unusable as error:
            raise InvalidSchemaError.local(f"{collection.target(reference)}: {error.message}") from error

    try:
        return Side(label, collection.schema(path), collection.owns, resolve)
    except Unusable as error:
        raise Unusable(f"{label}:{error.line}:{error.column}: {error.message}", kind=error.kind) from error


def _file(text: str, settings: Settings, root: str | None) -> Side:
    if Path(text).is_dir():
        raise Unusable(f"{text} is a folder; name a schema file")
    if text.lower().endswith(data_file.SUFFIX):
        return _alone(shown(Path(text)), data_file.written_schema(Path(text)))
    (found,) = find_inputs([text], settings, root).roots
    found.collection.label = f"{HERE}/{text}"
    return _in_collection(shown(Path(text)), found.collection, found.paths[0])


def _alone(label: str, schema: Schema) -> Side:
    """A schema without references."""

    def resolve(reference: SchemaReference) -> Schema:
        raise InvalidSchemaError.local(f"{label} has no references, but {reference.name} was looked up")

    return Side(label, schema, lambda reference: False, resolve)


def _revision(text: str, settings: Settings, root: str | None) -> Side:
    revision, _, path = text.partition(":")
    repository = Repository(Path.cwd())
    if path.startswith(("./", "../")):
        path = posixpath.normpath(posixpath.join(repository.inside(Path.cwd()), path))
    folder = posixpath.dirname(path)
    if root is not None or settings.root is not None:
        top = Path(root) if root is not None else settings.folder / str(settings.root)
        folder = repository.inside(top)
    inside = posixpath.relpath(path, folder or ".")
    tree = GitTree(repository, repository.commit(revision), folder, listed=tuple(settings.types))
    if inside not in tree.entries:
        raise Unusable(f"{revision} has no schema file {path}", kind="UNKNOWN_REVISION")
    return _in_collection(text, Collection(tree, f"{revision}:{folder}", type_by(settings)), inside)


def _registered(subject: str, version: str, client: VersionSource) -> Side:
    try:
        found = client.get_latest_version(subject) if version == "latest" else client.get_version(subject, int(version))
    except ResponseError as error:
        raise Unusable(f"{subject} version {version}: {error}", kind="REGISTRY") from error
    empty = Collection(_NoFiles(), "\0", str)
    resolve = RegistryBaseline(empty, client).resolve
    schema = within(found.schema, subject)
    return Side(f"{subject}:{found.version}", schema, lambda reference: True, resolve, remote=True)


class _NoFiles:
    """A tree without files."""

    paths: tuple[str, ...] = ()

    def read(self, path: str) -> str:
        """There is nothing to read.

        Raises:
            Unusable: always.
        """
        raise Unusable(f"there is no file {path}")
