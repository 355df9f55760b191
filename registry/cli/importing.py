"""Loads a saved registry into another one: same ids, versions, references, deletions, configurations and modes.

Must not know of HTTP. A subject is put into IMPORT mode while it is loaded; schemas come after those they refer to, in
the order of their versions; what is there already is not sent again, so that a run that broke off can be repeated. At
the end everything is read back and compared.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from registry.cli.archive import Archive
from registry.cli.findings import Unusable
from registry.cli.linking import blank_comments
from registry.cli.parallel import each
from registry.cli.rest import Rest
from registry.compat import documents

__all__ = ["Imported", "Plan", "load", "plan", "verify"]

Key = tuple[str, int]
COMPARED = ("id", "schema", "schemaType", "references", "metadata", "ruleSet")
IMPORT = "IMPORT"
DEFAULTS = {"schemaType": "AVRO", "references": []}


@dataclass(frozen=True, slots=True)
class Plan:
    """What is to be loaded.

    Attributes:
        manifest: what the folder says of the whole registry.
        subjects: name → config and mode.
        versions: (subject, version) → content, each after those it refers to.
    """

    manifest: Mapping[str, Any]
    subjects: Mapping[str, Mapping[str, Any]]
    versions: Mapping[Key, Mapping[str, Any]]


@dataclass(slots=True)
class Imported:
    """What was done.

    Attributes:
        sent: versions that were registered.
        present: versions that were there.
        problems: what is not as it was saved; empty if all is well.
    """

    sent: int = 0
    present: int = 0
    problems: list[str] = field(default_factory=list)


def plan(archive: Archive) -> Plan:
    """Reads a folder and orders its versions.

    Raises:
        Unusable: it is no complete export, is damaged, or its references form a circle or lead nowhere.
    """
    manifest = archive.manifest()
    if manifest is None:
        raise Unusable(f"{archive.folder} has no registry.json: it is no export of a registry")
    if not manifest.get("complete"):
        raise Unusable(f"{archive.folder}: the export is not complete; run it again, it goes on where it stopped")
    subjects = {entry["subject"]: entry for entry in archive.subjects()}
    contents = {(name, number): content for name in subjects for number, content in archive.versions(name).items()}
    return Plan(manifest, subjects, {key: contents[key] for key in _ordered(contents)})


def _needs(contents: Mapping[Key, Mapping[str, Any]], key: Key) -> Iterator[Key]:
    """The versions that must be there before one: those it refers to, and the one before it in its subject."""
    subject, number = key
    before = [other for name, other in contents if name == subject and other < number]
    if before:
        yield subject, max(before)
    for reference in contents[key].get("references") or ():
        wanted = (str(reference["subject"]), int(reference["version"]))
        for candidate in (wanted, (_in_context(subject, wanted[0]), wanted[1])):
            if candidate in contents:
                yield candidate
                break
        else:
            raise Unusable(f"{subject} version {number} refers to {wanted[0]} version {wanted[1]}, which is not saved")


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


def load(rest: Rest, what: Plan, progress: Callable[[int, int], None] = lambda done, total: None) -> Imported:
    """Loads a plan and verifies the result.

    Raises:
        Unusable: the registry has another schema where one is to go.
        SchemaRegistryError: it does not answer, or refuses; a repeated run goes on from there.
    """
    found = Imported()
    present = _present(rest, what)
    missing = {key: content for key, content in what.versions.items() if key not in present}
    found.present = len(present)
    list(each(lambda subject: rest.set_mode(subject, IMPORT), dict.fromkeys(subject for subject, _ in missing)))
    for (subject, number), content in missing.items():
        body = {name: content[name] for name in ("schema", "id", *COMPARED[2:]) if content.get(name) is not None}
        rest.register(subject, {**body, "version": number})
        found.sent += 1
        progress(found.sent, len(missing))
    _delete_softly(rest, what)
    _settle(rest, what)
    found.problems = verify(rest, what)
    return found


def _present(rest: Rest, what: Plan) -> set[Key]:
    """The versions that are in the registry already, as they were saved."""

    def of_subject(subject: str) -> set[Key]:
        mine = {key for key in what.versions if key[0] == subject} if subject in aliased else set()
        if mine and _alias(rest.setting("config", subject)) is not None:
            return mine  # the alias is set last: a run before this one was done with them
        return {(subject, number) for number in rest.versions(subject, deleted=True) if same(subject, number)}

    def same(subject: str, number: int) -> bool:
        saved = what.versions.get((subject, number))
        if saved is None:
            raise Unusable(f"{rest}: {subject} has a version {number} that is not in the export")
        different = _different(saved, rest.version(subject, number))
        if different:
            raise Unusable(f"{rest}: {subject} version {number} is another schema ({', '.join(different)})")
        return True

    aliased = {subject for subject, entry in what.subjects.items() if _alias(entry.get("config")) is not None}
    return set().union(*each(of_subject, what.subjects))


def _delete_softly(rest: Rest, what: Plan) -> None:
    """Deletes what was deleted, those that refer to others first."""
    subjects = dict.fromkeys(key[0] for key, content in what.versions.items() if content.get("deleted"))
    live = {
        subject: set(rest.versions(subject, deleted=False))
        for subject in subjects
        if _alias(rest.setting("config", subject)) is None
    }
    for (subject, number), content in reversed(list(what.versions.items())):
        if content.get("deleted") and number in live.get(subject, ()):
            rest.delete(subject, number)


def _settle(rest: Rest, what: Plan) -> None:
    """Sets configurations and modes as they were saved; modes last, since a READONLY subject takes no configuration."""

    def of_subject(subject: str) -> None:
        config, mode = what.subjects[subject].get("config"), what.subjects[subject].get("mode")
        if config and config != rest.setting("config", subject):
            rest.set_mode(subject, IMPORT)
            rest.set_config(subject, dict(config))
        if mode:
            rest.set_mode(subject, str(mode))
        else:
            rest.delete_mode(subject)

    list(each(of_subject, what.subjects))
    config = what.manifest.get("config")
    if config and config != rest.setting("config", None):
        rest.set_mode(None, "READWRITE")
        rest.set_config(None, dict(config))
    if what.manifest.get("mode"):
        rest.set_mode(None, str(what.manifest["mode"]))


def _alias(config: Mapping[str, Any] | None) -> str | None:
    """The subject that another one stands for, by its configuration."""
    return (config or {}).get("alias") or None


def _different(saved: Mapping[str, Any], there: Mapping[str, Any]) -> list[str]:
    """The names of what is not the same."""

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
