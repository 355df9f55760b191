from __future__ import annotations

import subprocess
import sys
from importlib.metadata import version

from click.shell_completion import BashComplete, ShellComplete
from click.testing import CliRunner

from kafka_core import kernels as client_kernels
from serdes import kernels as serdes_kernels
from serdes.cli.group import COMMANDS, kserdes

HEAVY = ("httpx", "rich", "fastavro", "kafka_core", "asyncio", "google.protobuf", "registry.compat")


def test_the_version_is_the_distributions_and_names_the_kernels() -> None:
    shown = CliRunner().invoke(kserdes, ["--version"]).stdout.splitlines()
    assert shown == [
        f"kserdes {version('kserdes')}",
        f"kernels: client {client_kernels.IMPL}, serializers {serdes_kernels.IMPL}",
    ]


def test_help_lists_the_commands_and_loads_little() -> None:
    code = (
        "import sys, serdes.cli\n"
        "sys.argv = ['kserdes', '-h']\n"
        "try: serdes.cli.main()\n"
        "except SystemExit as end: assert not end.code, end.code\n"
        f"print([name for name in {HEAVY!r} if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert all(name in done.stdout for name in COMMANDS)
    assert done.stdout.endswith("\n[]\n")


def test_shells_get_completion() -> None:
    completion = ShellComplete(kserdes, {}, "kserdes", "_KSERDES_COMPLETE")
    assert [item.value for item in completion.get_completions([], "")] == ["schema", "registry", "dev"]
    assert [item.value for item in completion.get_completions(["schema"], "ex")] == ["export"]
    assert "--against" in [item.value for item in completion.get_completions(["schema", "check"], "--ag")]
    levels = completion.get_completions(["schema", "check", "--level"], "FULL")
    assert [item.value for item in levels] == ["FULL", "FULL_TRANSITIVE"]
    assert "_KSERDES_COMPLETE=bash_complete" in BashComplete(kserdes, {}, "kserdes", "_KSERDES_COMPLETE").source()
