"""Revealed types: the files beside this one are checked strictly, and an error they ignore must be there."""

from __future__ import annotations

from pathlib import Path

import pytest

EXAMPLES = sorted(path for path in Path(__file__).parent.glob("*.py") if not path.name.startswith(("test_", "__")))


@pytest.mark.slow
@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.name)
def test_types_are_as_expected(path: Path, project_root: Path, tmp_path: Path) -> None:
    from mypy import api

    config = f"--config-file={project_root / 'pyproject.toml'}"
    report, stderr, _ = api.run(["--strict", f"--cache-dir={tmp_path}", config, str(path)])
    assert stderr == ""
    assert [line for line in report.splitlines() if path.name in line] == []


@pytest.mark.slow
def test_pyright_agrees(project_root: Path) -> None:
    import subprocess
    import sys

    command = [str(Path(sys.executable).with_name("pyright")), "--pythonpath", sys.executable]
    found = subprocess.run(
        [*command, *map(str, EXAMPLES)], cwd=project_root, capture_output=True, text=True, timeout=300, check=False
    )
    assert [line for line in found.stdout.splitlines() if "error:" in line] == [], found.stdout
    assert found.returncode == 0, found.stdout + found.stderr
