from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import tomllib
from importlib.metadata import EntryPoint, version
from pathlib import Path

import pytest
from click.shell_completion import BashComplete, ShellComplete
from click.testing import CliRunner

from kafka_core import kernels as client_kernels
from kserdes import cli
from kserdes.cli.group import COMMANDS, kserdes
from serdes import kernels as serdes_kernels
from tests.patience import PROCESS_S

WITHOUT = """
import sys
for name in sys.argv.pop(1).split(","):
    sys.modules[name] = None
from kserdes.cli import main
main()
"""


def run(*arguments: str, without: str = "no_such_module") -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", WITHOUT, without, *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)


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
    assert done.stderr == f"{cli.MISSING}\n"
    assert done.stderr.endswith("needs click and rich: pip install click rich (the extra 'cli' of kserdes)\n")
    assert done.stdout == ""


def test_a_missing_rich_is_said_too_where_it_is_needed(tmp_path: object) -> None:
    done = run("schema", "check", str(tmp_path), "--against-folder", str(tmp_path), without="rich")
    assert (done.returncode, "Traceback" in done.stderr) == (2, False)


@pytest.mark.parametrize("command", ["check", "list", "export"])
def test_ctrl_c_is_status_130_even_if_the_registry_never_answers(tmp_path: Path, command: str) -> None:
    (tmp_path / "a.avsc").write_text('"int"')
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"http://127.0.0.1:{silent.getsockname()[1]}"
        arguments = [command, *([] if command == "list" else [str(tmp_path)]), "--registry", url]
        process = subprocess.Popen(
            [sys.executable, "-c", WITHOUT, "no_such_module", "schema", *arguments],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        connection, _ = silent.accept()
        with connection, process:
            process.send_signal(signal.SIGINT)
            out, err = process.communicate(timeout=PROCESS_S)
    assert (process.returncode, out, err.strip()) == (130, "", "interrupted")


def test_a_question_that_is_not_answered_is_no_interrupt() -> None:
    done = run("schema", "delete", "a", "--registry", "mock://unanswered")
    assert (done.returncode, done.stderr.endswith("Aborted!\n")) == (1, True)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
def test_output_that_can_not_be_written_is_a_sentence() -> None:
    with Path("/dev/full").open("w") as full:
        command = [sys.executable, "-c", WITHOUT, "no_such_module", "schema", "lint", "--list-rules"]
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert (done.returncode, done.stderr) == (2, "kserdes: the output can't be written: No space left on device\n")


def test_names_that_the_encoding_lacks_are_written_out(tmp_path: Path) -> None:
    (tmp_path / "ünï.avsc").write_text('"int"')
    command = [sys.executable, "-m", "kserdes.cli", "schema", "lint", str(tmp_path), "-v"]
    environment = {**os.environ, "PYTHONIOENCODING": "ascii"}
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    assert "\\xfcn\\xef.avsc" in done.stdout
    assert done.stderr == ""


def test_other_missing_modules_are_our_mistakes() -> None:
    done = run("--help", without="kserdes.cli.shell.commands")
    assert "Traceback" in done.stderr


# ---- group


HEAVY = ("httpx", "rich", "fastavro", "kafka_core", "asyncio", "google.protobuf", "registry.compat")


def test_the_version_is_the_distributions_and_names_the_kernels() -> None:
    shown = CliRunner().invoke(kserdes, ["--version"]).stdout.splitlines()
    assert shown == [
        f"kserdes {version('kserdes')}",
        f"kernels: client {client_kernels.IMPL}, serializers {serdes_kernels.IMPL}",
    ]


def test_help_lists_the_commands_and_loads_little() -> None:
    code = (
        "import sys, kserdes.cli\n"
        "sys.argv = ['kserdes', '-h']\n"
        "try: kserdes.cli.main()\n"
        "except SystemExit as end: assert not end.code, end.code\n"
        f"print([name for name in {HEAVY!r} if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert all(name in done.stdout for name in COMMANDS)
    assert done.stdout.endswith("\n[]\n")


def test_shells_get_completion() -> None:
    completion = ShellComplete(kserdes, {}, "kserdes", "_KSERDES_COMPLETE")
    assert [item.value for item in completion.get_completions([], "")] == ["schema", "registry", "migrate", "dev"]
    assert [item.value for item in completion.get_completions(["schema"], "ex")] == ["export"]
    assert "--against" in [item.value for item in completion.get_completions(["schema", "check"], "--ag")]
    levels = completion.get_completions(["schema", "check", "--level"], "FULL")
    assert [item.value for item in levels] == ["FULL", "FULL_TRANSITIVE"]
    assert "_KSERDES_COMPLETE=bash_complete" in BashComplete(kserdes, {}, "kserdes", "_KSERDES_COMPLETE").source()
