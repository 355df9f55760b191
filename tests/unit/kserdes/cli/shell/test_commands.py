from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from click.shell_completion import ShellComplete
from click.testing import CliRunner

from kserdes.cli.shell.commands import LOGIN, ExampleCommand, LazyGroup, console, settings_of, tracked
from kserdes.cli.shell.unusable import Unusable
from registry.errors import IncompatibleSchemaError, ResponseError, TransportError
from tests.unit.kserdes.cli.schema.helpers import write

ERRORS: dict[str, BaseException] = {
    "unusable": Unusable("no good"),
    "response": ResponseError(404, 40401, "Subject not found."),
    "login": ResponseError(401, 401, "Unauthorized"),
    "transport": TransportError(-1, -1, "connection refused"),
    "incompatible": IncompatibleSchemaError(409, 409, "no, details: [field a, field b]", ["field a", "field b"]),
    "unexplained": IncompatibleSchemaError(409, 409, "incompatible"),
    "bug": ZeroDivisionError("ours"),
}


@click.command(cls=ExampleCommand, examples="\nkserdes x  --y\n# why\n")
@click.argument("kind")
def fail(kind: str) -> None:
    """Fails."""
    raise ERRORS[kind]


@pytest.mark.parametrize(
    ("kind", "code", "text"),
    [
        ("unusable", 2, "Error: no good\n"),
        ("response", 2, "Error: Subject not found. (HTTP status code 404, SR code 40401)\n"),
        ("login", 2, f"Error: Unauthorized (HTTP status code 401, SR code 401){LOGIN}\n"),
        ("transport", 2, "Error: connection refused\n"),
        ("incompatible", 1, "Error: no\n  field a\n  field b\n"),
        ("unexplained", 1, "Error: incompatible (HTTP status code 409, SR code 409)\n"),
    ],
)
def test_foreseen_errors_are_sentences(kind: str, code: int, text: str) -> None:
    result = CliRunner().invoke(fail, [kind])
    assert (result.exit_code, result.stderr, result.stdout) == (code, text, "")


def test_bugs_are_not_hidden() -> None:
    assert isinstance(CliRunner().invoke(fail, ["bug"]).exception, ZeroDivisionError)


def test_examples_are_shown_as_they_are() -> None:
    assert CliRunner().invoke(fail, ["--help"]).stdout.endswith("Examples:\n  kserdes x  --y\n  # why\n")


@pytest.fixture
def group() -> Iterator[LazyGroup]:
    table = {"one": (f"{__name__}:fail", "The first."), "two": ("no.such.module:two", "The second.")}
    yield LazyGroup("group", table=table)
    sys.modules.pop("no.such.module", None)


def test_commands_are_listed_and_completed_without_being_loaded(group: LazyGroup) -> None:
    text = CliRunner().invoke(group, ["--help"]).stdout
    assert "one  The first." in text
    assert "two  The second." in text
    completion = ShellComplete(group, {}, "group", "_GROUP_COMPLETE")
    assert [item.value for item in completion.get_completions([], "t")] == ["two"]
    assert [item.help for item in completion.get_completions([], "")][:2] == ["The first.", "The second."]
    assert [item.value for item in completion.get_completions([], "--he")] == ["--help"]


def test_a_command_is_loaded_when_it_is_called(group: LazyGroup) -> None:
    assert CliRunner().invoke(group, ["one", "unusable"]).exit_code == 2
    assert CliRunner().invoke(group, ["three"]).exit_code == 2
    with pytest.raises(ModuleNotFoundError):
        CliRunner().invoke(group, ["two"], catch_exceptions=False)


def test_without_a_terminal_nothing_is_drawn(capsys: pytest.CaptureFixture[str]) -> None:
    assert list(tracked(range(100), 100, "counting")) == list(range(100))
    console().print("[bold]plain[/bold] :smile:")
    console(stderr=True).print("aside")
    captured = capsys.readouterr()
    assert (captured.out, captured.err) == ("[bold]plain[/bold] :smile:\n", "aside\n")


def test_a_terminal_sees_progress(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    assert list(tracked(iter(range(50)), 50, "counting")) == list(range(50))
    assert "counting" in capsys.readouterr().err


def test_the_configuration_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(write(tmp_path, {"kserdes.toml": 'level = "FULL"', "other.toml": 'level = "NONE"'}))
    assert settings_of(None).level == "FULL"
    assert settings_of(Path("other.toml")).level == "NONE"
