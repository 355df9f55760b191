"""Loads a saved registry into another one: same ids, versions, references, deletions, configurations and modes.

Must not know of HTTP. All is read, ordered and compared with what is there before anything is written. A subject is in
IMPORT mode while it is loaded, and not a moment longer, however the run ends; schemas come after those they refer to,
in the order of their versions; what is there already is not sent again, so that a run that broke off can be repeated.
What the registry refuses is left out and named. At the end everything is read back and compared.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote

from kserdes.cli.schema.source.linking import blank_comments
from kserdes.cli.schema.transfer.archive import Archive
from kserdes.cli.schema.transfer.modes import IMPORT, ImportModes
from kserdes.cli.schema.transfer.rest import Rest
from kserdes.cli.shell.parallel import each
from kserdes.cli.shell.unusable import Unusable
from registry import ResponseError, UnexpectedAnswerError
from registry.schemas import documents

Key = tuple[str, int]
COMPARED = ("id", "schema", "schemaType", "references", "metadata", "ruleSet")
SUBJECT_NOT_FOUND = 40401
DEFAULTS = {"schemaType": "AVRO", "references": []}


@dataclass(frozen=True, slots=True)
class Plan:
    """The content to be loaded.

    Attributes:
        manifest: the facts of the whole registry.
        subjects: name → config and mode.
        versions: (subject, version) → content, each after those it refers to.
    """

    manifest: Mapping[str, Any]
    subjects: Mapping[str, Mapping[str, Any]]
    versions: Mapping[Key, Mapping[str, Any]]


@dataclass(slots=True)
class Imported:
    """The result of an import.

    Attributes:
        sent: versions that were registered.
        present: versions that were there.
        refused: versions that the registry refuses, each with the reason.
        replaced: old settings that were changed.
        problems: differences from the saved state; empty if all is well.
    """

    sent: int = 0
    present: int = 0
    refused: list[str] = field(default_factory=list)
    replaced: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)


def plan(archive: Archive) -> Plan:
    """Reads a folder and orders its versions.

    Raises:
        Unusable: it is no complete export, is damaged, lost a file, or its references form a circle or lead nowhere.
    """
    manifest = archive.manifest()
    if manifest is None:
        raise Unusable(f"{archive.folder} has no registry.json: it is not an export of a registry")
    if not manifest.get("complete"):
        raise Unusable(f"{archive.folder}: the export is not complete; run it again, it continues where it stopped")
    subjects = {entry["subject"]: entry for entry in archive.subjects()}
    saved = manifest.get("subjects", 0)
    if isinstance(saved, int) and len(subjects) < saved:
        raise Unusable(f"{archive.folder}: {saved} subjects were saved, and {len(subjects)} are there: export again")
    contents = {
        (name, number): text for name, entry in subjects.items() for number, text in archive.whole(entry).items()
    }
    return Plan(manifest, subjects, {key: contents[key] for key in _ordered(contents)})


def _referred(contents: Mapping[Key, Mapping[str, Any]], key: Key) -> Iterator[Key]:
    """The saved versions that one refers to."""
    subject, _ = key
    for reference in contents[key].get("references") or ():
        wanted = (str(reference["subject"]), int(reference["version"]))
        for candidate in (wanted, (_in_context(subject, wanted[0]), wanted[1])):
            if candidate in contents:
                yield candidate
                break
        else:
            raise Unusable(f"{subject} version {key[1]} refers to {wanted[0]} version {wanted[1]}, which is not saved")


def _needs(contents: Mapping[Key, Mapping[str, Any]], key: Key) -> Iterator[Key]:
    """The versions that must be there before one: those it refers to, and the one before it in its subject."""
    subject, number = key
    before = [other for name, other in contents if name == subject and other < number]
    if before:
        yield subject, max(before)
    yield from _referred(contents, key)


def _in_context(subject: str, other: str) -> str:
    """Another subject's name as seen from a context."""
    if subject.startswith(":.") and not other.startswith(":."):
        return f":{subject.split(':')[1]}:{other}"
    return other


def _ordered(contents: Mapping[Key, Mapping[str, Any]]) -> list[Key]:
    """All versions, each after those it needs."""
    by_subject: dict[str, dict[Key, Mapping[str, Any]]] = {}
    for key, content in contents.items():
        by_subject.setdefault(key[0], {})[key] = content
    done: dict[Key, None] = {}
    for first in sorted(contents, key=lambda key: (contents[key]["id"], key)):
        stack, opened = [(first, False)], set()
        while stack:
            key, left = stack.pop()
            if left:
                opened.discard(key)
                done[key] = None
            elif key in opened:
                raise Unusable(f"{key[0]} version {key[1]}: references form a circle")
            elif key not in done:
                opened.add(key)
                stack.append((key, True))
                stack += ((other, False) for other in _needs(_View(by_subject[key[0]], contents), key))
    return list(done)


class _View(Mapping[Key, Mapping[str, Any]]):
    """All versions to look up, but only one subject's to walk over."""

    def __init__(self, walked: Mapping[Key, Mapping[str, Any]], known: Mapping[Key, Mapping[str, Any]]) -> None:
        self._walked = walked
        self._known = known

    def __getitem__(self, key: Key) -> Mapping[str, Any]:
        return self._known[key]

    def __iter__(self) -> Iterator[Key]:
        return iter(self._walked)

    def __len__(self) -> int:
        return len(self._walked)


def load(
    rest: Rest,
    what: Plan,
    progress: Callable[[int, int], None] = lambda done, total: None,
    skip_refused: bool = False,
) -> Imported:
    """Loads a plan and verifies the result.

    What the registry has already is compared before anything is written. What it refuses is named, the rest goes on.

    Args:
        rest: the registry.
        what: what to load.
        progress: called with how many versions are sent, of how many.
        skip_refused: go on where the registry has something else; otherwise nothing is written then.

    Raises:
        Unusable: the registry has other schemas where some are to go (all are named), or has no IMPORT mode.
        SchemaRegistryError: it does not answer; modes are as they were, and a repeated run goes on from there.
    """
    present, conflicts = _compared(rest, what)
    if conflicts and not skip_refused:
        listed = "".join(f"\n  {text}" for texts in conflicts.values() for text in texts)
        raise Unusable(
            f"nothing was written: {rest} has different schemas there (--skip-refused leaves them out):{listed}"
        )
    refused = {key: "there is another schema" for key in conflicts if key in what.versions}
    found = Imported(present=len(present))
    missing = {key: content for key, content in what.versions.items() if key not in present and key not in refused}
    modes = ImportModes(rest)
    try:
        with modes:
            refused |= _enter(modes, [key for key in missing if key not in refused])
            for key, content in missing.items():
                _send(rest, key, content, what, refused)
                found.sent += key not in refused
                progress(found.sent, len(missing))
            found.replaced += _delete_softly(rest, what, set(missing))
            found.replaced += _settle(rest, what, modes, refused)
    except BaseException as error:
        left = modes.unsettled()
        if left is not None:
            error.add_note(left)
        raise
    found.refused = [f"{subject} version {number}: {why}" for (subject, number), why in refused.items()]
    found.problems = verify(rest, what)
    return found


def _enter(modes: ImportModes, keys: Sequence[Key]) -> dict[Key, str]:
    """Puts all subjects into IMPORT mode; returns why the versions of subjects that refuse it are left out."""
    refused: dict[str, str] = {}
    for subject in dict.fromkeys(subject for subject, _ in keys):
        try:
            modes.enter(subject)
        except ResponseError as error:
            if not _is_refusal(error):
                raise
            refused[subject] = f"it can't be put into {IMPORT} mode: {error}"
    return {key: refused[key[0]] for key in keys if key[0] in refused}


def _send(rest: Rest, key: Key, content: Mapping[str, Any], what: Plan, refused: dict[Key, str]) -> None:
    """Registers a version, or says why it is refused."""
    if key in refused:
        return
    subject, number = key
    for needed in _referred(what.versions, key):
        if needed in refused:
            refused[key] = f"it refers to {needed[0]} version {needed[1]}, which is refused"
            return
    body = {name: content[name] for name in ("schema", "id", *COMPARED[2:]) if content.get(name) is not None}
    try:
        rest.register(subject, {**body, "version": number})
    except ResponseError as error:
        if not _is_refusal(error):
            raise
        refused[key] = _why_deleted(rest, subject, error) or str(error)


def _why_deleted(rest: Rest, subject: str, error: ResponseError) -> str | None:
    """For a registry that takes no version into a subject that was deleted softly (Apicurio); Confluent's takes it."""
    if error.error_code != SUBJECT_NOT_FOUND or not error.not_found:
        return None
    deleted = rest.versions(subject, deleted=True)
    if not deleted or rest.versions(subject, deleted=False):
        return None
    return (
        f"the subject was deleted softly there (it had the versions {', '.join(map(str, deleted))}), and this registry "
        f"registers nothing in such a subject: delete it for good first (DELETE /subjects/{quote(subject, safe='')}"
        f"?permanent=true), then import again. The registry's answer: {error}"
    )


def _is_refusal(error: ResponseError) -> bool:
    """Whether the registry says no to this call, while others may go well."""
    return (
        400 <= error.http_status_code < 500
        and error.http_status_code != 401
        and not error.retriable
        and not isinstance(error, UnexpectedAnswerError)
    )


def _compared(rest: Rest, what: Plan) -> tuple[set[Key], dict[Key, list[str]]]:
    """The versions that are in the registry as they were saved, and what is otherwise there, in sentences."""

    def of_subject(subject: str) -> tuple[set[Key], dict[Key, list[str]]]:
        mine = {key for key in what.versions if key[0] == subject} if subject in aliased else set()
        if mine and _alias(rest.setting("config", subject)) is not None:
            return mine, {}  # the alias is set last: a run before this one was done with them
        same: set[Key] = set()
        others: dict[Key, list[str]] = {}
        for number in rest.versions(subject, deleted=True):
            key, saved = (subject, number), what.versions.get((subject, number))
            if saved is None:
                others[key] = [f"{subject} has a version {number} that is not in the export"]
                continue
            different = _different(saved, rest.version(subject, number))
            if different:
                others[key] = [f"{subject} version {number} is another schema ({', '.join(different)})"]
            else:
                same.add(key)
        return same, others

    aliased = {subject for subject, entry in what.subjects.items() if _alias(entry.get("config")) is not None}
    present: set[Key] = set()
    conflicts: dict[Key, list[str]] = {}
    for same, others in each(of_subject, what.subjects):
        present |= same
        conflicts |= others
    return present, conflicts


def _delete_softly(rest: Rest, what: Plan, sent: set[Key]) -> list[str]:
    """Deletes what was deleted, those that refer to others first; sentences about what was there before."""
    subjects = dict.fromkeys(key[0] for key, content in what.versions.items() if content.get("deleted"))
    live = {
        subject: set(rest.versions(subject, deleted=False))
        for subject in subjects
        if _alias(rest.setting("config", subject)) is None
    }
    told = []
    for (subject, number), content in reversed(list(what.versions.items())):
        if content.get("deleted") and number in live.get(subject, ()):
            rest.delete(subject, number)
            if (subject, number) not in sent:
                told.append(f"{subject} version {number} was there and not deleted; it is deleted softly now, as saved")
    return told


def _settle(rest: Rest, what: Plan, modes: ImportModes, refused: Mapping[Key, str]) -> list[str]:
    """Sets configurations and modes as they were saved; sentences about what they replace.

    Modes come last, since a READONLY subject takes no configuration.
    """
    kept = {subject for subject, _ in refused} - {subject for subject, _ in what.versions.keys() - refused.keys()}
    subjects = [subject for subject in what.subjects if subject not in kept]
    now = dict(zip(subjects, each(lambda subject: rest.setting("config", subject), subjects), strict=True))
    told = []
    for subject in subjects:
        config, mode = what.subjects[subject].get("config"), what.subjects[subject].get("mode")
        if config and config != now[subject]:
            modes.enter(subject)
            rest.set_config(subject, dict(config))
            if now[subject]:
                told.append(f"{subject}: config was {now[subject]}, is {config} now")
        before = modes.before(subject)
        if before not in (None, IMPORT, mode):
            told.append(f"{subject}: mode was {before}, is {mode or 'unset'} now")
        if mode or before is not None or modes.entered(subject):  # else there is nothing to undo, and perhaps no modes
            modes.settle(subject, None if not mode else str(mode))
    config, there = what.manifest.get("config"), rest.setting("config", None)
    if config and config != there:
        modes.enter(None, "READWRITE")
        rest.set_config(None, dict(config))
        told.append(f"the registry: config was {there}, is {config} now")
    if what.manifest.get("mode"):
        modes.settle(None, str(what.manifest["mode"]))
    return told


def _alias(config: Mapping[str, Any] | None) -> str | None:
    """The subject that another one stands for, by its configuration."""
    return (config or {}).get("alias") or None


def _different(saved: Mapping[str, Any], there: Mapping[str, Any]) -> list[str]:
    """The names of the differing parts."""

    def value(source: Mapping[str, Any], name: str) -> Any:
        found = source.get(name)
        return DEFAULTS.get(name) if found is None else found

    found = [name for name in COMPARED if value(saved, name) != value(there, name)]
    if "schema" in found and _same_schema(str(saved["schema"]), str(there.get("schema")), value(saved, "schemaType")):
        found.remove("schema")
    return found


def _same_schema(saved: str, there: str, schema_type: str) -> bool:
    """Whether two texts differ in layout only: some registries keep it, some do not."""
    if schema_type == "PROTOBUF":
        return blank_comments(saved).split() == blank_comments(there).split()
    try:
        return bool(documents.loads(saved) == documents.loads(there))
    except ValueError:
        return False


def verify(rest: Rest, what: Plan) -> list[str]:
    """Compares a registry with what was saved: one sentence for everything that differs."""
    numbers: dict[str, list[int]] = {subject: [] for subject in what.subjects}
    for subject, number in what.versions:
        numbers[subject].append(number)

    def of_subject(subject: str) -> list[str]:
        entry = what.subjects[subject]
        found = _verify_settings(rest, subject, entry)
        if _alias(entry.get("config")) is None:  # else calls about its versions would be about the alias's
            found += _verify_versions(rest, what, subject, sorted(numbers[subject]))
        return found

    found = [problem for problems in each(of_subject, what.subjects) for problem in problems]
    return found + _verify_settings(rest, None, what.manifest)


def _verify_versions(rest: Rest, what: Plan, subject: str, numbers: Sequence[int]) -> list[str]:
    found = []
    live, there = set(rest.versions(subject, deleted=False)), set(rest.versions(subject, deleted=True))
    found += [f"{subject} version {number} is not in the export" for number in sorted(there.difference(numbers))]
    for number in numbers:
        if number not in there:
            found.append(f"{subject} version {number} is missing")
            continue
        saved = what.versions[subject, number]
        different = _different(saved, rest.version(subject, number))
        if bool(saved.get("deleted")) != (number not in live):
            different.append("deleted")
        if different:
            found.append(f"{subject} version {number} differs in {', '.join(different)}")
    return found


def _verify_settings(rest: Rest, subject: str | None, entry: Mapping[str, Any]) -> list[str]:
    found = []
    where = subject or "the registry"
    config, mode = rest.setting("config", subject), (rest.setting("mode", subject) or {}).get("mode")
    saved = entry.get("config")
    if (saved or {}) != (config or {}) and not (saved is None and subject is None):
        found.append(f"{where}: config is {config}, was {saved}")
    if entry.get("mode") != mode and not (entry.get("mode") is None and subject is None):
        found.append(f"{where}: mode is {mode}, was {entry.get('mode')}")
    return found
