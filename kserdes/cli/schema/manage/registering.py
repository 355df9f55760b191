"""Registers schema files with all they refer to, each after what it uses itself.

Must not know of HTTP: a registry client is handed in. A file is registered under its own subject, its references name
the subjects and versions that the files they lead to have got. Everything is read, parsed, named and ordered before
anything is written; what the registry then refuses is named, the files that do not need it are registered.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Protocol

from kserdes.cli.schema.check.checking import validate
from kserdes.cli.schema.source.linking import Collection, Document
from kserdes.cli.schema.source.subjects import Namer
from kserdes.cli.shell.unusable import Unusable
from registry import (
    IncompatibleSchemaError,
    InvalidSchemaError,
    RegisteredSchema,
    ResponseError,
    Schema,
    SchemaReference,
)
from registry.schemas.references import Resolver


class Registrar(Protocol):
    """The methods of a registry client that registering needs."""

    def register_schema_full_response(
        self, subject_name: str, schema: Schema, normalize_schemas: bool = False
    ) -> RegisteredSchema:
        """Registers a schema."""

    def lookup_schema(self, subject_name: str, schema: Schema, normalize_schemas: bool = False) -> RegisteredSchema:
        """Looks up a schema's registration."""


@dataclass(frozen=True, slots=True)
class Refused:
    """A file that was not registered, and why."""

    path: str
    subject: str
    reason: str


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


def planned(files: Collection, paths: list[str], namer: Namer) -> dict[str, str]:
    """The files with all they refer to, each after those, and their subjects; every file is parsed.

    Raises:
        Unusable: files can't be read or parsed, or two have the same subject; all of them are named.
    """
    plan: dict[str, str] = {}
    owners: dict[str, str] = {}
    wrong: list[str] = []
    for path in ordered(files, paths):
        try:
            validate(files.document(path), files.schema(path), _resolver(files))
            plan[path] = namer.subject(path, _documents(files, path))
        except Unusable as error:
            wrong.append(f"{path}:{error.line}: {error.message}")
            continue
        other = owners.setdefault(plan[path], path)
        if other != path:
            wrong.append(f"{path} and {other} both belong to subject {plan[path]}")
    if wrong:
        raise Unusable("nothing was registered:" + "".join(f"\n  {text}" for text in wrong))
    return plan


def register_files(
    files: Collection, plan: Mapping[str, str], client: Registrar, normalize: bool, dry_run: bool
) -> Iterator[Registered | Refused]:
    """Registers files, and yields each when it is, or is refused.

    Args:
        files: all files that references may lead to.
        plan: path → subject, each after what it refers to.
        client: the registry.
        normalize: whether the registry is to bring schemas to its normal form.
        dry_run: say what would be registered, but for ids and versions.

    Raises:
        SchemaRegistryError: the registry does not answer, or is none; those before are registered.
    """
    versions: dict[str, tuple[str, int]] = {}
    for path, subject in plan.items():
        local = files.schema(path)
        missing = [target for item in local.references if (target := files.target(item)) not in versions]
        if missing:
            yield Refused(path, subject, f"it refers to {missing[0]}, which was refused")
            continue
        references = tuple(SchemaReference(item.name, *versions[files.target(item)]) for item in local.references)
        schema = Schema(local.schema_str, local.schema_type, references)
        if dry_run:
            versions[path] = (subject, 0)
            yield Registered(path, subject, 0, 0, schema)
            continue
        try:
            made = client.register_schema_full_response(subject, schema, normalize)
            version = made.version
            if version is None:  # older registries answer the id alone
                version = client.lookup_schema(subject, schema, normalize).version or 0
        except ResponseError as error:
            if not isinstance(error, (IncompatibleSchemaError, InvalidSchemaError)) and error.http_status_code != 422:
                raise
            yield Refused(path, subject, "".join([str(error), *_reasons(error)]))
            continue
        versions[path] = (subject, version)
        yield Registered(path, subject, version, made.schema_id, schema)


def _reasons(error: ResponseError) -> list[str]:
    return [f"\n  {reason}" for reason in getattr(error, "differences", ())] if "details: [" not in str(error) else []


def _resolver(files: Collection) -> Resolver:
    def resolve(reference: SchemaReference) -> Schema:
        try:
            return files.resolve(reference)
        except Unusable as error:
            raise InvalidSchemaError.local(f"{files.target(reference)}: {error.message}") from error

    return resolve


def _documents(files: Collection, path: str) -> Callable[[], Document]:
    return lambda: files.document(path)
