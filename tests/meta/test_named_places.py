"""Files and modules of ours that pages, docstrings and recipes name are there: prose does not notice a move by itself.

Decisions and the changelog tell of their time, so they may name what is gone. Must not know any single name.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tools import docs_site

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("kserdes", "kserdes_base", "kafka_core", "registry", "serdes", "pipeline", "pyspark_kserdes")
FOLDERS = (*PACKAGES, "tools", "benchmarks", "docs", "tests")
TEXTS = {".py", ".pyx", ".pyi", ".pxi", ".md", ".yml", ".yaml", ".toml", ".sh", ".txt"}
HISTORY = ("docs/decisions/", "CHANGELOG.md")
FILE = re.compile(r"(?<![\w./…*{}<>-])((?:\w[\w.]*/)+\w+\.(?:py|pyx|pxi|pyi|md))\b(?![*{}])")
MODULE = re.compile(rf"`((?:{'|'.join(PACKAGES)})(?:\.\w+)+)(?:\(\))?`")
LOGGERS = {"kafka_core.client", "kafka_core.consumer", "kafka_core.producer", "kafka_core.telemetry"}
ELSEWHERE = {"common/message/README.md"}
"""A file of Kafka's sources."""
NO_MODULES = {"kserdes.toml", "pipeline.py", "registry.db", "registry.json"}
"""Files of users that are named like something in a package."""


def texts() -> Iterator[tuple[str, str]]:
    """Name and text of every page, source and recipe, but for tests: they make up places."""
    found = [path for path in ROOT.iterdir() if path.suffix in TEXTS or path.name == "Makefile"]
    for folder in FOLDERS:
        found += [path for path in (ROOT / folder).rglob("*") if path.suffix in TEXTS]
    for path in found:
        name = path.relative_to(ROOT).as_posix()
        of_a_test = name.startswith("tests/") and path.suffix != ".md"
        if not of_a_test and not name.startswith(HISTORY):
            yield name, path.read_text()


@pytest.fixture(scope="module")
def written() -> list[tuple[str, str]]:
    return list(texts())


def test_files_that_are_named_are_there(written: list[tuple[str, str]]) -> None:
    """A file is named by its path from the root, or by the end of it."""
    there = {*docs_site.PAGES.values(), *ELSEWHERE}
    for folder in FOLDERS:
        for path in (ROOT / folder).rglob("*.*"):
            parts = path.relative_to(ROOT).parts
            there |= {"/".join(parts[first:]) for first in range(len(parts))}
    named = [(page, path) for page, text in written for path in FILE.findall(text)]
    assert len(named) > 500
    assert sorted({(page, path) for page, path in named if path not in there}) == []


def test_modules_and_names_that_are_named_are_there(written: list[tuple[str, str]]) -> None:
    named: dict[str, str] = {}
    for page, text in written:
        named |= dict.fromkeys(MODULE.findall(text), page)
    assert len(named) > 200
    unknown = {name: page for name, page in named.items() if name not in LOGGERS | NO_MODULES and not exists(name)}
    assert unknown == {}


def exists(name: str) -> bool:
    """Whether a dotted name leads somewhere; one behind a library that is not installed counts as there."""
    parts = name.split(".")
    for length in range(len(parts), 0, -1):
        module = ".".join(parts[:length])
        try:
            value = importlib.import_module(module)
        except ModuleNotFoundError as error:
            if error.name is None or not module.startswith(error.name):
                return True
            continue
        for part in parts[length:]:
            if not hasattr(value, part):
                return False
            value = getattr(value, part)
        return True
    return False
