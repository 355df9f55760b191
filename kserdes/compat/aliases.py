"""Other clients' modules by their names, on ours: what `import confluent_kafka` or `import kafka` then gives.

Must not know any dialect: a dialect is a table of its modules and of those of ours that stand behind them.
"""

from __future__ import annotations

import importlib
import importlib.abc
import importlib.machinery
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any

from kafka_core import StateError

__all__ = ["Dialect", "install"]


@dataclass(frozen=True, slots=True)
class Dialect:
    """One client whose names are served.

    Attributes:
        root: its package.
        homes: its module, without the root, to ours, in the order in which they are asked for a name.
        guide: where users read what differs.
        renamed: names that are others here: (module, name).
    """

    root: str
    homes: Mapping[str, tuple[str, ...]]
    guide: str
    renamed: Mapping[str, tuple[str, str]] = field(default_factory=dict)

    def holds(self, fullname: str) -> bool:
        """Whether a module is this client's."""
        return fullname == self.root or fullname.startswith(f"{self.root}.")

    def inside(self, fullname: str) -> str:
        """A module's name without the root."""
        return fullname.removeprefix(self.root).removeprefix(".")


def _names(module: ModuleType) -> list[str]:
    """The public names of a module of ours."""
    return list(getattr(module, "__all__", ())) or [
        name for name, value in vars(module).items() if getattr(value, "__module__", None) == module.__name__
    ]


class Alias(ModuleType):
    """A module of another client: every name is looked up in the modules that stand behind it, at its first use."""

    def __init__(self, name: str, dialect: Dialect) -> None:
        super().__init__(name, f"{name} on kserdes.")
        self.__dict__["__dialect__"] = dialect
        self.__dict__["__patched__"] = {}

    def __getattr__(self, name: str) -> Any:
        dialect: Dialect = self.__dict__["__dialect__"]
        homes = dialect.homes[dialect.inside(self.__name__)]
        if name == "__all__":
            return sorted({each for home in homes for each in _names(importlib.import_module(home))})
        if name == "__version__":
            return importlib.import_module("kserdes_base.version").VERSION
        if not name.startswith("__"):
            inner = f"{self.__name__}.{name}"
            if dialect.inside(inner) in dialect.homes:
                return importlib.import_module(inner)
            renamed = dialect.renamed
            for home, known in [renamed[name]] if name in renamed else [(home, name) for home in homes]:
                value = getattr(importlib.import_module(home), known, self)
                if value is not self:
                    self.__dict__[name] = value
                    return value
        raise AttributeError(f"module {self.__name__!r} has no attribute {name!r} in kserdes")

    def __setattr__(self, name: str, value: Any) -> None:
        """Tests replace names of modules (`mock.patch`): the module behind this one sees it, too."""
        if not isinstance(value, Alias):  # importing a module below this one sets it here
            home = next((home for home in self._loaded_homes() if name in vars(home)), None)
            if home is not None and not name.startswith("__"):
                self.__dict__["__patched__"].setdefault(name, (home, vars(home)[name]))
                setattr(home, name, value)
        super().__setattr__(name, value)

    def __delattr__(self, name: str) -> None:
        patched = self.__dict__["__patched__"].pop(name, None)
        if patched is not None:
            setattr(patched[0], name, patched[1])
        super().__delattr__(name)

    def _loaded_homes(self) -> list[ModuleType]:
        dialect: Dialect = self.__dict__["__dialect__"]
        homes = dialect.homes[dialect.inside(self.__name__)]
        return [sys.modules[home] for home in homes if home in sys.modules]

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *self.__all__})


class Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds the modules of a dialect, and says of others of that client that they are not there."""

    def __init__(self, dialect: Dialect) -> None:
        self.dialect = dialect

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        if not self.dialect.holds(fullname):
            return None
        if self.dialect.inside(fullname) not in self.dialect.homes:
            raise ModuleNotFoundError(f"kserdes has nothing for {fullname!r}; see {self.dialect.guide}", name=fullname)
        return importlib.machinery.ModuleSpec(fullname, self, is_package=True)

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> ModuleType:
        return Alias(spec.name, self.dialect)

    def exec_module(self, module: ModuleType) -> None:
        """Nothing to run: names come at their first use."""


def install(dialects: Sequence[Dialect]) -> None:
    """From now on importing these clients gives kserdes. May be called again.

    Raises:
        StateError: one of them has been imported already, and objects of both would mix; nothing is installed then.
    """
    there = [finder.dialect.root for finder in sys.meta_path if isinstance(finder, Finder)]
    missing = [dialect for dialect in dialects if dialect.root not in there]
    for dialect in missing:
        real = sys.modules.get(dialect.root)
        if real is not None:
            raise StateError(
                f"{dialect.root} has been imported from {getattr(real, '__file__', 'elsewhere')}: call install() "
                "before the first import of it"
            )
    sys.meta_path[:0] = [Finder(dialect) for dialect in missing]
