from __future__ import annotations

import pytest

from tests.unit.registry.dev.asking import ONE, TWO, Asking

USED = {"schema": '{"type":"record","name":"U","fields":[]}'}
USING = {
    "schema": '{"type":"record","name":"R","fields":[{"name":"u","type":"U"}]}',
    "references": [{"name": "U", "subject": "u", "version": 1}],
}


def test_settings_of_a_subject_go_with_its_last_version(registry: Asking) -> None:
    registry.register("a", ONE)
    registry.put("/config/a", {"compatibility": "FULL"})
    registry.put("/mode/a", {"mode": "READWRITE"})
    registry.delete("/subjects/a/versions/1")
    assert registry.refused("GET", "/config/a") == 40408
    assert registry.refused("GET", "/mode/a") == 40409


def test_settings_stay_while_a_version_stays(registry: Asking) -> None:
    registry.register("a", ONE)
    registry.register("a", TWO)
    registry.put("/config/a", {"compatibility": "FULL"})
    registry.delete("/subjects/a/versions/1")
    assert registry.get("/config/a") == {"compatibilityLevel": "FULL"}


def test_latest_that_is_deleted_softly(registry: Asking) -> None:
    registry.register("a", ONE)
    registry.register("a", TWO)
    assert registry.delete("/subjects/a/versions/latest") == 2
    assert registry.delete("/subjects/a/versions/latest") == 1
    assert registry.refused("DELETE", "/subjects/a/versions/latest") == 40402


def test_used_versions_are_protected_until_the_user_is_deleted(registry: Asking) -> None:
    registry.register("u", USED)
    registry.register("r", USING)
    assert registry.refused("DELETE", "/subjects/u") == 42206
    assert registry.refused("DELETE", "/subjects/u/versions/1") == 42206
    registry.delete("/subjects/r")
    assert registry.get("/subjects/u/versions/1/referencedby") == []
    assert registry.delete("/subjects/u") == [1]
    assert registry.get("/subjects/r/versions/1?deleted=true")["references"] == USING["references"]


def test_deleted_schemas_can_not_be_referenced(registry: Asking) -> None:
    registry.register("u", USED)
    registry.delete("/subjects/u")
    assert registry.refused("POST", "/subjects/r/versions", USING) == 42201


@pytest.mark.parametrize("target", ["/subjects/a", "/subjects/a/versions/1", "/config/a"])
def test_read_only_deletes_nothing(registry: Asking, target: str) -> None:
    registry.register("a", ONE)
    registry.put("/config/a", {"compatibility": "FULL"})
    registry.put("/mode/a", {"mode": "READONLY"})
    assert registry.refused("DELETE", target) == 42205


def test_a_version_goes_for_good_only_after_it_was_deleted_softly(registry: Asking) -> None:
    registry.register("a", ONE)
    assert registry.refused("DELETE", "/subjects/a/versions/1?permanent=true") == 40407
    assert registry.get("/subjects/a/versions") == [1]
    registry.delete("/subjects/a/versions/1")
    assert registry.delete("/subjects/a/versions/1?permanent=true") == 1
    assert registry.refused("GET", "/subjects/a/versions?deleted=true") == 40401


def test_a_partly_deleted_subject_can_not_go_for_good(registry: Asking) -> None:
    registry.register("a", ONE)
    registry.register("a", TWO)
    registry.delete("/subjects/a/versions/1")
    assert registry.refused("DELETE", "/subjects/a?permanent=true") == 40405
    assert registry.get("/subjects/a/versions?deleted=true") == [1, 2]


def test_schemas_stay_readable_while_they_are_deleted_softly(registry: Asking) -> None:
    registry.register("a", ONE)
    registry.delete("/subjects/a")
    assert registry.get("/schemas/ids/1")["schema"]
    assert registry.get("/schemas/ids/1/versions") == []
    assert registry.get("/schemas/ids/1/versions?deleted=true") == [{"subject": "a", "version": 1}]
