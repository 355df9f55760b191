"""Public names that are imported at their first use (PEP 562), so that importing a package costs next to nothing.

Must not know which names there are. A package that uses it lists them twice: in `HOMES`, and, for type checkers, as
imports under `TYPE_CHECKING`.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any


def public_names(
    package: str,
    homes: Mapping[str, Sequence[str]],
    modules: Sequence[str] = (),
    others: Mapping[str, tuple[str, str]] | None = None,
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """The `__getattr__` and `__dir__` of a package.

    Args:
        package: its `__name__`.
        homes: module → the public names that are taken from it.
        modules: its modules that are there without an import of their own.
        others: further names → the module that each is taken from, and what it is called there.
    """
    home_of = {name: (module, name) for module, names in homes.items() for name in names} | dict(others or {})

    def get(name: str) -> Any:
        if name in modules:
            return importlib.import_module(f"{package}.{name}")
        if name not in home_of:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        module, there = home_of[name]
        value = getattr(importlib.import_module(module), there)
        setattr(sys.modules[package], name, value)  # found without this function from now on
        return value

    def names() -> list[str]:
        return sorted({*vars(sys.modules[package]), *home_of, *modules})

    return get, names
