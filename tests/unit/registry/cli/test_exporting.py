from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from registry.cli.archive import Archive
from registry.cli.exporting import Exported, save
from registry.cli.rest import Rest
from registry.client import SchemaRegistryClient
from registry.errors import TransportError
from registry.models import Schema, ServerConfig


@pytest.fixture
def client(request: pytest.FixtureRequest) -> SchemaRegistryClient:
    made = SchemaRegistryClient({"url": f"mock://export-{request.node.name}"})
    made.set_compatibility(level="NONE")
    for subject, kind in (("orders", "int"), ("orders", "long"), ("clicks", "int"), (":.ctx:orders", "bytes")):
        made.register_schema(subject, Schema(f'"{kind}"'))
    made.delete_version("orders", 1)
    made.set_compatibility("clicks", "FULL")
    return made


def test_everything_is_saved(client: SchemaRegistryClient, tmp_path: Path) -> None:
    archive = Archive(tmp_path)
    ticks: list[tuple[int, int]] = []
    assert save(Rest(client), archive, progress=lambda *counts: ticks.append(counts)) == Exported(3, 4, 4)
    assert ticks == [(1, 3), (2, 3), (3, 3)]
    manifest = archive.manifest() or {}
    assert (manifest["complete"], manifest["mode"], manifest["subjects"]) == (True, "READWRITE", 3)
    assert manifest["config"]["compatibilityLevel"] == "NONE"
    entries = {entry["subject"]: entry for entry in archive.subjects()}
    assert set(entries) == {"orders", "clicks", ":.ctx:orders"}
    assert entries["clicks"]["config"]["compatibilityLevel"] == "FULL"
    assert entries["orders"]["config"] is None
    orders = archive.versions("orders")
    assert [(number, orders[number]["schema"], orders[number]["deleted"]) for number in orders] == [
        (1, '"int"', True),
        (2, '"long"', False),
    ]


def test_a_later_run_brings_the_folder_up_to_date(client: SchemaRegistryClient, tmp_path: Path) -> None:
    rest, archive = Rest(client), Archive(tmp_path)
    save(rest, archive)
    client.delete_version("orders", 2)
    client.delete_version("orders", 1, permanent=True)
    client.delete_subject(":.ctx:orders")
    client.delete_subject(":.ctx:orders", permanent=True)
    assert save(rest, archive) == Exported(2, 2, 0)
    assert {number: content["deleted"] for number, content in archive.versions("orders").items()} == {2: True}
    assert {entry["subject"] for entry in archive.subjects()} == {"orders", "clicks"}


def test_a_run_that_broke_off_goes_on(
    client: SchemaRegistryClient, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rest, archive = Rest(client), Archive(tmp_path)
    version = Rest.version

    def broken(self: Rest, subject: str, number: int) -> dict[str, Any]:
        if subject == "orders":
            raise TransportError(-1, -1, "cut")
        return version(self, subject, number)

    with monkeypatch.context() as patch:
        patch.setattr(Rest, "version", broken)
        with pytest.raises(TransportError):
            save(rest, archive)
    assert (archive.manifest() or {})["complete"] is False
    done = save(rest, archive)
    assert done.versions == 4
    assert done.fetched < 4
    assert (archive.manifest() or {})["complete"] is True


def test_a_part_has_nothing_global(client: SchemaRegistryClient, tmp_path: Path) -> None:
    archive = Archive(tmp_path)
    assert save(Rest(client), archive, "ord") == Exported(1, 2, 2)
    manifest = archive.manifest() or {}
    assert (manifest["config"], manifest["mode"], manifest["prefix"]) == (None, None, "ord")


def test_versions_behind_an_alias_are_told_and_kept(client: SchemaRegistryClient, tmp_path: Path) -> None:
    rest, archive = Rest(client), Archive(tmp_path)
    save(rest, archive)
    client.set_config("orders", ServerConfig(alias="clicks"))
    done = save(rest, archive)
    assert (done.hidden, done.versions) == (("orders",), 2)
    assert list(archive.versions("orders")) == [1, 2]
