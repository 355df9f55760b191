from __future__ import annotations

import json
from pathlib import Path

import fastavro
import pytest
from click.testing import CliRunner

from registry.cli.findings import Unusable
from registry.cli.group import schema as command
from registry.cli.source.data_file import written_schema
from tests.unit.registry.cli.helpers import record, write


def data_file(folder: Path, schema: dict[str, object], *values: object, codec: str = "null") -> Path:
    path = folder / "old.avro"
    with path.open("wb") as file:
        fastavro.writer(file, schema, values, codec=codec)
    return path


@pytest.mark.parametrize("codec", ["null", "deflate"])
def test_the_writers_schema_is_read(tmp_path: Path, codec: str) -> None:
    path = data_file(tmp_path, record("Order", "id:long"), {"id": 1}, codec=codec)
    found = written_schema(path)
    assert found.schema_type == "AVRO"
    assert json.loads(str(found.schema_str))["fields"][0]["name"] == "id"


def test_damage_is_named(tmp_path: Path) -> None:
    whole = data_file(tmp_path, record("Order", "id:long"), {"id": 1}).read_bytes()
    path = tmp_path / "damaged.avro"
    for data in (b"", b"Obj\x01", b"no data file", whole[:40], whole.replace(b'"record"', b'"rekord"')):
        path.write_bytes(data)
        with pytest.raises(Unusable, match="not an Avro data file, or its header is damaged"):
            written_schema(path)
    with pytest.raises(Unusable, match="No such file"):
        written_schema(tmp_path / "none.avro")


def test_diff_says_whether_a_schema_reads_old_data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data_file(tmp_path, record("Order", "id:long"), {"id": 1})
    write(tmp_path, {"wider.avsc": record("Order", "id:double"), "other.avsc": record("Order", "id:string")})
    monkeypatch.chdir(tmp_path)
    for schema, readable in (("wider.avsc", True), ("other.avsc", False)):
        result = CliRunner().invoke(command, ["diff", "old.avro", schema, "--format", "json"])
        assert result.exit_code == 0, result.output
        assert json.loads(result.output)["backward"]["compatible"] is readable
