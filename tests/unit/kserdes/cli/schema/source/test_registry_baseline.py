from __future__ import annotations

import json
import uuid
from pathlib import Path

import pytest

from kserdes.cli.schema.source.registry_baseline import RegistryBaseline, no_answer
from kserdes.cli.shell.unusable import Unusable
from registry.client.blocking import SchemaRegistryClient
from registry.errors import InvalidSchemaError, ResponseError, TransportError
from registry.models import (
    ConfigCompatibilityLevel,
    RegisteredSchema,
    Schema,
    SchemaReference,
    ServerConfig,
)
from registry.schemas.references import resolve_all
from tests.unit.kserdes.cli.schema.helpers import collection, record, write


class Registry:
    """A registry of what a test puts into it; asks are counted."""

    def __init__(self, error: Exception | None = None) -> None:
        self.subjects: dict[str, dict[int, str]] = {}
        self.configs: dict[str | None, ServerConfig] = {}
        self.error = error
        self.config_calls = 0

    def _of(self, subject: str) -> dict[int, str]:
        if self.error is not None:
            raise self.error
        if subject not in self.subjects:
            raise ResponseError(404, 40401, f"Subject '{subject}' not found.")
        return self.subjects[subject]

    def get_versions(self, subject_name: str) -> list[int]:
        return list(self._of(subject_name))

    def get_version(self, subject_name: str, version: int) -> RegisteredSchema:
        if version not in self._of(subject_name):
            raise ResponseError(404, 40402, "Version not found.")
        return RegisteredSchema(subject_name, version, 1, None, Schema(self._of(subject_name)[version]))

    def get_latest_version(self, subject_name: str) -> RegisteredSchema:
        return self.get_version(subject_name, max(self._of(subject_name)))

    def get_subjects(self) -> list[str]:
        return list(self.subjects)

    def get_config(self, subject_name: str | None = None) -> ServerConfig:
        self.config_calls += 1
        if self.error is not None:
            raise self.error
        if subject_name not in self.configs:
            raise ResponseError(404, 40408, "no config")
        return self.configs[subject_name]


@pytest.fixture
def registry() -> Registry:
    made = Registry()
    made.subjects["orders"] = {3: '"c"', 1: '"a"'}
    return made


def baseline(tmp_path: Path, registry: Registry, ask: bool = True) -> RegistryBaseline:
    return RegistryBaseline(collection(tmp_path), registry, ask)


def test_only_the_newest_version_is_fetched_unless_all_count(tmp_path: Path, registry: Registry) -> None:
    found = baseline(tmp_path, registry)
    newest = found.history("orders.avsc", "orders", False).versions
    assert [(old.label, old.schema.schema_str) for old in newest] == [("orders version 3", '"c"')]
    every = found.history("orders.avsc", "orders", True).versions
    assert [old.schema.schema_str for old in every] == ['"a"', '"c"']
    assert found.history("x.avsc", "unknown", False).versions == ()
    assert found.deleted() == ()


def test_a_refusal_concerns_one_subject_and_silence_all(tmp_path: Path) -> None:
    refused = baseline(tmp_path, Registry(ResponseError(403, 40301, "Forbidden")))
    with pytest.raises(Unusable, match="subject orders: Forbidden"):
        refused.history("o", "orders", False)
    with pytest.raises(Unusable, match="the configuration of orders"):
        refused.settings("orders")
    silent = baseline(tmp_path, Registry(TransportError(-1, -1, "connection refused")))
    with pytest.raises(TransportError):
        silent.history("o", "orders", False)
    with pytest.raises(TransportError):
        silent.settings("orders")
    assert "connection refused" in no_answer(TransportError(-1, -1, "connection refused")).message


def test_levels_are_the_subjects_or_the_registrys(tmp_path: Path, registry: Registry) -> None:
    level = ConfigCompatibilityLevel
    registry.configs = {
        None: ServerConfig(compatibility_level=level.FULL, compatibility_policy="LENIENT"),
        "own": ServerConfig(compatibility_level=level.NONE),
    }
    found = baseline(tmp_path, registry)
    assert found.settings("orders") == ("FULL", "LENIENT")
    assert found.settings("own") == ("NONE", "LENIENT")
    assert registry.config_calls == 3  # the global one was asked for once
    registry.configs = {}
    assert baseline(tmp_path, registry).settings("orders") == (None, None)
    assert baseline(tmp_path, registry, ask=False).settings("own") == (None, None)


def test_references_lead_to_files_or_into_the_registry(tmp_path: Path, registry: Registry) -> None:
    write(tmp_path, {"order.avsc": record("Order", "m:Money"), "money.avsc": record("Money")})
    files = collection(tmp_path)
    found = RegistryBaseline(files, registry)
    assert found.resolve(files.schema("order.avsc").references[0]).schema_str == (tmp_path / "money.avsc").read_text()
    assert found.resolve(SchemaReference("x", "orders", 1)).schema_str == '"a"'
    with pytest.raises(InvalidSchemaError, match="orders version 2"):
        found.resolve(SchemaReference("x", "orders", 2))


def test_references_of_a_context_stay_in_it(tmp_path: Path) -> None:
    """The default context has subjects of the same names: judged by those, a check would be of other schemas."""
    with SchemaRegistryClient({"url": f"mock://{uuid.uuid4()}"}) as client:
        for context, kind in (("", "x:int"), (":.eu:", "x:long")):
            client.register_schema(f"{context}money", Schema(json.dumps(record("Money", kind)), "AVRO"))
            order = Schema(json.dumps(record("Order", "m:Money")), "AVRO", [SchemaReference("Money", "money", 1)])
            client.register_schema(f"{context}orders", order)
        baseline = RegistryBaseline(collection(tmp_path), client)
        for subject, kind in (("orders", "int"), (":.eu:orders", "long")):
            (old,) = baseline.history("orders.avsc", subject, True).versions
            ((_, money),) = resolve_all(old.schema, baseline.resolve)
            assert f'"{kind}"' in money.schema_str
