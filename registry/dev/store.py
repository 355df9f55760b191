"""What an embedded registry knows: schemas, subjects, versions, levels. In memory.

Must not know of HTTP; refusals are `Refusal`s with the registry's codes and texts. Not thread-safe: the mount holds
the lock. Source: error codes and texts of Confluent's Schema Registry (`io.confluent.kafka.schemaregistry.rest`).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from registry.canonical import avro_text
from registry.compat import CompatibilityResult, Level, check
from registry.errors import InvalidSchemaError
from registry.models import RegisteredSchema, Schema, SchemaReference
from registry.references import resolve_all

__all__ = ["Refusal", "Store", "SubjectConfig"]

SUPPORTED = ("AVRO",)
GLOBAL_LEVEL = Level.BACKWARD


class Refusal(Exception):
    """The registry says no.

    Attributes:
        status: HTTP status.
        code: the registry's error code.
        message: its text.
    """

    def __init__(self, status: int, code: int, message: str) -> None:
        super().__init__(status, code, message)
        self.status = status
        self.code = code
        self.message = message


@dataclass(slots=True)
class Version:
    """A version of a subject."""

    number: int
    schema_id: int
    deleted: bool = False


@dataclass(frozen=True, slots=True)
class SubjectConfig:
    """What can be set for a subject, or for all.

    Attributes:
        level: None where it is not set.
        normalize: whether schemas are normalized when registered.
    """

    level: Level | None = None
    normalize: bool | None = None


@dataclass(slots=True)
class Store:
    """The state of one registry. Ids are shared by subjects and never used again."""

    _schemas: dict[int, Schema] = field(default_factory=dict)
    _ids: dict[Schema, int] = field(default_factory=dict)
    _last_id: int = 0
    _subjects: dict[str, dict[int, Version]] = field(default_factory=dict)
    _global: SubjectConfig = field(default_factory=lambda: SubjectConfig(GLOBAL_LEVEL))
    _configs: dict[str, SubjectConfig] = field(default_factory=dict)

    # --- schemas by id

    def schema(self, schema_id: int) -> Schema:
        """The schema of an id."""
        try:
            return self._schemas[schema_id]
        except KeyError:
            raise Refusal(404, 40403, f"Schema {schema_id} not found") from None

    def places(self, schema_id: int, deleted: bool) -> list[tuple[str, int]]:
        """Subjects and versions of a schema, in their order."""
        self.schema(schema_id)
        return [
            (subject, version.number)
            for subject, versions in sorted(self._subjects.items())
            for version in versions.values()
            if version.schema_id == schema_id and (deleted or not version.deleted)
        ]

    # --- registration and look-up

    def register(self, subject: str, schema: Schema, normalize: bool) -> RegisteredSchema:
        """The schema's place under the subject: the one it has, or a new version if the level allows it."""
        normal = self._normal(schema, normalize or self._config(subject).normalize is True)
        known = self._find(subject, normal, deleted=False)
        if known is not None:
            return self._registered(subject, known)
        self._refuse_incompatible(subject, normal)
        schema_id = self._ids.get(normal)
        if schema_id is None:
            self._last_id += 1
            schema_id = self._ids[normal] = self._last_id
            self._schemas[schema_id] = normal
        versions = self._subjects.setdefault(subject, {})
        version = Version(max(versions, default=0) + 1, schema_id)
        versions[version.number] = version
        return self._registered(subject, version)

    def look_up(self, subject: str, schema: Schema, normalize: bool, deleted: bool) -> RegisteredSchema:
        """Where a schema is registered under a subject."""
        self._versions(subject, deleted)
        found = self._find(subject, self._normal(schema, normalize), deleted)
        if found is None:
            raise Refusal(404, 40403, "Schema not found")
        return self._registered(subject, found)

    # --- subjects and versions

    def subjects(self, prefix: str, deleted: bool, deleted_only: bool) -> list[str]:
        """Names of subjects."""
        return [
            name
            for name, versions in sorted(self._subjects.items())
            if name.startswith(prefix) and _chosen(all(v.deleted for v in versions.values()), deleted, deleted_only)
        ]

    def versions(self, subject: str, deleted: bool, deleted_only: bool) -> list[int]:
        """Numbers of versions."""
        found = self._versions(subject, deleted or deleted_only)
        return [version.number for version in found if _chosen(version.deleted, deleted, deleted_only)]

    def version(self, subject: str, number: int | None, deleted: bool = False) -> RegisteredSchema:
        """One version; None for the newest that is not deleted."""
        return self._registered(subject, self._version(subject, number, deleted))

    def referenced_by(self, subject: str, number: int | None) -> list[int]:
        """Ids of schemas that use a version."""
        found = self._version(subject, number, deleted=True)
        key = (subject, found.number)
        live = {version.schema_id for versions in self._subjects.values() for version in versions.values()}
        return [
            schema_id
            for schema_id in sorted(live)
            if any((item.subject, item.version) == key for item in self._schemas[schema_id].references)
        ]

    def delete_subject(self, subject: str, permanent: bool) -> list[int]:
        """Deletes all versions: softly, or for good those that were deleted softly."""
        versions = self._subjects.get(subject)
        if versions is None:
            raise Refusal(404, 40401, f"Subject '{subject}' not found.")
        live = [version for version in versions.values() if not version.deleted]
        if permanent and live:
            text = f"Subject '{subject}' was not deleted first before being permanently deleted"
            raise Refusal(404, 40405, text)
        if not permanent and not live:
            text = f"Subject '{subject}' was soft deleted. Set permanent=true to delete permanently"
            raise Refusal(404, 40404, text)
        chosen = list(versions.values()) if permanent else live
        for version in chosen:
            self._refuse_referenced(subject, version)
        for version in chosen:
            self._remove(subject, version, permanent)
        self._configs.pop(subject, None)
        return [version.number for version in chosen]

    def delete_version(self, subject: str, number: int | None, permanent: bool) -> int:
        """Deletes one version."""
        if subject not in self._subjects:
            raise Refusal(404, 40401, f"Subject '{subject}' not found.")
        version = self._version(subject, number, deleted=True)
        which = f"Subject '{subject}' Version {version.number}"
        if permanent and not version.deleted:
            raise Refusal(404, 40407, f"{which} was not deleted first before being permanently deleted")
        if not permanent and version.deleted:
            raise Refusal(404, 40406, f"{which} was soft deleted. Set permanent=true to delete permanently")
        self._refuse_referenced(subject, version)
        self._remove(subject, version, permanent)
        return version.number

    # --- compatibility and configuration

    def test(self, subject: str, number: int | None, schema: Schema, every: bool) -> CompatibilityResult:
        """Judges a schema against one version (the newest for None), or all that count for the subject's level."""
        normal = self._normal(schema, False)
        if every:
            registered = [self._schemas[v.schema_id] for v in self._live(subject)]
        else:
            registered = [self._schemas[self._version(subject, number, deleted=False).schema_id]]
        return check(normal, registered, self._level(subject), resolve=self._resolve)

    def level_name(self, subject: str) -> str:
        """The level that counts for a subject."""
        return self._level(subject).value

    def config(self, subject: str | None, or_global: bool) -> SubjectConfig:
        """The configuration of a subject, or the global one."""
        if subject is None or (or_global and subject not in self._configs):
            return self._global
        if subject not in self._configs:
            text = f"Subject '{subject}' does not have subject-level compatibility configured"
            raise Refusal(404, 40408, text)
        return self._configs[subject]

    def set_config(self, subject: str | None, level: str | None, normalize: bool | None) -> SubjectConfig:
        """Changes what is given, leaves the rest."""
        old = self._global if subject is None else self._configs.get(subject, SubjectConfig())
        try:
            new_level = old.level if level is None else Level.of(level)
        except ValueError:
            known = "none, backward, forward, full, backward_transitive, forward_transitive, and full_transitive"
            raise Refusal(422, 42203, f"Invalid compatibility level. Valid values are {known}") from None
        new = SubjectConfig(new_level, old.normalize if normalize is None else normalize)
        if subject is None:
            self._global = new
        else:
            self._configs[subject] = new
        return new

    def delete_config(self, subject: str | None) -> SubjectConfig:
        """Back to the default; returns what it was."""
        old = self.config(subject, or_global=False)
        if subject is None:
            self._global = SubjectConfig(GLOBAL_LEVEL)
        else:
            del self._configs[subject]
        return old

    # --- inside

    def _config(self, subject: str) -> SubjectConfig:
        return self._configs.get(subject, self._global)

    def _level(self, subject: str) -> Level:
        return self._config(subject).level or self._global.level or GLOBAL_LEVEL

    def _normal(self, schema: Schema, normalize: bool) -> Schema:
        """The schema as it is stored and compared."""
        if schema.schema_type not in SUPPORTED:
            raise Refusal(422, 42201, f"Invalid schema: type {schema.schema_type} is not supported by this registry")
        try:
            referenced = [found.schema_str for _, found in resolve_all(schema, self._resolve)]
            text = avro_text(schema.schema_str, referenced, normalize)
        except InvalidSchemaError as error:
            names = [reference.name for reference in schema.references]
            text = f"Invalid schema {schema.schema_str} with refs {names} of type AVRO, details: {error.error_message}"
            raise Refusal(422, 42201, text) from error
        return Schema(text, schema.schema_type, schema.references, schema.metadata, schema.rule_set)

    def _resolve(self, reference: SchemaReference) -> Schema:
        version = self._subjects.get(reference.subject, {}).get(reference.version)
        if version is None or version.deleted:
            raise InvalidSchemaError.local(
                f'No schema reference found for subject "{reference.subject}" and version {reference.version}'
            )
        return self._schemas[version.schema_id]

    def _find(self, subject: str, normal: Schema, deleted: bool) -> Version | None:
        schema_id = self._ids.get(normal)
        for version in reversed(self._subjects.get(subject, {}).values()):
            if version.schema_id == schema_id and (deleted or not version.deleted):
                return version
        return None

    def _live(self, subject: str) -> list[Version]:
        return [version for version in self._subjects.get(subject, {}).values() if not version.deleted]

    def _versions(self, subject: str, deleted: bool) -> list[Version]:
        found = [v for v in self._subjects.get(subject, {}).values() if deleted or not v.deleted]
        if not found:
            raise Refusal(404, 40401, f"Subject '{subject}' not found.")
        return found

    def _version(self, subject: str, number: int | None, deleted: bool) -> Version:
        found = self._versions(subject, deleted)
        if number is None:
            return ([version for version in found if not version.deleted] or found)[-1]
        for version in found:
            if version.number == number:
                return version
        raise Refusal(404, 40402, f"Version {number} not found.")

    def _registered(self, subject: str, version: Version) -> RegisteredSchema:
        return RegisteredSchema(version.schema_id, self._schemas[version.schema_id], subject, version.number)

    def _refuse_incompatible(self, subject: str, normal: Schema) -> None:
        live, level = self._live(subject), self._level(subject)
        try:
            result = check(normal, [self._schemas[v.schema_id] for v in live], level, resolve=self._resolve)
        except InvalidSchemaError as error:
            raise Refusal(422, 42201, error.error_message) from error
        if not result.compatible:
            reasons = ", ".join(messages(result, level.value))
            text = f'Schema being registered is incompatible with an earlier schema for subject "{subject}"'
            raise Refusal(409, 409, f"{text}, details: [{reasons}]")

    def _refuse_referenced(self, subject: str, version: Version) -> None:
        if self.referenced_by(subject, version.number):
            key = f"{{magic=1,keytype=SCHEMA,subject={subject},version={version.number}}}"
            raise Refusal(422, 42206, f"One or more references exist to the schema {key}.")

    def _remove(self, subject: str, version: Version, permanent: bool) -> None:
        version.deleted = True
        if not permanent:
            return
        versions = self._subjects[subject]
        del versions[version.number]
        if not versions:
            del self._subjects[subject]
        if not self.places(version.schema_id, deleted=True):
            self._ids.pop(self._schemas.pop(version.schema_id))


def messages(result: CompatibilityResult, level: str) -> list[str]:
    """The reasons as the registry writes them."""
    if result.compatible:
        return []
    reasons = [
        f"{{errorType:'{item.kind}', description:'{item.message}', path:'{item.path}'}}" for item in result.differences
    ]
    return [*reasons, f"{{compatibility: '{level}'}}"]


def _chosen(is_deleted: bool, deleted: bool, deleted_only: bool) -> bool:
    return is_deleted if deleted_only else (deleted or not is_deleted)


def page(items: Iterable[object], offset: int, limit: int) -> list[object]:
    """A part of a list; a negative limit means all."""
    found = list(items)[max(offset, 0) :]
    return found if limit < 0 else found[:limit]
