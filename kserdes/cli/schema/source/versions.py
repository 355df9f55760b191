"""Version folders: files named `v1.avsc`, `v2.avsc`, … (or `1.avsc`, …) in one folder are the history of one schema.

Must not know of schemas. The folder gives the history its name: `orders/v1.avsc` and `orders/v2.avsc` are versions of
`orders`, which is also what `orders.avsc` beside the folder is compared with.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

NUMBER = re.compile(r"[vV]?(\d{1,9})\Z")


@dataclass(frozen=True, slots=True, order=True)
class Numbered:
    """A file of a version folder.

    Attributes:
        key: folder and suffix, e.g. `orders` and `.avsc`.
        number: the version.
        path: the file.
    """

    key: tuple[str, str]
    number: int
    path: str


def split(path: str) -> tuple[str, str, str]:
    """Folder, name without suffix, suffix."""
    folder, _, name = path.rpartition("/")
    stem, dot, suffix = name.rpartition(".")
    return folder, stem, dot + suffix


def numbered(path: str) -> Numbered | None:
    """The file as a version, None if it is not in a version folder; files in the root never are."""
    folder, stem, suffix = split(path)
    match = NUMBER.match(stem)
    return None if match is None or not folder else Numbered((folder, suffix), int(match[1]), path)


def history_key(path: str) -> tuple[str, str]:
    """The version folder that holds the history of an ordinary file."""
    folder, stem, suffix = split(path)
    return (f"{folder}/{stem}" if folder else stem, suffix)


def series(paths: Iterable[str]) -> dict[tuple[str, str], list[Numbered]]:
    """All version folders, each with its files by number."""
    found: dict[tuple[str, str], list[Numbered]] = {}
    for path in paths:
        version = numbered(path)
        if version is not None:
            found.setdefault(version.key, []).append(version)
    return {key: sorted(versions) for key, versions in found.items()}
