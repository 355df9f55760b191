from __future__ import annotations

import json
from pathlib import Path

import pytest

from registry.client.blocking import SchemaRegistryClient
from registry.models import Schema
from tests.unit.kserdes.cli.schema.helpers import record, repository, run, run_json, write

OLD = record("O", "id:int", *[f"f{number}:int" for number in range(9)])
NEW = record("O", "id:long", *[f"f{number}:int" for number in range(9)])


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    repository(tmp_path, {"o.avsc": OLD})
    monkeypatch.chdir(tmp_path)
    return write(tmp_path, {"o.avsc": NEW})


def test_two_schemas_side_by_side_with_the_verdict(folder: Path) -> None:
    result = run("diff", "main:o.avsc", "o.avsc")
    assert result.exit_code == 0
    (changed,) = [line for line in result.stdout.splitlines() if "long" in line and "│" in line]
    assert '-       "type": "int"' in changed
    assert '+       "type": "long"' in changed
    assert "yes  o.avsc reads data of main:o.avsc (BACKWARD)" in result.stdout
    assert "no   main:o.avsc reads data of o.avsc (FORWARD)" in result.stdout
    assert "TYPE_MISMATCH" in result.stdout
    assert "registered schema" not in result.stdout
    assert result.stdout.endswith("the change fits BACKWARD\n")


def test_equal_lines_are_left_out_unless_asked_for(folder: Path) -> None:
    short, long = (
        run("diff", "main:o.avsc", "o.avsc").stdout,
        run("diff", "main:o.avsc", "o.avsc", "--all-lines").stdout,
    )
    assert '"f8"' not in short
    assert "..." in short
    assert '"f8"' in long
    assert "..." not in long


def test_the_same_schema(folder: Path) -> None:
    result = run("diff", "o.avsc", "o.avsc")
    assert "o.avsc and o.avsc say the same" in result.stdout
    assert result.stdout.endswith("the change fits FULL\n")


def test_versions_of_a_subject_as_json(folder: Path) -> None:
    url = "mock://test_command_diff"
    with SchemaRegistryClient({"url": url}) as client:
        for schema in (OLD, NEW):
            client.register_schema("o", Schema(json.dumps(schema)))
    found = run_json("diff", "o:1", "o:latest", "--registry", url)
    assert (found["old"], found["new"], found["level"], found["same"]) == ("o:1", "o:2", "BACKWARD", False)
    assert found["backward"] == {"compatible": True, "differences": []}
    (difference,) = found["forward"]["differences"]
    assert difference["kind"] == "TYPE_MISMATCH"


def test_mistakes_are_status_2(folder: Path) -> None:
    write(folder, {"bad.avsc": {"type": "record"}})
    for arguments in (("o.avsc", "nope.avsc"), ("o.avsc", "bad.avsc"), ("o:1", "o.avsc"), ("o.avsc",)):
        assert run("diff", *arguments).exit_code == 2
