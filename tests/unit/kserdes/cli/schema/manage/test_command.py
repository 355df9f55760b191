from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from registry.client.blocking import SchemaRegistryClient
from registry.models import Schema, SchemaReference
from tests.unit.kserdes.cli.schema.helpers import record, run, run_json, write

BRACKETS = str.maketrans("[]", "--")


@pytest.fixture
def client(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[SchemaRegistryClient]:
    url = f"mock://command-registry-{request.node.name.translate(BRACKETS)}"
    monkeypatch.setenv("SCHEMA_REGISTRY_URL", url)
    with SchemaRegistryClient({"url": url}) as made:
        made.set_compatibility(level="NONE")
        yield made


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return write(tmp_path, {"s/order.avsc": record("Order", "m:Money"), "s/money.avsc": record("Money", "x:long")})


def test_register_takes_references_along(client: SchemaRegistryClient, folder: Path) -> None:
    result = run("register", "s/order.avsc")
    assert result.stdout.splitlines() == ["s/money.avsc: money version 1, id 1", "s/order.avsc: order version 1, id 2"]
    assert client.get_version("order", 1).schema.references == (SchemaReference("Money", "money", 1),)
    assert run("register", "s").exit_code == 0
    assert client.get_versions("order") == [1]


def test_register_names_subjects(client: SchemaRegistryClient, folder: Path) -> None:
    write(folder, {"kserdes.toml": '[subjects]\n"money.avsc" = "from-table"'})
    assert [item["subject"] for item in run_json("register", "s", "--subject", "{name}-value")] == [
        "from-table",
        "Order-value",
    ]
    run("register", "s/money.avsc", "--subject", "exactly")
    assert client.get_subjects() == ["Order-value", "exactly", "from-table"]


def test_a_dry_run_only_tells(client: SchemaRegistryClient, folder: Path) -> None:
    assert run_json("register", "s", "--dry-run") == [
        {"path": "s/money.avsc", "subject": "money"},
        {"path": "s/order.avsc", "subject": "order"},
    ]
    assert "not registered: dry run" in run("register", "s", "--dry-run").stdout
    assert client.get_subjects() == []


def test_a_refused_schema_is_status_1_with_the_reasons(client: SchemaRegistryClient, folder: Path) -> None:
    run("register", "s/money.avsc")
    client.set_compatibility(level="FULL")
    write(folder, {"s/money.avsc": record("Money", "x:string")})
    result = run("register", "s/money.avsc")
    assert result.exit_code == 1
    assert "incompatible" in result.stderr
    assert run("register", "nope").exit_code == 2
    (folder / "empty").mkdir()
    assert run("register", "empty").exit_code == 2


def test_get_prints_the_schema_or_all_that_is_known(client: SchemaRegistryClient, folder: Path) -> None:
    client.register_schema("o", Schema('{"type":"array","items":"int"}'))
    client.register_schema("o", Schema('"int"'))
    assert run("get", "o").stdout == '"int"\n'
    assert json.loads(run("get", "o", "1").stdout) == {"type": "array", "items": "int"}
    found = run_json("get", "o")
    assert (found["subject"], found["version"], found["id"], found["schema"]) == ("o", 2, 2, '"int"')
    assert json.loads(run("get", "--id", "1").stdout) == {"type": "array", "items": "int"}
    guid = client.get_version("o", 2).guid
    assert run("get", "--guid", guid).stdout == '"int"\n'
    assert run("get", "o", "--output", "out.avsc").stdout == ""
    assert (folder / "out.avsc").read_text() == '"int"\n'
    client.delete_version("o", 1)
    assert run("get", "o", "1").exit_code == 2
    assert run("get", "o", "1", "--deleted").exit_code == 0


@pytest.mark.parametrize("arguments", [[], ["o", "--id", "1"], ["o", "first"], ["nope"], ["--id", "99"]])
def test_get_of_nothing_is_status_2(client: SchemaRegistryClient, arguments: list[str]) -> None:
    assert run("get", *arguments).exit_code == 2


def test_list_shows_subjects_and_versions(client: SchemaRegistryClient) -> None:
    for subject, kind in (("b", "int"), ("b", "long"), ("a", "int"), ("c", "int")):
        client.register_schema(subject, Schema(f'"{kind}"'))
    client.delete_version("b", 1)
    client.delete_subject("c")
    assert run("list").stdout == "a\nb\n"
    assert run("list", "--prefix", "b").stdout == "b\n"
    assert run("list", "--prefix", "zzz").stdout == ""
    assert run_json("list", "--deleted") == ["a", "b", "c"]
    assert [(row["subject"], row["version"], row["deleted"]) for row in run_json("list", "--versions")] == [
        ("a", 1, False),
        ("b", 2, False),
    ]
    table = run("list", "--versions", "--deleted").stdout.splitlines()
    assert [line.split() for line in table] == [
        ["subject", "version", "id", "type"],
        ["a", "1", "1", "AVRO"],
        ["b", "1", "1", "AVRO", "(deleted)"],
        ["b", "2", "2", "AVRO"],
        ["c", "1", "1", "AVRO", "(deleted)"],
    ]


def test_delete_asks_first(client: SchemaRegistryClient) -> None:
    client.register_schema("o", Schema('"int"'))
    client.register_schema("o", Schema('"long"'))
    refused = run("delete", "o", given="n\n")
    assert refused.exit_code == 1
    assert "Delete all versions of o?" in refused.stderr
    assert client.get_versions("o") == [1, 2]
    assert run("delete", "o", "1", given="y\n").stdout == "deleted o: version 1\n"
    assert client.get_versions("o") == [2]
    assert run("delete", "o", "2", "--yes", "--permanent").stdout == "deleted o: version 2\n"
    assert client.get_versions("o", deleted=True) == [1]


def test_a_subject_is_deleted_for_good_in_one_go(client: SchemaRegistryClient) -> None:
    client.register_schema("o", Schema('"int"'))
    client.register_schema("o", Schema('"long"'))
    assert run("delete", "o", "--yes", "--permanent").stdout == "deleted o: versions 1, 2\n"
    assert client.get_subjects(deleted=True) == []
    assert run("delete", "o", "--yes").exit_code == 2
    assert run("delete", "o", "one", "--yes").exit_code == 2
