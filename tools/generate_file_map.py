"""Writes docs/file-map.md: every module with the first sentence of its docstring, so that the map can't be wrong."""

from __future__ import annotations

import argparse
import ast
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
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


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="writes docs/file-map.md")
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 if the committed page differs")
    args = parser.parse_args(argv)
    text = page()
    if args.check:
        if not PAGE.exists() or PAGE.read_text() != text:
            print("docs/file-map.md is not up to date: run `make generate`", file=sys.stderr)
            return 1
        return 0
    PAGE.write_text(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
