"""pipeline.resolver: the snapshot that travels, and look-ups of what came later."""

from __future__ import annotations

import json
import pickle
import uuid
from typing import Any

import pytest

from pipeline.errors import PlanError
from pipeline.resolver import UNKNOWN_FOR_S, Snapshot, SnapshotResolver, take_snapshot
from registry import Schema, SchemaReference, SchemaRegistryClient, SchemaRegistryError, TransportError
from serdes.columnar import ColumnarDecoder


def record(name: str, *fields: str) -> Schema:
    made = [{"name": field, "type": "int", "default": 0} for field in fields]
    return Schema(json.dumps({"type": "record", "name": name, "fields": made}), "AVRO")


@pytest.fixture
def conf() -> dict[str, object]:
    """A registry of its own, with two versions of one subject."""
    conf: dict[str, object] = {"url": f"mock://{uuid.uuid4()}"}
    with SchemaRegistryClient(conf) as client:
        client.register_schema("t-value", record("R", "a"))
        client.register_schema("t-value", record("R", "a", "b"))
    return conf


class Requests:
    """Counts what goes to the registry by schema id."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, fail_with: Exception | None = None) -> None:
        self.ids: list[int] = []
        real = SchemaRegistryClient.get_schema

        def get_schema(client: SchemaRegistryClient, schema_id: int, *args: Any) -> Schema:
            self.ids.append(schema_id)
            if fail_with is not None:
                raise fail_with
            return real(client, schema_id, *args)

        monkeypatch.setattr(SchemaRegistryClient, "get_schema", get_schema)


def test_a_snapshot_holds_every_version_and_reads_with_the_newest(conf: dict[str, object]) -> None:
    snapshot = take_snapshot(conf, "t-value")
    assert [len(json.loads(schema.schema_str)["fields"]) for _, schema in sorted(snapshot.schemas.items())] == [1, 2]
    assert len(json.loads(snapshot.reader.schema_str)["fields"]) == 2
    assert take_snapshot(conf, "t-value", record("R", "z")).reader == record("R", "z")


def test_what_is_in_the_snapshot_needs_no_registry(conf: dict[str, object], monkeypatch: pytest.MonkeyPatch) -> None:
    snapshot = take_snapshot(conf, "t-value")
    requests = Requests(monkeypatch)
    resolver = SnapshotResolver(pickle.loads(pickle.dumps(snapshot)))
    assert {schema_id: resolver(schema_id) for schema_id in snapshot.schemas} == snapshot.schemas
    assert requests.ids == []


def test_a_snapshot_travels_without_showing_secrets(conf: dict[str, object]) -> None:
    snapshot = take_snapshot(conf, "t-value")
    secret = Snapshot({**conf, "basic.auth.user.info": "u:hidden"}, "s", snapshot.reader, snapshot.schemas)
    assert "hidden" not in repr(secret)
    assert pickle.loads(pickle.dumps(secret)) == secret


@pytest.mark.parametrize(
    ("change", "subject", "reason"),
    [
        ({}, "nothing-value", "not found"),
        ({"url": "http://127.0.0.1:1", "max.retries": 0}, "t-value", "127.0.0.1:1"),
        ({"url": ""}, "t-value", "url"),
        ({"urll": "x"}, "t-value", "urll"),
    ],
)
def test_what_keeps_a_plan_from_being_made_is_named(
    conf: dict[str, object], change: dict[str, object], subject: str, reason: str
) -> None:
    with pytest.raises(PlanError, match=rf"subject '{subject}' can't be read.*{reason}"):
        take_snapshot({**conf, **change}, subject)


def test_a_later_id_is_looked_up_once(conf: dict[str, object], monkeypatch: pytest.MonkeyPatch) -> None:
    resolver = SnapshotResolver(take_snapshot(conf, "t-value"))
    with SchemaRegistryClient(conf) as client:
        schema_id = client.register_schema("other", record("Later", "z"))
    requests = Requests(monkeypatch)
    assert resolver(schema_id) is resolver(schema_id)
    assert json.loads(resolver(schema_id).schema_str)["name"] == "Later"
    assert requests.ids == [schema_id]


def test_an_unknown_id_is_asked_for_once_a_minute(conf: dict[str, object], monkeypatch: pytest.MonkeyPatch) -> None:
    now = [1000.0]
    resolver = SnapshotResolver(take_snapshot(conf, "t-value"), lambda: now[0])
    requests = Requests(monkeypatch)
    for schema_id, at_s in ((7001, 0.0), (7001, 1.0), (7002, 2.0), (7001, UNKNOWN_FOR_S - 1), (7001, UNKNOWN_FOR_S)):
        now[0] = 1000.0 + at_s
        with pytest.raises(SchemaRegistryError, match="not found"):
            resolver(schema_id)
    assert requests.ids == [7001, 7002, 7001]


def test_a_registry_that_is_away_is_asked_again(conf: dict[str, object], monkeypatch: pytest.MonkeyPatch) -> None:
    resolver = SnapshotResolver(take_snapshot(conf, "t-value"))
    requests = Requests(monkeypatch, TransportError(-1, -1, "connection refused"))
    for _ in range(2):
        with pytest.raises(TransportError):
            resolver(7001)
    assert requests.ids == [7001, 7001]


def test_references_travel_too(conf: dict[str, object], monkeypatch: pytest.MonkeyPatch) -> None:
    with SchemaRegistryClient(conf) as client:
        client.register_schema("city", record("City", "zip"))
        outer = json.dumps({"type": "record", "name": "R2", "fields": [{"name": "city", "type": "City"}]})
        schema = Schema(outer, "AVRO", [SchemaReference("City", "city", 1)])
        client.register_schema("r2-value", schema)
        later_id = client.register_schema("elsewhere", Schema(outer.replace("R2", "R3"), "AVRO", schema.references))
    snapshot = take_snapshot(conf, "r2-value")
    resolver = SnapshotResolver(snapshot)
    assert ColumnarDecoder(resolver, snapshot.reader, resolver.reference).arrow_type.names == ["city"]
    alone = SnapshotResolver(Snapshot(conf, "r2-value", snapshot.reader, {}))
    later = alone(later_id)
    assert json.loads(alone.reference(later.references[0]).schema_str)["name"] == "City"
