from __future__ import annotations

from registry.dev.handlers.server import API_VERSION
from tests.unit.registry.dev.asking import Asking


def test_what_it_is(registry: Asking) -> None:
    assert registry.get("/") == {}
    assert registry.get("/v1/metadata/version")["version"] == API_VERSION
    assert set(registry.get("/v1/metadata/id")["scope"]["clusters"]) == {"kafka-cluster", "schema-registry-cluster"}
