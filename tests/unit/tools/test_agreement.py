from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tools import agreement


def case(new: Any, old: Any, compatible: bool, **more: Any) -> dict[str, Any]:
    texts = {"reader_new": json.dumps(new), "writer_old": json.dumps(old)}
    return {"suite": "s", "name": "n", "type": "AVRO", "level": "BACKWARD", "compatible": compatible, **texts, **more}


def write(folder: Path, *cases: Any) -> Path:
    (folder / "some.jsonl").write_text("\n".join(json.dumps(item) for item in cases) + "\n\n")
    return folder


def test_agreement_of_verdicts_and_kinds(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    good = case("int", "string", compatible=False, confluent_errors=["TYPE_MISMATCH"])
    assert agreement.main([str(write(tmp_path, good, {"kind": "no pair"}, case("long", "int", compatible=True)))]) == 0
    assert "AVRO           2      2 100.00 %               1 of 1" in capsys.readouterr().out


def test_disagreements_are_shown_and_fail(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    bad = case("int", "string", compatible=True)
    kinds = case("int", "string", compatible=False, confluent_errors=["NAME_MISMATCH"])
    broken = case("int", "string", compatible=False) | {"reader_new": "{"}
    folder = str(write(tmp_path, bad, kinds, broken))
    assert agreement.main([folder, "--show", "5", "--kinds", "--type", "AVRO"]) == 1
    out = capsys.readouterr().out
    assert out.count("--- s: n (BACKWARD, STRICT)") == 3
    assert "reference: compatible True, kinds None" in out
    assert "TYPE_MISMATCH /: / of the new schema: int can't read string" in out
    assert "InvalidSchemaError: the new schema: Avro schema is not JSON" in out
    assert "1  33.33 %               0 of 1" in out


def test_references_of_each_side_are_its_own(tmp_path: Path) -> None:
    def uses(kind: str) -> list[dict[str, Any]]:
        text = json.dumps({"type": "record", "name": "B", "fields": [{"name": "x", "type": kind}]})
        return [{"name": "B", "subject": "b", "version": 1, "schema": text}]

    same = case(["B"], ["B"], compatible=False, references_new=uses("int"), references_old=uses("string"))
    assert agreement.judge(same).compatible is False
    assert agreement.judge(same | {"references_old": uses("int")}).compatible is True


def test_transitive_cases_have_all_versions() -> None:
    many = case("int", "int", compatible=False, level="BACKWARD_TRANSITIVE", writer_old_all=['"string"', '"int"'])
    assert agreement.judge(many).compatible is False
    assert agreement.judge(many | {"level": "BACKWARD"}).compatible is True


def test_other_formats_can_be_left_out(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = str(write(tmp_path, case("int", "int", compatible=True)))
    assert agreement.main([folder, "--type", "JSON"]) == 0
    assert "AVRO" not in capsys.readouterr().out


def test_a_folder_that_is_not_there() -> None:
    with pytest.raises(SystemExit):
        agreement.main(["/no/such/folder"])
