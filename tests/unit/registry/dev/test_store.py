from __future__ import annotations

import json

import pytest

from registry import Schema, SchemaReference
from registry.compat import Difference
from registry.compat.verdict import CompatibilityResult
from registry.dev.store import Refusal, Store, messages, page


def schema(*names: str) -> Schema:
    fields = [{"name": name, "type": "int", "default": 0} for name in names]
    return Schema(json.dumps({"type": "record", "name": "R", "fields": fields}))


@pytest.fixture
def store() -> Store:
    return Store()


def test_ids_are_shared_across_subjects_and_texts(store: Store) -> None:
    one = store.register("s", schema("a"), False)
    other_text = Schema(json.dumps(json.loads(schema("a").schema_str), indent=3))
    two = store.register("t", other_text, False)
    three = store.register("t", schema("b"), False)
    assert (one.schema_id, two.schema_id, three.schema_id) == (1, 1, 2)
    assert (two.version, three.version) == (1, 2)
    assert store.places(1, deleted=False) == [("s", 1), ("t", 1)]


def test_registering_again_changes_nothing(store: Store) -> None:
    first = store.register("s", schema("a"), False)
    store.register("s", schema("a", "b"), False)
    assert store.register("s", schema("a"), False) == first
    assert store.versions("s", False, False) == [1, 2]


def test_metadata_makes_another_schema(store: Store) -> None:
    from registry import Metadata

    plain = schema("a")
    rich = Schema(plain.schema_str, metadata=Metadata(properties={"owner": "x"}))
    assert store.register("s", plain, False).schema_id != store.register("s", rich, False).schema_id


def test_ids_and_versions_are_not_used_again(store: Store) -> None:
    store.register("s", schema("a"), False)
    store.register("s", schema("a", "b"), False)
    store.delete_version("s", 2, False)
    assert store.register("s", schema("a", "c"), False).version == 3
    store.delete_version("s", 2, True)
    with pytest.raises(Refusal) as caught:
        store.schema(2)
    assert caught.value.code == 40403
    assert store.register("s", schema("a", "b"), False).schema_id == 4


def test_a_version_deleted_for_good_leaves_its_number_unused(store: Store) -> None:
    for names in (["a"], ["a", "b"], ["a", "b", "c"]):
        store.register("s", schema(*names), False)
    store.delete_version("s", 1, False)
    store.delete_version("s", 1, True)
    assert store.register("s", schema("a", "d"), False).version == 4
    assert store.versions("s", True, False) == [2, 3, 4]


def test_soft_then_permanent_deletion_of_a_subject(store: Store) -> None:
    store.register("s", schema("a"), False)
    assert store.delete_subject("s", False) == [1]
    assert store.subjects("", False, False) == []
    assert store.subjects("", True, False) == store.subjects("", False, True) == ["s"]
    assert store.versions("s", True, False) == [1]
    assert store.schema(1).schema_type == "AVRO"  # data written with it can still be read
    assert store.delete_subject("s", True) == [1]
    assert store.subjects("", True, False) == []


def test_what_was_deleted_softly_does_not_count(store: Store) -> None:
    store.register("s", Schema('"int"'), False)
    store.delete_subject("s", False)
    assert store.register("s", Schema('"string"'), False).version == 2


@pytest.mark.parametrize(
    ("call", "status", "code"),
    [
        (lambda s: s.schema(9), 404, 40403),
        (lambda s: s.version("x", 1), 404, 40401),
        (lambda s: s.version("s", 9), 404, 40402),
        (lambda s: s.versions("x", False, False), 404, 40401),
        (lambda s: s.look_up("x", Schema('"int"'), False, False), 404, 40401),
        (lambda s: s.look_up("s", Schema('"int"'), False, False), 404, 40403),
        (lambda s: s.delete_subject("x", False), 404, 40401),
        (lambda s: s.delete_subject("gone", False), 404, 40404),
        (lambda s: s.delete_subject("s", True), 404, 40405),
        (lambda s: s.delete_version("x", 1, False), 404, 40401),
        (lambda s: s.delete_version("s", 9, False), 404, 40402),
        (lambda s: s.delete_version("gone", 1, False), 404, 40406),
        (lambda s: s.delete_version("s", 1, True), 404, 40407),
        (lambda s: s.delete_subject("used", False), 422, 42206),
        (lambda s: s.delete_version("used", 1, False), 422, 42206),
        (lambda s: s.config("s", False), 404, 40408),
        (lambda s: s.delete_config("s"), 404, 40408),
        (lambda s: s.set_config("s", "SIDEWAYS", None), 422, 42203),
        (lambda s: s.register("s", Schema("{"), False), 422, 42201),
        (lambda s: s.register("s", Schema("{}", "JSON"), False), 422, 42201),
        (lambda s: s.register("n", Schema('"x.B"', references=[SchemaReference("x.B", "no", 1)]), False), 422, 42201),
        (lambda s: s.register("s", Schema('"string"'), False), 409, 409),
    ],
)
def test_refusals(store: Store, call: object, status: int, code: int) -> None:
    store.register("s", schema("a"), False)
    store.register("gone", schema("a"), False)
    store.delete_subject("gone", False)
    store.register("used", Schema('{"type":"enum","name":"x.B","symbols":[]}'), False)
    using = Schema('{"type":"array","items":"x.B"}', references=[SchemaReference("x.B", "used", 1)])
    store.register("using", using, False)
    with pytest.raises(Refusal) as caught:
        call(store)  # type: ignore[operator]
    assert (caught.value.status, caught.value.code) == (status, code)
    assert caught.value.message


def test_references_are_resolved_protected_and_listed(store: Store) -> None:
    store.register("b", Schema('{"type":"enum","name":"x.B","symbols":["A"]}'), False)
    using = Schema('{"type":"array","items":"x.B"}', references=[SchemaReference("x.B", "b", 1)])
    schema_id = store.register("a", using, False).schema_id
    assert store.referenced_by("b", 1) == [schema_id]
    store.delete_subject("a", False)
    store.delete_subject("a", True)
    assert store.referenced_by("b", None) == []
    assert store.delete_subject("b", False) == [1]


def test_levels_of_subject_then_global(store: Store) -> None:
    store.register("s", Schema('"int"'), False)
    assert store.level_name("s") == "BACKWARD"
    store.set_config(None, "NONE", None)
    assert store.register("s", Schema('"string"'), False).version == 2
    store.set_config("s", "full", None)
    assert store.config("s", False).level == "FULL"
    with pytest.raises(Refusal):
        store.register("s", Schema('"boolean"'), False)
    assert store.delete_config("s").level == "FULL"
    assert store.config("s", True).level == "NONE"
    assert store.delete_config(None).level == "NONE"
    assert store.level_name("s") == "BACKWARD"


def test_a_subjects_level_may_stay_unset(store: Store) -> None:
    store.set_config("s", None, True)
    assert store.config("s", False).level is None
    assert store.level_name("s") == "BACKWARD"


def test_normalize_by_configuration(store: Store) -> None:
    one, two = Schema('{"type":"int","a":1,"b":2}'), Schema('{"type":"int","b":2,"a":1}')
    store.set_config("s", None, True)
    assert store.register("s", one, False) == store.register("s", two, False)
    assert store.register("t", one, False) != store.register("t", two, False)


def test_test_changes_nothing(store: Store) -> None:
    store.register("s", Schema('"int"'), False)
    assert not store.test("s", None, Schema('"string"'), every=False).compatible
    assert not store.test("s", 1, Schema('"string"'), every=True).compatible
    assert store.test("s", 1, Schema('"long"'), every=False).compatible
    assert store.test("unknown", None, Schema('"long"'), every=True).compatible
    assert store.versions("s", False, False) == [1]


def test_messages() -> None:
    assert messages(CompatibilityResult(), "FULL") == []
    result = CompatibilityResult((Difference("KIND", "/fields/0", "it is so"),))
    assert messages(result, "FULL") == [
        "{errorType:'KIND', description:'it is so', path:'/fields/0'}",
        "{compatibility: 'FULL'}",
    ]


@pytest.mark.parametrize(
    ("offset", "limit", "expected"), [(0, -1, [1, 2, 3]), (1, -1, [2, 3]), (0, 2, [1, 2]), (2, 0, [])]
)
def test_page(offset: int, limit: int, expected: list[int]) -> None:
    assert page([1, 2, 3], offset, limit) == expected
