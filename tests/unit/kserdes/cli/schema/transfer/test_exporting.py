from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from kserdes.cli.schema.transfer.archive import Archive
from kserdes.cli.schema.transfer.exporting import Exported, save
from kserdes.cli.schema.transfer.importing import plan
from kserdes.cli.schema.transfer.rest import Rest
from kserdes.cli.shell.unusable import Unusable
from registry.client.blocking import SchemaRegistryClient
from registry.errors import TransportError, UnexpectedAnswerError
from registry.models import Schema, ServerConfig


@pytest.fixture
def client(request: pytest.FixtureRequest) -> SchemaRegistryClient:
    made = SchemaRegistryClient({"url": f"mock://export-{request.node.name.replace('[', '-').strip(']')}"})
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
    gone = {"orders": (1,), ":.ctx:orders": (1,)}
    assert save(rest, archive) == Exported(2, 2, 0, gone=gone)  # nothing is deleted unless that is asked for
    assert {number: item["deleted"] for number, item in archive.versions("orders").items()} == {1: True, 2: True}
    assert save(rest, archive, prune=True) == Exported(2, 2, 0, gone=gone)
    assert {number: content["deleted"] for number, content in archive.versions("orders").items()} == {2: True}
    assert {entry["subject"] for entry in archive.subjects()} == {"orders", "clicks"}
    assert save(rest, archive) == Exported(2, 2, 0)
    assert {entry["subject"]: entry["versions"] for entry in archive.subjects()} == {"orders": [2], "clicks": [1]}


def test_a_later_run_brings_back_a_file_that_was_lost(client: SchemaRegistryClient, tmp_path: Path) -> None:
    rest, archive = Rest(client), Archive(tmp_path)
    save(rest, archive)
    archive.drop("orders", 1)
    with pytest.raises(Unusable, match="is missing"):
        plan(archive)
    assert save(rest, archive) == Exported(3, 4, 1)
    assert len(plan(archive).versions) == 4


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
    assert (manifest["config"], manifest["mode"], manifest["prefixes"]) == (None, None, ["ord"])
    save(Rest(client), archive, "cl")
    assert (archive.manifest() or {})["prefixes"] == ["cl", "ord"]
    assert {entry["subject"] for entry in archive.subjects()} == {"orders", "clicks"}


def files(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize("prune", [False, True])
def test_a_part_leaves_the_rest_of_a_backup_alone(client: SchemaRegistryClient, tmp_path: Path, prune: bool) -> None:
    rest, archive = Rest(client), Archive(tmp_path)
    save(rest, archive)
    before = files(tmp_path)
    assert save(rest, archive, "ord", prune=prune) == Exported(1, 2, 0)
    assert files(tmp_path) == before  # also what is global
    client.delete_subject("clicks")
    client.delete_subject("clicks", permanent=True)
    assert save(rest, archive, "ord", prune=prune).gone == {}
    assert files(tmp_path) == before


def test_a_version_that_is_another_schema_now_is_not_overwritten(client: SchemaRegistryClient, tmp_path: Path) -> None:
    rest, archive = Rest(client), Archive(tmp_path)
    save(rest, archive)
    before = files(tmp_path)
    client.delete_subject("clicks")
    client.delete_subject("clicks", permanent=True)
    client.register_schema("clicks", Schema('"string"'))
    client.set_compatibility("clicks", "FULL")
    assert save(rest, archive).changed == (("clicks", 1),)
    assert files(tmp_path) == before
    assert save(rest, archive, prune=True).changed == (("clicks", 1),)
    assert archive.versions("clicks")[1]["schema"] == '"string"'


def test_an_empty_registry_prunes_nothing(client: SchemaRegistryClient, tmp_path: Path) -> None:
    save(Rest(client), Archive(tmp_path))
    before = files(tmp_path)
    with SchemaRegistryClient({"url": "mock://export-empty"}) as empty:
        with pytest.raises(Unusable, match="would remove all 3 of"):
            save(Rest(empty), Archive(tmp_path), prune=True)
        assert files(tmp_path) == before
        assert set(save(Rest(empty), Archive(tmp_path)).gone) == {"orders", "clicks", ":.ctx:orders"}
    assert set(files(tmp_path)) == set(before)


def test_a_part_does_not_make_an_unfinished_backup_whole(
    client: SchemaRegistryClient, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rest, archive = Rest(client), Archive(tmp_path)

    def broken(self: Rest, subject: str, number: int) -> dict[str, Any]:
        raise TransportError(-1, -1, "cut")

    with monkeypatch.context() as patch:
        patch.setattr(Rest, "version", broken)
        with pytest.raises(TransportError):
            save(rest, archive)
    save(rest, archive, "ord")
    assert (archive.manifest() or {})["complete"] is False
    save(rest, archive)
    assert (archive.manifest() or {})["complete"] is True


def test_a_list_that_is_cut_is_no_shorter_backup(
    client: SchemaRegistryClient, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    save(Rest(client), Archive(tmp_path))
    before = files(tmp_path)

    def cut(self: SchemaRegistryClient, *arguments: object, **more: object) -> list[str]:
        raise UnexpectedAnswerError(200, -1, "these 1,000 entries whatever the offset")

    monkeypatch.setattr(SchemaRegistryClient, "get_subjects", cut)
    with pytest.raises(UnexpectedAnswerError):
        save(Rest(client), Archive(tmp_path), prune=True)
    assert files(tmp_path) == before


def test_versions_behind_an_alias_are_told_and_kept(client: SchemaRegistryClient, tmp_path: Path) -> None:
    rest, archive = Rest(client), Archive(tmp_path)
    save(rest, archive)
    client.set_config("orders", ServerConfig(alias="clicks"))
    done = save(rest, archive)
    assert (done.hidden, done.versions) == (("orders",), 2)
    assert list(archive.versions("orders")) == [1, 2]
    assert [entry["versions"] for entry in archive.subjects() if entry["subject"] == "orders"] == [[1, 2]]
