"""pipeline.workers: tasks begin with a prompt connection, and leave nothing to collect; elsewhere nothing is done."""

from __future__ import annotations

import gc
import importlib.machinery
import pickle
import socket
import sys
import types
import weakref
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from pipeline import workers

QUICKACK: Final[int | None] = getattr(socket, "TCP_QUICKACK", None)


@pytest.fixture(autouse=True)
def thawed(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(workers, "_loaded", 0)
    gc.unfreeze()  # the conftest has frozen what was loaded for the collected tests
    yield
    gc.unfreeze()


@pytest.fixture
def in_task(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers, "_in_task", lambda: True)


@pytest.mark.usefixtures("in_task")
def test_what_a_worker_has_loaded_is_not_looked_through_again() -> None:
    workers.settle()
    assert gc.get_freeze_count() > 10_000
    assert not any(one is workers.__dict__ for one in gc.get_objects())


@pytest.mark.usefixtures("in_task")
def test_garbage_of_the_task_is_collected_first() -> None:
    class Circle:
        pass

    circle = Circle()
    circle.itself = circle  # type: ignore[attr-defined]
    kept: list[str] = []
    weakref.finalize(circle, kept.append, "collected")
    del circle
    workers.settle()
    assert kept == ["collected"]


@pytest.mark.usefixtures("in_task")
def test_it_is_done_again_only_when_more_was_loaded(monkeypatch: pytest.MonkeyPatch) -> None:
    workers.settle()
    gc.unfreeze()
    workers.settle()
    assert gc.get_freeze_count() == 0
    monkeypatch.setitem(sys.modules, "a_module_of_this_test", types.ModuleType("a_module_of_this_test"))
    workers.settle()
    assert gc.get_freeze_count() > 10_000


def test_outside_of_tasks_nothing_happens() -> None:
    pytest.importorskip("pyspark")
    workers.settle()
    assert gc.get_freeze_count() == 0


@pytest.fixture
def forked(monkeypatch: pytest.MonkeyPatch) -> None:
    """A process of Spark's daemon."""
    main = types.ModuleType("__main__")
    main.__spec__ = importlib.machinery.ModuleSpec("pyspark.daemon", None)
    monkeypatch.setitem(sys.modules, "__main__", main)


@pytest.mark.usefixtures("forked")
def test_what_a_process_that_plans_has_loaded_is_not_looked_through_again() -> None:
    pytest.importorskip("pyspark")
    pickle.loads(pickle.dumps(workers.Arrival()))
    assert gc.get_freeze_count() > 10_000
    gc.unfreeze()
    workers.settle_planner()  # nothing was loaded since
    assert gc.get_freeze_count() == 0


def test_other_processes_that_plan_are_left_alone() -> None:
    workers.settle_planner()
    assert gc.get_freeze_count() == 0


class Line:
    """A connection to this machine that this process holds, as a worker holds one to its JVM."""

    def __init__(self, family: socket.AddressFamily, host: str) -> None:
        with socket.create_server((host, 0), family=family) as server:
            self.mine = socket.create_connection(server.getsockname()[:2])
            self.other = server.accept()[0]
        if QUICKACK is not None:
            self.mine.setsockopt(socket.IPPROTO_TCP, QUICKACK, 0)
        assert not self.is_prompt()

    def is_prompt(self) -> bool:
        """Whether it waits neither to send nor to acknowledge."""
        asked = (socket.TCP_NODELAY, *(() if QUICKACK is None else (QUICKACK,)))
        return all(self.mine.getsockopt(socket.IPPROTO_TCP, option) for option in asked)

    def close(self) -> None:
        self.mine.close()
        self.other.close()


@pytest.fixture
def line() -> Iterator[Line]:
    made = Line(socket.AF_INET, "127.0.0.1")
    yield made
    made.close()


@pytest.mark.usefixtures("in_task")
def test_the_connection_answers_at_once_when_a_tasks_code_arrives(line: Line) -> None:
    assert isinstance(pickle.loads(pickle.dumps(workers.Arrival())), workers.Arrival)
    assert line.is_prompt()


@pytest.mark.usefixtures("in_task")
def test_the_connection_may_be_one_of_ipv6() -> None:
    try:
        line = Line(socket.AF_INET6, "::1")
    except OSError as error:
        pytest.skip(f"no IPv6 on this machine: {error}")
    workers.arrived()
    assert line.is_prompt()
    line.close()


@pytest.mark.usefixtures("in_task")
def test_connections_are_found_beside_files_pairs_and_sockets_that_listen(line: Line, tmp_path: Path) -> None:
    pair = socket.socketpair()
    with (tmp_path / "file").open("w"), socket.create_server(("127.0.0.1", 0)), pair[0], pair[1]:
        workers.arrived()
    assert line.is_prompt()
    line.other.send(b"x")
    assert line.mine.recv(1) == b"x"  # no descriptor of it was closed


@pytest.mark.usefixtures("in_task")
def test_without_a_list_of_files_nothing_is_done(line: Line, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers, "_FILES", tmp_path / "none")
    workers.arrived()
    assert not line.is_prompt()


def test_what_is_unpickled_outside_of_tasks_leaves_connections_alone(line: Line) -> None:
    pytest.importorskip("pyspark")
    pickle.loads(pickle.dumps(workers.Arrival()))
    assert not line.is_prompt()
