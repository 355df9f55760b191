"""Puts a run together: loop, network, cluster, applications; carries a plan out and asks the checkers.

Must not know how plans are drawn. One run uses nothing of the machine but memory and processor (see `sealed`).
"""

from __future__ import annotations

import asyncio
import contextlib
import gc
import logging
import random
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, Final, TypeVar

from tests.simulation.admin_app import AdminApp
from tests.simulation.apps import App
from tests.simulation.checkers.progress import missing
from tests.simulation.checkers.shares import Shares
from tests.simulation.checkers.spans import Spans
from tests.simulation.cluster import VirtualCluster
from tests.simulation.consumer_app import ConsumerApp, MemberApp, ReaderApp
from tests.simulation.faults import Faults
from tests.simulation.history import History
from tests.simulation.loop import START_S, Stuck, VirtualLoop
from tests.simulation.network import VirtualNetwork
from tests.simulation.pipe_app import OUTPUT, PipeApp
from tests.simulation.plan import Plan
from tests.simulation.producer_app import ProducerApp
from tests.simulation.share_app import ShareApp

ROLES: Final[dict[str, type[App]]] = {
    "producer": ProducerApp,
    "reader": ReaderApp,
    "member": MemberApp,
    "admin": AdminApp,
    "pipe": PipeApp,
    "sharer": ShareApp,
}
MAX_ROUNDS: Final = 100_000
"""A run that has not ended by then does not end. The longest of 311 seeds that were measured needs a tenth."""
SAMPLE_S: Final = 0.25
LATEST_REQUEST_S: Final = 4.0
"""Brokers handle a request that they hold back by then."""
STANDSTILL_S: Final = 10.0
"""Consumers that get nothing new for so long, when all works again, have come to a standstill."""

AppT = TypeVar("AppT", bound=App)


@dataclass(slots=True)
class Run:
    """The results of a run, for the checkers.

    Attributes:
        truth: (incarnation, partition) → [(offset, value)] of every log that ever was.
        committed: the same, without what is in open or aborted transactions.
        open_transactions: partitions that have some at the end.
        incarnations: (topic, id) of each topic that ever was.
        leftovers: tasks, connections and timers that live on after everything was closed.
        problems: what asyncio, the log and the warnings told.
        late: what had not come to an end when the time was over.
        memory: (who, bytes held, bytes allowed) at the worst moment of each client.
        digest: of all bytes and events; equal for equal runs.
    """

    plan: Plan
    history: History
    truth: dict[tuple[int, int], list[tuple[int, str]]] = field(default_factory=dict)
    committed: dict[tuple[int, int], list[tuple[int, str]]] = field(default_factory=dict)
    open_transactions: list[str] = field(default_factory=list)
    incarnations: list[tuple[str, int]] = field(default_factory=list)
    leftovers: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    late: list[str] = field(default_factory=list)
    memory: dict[str, tuple[int, int]] = field(default_factory=dict)
    rounds: int = 0
    virtual_s: float = 0.0
    digest: int = 0

    def produced(self) -> Iterator[tuple[tuple[int, int], list[tuple[int, str]]]]:
        """`truth` of what producers wrote; the output of pipes is copied from it."""
        return (item for item in self.truth.items() if self.incarnations[item[0][0]][0] != OUTPUT)


class World:
    """One simulation."""

    def __init__(self, plan: Plan, loop: VirtualLoop, history: History) -> None:
        self.plan = plan
        self.loop = loop
        self.history = history
        self.network = VirtualNetwork(loop, plan.seed, latency_s=plan.latency_s, split=plan.split)
        self.network.connected = lambda: history.add("connected")
        self.cluster = VirtualCluster(
            loop,
            self.network,
            history,
            brokers=plan.brokers,
            seed=plan.seed,
            auto_create_topics=False,
            properties={"group.min.session.timeout.ms": "100", **plan.properties},
        )
        self.apps: dict[str, App] = {}
        self.all_apps: list[App] = []
        self.faults = Faults(self)
        self.memory: dict[str, tuple[int, int]] = {}
        self.late: list[str] = []

    @property
    def bootstrap(self) -> str:
        """Addresses of all brokers."""
        return ",".join(f"{node.host}:{node.port}" for node in self.cluster.state.nodes.values())

    # ---- what faults use

    def app(self, name: str, kind: type[AppT] = App) -> AppT | None:  # type: ignore[assignment]
        """The application of that name, if it lives and is of that kind."""
        found = self.apps.get(name)
        return found if isinstance(found, kind) and found.alive else None

    def start(self, name: str) -> None:
        """Start a client; one that lives is left alone."""
        if self.app(name) is not None:
            return
        client = self.plan.client(name)
        incarnation = sum(app.client.name == name for app in self.all_apps)
        app = ROLES[client.role](self, client, incarnation)
        self.apps[name] = app
        self.all_apps.append(app)
        self.history.add("start", app.process.name)
        app.start()

    def kill(self, name: str) -> None:
        """A client's process dies; the brokers see its connections end."""
        app = self.app(name)
        if app is None:
            return
        self.history.add("kill", app.process.name)
        self.loop.kill(app.process)
        for link in self.network.links_of(app.process.name):
            link.forsake()

    def after(self, seconds: float, action: Callable[[], object]) -> None:
        """Do something later."""
        self.loop.call_later(seconds, action)

    # ---- the run

    async def live(self) -> None:
        """The schedule, then the end in good order."""
        for name, partitions in self.plan.topics.items():
            self.cluster.make_topic(name, partitions)
        watch = self.loop.create_task(self._watch())
        for action in self.plan.actions:
            delay_s = START_S + action.at_s - self.loop.time()
            if delay_s > 0:
                await asyncio.sleep(delay_s)
            self.history.add("do", action.what, *action.args)
            self.faults.do(action.what, action.args)
        self.history.add("mend")
        self.faults.mend()
        await self._end_admins()
        await self._drain()
        self.history.add("drained")
        await self._close()
        watch.cancel()
        self._measure()

    async def _end_admins(self) -> None:
        """Admin clients finish, and what they sent takes effect, before the topics are those of the plan again."""
        admins = [app for app in self.all_apps if isinstance(app, AdminApp)]
        for app in admins:
            if app.alive:
                app.finish()
        if not await self._until(lambda: not any(app.alive for app in admins), self.loop.time() + 60.0):
            self.late += [f"{app.process}: not closed" for app in admins if app.alive]
        if admins:
            await asyncio.sleep(LATEST_REQUEST_S)
            self.faults.mend_topics()

    async def _drain(self) -> None:
        """Producers send the rest and close; then consumers must come to the end of what they read."""
        producers = [app for app in self.apps.values() if isinstance(app, ProducerApp) and app.alive]
        timeouts_ms = [app.client.conf.get("message.timeout.ms", 0) for app in producers]
        limit_s = self.loop.time() + self.plan.drain_s + max(timeouts_ms, default=0) / 1000
        if self.plan.probe:
            await self._probe(producers)
        await self._push_again()
        for app in producers:
            app.finish()
        if not await self._until(lambda: not any(app.alive for app in producers), limit_s):
            self.late += [f"{app.process}: not closed" for app in producers if app.alive]
        await self._see_to_readers(limit_s)
        await self._read_to_the_end(limit_s)
        await self._pipe_to_the_end(limit_s)
        await self._share_to_the_end(limit_s)

    async def _push_again(self) -> None:
        """Whoever is subscribed to metrics of clients gets some of each, now that all works."""
        wanted = list(self.history.of("wanted"))
        throttled = any(action.what == "answer" and action.args[:2] == (71, "error") for action in self.plan.actions)
        if not wanted or throttled or not all(event.data[0] for event in wanted):
            return  # a client that was told that nobody wants anything, or to ask later, does so after five minutes
        since = len(self.history.events)

        def silent() -> set[str]:
            pushed = {
                event.data[0] for event in self.history.events[since:] if event.what == "pushed" and not event.data[1]
            }
            return {app.process.name for app in self.apps.values() if app.alive} - pushed

        if not await self._until(lambda: not silent(), self.loop.time() + 30.0):
            self.late += [f"{name}: pushes no metrics" for name in sorted(silent())]

    async def _read_to_the_end(self, limit_s: float) -> None:
        """Consumers come to the end of what they read; later than `limit_s` only while they still get on."""
        if not any(isinstance(app, ConsumerApp) and app.alive for app in self.apps.values()):
            return
        spans = Spans(self.plan)
        before: list[str] = []
        while left := missing(self, spans):
            now_s = self.loop.time()
            if left != before:
                before, limit_s = left, max(limit_s, now_s + STANDSTILL_S)
            if now_s >= limit_s:
                self.late += left
                return
            await asyncio.sleep(0.1)

    def unfinished(self) -> str:
        """The living applications and the unread records, in words."""
        alive = [f"{app.process} lives" for app in self.apps.values() if app.alive]
        return ", ".join(alive + missing(self, Spans(self.plan))) or "nobody lives"

    async def _pipe_to_the_end(self, limit_s: float) -> None:
        """Whatever pipes read is in the output, committed; those that died are started again for it."""
        pipes = [client.name for client in self.plan.clients if client.role == "pipe"]
        if not pipes:
            return
        for name in pipes:
            self.start(name)

        def left() -> set[str]:
            seen: dict[str, set[str]] = {"t": set(), OUTPUT: set()}
            for topic, logs in (("t", self.cluster.truth()), (OUTPUT, self.cluster.committed_truth())):
                for (index, _), records in logs.items():
                    if self.cluster.incarnations[index].name == topic:
                        seen[topic].update(value for _, value in records)
            return seen["t"] - seen[OUTPUT]

        if not await self._until(lambda: not left(), limit_s):
            self.late.append(f"inputs that are not in the output: {sorted(left())[:5]}")

    async def _share_to_the_end(self, limit_s: float) -> None:
        """A share group is done with every record; members that left or died are started again for it."""
        names = [client.name for client in self.plan.clients if client.role == "sharer"]
        if not names:
            return
        leaving = [app for app in self.apps.values() if isinstance(app, ShareApp) and app.finishing]
        await self._until(lambda: not any(app.alive for app in leaving), limit_s)
        for name in names:
            self.start(name)
            app = self.app(name, ShareApp)
            if app is not None:
                app.mend()
        shares = Shares(self.plan)

        def left() -> list[str]:
            shares.feed(self.history.events)
            ends = {
                (topic, number): end for topic in self.plan.topics for number, end in self.cluster.ends(topic).items()
            }
            return shares.left(ends)

        if not await self._until(lambda: not left(), limit_s):
            self.late += left()

    async def _see_to_readers(self, limit_s: float) -> None:
        """Members that were about to end are started again, and what a late command has paused is resumed."""
        leaving = [app for app in self.apps.values() if isinstance(app, ConsumerApp) and app.finishing]
        await self._until(lambda: not any(app.alive for app in leaving), limit_s)
        for name in [app.client.name for app in leaving if isinstance(app, MemberApp)]:
            self.start(name)
        for app in self.apps.values():
            if isinstance(app, ConsumerApp):
                app.resume()

    async def _probe(self, producers: list[ProducerApp]) -> None:
        """A record per partition finds out which connections are dead; a few more must then get through."""
        for app in producers:
            for topic, partitions in self.plan.topics.items():
                for partition in range(partitions):
                    app.order(topic, 1, partition=partition)
        self.history.add("mending")
        await self._until(lambda: not any(app.orders for app in producers if app.alive), self.loop.time() + 30)
        await asyncio.sleep(8.0)
        for app in producers:
            for topic in self.plan.topics:
                app.order(topic, 3)
        self.history.add("recovered")

    async def _close(self) -> None:
        apps = [app for app in self.apps.values() if app.alive]
        for app in apps:
            app.finish()
        if not await self._until(lambda: not any(app.alive for app in apps), self.loop.time() + 40.0):
            self.late += [f"{app.process}: close() did not end" for app in apps if app.alive]
        await asyncio.sleep(0.5)

    async def _until(self, done: Callable[[], bool], limit_s: float) -> bool:
        while not done():
            if self.loop.time() >= limit_s:
                return False
            await asyncio.sleep(0.1)
        return True

    async def _watch(self) -> None:
        while True:
            await asyncio.sleep(SAMPLE_S)
            self._measure()

    def _measure(self) -> None:
        for app in self.all_apps:
            if app.process.alive:
                held, allowed = app.memory()
                known = self.memory.get(app.process.name, (0, 1))
                if held - allowed >= known[0] - known[1] or app.process.name not in self.memory:
                    self.memory[app.process.name] = (held, allowed)

    def leftovers(self) -> list[str]:
        """Objects that live on although every client is closed."""
        here = asyncio.current_task(self.loop)
        found = [
            f"task {task.get_name()}: {task.get_coro()}"
            for task in sorted(asyncio.all_tasks(self.loop), key=lambda task: getattr(task, "serial", 0))
            if task is not here and self._lives(task)
        ]
        alive = {app.process.name for app in self.all_apps if app.process.alive}
        return found + [
            f"a connection of {link.client} to port {link.address[1]}"
            for link in self.network.links.values()
            if link.client in alive and not link.ends[0].lost
        ]

    def _lives(self, task: asyncio.Task[Any]) -> bool:
        return not any(task in app.process.tasks for app in self.all_apps if not app.process.alive)


def run(plan: Plan) -> Run:
    """Carry out a plan."""
    from tests.simulation.sealed import sealed

    loop = VirtualLoop(random.Random(plan.seed ^ 0x0DDE7), shuffle=plan.shuffle)
    loop.last_round = MAX_ROUNDS
    history = History(loop.time)
    result = Run(plan, history)
    gc_was_on = gc.isenabled()
    gc.disable()
    gc.collect()  # what others left is not heard below
    try:
        with _ears(loop) as heard:
            network: list[VirtualNetwork] = []

            async def open_transport(*arguments: Any) -> Any:
                return await network[0].open(*arguments)

            with sealed(loop, plan.seed, open_transport):
                world = World(plan, loop, history)
                network.append(world.network)
                _live(world, result)
                for app in world.all_apps:
                    if not app.process.alive:
                        loop.bury(app.process.tasks)
                        app.process.tasks.clear()
                loop.bury(asyncio.all_tasks(loop))
                del world
            loop.close()
            gc.collect()
            result.problems += loop.problems + heard
    finally:
        if gc_was_on:
            gc.enable()
    return result


def _live(world: World, result: Run) -> None:
    try:
        world.loop.run_until_complete(world.live())
    except Stuck as stuck:
        result.late.append(f"{stuck}; {world.unfinished()}")
    result.late += world.late
    result.leftovers = world.leftovers()
    result.truth, result.committed = world.cluster.truth(), world.cluster.committed_truth()
    result.open_transactions = world.cluster.open_transactions()
    result.incarnations = [(topic.name, topic.topic_id.int) for topic in world.cluster.incarnations]
    result.problems += [f"the broker failed: {error!r}" for error in world.cluster.state.failures]
    result.memory = world.memory
    result.rounds = world.loop.rounds
    result.virtual_s = world.loop.time() - START_S
    result.digest = world.network.digest


@contextlib.contextmanager
def _ears(loop: VirtualLoop) -> Iterator[list[str]]:
    """Hears what would be logged as an error or warned of."""
    heard: list[str] = []

    class Ear(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            cause = record.exc_info[1] if record.exc_info else None
            heard.append(f"log: {record.getMessage()}" + (f": {cause!r}" if cause is not None else ""))

    ear = Ear(logging.ERROR)
    loggers = [logging.getLogger(name) for name in ("kafka_core", "asyncio")]
    for logger in loggers:
        logger.addHandler(ear)
    kept = [logger.propagate for logger in loggers]
    try:
        with warnings.catch_warnings(record=True) as warned:
            warnings.simplefilter("always")
            for logger in loggers:
                logger.propagate = False
            yield heard
            heard += [f"warning: {item.message}" for item in warned]
    finally:
        for logger, propagate in zip(loggers, kept, strict=True):
            logger.removeHandler(ear)
            logger.propagate = propagate
