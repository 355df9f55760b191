"""kafka_core.aio.tasks.closing: one run, shared by all who close, to the end."""

import asyncio

import pytest

from kafka_core.aio.tasks.closing import Closing
from tests.faults.loop import on_loop, until


class Rig:
    """Something whose close takes until `gate` is open."""

    def __init__(self, error: Exception | None = None) -> None:
        self.closing = Closing()
        self.gate = asyncio.Event()
        self.began = self.ended = 0
        self.error = error

    async def close(self) -> None:
        await self.closing.run(self._close)

    async def _close(self) -> None:
        self.began += 1
        await self.gate.wait()
        await self.close()  # as a callback inside the run may do
        self.ended += 1
        if self.error is not None:
            raise self.error


@on_loop
async def test_all_callers_share_one_run_and_later_ones_find_it_done() -> None:
    rig = Rig()
    callers = [asyncio.ensure_future(rig.close()) for _ in range(3)]
    await until(lambda: rig.began)
    rig.gate.set()
    await asyncio.gather(*callers)
    await rig.close()
    assert (rig.began, rig.ended) == (1, 1)


@on_loop
async def test_a_caller_that_is_cancelled_stops_nothing() -> None:
    rig = Rig()
    caller = asyncio.ensure_future(rig.close())
    await until(lambda: rig.began)
    caller.cancel()
    with pytest.raises(asyncio.CancelledError):
        await caller
    rig.gate.set()
    await rig.close()
    assert (rig.began, rig.ended) == (1, 1)


@on_loop
async def test_a_run_that_was_cancelled_itself_is_begun_anew() -> None:
    rig = Rig()
    caller = asyncio.ensure_future(rig.close())
    await until(lambda: rig.began)
    for task in asyncio.all_tasks() - {asyncio.current_task(), caller}:
        task.cancel()  # as asyncio.run() does at the end
    with pytest.raises(asyncio.CancelledError):
        await caller
    rig.gate.set()
    await rig.close()
    assert (rig.began, rig.ended) == (2, 1)


@on_loop
async def test_errors_while_closing_are_raised_once_and_never_lost() -> None:
    rig = Rig(ValueError("a callback's"))
    rig.gate.set()
    with pytest.raises(ValueError, match="callback"):
        await rig.close()
    await rig.close()
