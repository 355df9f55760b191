from __future__ import annotations

import subprocess
import sys

import click
import pytest
from click.shell_completion import ShellComplete

from kserdes.cli.schema.findings import FileResult, Finding, Report, Severity, Status
from kserdes.cli.schema.group import COMMANDS, schema
from kserdes.cli.shell.commands import ExampleCommand
from kserdes.cli.shell.unusable import Unusable
from tests.unit.kserdes.cli.schema.helpers import run

HEAVY = ("httpx", "rich", "fastavro", "jsonschema", "google.protobuf", "registry.compat", "registry.client.blocking")


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_is_there_with_help_and_examples(name: str) -> None:
    command = schema.get_command(click.Context(schema), name)
    assert isinstance(command, ExampleCommand)
    assert command.name == name
    text = run(name, "--help").stdout
    assert "Examples:" in text
    assert f"kserdes schema {name}" in text
    assert all(option.help for option in command.params if isinstance(option, click.Option))


def test_help_is_fast_because_it_loads_little() -> None:
    code = (
        "import sys; from click.testing import CliRunner; from kserdes.cli.schema.group import schema\n"
        "assert CliRunner().invoke(schema, ['--help']).exit_code == 0\n"
        f"print([name for name in {HEAVY!r} if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_the_list_is_the_help() -> None:
    text = run("--help").stdout
    assert all(name in text and line in text for name, (_, line) in COMMANDS.items())


@pytest.mark.parametrize(
    "words", [["check"], ["check", "--root"], ["lint"], ["register"], ["diff"], ["diff", "a.avsc"]]
)
def test_paths_are_completed(words: list[str]) -> None:
    found = ShellComplete(schema, {}, "schema", "_SCHEMA_COMPLETE").get_completions(words, "sche")
    assert [item.type for item in found] == ["file"]


# ---- findings


ERROR = Finding("KIND", "text")
NOTE = Finding("KIND", "text", severity=Severity.NOTE)


@pytest.mark.parametrize(
    ("results", "code"),
    [
        ([], 0),
        ([FileResult("a", Status.OK), FileResult("b", Status.NEW)], 0),
        ([FileResult("a", Status.DELETED, (NOTE,))], 0),
        ([FileResult("a", Status.DELETED, (ERROR,))], 1),
        ([FileResult("a", Status.OK), FileResult("b", Status.INCOMPATIBLE, (ERROR,))], 1),
        ([FileResult("a", Status.INCOMPATIBLE, (ERROR,)), FileResult("b", Status.UNUSABLE, (ERROR,))], 2),
    ],
)
def test_the_exit_status_is_that_of_the_worst_file(results: list[FileResult], code: int) -> None:
    assert Report("check", results).exit_code == code


def test_an_unusable_file_has_one_finding_at_its_place() -> None:
    result = FileResult.unusable("a.avsc", Unusable("broken", 3, 7, "NOT_JSON"), "orders")
    assert result.status is Status.UNUSABLE
    assert result.subject == "orders"
    assert result.findings == (Finding("NOT_JSON", "broken", line=3, column=7),)


def test_files_are_counted_by_status() -> None:
    report = Report("check", [FileResult("a", Status.OK), FileResult("b", Status.NEW), FileResult("c", Status.OK)])
    assert report.count(Status.OK) == 2
    assert report.count(Status.OK, Status.NEW) == 3
