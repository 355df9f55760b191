"""The simulator's own parts: loop, network, seal, shrinker, plans."""

from __future__ import annotations

import asyncio
import gc
import random
import re
import socket
import threading
import time
from typing import Any

import pytest

from kafka_core.aio.net.transport import TransportSettings
from kafka_core.clock import SystemClock
from kafka_core.errors import NetworkError
from tests.simulation import world as world_of_simulation
from tests.simulation.judge import judge
from tests.simulation.loop import OWNER, START_S, Process, Sealed, Stuck, VirtualLoop
from tests.simulation.network import VirtualNetwork
from tests.simulation.plan import Action, Plan
from tests.simulation.scenarios import SCENARIOS, plan_for
from tests.simulation.sealed import sealed
from tests.simulation.shrink import shrink

ADDRESS = ("host", 1)


def finished(work: Any, *, seed: int = 1, shuffle: bool = False, loop: VirtualLoop | None = None) -> Any:
    """The result of a coroutine on a virtual loop."""
    own = loop or VirtualLoop(random.Random(seed), shuffle=shuffle)
    try:
        return own.run_until_complete(work)
    finally:
        own.close()


# ---- loop


def test_time_jumps_to_what_is_next() -> None:
    async def sleeps() -> float:
        await asyncio.sleep(86_400.0)
        return asyncio.get_running_loop().time() - START_S

    assert finished(sleeps()) == pytest.approx(86_400.0, abs=0.01)


def order_of(seed: int, shuffle: bool) -> list[int]:
    """In which order ten tasks that are ready at the same time run."""
    seen: list[int] = []

    async def step(number: int) -> None:
        seen.append(number)

    async def all_steps() -> None:
        await asyncio.gather(*(step(number) for number in range(10)))

    finished(all_steps(), seed=seed, shuffle=shuffle)
    return seen


def test_the_seed_decides_the_order_of_tasks() -> None:
    assert order_of(1, shuffle=False) == list(range(10))
    assert order_of(1, shuffle=True) == order_of(1, shuffle=True) != list(range(10))
    assert order_of(1, shuffle=True) != order_of(2, shuffle=True)


def test_callbacks_keep_their_order() -> None:
    seen: list[int] = []

    async def calls() -> None:
        for number in range(10):
            asyncio.get_running_loop().call_soon(seen.append, number)
        await asyncio.gather(*(asyncio.sleep(0) for _ in range(10)))

    finished(calls(), shuffle=True)
    assert seen == list(range(10))


def test_waiting_for_nothing_is_told() -> None:
    async def waits() -> None:
        await asyncio.get_running_loop().create_future()

    work = waits()
    with pytest.raises(Stuck):
        finished(work)
    work.close()


def test_a_run_that_does_not_end_says_who_lives(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(world_of_simulation, "MAX_ROUNDS", 500)
    result = world_of_simulation.run(plan_for(3, "group"))
    assert result.rounds == 501
    (late,) = result.late
    assert re.match(r"501 rounds, \d+\.\d s of virtual time, without an end: something spins; .* lives", late)
    assert any("501 rounds" in str(violation) for violation in judge(result))


def test_a_killed_process_ends_without_a_word() -> None:
    loop = VirtualLoop(random.Random(1))
    seen: list[str] = []
    victim = Process("victim")

    async def child() -> None:
        try:
            await asyncio.sleep(10.0)
        finally:
            seen.append("finally")

    async def parent() -> None:
        task = asyncio.ensure_future(child())
        await asyncio.sleep(5.0)
        seen.append("five")
        await task

    async def world() -> None:
        loop.spawn(victim, parent())
        await asyncio.sleep(1.0)
        assert OWNER.get() is None
        loop.kill(victim)
        await asyncio.sleep(60.0)

    loop.run_until_complete(world())
    assert seen == []
    loop.bury(victim.tasks)
    loop.close()
    assert loop.problems == []


def test_problems_are_kept() -> None:
    loop = VirtualLoop(random.Random(1))

    def breaks() -> None:
        raise ValueError("broken")

    async def world() -> None:
        loop.call_soon(breaks)
        await asyncio.sleep(1.0)

    finished(world(), loop=loop)
    assert len(loop.problems) == 1
    assert "broken" in loop.problems[0]


# ---- seal


@pytest.mark.parametrize(
    "reach",
    [
        lambda: socket.socket(),
        lambda: threading.Thread(target=print).start(),
        lambda: time.sleep(0),
        lambda: __import__("os").urandom(1),
        lambda: __import__("uuid").uuid4(),
        lambda: asyncio.get_running_loop().run_in_executor(None, print),
        lambda: asyncio.get_running_loop().call_soon_threadsafe(print),
        lambda: asyncio.get_running_loop().add_reader(0, print),
    ],
)
def test_the_world_outside_is_out_of_reach(reach: Any) -> None:
    loop = VirtualLoop(random.Random(1))

    async def reaches() -> None:
        with pytest.raises(Sealed):
            reach()

    with sealed(loop, 1, lambda: None):
        finished(reaches(), loop=loop)


def test_clocks_and_chance_are_the_simulations_and_come_back() -> None:
    async def looks() -> list[float]:
        await asyncio.sleep(10.0)
        return [time.monotonic(), SystemClock().monotonic(), time.time(), random.SystemRandom().random()]

    real = time.monotonic
    results = []
    for _ in range(2):
        loop = VirtualLoop(random.Random(1))
        with sealed(loop, 7, lambda: None):
            results.append(finished(looks(), loop=loop))
    assert results[0] == results[1]
    assert results[0][0] == results[0][1]
    assert time.monotonic is real
    assert SystemClock().monotonic is real


# ---- network


class End(asyncio.BufferedProtocol):
    """Remembers what happens to one end."""

    def __init__(self) -> None:
        self.got = b""
        self.lost: list[Exception | None] = []
        self.paused = 0
        self.buffer = bytearray(7)
        self.transport: Any = None

    def connection_made(self, transport: Any) -> None:
        self.transport = transport

    def get_buffer(self, sizehint: int) -> memoryview:
        return memoryview(self.buffer)

    def buffer_updated(self, nbytes: int) -> None:
        self.got += self.buffer[:nbytes]

    def eof_received(self) -> bool:
        return False

    def pause_writing(self) -> None:
        self.paused += 1

    def resume_writing(self) -> None:
        self.paused -= 1

    def connection_lost(self, exc: Exception | None) -> None:
        self.lost.append(exc)


class Wire:
    """A network with one listener."""

    def __init__(self, seed: int = 1) -> None:
        self.loop = VirtualLoop(random.Random(seed))
        self.network = VirtualNetwork(self.loop, seed, split=0.5)
        self.servers: list[End] = []
        self.network.listeners[ADDRESS] = self.serve

    def serve(self) -> End:
        self.servers.append(End())
        return self.servers[-1]

    async def open(self, setup_s: float = 5.0) -> End:
        end = End()
        await self.network.open(TransportSettings(setup_timeout_s=setup_s), *ADDRESS, lambda: end)
        return end

    def run(self, work: Any) -> None:
        finished(work, loop=self.loop)


def test_bytes_arrive_in_order_and_then_the_end() -> None:
    wire = Wire()

    async def talk() -> None:
        end = await wire.open()
        for number in range(50):
            end.transport.write(b"%d," % number)
        end.transport.close()
        await asyncio.sleep(1.0)
        assert wire.servers[0].got == b"".join(b"%d," % number for number in range(50))
        assert wire.servers[0].lost == end.lost == [None]
        assert wire.network.links == {}

    wire.run(talk())


def test_a_blocked_path_holds_bytes_and_connections_back() -> None:
    wire = Wire()

    async def talk() -> None:
        end = await wire.open()
        (path,) = wire.network.paths()
        wire.network.block(path)
        end.transport.write(b"x" * 100_000)
        assert end.paused == 1
        with pytest.raises(NetworkError, match="no connection within 2 s"):
            await wire.open(2.0)
        assert wire.servers[0].got == b""
        wire.network.unblock(path)
        await asyncio.sleep(1.0)
        assert len(wire.servers[0].got) == 100_000
        assert end.paused == 0

    wire.run(talk())


def test_a_cut_is_heard_at_both_ends_and_half_open_at_none() -> None:
    wire = Wire()

    async def talk() -> None:
        end, other = await wire.open(), await wire.open()
        first, second = wire.network.links.values()
        first.reset()
        second.freeze()
        other.transport.write(b"lost")
        await asyncio.sleep(60.0)
        assert isinstance(end.lost[0], ConnectionResetError)
        assert isinstance(wire.servers[0].lost[0], ConnectionResetError)
        assert other.lost == wire.servers[1].lost == []
        assert wire.servers[1].got == b""

    wire.run(talk())


def test_nobody_listens() -> None:
    wire = Wire()
    wire.network.listeners.clear()

    async def talk() -> None:
        with pytest.raises(NetworkError, match="connection refused"):
            await wire.open()

    wire.run(talk())


# ---- plans


def test_the_shrinker_finds_the_actions_that_matter() -> None:
    plan = Plan(1, "x", 1, {}, (), tuple(Action(float(number), "a", (number,)) for number in range(40)))

    def shows(candidate: Plan) -> bool:
        return {7, 23} <= {action.args[0] for action in candidate.actions}

    assert [action.args[0] for action in shrink(plan, shows).actions] == [7, 23]


def test_what_fails_in_a_burial_is_no_finding() -> None:
    loop = VirtualLoop(random.Random(1))

    async def parent() -> None:
        told = loop.create_future()
        try:
            try:
                await loop.create_future()
            finally:
                await asyncio.wait([loop.create_future()])  # raises: no loop runs
        except RuntimeError as error:
            told.set_exception(error)
            raise

    async def world() -> None:
        loop.create_task(parent())
        await asyncio.sleep(1.0)

    finished(world(), loop=loop)
    loop.bury(asyncio.all_tasks(loop))
    loop.close()
    gc.collect()
    assert loop.problems == []


@pytest.mark.parametrize("name", SCENARIOS)
def test_a_plan_survives_as_text(name: str) -> None:
    plan = plan_for(5, name)
    assert Plan.from_json(plan.to_json()).to_json() == plan.to_json()
    assert plan_for(5, name) == plan
