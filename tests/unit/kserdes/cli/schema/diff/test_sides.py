from __future__ import annotations

import json
from pathlib import Path
from typing import NoReturn

import pytest

from kserdes.cli.schema.diff.sides import both, side
from kserdes.cli.shell.settings import Settings
from kserdes.cli.shell.unusable import Unusable
from registry.client.blocking import SchemaRegistryClient
from registry.errors import InvalidSchemaError
from registry.models import Schema, SchemaReference
from tests.unit.kserdes.cli.schema.helpers import record, repository, write

NONE = Settings()


def no_registry() -> NoReturn:
    pytest.fail("the registry is not needed")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    repository(
        tmp_path,
        {
            "s/order.avsc": record("Order", "m:Money"),
            "s/common/money.avsc": record("Money", "x:int"),
            "a.avsc": '"int"',
        },
    )
    write(tmp_path, {"s/common/money.avsc": record("Money", "x:long")})
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_file_and_its_references(folder: Path) -> None:
    found = side("s/order.avsc", NONE, no_registry)
    assert found.label == "s/order.avsc"
    assert '"long"' in found.resolve(found.schema.references[0]).schema_str


@pytest.mark.parametrize("text", ["main:s/order.avsc", "HEAD:./s/order.avsc"])
def test_a_file_of_a_revision_and_its_references_there(folder: Path, text: str) -> None:
    found = side(text, NONE, no_registry)
    assert found.label == text
    assert '"int"' in found.resolve(found.schema.references[0]).schema_str


def test_git_paths_are_from_the_top_or_from_here(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder / "s")
    assert side("main:a.avsc", NONE, no_registry).schema.schema_str == '"int"'
    assert side("main:../a.avsc", NONE, no_registry).schema.schema_str == '"int"'
    assert side("main:./order.avsc", NONE, no_registry).schema.references
    rooted = side("main:s/common/money.avsc", NONE, no_registry, root=str(folder))
    assert rooted.schema.references == ()


def test_both_sides_resolve_their_own(folder: Path) -> None:
    new, old = side("s/order.avsc", NONE, no_registry), side("main:s/order.avsc", NONE, no_registry)
    resolve = both(old, new)
    assert '"int"' in resolve(old.schema.references[0]).schema_str
    assert '"long"' in resolve(new.schema.references[0]).schema_str


def test_a_version_of_a_subject(folder: Path) -> None:
    with SchemaRegistryClient({"url": "mock://test_sides"}) as client:
        client.register_schema(":.ctx:orders", Schema('"int"'))
        found = side(":.ctx:orders:1", NONE, lambda: client)
        assert (found.label, found.schema.schema_str) == (":.ctx:orders:1", '"int"')
        assert side(":.ctx:orders:latest", NONE, lambda: client).label == ":.ctx:orders:1"
        assert found.resolve(SchemaReference("x", ":.ctx:orders", 1)).schema_str == '"int"'
        with pytest.raises(InvalidSchemaError):
            found.resolve(SchemaReference("x", "nope", 1))
        with pytest.raises(Unusable, match="nope version 3"):
            side("nope:3", NONE, lambda: client)


def test_a_file_beside_a_version_resolve_their_own(folder: Path) -> None:
    with SchemaRegistryClient({"url": "mock://test_sides_both"}) as client:
        client.register_schema("money", Schema(json.dumps(record("Money", "x:bytes"))))
        reference = SchemaReference("Money", "money", 1)
        client.register_schema("orders", Schema(json.dumps(record("Order", "m:Money")), references=[reference]))
        registered, file = (side(text, NONE, lambda: client) for text in ("orders:1", "s/order.avsc"))
        for resolve in (both(registered, file), both(file, registered), both(registered, registered)):
            assert resolve(registered.schema.references[0]).schema_str.count('"bytes"') == 1
        for resolve in (both(registered, file), both(file, registered)):
            assert '"long"' in resolve(file.schema.references[0]).schema_str


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("nope.avsc", "neither REVISION:PATH nor SUBJECT:VERSION"),
        ("main:nope.avsc", "main has no schema file nope.avsc"),
        ("nope:a.avsc", "knows no revision"),
        ("s", "is a folder"),
        ("broken.avsc", "broken.avsc:1:2: not JSON"),
    ],
)
def test_mistakes_are_named(folder: Path, text: str, reason: str) -> None:
    write(folder, {"broken.avsc": "{"})
    with pytest.raises(Unusable, match=reason):
        side(text, NONE, no_registry)
