"""Shared by the generators of documentation pages: writes a page, or checks that the committed one is the same."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def write_or_check(page: Path, text: str, argv: Sequence[str] | None = None) -> int:
    """The command line of a generator; returns the exit code: with `--check` 1 if the page is not that text."""
    name = page.relative_to(ROOT)
    parser = argparse.ArgumentParser(description=f"writes {name}")
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 if the committed page differs")
    if not parser.parse_args(argv).check:
        page.write_text(text)
        return 0
    if page.exists() and page.read_text() == text:
        return 0
    print(f"{name} is not up to date: run `make generate`", file=sys.stderr)
    return 1
