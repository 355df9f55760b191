from __future__ import annotations

from tests.unit.registry.dev.asking import ONE, TWO, Asking


def test_where_an_id_is_registered(registry: Asking) -> None:
    for subject in ("b", "a"):
        registry.register(subject, ONE)
    assert registry.get("/schemas/ids/1/subjects") == ["a", "b"]
    assert registry.get("/schemas/ids/1/subjects?offset=1&limit=1") == ["b"]
    assert registry.get("/schemas/ids/1/versions?limit=1") == [{"subject": "a", "version": 1}]
    assert registry.refused("GET", "/schemas/ids/1?subject=:.eu:a") == 40403


def test_highest_id_of_the_context(registry: Asking) -> None:
    registry.register("a", ONE)
    registry.register("a", TWO)
    assert registry.get("/schemas/ids/1?fetchMaxId=true")["maxId"] == 2
    assert "maxId" not in registry.get("/schemas/ids/1")


def test_guids_are_the_same_in_every_context(registry: Asking) -> None:
    registry.register("a", TWO)
    registry.register("a", ONE)
    registry.register(":.eu:a", ONE)
    guid = registry.get("/subjects/a/versions/2")["guid"]
    assert registry.get("/subjects/:.eu:a/versions/1")["guid"] == guid
    assert registry.get(f"/schemas/guids/{guid.upper()}")["guid"] == guid
    assert registry.get(f"/schemas/guids/{guid}/ids") == [{"context": ".", "id": 2}, {"context": ".eu", "id": 1}]
    assert registry.refused("GET", "/schemas/guids/x/ids") == 40403


def test_text_is_the_schema_itself(registry: Asking) -> None:
    registry.register("a", {"schema": '"int"'})
    assert registry.registry.respond("GET", "/schemas/ids/1/schema").body == b'"int"'


def test_all_schemas(registry: Asking) -> None:
    rules = {"ruleSet": {"domainRules": [{"name": "r", "type": "CEL"}]}}
    registry.register("a", ONE)
    registry.register("a", TWO)
    registry.register(":.eu:b", ONE, **rules)
    registry.put("/config/short", {"alias": "a"})

    def listed(query: str) -> list[tuple[str, int]]:
        return [(item["subject"], item["version"]) for item in registry.get(f"/schemas?{query}")]

    assert listed("") == [(":.eu:b", 1), ("a", 1), ("a", 2)]
    assert listed("latestOnly=true") == [(":.eu:b", 1), ("a", 2)]
    assert listed("subjectPrefix=a&limit=1") == [("a", 1)]
    assert listed("subjectPrefix=:*:b") == [(":.eu:b", 1)]
    assert listed("ruleType=CEL") == [(":.eu:b", 1)]
    assert listed("aliases=true&subjectPrefix=sho") == [("a", 1), ("a", 2)]
    registry.delete("/subjects/a/versions/2")
    assert listed("subjectPrefix=a") == [("a", 1)]
    assert listed("subjectPrefix=a&deleted=true") == [("a", 1), ("a", 2)]
