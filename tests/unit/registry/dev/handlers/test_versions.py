from __future__ import annotations

from tests.unit.registry.dev.asking import ONE, TWO, Asking


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
