from __future__ import annotations

from tests.unit.registry.dev.asking import ONE, TWO, Asking


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
