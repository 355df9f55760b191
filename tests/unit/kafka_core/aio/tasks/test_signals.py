"""kafka_core.aio.tasks.signals: the watcher looks once for any number of changes, in the next round of the loop."""

import asyncio

from kafka_core.aio.tasks.signals import Signal
from tests.faults.loop import on_loop


@on_loop
async def test_many_changes_are_one_look_and_not_at_once() -> None:
    looks: list[str] = []
    signal = Signal()
    signal.watch(lambda: looks.append("look"))
    signal.set()
    signal.set()
    assert looks == []
    await asyncio.sleep(0)
    assert looks == ["look"]
    signal.set()
    await asyncio.sleep(0)
    assert looks == ["look", "look"]


@on_loop
async def test_a_change_while_the_watcher_looks_is_another_look() -> None:
    looks: list[str] = []
    signal = Signal()

    def look() -> None:
        looks.append("look")
        if len(looks) < 3:
            signal.set()

    signal.watch(look)
    signal.set()
    for _ in range(5):
        await asyncio.sleep(0)
    assert looks == ["look"] * 3


@on_loop
async def test_a_watcher_that_fails_is_told_of_the_next_change() -> None:
    looks: list[str] = []
    signal = Signal()
    asyncio.get_running_loop().set_exception_handler(lambda *_: looks.append("failed"))

    def look() -> None:
        raise ValueError

    signal.watch(look)
    for _ in range(2):
        signal.set()
        await asyncio.sleep(0)
    assert looks == ["failed", "failed"]


def test_without_a_watcher_no_loop_is_needed() -> None:
    Signal().set()
