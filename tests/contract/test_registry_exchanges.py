"""The REST API request by request: in process, over HTTP, and at a real registry."""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from registry.dev import EmbeddedRegistry, serve
from registry.dev.handlers import PARTS
from tests.contract.registry_differences import DIFFERENCES
from tests.contract.registry_exchanges import CASES, Ask, Case

KINDS = ["in process", "over http", pytest.param("real", marks=pytest.mark.registry)]


@pytest.fixture(scope="module", params=KINDS)
def http(request: pytest.FixtureRequest) -> Iterator[httpx.Client]:
    if request.param == "in process":
        with (
            EmbeddedRegistry() as registry,
            httpx.Client(transport=registry.transport(), base_url="http://x") as client,
        ):
            yield client
    elif request.param == "over http":
        with serve() as server, httpx.Client(base_url=server.url, trust_env=False, timeout=60) as client:
            yield client
    else:
        url = request.getfixturevalue("real_registry").url
        with httpx.Client(base_url=url, trust_env=False, timeout=60) as client:
            yield client


class Conversation:
    """Sends requests about a subject of its own."""

    def __init__(self, http: httpx.Client) -> None:
        self._http = http
        self._values: dict[str, Any] = {"$S": f"exchange-{uuid.uuid4().hex}"}

    def send(self, ask: Ask) -> httpx.Response:
        path = ask.path
        for name, value in self._values.items():
            path = path.replace(name, str(value))
        if isinstance(ask.body, bytes):
            reply = self._http.request(ask.method, path, content=ask.body, headers={"Content-Type": "application/json"})
        elif ask.body is None:
            reply = self._http.request(ask.method, path)
        else:
            reply = self._http.request(ask.method, path, json=self.filled(ask.body))
        found = parsed(reply)
        if isinstance(found, dict) and "id" in found:
            self._values["$ID"] = found["id"]
        return reply

    def filled(self, value: Any) -> Any:
        """The value with names in it replaced."""
        if isinstance(value, str):
            for name, meant in self._values.items():
                value = meant if value == name else value.replace(name, str(meant))
            return value
        if isinstance(value, list):
            return [self.filled(item) for item in value]
        if isinstance(value, dict):
            return {name: self.filled(item) for name, item in value.items()}
        return value


def parsed(reply: httpx.Response) -> Any:
    try:
        return json.loads(reply.content)
    except ValueError:
        return None


def holds(found: Any, wanted: Any) -> bool:
    """Whether an answer has what it must have."""
    if isinstance(wanted, type):
        return isinstance(found, wanted)
    if isinstance(wanted, dict):
        return isinstance(found, dict) and all(
            name in found and holds(found[name], item) for name, item in wanted.items()
        )
    return bool(found == wanted)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_exchange(http: httpx.Client, case: Case, request: pytest.FixtureRequest) -> None:
    conversation = Conversation(http)
    for ask in case.given:
        conversation.send(ask)
    wanted = conversation.filled(case.holds)
    reply = conversation.send(case.ask)
    found = parsed(reply)
    code = found.get("error_code") if isinstance(found, dict) else None
    difference = DIFFERENCES.get(case.name) if "real" in request.node.callspec.id else None
    if difference is not None:
        assert (reply.status_code, code) == (difference.status, difference.code), reply.text
        usual = (reply.status_code, code) == (case.status, case.code) and (wanted is None or holds(found, wanted))
        assert not usual, f"the real registry answers as Confluent's: take {case.name!r} out of DIFFERENCES"
        return
    assert (reply.status_code, code) == (case.status, case.code), reply.text
    if wanted is not None:
        assert holds(found, wanted), reply.text
    if code is not None:
        assert found["message"]


def test_differences_are_about_known_exchanges() -> None:
    assert set(DIFFERENCES) <= {case.name for case in CASES}
    assert len({case.name for case in CASES}) == len(CASES)


def test_the_page_lists_every_difference_and_every_endpoint(project_root: Path) -> None:
    page = (project_root / "docs" / "rest-api.md").read_text()
    assert [name for name, item in DIFFERENCES.items() if f"| {name} |" not in page or item.why not in page] == []
    heads = {entry[1][0] for part in PARTS for entry in part.entries if entry[1]}
    assert [head for head in heads if f"/{head}" not in page] == []
