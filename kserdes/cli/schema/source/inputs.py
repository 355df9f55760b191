"""Finds the files that a command's arguments name: below which root, of which schema type.

Must not read schemas. A folder is its own root: references are resolved in it and subjects are named from it. A single
file's root is `--root`, else the configured path that contains it, else its folder.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from kserdes.cli.schema.findings import FileResult
from kserdes.cli.schema.source.files import SUFFIXES, FolderTree, matches, shown
from kserdes.cli.schema.source.linking import Collection
from kserdes.cli.shell.settings import Settings
from kserdes.cli.shell.unusable import Unusable

HERE = "."
"""Label of the side that is checked; no git revision is called so."""


def type_by(settings: Settings) -> Callable[[str], str]:
    """path → schema type: by the configured patterns, else by the suffix."""

    def type_of(path: str) -> str:
        for pattern, kind in settings.types.items():
            if matches(path, (pattern,)):
                return kind
        kind = SUFFIXES.get(os.path.splitext(path)[1].lower(), "")
        if not kind:
            known = ", ".join(SUFFIXES)
            raise Unusable(f"which type of schema? Files end in {known}, or are listed in [types]", kind="UNKNOWN_TYPE")
        return kind

    return type_of


@dataclass(slots=True)
class Root:
    """A folder with files to work on.

    Attributes:
        folder: the root.
        collection: its schema files.
        paths: those to work on, relative to the root.
        folders: those that were named: `""` for the root itself, else paths in it that end in `/`.
    """

    folder: Path
    collection: Collection
    paths: list[str]
    folders: list[str] = field(default_factory=list)

    def shown(self, path: str) -> str:
        """A path within the root as the user would write it."""
        return shown(self.folder / path)


@dataclass(slots=True)
class Inputs:
    """All roots of a run, and the results of arguments that lead nowhere."""

    roots: list[Root] = field(default_factory=list)
    missing: list[FileResult] = field(default_factory=list)


def find_inputs(arguments: Sequence[str], settings: Settings, root: str | None = None) -> Inputs:
    """The files that arguments stand for.

    Args:
        arguments: files and folders; none: those of the configuration, else the working folder.
        settings: the configuration.
        root: the root for all of them, over the configuration's.

    Raises:
        Unusable: the root is no folder, or an argument is outside of it.
    """
    paths = [Path(text) for text in arguments]
    if not paths:
        paths = [settings.folder / text for text in settings.paths] or [Path()]
    fixed = Path(root) if root is not None else None if settings.root is None else settings.folder / settings.root
    if fixed is not None and not fixed.is_dir():
        raise Unusable(f"the root {fixed} is not a folder", kind="CONFIGURATION")
    found = Inputs()
    trees: dict[str, Root] = {}
    for path in paths:
        if not os.path.lexists(path):
            missing = Unusable("there is no such file or folder", kind="UNREADABLE_FILE")
            found.missing.append(FileResult.unusable(shown(path), missing))
            continue
        folder = fixed or _root_of(path, settings)
        key = os.path.realpath(folder)
        made = trees.get(key)
        if made is None:
            tree = FolderTree(folder, settings.exclude, tuple(settings.types))
            made = trees[key] = Root(folder, Collection(tree, HERE, type_by(settings)), [])
        if not _add(made, path, settings):
            empty = Unusable(f"no schema files ({', '.join(SUFFIXES)}) in this folder", kind="NO_SCHEMA_FILES")
            found.missing.append(FileResult.unusable(shown(path), empty))
    for made in trees.values():
        made.paths = sorted(dict.fromkeys(made.paths))
    found.roots = list(trees.values())
    return found


def _root_of(path: Path, settings: Settings) -> Path:
    if path.is_dir():
        return path
    full = path.absolute()
    for text in settings.paths:
        folder = (settings.folder / text).absolute()
        if folder.is_dir() and full.is_relative_to(folder):
            return folder
    return path.parent


def _add(root: Root, path: Path, settings: Settings) -> bool:
    """Adds a file, or all files of a folder, to those to work on; False if a folder has none."""
    real_root, full = os.path.realpath(root.folder), Path(os.path.abspath(path))
    inside = os.path.relpath(os.path.join(os.path.realpath(full.parent), full.name), real_root).replace(os.sep, "/")
    if path.is_dir():
        inside = os.path.relpath(os.path.realpath(full), real_root).replace(os.sep, "/")
    if inside == ".." or inside.startswith("../"):
        raise Unusable(f"{path} is not below the root {root.folder}", kind="CONFIGURATION")
    if not path.is_dir():
        if not matches(inside, settings.exclude):
            root.paths.append(inside)
        return True
    prefix = "" if inside == "." else inside + "/"
    root.folders += [] if prefix in root.folders else [prefix]
    below = [item for item in root.collection.tree.paths if item.startswith(prefix)]
    root.paths += below
    return bool(below)
