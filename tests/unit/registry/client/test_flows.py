from __future__ import annotations

import contextlib
import json
import math
import random
from typing import Any

import pytest

from registry import (
    AssociationCreateOrUpdateRequest,
    RegisteredSchema,
    ResponseError,
    Schema,
    ServerConfig,
    TransportError,
)
from registry.client import flows
from registry.client.auth import Anonymous
from registry.client.cache import SchemaCaches
from registry.client.config import ClientConfig
from registry.client.delivery import Delivery
from registry.client.steps import Flow, Reply, Share
from tests.unit.registry.client.driving import Driver

SCHEMA = Schema('"int"')
PLACE = {"id": 7, "subject": "a/b", "version": 2, "schema": '"int"'}


class World:
    """Caches, and a server that answers JSON values in turn."""

    def __init__(self, *answers: Any, missing_ttl_s: float = 60.0) -> None:
        replies = [item if isinstance(item, Reply) else Reply(200, json.dumps(item).encode()) for item in answers]
        self.driver = Driver(replies or [Reply(500, b"")])
        clock = self.driver.clock
        self.caches = SchemaCaches(10, math.inf, contextlib.nullcontext(), clock, 10, missing_ttl_s)
        config = ClientConfig.parse({"url": "http://a"})
        self._delivery = Delivery(config, Anonymous(), self.driver.clock, random.Random(0))

    def run(self, flow: Flow[Any]) -> Any:
        return self.driver.run(self._delivery.run(flow), self._delivery.run)

    @property
    def calls(self) -> list[tuple[str, str, dict[str, str], Any]]:
        return [
            (s.method, s.url.removeprefix("http://a"), dict(s.query), s.content and json.loads(s.content))
            for s in self.driver.sent
        ]


BODY = {"schema": '"int"'}
SENT = {"schemaType": "AVRO", "references": [], **BODY}
ALL = {"offset": "0", "limit": "-1"}
OPERATIONS: list[tuple[str, Any, Any, tuple[str, str, dict[str, str], Any], Any]] = [
    ("types", lambda c: flows.get_schema_types(), ["AVRO"], ("GET", "/schemas/types", {}, None), ["AVRO"]),
    (
        "get_schema",
        lambda c: flows.get_schema(c, 7, "s", "resolved", "default"),
        BODY,
        (
            "GET",
            "/schemas/ids/7",
            {"subject": "s", "format": "resolved", "reference_format": "default", "referenceFormat": "default"},
            None,
        ),
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
        ("POST", "/subjects/a%2Fb/versions", {"normalize": "True"}, SENT),
        RegisteredSchema("a/b", None, 7, None, SCHEMA),
    ),
    (
        "lookup",
        lambda c: flows.lookup_schema(c, "a/b", SCHEMA, False, None, True),
        PLACE,
        ("POST", "/subjects/a%2Fb", {"normalize": "False", "deleted": "True"}, SENT),
        RegisteredSchema("a/b", 2, 7, None, SCHEMA),
    ),
    (
        "subjects",
        lambda c: flows.get_subjects("pre", False, True, 0, -1),
        ["s"],
        (
            "GET",
            "/subjects",
            {"deleted": "false", "deleted_only": "true", **ALL, "subjectPrefix": "pre", "deletedOnly": "true"},
            None,
        ),
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
        ("GET", "/subjects/s/versions", {"deleted": "false", "deleted_only": "false", **ALL, "limit": "3"}, None),
        [1],
    ),
    (
        "referenced_by",
        lambda c: flows.get_referenced_by("s", "latest", 0, -1),
        [9],
        ("GET", "/subjects/s/versions/latest/referencedby", ALL, None),
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
        {"compatibility": "FULL"},
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
        ("POST", "/compatibility/subjects/s/versions/latest", {"normalize": "True", "verbose": "False"}, SENT),
        False,
    ),
    (
        "test_all",
        lambda c: flows.test_compatibility("s", SCHEMA, None, False, True),
        {"is_compatible": True},
        ("POST", "/compatibility/subjects/s/versions", {"normalize": "False", "verbose": "True"}, SENT),
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
    assert world.calls[0] == call
    assert {asked[:2] for asked in world.calls} == {call[:2]}  # a list is asked for what comes after it


@pytest.mark.parametrize("name", ["get_schema", "register", "lookup", "latest", "version"])
def test_immutable_schemas_are_asked_once(name: str) -> None:
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
    with pytest.raises(ResponseError, match="lacks a required member"):
        world.run(flows.get_latest_version(world.caches, "s", None))


def test_missing_arguments() -> None:
    world = World()
    with pytest.raises(ValueError, match="level must be set"):
        world.run(flows.set_compatibility("s", None))
    with pytest.raises(ValueError, match="config must be set"):
        world.run(flows.set_config("s", None))


def refusal(status: int, code: int) -> Reply:
    return Reply(status, json.dumps({"error_code": code, "message": f"no {code}"}).encode())


UNKNOWN = refusal(404, 40403)
LOOK_UPS: dict[str, Any] = {
    "id": lambda caches: flows.get_schema(caches, 7, None, None, None),
    "id of a subject": lambda caches: flows.get_schema(caches, 7, "s", None, None),
    "guid": lambda caches: flows.get_schema_by_guid(caches, "g-1", None),
}


@pytest.mark.parametrize("name", LOOK_UPS)
def test_an_unknown_schema_is_asked_for_once_a_minute(name: str) -> None:
    world = World(UNKNOWN, UNKNOWN, BODY)
    for at_s, calls in ((0.0, 1), (1.0, 1), (59.9, 1), (60.0, 2), (119.9, 2)):
        world.driver.now_s = 1000.0 + at_s
        with pytest.raises(ResponseError, match="no 40403") as caught:
            world.run(LOOK_UPS[name](world.caches))
        assert (caught.value.error_code, len(world.calls)) == (40403, calls)
    world.driver.now_s = 1120.0
    assert world.run(LOOK_UPS[name](world.caches)) == SCHEMA


def test_every_caller_gets_an_error_of_its_own() -> None:
    world = World(UNKNOWN)
    errors = []
    for _ in range(3):
        with pytest.raises(ResponseError) as caught:
            world.run(LOOK_UPS["id"](world.caches))
        errors.append(caught.value)
    assert len({id(error) for error in errors}) == 3
    assert len(world.calls) == 1


@pytest.mark.parametrize(
    "answer",
    [
        Reply(404, b"<html>nothing here</html>"),
        refusal(404, 404),
        refusal(404, 40401),
        refusal(403, 40301),
        refusal(500, 40403),
        refusal(502, 50002),
    ],
    ids=["page", "path", "subject", "forbidden", "failing", "timed out"],
)
def test_only_the_registry_s_own_word_is_believed(answer: Reply) -> None:
    world = World(answer)
    for number in (1, 2):
        with pytest.raises(ResponseError):
            world.run(LOOK_UPS["id"](world.caches))
        asked = len(world.calls)
        assert asked >= number
    world.driver._outcomes[:] = [Reply(200, json.dumps(BODY).encode())]
    assert world.run(LOOK_UPS["id"](world.caches)) == SCHEMA


def test_with_no_time_to_live_every_look_up_is_asked() -> None:
    world = World(UNKNOWN, missing_ttl_s=0.0)
    for _ in range(3):
        with pytest.raises(ResponseError):
            world.run(LOOK_UPS["id"](world.caches))
    assert len(world.calls) == 3


def test_unknown_schemas_are_bounded_in_number() -> None:
    world = World(UNKNOWN)
    for schema_id in range(100):
        with pytest.raises(ResponseError):
            world.run(flows.get_schema(world.caches, schema_id, None, None, None))
    assert len(world.caches.missing) == 10


SHOWN: dict[str, Any] = {
    "registered": lambda caches: flows.register_schema(caches, "s", SCHEMA, False),
    "looked up": lambda caches: flows.lookup_schema(caches, "s", SCHEMA, False, None, False),
    "latest": lambda caches: flows.get_latest_version(caches, "s", None),
    "latest with": lambda caches: flows.get_latest_with_metadata(caches, "s", {"a": "b"}, False, None),
    "version": lambda caches: flows.get_version(caches, "s", 2, False, None),
}


@pytest.mark.parametrize("guid", [None, "g-1"])
@pytest.mark.parametrize("shown", SHOWN)
@pytest.mark.parametrize("name", LOOK_UPS)
def test_schemas_this_client_has_seen_are_not_remembered_as_missing(name: str, shown: str, guid: str | None) -> None:
    world = World(UNKNOWN, {**PLACE, "guid": guid}, BODY)
    with pytest.raises(ResponseError):
        world.run(LOOK_UPS[name](world.caches))
    world.run(SHOWN[shown](world.caches))
    assert world.run(LOOK_UPS[name](world.caches)) == SCHEMA


def test_other_unknown_schemas_stay_unknown() -> None:
    world = World(UNKNOWN, {**PLACE, "id": 8, "guid": "g-8"}, UNKNOWN)
    for name in ("id", "guid", "id", "guid"):
        with pytest.raises(ResponseError):
            world.run(LOOK_UPS[name](world.caches))
        if name == "id":
            world.run(SHOWN["latest"](world.caches))
    assert [call[1] for call in world.calls].count("/schemas/ids/7") == 1


def test_an_id_asked_for_before_its_registration_is_not_missing_after_it() -> None:
    # events: A asks for id 7; B registers it; "there is no 7" arrives
    world = World(PLACE, BODY)
    shared = next(LOOK_UPS["id"](world.caches))
    inner = shared.start()
    next(inner)
    world.run(SHOWN["registered"](world.caches))
    with pytest.raises(ResponseError):
        inner.throw(ResponseError(404, 40403, "no 7"))
    assert world.run(LOOK_UPS["id"](world.caches)) == SCHEMA


def test_a_look_up_after_a_registration_does_not_share_an_earlier_one() -> None:
    world = World(PLACE)
    before = next(LOOK_UPS["id"](world.caches)).key
    world.run(SHOWN["registered"](world.caches))
    assert next(LOOK_UPS["id"](world.caches)).key != before


def test_a_registration_of_which_nobody_knows_whether_it_was_carried_out_makes_no_id_unknown() -> None:
    world = World(UNKNOWN, PLACE, Reply(500, b""))
    with pytest.raises(ResponseError):
        world.run(LOOK_UPS["id"](world.caches))
    world.run(SHOWN["latest"](world.caches))
    with pytest.raises(ResponseError):
        world.run(flows.register_schema(world.caches, "s", Schema('"long"'), False))
    world.driver._outcomes[:] = [Reply(200, json.dumps(answer).encode()) for answer in (BODY, {**PLACE, "version": 3})]
    assert world.run(LOOK_UPS["id"](world.caches)) == SCHEMA
    assert world.run(SHOWN["latest"](world.caches)).version == 3


CHANGES: dict[str, Any] = {
    "register": lambda caches: flows.register_schema(caches, "s", SCHEMA, False),
    "delete subject": lambda caches: flows.delete_subject(caches, "s", False),
    "delete version": lambda caches: flows.delete_version(caches, "s", 2, False),
    "associate": lambda caches: flows.create_association(
        caches, AssociationCreateOrUpdateRequest("t", "-", "1", "topic", [])
    ),
    "dissociate": lambda caches: flows.delete_associations(caches, "1", None, None, True),
}


@pytest.mark.parametrize("outcome", ["no answer", "gone"])
@pytest.mark.parametrize("name", CHANGES)
def test_a_change_of_which_nobody_knows_whether_it_was_carried_out_is_not_believed_undone(
    name: str, outcome: str
) -> None:
    subject = "s"
    world = World(PLACE)
    world.run(flows.get_latest_version(world.caches, subject, None))
    change = CHANGES[name](world.caches)
    step = next(change)
    if isinstance(step, Share):
        change = step.start()
        next(change)
    if outcome == "gone":
        change.close()
    else:
        with pytest.raises(TransportError):
            change.throw(TransportError(-1, -1, "lost"))
    assert world.caches.latest.get((subject, None)) is None


def test_a_refused_change_forgets_nothing() -> None:
    world = World(PLACE, refusal(409, 409))
    world.run(SHOWN["latest"](world.caches))
    with pytest.raises(ResponseError):
        world.run(flows.register_schema(world.caches, "s", Schema('"long"'), False))
    assert world.run(SHOWN["latest"](world.caches)).version == 2
    assert len(world.calls) == 2


def test_an_id_no_registry_can_have_is_not_asked_for() -> None:
    world = World()
    with pytest.raises(ResponseError, match="Schema 2147483648 not found") as caught:
        world.run(flows.get_schema(world.caches, 2**31, None, None, None))
    assert caught.value.not_found
    assert world.calls == []


def test_answers_to_calls_before_a_clear_are_not_cached() -> None:
    world = World(BODY)
    for name in LOOK_UPS:
        inner = next(LOOK_UPS[name](world.caches)).start()
        next(inner)
        world.caches.clear()
        with pytest.raises(StopIteration):
            inner.send(Reply(200, json.dumps(BODY).encode()))
    assert len(world.caches.schemas) == len(world.caches.guids) == 0


def test_a_registration_that_was_refused_after_a_lost_answer_may_have_been_carried_out() -> None:
    world = World(PLACE, Reply(500, b""), refusal(404, 404), {**PLACE, "version": 3})
    world.run(flows.get_latest_version(world.caches, "s", None))
    with pytest.raises(ResponseError, match="no 404"):
        world.run(flows.register_schema(world.caches, "s", Schema('"long"'), False))
    assert world.run(flows.get_latest_version(world.caches, "s", None)).version == 3


def test_a_deletion_that_finds_nothing_shows_that_what_is_known_is_not_true() -> None:
    world = World({"id": 7}, refusal(404, 40401), {"id": 7})
    for _ in range(2):
        world.run(flows.register_schema(world.caches, "s", SCHEMA, False))
    with pytest.raises(ResponseError, match="no 40401"):
        world.run(flows.delete_subject(world.caches, "s", False))
    world.run(flows.register_schema(world.caches, "s", SCHEMA, False))
    assert [call[0] for call in world.calls] == ["POST", "DELETE", "POST"]
