"""confluent_kafka's modules by their names, on ours: code that imports confluent_kafka runs unchanged.

    from kafka_core.compat import confluent
    confluent.install()          # before the first `import confluent_kafka`
    from confluent_kafka import Producer

or, without touching the program, `python -m kafka_core.compat.confluent script.py …`. What of confluent_kafka is not
here says so where it is imported; docs/guide/migrating.md says what behaves differently. Must not hold any behaviour.
"""

from __future__ import annotations

import importlib
import importlib.abc
import importlib.machinery
import sys
from collections.abc import Sequence
from types import ModuleType
from typing import Any

from kafka_core.compat.confluent.table import HOMES, RENAMED, ROOT
from kafka_core.errors import StateError

__all__ = ["install"]


class Alias(ModuleType):
    """A module of confluent_kafka: every name is looked up in the modules that stand behind it, at its first use."""

    def __getattr__(self, name: str) -> Any:
        homes = HOMES[self.__name__.removeprefix(ROOT).removeprefix(".")]
        if name == "__all__":
            return sorted({each for home in homes for each in importlib.import_module(home).__all__})
        if not name.startswith("__"):
            inner = f"{self.__name__}.{name}"
            if inner.removeprefix(f"{ROOT}.") in HOMES:
                return importlib.import_module(inner)
            for home, known in [RENAMED[name]] if name in RENAMED else [(home, name) for home in homes]:
                value = getattr(importlib.import_module(home), known, self)
                if value is not self:
                    setattr(self, name, value)
                    return value
        raise AttributeError(f"module {self.__name__!r} has no attribute {name!r} in kserdes")

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *self.__all__})


class Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds the modules of the table, and says of others of confluent_kafka that they are not there."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        if fullname != ROOT and not fullname.startswith(f"{ROOT}."):
            return None
        if fullname.removeprefix(ROOT).removeprefix(".") not in HOMES:
            raise ModuleNotFoundError(
                f"kserdes has nothing for {fullname!r}; see docs/guide/migrating.md", name=fullname
            )
        return importlib.machinery.ModuleSpec(fullname, self, is_package=True)

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> ModuleType:
        return Alias(spec.name, f"{spec.name} on kserdes.")

    def exec_module(self, module: ModuleType) -> None:
        """Nothing to run: names come at their first use."""


def install() -> None:
    """From now on `import confluent_kafka` gives kserdes. May be called again.

    Raises:
        StateError: the real confluent_kafka has been imported already, and objects of both would mix.
    """
    there = sys.modules.get(ROOT)
    if isinstance(there, Alias) or any(isinstance(finder, Finder) for finder in sys.meta_path):
        return
    if there is not None:
        raise StateError(
            f"{ROOT} has been imported from {getattr(there, '__file__', 'elsewhere')}: call install() before the first "
            "import of it"
        )
    sys.meta_path.insert(0, Finder())
