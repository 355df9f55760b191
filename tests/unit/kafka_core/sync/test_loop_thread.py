"""kafka_core.sync.loop_thread: running, refusing, Ctrl-C, fork, exit."""

import asyncio
import gc
import os
import subprocess
import sys
import textwrap
import threading
import types
import weakref

import pytest

from kafka_core.errors import KafkaError, NetworkError, StateError
from kafka_core.sync.loop_thread import LoopThread
from tests.complaints import complaints
from tests.patience import PROCESS_S

HANG_S = 60.0
"""Nothing takes that long but what hangs."""


@pytest.fixture
def thread():
    thread = LoopThread("test-loop")
    yield thread
    assert thread.stop(HANG_S)


async def value_after(value: object, delay_s: float = 0.0) -> object:
    await asyncio.sleep(delay_s)
    return value


async def failing() -> None:
    raise ValueError("from the coroutine")


class Cancelled:
    """A coroutine that waits for ever and remembers that it was cancelled."""

    def __init__(self) -> None:
        self.started = threading.Event()
        self.cancelled = threading.Event()

    async def wait(self) -> None:
        self.started.set()
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            self.cancelled.set()
            raise


def python(script: str, *options: str, timeout_s: float = PROCESS_S, **env: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *options, "-c", textwrap.dedent(script)],
        capture_output=True,
        text=True,
        timeout=timeout_s,
        env={**os.environ, **env},
        cwd=os.getcwd(),
        check=False,
    )


class TestCall:
    def test_gives_what_the_function_gives_or_raises(self, thread):
        assert thread.call(threading.current_thread).name == "test-loop"
        with pytest.raises(ZeroDivisionError):
            thread.call(lambda: 1 // 0)
        assert thread.call(lambda: 2) == 2  # the loop goes on

    def test_a_function_that_was_given_up_is_not_called(self, thread):
        called, gate = [], threading.Event()
        thread.post(gate.wait, HANG_S)
        try:
            with pytest.raises(NetworkError) as raised:
                thread.call(lambda: called.append(1), 0.01)
        finally:
            gate.set()
        assert raised.value.code == KafkaError._TIMED_OUT
        thread.run(value_after(0))
        assert called == []

    def test_it_is_refused_on_the_loop_and_after_stop(self, thread):
        def nested() -> None:
            thread.call(lambda: None)

        with pytest.raises(StateError, match="wait for itself"):
            thread.call(nested)
        thread.stop(HANG_S)
        with pytest.raises(StateError, match="closed"):
            thread.call(lambda: None)


class TestRun:
    def test_gives_the_result(self, thread):
        assert thread.run(value_after(7)) == 7

    def test_passes_the_exception_on(self, thread):
        with pytest.raises(ValueError, match="from the coroutine"):
            thread.run(failing())

    def test_the_thread_is_started_by_the_first_call(self):
        thread = LoopThread("lazy")
        assert not thread.running
        assert thread.run(value_after(1)) == 1
        assert thread.running
        assert thread.stop(HANG_S)
        assert not thread.running

    def test_a_timeout_cancels_the_coroutine(self, thread):
        work = Cancelled()
        with pytest.raises(NetworkError, match=r"no result within 0\.01 s") as caught:
            thread.run(work.wait(), timeout_s=0.01)
        assert caught.value.code == KafkaError._TIMED_OUT
        assert work.cancelled.wait(HANG_S)

    def test_a_timeout_error_of_the_coroutine_is_its_own(self, thread):
        async def raises() -> None:
            raise TimeoutError("inner")

        with pytest.raises(TimeoutError, match="inner"):
            thread.run(raises(), timeout_s=5.0)

    def test_refuses_its_own_thread(self, thread):
        async def inner() -> object:
            return thread.run(value_after(1))

        with pytest.raises(StateError, match="own thread"):
            thread.run(inner())

    def test_may_be_called_from_many_threads(self, thread):
        results: list[object] = []
        workers = [
            threading.Thread(target=lambda n=n: results.append(thread.run(value_after(n, 0.001)))) for n in range(20)
        ]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
        assert sorted(results) == list(range(20))  # type: ignore[type-var]


class TestPost:
    def test_calls_on_the_loop_thread(self, thread):
        seen: list[str] = []
        done = threading.Event()

        def call(tag: str) -> None:
            seen.append(f"{tag} {threading.current_thread().name}")
            done.set()

        thread.post(call, "a")
        assert done.wait(HANG_S)
        assert seen == ["a test-loop"]

    def test_is_refused_after_stop(self, thread):
        thread.run(value_after(1))
        thread.stop(HANG_S)
        with pytest.raises(StateError, match="closed"):
            thread.post(print)


class TestStop:
    def test_cancels_what_runs_and_tells_the_waiting_caller(self, thread):
        work = Cancelled()
        errors: list[Exception] = []

        def call() -> None:
            try:
                thread.run(work.wait())
            except Exception as error:
                errors.append(error)

        caller = threading.Thread(target=call)
        caller.start()
        assert work.started.wait(HANG_S)
        assert thread.stop(HANG_S)
        caller.join(HANG_S)
        assert work.cancelled.is_set()
        assert [type(error) for error in errors] == [StateError]

    def test_later_calls_are_refused_without_a_warning(self, thread):
        thread.stop()
        with pytest.raises(StateError, match="closed"):
            thread.run(value_after(1))  # the coroutine is closed: no "was never awaited"

    def test_is_bounded_when_a_callback_blocks_the_loop(self):
        thread = LoopThread("blocked")
        release, started, ended = threading.Event(), threading.Event(), threading.Event()
        thread.post(lambda: (started.set(), release.wait(HANG_S), ended.set()))
        assert started.wait(HANG_S)
        assert not thread.stop(0.05)
        assert not ended.is_set(), "it waited for the callback"
        release.set()
        assert thread.stop(HANG_S)

    def test_before_the_start_and_twice(self):
        thread = LoopThread("never")
        assert thread.stop()
        assert thread.stop()

    def test_a_dropped_one_stops_by_itself(self):
        thread = LoopThread("dropped")
        thread.run(value_after(1))
        os_thread = next(item for item in threading.enumerate() if item.name == "dropped")
        gone = weakref.ref(thread)
        del thread
        gc.collect()
        os_thread.join(HANG_S)
        assert gone() is None
        assert not os_thread.is_alive()

    def test_tasks_of_a_dropped_client_are_cancelled(self, caplog):
        class Client:
            """A facade in a cycle (as by a traceback), and a core whose task waits for an event of its own."""

            def __init__(self):
                self.cycle, self.thread, self.core = self, LoopThread("cycle"), types.SimpleNamespace()

        async def keep(core):
            core.event = asyncio.Event()
            try:
                await core.event.wait()
            except asyncio.CancelledError:
                ended.append("cancelled")
                raise

        async def start(core):
            core.task = asyncio.create_task(keep(core))
            await asyncio.sleep(0)

        ended = []
        client = Client()
        client.thread.run(start(client.core))
        os_thread = next(item for item in threading.enumerate() if item.name == "cycle")
        del client
        gc.collect()
        os_thread.join(HANG_S)
        assert not os_thread.is_alive()
        assert (ended, caplog.text) == (["cancelled"], "")


class TestProcess:
    """Tests that need their own process."""

    def test_ctrl_c_ends_a_wait_and_cancels_the_work(self):
        done = python(
            """
            import asyncio, os, signal, threading, time
            from kafka_core.sync.loop_thread import LoopThread
            started, cancelled = threading.Event(), threading.Event()
            async def forever():
                started.set()
                try:
                    await asyncio.Event().wait()
                finally:
                    cancelled.set()
            thread = LoopThread()
            def interrupt():
                started.wait()
                time.sleep(0.1)  # let it really block; too early is no failure
                os.kill(os.getpid(), signal.SIGINT)
            try:
                threading.Thread(target=interrupt).start()
                thread.run(forever())
            except KeyboardInterrupt:
                print("interrupted")
            assert cancelled.wait(60), "not cancelled"
            async def fine():
                return "still usable"
            print(thread.run(fine()))
            thread.stop()
            """,
            "-Werror",
        )
        assert (done.returncode, done.stdout.split("\n"), done.stderr) == (0, ["interrupted", "still usable", ""], "")

    def test_a_forked_child_is_told_and_the_parent_is_unharmed(self):
        done = python(
            """
            import asyncio, os, sys
            from kafka_core.errors import StateError
            from kafka_core.sync.loop_thread import LoopThread
            async def one():
                await asyncio.sleep(0)
                return 1
            thread, unused = LoopThread("used"), LoopThread("unused")
            thread.run(one())
            child = os.fork()
            if child == 0:
                assert not thread.pid_ok() and unused.pid_ok()
                for call in (lambda: thread.run(one()), lambda: thread.post(print)):
                    try:
                        call()
                        sys.exit(3)
                    except StateError as error:
                        assert "fork" in str(error)
                assert unused.run(one()) == 1      # was not started: starts in the child
                thread.stop()
                sys.exit(7)                         # a normal exit, with finalizers
            _, status = os.waitpid(child, 0)
            assert os.waitstatus_to_exitcode(status) == 7, status
            assert thread.run(one(), timeout_s=60) == 1
            """,
            "-Werror",
            "-Wignore:This process:DeprecationWarning",  # Python 3.12+ warns of forking with threads: our very subject
        )
        assert (done.returncode, done.stderr) == (0, "")

    @pytest.mark.parametrize("debug", ["", "1"])
    def test_exit_without_stop_is_silent_and_does_not_wait(self, debug):
        done = python(
            """
            import asyncio, logging
            from kafka_core.sync.loop_thread import LoopThread
            logging.getLogger("asyncio").setLevel(logging.ERROR)  # not the debug mode's "Executing ... took ..."
            async def background():
                await asyncio.sleep(3600)
            async def begin():
                global task, server
                task = asyncio.get_running_loop().create_task(background())
                server = await asyncio.start_server(lambda r, w: None, "127.0.0.1", 0)
                server.close()
            thread = LoopThread()
            thread.run(begin())
            future = thread.submit(background())
            """,
            "-Werror",
            PYTHONASYNCIODEBUG=debug,
        )
        assert (done.returncode, done.stdout, complaints(done.stderr)) == (0, "", "")
