from __future__ import annotations

from tests.unit.registry.dev.asking import ONE, Asking


def test_contexts_come_with_schemas_and_go_when_empty(registry: Asking) -> None:
    registry.register(":.b:s", ONE)
    registry.register(":.a:s", ONE)
    assert registry.get("/contexts") == [".", ".a", ".b"]
    assert registry.get("/contexts?offset=1&limit=1") == [".a"]
    assert registry.get("/contexts?contextPrefix=.b") == [".b"]
    assert registry.refused("DELETE", "/contexts/.a") == 42211
    registry.delete("/contexts/.a/subjects/s")
    assert registry.refused("DELETE", "/contexts/.a") == 42211
    registry.delete("/contexts/.a/subjects/s?permanent=true")
    registry.delete("/contexts/.a")
    assert registry.get("/contexts") == [".", ".b"]
    assert registry.refused("DELETE", "/contexts/.") == 42211
    assert registry.refused("DELETE", "/contexts/a:b") == 400
