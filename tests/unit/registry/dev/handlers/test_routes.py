from __future__ import annotations

import pytest

from registry.dev.handlers.requests import Call, Request
from registry.dev.handlers.routes import Router, Routes
from registry.dev.handlers.server import API_VERSION
from registry.dev.refusal import subject_not_found
from registry.dev.state.settings import Settings
from registry.dev.state.state import State
from registry.dev.state.storage import MemoryStorage
from tests.unit.registry.dev.asking import Asking

ROUTES = Routes()


@ROUTES.on("GET", "/things/{thing}")
def thing(call: Call) -> object:
    if call.names["thing"] == "none":
        raise subject_not_found("none")
    return {"thing": call.names["thing"], "subject": call.text("subject"), "prefix": call.text("subjectPrefix")}


@ROUTES.on("GET", "/subjects/{subject}")
@ROUTES.on("GET", "/config/{subject}")
def subject(call: Call) -> object:
    return call.subject


@ROUTES.on("GET", "/config")
@ROUTES.on("GET", "/schemas")
@ROUTES.on("GET", "/schemas/ids/{id}")
def parameters(call: Call) -> object:
    return [call.text("subject"), call.text("subjectPrefix")]


def ask(target: str, method: str = "GET", state: State | None = None) -> tuple[int, bytes]:
    response = Router([ROUTES]).handle(state or State(), Request.to(method, target))
    return response.status, response.body


def test_routes_and_refusals() -> None:
    assert ask("/things/a%2Fb")[1].startswith(b'{"thing": "a/b"')
    assert ask("/things/none")[0] == 404
    assert ask("/things")[0] == 404
    assert ask("/things//")[0] == 404
    assert ask("/things/a/b")[0] == 404


def test_unknown_methods_say_what_is_allowed() -> None:
    response = Router([ROUTES]).handle(State(), Request.to("DELETE", "/things/a"))
    assert (response.status, dict(response.headers)["Allow"]) == (405, "GET")


@pytest.mark.parametrize(
    ("target", "answer"),
    [
        ("/contexts/.eu/subjects/a", b'":.eu:a"'),
        ("/contexts/eu/subjects/a", b'":.eu:a"'),
        ("/contexts/.eu/subjects/:.us:a", b'":.us:a"'),
        ("/contexts/./subjects/a", b'"a"'),
        ("/contexts/.eu/config/a", b'":.eu:a"'),
        ("/contexts/.eu/config", b'":.eu:"'),
        ("/contexts/./config", b"[null, null]"),
        ("/contexts/.eu/schemas/ids/5", b'[":.eu:", null]'),
        ("/contexts/.eu/schemas/ids/5?subject=a", b'[":.eu:a", null]'),
        ("/contexts/.eu/schemas", b'[null, ":.eu:"]'),
        ("/contexts/.eu/schemas?subjectPrefix=a", b'[null, ":.eu:a"]'),
    ],
)
def test_a_context_before_the_path_is_said_in_the_names(target: str, answer: bytes) -> None:
    assert ask(target) == (200, answer)


def test_a_context_with_a_colon_is_400() -> None:
    assert ask("/contexts/a:b/subjects/a")[0] == 400


def test_aliases_stand_for_subjects_but_not_in_settings() -> None:
    state = State()
    state.configs[("short",)] = Settings(alias="long")
    state.configs[(":.eu:short",)] = Settings(alias="long")
    assert ask("/subjects/short", state=state) == (200, b'"long"')
    assert ask("/subjects/:.eu:short", state=state) == (200, b'":.eu:long"')
    assert ask("/config/short", state=state) == (200, b'"short"')
    assert ask("/schemas/ids/5?subject=short", state=state) == (200, b'["long", null]')


def test_a_registry_takes_further_parts() -> None:
    from registry.dev.server.embedded import EmbeddedRegistry

    extra = Routes()

    @extra.on("PUT", "/further/{name}")
    def put(call: Call) -> object:
        call.state.extra("further")[(call.names["name"],)] = {"n": 1}
        return sorted(key[0] for key in call.state.extra("further"))

    with EmbeddedRegistry(parts=[extra]) as registry:
        assert Asking(registry).put("/further/a", {}) == ["a"]
        assert Asking(registry).put("/further/b", {}) == ["a", "b"]
        assert isinstance(registry._storage, MemoryStorage)


# ---- server


def test_the_registry_tells_its_version_and_clusters(registry: Asking) -> None:
    assert registry.get("/") == {}
    assert registry.get("/v1/metadata/version")["version"] == API_VERSION
    assert set(registry.get("/v1/metadata/id")["scope"]["clusters"]) == {"kafka-cluster", "schema-registry-cluster"}
