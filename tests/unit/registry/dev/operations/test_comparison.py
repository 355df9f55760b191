from __future__ import annotations

from tests.unit.registry.dev.asking import ONE, OTHER, TWO, Asking, record


def test_messages_name_the_version_and_the_level(registry: Asking) -> None:
    registry.register("a", ONE)
    registry.register("a", TWO)
    registry.put("/config/a", {"compatibility": "BACKWARD_TRANSITIVE"})
    answer = registry.post("/compatibility/subjects/a/versions?verbose=true", OTHER)
    assert not answer["is_compatible"]
    assert "{oldSchemaVersion: 1}" in answer["messages"]
    assert "{oldSchemaVersion: 2}" in answer["messages"]
    assert answer["messages"][-1] == "{validateFields: 'false', compatibility: 'BACKWARD_TRANSITIVE'}"


def test_groups_are_not_compared_with_each_other(registry: Asking) -> None:
    registry.put("/config/a", {"compatibilityGroup": "major"})
    registry.register("a", ONE, metadata={"properties": {"major": "1"}})
    registry.register("a", OTHER, metadata={"properties": {"major": "2"}})
    assert (
        registry.refused(
            "POST", "/subjects/a/versions", {**record(a="boolean"), "metadata": {"properties": {"major": "2"}}}
        )
        == 409
    )
    registry.register("a", TWO, metadata={"properties": {"major": "1"}})


def test_non_transitive_levels_look_at_the_newest_live_version(registry: Asking) -> None:
    registry.register("a", ONE)
    registry.put("/config/a", {"compatibility": "NONE"})
    registry.register("a", OTHER)
    registry.put("/config/a", {"compatibility": "BACKWARD"})
    assert registry.post("/compatibility/subjects/a/versions", TWO) == {"is_compatible": False}
    registry.delete("/subjects/a/versions/2")
    assert registry.post("/compatibility/subjects/a/versions", TWO) == {"is_compatible": True}
