from __future__ import annotations

import pickle
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from registry.dev.state.storage import FORMAT, MemoryStorage, SqliteStorage, StorageError
from registry.dev.state.tables import Row

ROWS = [Row("t", '["a"]', "1"), Row("t", '["b"]', "2")]


def test_rows_are_there_after_closing(tmp_path: Path) -> None:
    with closing(SqliteStorage(tmp_path / "r.db")) as storage:
        storage.commit(ROWS)
        storage.commit([Row("t", '["a"]', "3"), Row("t", '["b"]', None)])
    with closing(SqliteStorage(tmp_path / "r.db")) as storage:
        assert list(storage.load()) == [Row("t", '["a"]', "3")]


def test_commits_are_synced(tmp_path: Path) -> None:
    with closing(SqliteStorage(tmp_path / "r.db")) as storage:
        run = storage._connection.execute
        assert run("PRAGMA journal_mode").fetchone() == ("wal",)
        assert run("PRAGMA synchronous").fetchone() == (2,)
        assert run("PRAGMA user_version").fetchone() == (FORMAT,)


def test_one_process_at_a_time(tmp_path: Path) -> None:
    with closing(SqliteStorage(tmp_path / "r.db")), pytest.raises(StorageError, match="in use by another"):
        SqliteStorage(tmp_path / "r.db")


def test_a_newer_layout_is_refused(tmp_path: Path) -> None:
    SqliteStorage(tmp_path / "r.db").close()
    with closing(sqlite3.connect(tmp_path / "r.db")) as other:
        other.execute(f"PRAGMA user_version = {FORMAT + 1}")
    with pytest.raises(StorageError, match=f"layout {FORMAT + 1}"):
        SqliteStorage(tmp_path / "r.db")


def test_another_programs_file_is_refused(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "r.db")) as other:
        other.execute("CREATE TABLE other (x)")
    with pytest.raises(StorageError, match="not a registry's file"):
        SqliteStorage(tmp_path / "r.db")


@pytest.mark.parametrize("content", [b"no database at all, just text " * 200, b"SQLite format 3\0" + b"\xff" * 5000])
def test_a_damaged_file_is_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "r.db").write_bytes(content)
    with pytest.raises(StorageError, match="can't be used"):
        SqliteStorage(tmp_path / "r.db")


def test_no_folder_no_file(tmp_path: Path) -> None:
    with pytest.raises(StorageError, match="can't be used"):
        SqliteStorage(tmp_path / "none" / "r.db")


def test_all_rows_or_none(tmp_path: Path) -> None:
    with closing(SqliteStorage(tmp_path / "r.db")) as storage:
        storage.commit(ROWS[:1])
        with pytest.raises(StorageError):
            storage.commit([Row("t", '["c"]', "1"), Row("t", '["d"]', object())])  # type: ignore[arg-type]
        assert list(storage.load()) == ROWS[:1]


def test_a_closed_storage_raises(tmp_path: Path) -> None:
    storage = SqliteStorage(tmp_path / "r.db")
    storage.close()
    storage.close()
    with pytest.raises(StorageError):
        storage.commit(ROWS)
    with pytest.raises(StorageError):
        storage.load()


def test_memory_keeps_nothing() -> None:
    storage = MemoryStorage()
    storage.commit(ROWS)
    assert list(storage.load()) == []
    storage.close()


def test_errors_pickle() -> None:
    error = pickle.loads(pickle.dumps(StorageError("why")))
    assert (error.error_message, error.error_code) == ("why", 50001)
