from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import httpx
import pytest

from registry.client.blocking import SchemaRegistryClient
from registry.dev import EmbeddedRegistry, StorageError
from registry.dev.operations.comparison import LARGE, Comparison
from registry.dev.state.state import Version
from registry.dev.state.storage import SqliteStorage
from registry.dev.state.tables import Row
from registry.models import Schema
from tests.unit.registry.dev.asking import ONE, TWO, Asking, record


def test_everything_is_there_again(tmp_path: Path) -> None:
    with EmbeddedRegistry(tmp_path / "r.db") as made:
        asking = Asking(made)
        asking.register("a", ONE)
        asking.register(":.eu:a", TWO)
        asking.put("/config/a", {"compatibility": "FULL", "alias": "x"})
        asking.put("/mode/a", {"mode": "READONLY"})
        asking.register("b", TWO)
        asking.delete("/subjects/b")
        asking.delete("/subjects/b?permanent=true")
        wanted = [asking.get(path) for path in PATHS]
    with EmbeddedRegistry(tmp_path / "r.db") as again:
        assert [Asking(again).get(path) for path in PATHS] == wanted
        assert Asking(again).register("c", TWO) == 3


PATHS = ["/subjects", "/contexts", "/schemas?deleted=true", "/config/a", "/mode/a", "/schemas/ids/1"]


def test_changes_that_can_not_be_stored_are_undone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with EmbeddedRegistry(tmp_path / "r.db") as made:
        asking = Asking(made)
        asking.register("a", ONE)

        def full(self: Any, rows: Sequence[Row]) -> None:
            raise StorageError("the disk is full")

        monkeypatch.setattr(SqliteStorage, "commit", full)
        assert asking.refused("POST", "/subjects/a/versions", TWO) == 50001
        assert asking.refused("DELETE", "/subjects/a") == 50001
        assert asking.get("/subjects/a/versions") == [1]
        monkeypatch.undo()
        assert asking.register("a", TWO) == 2


def test_a_crash_undoes_its_changes(monkeypatch: pytest.MonkeyPatch) -> None:
    with EmbeddedRegistry() as made:
        asking = Asking(made)

        def broken(*_: Any) -> Any:
            made._state.modes[("",)] = "READONLY"
            raise RuntimeError("inside")

        monkeypatch.setattr(made._router, "handle", broken)
        with pytest.raises(RuntimeError):
            made.respond("GET", "/")
        monkeypatch.undo()
        assert asking.get("/mode") == {"mode": "READWRITE"}


def test_a_closed_registry_answers_with_an_error(tmp_path: Path) -> None:
    made = EmbeddedRegistry(tmp_path / "r.db")
    made.close()
    made.close()
    assert json.loads(made.respond("GET", "/subjects").body)["error_code"] == 50001


def test_bad_targets_are_answered() -> None:
    with EmbeddedRegistry() as made:
        assert made.respond("GET", "/%zz").status == 400


# --- comparisons of large schemas


def large(*names: str) -> dict[str, Any]:
    return {"schema": json.dumps({**json.loads(record(**dict.fromkeys(names, "int"))["schema"]), "doc": "x" * LARGE})}


def test_others_are_answered_while_large_schemas_are_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    asking = Asking()
    asking.register("a", large("a"))
    asking.register("b", ONE)
    compared: list[int] = []

    def meanwhile(comparison: Comparison) -> Any:
        compared.append(len(comparison.registered))
        assert not asking.registry._lock.locked()
        if len(compared) == 1:
            assert asking.get("/subjects") == ["a", "b"]
            asking.put("/config/b", {"compatibility": "FULL"})
            asking.register("a", large())  # compared too, in between
        return outcome(comparison)

    outcome = Comparison.outcome
    monkeypatch.setattr(Comparison, "outcome", meanwhile)
    assert asking.refused("POST", "/subjects/a/versions", large("a", "b")) == 409
    assert asking.get("/subjects/a/versions") == [1, 2]
    assert [count for count in compared if count][:3] == [1, 1, 2]  # what came meanwhile was judged too


def test_a_request_that_is_overtaken_all_the_time_is_answered_in_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    asking = Asking()
    asking.put("/config", {"compatibility": "NONE"})
    asking.register("a", large("a"))
    outcome, runs = Comparison.outcome, []

    def overtaken(comparison: Comparison) -> Any:
        runs.append(asking.registry._lock.locked())
        if not runs[-1]:
            asking.put("/config", {"compatibilityPolicy": "LENIENT" if len(runs) % 2 else "STRICT"})
            asking.registry._state.put("a", Version(1 + len(runs), 100 + len(runs)), Schema(f'"x{len(runs)}"'))
        return outcome(comparison)

    monkeypatch.setattr(Comparison, "outcome", overtaken)
    asking.ask("POST", "/compatibility/subjects/a/versions", large("a", "b"))
    assert runs == [False] * 5 + [True]


def test_a_crash_while_comparing_leaves_the_lock_free(monkeypatch: pytest.MonkeyPatch) -> None:
    asking = Asking()
    asking.register("a", large("a"))

    def broken(comparison: Comparison) -> Any:
        raise RuntimeError("inside")

    with monkeypatch.context() as patch:
        patch.setattr(Comparison, "outcome", broken)
        with pytest.raises(RuntimeError):
            asking.ask("POST", "/subjects/a/versions", large())
    assert asking.get("/subjects/a/versions") == [1]
    assert asking.register("a", large()) == 2


# --- lists and media types, as Confluent's registry has them


def test_lists_are_capped_and_the_client_reads_them_to_the_end() -> None:
    with EmbeddedRegistry(list_limit=10) as made, httpx.Client(transport=made.transport(), base_url="http://x") as http:
        for number in range(25):
            Asking(made).register(f"s{number:02}", ONE)
        assert len(http.get("/subjects").json()) == 10
        assert len(http.get("/subjects?limit=11").json()) == 10
        assert http.get("/subjects?offset=20&limit=3").json() == ["s20", "s21", "s22"]
        with SchemaRegistryClient({"url": "http://x"}, transport=made.transport()) as client:
            assert len(client.get_subjects()) == 25
            assert client.get_subjects(offset=3, limit=15) == [f"s{number:02}" for number in range(3, 18)]
            assert len(client.get_schema_versions(1)) == 25


@pytest.mark.parametrize(
    ("content_type", "status"),
    [
        (None, 200),
        ("application/json; charset=utf-8", 200),
        ("Application/VND.schemaregistry.v1+json", 200),
        ("application/vnd.schemaregistry+json", 200),
        ("application/octet-stream", 200),
        ("application/x-www-form-urlencoded", 415),
        ("text/plain", 415),
        ("nonsense", 400),
    ],
)
def test_content_types(content_type: str | None, status: int) -> None:
    body = json.dumps(ONE).encode()
    with EmbeddedRegistry() as made:
        answer = made.respond("POST", "/subjects/a/versions", body, content_type)
        assert answer.status == status
        assert status == 200 or json.loads(answer.body)["error_code"] == status
        assert made.respond("GET", "/subjects", b"", content_type).status == 200
        assert made.respond("POST", "/nowhere", body, content_type).status == 404


@pytest.mark.parametrize(
    ("accept", "status"),
    [
        (None, 200),
        ("*/*", 200),
        ("text/html, application/xhtml+xml, */*;q=0.8", 200),
        ("application/*", 200),
        ("application/json;q=0.5", 200),
        ("text/html", 406),
        ("text/html, application/json;q=0", 406),
        ("nonsense", 400),
    ],
)
def test_accept_headers_decide_the_status(accept: str | None, status: int) -> None:
    with EmbeddedRegistry() as made:
        assert made.respond("GET", "/subjects", b"", None, accept).status == status
