"""The packages beside this one: whether `registry`, `serdes` and the others are those of kserdes.

Must not import them. Their names are common words: a folder of the user's or another distribution may have one of them,
and stand in front of ours on `sys.path`, or have replaced its files.
"""

from __future__ import annotations

import importlib.util
import os
import sys
from collections.abc import Callable, Iterable
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Final

MARK: Final = b"kserdes_base"
"""In the source of every `__init__` of ours, since each takes `public_names` from here."""
OURS: Final = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
"""The folder that holds all of our packages."""


def require_own(names: Iterable[str]) -> None:
    """Makes sure that these top-level packages are ours, loaded or yet to be loaded; loads none.

    Raises:
        ImportError: one of them is somebody else's, or is not there. The text says where it is and what to do.
    """
    for name in names:
        loaded = sys.modules.get(name)
        spec = importlib.util.find_spec(name) if loaded is None else getattr(loaded, "__spec__", None)
        if spec is None or not _is_ours(spec):
            where = _place_of(loaded, spec)
            raise ImportError(_text(name, where, loaded is not None), name=name, path=where)


def _is_ours(spec: ModuleSpec) -> bool:
    read: Callable[[str], bytes] | None = getattr(spec.loader, "get_data", None)
    if spec.origin is None or read is None:
        return False  # a folder without an `__init__`, or a module that has no source at all
    try:
        return MARK in read(spec.origin)
    except OSError:  # it was loaded from a place that is gone, or cannot be read
        return os.path.dirname(os.path.dirname(os.path.abspath(spec.origin))) == OURS


def _place_of(loaded: ModuleType | None, spec: ModuleSpec | None) -> str | None:
    """The file or folder of a module; None if nothing says it."""
    if spec is not None and spec.origin is not None:
        return spec.origin
    folders = list(getattr(spec, "submodule_search_locations", None) or ())
    file = getattr(loaded, "__file__", None)
    return file if isinstance(file, str) else next(iter(folders), None)


def _text(name: str, where: str | None, loaded: bool) -> str:
    own = os.path.join(OURS, name)
    if where is None and not loaded:
        return f"the package {name!r} of kserdes is not there ({own}): install kserdes again"
    said = f"{name!r} is not the package of kserdes ({own}), but {where or 'a module made by the program'}"
    folder = os.path.dirname(os.path.abspath(where)) if where else ""
    if where and os.path.basename(where).startswith("__init__."):
        folder = os.path.dirname(folder)
    if folder == OURS:
        return f"{said}: another distribution has replaced it; uninstall that one, and install kserdes again"
    advice = "rename it" if where else "give that module another name"
    if folder:
        advice += f", or take {folder} away from the front of sys.path"
    when = " and was imported first" if loaded else ""
    return f"{said}, which hides it{when}: {advice}"
