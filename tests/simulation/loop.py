"""An event loop on virtual time: no selector, no threads; the seed orders what is ready; time jumps to what is next.

Must not know Kafka. Every handle carries the context it was made in, and the context names the simulated process
(`OWNER`); handles of a process that was killed are dropped, so that it ends like one that lost its power: no `finally`.
"""

from __future__ import annotations

import asyncio
import contextvars
import heapq
import random
from collections.abc import Coroutine, Iterable
from typing import Any, Final

START_S: Final = 1_000_000.0
"""Virtual monotonic time at the beginning."""
STEP_S: Final = 20e-6
"""Seconds of one round of callbacks, so that code that waits by looking at the clock gets on."""


class Process:
    """A simulated process: what runs in its context lives and dies with it.

    Attributes:
        wall_offset_s: what its wall clock is ahead of the others.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self.alive = True
        self.wall_offset_s = 0.0
        self.tasks: list[asyncio.Task[Any]] = []

    def __repr__(self) -> str:
        return self.name


OWNER: Final[contextvars.ContextVar[Process | None]] = contextvars.ContextVar("OWNER", default=None)


class Stuck(Exception):
    """Nothing is ready and no timer is set, but the simulation has not ended: somebody waits for ever."""


class Sealed(Exception):
    """Something reached for the world outside the simulation."""


class VirtualFuture(asyncio.Future[Any]):
    """A future whose place in a set does not depend on its address."""

    def __init__(self, serial: int, **others: Any) -> None:
        super().__init__(**others)
        self.serial = serial

    def set_exception(self, exception: type | BaseException, /) -> None:
        """Fails; in a burial nobody is left who could look at it."""
        super().set_exception(exception)
        loop = self.get_loop()
        if isinstance(loop, VirtualLoop) and loop.burying:
            self._log_traceback = False

    def __hash__(self) -> int:
        return self.serial

    def __eq__(self, other: object) -> bool:
        return self is other


class VirtualTask(asyncio.Task[Any]):
    """A task whose place in a set does not depend on its address."""

    def __init__(self, serial: int, work: Coroutine[Any, Any, Any], **others: Any) -> None:
        self.serial = serial
        super().__init__(work, **others)

    def __hash__(self) -> int:
        return self.serial

    def __eq__(self, other: object) -> bool:
        return self is other


class VirtualLoop(asyncio.BaseEventLoop):
    """Runs until its work is done, as fast as the machine can, in an order that only the seed decides.

    asyncio promises that callbacks run in the order of `call_soon`; that is kept. Nothing is promised about the steps
    of different tasks: with `shuffle` those of one round run in any order, also relative to callbacks.

    Attributes:
        problems: what asyncio would have logged: exceptions nobody looked at, callbacks that failed.
        rounds: how often the loop has turned; for bounds and for the trace.
        burying: what is left of killed processes is being cleared away; its code runs outside of the simulation.
    """

    def __init__(self, rng: random.Random, *, shuffle: bool = True) -> None:
        super().__init__()
        self.problems: list[str] = []
        self.rounds = 0
        self.last_round = 0
        self._rng = rng
        self._shuffle = shuffle
        self._now_s = START_S
        self._serial = 0
        self._dead = False
        self.burying = False
        self._clock_resolution = 1e-9
        self.set_exception_handler(self._on_problem)
        self.set_task_factory(self._make_task)

    # ---- time

    def time(self) -> float:
        """Virtual seconds; moves only between rounds."""
        return self._now_s

    def stall(self, seconds: float) -> None:
        """Time passes for everybody while nobody can run: the machine was suspended."""
        self._now_s += seconds

    # ---- processes

    def spawn(self, process: Process, work: Coroutine[Any, Any, Any], name: str = "") -> asyncio.Task[Any]:
        """Run a coroutine as part of a process; whatever it starts belongs to that process too."""
        context = contextvars.copy_context()
        context.run(OWNER.set, process)
        return self.create_task(work, name=name or process.name, context=context)

    def kill(self, process: Process) -> None:
        """End a process without a word: none of its tasks, callbacks and timers runs any more."""
        process.alive = False
        self._dead = True

    def bury(self, tasks: Iterable[asyncio.Task[Any]]) -> None:
        """After the run: get rid of tasks that will never end, without anybody hearing of it."""
        self.burying = True
        for task in tasks:
            if not task.done():
                task._log_destroy_pending = False  # type: ignore[attr-defined]
            work: Any = task.get_coro()
            for _ in range(100):  # a finally block that awaits goes on with the next close()
                try:
                    work.close()
                    break
                except BaseException:
                    continue
        self.burying = False

    # ---- one round

    def _run_once(self) -> None:
        inner: Any = self  # BaseEventLoop keeps its queues to itself
        timers, ready = inner._scheduled, inner._ready
        if not ready and not inner._stopping:
            while timers and timers[0]._cancelled:
                heapq.heappop(timers)._scheduled = False
            if not timers:
                raise Stuck("nothing is ready and no timer is set")
            self._now_s = max(self._now_s, timers[0]._when)
        else:
            self._now_s += STEP_S
        while timers and timers[0]._when <= self._now_s:
            handle = heapq.heappop(timers)
            handle._scheduled = False
            ready.append(handle)
        self.rounds += 1
        if self.last_round and self.rounds > self.last_round:
            after_s = self._now_s - START_S
            raise Stuck(f"{self.rounds} rounds, {after_s:.1f} s of virtual time, without an end: something spins")
        batch: list[asyncio.Handle] = list(ready)
        ready.clear()
        if self._shuffle and len(batch) > 1:
            batch = self._mixed(batch)
        for handle in batch:
            if not handle._cancelled and not (self._dead and self._is_dead(handle)):
                handle._run()

    def _mixed(self, batch: list[asyncio.Handle]) -> list[asyncio.Handle]:
        """The round in another order: task steps anywhere, callbacks among each other as they were."""
        steps = {id(handle) for handle in batch if is_task_step(handle)}
        if not steps:
            return batch
        callbacks = iter([handle for handle in batch if id(handle) not in steps])
        mixed = list(batch)
        self._rng.shuffle(mixed)
        return [handle if id(handle) in steps else next(callbacks) for handle in mixed]

    @staticmethod
    def _is_dead(handle: asyncio.Handle) -> bool:
        owner = handle._context.get(OWNER)  # type: ignore[attr-defined]
        return owner is not None and not owner.alive

    # ---- what asyncio asks of a loop

    def create_future(self) -> asyncio.Future[Any]:
        """A future with a serial number."""
        self._serial += 1
        return VirtualFuture(self._serial, loop=self)

    def _make_task(self, loop: Any, work: Any, context: Any = None) -> VirtualTask:
        del loop
        self._serial += 1
        task = VirtualTask(self._serial, work, loop=self, context=context)
        owner = (context or contextvars.copy_context()).get(OWNER)
        if owner is not None:
            owner.tasks.append(task)
            if len(owner.tasks) > 200:
                owner.tasks = [known for known in owner.tasks if not known.done()]
        return task

    def _on_problem(self, loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        del loop
        error = context.get("exception")
        self.problems.append(f"{context.get('message')}: {error!r} {_where(error)}".strip())

    def _write_to_self(self) -> None:
        raise Sealed("call_soon_threadsafe: there are no threads in the simulation")

    def _process_events(self, event_list: Any) -> None:
        raise Sealed("there is no selector in the simulation")

    def run_in_executor(self, *arguments: Any) -> Any:  # type: ignore[override]
        """Not in here."""
        raise Sealed("run_in_executor: there are no threads in the simulation")

    def add_reader(self, *arguments: Any) -> Any:  # type: ignore[override]
        """Not in here."""
        raise Sealed("add_reader: there are no sockets in the simulation")

    async def create_connection(self, *arguments: Any, **others: Any) -> Any:
        """Not in here: connections come from the virtual network."""
        raise Sealed("create_connection: there are no sockets in the simulation")


def is_task_step(handle: asyncio.Handle) -> bool:
    """Whether a handle lets a task go on."""
    return isinstance(getattr(handle._callback, "__self__", None), asyncio.Task)  # type: ignore[attr-defined]


def _where(error: BaseException | None) -> str:
    """File and line where an exception was raised."""
    trace = getattr(error, "__traceback__", None)
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    return f"({trace.tb_frame.f_code.co_filename}:{trace.tb_lineno})" if trace is not None else ""
