"""The blocking shell under test: callers are threads of which one runs at a time, and the seed says which.

A thread gives way where it waits (requests, pauses, locks, look-ups of others) and at lines of the code under test that
the seed chooses: so the races of a few instructions are met that real threads meet once a year.
"""

from __future__ import annotations

import gc
import sys
import threading
import traceback
import types
from collections.abc import Callable
from concurrent.futures import CancelledError
from typing import Any

import registry.client.blocking
import registry.client.cache
import registry.client.flows
import registry.client.operations
import serdes.engine.cache
import serdes.engine.deserializer
import serdes.engine.serializer
from registry import SchemaRegistryClient
from registry.client.steps import Reply, Send, Unreachable
from registry.errors import TransportError
from tests.simulation_flows import actors
from tests.simulation_flows.checks import check_end, check_op
from tests.simulation_flows.world import Op, Violation, World

TRACED = {
    module.__file__
    for module in (
        registry.client.cache,
        registry.client.blocking,
        registry.client.operations,
        registry.client.flows,
        serdes.engine.cache,
        serdes.engine.deserializer,
        serdes.engine.serializer,
    )
}
LIMIT_S = 600.0


class _Stop(BaseException):
    """The run has failed: the thread unwinds."""


class Caller:
    """A thread of the simulation."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.go = threading.Semaphore(0)
        self.ready: Callable[[], bool] = lambda: True
        self.wakes_at_s: float | None = None
        self.waits_for = ""
        self.ended = False
        self.interrupted = False
        self.op: Op | None = None
        self.thread: threading.Thread | None = None


class Scheduler:
    """Lets one thread run at a time."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.callers: list[Caller] = []
        self.current: Caller | None = None
        self.problem: BaseException | None = None
        self._stopping = False
        self._back = threading.Semaphore(0)
        self._switch = world.rng.choice([0.0, 0.05, 0.3])

    def spawn(self, name: str, function: Callable[[], None]) -> None:
        caller = Caller(name)

        def body() -> None:
            caller.go.acquire()
            if self._switch:
                sys.settrace(self._trace)
            try:
                function()
            except _Stop:
                return
            except BaseException as error:
                self.problem = self.problem or error
            finally:
                sys.settrace(None)
                caller.ended = True
                self._back.release()

        caller.thread = threading.Thread(target=body, name=name, daemon=True)
        caller.thread.start()
        self.callers.append(caller)

    def run(self) -> None:
        """Runs all threads to their ends.

        Raises:
            Violation: they can't end.
        """
        try:
            self._run()
        finally:
            self._stopping = True
            for caller in self.callers:
                caller.go.release()
                assert caller.thread is not None
                caller.thread.join()

    def _run(self) -> None:
        rng, world = self.world.rng, self.world
        while not self.problem:
            living = [caller for caller in self.callers if not caller.ended]
            if not living:
                return
            runnable = [caller for caller in living if self._runnable(caller)]
            if not runnable:
                times = [caller.wakes_at_s for caller in living if caller.wakes_at_s is not None]
                if not times:
                    world.fail(f"deadlock: {[(caller.name, caller.waits_for) for caller in living]}\n{_stacks(living)}")
                world.now_s = min(times)
                if world.now_s > 1000.0 + LIMIT_S:
                    world.fail("no end")
                continue
            self.current = rng.choice(runnable)
            self.current.ready, self.current.wakes_at_s = (lambda: True), None
            self.current.go.release()
            self._back.acquire()
        raise self.problem

    def _runnable(self, caller: Caller) -> bool:
        if caller.wakes_at_s is not None and caller.wakes_at_s <= self.world.now_s:
            return True
        return caller.wakes_at_s is None and caller.ready()

    # --- what threads call

    def give_way(self) -> None:
        caller = self.current
        assert caller is not None
        if self._stopping:
            raise _Stop
        self._back.release()
        caller.go.acquire()
        if self._stopping:
            raise _Stop
        self.current = caller

    def sleep(self, seconds: float) -> None:
        caller = self.current
        assert caller is not None
        caller.wakes_at_s = self.world.now_s + seconds
        self.give_way()
        self._interrupt(caller)

    def wait(self, ready: Callable[[], bool], what: str) -> None:
        caller = self.current
        assert caller is not None
        while not ready():
            caller.ready, caller.waits_for = ready, what
            self.give_way()
        if what != "lock":
            self._interrupt(caller)

    def _interrupt(self, caller: Caller) -> None:
        """Ctrl-C, if the operation is one that meets it."""
        if caller.op is not None and caller.op.told_to_stop and self.world.rng.random() < 0.3:
            caller.interrupted = True
            raise KeyboardInterrupt

    def _trace(self, frame: types.FrameType, event: str, arg: object) -> Any:
        return self._line if frame.f_code.co_filename in TRACED else None

    def _line(self, frame: types.FrameType, event: str, arg: object) -> Any:
        if event == "line" and self.world.rng.random() < self._switch:
            self.give_way()
        return self._line


def _stacks(living: list[Caller]) -> str:
    frames = sys._current_frames()
    found = [frames.get(caller.thread.ident or 0) for caller in living if caller.thread is not None]
    return "\n".join("".join(traceback.format_stack(frame)[-8:]) for frame in found if frame is not None)


class Lock:
    """A lock between threads of the simulation."""

    scheduler: Scheduler

    def __init__(self) -> None:
        self.held = False

    def __enter__(self) -> Lock:
        if Lock.scheduler.current is not None:
            Lock.scheduler.wait(lambda: not self.held, "lock")
        self.held = True
        return self

    def __exit__(self, *error: object) -> None:
        self.held = False


class Future:
    """The result of a look-up that several threads wait for."""

    def __init__(self) -> None:
        self._outcome: tuple[str, Any] | None = None

    def __class_getitem__(cls, item: object) -> type[Future]:
        return cls

    def done(self) -> bool:
        return self._outcome is not None

    def result(self, slice_s: float | None = None) -> Any:
        Lock.scheduler.wait(lambda: self._outcome is not None, "look-up of another caller")
        assert self._outcome is not None
        kind, value = self._outcome
        if kind == "error":
            raise value
        if kind == "cancelled":
            raise CancelledError
        return value

    def set_result(self, value: Any) -> None:
        self._outcome = ("result", value)

    def set_exception(self, error: BaseException) -> None:
        self._outcome = ("error", error)

    def cancel(self) -> None:
        self._outcome = ("cancelled", None)


class Client(SchemaRegistryClient):
    """The client with the world's network below it."""

    world: World

    def _send(self, step: Send) -> Reply | Unreachable:
        if self._is_closed():
            raise TransportError(-1, -1, "the registry client is closed")
        scheduler = Lock.scheduler
        assert scheduler.current is not None
        for part in self.world.exchange(scheduler.current.op, step):
            if not isinstance(part, float):
                return part
            scheduler.sleep(part)
        raise AssertionError("an exchange ends with an outcome")


def run(seed: int) -> World:
    """One run.

    Raises:
        Violation: with seed and trace.
    """
    gc.disable()  # what it finalises would be traced, and the lines that run draw from the seed
    try:
        return _run(World(seed, "threads"))
    finally:
        gc.enable()


def _run(world: World) -> World:
    scheduler = Lock.scheduler = Scheduler(world)
    threads = types.SimpleNamespace(Lock=Lock)
    with actors.virtual(world, threading=threads, Future=Future, sleep=scheduler.sleep):
        client = Client(world.conf, transport=actors.TRANSPORT)
        client.world = world
        made = actors.serializers(client, asyncio=False)
        for name, script in world.scripts().items():
            scheduler.spawn(name, lambda name=name, script=script: _caller(scheduler, client, made, name, script))  # type: ignore[misc]
        try:
            scheduler.run()
        except Violation:
            raise
        except Exception as error:
            world.fail(f"a thread died: {error!r}\n{''.join(traceback.format_exception(error))}")
        if client._flights._under_way:
            world.fail(f"look-ups are left: {list(client._flights._under_way)}")
        client.close()
    check_end(world)
    return world


def _caller(scheduler: Scheduler, client: Client, made: Any, name: str, script: Any) -> None:
    world, caller = scheduler.world, scheduler.current
    assert caller is not None
    for pause, kind, args in script:
        scheduler.sleep(pause)
        op = caller.op = world.begin(name, kind, args)
        op.told_to_stop = world.rng.random() < 0.1
        try:
            result = actors.call_of(client, made, world, kind, args)()
        except (Exception, KeyboardInterrupt) as error:
            world.end(op, error=error)
        else:
            world.end(op, result)
        caller.op = None
        check_op(world, op)
