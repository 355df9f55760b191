from __future__ import annotations

import json
from pathlib import Path

import pytest

from kserdes.cli.schema.lint.rules import RULES
from tests.unit.kserdes.cli.schema.helpers import record, run, run_json, write


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return write(tmp_path, {"s/a.avsc": record("Order", "badName:int", namespace="x", doc="d"), "s/b.avsc": '"int"'})


def test_complaints_are_status_1_and_silence_is_0(folder: Path) -> None:
    result = run("lint", "s")
    assert result.exit_code == 1
    assert "s/a.avsc:6:7 avro-field-name" in result.stdout
    assert result.stdout.endswith("2 schema files: 1 with complaints, 1 ok\n")
    assert run("lint", "s", "--disable", "avro-field-name").exit_code == 0
    assert run("lint", "s", "--disable", "all").exit_code == 0


def test_an_unparseable_file_is_status_2(folder: Path) -> None:
    write(folder, {"s/c.avsc": "{"})
    assert run("lint", "s", "--disable", "all").exit_code == 2
    assert run("lint", "nope").exit_code == 2
    assert run("lint", "s", "--disable", "nope").exit_code == 2
    (folder / "empty").mkdir()
    result = run("lint", "empty")
    assert (result.exit_code, "no schema files" in result.stdout) == (2, True)


def test_the_configuration_switches_rules(folder: Path) -> None:
    write(folder, {"kserdes.toml": 'paths = ["s"]\n[lint]\nfield_case = "camel"\nenable = ["avro-field-doc"]'})
    (finding,) = run_json("lint")["files"][0]["findings"]
    assert finding["kind"] == "avro-field-doc"


def test_rules_are_listed(folder: Path) -> None:
    lines = run("lint", "--list-rules", "--disable", "avro-doc").stdout.splitlines()
    assert len(lines) == len(RULES)
    states = {line.split()[1]: line.split()[0] for line in lines}
    assert (states["avro-doc"], states["avro-namespace"], states["json-id"]) == ("off", "on", "off")


def test_sarif_describes_the_rules(folder: Path) -> None:
    (run_,) = json.loads(run("lint", "s", "--format", "sarif").stdout)["runs"]
    (rule,) = run_["tool"]["driver"]["rules"]
    assert rule["shortDescription"]["text"] == RULES["avro-field-name"].text
