"""Writes docs/file-map.md: every module with the first sentence of its docstring, so that the map can't be wrong."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

from tools.pages import ROOT, write_or_check

PAGE = ROOT / "docs" / "file-map.md"
PACKAGES = ("kafka_core", "registry", "serdes", "pipeline", "pyspark_kserdes", "tools", "benchmarks")
GENERATED = "kafka_core/protocol/messages"


def first_line(path: Path) -> str:
    """The first line of a module's docstring; of a Cython module, read as text."""
    if path.suffix == ".pyx":
        return path.read_text().split('"""')[1].splitlines()[0]
    return (ast.get_docstring(ast.parse(path.read_text())) or "").split("\n")[0]


def modules(package: str) -> Iterator[Path]:
    """Python and Cython sources of a package, by path; the generated messages are one line of their own."""
    for path in sorted((ROOT / package).rglob("*.py*")):
        relative = path.relative_to(ROOT).as_posix()
        if path.suffix in (".py", ".pyx") and not relative.startswith(GENERATED):
            yield path


def page() -> str:
    """The whole page."""
    lines = ["<!-- Written by tools/generate_file_map.py; do not edit. -->", "# File map", ""]
    for package in PACKAGES:
        lines += [f"## {package}", "", "| module | what it is |", "|---|---|"]
        for path in modules(package):
            text = first_line(path)
            if text:
                name = path.relative_to(ROOT / package).as_posix()
                lines.append(f"| `{name}` | {text.replace('|', chr(92) + '|')} |")
        lines.append("")
    lines.append(f"`{GENERATED}/`: one generated module per API, written by `tools/generate_messages.py`.")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    sys.exit(write_or_check(PAGE, page()))
