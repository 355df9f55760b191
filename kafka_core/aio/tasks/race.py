"""Two small tools of the asyncio side: staggered attempts of which the first success wins, and daemon-thread calls.

Must not know Kafka.
Spec: none; the staggering follows the idea of RFC 8305 (happy eyeballs).
"""

import asyncio
import threading
from collections.abc import Awaitable, Callable, Sequence
from typing import TypeVar

from kafka_core.aio.tasks.background import retrieve_error

T = TypeVar("T")


class AllFailed(Exception):
    """Every attempt of `race` failed; `failures` holds their exceptions in the order of the attempts."""

    def __init__(self, failures: Sequence[Exception]) -> None:
        super().__init__("; ".join(map(str, failures)))
        self.failures = tuple(failures)


async def race(attempts: Sequence[Callable[[], Awaitable[T]]], *, stagger_s: float) -> T:
    """The first success among attempts.

    The next attempt starts when one has failed, or when `stagger_s` seconds have passed without any result; when one
    succeeds (or the caller is cancelled) the others are cancelled and waited for.

    Raises:
        AllFailed: none succeeded; also when there are no attempts.
    """
    started: list[asyncio.Future[T]] = []
    try:
        running: set[asyncio.Future[T]] = set()
        while len(started) < len(attempts) or running:
            if len(started) < len(attempts):
                running.add(_start(attempts[len(started)], started))
            more = len(started) < len(attempts)
            done, running = await asyncio.wait(
                running, timeout=stagger_s if more else None, return_when=asyncio.FIRST_COMPLETED
            )
            for task in done:
                if not task.cancelled() and task.exception() is None:
                    return task.result()
        raise AllFailed([_failure(task) for task in started])
    finally:
        await _end(started)


def _start(attempt: Callable[[], Awaitable[T]], started: list["asyncio.Future[T]"]) -> "asyncio.Future[T]":
    task = asyncio.ensure_future(attempt())
    started.append(task)
    return task


def _failure(task: "asyncio.Future[T]") -> Exception:
    error = None if task.cancelled() else task.exception()
    if isinstance(error, Exception):
        return error
    if error is not None:
        raise error
    return TimeoutError("cancelled")


async def _end(attempts: Sequence["asyncio.Future[T]"]) -> None:
    """Cancel those that run, and look at every failure, so that asyncio does not report it as lost."""
    running = [task for task in attempts if not task.done()]
    for task in running:
        task.cancel()
    try:
        if running:
            await asyncio.wait(running, timeout=1.0)
    finally:
        for task in attempts:
            if task.done():
                retrieve_error(task)
            else:
                task.add_done_callback(retrieve_error)


async def in_daemon_thread(name: str, fn: Callable[..., T], *args: object) -> T:
    """Call blocking `fn(*args)` in a daemon thread of its own and wait for it.

    Unlike `asyncio.to_thread`, a call that hangs (a name server, a user's callback) never delays the interpreter's
    exit. When the caller is cancelled the thread goes on and its result is dropped. Where no thread can be started,
    the call is made here, and the loop waits for it.
    """
    loop = asyncio.get_running_loop()
    future: asyncio.Future[T] = loop.create_future()

    def settle(result: T | None, error: BaseException | None) -> None:
        if future.done():
            return
        if error is not None:
            future.set_exception(error)
        else:
            future.set_result(result)  # type: ignore[arg-type]  # result is a T when there is no error

    def work() -> None:
        result: T | None = None
        error: BaseException | None = None
        try:
            result = fn(*args)
        except BaseException as raised:
            error = RuntimeError(repr(raised)) if isinstance(raised, StopIteration) else raised
        if not loop.is_closed():
            try:
                loop.call_soon_threadsafe(settle, result, error)
            except RuntimeError:  # the loop was closed between the check and the call: nobody waits any more
                return

    try:
        threading.Thread(target=work, name=name, daemon=True).start()
    except RuntimeError:  # out of threads, or (from Python 3.12 on) the interpreter is ending: better late than never
        work()
    return await future
