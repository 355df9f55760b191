from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from registry.dev import EmbeddedRegistry, StorageError
from registry.dev.storage import SqliteStorage
from registry.dev.tables import Row
from tests.unit.registry.dev.asking import ONE, TWO, Asking


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


def test_what_can_not_be_stored_did_not_happen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
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


def test_what_is_closed_is_said(tmp_path: Path) -> None:
    made = EmbeddedRegistry(tmp_path / "r.db")
    made.close()
    made.close()
    assert json.loads(made.respond("GET", "/subjects").body)["error_code"] == 50001


def test_bad_targets_are_answered() -> None:
    with EmbeddedRegistry() as made:
        assert made.respond("GET", "/%zz").status == 400
