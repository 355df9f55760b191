"""The guide, the examples and the hooks: their commands parse, their tables are complete, the hooks run."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner

from kserdes.cli.group import kserdes
from kserdes.cli.schema import group
from kserdes.cli.schema.lint.rules import RULES
from kserdes.cli.shell.settings import Settings, load
from tests.unit.kserdes.cli.schema.helpers import commit, git, record, repository, write

ROOT = Path(__file__).resolve().parents[5]
GUIDE = (ROOT / "docs/guide/schema-ci.md").read_text()
EXAMPLES = sorted((ROOT / "docs/examples").glob("*.y*ml"))
HOOKS = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())
COMMAND = re.compile(r"(?:^|[`$ ])(kserdes (?:schema|dev)\b[^`|\n]*)", re.MULTILINE)


def commands() -> list[str]:
    texts = [GUIDE, *(path.read_text() for path in EXAMPLES)]
    found = {match.strip() for text in texts for match in COMMAND.findall(text)}
    names = [getattr(group.schema.get_command(None, name), "examples", "") for name in group.COMMANDS]  # type: ignore[arg-type]
    found |= {line for text in names for line in text.splitlines() if line.startswith("kserdes")}
    return sorted(found)


@pytest.mark.parametrize("command", commands())
def test_every_command_that_is_written_down_parses(command: str) -> None:
    words = [word for word in shlex.split(re.sub(r"\$\{\{.*?\}\}", "X", command), comments=True) if word != "…"]
    words = words[1 : words.index("--")] if "--" in words else words[1:]
    result = CliRunner().invoke(kserdes, [*words, "--help"])
    assert result.exit_code == 0, result.output


def test_the_guide_lists_every_rule_and_key() -> None:
    for name, rule in RULES.items():
        assert f"| `{name}` | {'yes' if rule.default else ''} | {rule.text} |" in GUIDE
    for key in Settings.__dataclass_fields__:
        assert key == "origin" or f"`{key}`" in GUIDE or f"`[{key}]`" in GUIDE, key


def test_links_of_the_guide_lead_to_files() -> None:
    for target in re.findall(r"\]\((\.\./[^)]+)\)", GUIDE):
        file, _, section = target.partition("#")
        text = (ROOT / "docs/guide" / file).read_text()
        titles = [title.lower().replace(" ", "-") for title in re.findall(r"^#+ (.+)$", text, re.M)]
        assert not section or section in titles, target


def test_the_example_configuration_is_valid() -> None:
    found = load(ROOT / "docs/examples/kserdes.toml")
    assert found.levels == {"orders-*": "FULL_TRANSITIVE"}


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.name)
def test_the_examples_are_yaml(path: Path) -> None:
    assert yaml.safe_load(path.read_text())


def run_hook(hook: dict[str, Any], folder: Path, args: list[str]) -> subprocess.CompletedProcess[str] | None:
    """Runs a hook as pre-commit does: if a staged file fits, from the top, without file names."""
    staged = git(folder, "diff", "--cached", "--name-only").split()
    if not any(re.search(hook["files"], name) for name in staged):
        return None
    assert hook["pass_filenames"] is False
    program, *words = [*shlex.split(hook["entry"]), *args]
    assert program == "kserdes"
    command = [sys.executable, "-m", "kserdes.cli", *words]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


def test_the_hooks_stop_an_incompatible_commit(tmp_path: Path) -> None:
    good = record("Order", "id:long", namespace="shop", doc="d")
    repository(tmp_path, {"schemas/order.avsc": good, "readme.md": ""})
    config = yaml.safe_load((ROOT / "docs/examples/pre-commit-config.yaml").read_text())
    wanted = {hook["id"]: hook.get("args") for hook in config["repos"][0]["hooks"]}
    hooks = {hook["id"]: hook for hook in HOOKS}
    assert set(wanted) == set(hooks)
    write(tmp_path, {"schemas/order.avsc": record("Order", "id:int", namespace="shop", doc="d")})
    git(tmp_path, "add", "-A")
    check = run_hook(hooks["kserdes-schema-check"], tmp_path, wanted["kserdes-schema-check"])
    lint = run_hook(hooks["kserdes-schema-lint"], tmp_path, wanted["kserdes-schema-lint"])
    assert check is not None
    assert (check.returncode, "TYPE_MISMATCH" in check.stdout) == (1, True)
    assert lint is not None
    assert lint.returncode == 0
    assert hooks["kserdes-schema-check"]["args"] == ["--against", "HEAD"]
    commit(tmp_path)
    write(tmp_path, {"readme.md": "more"})
    git(tmp_path, "add", "-A")
    assert run_hook(hooks["kserdes-schema-check"], tmp_path, []) is None
