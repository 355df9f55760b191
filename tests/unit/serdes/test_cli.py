from __future__ import annotations

import subprocess
import sys
import tomllib
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

from serdes import cli

WITHOUT = """
import sys
for name in sys.argv.pop(1).split(","):
    sys.modules[name] = None
from serdes.cli import main
main()
"""


def run(*arguments: str, without: str = "no_such_module") -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", WITHOUT, without, *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_the_entry_point_of_the_distribution_is_here(project_root: Path) -> None:
    scripts = tomllib.loads((project_root / "pyproject.toml").read_text())["project"]["scripts"]
    assert EntryPoint("kserdes", scripts["kserdes"], "console_scripts").load() is cli.main


def test_it_runs() -> None:
    done = run("--help")
    assert done.returncode == 0
    assert "Usage: kserdes" in done.stdout
    assert run("nope").returncode == 2


@pytest.mark.parametrize("missing", ["click", "rich,click"])
def test_without_the_extra_it_says_what_to_install(missing: str) -> None:
    done = run("--help", without=missing)
    assert done.returncode == 2
    assert done.stderr == "kserdes: the command line needs click and rich: pip install 'kserdes[cli]'\n"
    assert done.stdout == ""


def test_a_missing_rich_is_said_too_where_it_is_needed(tmp_path: object) -> None:
    done = run("schema", "check", str(tmp_path), "--against-folder", str(tmp_path), without="rich")
    assert (done.returncode, "Traceback" in done.stderr) == (2, False)


def test_other_missing_modules_are_our_mistakes() -> None:
    done = run("--help", without="registry.cli.shell")
    assert "Traceback" in done.stderr
