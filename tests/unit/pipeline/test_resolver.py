"""pipeline.columns.resolver: the snapshot that travels, and look-ups of what came later."""

from __future__ import annotations

import dataclasses
import json
import pickle
import re
import uuid
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pyarrow as pa
import pytest

from pipeline.columns.decoding import BatchDecoder
from pipeline.columns.modes import Mode
from pipeline.columns.plan import DecodePlan
from pipeline.columns.resolver import Snapshot, SnapshotResolver, take_snapshot
from pipeline.errors import PlanError
from registry import (
    Rule,
    RuleKind,
    RuleMode,
    RuleSet,
    Schema,
    SchemaReference,
    SchemaRegistryClient,
    SchemaRegistryError,
    TransportError,
)
from registry.client.steps import Reply, Send, Unreachable
from serdes.columnar import MAX_UNKNOWN_IDS, ColumnarDecoder


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
    """Counts what goes to the registry by schema id, and the clients that are made."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, fail_with: Unreachable | None = None) -> None:
        self.ids: list[int] = []
        self.clients = 0
        send, make = SchemaRegistryClient._send, SchemaRegistryClient.__init__

        def counted_send(client: SchemaRegistryClient, step: Send) -> Reply | Unreachable:
            found = re.search(r"/schemas/ids/(\d+)$", step.url)
            if found is not None:
                self.ids.append(int(found[1]))
            return fail_with or send(client, step)

        def counted_make(client: SchemaRegistryClient, *args: Any, **options: Any) -> None:
            self.clients += 1
            make(client, *args, **options)

        monkeypatch.setattr(SchemaRegistryClient, "_send", counted_send)
        monkeypatch.setattr(SchemaRegistryClient, "__init__", counted_make)


def test_a_snapshot_holds_every_version_and_reads_with_the_newest(conf: dict[str, object]) -> None:
    snapshot = take_snapshot(conf, "t-value")
    assert [len(json.loads(schema.schema_str)["fields"]) for _, schema in sorted(snapshot.schemas.items())] == [1, 2]
    assert len(json.loads(snapshot.reader.schema_str)["fields"]) == 2
    assert take_snapshot(conf, "t-value", record("R", "z").schema_str).reader == record("R", "z")


def test_schemas_of_the_snapshot_need_no_registry(conf: dict[str, object], monkeypatch: pytest.MonkeyPatch) -> None:
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
def test_the_reason_why_no_plan_can_be_made_is_named(
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


def test_an_unknown_id_is_asked_for_once_by_all_plans_and_threads_of_a_process(
    conf: dict[str, object], monkeypatch: pytest.MonkeyPatch
) -> None:
    snapshot = take_snapshot(conf, "t-value")
    requests = Requests(monkeypatch)
    resolvers = [SnapshotResolver(pickle.loads(pickle.dumps(snapshot))) for _ in range(3)]

    def ask(number: int) -> None:
        for schema_id in (7001, 7002, 7001):
            with pytest.raises(SchemaRegistryError, match="not found"):
                resolvers[number % 3](schema_id)

    with ThreadPoolExecutor(6) as pool:
        list(pool.map(ask, range(30)))
    assert sorted(requests.ids) == [7001, 7002]
    assert requests.clients == 1


def test_2000_junk_ids_need_one_client_and_2000_requests_at_the_most(
    conf: dict[str, object], monkeypatch: pytest.MonkeyPatch
) -> None:
    decoder = BatchDecoder(DecodePlan.of(take_snapshot(conf, "t-value"), Mode.PERMISSIVE, error_field="_error"))
    requests = Requests(monkeypatch)
    frames = pa.array([b"\0" + schema_id.to_bytes(4, "big") for schema_id in range(5000, 7000)])
    for _ in range(2):
        rows = decoder.decode(frames).to_pylist()
        assert all("not found" in row["_error"] for row in rows[:MAX_UNKNOWN_IDS])
        assert all("not looked up" in row["_error"] for row in rows[MAX_UNKNOWN_IDS:])
    assert requests.clients == 1
    assert len(requests.ids) == len(set(requests.ids)) == MAX_UNKNOWN_IDS


def test_a_registry_that_is_away_is_asked_again(conf: dict[str, object], monkeypatch: pytest.MonkeyPatch) -> None:
    resolver = SnapshotResolver(take_snapshot({**conf, "max.retries": 0}, "t-value"))
    requests = Requests(monkeypatch, Unreachable("connection refused", sent=False))
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


def test_a_subject_with_rules_is_no_plan(conf: dict[str, object]) -> None:
    rule = Rule("mask", kind=RuleKind.TRANSFORM, mode=RuleMode.WRITEREAD, type="ENCRYPT", tags=["PII"])
    plain = take_snapshot(conf, "t-value")
    with SchemaRegistryClient(conf) as client:
        ruled = dataclasses.replace(record("R", "a", "b", "c"), rule_set=RuleSet(domain_rules=[rule]))
        client.register_schema("t-value", ruled)
        newest = client.register_schema("t-value", dataclasses.replace(record("R", "a", "d"), rule_set=RuleSet()))
    with pytest.raises(
        PlanError, match=r"subject 't-value', version 3 \(schema id 3\): .*'mask'.*deserializer of their format"
    ):
        take_snapshot(conf, "t-value")
    with pytest.raises(PlanError, match="version 3"):
        take_snapshot(conf, "t-value", record("R", "a").schema_str)
    # what comes while the job runs fails the task, in every mode, and travels to the driver as it is
    frames = pa.array([b"\x00" + (newest - 1).to_bytes(4, "big") + b"\x02\x04\x06"])
    for mode in Mode:
        with pytest.raises(PlanError, match=r"registered after the job was planned.*'mask'") as caught:
            BatchDecoder(DecodePlan.of(plain, mode, error_field="error")).decode(frames)
        assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)


def test_references_of_a_context_stay_in_it() -> None:
    """Subjects that a schema of a context refers to are that context's, and so are ids that come later."""
    conf: dict[str, object] = {"url": f"mock://{uuid.uuid4()}"}
    outer = {"type": "record", "name": "R", "fields": [{"name": "e", "type": "E"}]}
    with SchemaRegistryClient(conf) as client:
        for context in ("", ":.x:", ":.y:"):
            symbol = f"S{context.strip(':.').upper()}"
            enum = {"type": "enum", "name": "E", "symbols": [symbol]}
            client.register_schema(f"{context}e", Schema(json.dumps(enum)))
            client.register_schema(
                f"{context}t-value", Schema(json.dumps(outer), "AVRO", [SchemaReference("E", "e", 1)])
            )
        snapshot = take_snapshot(conf, ":.x:t-value")
        assert [schema.schema_str for schema in snapshot.references.values()] == [
            json.dumps({"type": "enum", "name": "E", "symbols": ["SX"]}, separators=(",", ":"))
        ]
        client.register_schema("other", record("Default", "a"))
        later = client.register_schema(":.x:t-value", record("R", "z"))
        assert client.get_schema(later).schema_str != client.get_schema(later, ":.x:t-value").schema_str
    resolver = SnapshotResolver(snapshot)
    assert '"z"' in resolver(later).schema_str
