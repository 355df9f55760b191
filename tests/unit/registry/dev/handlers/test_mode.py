from __future__ import annotations

import pytest

from tests.unit.registry.dev.asking import ONE, Asking


@pytest.mark.parametrize("mode", ["READWRITE", "READONLY", "READONLY_OVERRIDE", "IMPORT", "FORWARD", "readonly"])
def test_set_read_delete(registry: Asking, mode: str) -> None:
    said = {"mode": mode.upper()}
    assert registry.put("/mode/a", {"mode": mode}) == said
    assert registry.get("/mode/a") == said
    assert registry.delete("/mode/a") == said
    assert registry.refused("GET", "/mode/a") == 40409
    assert registry.refused("DELETE", "/mode/a") == 40401
    assert registry.put("/mode", {"mode": mode}) == said
    assert registry.get("/mode") == registry.delete("/mode") == said
    assert registry.get("/mode") == {"mode": "READWRITE"}


def test_scopes(registry: Asking) -> None:
    registry.put("/mode/:.eu:", {"mode": "IMPORT"})
    assert registry.get("/mode/:.eu:a?defaultToGlobal=true") == {"mode": "IMPORT"}
    assert registry.get("/mode/a?defaultToGlobal=true") == {"mode": "READWRITE"}
    registry.put("/mode", {"mode": "READONLY_OVERRIDE"})
    assert registry.get("/mode/:.eu:a") == {"mode": "READONLY_OVERRIDE"}


def test_import_needs_an_empty_scope_or_force(registry: Asking) -> None:
    registry.register("a", ONE)
    for path in ("/mode", "/mode/a"):
        assert registry.refused("PUT", path, {"mode": "IMPORT"}) == 42205
    registry.put("/mode/b", {"mode": "IMPORT"})
    registry.put("/mode/a?force=True", {"mode": "IMPORT"})
    assert registry.get("/subjects/a/versions") == [1]


def test_import_throws_deleted_versions_away(registry: Asking) -> None:
    registry.register("a", ONE)
    registry.register("b", ONE)
    registry.delete("/subjects/a")
    registry.put("/mode/a", {"mode": "IMPORT"})
    assert registry.get("/subjects?deleted=true") == ["b"]


@pytest.mark.parametrize("body", [{}, {"mode": "x"}, {"mode": ""}])
def test_unknown_modes(registry: Asking, body: object) -> None:
    assert registry.refused("PUT", "/mode/a", body) == 42204
    assert registry.refused("PUT", "/mode/a%0A", {"mode": "READONLY"}) == 42208
