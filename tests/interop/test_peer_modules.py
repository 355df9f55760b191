"""Every module of kafka-python and aiokafka is served by its dialect, or a table of the product says why not."""

from __future__ import annotations

import importlib
import pkgutil
import warnings
from collections.abc import Mapping
from types import ModuleType

import pytest

from kserdes.compat.aiokafka import table as aiokafka
from kserdes.compat.aliases import Dialect
from kserdes.compat.kafka import table as kafka

pytestmark = pytest.mark.interop
SIDES = [(kafka.DIALECT, kafka.REFUSED), (aiokafka.DIALECT, aiokafka.REFUSED)]
NAMES = [(kafka.DIALECT, kafka.NAMES_NOT_HERE, 8), (aiokafka.DIALECT, aiokafka.NAMES_NOT_HERE, 0)]
"""Dialect, names that it lacks, and how many of its modules are only of older versions of the package."""


def modules(root: str) -> list[str]:
    """The modules of an installed package, without its root; only packages are imported, and no program."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        package = pytest.importorskip(root)
        found = [each.name for each in pkgutil.walk_packages(package.__path__, f"{root}.")]
    return [name.removeprefix(f"{root}.") for name in found]


def refused(name: str, table: Mapping[str, str]) -> bool:
    return any(name == each or name.startswith(f"{each}.") for each in table)


@pytest.mark.parametrize(("dialect", "table"), SIDES, ids=["kafka", "aiokafka"])
def test_each_module_is_there_or_refused(dialect: Dialect, table: Mapping[str, str]) -> None:
    theirs = modules(dialect.root)
    assert len(theirs) > 40
    silent = [
        name
        for name in theirs
        if name not in dialect.homes
        and not refused(name, table)
        and not any(part.startswith("_") for part in name.split("."))
    ]
    assert silent == []
    assert [name for name in table if dialect.homes.get(name)] == []
    assert [name for name in table if not any(refused(each, {name: ""}) for each in theirs)] == []
    for homes in dialect.homes.values():
        for home in homes:
            importlib.import_module(home)


def public(module: ModuleType) -> set[str]:
    """The names a module lists, and those it defines without an underscore."""
    own = {
        name
        for name, value in vars(module).items()
        if not name.startswith("_")
        and name != "log"  # kafka-python puts another one there when a producer is collected
        and not isinstance(value, ModuleType)
        and getattr(value, "__module__", module.__name__) == module.__name__
    }
    return own | set(getattr(module, "__all__", ()))


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize(("dialect", "table", "older"), NAMES, ids=["kafka", "aiokafka"])
def test_each_name_is_there_or_has_its_reason(dialect: Dialect, table: Mapping[str, str], older: int) -> None:
    there = set(modules(dialect.root))
    missing, looked_at = set(), 0
    for module, homes in dialect.homes.items():
        if module and module not in there:
            continue
        looked_at += 1
        ours = [importlib.import_module(home) for home in homes]
        for name in public(importlib.import_module(f"{dialect.root}.{module}".rstrip("."))):
            inner = f"{module}.{name}".lstrip(".")
            if inner not in dialect.homes and not any(hasattr(home, name) for home in ours):
                missing.add(inner)
    assert missing == set(table)
    assert looked_at == len(dialect.homes) - older
