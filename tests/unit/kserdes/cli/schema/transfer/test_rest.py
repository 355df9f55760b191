from __future__ import annotations

import httpx
import pytest

from kserdes.cli.schema.transfer.rest import Rest
from kserdes.cli.shell.unusable import Unusable
from registry.client.blocking import SchemaRegistryClient
from registry.errors import ResponseError
from registry.models import Schema


@pytest.fixture
def client(request: pytest.FixtureRequest) -> SchemaRegistryClient:
    return SchemaRegistryClient({"url": f"mock://{request.node.nodeid}".replace("[", "").replace("]", "")})


def test_subjects_and_versions_deleted_ones_too(client: SchemaRegistryClient) -> None:
    rest = Rest(client)
    for subject in ("b/ä", "a", ":.ctx:c"):
        client.register_schema(subject, Schema('"int"'))
    client.set_compatibility(level="NONE")
    client.register_schema("a", Schema('"string"'))
    client.delete_version("a", 1)
    client.delete_subject("b/ä")
    assert rest.subjects() == sorted(["b/ä", "a", ":.ctx:c"])
    assert (rest.versions("a", deleted=True), rest.versions("a", deleted=False)) == ([1, 2], [2])
    assert (rest.versions("b/ä", deleted=True), rest.versions("b/ä", deleted=False)) == ([1], [])
    assert rest.versions("nope", deleted=True) == []
    assert rest.version("a", 1)["schema"] == '"int"'
    with pytest.raises(ResponseError):
        rest.version("a", 9)


def test_settings_are_none_where_there_are_none(client: SchemaRegistryClient) -> None:
    rest = Rest(client)
    client.register_schema("a", Schema('"int"'))
    assert rest.setting("config", "a") is None
    assert rest.setting("mode", "a") is None
    rest.delete_mode("a")
    rest.set_config("a", {"compatibilityLevel": "FULL"})
    rest.set_mode("a", "READONLY")
    assert (rest.setting("config", "a") or {})["compatibilityLevel"] == "FULL"
    assert rest.setting("mode", "a") == {"mode": "READONLY"}
    rest.delete_mode("a")
    assert rest.setting("mode", "a") is None
    assert rest.setting("mode", None) == {"mode": "READWRITE"}


def test_import_mode_takes_ids_and_versions(client: SchemaRegistryClient) -> None:
    rest = Rest(client)
    rest.set_mode("a", "IMPORT")
    rest.register("a", {"schema": '"int"', "id": 77, "version": 5})
    found = rest.version("a", 5)
    assert (found["id"], found["version"], found["schema"]) == (77, 5, '"int"')
    rest.delete("a", 5)
    assert rest.versions("a", deleted=False) == []


def test_a_registry_without_modes_says_so() -> None:
    transport = httpx.MockTransport(lambda request: httpx.Response(405))
    client = SchemaRegistryClient({"url": "http://registry"}, transport=transport)
    with client, pytest.raises(Unusable, match="has no IMPORT mode"):
        Rest(client).set_mode("a", "IMPORT")


def test_an_empty_answer_is_no_setting() -> None:
    transport = httpx.MockTransport(lambda request: httpx.Response(204))
    with SchemaRegistryClient({"url": "http://registry"}, transport=transport) as client:
        assert Rest(client).setting("mode", "a") is None
