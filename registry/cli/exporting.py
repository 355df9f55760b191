"""Saves a whole registry in a folder: all versions with ids, references and deletions, all configurations and modes.

Must not know of HTTP. Versions never change, so those saved before are kept: a run that broke off goes on where it
stopped, and a later run brings the folder up to date.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from registry.cli.archive import Archive
from registry.cli.parallel import each
from registry.cli.rest import Rest

__all__ = ["Exported", "save"]


@dataclass(frozen=True, slots=True)
class Exported:
    """What was saved.

    Attributes:
        subjects: how many there are.
        versions: how many there are, deleted ones included.
        fetched: how many of them were not in the folder yet.
        hidden: subjects whose versions can't be read, since calls about them are about their alias's.
    """

    subjects: int
    versions: int
    fetched: int
    hidden: tuple[str, ...] = ()


def save(
    rest: Rest, archive: Archive, prefix: str = "", progress: Callable[[int, int], None] = lambda done, total: None
) -> Exported:
    """Saves a registry.

    Args:
        rest: the registry.
        archive: the folder.
        prefix: save only subjects that start with it, and then not what is global.
        progress: called with how many subjects are done, of how many.

    Raises:
        SchemaRegistryError: the registry does not answer; what was saved stays for the next run.
        Unusable: the folder can't be written, or is damaged.
    """
    archive.manifest()
    subjects = [name for name in rest.subjects() if name.startswith(prefix)]
    archive.write_manifest({"complete": False})
    found: list[tuple[int, int] | None] = []
    for item in each(lambda name: _subject(rest, archive, name), subjects):
        found.append(item)
        progress(len(found), len(subjects))
    _forget(archive, subjects)
    mode = None if prefix else rest.setting("mode", None)
    archive.write_manifest(
        {
            "complete": True,
            "subjects": len(subjects),
            "prefix": prefix,
            "config": None if prefix else rest.setting("config", None),
            "mode": None if mode is None else mode.get("mode"),
        }
    )
    counts = [item for item in found if item is not None]
    hidden = tuple(name for name, item in zip(subjects, found, strict=True) if item is None)
    return Exported(len(subjects), sum(total for total, _ in counts), sum(fetched for _, fetched in counts), hidden)


def _subject(rest: Rest, archive: Archive, subject: str) -> tuple[int, int] | None:
    """Saves a subject; how many versions it has, and how many were fetched; None if an alias hides them."""
    mode, config = rest.setting("mode", subject), rest.setting("config", subject)
    archive.write_subject(subject, config, None if mode is None else mode.get("mode"))
    if config and config.get("alias"):
        return None
    numbers, live = rest.versions(subject, deleted=True), set(rest.versions(subject, deleted=False))
    saved = archive.versions(subject)
    fetched = 0
    for number in numbers:
        deleted = number not in live
        known = saved.get(number)
        if known is None:
            content = rest.version(subject, number)
            fetched += 1
        elif known.get("deleted") != deleted:
            content = known
        else:
            continue
        archive.write_version(subject, number, {**content, "deleted": deleted})
    for number in saved:
        if number not in numbers:
            archive.drop(subject, number)
    return len(numbers), fetched


def _forget(archive: Archive, subjects: Sequence[str]) -> None:
    """Removes subjects that the registry has no more."""
    known = set(subjects)
    for entry in list(archive.subjects()):
        if entry["subject"] not in known:
            archive.drop_subject(entry["subject"])
