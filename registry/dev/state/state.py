"""The state of a registry: schemas by id, versions by subject, settings, modes, contexts, associations.

Must not know of HTTP, nor of any rule beyond what belongs together; not thread-safe, whoever answers holds the lock.
Ids are counted per context, never used twice, and shared by all subjects of a context.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from registry.dev.names import DEFAULT_CONTEXT, GLOBAL_CONTEXT, Name
from registry.dev.state.settings import DEFAULT_LEVEL, Settings
from registry.dev.state.tables import Journal, Row, Table
from registry.models import Schema

GLOBAL = ""
"""The scope of settings that count where nothing nearer is set (the default context's)."""
LIST_LIMIT = 20_000
"""Confluent's `subject.search.max.limit`, `subject.version.search.max.limit` and `context.search.max.limit`."""
GLOBAL_SCOPE = f":{GLOBAL_CONTEXT}:"


@dataclass(frozen=True, slots=True)
class Version:
    """A version of a subject."""

    number: int
    schema_id: int
    deleted: bool = False


@dataclass(frozen=True, slots=True)
class Association:
    """Says which subject holds the schemas of a resource's keys or values.

    Attributes:
        kind: `key` or `value`.
        lifecycle: `STRONG` (the schemas go when the resource goes) or `WEAK`.
        frozen: whether it may be changed.
    """

    subject: str
    guid: str
    resource_name: str
    resource_namespace: str
    resource_id: str
    resource_type: str
    kind: str
    lifecycle: str
    frozen: bool = False

    def to_dict(self) -> dict[str, Any]:
        """The REST form."""
        return {
            "subject": self.subject,
            "guid": self.guid,
            "resourceName": self.resource_name,
            "resourceNamespace": self.resource_namespace,
            "resourceId": self.resource_id,
            "resourceType": self.resource_type,
            "associationType": self.kind,
            "lifecycle": self.lifecycle,
            "frozen": self.frozen,
        }

    @classmethod
    def from_dict(cls, source: dict[str, Any]) -> Association:
        """Reads what `to_dict` made."""
        return cls(
            source["subject"],
            source["guid"],
            source["resourceName"],
            source["resourceNamespace"],
            source["resourceId"],
            source["resourceType"],
            source["associationType"],
            source["lifecycle"],
            source["frozen"],
        )


def _same(value: Any) -> Any:
    return value


class State:
    """The tables, and what is quickly found in them.

    Attributes:
        journal: what changed since it was last stored.
        list_limit: entries of a list that are given at once.
        default_level: the level of compatibility where none is set.
        judge: gives the outcome of a comparison of large schemas; whoever answers may put one in its place that says
            "not yet" by raising.
        contents: (context, id) → schema.
        configs: scope → settings; a scope is a subject, a context's prefix, or empty for all.
        modes: scope → mode.
        contexts: contexts with schemas, but the default one.
        associations: (resource id, resource type, kind) → association.
    """

    def __init__(self, rows: Iterable[Row] = ()) -> None:
        self.journal = Journal()
        self.list_limit = LIST_LIMIT
        self.default_level = DEFAULT_LEVEL
        self.judge: Callable[[Any], Any] = lambda comparison: comparison.outcome()
        self.contents: Table[Schema] = Table("content", self.journal, Schema.to_dict, Schema.from_dict)
        self._rows: Table[Version] = Table(
            "version",
            self.journal,
            lambda item: [item.number, item.schema_id, item.deleted],
            lambda item: Version(*item),
        )
        self._last_ids: Table[int] = Table("last id", self.journal, _same, _same)
        self.configs: Table[Settings] = Table("config", self.journal, Settings.to_dict, Settings.from_dict)
        self.modes: Table[str] = Table("mode", self.journal, _same, _same)
        self.contexts: Table[bool] = Table("context", self.journal, _same, _same)
        self.associations: Table[Association] = Table(
            "association", self.journal, Association.to_dict, Association.from_dict
        )
        self._subjects: dict[str, dict[int, Version]] = {}
        self._places: dict[tuple[str, int], set[tuple[str, int]]] = {}
        self._ids: dict[tuple[str, Schema], int] = {}
        self._load(rows)

    def _load(self, rows: Iterable[Row]) -> None:
        for row in rows:
            if row.value is not None:
                table = self.journal.tables.get(row.table) or self.extra(row.table)
                table.load(row.key, row.value)
        self._index()

    def extra(self, name: str) -> Table[Any]:
        """A table of JSON values for a further part of the API; made at first use."""
        found = self.journal.tables.get(name)
        return Table(name, self.journal, _same, _same) if found is None else found

    def undo(self) -> None:
        """Restores the state of the last commit."""
        self.journal.undo()
        self._index()

    def _index(self) -> None:
        self._subjects.clear()
        self._places.clear()
        self._ids = {(str(context), schema): int(number) for (context, number), schema in self.contents.items()}
        for (subject, _), version in sorted(self._rows.items()):
            self._index_version(str(subject), version)

    def _index_version(self, subject: str, version: Version) -> None:
        self._subjects.setdefault(subject, {})[version.number] = version
        place = (Name.parse(subject).context, version.schema_id)
        self._places.setdefault(place, set()).add((subject, version.number))

    # --- schemas

    def id_of(self, context: str, schema: Schema) -> int | None:
        """The id of a schema some version holds."""
        return self._ids.get((context, schema))

    def places(self, context: str, schema_id: int) -> list[tuple[str, Version]]:
        """Subjects and versions that hold a schema, in their order."""
        found = sorted(self._places.get((context, schema_id), ()))
        return [(subject, self._subjects[subject][number]) for subject, number in found]

    def next_id(self, context: str) -> int:
        """An id never used in the context before."""
        return (self._last_ids.get((context,)) or 0) + 1

    def last_id(self, context: str) -> int:
        """The highest id used in the context, 0 if none."""
        return self._last_ids.get((context,)) or 0

    # --- subjects

    def subjects(self) -> list[str]:
        """All subjects, also those with deleted versions only, in their order."""
        return sorted(self._subjects)

    def versions(self, subject: str, deleted: bool = False) -> list[Version]:
        """A subject's versions, oldest first."""
        found = self._subjects.get(subject, {})
        return [found[number] for number in sorted(found) if deleted or not found[number].deleted]

    def version(self, subject: str, number: int, deleted: bool = False) -> Version | None:
        """One version; -1 is the newest that is not deleted."""
        if number == -1:
            return next(reversed(self.versions(subject)), None)
        found = self._subjects.get(subject, {}).get(number)
        return found if found is not None and (deleted or not found.deleted) else None

    def has(self, subject: str, deleted: bool = False) -> bool:
        """Whether a subject, or any of a whole context, has versions."""
        name = Name.parse(subject)
        if name.subject:
            return bool(self.versions(subject, deleted))
        every = name.context == GLOBAL_CONTEXT or subject == GLOBAL
        return any(
            self.versions(other, deleted)
            for other in self._subjects
            if every or Name.parse(other).context == name.context
        )

    def schema(self, subject: str, version: Version) -> Schema:
        """The schema of a version."""
        return self.contents[(Name.parse(subject).context, version.schema_id)]

    def put(self, subject: str, version: Version, schema: Schema) -> None:
        """Adds or replaces a version."""
        context = Name.parse(subject).context
        old = self._subjects.get(subject, {}).get(version.number)
        if old is not None and old.schema_id != version.schema_id:
            self.remove(subject, old)
        key = (context, version.schema_id)
        if self.contents.get(key) != schema:
            self.contents[key] = schema
            self._ids[(context, schema)] = version.schema_id
        if version.schema_id > self.last_id(context):
            self._last_ids[(context,)] = version.schema_id
        if context != DEFAULT_CONTEXT and (context,) not in self.contexts:
            self.contexts[(context,)] = True
        self._rows[(subject, version.number)] = version
        self._index_version(subject, version)

    def mark_deleted(self, subject: str, version: Version) -> None:
        """Deletes a version softly."""
        gone = Version(version.number, version.schema_id, deleted=True)
        self._rows[(subject, version.number)] = gone
        self._subjects[subject][version.number] = gone

    def remove(self, subject: str, version: Version) -> None:
        """Removes a version for good, and its schema if no version is left that holds it."""
        context = Name.parse(subject).context
        del self._rows[(subject, version.number)]
        del self._subjects[subject][version.number]
        if not self._subjects[subject]:
            del self._subjects[subject]
        place = (context, version.schema_id)
        self._places[place].discard((subject, version.number))
        if not self._places[place]:
            del self._places[place]
            schema = self.contents[place]
            del self.contents[place]
            if self._ids.get((context, schema)) == version.schema_id:
                del self._ids[(context, schema)]

    # --- settings that count

    def settings(self, subject: str) -> Settings:
        """The settings in force for a subject: its own, its context's, or the global ones; the level is never None."""
        for scope in _scopes(subject):
            found = self.configs.get((scope,))
            if found is not None:
                return found if found.level is not None else found.updated({"level": self.default_level})
        return Settings(self.default_level)

    def mode(self, subject: str) -> str:
        """The mode that counts for a subject."""
        for scope in (GLOBAL_SCOPE, GLOBAL):
            if self.modes.get((scope,)) == "READONLY_OVERRIDE":
                return "READONLY_OVERRIDE"
        found = (self.modes.get((scope,)) for scope in _scopes(subject))
        return next((mode for mode in found if mode is not None), "READWRITE")


def _scopes(subject: str) -> Iterable[str]:
    return dict.fromkeys((subject, Name.parse(subject).scope, GLOBAL_SCOPE))
