"""docs/examples-of-the-peers.md names tests that exist, or says why there is none."""

from __future__ import annotations

import ast
import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "examples-of-the-peers.md"
TEST = re.compile(r"`([\w/]+\.py)::(\w+)`")


def rows() -> list[tuple[str, str]]:
    lines = (line.strip("|").split("|") for line in PAGE.read_text().splitlines() if line.startswith("| "))
    return [(first.strip(), last.strip()) for first, last in lines if last.strip() != "test"]


def functions(path: Path) -> set[str]:
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef)
    return {node.name for node in ast.parse(path.read_text()).body if isinstance(node, kinds)}


def test_every_example_has_a_test_or_a_reason() -> None:
    found = rows()
    assert len(found) > 60
    assert [what for what, where in found if not TEST.match(where) and not where.startswith("not run: ")] == []


def test_every_test_is_there() -> None:
    named = TEST.findall(PAGE.read_text())
    places = {file: ROOT / file if "/" in file else ROOT / "tests" / "contract" / file for file, _ in named}
    there = {file: functions(path) for file, path in places.items()}
    assert [(file, name) for file, name in named if name not in there[file]] == []
