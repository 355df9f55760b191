"""Carries out the actions of a plan: what applications are told to do, and what goes wrong around them.

Must not know checkers. An action that makes no sense at its moment (a dead client, an unknown topic) does nothing, so
that the shrinker may leave out any of them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from kafka_core.broker.cluster import Refused
from kafka_core.broker.faults import Delay, Disconnect, Rule
from kafka_core.protocol.messages.offset_commit import OffsetCommitRequest
from tests.simulation.admin_app import AdminApp
from tests.simulation.consumer_app import ConsumerApp, MemberApp, ReaderApp
from tests.simulation.producer_app import ProducerApp
from tests.simulation.share_app import ShareApp

if TYPE_CHECKING:
    from tests.simulation.world import World


class Faults:
    """Every action by its name; the arguments are those of `Action.args`."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.rules: list[Rule] = []

    def do(self, what: str, args: tuple[Any, ...]) -> None:
        """Carry out one action."""
        getattr(self, f"do_{what}")(*args)

    # ---- applications

    def do_start(self, name: str) -> None:
        """Start a client, or start it again after its death."""
        self.world.start(name)

    def do_send(self, name: str, topic: str, count: int, size_bytes: int = 0) -> None:
        """Have a producer send records."""
        app = self.world.app(name, ProducerApp)
        if app is not None:
            app.order(topic, count, size_bytes)

    def do_call(self, name: str, method: str, *args: Any) -> None:
        """Have a consumer do something beside polling: seek, pause, resume, commit, assign, look, hold, rest …"""
        app = self.world.app(name)
        if isinstance(app, ReaderApp | MemberApp | ShareApp) and hasattr(app, method):
            getattr(app, method)(*args)

    def do_admin(self, name: str, operation: str, topic: str, number: int) -> None:
        """Have an admin client create, delete or extend a topic, or list its offsets."""
        app = self.world.app(name, AdminApp)
        if app is not None:
            app.order(operation, topic, number)

    def do_cancel(self, name: str, call: str) -> None:
        """Cancel a call that runs: poll, produce, commit, seek, close, …"""
        app = self.world.app(name)
        if app is not None:
            app.cancel(call)

    def do_finish(self, name: str) -> None:
        """Have a client end in good order."""
        app = self.world.app(name)
        if app is not None:
            app.finish()

    def do_kill(self, name: str) -> None:
        """A client's process dies."""
        self.world.kill(name)

    def do_wall(self, name: str, seconds: float) -> None:
        """A client's wall clock jumps."""
        app = self.world.app(name)
        if app is not None:
            app.process.wall_offset_s += seconds

    def do_suspend(self, seconds: float) -> None:
        """The whole machine stands still."""
        self.world.loop.stall(seconds)

    # ---- the network

    def do_cut(self, name: str | None, node: int | None) -> None:
        """Cut the connections of a client (None: all) to a broker (None: all)."""
        for link in self._links(name, node):
            link.reset()

    def do_freeze(self, name: str | None, node: int | None) -> None:
        """Leave those connections half-open: nothing arrives any more, and nobody is told."""
        for link in self._links(name, node):
            link.freeze()

    def do_stall(self, name: str | None, node: int | None, seconds: float) -> None:
        """Nothing arrives between client and broker for a while; then it all does."""
        network = self.world.network
        for path in network.paths(self._process(name), self._port(node)):
            if not path.blocked:
                network.block(path)
                self.world.after(seconds, lambda path=path: network.unblock(path))  # type: ignore[misc]

    def do_slow(self, name: str | None, node: int | None, factor: float, seconds: float) -> None:
        """The way between client and broker takes `factor` times as long for a while."""
        for path in self.world.network.paths(self._process(name), self._port(node)):
            path.latency_s *= factor

            def back(path: Any = path) -> None:
                path.latency_s /= factor

            self.world.after(seconds, back)

    # ---- brokers

    def do_crash(self, node: int, seconds: float, silent: bool) -> None:
        """A broker dies and comes back after a while; `silent`: its machine dies, nobody is told."""
        self.world.cluster.crash(node, silent=silent)
        self.world.after(seconds, lambda: self.world.cluster.restart(node))

    def do_lead(self, topic: str, partition: int, node: int) -> None:
        """Another broker leads a partition."""
        try:
            self.world.cluster.state.move_leader(topic, partition, node)
            self.world.cluster.plan_wakeup()
        except Refused:
            return

    def do_lose(self, topic: str, partition: int, node: int, count: int) -> None:
        """A broker leads a partition that lacks its last records."""
        self.world.cluster.lose_tail(topic, partition, node, count)

    def do_coordinate(self, group: str, node: int) -> None:
        """Another broker coordinates a group; the former one lives on."""
        self.world.cluster.move_coordinator(group, node)

    def do_create(self, topic: str, partitions: int) -> None:
        """Make a topic."""
        self.world.cluster.make_topic(topic, partitions)

    def do_delete(self, topic: str) -> None:
        """Delete a topic."""
        self.world.cluster.drop_topic(topic)

    def do_extend(self, topic: str, partitions: int) -> None:
        """A topic gets more partitions."""
        try:
            self.world.cluster.state.add_partitions(topic, partitions)
        except Refused:
            return

    def do_want(self, metrics: str, interval_ms: int) -> None:
        """The operators subscribe to metrics of all clients; to none of them, if none are named."""
        self.world.cluster.want_metrics(metrics, interval_ms)

    def do_answer(self, api: int, kind: str, node: int | None, times: int, value: float) -> None:
        """Brokers treat the next requests of one API badly: an error, a late answer, the end of the connection."""
        actions: dict[str, Callable[[], Any]] = {
            "error": lambda: int(value),
            "slow": lambda: Delay(value),
            "late": lambda: Delay(value, handled=True),
            "hang_up": lambda: Disconnect(),
            "cut_answer": lambda: Disconnect(handled=True),
        }

        def act(request: Any, context: object) -> Any:
            if kind == "slow" and isinstance(request, OffsetCommitRequest):
                offsets = [
                    (item.partition_index, item.committed_offset) for of in request.topics for item in of.partitions
                ]
                self.world.history.add("held", request.group_id, offsets)
            return actions[kind]()

        rule = Rule(api, act, times, node)
        self.rules.append(rule)
        self.world.cluster.state.faults.add(rule)

    # ---- the end

    def mend(self) -> None:
        """Everything works again."""
        world = self.world
        world.cluster.state.faults.clear()
        for node in world.cluster.state.nodes.values():
            world.cluster.restart(node.node_id)
        for path in world.network.paths():
            world.network.unblock(path)
        self.mend_topics()
        for client in world.plan.clients:
            if client.role in ("member", "sharer"):
                world.start(client.name)
        for app in world.apps.values():
            if isinstance(app, ConsumerApp):
                app.hold(False)
                app.resume()
            elif isinstance(app, ShareApp):
                app.mend()

    def mend_topics(self) -> None:
        """The plan's topics are there again."""
        for name, partitions in self.world.plan.topics.items():
            self.world.cluster.make_topic(name, partitions)

    def _links(self, name: str | None, node: int | None) -> list[Any]:
        return self.world.network.links_of(self._process(name), self._port(node))

    def _process(self, name: str | None) -> str | None:
        app = self.world.apps.get(name) if name is not None else None
        return app.process.name if app is not None else name

    def _port(self, node: int | None) -> int | None:
        return None if node is None else self.world.cluster.state.nodes[node].port
