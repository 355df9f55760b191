from __future__ import annotations

from typing import Any

import pytest

from tests.unit.registry.dev.asking import ONE, Asking

EVERYTHING: dict[str, Any] = {
    "alias": "other",
    "normalize": True,
    "validateFields": True,
    "compatibility": "FULL",
    "compatibilityPolicy": "LENIENT",
    "compatibilityGroup": "major",
    "defaultMetadata": {"properties": {"a": "1"}},
    "overrideMetadata": {"tags": {"x": ["y"]}},
    "defaultRuleSet": {"domainRules": [{"name": "a"}]},
    "overrideRuleSet": {"migrationRules": [{"name": "b"}]},
}


def test_every_field_is_kept(registry: Asking) -> None:
    assert registry.put("/config/a", EVERYTHING) == EVERYTHING
    answered = {**EVERYTHING, "compatibilityLevel": "FULL"}
    del answered["compatibility"]
    assert registry.get("/config/a") == answered
    assert registry.delete("/config/a") == answered
    assert registry.refused("DELETE", "/config/a") == 40401


def test_settings_left_out_stay_and_null_unsets(registry: Asking) -> None:
    registry.put("/config/a", EVERYTHING)
    registry.put("/config/a", {"alias": None, "compatibility": "none"})
    found = registry.get("/config/a")
    assert "alias" not in found
    assert (found["compatibilityLevel"], found["normalize"]) == ("NONE", True)


def test_scopes(registry: Asking) -> None:
    registry.put("/config", {"compatibility": "FULL"})
    registry.put("/config/:.eu:", {"compatibility": "NONE"})
    assert registry.get("/config/a?defaultToGlobal=true") == {"compatibilityLevel": "FULL"}
    assert registry.get("/config/:.eu:a?defaultToGlobal=true") == {"compatibilityLevel": "NONE"}
    assert registry.get("/contexts/.eu/config") == {"compatibilityLevel": "NONE"}
    assert registry.delete("/config") == {"compatibilityLevel": "FULL"}
    assert registry.get("/config") == registry.delete("/config") == {"compatibilityLevel": "BACKWARD"}


def test_refusals(registry: Asking) -> None:
    assert registry.refused("PUT", "/config/a", {"compatibility": "x"}) == 42203
    assert registry.refused("PUT", "/config/a", {"compatibilityPolicy": "x"}) == 42203
    assert registry.refused("PUT", "/config/__GLOBAL", {"compatibility": "FULL"}) == 42208
    registry.put("/mode", {"mode": "READONLY"})
    assert registry.refused("PUT", "/config", {"compatibility": "FULL"}) == 42205


# ---- modes


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


def test_scopes_of_modes(registry: Asking) -> None:
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
