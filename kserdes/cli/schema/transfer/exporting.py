"""Saves a whole registry in a folder: all versions with ids, references and deletions, all configurations and modes.

Must not know of HTTP. A folder that has something already is brought up to date, and nothing in it is lost unless that
is asked for: what the registry has no more is kept and told, and so is a version that is another schema there (numbers
are given anew after a version was deleted for good, and the folder may be another registry's).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from kserdes.cli.schema.transfer.archive import Archive
from kserdes.cli.schema.transfer.rest import Rest
from kserdes.cli.shell.parallel import each
from kserdes.cli.shell.unusable import Unusable


@dataclass(frozen=True, slots=True)
class Exported:
    """The result of an export.

    Attributes:
        subjects: how many there are.
        versions: how many there are, deleted ones included.
        fetched: how many of them were not in the folder yet.
        hidden: subjects whose versions can't be read, since calls about them are about their alias's.
        gone: what the folder has and the registry has no more: subject → versions, removed if that was asked for.
        changed: subject and version of what is another schema in the registry, replaced if that was asked for.
    """

    subjects: int
    versions: int
    fetched: int
    hidden: tuple[str, ...] = ()
    gone: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    changed: tuple[tuple[str, int], ...] = ()


@dataclass(frozen=True, slots=True)
class _Subject:
    """The result for one subject; `versions` is None if an alias hides them."""

    versions: int | None
    fetched: int = 0
    gone: tuple[int, ...] = ()
    changed: tuple[int, ...] = ()


def save(
    rest: Rest,
    archive: Archive,
    prefix: str = "",
    progress: Callable[[int, int], None] = lambda done, total: None,
    prune: bool = False,
) -> Exported:
    """Saves a registry.

    Args:
        rest: the registry.
        archive: the folder.
        prefix: save only subjects that start with it, and then not what is global; others in the folder stay.
        progress: called with how many subjects are done, of how many.
        prune: remove from the folder what the registry has no more, and replace what is another schema there.

    Raises:
        SchemaRegistryError: the registry does not answer, or cuts its lists; what was saved stays for the next run.
        Unusable: the folder can't be written, or is damaged; or all of it would be pruned.
    """
    old = archive.manifest() or {}
    subjects = [name for name in rest.subjects() if name.startswith(prefix)]
    before = [name for name in (entry["subject"] for entry in archive.subjects()) if name.startswith(prefix)]
    if prune and before and not subjects:
        raise Unusable(
            f"{rest} has no subjects{f' that start with {prefix}' if prefix else ''}, and --prune would remove all"
            f" {len(before)} of {archive.folder}: is the URL right? Delete the folder yourself if it is"
        )
    unfinished = [*dict.fromkeys([*old.get("unfinished", []), prefix])]
    archive.write_manifest({**old, "complete": False, "unfinished": unfinished})
    found: list[_Subject] = []
    for item in each(lambda name: _subject(rest, archive, name, prune), subjects):
        found.append(item)
        progress(len(found), len(subjects))
    gone = {name: item.gone for name, item in zip(subjects, found, strict=True) if item.gone}
    gone |= _forget(archive, [name for name in before if name not in set(subjects)], prune)
    _finish(rest, archive, old, prefix, [name for name in unfinished if not name.startswith(prefix)])
    return Exported(
        len(subjects),
        sum(item.versions or 0 for item in found),
        sum(item.fetched for item in found),
        tuple(name for name, item in zip(subjects, found, strict=True) if item.versions is None),
        gone,
        tuple((name, number) for name, item in zip(subjects, found, strict=True) for number in item.changed),
    )


def _finish(rest: Rest, archive: Archive, old: Mapping[str, Any], prefix: str, unfinished: Sequence[str]) -> None:
    """Says in the folder what it holds now; a part that was saved leaves what is global as it was."""
    whole = {"config": old.get("config"), "mode": old.get("mode"), "prefixes": old.get("prefixes")}
    if not prefix:
        mode = rest.setting("mode", None)
        whole = {"config": rest.setting("config", None), "mode": (mode or {}).get("mode"), "prefixes": None}
    elif not old or old.get("prefixes"):
        whole["prefixes"] = sorted({*(old.get("prefixes") or ()), prefix})
    state = {"complete": False, "unfinished": list(unfinished)} if unfinished else {"complete": True}
    archive.write_manifest({**whole, **state, "subjects": sum(1 for _ in archive.subjects())})


def _subject(rest: Rest, archive: Archive, subject: str, prune: bool) -> _Subject:
    """Saves a subject."""
    mode, config = rest.setting("mode", subject), rest.setting("config", subject)
    own = subject, config, None if mode is None else mode.get("mode")
    saved = archive.versions(subject)
    archive.write_subject(*own, saved)
    if config and config.get("alias"):
        return _Subject(None)
    numbers, live = rest.versions(subject, deleted=True), set(rest.versions(subject, deleted=False))
    changed = []
    for number in numbers:
        content = {**rest.version(subject, number), "deleted": number not in live}
        known = saved.get(number)
        if known is not None and (known.get("id"), known["schema"]) != (content.get("id"), content["schema"]):
            changed.append(number)
            if not prune:
                continue
        if content != known:
            archive.write_version(subject, number, content)
    gone = tuple(number for number in saved if number not in numbers)
    for number in gone if prune else ():
        archive.drop(subject, number)
    archive.write_subject(*own, {*numbers} if prune else {*numbers, *gone})
    return _Subject(len(numbers), len(set(numbers).difference(saved)), gone, tuple(changed))


def _forget(archive: Archive, subjects: Sequence[str], prune: bool) -> dict[str, tuple[int, ...]]:
    """The subjects that the registry has no more, with their versions; removed if that is asked for."""
    found = {}
    for subject in subjects:
        found[subject] = tuple(archive.versions(subject))
        if prune:
            archive.drop_subject(subject)
    return found
