from __future__ import annotations

from typing import Any

from tests.unit.registry.dev.asking import Asking

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


def test_what_is_not_said_stays_and_null_unsets(registry: Asking) -> None:
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
