from __future__ import annotations

import sys
from pathlib import Path

import pytest

from kserdes.cli.schema.transfer.command import progress_bar
from registry.client.blocking import SchemaRegistryClient
from registry.models import Schema, ServerConfig
from tests.unit.kserdes.cli.schema.helpers import run, write


def urls(name: str) -> tuple[str, str]:
    return f"mock://transfer-{name}-from", f"mock://transfer-{name}-to"


def test_there_and_back(tmp_path: Path) -> None:
    source, target = urls("round")
    with SchemaRegistryClient({"url": source}) as client:
        client.register_schema("o", Schema('"int"'))
    done = run("export", tmp_path / "e", "--registry", source)
    assert (done.exit_code, done.stdout) == (0, f"{tmp_path / 'e'}: 1 subjects with 1 versions, 1 of them new\n")
    before = run("import", tmp_path / "e", "--registry", target, "--verify-only")
    assert before.exit_code == 1
    assert "o version 1 is missing\n" in before.stderr
    done = run("import", tmp_path / "e", "--registry", target)
    assert (done.exit_code, done.stdout) == (0, "1 subjects with 1 versions are as saved: 1 sent, 0 were there\n")
    after = run("import", tmp_path / "e", "--registry", target, "--verify-only")
    assert (after.exit_code, after.stdout) == (0, "1 subjects with 1 versions are as saved\n")


def test_an_alias_is_told(tmp_path: Path) -> None:
    source, _ = urls("alias")
    with SchemaRegistryClient({"url": source}) as client:
        client.register_schema("o", Schema('"int"'))
        client.set_config("o", ServerConfig(alias="p"))
    result = run("export", tmp_path, "--registry", source)
    assert (result.exit_code, "its alias hides" in result.stderr) == (1, True)


def test_deleted_versions_are_kept_and_named_until_pruned(tmp_path: Path) -> None:
    source, _ = urls("prune")
    with SchemaRegistryClient({"url": source}) as client:
        client.register_schema("o", Schema('"int"'))
        client.register_schema("p", Schema('"int"'))
        run("export", tmp_path, "--registry", source)
        client.delete_subject("p")
        client.delete_subject("p", permanent=True)
    done = run("export", tmp_path, "--registry", source)
    kept = "kept p: version 1, not in the registry any more (--prune removes)"
    assert (done.exit_code, done.stdout.splitlines()[1:]) == (0, [kept])
    done = run("export", tmp_path, "--registry", source, "--prune")
    assert (done.exit_code, done.stdout.splitlines()[1:]) == (0, ["removed p: version 1"])
    assert len(run("export", tmp_path, "--registry", source).stdout.splitlines()) == 1


def test_a_folder_that_is_no_export_is_status_2(tmp_path: Path) -> None:
    _, target = urls("bad")
    assert run("import", tmp_path, "--registry", target).exit_code == 2
    assert run("import", tmp_path / "nope", "--registry", target).exit_code == 2
    write(tmp_path, {"registry.json": "{"})
    result = run("import", tmp_path, "--registry", target)
    assert (result.exit_code, "is damaged" in result.stderr) == (2, True)
    assert run("export", tmp_path, "--registry", target).exit_code == 2


def test_progress_is_drawn_on_terminals_only(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with progress_bar("moving") as progress:
        progress(1, 2)
    assert capsys.readouterr().err == ""
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    with progress_bar("moving") as progress:
        progress(1, 2)
    assert "moving" in capsys.readouterr().err
