"""One background thread with an asyncio loop, for the blocking clients: run a coroutine and wait, or post a call.

Must not know Kafka: it moves coroutines and calls to its loop and results back.
Spec: none; the promises (Ctrl-C, fork, exit) are listed in docs of `LoopThread`.
"""

import asyncio
import concurrent.futures
import contextlib
import os
import signal
import threading
import time
import weakref
from collections.abc import Callable, Coroutine
from typing import Any, Final, TypeVar

from kafka_core.aio.net.tokens import loop_without_token
from kafka_core.errors import KafkaError, NetworkError, StateError
from kserdes_base.forks import share_no_fork
from kserdes_base.waiting import slice_of

T = TypeVar("T")

EXIT_TIMEOUT_S: Final = 2.0
"""Seconds that the interpreter's exit (or garbage collection) waits for a loop that nobody stopped."""

_TERMINAL_SIGNALS: Final = {signal.SIGINT, signal.SIGTERM, signal.SIGHUP} if hasattr(signal, "SIGHUP") else set()


_WAITS_FOR_ITSELF: Final = "{}: a blocking call was made on the client's own thread; it would wait for itself"


def _settle(future: "concurrent.futures.Future[T]", fn: Callable[[], T]) -> None:
    """On the loop: what `fn` gives or raises goes to who waits, unless nobody does any more."""
    if not future.set_running_or_notify_cancel():
        return
    try:
        result = fn()
    except Exception as error:
        future.set_exception(error)
    else:
        future.set_result(result)


def _result(future: "concurrent.futures.Future[T]", timeout_s: float | None) -> T:
    """`future.result(timeout_s)`, waited for in slices, so that no signal is noticed late."""
    deadline_s = None if timeout_s is None else time.monotonic() + timeout_s
    while True:
        left_s = None if deadline_s is None else deadline_s - time.monotonic()
        try:
            return future.result(slice_of(left_s))
        except TimeoutError:
            if future.done() or (left_s is not None and left_s <= 0):
                raise


class _QuietLoop(asyncio.SelectorEventLoop):
    """A selector loop whose finalizer does nothing, and which holds its tasks until they are done.

    In a forked child the loop object is still there, but its epoll descriptor is shared with the parent: closing it
    in the child (as the base class's `__del__` does) would take the parent's wake-up pipe out of the parent's epoll
    set, and the parent would hang. Everywhere else the owner closes the loop.

    asyncio itself holds tasks weakly. If a client that nobody holds is found by the garbage collector (because an
    exception's traceback led to it), a task of it that waits for an event of its own would go at the same time,
    pending and with a complaint, before the loop could cancel it.
    """

    def __init__(self) -> None:
        super().__init__()
        self._held: set[asyncio.Task[Any]] = set()

    def create_task(self, coro: Any, **options: Any) -> asyncio.Task[Any]:
        task: asyncio.Task[Any] = super().create_task(coro, **options)
        self._held.add(task)
        task.add_done_callback(self._held.discard)
        return task

    def __del__(self) -> None:
        return


class _Core:
    """The state that the thread may hold: everything but the `LoopThread`, so that dropping that one stops it."""

    __slots__ = ("__weakref__", "ident", "loop", "pid", "stopping", "thread")

    def __init__(self, name: str) -> None:
        self.pid = os.getpid()
        self.stopping = False
        self.loop = _QuietLoop()
        self.thread = threading.Thread(target=self._main, name=name, daemon=True)
        try:
            self.thread.start()
        except RuntimeError as error:  # out of threads; or, from Python 3.12 on, the interpreter is ending
            self.loop.close()
            raise StateError(f"{name}: the client's thread can't be started: {error}") from error
        self.ident = self.thread.ident

    def _main(self) -> None:
        # The kernel may hand a process-wide signal to any thread that does not block it. If this one took Ctrl-C, the
        # main thread would go on sleeping in its lock, so this thread (and the ones it starts) must never get it.
        if hasattr(signal, "pthread_sigmask"):
            signal.pthread_sigmask(signal.SIG_BLOCK, _TERMINAL_SIGNALS)
        asyncio.set_event_loop(self.loop)
        try:
            self.loop.run_forever()
            self.loop.run_until_complete(_cancel_everything())
        finally:
            asyncio.set_event_loop(None)
            self.loop.close()

    def stop(self, timeout_s: float) -> bool:
        """Stop the loop and wait; True when the thread has ended. Harmless in a child process and when called twice."""
        if self.pid != os.getpid():
            return True
        if not self.stopping:
            self.stopping = True
            with contextlib.suppress(RuntimeError):  # the loop closed itself after an error in its thread
                self.loop.call_soon_threadsafe(self.loop.stop)
        if threading.current_thread() is self.thread:  # garbage collection may run a finalizer right here
            return False
        self.thread.join(timeout_s)
        return not self.thread.is_alive()


async def _cancel_everything() -> None:
    """Cancel all tasks until none is left; they get a few rounds, since a cancelled task may start another."""
    me = asyncio.current_task()
    for _ in range(10):
        tasks = [task for task in asyncio.all_tasks() if task is not me]
        if not tasks:
            break
        for task in tasks:
            task.cancel()
        await asyncio.wait(tasks, timeout=1.0)
    await asyncio.get_running_loop().shutdown_asyncgens()
    for _ in range(3):  # aborted transports close their sockets one loop round after the abort
        await asyncio.sleep(0)


class LoopThread:
    """An event loop in a daemon thread, started by the first call that needs it.

    Promises:
      * `run` blocks the caller only; Ctrl-C in the main thread raises KeyboardInterrupt at once and cancels the work.
      * It belongs to the process that started it. In a forked child every call raises StateError with that reason
        (a thread does not survive a fork, so waiting for it would hang forever). One that was not started before the
        fork simply works in the child.
      * `stop` is bounded in time. Without `stop`, dropping the object or the interpreter's exit stops the thread, with
        no warning.

    All methods may be called from any thread but the loop's own (`post` and `pid_ok` also from there).
    """

    def __init__(self, name: str = "kafka-core") -> None:
        self.name = name
        self._lock = threading.RLock()
        self._core: _Core | None = None
        self._finalizer: weakref.finalize[[float], LoopThread] | None = None
        self._closed = False
        self._forked = False
        share_no_fork(self)

    # ---- state

    def pid_ok(self) -> bool:
        """False in a process that was forked after this thread had been started."""
        return not self._forked

    @property
    def running(self) -> bool:
        """Whether the thread has been started, was not stopped and belongs to this process."""
        return self._core is not None and not self._closed and not self._forked

    @property
    def loop(self) -> asyncio.AbstractEventLoop:
        """The loop (starting the thread if need be); only its thread-safe methods may be used from outside."""
        with self._lock:
            return self._start().loop

    def check(self) -> None:
        """Raise StateError when the thread cannot be used: forked or stopped. Cheap enough for every call."""
        if self._forked:
            raise StateError(
                f"{self.name}: this client was made before the process forked, and its thread did not come along; "
                "make a new client in the child process (for example in a worker's post-fork hook)"
            )
        if self._closed:
            raise StateError(f"{self.name}: the client is closed")

    def on_loop_thread(self) -> bool:
        """Whether the caller runs on this loop's thread."""
        return self._core is not None and threading.get_ident() == self._core.ident

    def can_wait(self) -> bool:
        """Whether this thread may wait for the loop: it is not the loop's, nor inside `oauth_cb` (`check_can_wait`)."""
        core = self._core
        return core is None or (threading.get_ident() != core.ident and loop_without_token() is not core.loop)

    def check_can_wait(self) -> None:
        """Refuse to wait inside `oauth_cb` for what the client can do only with the token from there.

        Raises:
            StateError: the caller is `oauth_cb`, and the client has no valid token yet.
        """
        loop = loop_without_token()
        if loop is not None and self._core is not None and self._core.loop is loop:
            raise StateError(
                f"{self.name}: oauth_cb called its own client, which can send and receive nothing before oauth_cb has "
                "returned a token; return the token first, or use another client there"
            )

    # ---- work

    def run(self, coro: Coroutine[Any, Any, T], timeout_s: float | None = None, *, keep: bool = False) -> T:
        """Run `coro` on the loop and wait for its result (or exception).

        Args:
            coro: Taken over in any case: closed unstarted when this call is refused.
            timeout_s: How long to wait; None waits forever. Afterwards the coroutine is cancelled.
            keep: The coroutine goes on to its end even if Ctrl-C ends this wait.

        Raises:
            StateError: forked, stopped (also while waiting), called on the loop's own thread, or as `check_can_wait`.
            NetworkError: code _TIMED_OUT, when `timeout_s` has passed.
            KeyboardInterrupt: at once on Ctrl-C in the main thread; the coroutine is cancelled, unless it is kept.
        """
        try:
            self.check_can_wait()
        except BaseException:
            coro.close()
            raise
        return self._await(self.submit(coro), timeout_s, keep=keep)

    def call(self, fn: Callable[[], T], timeout_s: float | None = None) -> T:
        """Run `fn()` on the loop's thread and wait for what it gives; for what has nothing to await, in one turn.

        Raises:
            StateError, NetworkError, KeyboardInterrupt: as `run`.
        """
        self.check_can_wait()
        if self.on_loop_thread():
            raise StateError(_WAITS_FOR_ITSELF.format(self.name))
        future: concurrent.futures.Future[T] = concurrent.futures.Future()
        with self._lock:  # as in `submit`: what is posted before stop is still called
            self._start().loop.call_soon_threadsafe(_settle, future, fn)
        return self._await(future, timeout_s)

    def _await(self, future: "concurrent.futures.Future[T]", timeout_s: float | None, *, keep: bool = False) -> T:
        try:
            return _result(future, timeout_s)
        except concurrent.futures.CancelledError:
            raise StateError(f"{self.name}: the client was closed while the call was waiting") from None
        except TimeoutError:
            if future.done() and not future.cancelled():  # the coroutine's own, or its result came this very moment
                return future.result()
            future.cancel()
            raise NetworkError(
                f"{self.name}: no result within {timeout_s:g} s"
                if timeout_s is not None
                else f"{self.name}: timed out",
                KafkaError._TIMED_OUT,
            ) from None
        except BaseException:  # KeyboardInterrupt, or what a signal handler raised in our wait
            if not keep:
                future.cancel()
            raise

    def begin(self, coro: Coroutine[Any, Any, object], *, waits: bool) -> None:
        """Start what a new client does at once; if it `waits` and fails, the thread stops and the error is raised."""
        if not waits:
            self.submit(coro)
            return
        try:
            self.run(coro)
        except BaseException:
            self.stop()
            raise

    def submit(self, coro: Coroutine[Any, Any, T]) -> "concurrent.futures.Future[T]":
        """Start `coro` on the loop without waiting; cancelling the future cancels it. Raises StateError as `run`."""
        try:
            if self.on_loop_thread():
                raise StateError(_WAITS_FOR_ITSELF.format(self.name))
            with self._lock:  # under the lock, a submission is either before stop (then it is cancelled) or refused
                return asyncio.run_coroutine_threadsafe(coro, self._start().loop)
        except BaseException:
            coro.close()
            raise

    def post(self, fn: Callable[..., object], *args: object) -> None:
        """Call `fn(*args)` soon on the loop's thread; returns at once. Raises StateError when forked or stopped."""
        core = self._core
        if core is None or self._closed or self._forked:
            with self._lock:
                core = self._start()
        try:
            core.loop.call_soon_threadsafe(fn, *args)
        except RuntimeError as error:
            raise StateError(f"{self.name}: the client is closed") from error

    def stop(self, timeout_s: float = EXIT_TIMEOUT_S) -> bool:
        """Stop for good: cancels what runs, closes the loop, waits at most `timeout_s` seconds for the thread.

        Returns whether the thread has ended (False: a callback blocks it; it is a daemon and dies with the process).
        May be called again; does nothing in a forked child.
        """
        with self._lock:
            self._closed = True
            core = self._core
        if core is None or self._forked:
            return True
        ended = core.stop(timeout_s)
        if ended and self._finalizer is not None:
            self._finalizer.detach()
        return ended

    # ---- inside

    def _start(self) -> _Core:
        self.check()
        if self._core is None:
            self._core = _Core(self.name)
            self._finalizer = weakref.finalize(self, self._core.stop, EXIT_TIMEOUT_S)
        return self._core

    def _after_fork(self) -> None:
        self._lock = threading.RLock()  # another thread may have held it while we forked
        if self._core is not None and not self._closed:
            self._forked = True
