from __future__ import annotations

import json
from typing import Any

import pytest

from tests.unit.registry.dev.asking import ONE, OTHER, TWO, Asking, record

PROPERTIES = {"metadata": {"properties": {"owner": "me"}}}
RULES = {"ruleSet": {"domainRules": [{"name": "r", "kind": "CONDITION", "mode": "WRITE", "type": "CEL", "expr": "x"}]}}


def version(registry: Asking, subject: str, number: int | str = "latest") -> Any:
    return registry.get(f"/subjects/{subject}/versions/{number}")


def test_ids_are_shared_by_subjects_and_count_up(registry: Asking) -> None:
    assert registry.register("a", ONE) == 1
    assert registry.register("a", ONE) == 1
    assert registry.register("b", ONE) == 1
    assert registry.register("b", TWO) == 2
    assert version(registry, "b")["version"] == 2


def test_metadata_and_rules_make_another_schema(registry: Asking) -> None:
    assert registry.register("a", ONE) == 1
    assert registry.register("a", ONE, **PROPERTIES) == 2
    assert registry.register("a", ONE, **RULES) == 3
    assert version(registry, "a")["ruleSet"] == RULES["ruleSet"]


def test_missing_parts_come_from_the_newest_version(registry: Asking) -> None:
    registry.register("a", ONE, **PROPERTIES, **RULES)
    registry.register("a", TWO)
    newest = version(registry, "a")
    assert newest["metadata"] == PROPERTIES["metadata"]
    assert newest["ruleSet"] == RULES["ruleSet"]
    registry.register("a", {}, metadata={"properties": {"owner": "you"}})
    newest = version(registry, "a")
    assert (newest["version"], newest["metadata"]) == (3, {"properties": {"owner": "you"}})
    assert json.loads(newest["schema"]) == json.loads(TWO["schema"])
    assert registry.post("/subjects/a", TWO)["version"] == 3


def test_settings_add_to_schemas(registry: Asking) -> None:
    registry.put(
        "/config/a",
        {
            "defaultMetadata": {"properties": {"owner": "none", "team": "x"}},
            "overrideMetadata": {"properties": {"checked": "yes"}},
            "overrideRuleSet": {"domainRules": [{"name": "always"}]},
        },
    )
    registry.register("a", ONE, **PROPERTIES)
    newest = version(registry, "a")
    assert newest["metadata"]["properties"] == {"owner": "me", "team": "x", "checked": "yes"}
    assert newest["ruleSet"]["domainRules"] == [{"name": "always"}]
    assert registry.register("a", ONE, **PROPERTIES) == newest["id"]
    assert registry.post("/subjects/a", {**ONE, **PROPERTIES})["version"] == 1


def test_the_version_may_be_said_in_the_metadata(registry: Asking) -> None:
    registry.register("a", ONE, version=-1)
    assert version(registry, "a")["metadata"]["properties"] == {"confluent:version": "1"}
    registry.register("a", TWO)
    assert version(registry, "a")["metadata"]["properties"] == {"confluent:version": "2"}
    assert registry.post("/subjects/a", ONE)["version"] == 1


def test_a_version_must_be_the_next(registry: Asking) -> None:
    registry.register("a", ONE, version=1)
    assert registry.refused("POST", "/subjects/a/versions", {**TWO, "version": 3}) == 42201
    registry.register("a", TWO, version=2)
    assert registry.get("/subjects/a/versions") == [1, 2]


def test_level_is_enforced_and_says_why(registry: Asking) -> None:
    registry.register("a", ONE)
    status, answer = registry.ask("POST", "/subjects/a/versions", OTHER)
    assert (status, answer["error_code"]) == (409, 409)
    assert "TYPE_MISMATCH" in answer["message"]
    assert "compatibility: 'BACKWARD'" in answer["message"]
    assert registry.get("/subjects/a/versions") == [1]
    registry.put("/config/a", {"compatibility": "NONE"})
    assert registry.register("a", OTHER) == 2


def test_normalize_by_parameter_and_by_setting(registry: Asking) -> None:
    plain = {"schema": '{"type":"record","name":"n.R","fields":[{"name":"a","type":{"type":"int"}}]}'}
    other = {"schema": '{"name":"R","namespace":"n","type":"record","fields":[{"type":"int","name":"a"}]}'}
    first = registry.post("/subjects/a/versions?normalize=true", plain)["id"]
    assert registry.post("/subjects/a/versions?normalize=True", other)["id"] == first
    assert registry.post("/subjects/a?normalize=true", other)["version"] == 1
    registry.put("/config", {"normalize": True})
    assert registry.register("b", other) == first


def test_a_new_schema_has_valid_defaults(registry: Asking) -> None:
    assert registry.refused("POST", "/subjects/a/versions", record(a={"type": "int", "default": "x"})) == 42201


def test_ids_are_not_used_again(registry: Asking) -> None:
    registry.register("a", ONE)
    registry.delete("/subjects/a")
    registry.delete("/subjects/a?permanent=true")
    assert registry.refused("GET", "/schemas/ids/1") == 40403
    assert registry.register("a", ONE) == 2


def test_registering_what_is_deleted_makes_a_new_version(registry: Asking) -> None:
    registry.register("a", ONE)
    registry.register("a", TWO)
    registry.delete("/subjects/a/versions/1")
    assert registry.register("a", ONE) == 1
    assert registry.get("/subjects/a/versions") == [2, 3]
    assert registry.get("/subjects/a/versions?deleted=true") == [2, 3]


@pytest.mark.parametrize("subject", ["__GLOBAL", "a%0Ab", ":.__GLOBAL:a"])
def test_subjects_that_are_no_names(registry: Asking, subject: str) -> None:
    assert registry.refused("POST", f"/subjects/{subject}/versions", ONE) == 42208


# --- modes


def test_read_only_registers_nothing_but_finds_what_is_there(registry: Asking) -> None:
    registry.register("a", ONE)
    for mode in ("READONLY", "READONLY_OVERRIDE"):
        registry.put("/mode/a", {"mode": mode})
        assert registry.refused("POST", "/subjects/a/versions", TWO) == 42205
        assert registry.register("a", ONE) == 1


def test_import_takes_ids_and_versions(registry: Asking) -> None:
    registry.put("/mode/a", {"mode": "IMPORT"})
    assert registry.register("a", ONE, id=500, version=7) == 500
    assert registry.register("a", OTHER, id=501, version=3) == 501
    assert registry.get("/subjects/a/versions") == [3, 7]
    assert registry.refused("POST", "/subjects/a/versions", TWO) == 42205
    assert registry.refused("POST", "/subjects/a/versions", {**TWO, "id": 500}) == 42205
    registry.delete("/mode/a")
    assert registry.refused("POST", "/subjects/a/versions", {**record(z="int"), "id": 900}) == 42205
    registry.put("/config/a", {"compatibility": "NONE"})
    assert registry.register("a", TWO) == 502
    assert version(registry, "a")["version"] == 8


def test_import_replaces_a_version(registry: Asking) -> None:
    registry.put("/mode", {"mode": "IMPORT"})
    registry.register("a", ONE, id=5, version=1)
    registry.register("a", TWO, id=6, version=1)
    assert version(registry, "a", 1)["id"] == 6
    assert registry.refused("GET", "/schemas/ids/5") == 40403


def test_forward_is_like_import_for_registrations(registry: Asking) -> None:
    registry.register("a", ONE)
    registry.put("/mode/a", {"mode": "FORWARD"})
    assert registry.register("a", OTHER, id=50, version=4) == 50
    assert registry.refused("POST", "/subjects/a/versions", TWO) == 42205


# --- contexts


def test_contexts_count_ids_of_their_own(registry: Asking) -> None:
    assert registry.register("a", ONE) == 1
    assert registry.register(":.eu:a", TWO) == 1
    assert registry.get("/contexts") == [".", ".eu"]
    assert registry.get("/subjects") == [":.eu:a", "a"]
    assert json.loads(registry.get("/schemas/ids/1?subject=:.eu:")["schema"]) == json.loads(TWO["schema"])
    assert json.loads(registry.get("/schemas/ids/1")["schema"]) == json.loads(ONE["schema"])


def test_an_unqualified_subject_is_looked_for_in_every_context(registry: Asking) -> None:
    registry.register(":.eu:only", ONE)
    assert version(registry, "only")["subject"] == ":.eu:only"
    assert registry.post("/subjects/only", ONE)["subject"] == ":.eu:only"
    assert registry.get("/schemas/ids/1?subject=only")["subject"] == ":.eu:only"
    assert registry.refused("GET", "/schemas/ids/1") == 40403


def test_references_are_meant_in_the_context_they_are_said_in(registry: Asking) -> None:
    used = {"schema": '{"type":"record","name":"U","fields":[]}'}
    using = {"schema": '{"type":"record","name":"R","fields":[{"name":"u","type":"U"}]}'}
    references = [{"name": "U", "subject": "u", "version": 1}]
    registry.register(":.eu:u", used)
    assert registry.refused("POST", "/subjects/r/versions", {**using, "references": references}) == 42201
    registry.register(":.eu:r", using, references=references)
    assert version(registry, ":.eu:r")["references"] == references
    shown = registry.get("/subjects/:.eu:r/versions/1?referenceFormat=qualified")
    assert shown["references"][0]["subject"] == ":.eu:u"
    assert registry.get("/subjects/:.eu:u/versions/1/referencedby") == [2]
    assert registry.refused("DELETE", "/subjects/:.eu:u/versions/1") == 42206
    registry.register("r", using, references=[{"name": "U", "subject": ":.eu:u", "version": 1}])


def test_a_reference_to_the_latest_says_its_number(registry: Asking) -> None:
    registry.register("u", {"schema": '{"type":"record","name":"U","fields":[]}'})
    using = {"schema": '{"type":"record","name":"R","fields":[{"name":"u","type":"U"}]}'}
    registry.register("r", using, references=[{"name": "U", "subject": "u", "version": -1}])
    assert version(registry, "r")["references"] == [{"name": "U", "subject": "u", "version": 1}]
