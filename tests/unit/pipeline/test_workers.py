"""pipeline.workers: what is loaded leaves the garbage collector's sight once, in tasks of Spark alone."""

from __future__ import annotations

import gc
import sys
import types
import weakref
from collections.abc import Iterator

import pytest

from pipeline import workers


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
