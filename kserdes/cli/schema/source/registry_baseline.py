"""Earlier versions of schemas that are in a registry.

Must not know of HTTP: a registry client is handed in. Look-ups of many subjects run at once; a registry that does not
answer at all, or an answer that is no registry's, ends the run; one subject's error only concerns its file. Only the
registry's own code says that something is not there: for HTTP's 404 alone the URL may be wrong, and all would be "new".
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cached_property
from typing import Protocol

from kserdes.cli.schema.findings import Finding, Severity
from kserdes.cli.schema.source.baseline import History, Old
from kserdes.cli.schema.source.linking import Collection
from kserdes.cli.shell.unusable import Unusable
from registry import (
    InvalidSchemaError,
    RegisteredSchema,
    ResponseError,
    Schema,
    SchemaReference,
    SchemaRegistryError,
    ServerConfig,
    TransportError,
    UnexpectedAnswerError,
)
from registry.schemas.references import within

SILENT = (TransportError, UnexpectedAnswerError)
"""Errors after which nothing is known of any subject."""


class VersionSource(Protocol):
    """The methods of a registry client that the baseline needs."""

    def get_versions(self, subject_name: str) -> list[int]:
        """The numbers of a subject's versions."""

    def get_version(self, subject_name: str, version: int) -> RegisteredSchema:
        """One version."""

    def get_latest_version(self, subject_name: str) -> RegisteredSchema:
        """The newest version."""

    def get_config(self, subject_name: str | None = None) -> ServerConfig:
        """A subject's configuration, or the global one."""

    def get_subjects(self) -> list[str]:
        """The names of all subjects."""


def no_answer(error: SchemaRegistryError) -> Unusable:
    """The error of a run whose registry does not answer, or whose URL is not a registry's."""
    if isinstance(error, UnexpectedAnswerError):
        return Unusable(f"this is not an answer of a schema registry; is the URL right? {error}", kind="REGISTRY")
    return Unusable(f"the registry does not answer: {error}", kind="REGISTRY")


def _plain(subject: str) -> str:
    """A subject's name without what tells keys from values, and without what spellings differ in."""
    bare = re.sub(r"[-_.](key|value)$", "", subject.rpartition("/")[2], flags=re.IGNORECASE)
    return re.sub(r"[\W_]", "", bare).casefold()


class RegistryBaseline:
    """Earlier versions in a registry.

    Args:
        new: the files to check.
        client: the registry.
        level: whether the caller has a level and a policy of its own, so that the registry's need not be asked for.
    """

    def __init__(self, new: Collection, client: VersionSource, ask_settings: bool = True) -> None:
        self._new = new
        self._client = client
        self._ask_settings = ask_settings
        self._global: ServerConfig | None = None

    def history(self, path: str, subject: str, transitive: bool) -> History:
        """The subject's versions; only the newest unless all are needed.

        Raises:
            Unusable: the registry refuses to say.
            TransportError: it does not answer.
            UnexpectedAnswerError: what answers is no registry.
        """
        try:
            if transitive:
                numbers = self._client.get_versions(subject)
                found = [self._client.get_version(subject, number) for number in sorted(numbers)]
            else:
                found = [self._client.get_latest_version(subject)]
        except SILENT:
            raise
        except ResponseError as error:
            if error.not_found:
                return History(note=self._hint(subject))
            raise Unusable(f"subject {subject}: {error}", kind="REGISTRY") from error
        return History(tuple(Old(f"{subject} version {item.version}", within(item.schema, subject)) for item in found))

    def _hint(self, subject: str) -> Finding | None:
        """A hint for a missing subject if there are others whose names mean the same file."""
        alike = [name for name in self._subjects if _plain(name) == _plain(subject)]
        if not alike:
            return None
        text = f"the registry has no subject {subject}, so nothing was compared; it has {', '.join(alike)}"
        return Finding("OTHER_SUBJECT", f"{text}: see --subject and [subjects]", severity=Severity.NOTE)

    @cached_property
    def _subjects(self) -> Sequence[str]:
        """All subjects; none if the registry does not list them to everybody."""
        try:
            return self._client.get_subjects()
        except ResponseError:
            return ()

    def resolve(self, reference: SchemaReference) -> Schema:
        """The schema a reference stands for: of a file, or of the registry.

        Raises:
            InvalidSchemaError: there is none.
        """
        try:
            if self._new.owns(reference):
                return self._new.resolve(reference)
            found = self._client.get_version(reference.subject, reference.version)
            return within(found.schema, reference.subject)
        except SILENT:
            raise
        except (Unusable, SchemaRegistryError) as error:
            raise InvalidSchemaError.local(f"{reference.subject} version {reference.version}: {error}") from error

    def settings(self, subject: str) -> tuple[str | None, str | None]:
        """The level and the policy of the subject, or the registry's own; nothing if it does not say."""
        if not self._ask_settings:
            return None, None
        own = self._config(subject)
        general = ServerConfig()
        if own.compatibility_level is None or own.compatibility_policy is None:
            if self._global is None:
                self._global = self._config(None)
            general = self._global
        level = own.compatibility_level or general.compatibility_level
        return None if level is None else str(level), own.compatibility_policy or general.compatibility_policy

    def _config(self, subject: str | None) -> ServerConfig:
        try:
            return self._client.get_config(subject)
        except SILENT:
            raise
        except ResponseError as error:
            if error.not_found:
                return ServerConfig()
            raise Unusable(f"the configuration of {subject or 'the registry'}: {error}", kind="REGISTRY") from error

    def deleted(self) -> Sequence[str]:
        """Unknown: other teams' subjects are in the registry too."""
        return ()
