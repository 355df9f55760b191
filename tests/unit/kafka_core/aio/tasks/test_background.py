"""Tasks that nobody awaits: none dies unseen, none that has ended is taken for one that works."""

import asyncio
import contextlib
import random
from typing import Any

import pytest

from kafka_core.aio.cluster.coordinators import CoordinatorFinder, CoordinatorKind
from kafka_core.aio.producing.topic_watch import TopicWatch
from kafka_core.aio.tasks.background import background, every
from kafka_core.clock import SystemClock
from kafka_core.engine.retry import Backoff
from kafka_core.errors import KafkaError, StateError
from tests.faults.loop import on_loop, until
from tests.simulation.loop import START_S, VirtualLoop


@on_loop
async def test_an_error_is_logged_at_once(caplog: pytest.LogCaptureFixture):
    async def fail() -> None:
        raise KeyError("inside")

    task = background(fail(), "kafka-core-test")
    await asyncio.wait((task,))
    await asyncio.sleep(0)
    assert "kafka-core-test ended with an error: KeyError('inside')" in caplog.text


@pytest.mark.filterwarnings("error")
def test_without_a_loop_the_work_is_closed_unstarted():
    async def never() -> None:
        raise AssertionError

    work = never()
    with pytest.raises(RuntimeError, match="no running event loop"):
        background(work, "kafka-core-test")
    with pytest.raises(RuntimeError, match="cannot reuse"):
        work.send(None)


@on_loop
async def test_a_look_up_that_breaks_is_told_to_those_who_wait():
    class Broken:
        async def any_connection(self) -> Any:
            raise KeyError("inside")

        def note_failure(self, error: Any) -> None:
            raise AssertionError(error)

    finder = CoordinatorFinder(Broken(), backoff=Backoff(1, 1, random.Random(0)))  # type: ignore[arg-type]
    with pytest.raises(Exception, match="inside"):
        async with asyncio.timeout(60):
            await finder.find(CoordinatorKind.GROUP, "g")
    await finder.close()


@on_loop
async def test_a_topic_asked_for_again_by_the_verdict_is_looked_up_again():
    """The verdict's own loop round: the task that gave it has ended, or is about to."""
    asked: list[str] = []

    class Closed:
        metadata = last_error = None

        async def refresh_metadata(self, topics: list[str], *, timeout_s: float | None = None) -> Any:
            asked.extend(topics)
            raise StateError("closed")

    def missing(topic: str, error: KafkaError) -> None:
        asyncio.get_running_loop().call_soon(again)

    def again() -> None:  # runs before the callbacks of the task that has just ended
        if len(asked) < 3:
            watch.look_up("t")

    watch = TopicWatch(
        Closed(),  # type: ignore[arg-type]
        SystemClock(),
        Backoff(1, 1, random.Random(0)),
        patience_s=1,
        limit_s=1,
        on_found=lambda topic, count: None,
        on_missing=missing,
    )
    watch.look_up("t")
    for _ in range(20):
        await asyncio.sleep(0)
    assert asked == ["t"] * 3


class LoopClock(SystemClock):
    """The time of the running loop."""

    def monotonic(self) -> float:
        return asyncio.get_running_loop().time()


@pytest.mark.parametrize(
    ("takes_s", "begins_s"),
    [(0.0, [5, 10, 15, 20]), (1.5, [5, 10, 15, 20]), (7.0, [5, 12, 19, 26])],
)
def test_periodic_work_starts_on_time_however_long_it_takes(takes_s: float, begins_s: list[float]) -> None:
    began: list[float] = []

    async def work() -> None:
        began.append(asyncio.get_running_loop().time() - START_S)
        await asyncio.sleep(takes_s)

    async def run() -> None:
        task = asyncio.ensure_future(every(5.0, work, LoopClock()))
        await until(lambda: len(began) == 4)
        task.cancel()
        await asyncio.wait((task,))

    with contextlib.closing(VirtualLoop(random.Random(1))) as loop:
        loop.run_until_complete(run())
    assert began == pytest.approx(begins_s, abs=0.01)
