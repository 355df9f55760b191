from __future__ import annotations

import json
from typing import Any

import pytest

from registry.dev.handlers import Request, handle
from registry.dev.store import Store

INT, LONG = {"schema": '"int"'}, {"schema": '"long"'}


class Api:
    def __init__(self) -> None:
        self.store = Store()

    def __call__(self, method: str, path: str, body: Any = None, **query: str) -> tuple[int, Any]:
        content = body if isinstance(body, bytes) else b"" if body is None else json.dumps(body).encode()
        answer = handle(self.store, Request(method, path, query, content))
        return answer.status, json.loads(answer.body)


@pytest.fixture
def api() -> Api:
    made = Api()
    made("POST", "/subjects/s/versions", INT)
    made("POST", "/subjects/s/versions", LONG)
    return made


NORMALIZE = {"normalize": True}
PLACE = {"subject": "s", "id": 2, "version": 2, "schema": '"long"'}


@pytest.mark.parametrize(
    ("method", "path", "query", "body", "answer"),
    [
        ("GET", "/", {}, None, {}),
        ("GET", "/schemas/types", {}, None, ["AVRO"]),
        ("GET", "/schemas/ids/1", {}, None, INT),
        ("GET", "/schemas/ids/1/", {}, None, INT),
        ("GET", "/schemas/ids/1/schema", {}, None, "int"),
        ("GET", "/schemas/ids/1/subjects", {}, None, ["s"]),
        ("GET", "/schemas/ids/2/versions", {}, None, [{"subject": "s", "version": 2}]),
        ("GET", "/subjects", {}, None, ["s"]),
        ("GET", "/subjects", {"subjectPrefix": "t"}, None, []),
        ("POST", "/subjects/s", {}, LONG, PLACE),
        ("GET", "/subjects/s/versions", {}, None, [1, 2]),
        ("GET", "/subjects/s/versions", {"offset": "1"}, None, [2]),
        ("GET", "/subjects/s/versions", {"limit": "1"}, None, [1]),
        ("GET", "/subjects/s/versions/latest", {}, None, PLACE),
        ("GET", "/subjects/s/versions/-1", {}, None, PLACE),
        ("GET", "/subjects/s/versions/2/schema", {}, None, "long"),
        ("GET", "/subjects/s/versions/2/referencedby", {}, None, []),
        ("POST", "/subjects/s/versions", {}, INT, {**PLACE, **INT, "id": 1, "version": 1}),
        ("POST", "/subjects/a%2Fb/versions", {}, INT, {**INT, "id": 1, "version": 1, "subject": "a/b"}),
        ("DELETE", "/subjects/s", {}, None, [1, 2]),
        ("DELETE", "/subjects/s/versions/1", {}, None, 1),
        ("POST", "/compatibility/subjects/s/versions/latest", {}, INT, {"is_compatible": False}),
        ("POST", "/compatibility/subjects/s/versions", {}, {"schema": '"double"'}, {"is_compatible": True}),
        ("GET", "/config", {}, None, {"compatibilityLevel": "BACKWARD"}),
        ("PUT", "/config", {}, {"compatibility": "none"}, {"compatibility": "NONE"}),
        (
            "PUT",
            "/config/s",
            {},
            {"compatibility": "FULL", "normalize": True},
            {"compatibility": "FULL", "normalize": True},
        ),
        ("GET", "/config/s", {"defaultToGlobal": "true"}, None, {"compatibilityLevel": "BACKWARD"}),
        ("DELETE", "/config", {}, None, {"compatibilityLevel": "BACKWARD"}),
    ],
)
def test_answers(api: Api, method: str, path: str, query: dict[str, str], body: Any, answer: Any) -> None:
    assert api(method, path, body, **query) == (200, answer)


def test_verbose_verdict_has_messages(api: Api) -> None:
    _, answer = api("POST", "/compatibility/subjects/s/versions/latest", INT, verbose="true")
    assert answer["is_compatible"] is False
    assert "TYPE_MISMATCH" in answer["messages"][0]
    _, answer = api("POST", "/compatibility/subjects/s/versions/latest", LONG, verbose="true")
    assert answer == {"is_compatible": True, "messages": []}


def test_deletion_in_two_steps(api: Api) -> None:
    api("DELETE", "/subjects/s")
    assert api("GET", "/subjects", deleted="true") == (200, ["s"])
    assert api("GET", "/subjects/s/versions/1", deleted="true")[0] == 200
    assert api("DELETE", "/subjects/s/versions/1", permanent="true") == (200, 1)
    assert api("DELETE", "/subjects/s", permanent="true") == (200, [2])
    assert api("GET", "/subjects", deleted="true") == (200, [])


def test_config_of_a_subject(api: Api) -> None:
    assert api("GET", "/config/s")[1]["error_code"] == 40408
    api("PUT", "/config/s", {"compatibility": "FORWARD"})
    assert api("GET", "/config/s") == (200, {"compatibilityLevel": "FORWARD"})
    assert api("DELETE", "/config/s") == (200, {"compatibilityLevel": "FORWARD"})


@pytest.mark.parametrize(
    ("method", "path", "body", "status", "code"),
    [
        ("GET", "/nowhere", None, 404, 404),
        ("PATCH", "/subjects", None, 405, 405),
        ("GET", "/schemas/ids/x", None, 404, 404),
        ("GET", "/schemas/ids/9", None, 404, 40403),
        ("GET", "/subjects/s/versions/0", None, 422, 42202),
        ("GET", "/subjects/s/versions/newest", None, 422, 42202),
        ("GET", "/subjects/s/versions/99999999999", None, 422, 42202),
        ("GET", "/subjects/s/versions/9", None, 404, 40402),
        ("POST", "/subjects/s/versions", b"{", 400, 400),
        ("POST", "/subjects/s/versions", b"[" * 100_000, 400, 400),
        ("POST", "/subjects/s/versions", b"\xff\xfe", 400, 400),
        ("POST", "/subjects/s/versions", [], 400, 400),
        ("POST", "/subjects/s/versions", {}, 422, 42201),
        ("POST", "/subjects/s/versions", {"schema": " "}, 422, 42201),
        ("POST", "/subjects/s/versions", {"schema": 5}, 422, 42201),
        ("POST", "/subjects/s/versions", {**INT, "id": 7}, 422, 42205),
        ("POST", "/subjects/s/versions", {**INT, "references": [{"name": "x"}]}, 422, 42201),
        ("POST", "/subjects/s/versions", {**INT, "references": 5}, 422, 42201),
        ("POST", "/subjects/s/versions", {"schema": '"string"'}, 409, 409),
        ("PUT", "/config", {"compatibility": "x"}, 422, 42203),
        ("PUT", "/config", {"alias": "other"}, 422, 422),
        ("PUT", "/config", {"normalize": "yes"}, 422, 422),
        ("GET", "/config/unknown", None, 404, 40408),
    ],
)
def test_refusals(api: Api, method: str, path: str, body: Any, status: int, code: int) -> None:
    answer_status, answer = api(method, path, body)
    assert (answer_status, answer["error_code"]) == (status, code)
    assert answer["message"]


def test_bad_page(api: Api) -> None:
    assert api("GET", "/subjects", limit="many")[0] == 404
