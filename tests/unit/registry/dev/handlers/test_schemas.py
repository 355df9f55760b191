from __future__ import annotations

from tests.unit.registry.dev.asking import ONE, OTHER, TWO, Asking


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


# ---- contexts


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


# ---- subjects


def test_lists(registry: Asking) -> None:
    for subject in ("a", "ab", ":.eu:ab"):
        registry.register(subject, ONE)
    registry.delete("/subjects/a")
    assert registry.get("/subjects") == [":.eu:ab", "ab"]
    assert registry.get("/subjects?deleted=true") == [":.eu:ab", "a", "ab"]
    assert registry.get("/subjects?deletedOnly=true") == ["a"]
    assert registry.get("/subjects?subjectPrefix=ab") == ["ab"]
    assert registry.get("/subjects?subjectPrefix=:*:ab") == [":.eu:ab", "ab"]
    assert registry.get("/subjects?subjectPrefix=:.eu:&subjectPrefix=ab&offset=1") == ["ab"]
    assert registry.get("/contexts/.eu/subjects") == [":.eu:ab"]


def test_latest_with_metadata(registry: Asking) -> None:
    registry.register("a", ONE, metadata={"properties": {"k": "1", "x": "y"}})
    registry.register("a", TWO, metadata={"properties": {"k": "2"}})
    assert registry.get("/subjects/a/metadata?key=k&value=1&key=x&value=y")["version"] == 1
    assert registry.get("/subjects/a/metadata?key=k&value=2")["version"] == 2
    assert registry.refused("GET", "/subjects/a/metadata?key=k&value=3") == 40403
    assert registry.refused("GET", "/subjects/a/metadata?key=k") == 400
    assert registry.refused("GET", "/subjects/none/metadata?key=k&value=3") == 40401


# ---- versions


def test_deleted_versions_in_lists(registry: Asking) -> None:
    registry.register("a", ONE)
    registry.register("a", TWO)
    registry.delete("/subjects/a/versions/1")
    path = "/subjects/a/versions"
    assert registry.get(path) == [2]
    assert registry.get(f"{path}?deleted=true&offset=1") == [2]
    assert registry.get(f"{path}?deletedOnly=true") == [1]
    assert registry.get(f"{path}?deletedAsNegative=true") == [-1, 2]
    assert registry.delete(f"{path}/1?permanent=True") == 1
    assert registry.get(f"{path}?deleted=true") == [2]


def test_text_of_a_version(registry: Asking) -> None:
    registry.register("a", {"schema": '"int"'})
    assert registry.registry.respond("GET", "/subjects/a/versions/latest/schema").body == b'"int"'


# ---- compatibility


PATH = "/compatibility/subjects/a/versions"


def test_nonsense_is_a_message_only_if_messages_are_asked_for(registry: Asking) -> None:
    registry.register("a", ONE)
    assert registry.refused("POST", f"{PATH}/1", {"schema": "{"}) == 42201
    assert registry.refused("POST", PATH, {}) == 42201
    answer = registry.post(f"{PATH}/1?verbose=true", {"schema": "{"})
    assert not answer["is_compatible"]
    assert "Invalid schema" in answer["messages"][0]


def test_one_version_is_judged_alone(registry: Asking) -> None:
    registry.put("/config/a", {"compatibility": "NONE"})
    registry.register("a", ONE)
    registry.register("a", OTHER)
    registry.put("/config/a", {"compatibility": "BACKWARD"})
    assert registry.post(f"{PATH}/1?verbose=true&normalize=true", ONE) == {"is_compatible": True, "messages": []}
    assert registry.post(f"{PATH}/2", ONE) == {"is_compatible": False}
    assert registry.get("/subjects/a/versions") == [1, 2]
