"""Resolving the schema that a payload was written with, on executors that may not reach the registry.

The driver takes a snapshot of the subject's schemas while the plan is made; it travels with the job. An id or GUID that
is not in it is looked up through the one client of the process. Must not know of Spark. See DESIGN §6.
"""

from __future__ import annotations

import dataclasses
import enum
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from pipeline.columns.clients import shared_client
from pipeline.columns.references import Travelling, resolved, travelling
from pipeline.errors import LookupFailedError, OptionError, PlanError
from registry import RegisteredSchema, Schema, SchemaReference, SchemaRegistryClient, SchemaRegistryError
from registry.client.config_table import TABLE
from registry.schemas.references import resolve_all, within
from serdes.columnar import reading_rules, rules_refused

ReferenceKey = tuple[str, int]
"""Subject and version, as a schema reference names them."""
SECRETS = frozenset(row.name for row in TABLE.rows if row.secret)


class Rules(enum.Enum):
    """The treatment of schemas whose rules run when values are read."""

    RUN = "run"
    """Their rows go through the deserializer of their format, one by one."""
    REFUSE = "refuse"
    """The plan is refused."""
    IGNORE = "ignore"
    """They are decoded as if there were none: encrypted fields stay encrypted."""

    @classmethod
    def of(cls, name: str) -> Rules:
        """The choice of this name.

        Raises:
            OptionError: there is none.
        """
        try:
            return cls(name)
        except ValueError:
            raise OptionError(f"rules {name!r} is unknown: {', '.join(one.value for one in cls)}") from None


@dataclass(frozen=True, slots=True)
class Chosen:
    """The choice of the schema that payloads are resolved to; if nothing is set, the newest version of the subject.

    Attributes:
        text: a schema's text.
        version: a version of the subject.
        schema_id: a registered schema.
        name: the newest version whose record has this name (full, or without its namespace).
        schema_type: of `text`; the newest version's if None. Else what the schema's format has to be.
    """

    text: str | None = None
    version: int | None = None
    schema_id: int | None = None
    name: str | None = None
    schema_type: str | None = None


@dataclass(frozen=True)
class Snapshot:
    """The schemas that travel with a job: picklable, and all that an executor needs.

    Attributes:
        registry: the client configuration, for ids that are not in `schemas`; secrets only as references.
        subject: the subject the plan was made for.
        reader: the schema every payload is resolved to.
        schemas: schema id → writer schema, all versions of the subject at plan time.
        references: what `schemas` and `reader` refer to, and what that refers to.
        guids: GUID → schema id, as far as the registry has GUIDs.
        newest: whether `reader` is the newest version.
    """

    registry: Mapping[str, object] = field(repr=False)
    subject: str
    reader: Schema
    schemas: Mapping[int, Schema]
    references: Mapping[ReferenceKey, Schema] = field(default_factory=dict)
    guids: Mapping[str, int] = field(default_factory=dict)
    newest: bool = True

    def rules(self) -> list[str]:
        """The names of all rules without which values are not read as they are meant."""
        return [name for schema in (*self.schemas.values(), self.reader) for name in reading_rules(schema)]

    def without_rules(self) -> Snapshot:
        """The same schemas as if they had no rules."""
        schemas = {schema_id: bare(schema) for schema_id, schema in self.schemas.items()}
        return dataclasses.replace(self, reader=bare(self.reader), schemas=schemas)


def bare(schema: Schema) -> Schema:
    """A schema without its rules."""
    return schema if schema.rule_set is None else dataclasses.replace(schema, rule_set=None)


def travelling_conf(registry: Mapping[str, object]) -> Travelling:
    """The part of a registry client's configuration for executors; secrets only as `${env:…}` and `${file:…}`."""
    return travelling(registry, SECRETS)


def client_of(conf: Mapping[str, object]) -> SchemaRegistryClient:
    """The client of this process for a configuration that has travelled.

    Raises:
        LookupFailedError: it needs a secret that has not travelled.
        OptionError: a reference stands for nothing here.
    """
    withheld = getattr(conf, "withheld", ())
    if withheld:
        names = ", ".join(map(repr, withheld))
        raise LookupFailedError(
            f"the registry is needed on an executor, but secrets do not travel with a plan: write {names} as"
            " ${env:NAME} or ${file:PATH}, which every executor resolves for itself"
        )
    return shared_client(resolved(conf))


def take_snapshot(
    registry: Mapping[str, object],
    subject: str | None,
    reader_schema: str | Chosen | None = None,
    rules: Rules = Rules.REFUSE,
    has_record: Callable[[Schema, Callable[[SchemaReference], Schema], str], bool] | None = None,
) -> Snapshot:
    """Reads all versions of the subject and the schemas they refer to.

    Args:
        registry: configuration of the registry client; references in it are resolved here for the driver.
        subject: None if `reader_schema` is a schema id: then only that schema is in the snapshot.
        reader_schema: which schema payloads are resolved to, or its text; None for the newest version.
        rules: with REFUSE, versions with rules are no plan.
        has_record: whether a schema has a record of some name; needed to choose by name.

    Raises:
        PlanError: the registry can't be reached, has no such subject, or its configuration is wrong; or a version has
            rules that run when values are read, and they are refused.
    """
    chosen = reader_schema if isinstance(reader_schema, Chosen) else Chosen(text=reader_schema)
    references: dict[ReferenceKey, Schema] = {}
    told = f"subject {subject!r}" if subject is not None else f"schema id {chosen.schema_id}"
    try:
        with SchemaRegistryClient(resolved(registry)) as client:
            resolve = remembering(client, references)
            found = _versions(client, subject)
            if rules is Rules.REFUSE:
                _refuse_rules(str(subject), found)
            for registered in found:
                resolve_all(registered.schema, resolve)
            schemas = {registered.schema_id: registered.schema for registered in found}
            if chosen.schema_id is not None and chosen.schema_id not in schemas:
                schemas[chosen.schema_id] = _by_id(client, chosen.schema_id, subject)
                resolve_all(schemas[chosen.schema_id], resolve)
            if chosen.name is not None and has_record is not None:
                found = [one for one in found if has_record(one.schema, resolve, chosen.name)]
    except OptionError:
        raise
    except (SchemaRegistryError, ValueError) as error:
        raise PlanError(f"the schemas of {told} can't be read from the registry: {error}") from error
    reader = _reader(found, schemas, chosen, told)
    guids = {one.guid: one.schema_id for one in found if one.guid}
    newest = bool(found) and reader == found[-1].schema
    made = Snapshot(travelling_conf(registry), subject or "", reader, schemas, references, guids, newest)
    return made.without_rules() if rules is Rules.IGNORE else made


def _versions(client: SchemaRegistryClient, subject: str | None) -> list[RegisteredSchema]:
    if subject is None:
        return []
    found = [client.get_version(subject, version) for version in sorted(client.get_versions(subject))]
    return [dataclasses.replace(one, schema=within(one.schema, subject)) for one in found]


def _by_id(client: SchemaRegistryClient, schema_id: int, subject: str | None) -> Schema:
    """The schema of an id: ids are counted per context, so that of the subject counts, if it names one."""
    if subject is None or not subject.startswith(":."):
        return client.get_schema(schema_id)
    return within(client.get_schema(schema_id, subject), subject)


def _reader(found: Sequence[RegisteredSchema], schemas: Mapping[int, Schema], chosen: Chosen, told: str) -> Schema:
    if chosen.schema_id is not None:
        reader = schemas[chosen.schema_id]
    elif not found:
        raise PlanError(f"{told}: no version has a record {chosen.name!r}")
    elif chosen.version is not None:
        numbers = {one.version: one.schema for one in found}
        if chosen.version not in numbers:
            listed = ", ".join(str(one.version) for one in found)
            raise PlanError(f"{told} has no version {chosen.version}: there are {listed}")
        reader = numbers[chosen.version]
    else:
        reader = found[-1].schema
    if chosen.text is not None:
        return Schema(chosen.text, chosen.schema_type or reader.schema_type)
    if chosen.schema_type not in (None, reader.schema_type):
        raise PlanError(f"{told} has schemas of format {reader.schema_type}, not {chosen.schema_type}")
    return reader


def _refuse_rules(subject: str, versions: Sequence[RegisteredSchema]) -> None:
    for registered in versions:
        names = reading_rules(registered.schema)
        if names:
            place = f"subject {subject!r}, version {registered.version}"
            raise PlanError(
                f"{place} (schema id {registered.schema_id}): {rules_refused(names)}: in a UDF, for example"
            )


def remembering(client: SchemaRegistryClient, kept: dict[ReferenceKey, Schema]) -> Callable[[SchemaReference], Schema]:
    """A resolver of references that keeps what it finds."""

    def resolve(reference: SchemaReference) -> Schema:
        key = (reference.subject, reference.version)
        if key not in kept:
            kept[key] = within(client.get_version(*key).schema, reference.subject)
        return kept[key]

    return resolve


class SnapshotResolver:
    """Schema id → writer schema: from the snapshot, else through the client that all plans of this process share.

    That client asks once for what several threads want, and remembers for `missing.id.cache.ttl.sec` (60 s) that the
    registry does not know an id. That it could not be reached is not remembered.

    Args:
        snapshot: what came with the job.
        arrived: told of a schema that was not in the snapshot, before it is used; what it raises stops the job.
    """

    def __init__(self, snapshot: Snapshot, arrived: Callable[[Schema], Schema] | None = None) -> None:
        self._snapshot = snapshot
        self._arrived = arrived
        self._found: dict[int | str, Schema] = {}
        for schema_id, schema in snapshot.schemas.items():
            self._found[schema_id] = schema
        self._found.update({guid: snapshot.schemas[schema_id] for guid, schema_id in snapshot.guids.items()})
        self._references = dict(snapshot.references)

    def __call__(self, schema_id: int) -> Schema:
        """The writer schema of this id.

        Raises:
            SchemaRegistryError: the registry doesn't know the id or can't be reached.
            LookupFailedError: asking needs a secret that has not travelled.
        """
        return self._schema(schema_id, lambda client: _by_id(client, schema_id, self._snapshot.subject))

    def guid(self, guid: str) -> Schema:
        """The writer schema of this GUID; raises as a call does."""
        return self._schema(guid, lambda client: client.get_schema_by_guid(guid))

    def adopt(self, schema: Schema) -> int:
        """Gives a schema that is registered nowhere an id of its own in this process."""
        schema_id = next(number for number in range(2**32 - 1, 0, -1) if number not in self._found)
        self._found[schema_id] = schema
        return schema_id

    def knows(self, name: int | str) -> bool:
        """Whether the schema of an id or GUID was found."""
        return name in self._found

    def _schema(self, name: int | str, ask: Callable[[SchemaRegistryClient], Schema]) -> Schema:
        schema = self._found.get(name)
        if schema is None:
            client = client_of(self._snapshot.registry)
            schema = ask(client)
            resolve_all(schema, remembering(client, self._references))
            if self._arrived is not None:
                schema = self._arrived(schema)
            self._found[name] = schema
        return schema

    def reference(self, reference: SchemaReference) -> Schema:
        """The schema a reference stands for; every one a known writer schema needs is here."""
        return self._references[reference.subject, reference.version]
