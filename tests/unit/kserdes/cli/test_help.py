"""`--help` of every group and every command: it shows what it should, and loads no more than that."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator

import click
import pytest

from kserdes.cli.group import kserdes
from kserdes.cli.shell.commands import LazyGroup
from tests.patience import PROCESS_S

RUN = """
import sys
from kserdes.cli import main
sys.argv[0] = "kserdes"
try:
    main()
except SystemExit as end:
    assert not end.code, end.code
print("LOADED", *sys.modules)
"""
HEAVY = (
    *("httpx", "asyncio", "rich", "multiprocessing", "pyarrow", "fastavro", "jsonschema", "google.protobuf"),
    *("kafka_core.broker", "kafka_core.sync", "kafka_core.aio", "kafka_core.admin", "kafka_core.kernels"),
    *("registry.client", "registry.dev", "registry.compat", "registry.schemas", "serdes.formats", "serdes.clients"),
)


def walk(command: click.Command, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], click.Command]]:
    """A command and all below it, with the words that call each."""
    yield path, command
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in command.list_commands(context):
            found = command.get_command(context, name)
            assert found is not None, name
            yield from walk(found, (*path, name))


EVERY = dict(walk(kserdes))


def helped(path: tuple[str, ...]) -> tuple[str, list[str]]:
    """The help of a group or a command in a new process, and the modules that were loaded for it."""
    done = subprocess.run(
        [sys.executable, "-c", RUN, *path, "--help"], capture_output=True, text=True, timeout=PROCESS_S, check=True
    )
    text, _, loaded = done.stdout.rpartition("LOADED ")
    return text, loaded.split()


@pytest.mark.parametrize("path", [pytest.param(path, id=" ".join(("kserdes", *path))) for path in EVERY])
def test_help_loads_what_it_shows(path: tuple[str, ...]) -> None:
    text, loaded = helped(path)
    assert text.startswith(f"Usage: {' '.join(('kserdes', *path))} ")
    assert [name for name in loaded for part in HEAVY if name == part or name.startswith(f"{part}.")] == []
    command = EVERY[path]
    if isinstance(command, click.Group):
        assert isinstance(command, LazyGroup), "a group that holds its commands loads them all for its help"
        assert all(f"  {name} " in text for name in command.table)
        modules = {where.partition(":")[0] for where, _ in command.table.values()}
        assert modules & set(loaded) == set()
