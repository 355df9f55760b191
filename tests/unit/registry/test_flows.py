from __future__ import annotations

import contextlib
import json
import math
import random
from typing import Any

import pytest

from registry import RegisteredSchema, ResponseError, Schema, ServerConfig, flows
from registry.auth import Anonymous
from registry.cache import SchemaCaches
from registry.config import ClientConfig
from registry.policy import Policy
from registry.steps import Flow, Reply
from tests.unit.registry.driving import Driver

SCHEMA = Schema('"int"')
PLACE = {"id": 7, "subject": "a/b", "version": 2, "schema": '"int"'}


class World:
    """Caches, and a server that answers JSON values in turn."""

    def __init__(self, *answers: Any) -> None:
        self.caches = SchemaCaches(10, math.inf, contextlib.nullcontext(), lambda: 0.0)
        self.driver = Driver([Reply(200, json.dumps(answer).encode()) for answer in answers] or [Reply(500, b"")])
        config = ClientConfig.parse({"url": "http://a"})
        self._policy = Policy(config, Anonymous(), self.driver.clock, random.Random(0))

    def run(self, flow: Flow[Any]) -> Any:
        return self.driver.run(self._policy.run(flow), self._policy.run)

    @property
    def calls(self) -> list[tuple[str, str, dict[str, str], Any]]:
        return [
            (s.method, s.url.removeprefix("http://a"), dict(s.query), s.content and json.loads(s.content))
            for s in self.driver.sent
        ]


BODY = {"schema": '"int"'}
OPERATIONS: list[tuple[str, Any, Any, tuple[str, str, dict[str, str], Any], Any]] = [
    ("types", lambda c: flows.get_schema_types(), ["AVRO"], ("GET", "/schemas/types", {}, None), ["AVRO"]),
    (
        "get_schema",
        lambda c: flows.get_schema(c, 7, "s", "resolved", "default"),
        BODY,
        ("GET", "/schemas/ids/7", {"subject": "s", "format": "resolved", "referenceFormat": "default"}, None),
        SCHEMA,
    ),
    (
        "subjects_by_id",
        lambda c: flows.get_subjects_by_schema_id(7, None, True, 1, 5),
        ["s"],
        ("GET", "/schemas/ids/7/subjects", {"deleted": "true", "offset": "1", "limit": "5"}, None),
        ["s"],
    ),
    (
        "register",
        lambda c: flows.register_schema(c, "a/b", SCHEMA, True),
        {"id": 7},
        ("POST", "/subjects/a%2Fb/versions", {"normalize": "true"}, BODY),
        RegisteredSchema("a/b", None, 7, None, SCHEMA),
    ),
    (
        "lookup",
        lambda c: flows.lookup_schema(c, "a/b", SCHEMA, False, None, True),
        PLACE,
        ("POST", "/subjects/a%2Fb", {"deleted": "true"}, BODY),
        RegisteredSchema("a/b", 2, 7, None, SCHEMA),
    ),
    (
        "subjects",
        lambda c: flows.get_subjects("pre", False, True, 0, -1),
        ["s"],
        ("GET", "/subjects", {"subjectPrefix": "pre", "deletedOnly": "true"}, None),
        ["s"],
    ),
    (
        "delete_subject",
        lambda c: flows.delete_subject(c, "s", True),
        [1, 2],
        ("DELETE", "/subjects/s", {"permanent": "true"}, None),
        [1, 2],
    ),
    (
        "latest",
        lambda c: flows.get_latest_version(c, "s", None),
        PLACE,
        ("GET", "/subjects/s/versions/latest", {}, None),
        RegisteredSchema("a/b", 2, 7, None, SCHEMA),
    ),
    (
        "version",
        lambda c: flows.get_version(c, "s", 2, True, "resolved"),
        PLACE,
        ("GET", "/subjects/s/versions/2", {"deleted": "true", "format": "resolved"}, None),
        RegisteredSchema("a/b", 2, 7, None, SCHEMA),
    ),
    (
        "versions",
        lambda c: flows.get_versions("s", False, False, 0, 3),
        [1],
        ("GET", "/subjects/s/versions", {"limit": "3"}, None),
        [1],
    ),
    (
        "referenced_by",
        lambda c: flows.get_referenced_by("s", "latest", 0, -1),
        [9],
        ("GET", "/subjects/s/versions/latest/referencedby", {}, None),
        [9],
    ),
    (
        "delete_version",
        lambda c: flows.delete_version(c, "s", 2, False),
        2,
        ("DELETE", "/subjects/s/versions/2", {}, None),
        2,
    ),
    (
        "set_compatibility",
        lambda c: flows.set_compatibility(None, "FULL"),
        {"compatibility": "FULL"},
        ("PUT", "/config", {}, {"compatibility": "FULL"}),
        "FULL",
    ),
    (
        "get_compatibility",
        lambda c: flows.get_compatibility("s t"),
        {"compatibilityLevel": "NONE"},
        ("GET", "/config/s%20t", {}, None),
        "NONE",
    ),
    (
        "test",
        lambda c: flows.test_compatibility("s", SCHEMA, "latest", True, False),
        {"is_compatible": False},
        ("POST", "/compatibility/subjects/s/versions/latest", {"normalize": "true"}, BODY),
        False,
    ),
    (
        "test_all",
        lambda c: flows.test_compatibility("s", SCHEMA, None, False, True),
        {"is_compatible": True},
        ("POST", "/compatibility/subjects/s/versions", {"verbose": "true"}, BODY),
        True,
    ),
    (
        "set_config",
        lambda c: flows.set_config("s", ServerConfig(normalize=True)),
        {"normalize": True},
        ("PUT", "/config/s", {}, {"normalize": True}),
        ServerConfig(normalize=True),
    ),
    (
        "delete_config",
        lambda c: flows.delete_config("s"),
        {"normalize": True},
        ("DELETE", "/config/s", {}, None),
        ServerConfig(normalize=True),
    ),
]


@pytest.mark.parametrize(
    ("flow", "answer", "call", "result"), [pytest.param(*case[1:], id=case[0]) for case in OPERATIONS]
)
def test_operation(flow: Any, answer: Any, call: Any, result: Any) -> None:
    world = World(answer)
    assert world.run(flow(world.caches)) == result
    assert world.calls == [call]


@pytest.mark.parametrize("name", ["get_schema", "register", "lookup", "latest", "version"])
def test_what_does_not_change_is_asked_once(name: str) -> None:
    flow, answer = next((case[1], case[2]) for case in OPERATIONS if case[0] == name)
    world = World(answer)
    first = world.run(flow(world.caches))
    assert world.run(flow(world.caches)) is first
    assert len(world.calls) == 1
    assert len(world.driver.shared) == 1


def test_registration_updates_latest_at_once() -> None:
    world = World(PLACE, {"id": 8}, {**PLACE, "id": 8, "version": 3})
    assert world.run(flows.get_latest_version(world.caches, "s", None)).version == 2
    world.run(flows.register_schema(world.caches, "s", Schema('"long"'), False))
    assert world.run(flows.get_latest_version(world.caches, "s", None)).version == 3


def test_latest_asked_before_a_registration_is_not_kept_after_it() -> None:
    # events: A asks for latest; B registers a version and forgets latest; A's old answer arrives
    world = World(PLACE)
    flow = flows.get_latest_version(world.caches, "s", None)
    shared = next(flow)
    inner = shared.start()  # type: ignore[union-attr]
    next(inner)
    world.caches.forget_latest("s")
    with pytest.raises(StopIteration):
        inner.send(Reply(200, json.dumps(PLACE).encode()))
    assert world.caches.latest.get(("s", None)) is None


@pytest.mark.parametrize("name", ["delete_subject", "delete_version"])
def test_deletion_forgets_the_subject(name: str) -> None:
    delete, answer = next((case[1], case[2]) for case in OPERATIONS if case[0] == name)
    world = World(PLACE, answer, PLACE)
    world.run(flows.get_version(world.caches, "s", 2, False, None))
    world.run(delete(world.caches))
    world.run(flows.get_version(world.caches, "s", 2, False, None))
    assert len(world.calls) == 3


def test_get_version_latest_is_the_latest() -> None:
    world = World(PLACE)
    world.run(flows.get_latest_version(world.caches, "s", None))
    assert world.run(flows.get_version(world.caches, "s", "latest", False, None)).version == 2
    assert len(world.calls) == 1


@pytest.mark.parametrize("answer", [{}, [], "text", {"id": "x"}, None, 5])
def test_an_answer_that_lacks_something_is_the_servers_error(answer: Any) -> None:
    world = World(answer)
    with pytest.raises(ResponseError, match="lacks what it must have"):
        world.run(flows.get_latest_version(world.caches, "s", None))


def test_missing_arguments() -> None:
    world = World()
    with pytest.raises(ValueError, match="level must be set"):
        world.run(flows.set_compatibility("s", None))
    with pytest.raises(ValueError, match="config must be set"):
        world.run(flows.set_config("s", None))
