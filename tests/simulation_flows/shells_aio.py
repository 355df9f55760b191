"""The asyncio shell under test: callers are tasks on a loop whose time is virtual."""

from __future__ import annotations

import asyncio
import contextvars
import inspect
import selectors
from collections.abc import Mapping
from typing import Any

from registry import AsyncSchemaRegistryClient
from registry.client.steps import Reply, Send, Unreachable
from registry.errors import TransportError
from tests.simulation_flows import actors
from tests.simulation_flows.checks import check_end, check_op
from tests.simulation_flows.world import Op, World

current: contextvars.ContextVar[Op | None] = contextvars.ContextVar("current", default=None)
LIMIT_S = 600.0


class _NoSelector(selectors.BaseSelector):
    """Waits for nothing: the time that a loop would wait has passed at once."""

    def __init__(self, world: World) -> None:
        self._world = world

    def select(self, timeout: float | None = None) -> list[Any]:
        if timeout is None:
            self._world.fail("deadlock: nothing is left that could wake a task")
        self._world.now_s += timeout or 0.0
        return []

    def register(self, *args: Any) -> Any:
        raise NotImplementedError("no file is waited for")

    def unregister(self, *args: Any) -> Any:
        raise NotImplementedError("no file is waited for")

    def get_map(self) -> Mapping[Any, Any]:
        return {}


class VirtualLoop(asyncio.BaseEventLoop):
    """An event loop without files, on the world's time."""

    def __init__(self, world: World) -> None:
        super().__init__()
        self._world = world
        self._selector = _NoSelector(world)
        self._clock_resolution = 1e-9
        self.problems: list[str] = []
        self.set_exception_handler(lambda loop, context: self.problems.append(f"{context.get('message')}: {context}"))

    def time(self) -> float:
        return self._world.now_s

    def _process_events(self, events: Any) -> None:
        assert not events


class Client(AsyncSchemaRegistryClient):
    """The client with the world's network below it."""

    world: World

    async def _send(self, step: Send) -> Reply | Unreachable:
        if self._is_closed():
            raise TransportError(-1, -1, "the registry client is closed")
        for part in self.world.exchange(current.get(), step):
            if not isinstance(part, float):
                return part
            await asyncio.sleep(part)
        raise AssertionError("an exchange ends with an outcome")


def run(seed: int) -> World:
    """One run.

    Raises:
        Violation: with seed and trace.
    """
    world = World(seed, "aio")
    loop = VirtualLoop(world)
    with actors.virtual(world):
        try:
            loop.run_until_complete(_scene(world))
        finally:
            loop.close()
    if loop.problems:
        world.fail(f"asyncio complains: {loop.problems}")
    check_end(world)
    return world


async def _scene(world: World) -> None:
    client = Client(world.conf, transport=actors.TRANSPORT)
    client.world = world
    made = actors.serializers(client, asyncio=True)
    tasks = [
        asyncio.create_task(_caller(world, client, made, name, script), name=name)
        for name, script in world.scripts().items()
    ]
    done, pending = await asyncio.wait(tasks, timeout=LIMIT_S)
    if pending:
        world.fail(f"{[task.get_name() for task in pending]} did not end")
    for task in done:
        task.result()
    if client._flights:
        await asyncio.wait(list(client._flights.values()), timeout=LIMIT_S)
        await asyncio.sleep(0)
    if client._flights:
        world.fail(f"look-ups are left: {list(client._flights)}")
    await client.aclose()


async def _caller(world: World, client: Client, made: Any, name: str, script: Any) -> None:
    for pause, kind, args in script:
        await asyncio.sleep(pause)
        op = world.begin(name, kind, args)
        current.set(op)
        work = asyncio.create_task(_call(actors.call_of(client, made, world, kind, args)))
        if world.rng.random() < 0.1:
            patience = world.rng.choice([0.0, 0.005, 0.05, 1.0])
            await asyncio.wait([work], timeout=patience)
            op.told_to_stop = work.cancel()
        try:
            result = await work
        except (Exception, asyncio.CancelledError) as error:
            world.end(op, error=error)
        else:
            world.end(op, result)
        check_op(world, op)


async def _call(call: Any) -> Any:
    found = call()
    return await found if inspect.isawaitable(found) else found
