from __future__ import annotations

from tests.unit.registry.dev.asking import ONE, OTHER, Asking

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
