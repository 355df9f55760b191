"""kafka_core.aio.tasks.race: the first success, and calls in daemon threads."""

import asyncio
import gc
import threading

import pytest

from kafka_core.aio.tasks.race import AllFailed, in_daemon_thread, race
from tests.faults.loop import on_loop, outcome, until


class Runner:
    """An attempt that waits, then succeeds or fails; remembers what happened to it."""

    def __init__(self, result: object, delay_s: float = 0.0) -> None:
        self.result, self.delay_s = result, delay_s
        self.state = "not started"

    async def __call__(self) -> object:
        self.state = "running"
        try:
            await asyncio.sleep(self.delay_s)
        except asyncio.CancelledError:
            self.state = "cancelled"
            raise
        self.state = "done"
        if isinstance(self.result, Exception):
            raise self.result
        return self.result


class TestRace:
    @on_loop
    async def test_the_first_one_is_enough(self):
        runners = [Runner("a"), Runner("b")]
        assert await race(runners, stagger_s=600) == "a"
        assert [runner.state for runner in runners] == ["done", "not started"]

    @on_loop
    async def test_a_failure_starts_the_next_at_once(self):
        runners = [Runner(ValueError("no")), Runner("b")]
        assert await race(runners, stagger_s=600) == "b"  # beyond what a test may take

    @on_loop
    async def test_a_slow_one_gets_company_and_the_loser_is_cancelled(self):
        runners = [Runner("slow", delay_s=600), Runner("quick")]
        assert await race(runners, stagger_s=0.01) == "quick"
        assert [runner.state for runner in runners] == ["cancelled", "done"]

    @on_loop
    async def test_a_slow_one_may_still_win(self):
        other = Runner("never", delay_s=600)

        async def slow():
            await until(lambda: other.state == "running")
            return "slow"

        assert await race([slow, other], stagger_s=0.01) == "slow"
        assert other.state == "cancelled"

    @on_loop
    async def test_all_failures_in_the_order_of_the_attempts(self):
        runners = [Runner(ValueError("first"), delay_s=0.03), Runner(ValueError("second"))]
        error = await outcome(race(runners, stagger_s=0.001))
        assert isinstance(error, AllFailed)
        assert list(map(str, error.failures)) == ["first", "second"]
        assert str(error) == "first; second"

    @on_loop
    async def test_a_failure_beside_the_success_is_looked_at(self):
        together = asyncio.Event()
        problems = []
        asyncio.get_running_loop().set_exception_handler(lambda loop, context: problems.append(context))

        async def wins():
            await together.wait()
            return "a"

        async def fails():
            await together.wait()
            raise OSError("too late")

        running = asyncio.ensure_future(race([wins, *[fails] * 30], stagger_s=0.0))
        await until(lambda: len(together._waiters) == 31)
        together.set()
        assert await running == "a"
        await asyncio.sleep(0)
        gc.collect()
        assert problems == []

    @on_loop
    async def test_nobody(self):
        error = await outcome(race([], stagger_s=1))
        assert isinstance(error, AllFailed)
        assert error.failures == ()

    @on_loop
    async def test_cancelling_cancels_all(self):
        runners = [Runner("a", delay_s=600), Runner("b", delay_s=600)]
        task = asyncio.ensure_future(race(runners, stagger_s=0.001))
        await until(lambda: [runner.state for runner in runners] == ["running", "running"])
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert [runner.state for runner in runners] == ["cancelled", "cancelled"]


class TestDaemonThread:
    @on_loop
    async def test_result_and_thread(self):
        def call(value: int) -> tuple[int, str, bool]:
            return value, threading.current_thread().name, threading.current_thread().daemon

        assert await in_daemon_thread("my-thread", call, 3) == (3, "my-thread", True)

    @on_loop
    async def test_where_no_thread_can_be_started_the_call_is_made_here(self, monkeypatch):
        def refuse(_: threading.Thread) -> None:
            raise RuntimeError("can't create new thread at interpreter shutdown")

        monkeypatch.setattr(threading.Thread, "start", refuse)
        assert await in_daemon_thread("t", threading.current_thread) is threading.current_thread()

    @on_loop
    async def test_exception(self):
        error = await outcome(in_daemon_thread("t", int, "x"))
        assert isinstance(error, ValueError)

    @on_loop
    async def test_stop_iteration_is_not_swallowed_by_the_future(self):
        error = await outcome(in_daemon_thread("t", next, iter(())))
        assert isinstance(error, RuntimeError)
        assert "StopIteration" in str(error)

    def test_a_loop_that_is_gone_does_not_disturb_the_thread(self):
        release, ended = threading.Event(), threading.Event()

        def call() -> None:
            release.wait(60)
            ended.set()

        async def leave() -> None:
            task = asyncio.ensure_future(in_daemon_thread("late", call))
            await asyncio.sleep(0.01)
            task.cancel()

        asyncio.run(leave())
        thread = next(item for item in threading.enumerate() if item.name == "late")
        release.set()
        assert ended.wait(60)
        thread.join(60)
        assert not thread.is_alive()
