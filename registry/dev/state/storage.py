"""Storage of a registry's rows: none, or one SQLite file.

Must not know what the rows mean. A commit that returned is on disk: write-ahead log, synced at every commit. Source:
SQLite's documentation of `PRAGMA synchronous`, `journal_mode` and `locking_mode`.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Protocol

from registry.dev.state.tables import Row
from registry.errors import SchemaRegistryError

FORMAT = 1
"""Number of the file's layout, in `PRAGMA user_version`."""
APPLICATION_ID = 0x6B736572  # "kser"


class StorageError(SchemaRegistryError):
    """The file of a registry can't be used; the text says why."""

    def __init__(self, reason: str) -> None:
        super().__init__(500, 50001, reason)
        self.args = (reason,)


class Storage(Protocol):
    """Keeps rows."""

    def load(self) -> Iterable[Row]:
        """All rows there are."""

    def commit(self, rows: Sequence[Row]) -> None:
        """Keeps all of these, or none.

        Raises:
            StorageError: none was kept.
        """

    def close(self) -> None:
        """Closes the storage."""


class MemoryStorage:
    """Keeps nothing: the state lives and ends with the process."""

    def load(self) -> Iterable[Row]:
        """No rows."""
        return ()

    def commit(self, rows: Sequence[Row]) -> None:
        """Nothing to do."""

    def close(self) -> None:
        """Nothing to do."""


class SqliteStorage:
    """One file, used by one process at a time. Threads may share it if only one calls at a time.

    Raises:
        StorageError: the file is another program's, a newer version's, damaged, or in use.
    """

    def __init__(self, path: str | Path) -> None:
        self._path = Path(path)
        try:
            self._connection = sqlite3.connect(path, timeout=1.0, isolation_level=None, check_same_thread=False)
        except sqlite3.Error as error:
            raise self._failed(error) from error
        try:
            self._open()
        except sqlite3.Error as error:
            self._connection.close()
            raise self._failed(error) from error
        except StorageError:
            self._connection.close()
            raise

    def _failed(self, error: sqlite3.Error) -> StorageError:
        if "locked" in str(error):
            return StorageError(f"{self._path} is in use by another registry")
        return StorageError(f"{self._path} can't be used: {error}")

    def _open(self) -> None:
        run = self._connection.execute
        run("PRAGMA locking_mode = EXCLUSIVE")
        run("PRAGMA journal_mode = WAL")
        run("PRAGMA synchronous = FULL")
        run("BEGIN IMMEDIATE")  # takes the lock, which is kept until `close`
        (application,), (found,) = run("PRAGMA application_id").fetchone(), run("PRAGMA user_version").fetchone()
        (tables,) = run("SELECT count(*) FROM sqlite_master").fetchone()
        if tables == 0:
            run("CREATE TABLE rows (kind TEXT, key TEXT, value TEXT, PRIMARY KEY (kind, key)) WITHOUT ROWID")
            run(f"PRAGMA application_id = {APPLICATION_ID}")
            run(f"PRAGMA user_version = {FORMAT}")
        elif application != APPLICATION_ID:
            raise StorageError(f"{self._path} is not a registry's file")
        elif found != FORMAT:
            raise StorageError(f"{self._path} has layout {found}, this version reads layout {FORMAT}")
        run("COMMIT")

    def load(self) -> Iterable[Row]:
        """All rows there are."""
        try:
            found = self._connection.execute("SELECT kind, key, value FROM rows").fetchall()
        except sqlite3.Error as error:
            raise self._failed(error) from error
        return [Row(*columns) for columns in found]

    def commit(self, rows: Sequence[Row]) -> None:
        """Keeps all of these, or none; on disk when it returns."""
        try:
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                self._connection.executemany(
                    "INSERT OR REPLACE INTO rows VALUES (?, ?, ?)",
                    [(row.table, row.key, row.value) for row in rows if row.value is not None],
                )
                self._connection.executemany(
                    "DELETE FROM rows WHERE kind = ? AND key = ?",
                    [(row.table, row.key) for row in rows if row.value is None],
                )
                self._connection.execute("COMMIT")
            except sqlite3.Error:
                if self._connection.in_transaction:
                    self._connection.execute("ROLLBACK")
                raise
        except sqlite3.Error as error:
            raise self._failed(error) from error

    def close(self) -> None:
        """Writes the log back into the file and closes it. May be called again."""
        self._connection.close()
