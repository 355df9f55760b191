from __future__ import annotations

import json
from pathlib import Path

from click.testing import CliRunner, Result

from kserdes.cli.schema.group import COMMANDS, schema
from kserdes.cli.schema.group import COMMANDS as OF_REGISTRY

V1 = {"type": "record", "name": "R", "fields": [{"name": "a", "type": "int"}, {"name": "b", "type": "string"}]}
V2 = {
    "type": "record",
    "name": "R",
    "fields": [{"name": "a", "type": "long"}, {"name": "c", "type": "string", "default": "x"}],
}


def run(tmp_path: Path, *arguments: str) -> Result:
    for name, text in {"v1.avsc": json.dumps(V1), "v2.avsc": json.dumps(V2), "bad.avsc": "{}"}.items():
        (tmp_path / name).write_text(text)
    return CliRunner().invoke(schema, ["plan", *(str(tmp_path / a) if a.endswith(".avsc") else a for a in arguments)])


def steps(result: Result) -> list[list[str]]:
    assert result.exit_code == 0, result.output
    return [line.split()[1:] for line in result.output.splitlines()]


def test_the_program_is_shown(tmp_path: Path) -> None:
    assert steps(run(tmp_path, "v1.avsc", "v2.avsc")) == [
        ["INT_LONG", "a"],
        ["SKIP_TEXT"],
        ["INPUT", "default", "0278"],
        ["STRING", "c"],
        ["OUTPUT"],
        ["STRUCT", "row"],
        ["END"],
    ]


def test_columns_are_chosen_and_one_schema_is_enough(tmp_path: Path) -> None:
    assert steps(run(tmp_path, "v1.avsc", "--columns", "b")) == [
        ["SKIP_INT"],
        ["STRING", "b"],
        ["STRUCT", "row"],
        ["END"],
    ]


def test_plans_of_protobuf_and_json_are_shown(tmp_path: Path) -> None:
    old, new = tmp_path / "v1.proto", tmp_path / "v2.proto"
    old.write_text('syntax = "proto3"; message M { int32 a = 1; string b = 2; }')
    new.write_text('syntax = "proto3"; message M { int64 a = 1; }')
    shown = CliRunner().invoke(schema, ["plan", str(old), str(new)])
    assert [line.split()[:3] for line in shown.output.splitlines()[1:]] == [["1", "a", "int64"]]
    document = tmp_path / "r.json"
    document.write_text('{"type": "object", "properties": {"a": {"type": "integer"}, "b": {"type": "string"}}}')
    shown = CliRunner().invoke(schema, ["plan", str(document), "--columns", "b"])
    assert [line.split()[0] for line in shown.output.splitlines()] == ["·:", "b:"]


def test_the_type_may_be_said(tmp_path: Path) -> None:
    document = tmp_path / "r.json"
    document.write_text(json.dumps(V1))
    assert CliRunner().invoke(schema, ["plan", str(document)]).exit_code == 2
    said = CliRunner().invoke(schema, ["plan", str(document), "--type", "Avro"])
    assert steps(said)[0] == ["INT", "a"]


def test_schemas_without_a_plan_are_refused_with_a_reason(tmp_path: Path) -> None:
    for arguments, text in (
        (("bad.avsc",), "Avro schema is not valid"),
        (("v1.avsc", "--columns", "z"), "R has no field 'z'"),
    ):
        result = run(tmp_path, *arguments)
        assert result.exit_code == 2
        assert text in result.output


def test_the_registry_s_commands_are_here_too() -> None:
    assert COMMANDS.keys() == OF_REGISTRY.keys() | {"plan"}
