"""Registers schema files with all they refer to, each after what it uses itself.

Must not know of HTTP: a registry client is handed in. A file is registered under its own subject, its references name
the subjects and versions that the files they lead to have got.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Protocol

from registry.cli.findings import Unusable
from registry.cli.linking import Collection, Document
from registry.cli.subjects import Namer
from registry.models import RegisteredSchema, Schema, SchemaReference

__all__ = ["Registered", "Writer", "register_files"]


class Writer(Protocol):
    """What is asked of a registry client."""

    def register_schema_full_response(
        self, subject_name: str, schema: Schema, normalize_schemas: bool = False
    ) -> RegisteredSchema:
        """Registers a schema."""

    def lookup_schema(self, subject_name: str, schema: Schema, normalize_schemas: bool = False) -> RegisteredSchema:
        """Where a schema is registered."""


@dataclass(frozen=True, slots=True)
class Registered:
    """A file and what it was registered as."""

    path: str
    subject: str
    version: int
    schema_id: int
    schema: Schema


def ordered(files: Collection, paths: list[str]) -> Iterator[str]:
    """The files and all they refer to, each after those.

    Raises:
        Unusable: a file can't be read, or files refer to each other in a circle.
    """
    done: set[str] = set()
    for path in paths:
        open_paths: dict[str, None] = {}
        stack = [(path, False)]
        while stack:
            current, left = stack.pop()
            if left:
                del open_paths[current]
                done.add(current)
                yield current
            elif current in open_paths:
                raise Unusable(f"{current}: its references lead back to itself", kind="CIRCULAR_REFERENCE")
            elif current not in done:
                open_paths[current] = None
                stack.append((current, True))
                try:
                    references = files.schema(current).references
                except Unusable as error:
                    raise Unusable(f"{current}:{error.line}: {error.message}", kind=error.kind) from error
                stack += ((files.target(item), False) for item in reversed(references))


def register_files(
    files: Collection, paths: list[str], namer: Namer, client: Writer, normalize: bool, dry_run: bool
) -> Iterator[Registered]:
    """Registers files, and yields each when it is.

    Args:
        files: all files that references may lead to.
        paths: what to register; what it refers to is registered first.
        namer: names subjects.
        client: the registry.
        normalize: whether the registry is to bring schemas to its normal form.
        dry_run: say what would be registered, but for ids and versions.

    Raises:
        Unusable: a file can't be read, or two have the same subject.
        SchemaRegistryError: the registry refuses one; those before it are registered.
    """
    versions: dict[str, tuple[str, int]] = {}
    owners: dict[str, str] = {}
    for path in ordered(files, paths):
        subject = namer.subject(path, _documents(files, path))
        other = owners.setdefault(subject, path)
        if other != path:
            raise Unusable(f"{path} and {other} both belong to subject {subject}", kind="DUPLICATE_SUBJECT")
        local = files.schema(path)
        references = tuple(SchemaReference(item.name, *versions[files.target(item)]) for item in local.references)
        schema = Schema(local.schema_str, local.schema_type, references)
        if dry_run:
            versions[path] = (subject, 0)
            yield Registered(path, subject, 0, 0, schema)
            continue
        made = client.register_schema_full_response(subject, schema, normalize)
        version = made.version
        if version is None:  # older registries answer the id alone
            version = client.lookup_schema(subject, schema, normalize).version or 0
        versions[path] = (subject, version)
        yield Registered(path, subject, version, made.schema_id, schema)


def _documents(files: Collection, path: str) -> Callable[[], Document]:
    return lambda: files.document(path)
