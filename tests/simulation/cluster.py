"""The embedded cluster on the virtual network: its brokers listen there, and what they do is written into the history.

Must not know clients or checkers. It overrides the socket side of `EmbeddedCluster` and nothing else; logs of deleted
topics are kept, so that checkers can look for every record that was ever acknowledged.
"""

from __future__ import annotations

from typing import Any, cast

from kafka_core import kernels
from kafka_core.broker.cluster import ClusterState, Node
from kafka_core.broker.codes import Code
from kafka_core.broker.configs import GroupConfig, MetricsConfig
from kafka_core.broker.context import Context
from kafka_core.broker.partitions import reading
from kafka_core.broker.partitions.topics import Topic
from kafka_core.broker.server import BrokerProtocol, EmbeddedCluster
from kafka_core.broker.sharing.partitions import Given, SharePartition
from kafka_core.broker.sharing.records import Acknowledgement, Refusal, ShareRecords
from kafka_core.broker.telemetry.subscriptions import Telemetry
from kafka_core.kernels.abc import TRANSACTIONAL_FLAG
from kafka_core.protocol.messages.telemetry import PushTelemetryRequest
from tests.simulation.history import History
from tests.simulation.loop import VirtualLoop
from tests.simulation.network import LINK, VirtualNetwork
from tests.simulation.scenarios import SHARED

HOST = "10.0.0.9"
FIRST_PORT = 9092
PIPES = "pipes"
"""The group of applications that commit offsets in transactions."""


class VirtualCluster(EmbeddedCluster):
    """An embedded cluster without thread and sockets.

    Attributes:
        incarnations: every topic that ever was, deleted ones included, in the order of their making.
    """

    def __init__(
        self, loop: VirtualLoop, network: VirtualNetwork, history: History, *, brokers: int, seed: int, **others: Any
    ) -> None:
        super().__init__(brokers, seed=seed, host=HOST, **others)
        self.network = network
        self.history = history
        self.incarnations: list[Topic] = []
        self._loop = loop
        for node in self.state.nodes.values():
            node.port = FIRST_PORT + node.node_id
            self._open_port(node.node_id)
        _record_commits(self.state, history)
        _record_generations(self.state, history)
        _record_grants(self.state, history)
        _record_shares(self.state, history)
        _record_pushes(self.state, history)
        self._record_topics()
        self._moved: dict[str, int] = {}
        self._let_coordinators_move()

    def _open_port(self, node_id: int) -> None:
        node = self.state.nodes[node_id]
        self._listeners[node_id] = cast(Any, node)
        self.network.listeners[node.host, node.port] = lambda: BrokerProtocol(self, node)

    # ---- what the plan does to it

    def make_topic(self, name: str, partitions: int, configs: dict[str, str] | None = None) -> None:
        """Create a topic; does nothing if it is there, or while no broker runs."""
        if name not in self.state.topics and self.state.alive_nodes():
            factor = min(len(self.state.alive_nodes()), len(self.state.nodes), 3)
            self.state.create_topic(name, partitions, max(1, factor), configs or {})
        self.note_topics()

    def note_topics(self) -> None:
        """Remember topics that clients made."""
        for topic in self.state.topics.values():
            if topic not in self.incarnations:
                self.incarnations.append(topic)
                self.history.add("topic", topic.name, topic.topic_id.int, len(topic.partitions))

    def drop_topic(self, name: str) -> None:
        """Delete a topic; its log is kept for the checkers."""
        self.note_topics()
        topic = self.state.topics.get(name)
        if topic is not None:
            self.state.delete_topic(topic)
            self.plan_wakeup()

    def lose_tail(self, topic: str, partition: int, node_id: int, count: int) -> None:
        """An unclean election: a broker leads that lacks the last `count` records, or more: whole batches go."""
        found = self.state.topics.get(topic)
        part = found.partition(partition) if found is not None else None
        if part is None or not self.state.nodes[node_id].alive:
            return
        before = reading.messages(part)
        self.state.move_leader(topic, partition, node_id, end_offset=max(0, part.log.end_offset - count))
        end = part.log.end_offset
        values = [(item.value() or b"").decode().rstrip("#") for item in before if (item.offset() or 0) >= end]
        self.history.add("lost", topic, partition, end, tuple(values))
        self.plan_wakeup()

    def want_metrics(self, metrics: str, interval_ms: int) -> None:
        """Subscribe to metrics of all clients; without any, the subscription goes."""
        own = {"metrics": metrics, "interval.ms": str(interval_ms)} if metrics else {}
        self.state.telemetry.subscribe("all", MetricsConfig(self.state.config, own))
        self.history.add("wanted", metrics, interval_ms)

    def move_coordinator(self, group: str, node_id: int) -> None:
        """Another broker coordinates a group, which keeps members and offsets; the former one refuses it."""
        if self.state.nodes[node_id].alive:
            self._moved[group] = node_id

    def _let_coordinators_move(self) -> None:
        usual = self.state.coordinator_of

        def coordinator_of(key: str) -> Node | None:
            moved = self.state.nodes.get(self._moved.get(key, -1))
            return moved if moved is not None and moved.alive else usual(key)

        cast(Any, self.state).coordinator_of = coordinator_of

    def _record_topics(self) -> None:
        """Have each topic that is made, deleted or extended, by whomever, written into the history."""
        state = self.state
        create, delete, extend = state.create_topic, state.delete_topic, state.add_partitions

        def create_topic(*arguments: Any, **others: Any) -> Topic:
            topic = create(*arguments, **others)
            self.note_topics()
            return topic

        def delete_topic(topic: Topic) -> None:
            self.note_topics()
            delete(topic)
            self.history.add("deleted", topic.name)

        def add_partitions(name: str, total: int, *arguments: Any, **others: Any) -> None:
            extend(name, total, *arguments, **others)
            if not others.get("validate_only"):
                self.history.add("extended", name, total)

        cast(Any, state).create_topic = create_topic
        cast(Any, state).delete_topic = delete_topic
        cast(Any, state).add_partitions = add_partitions

    def crash(self, node_id: int, *, silent: bool) -> None:
        """A broker dies: connections are cut, or (silent) only nothing comes from it any more."""
        if not self.state.nodes[node_id].alive:
            return
        node = self.state.nodes[node_id]
        self._listeners.pop(node_id, None)
        self.network.listeners.pop((node.host, node.port), None)
        if silent:
            self.network.silent.add((node.host, node.port))
        for link in self.network.links_of(port=node.port):
            if silent:
                link.freeze()
                link.ends[1].lose(None)
            else:
                link.ends[1].abort()
        self.state.node_down(node_id)
        self.plan_wakeup()

    def restart(self, node_id: int) -> None:
        """A dead broker is back."""
        node = self.state.nodes[node_id]
        if node.alive:
            return
        self.network.silent.discard((node.host, node.port))
        self._open_port(node_id)
        self.state.node_up(node_id)
        for path in self.network.paths(port=node.port):
            if not path.blocked:
                self.network.unblock(path)
        self.plan_wakeup()

    # ---- the truth

    def truth(self) -> dict[tuple[int, int], list[tuple[int, str]]]:
        """(index of the incarnation, partition) → [(offset, value)] of every log that ever was."""
        self.note_topics()
        logs: dict[tuple[int, int], list[tuple[int, str]]] = {}
        for index, topic in enumerate(self.incarnations):
            for partition in topic.partitions:
                logs[index, partition.index] = [  # without markers
                    (message.offset() or 0, (message.value() or b"").decode().rstrip("#"))
                    for message in reading.messages(partition)
                ]
        return logs

    def committed_truth(self) -> dict[tuple[int, int], list[tuple[int, str]]]:
        """As `truth`, without records of transactions that are open or aborted: what `read_committed` may see."""
        found: dict[tuple[int, int], list[tuple[int, str]]] = {}
        for (index, number), records in self.truth().items():
            log = self.incarnations[index].partitions[number].log
            hidden: set[int] = set()
            aborted = [(item.producer_id, item.first_offset, item.marker_offset) for item in log._aborted]
            for batch in log.batches():
                (header,) = kernels.scan_batches(batch.data, check_crc=False)
                if header.attributes & TRANSACTIONAL_FLAG and any(
                    header.producer_id == producer and first <= batch.base_offset <= marker
                    for producer, first, marker in aborted
                ):
                    hidden.update(range(batch.base_offset, batch.last_offset + 1))
            end = log.last_stable_offset
            found[index, number] = [item for item in records if item[0] not in hidden and item[0] < end]
        return found

    def open_transactions(self) -> list[str]:
        """Partitions with open transactions."""
        return [
            f"{topic.name}[{partition.index}] by producers {sorted(partition.log.open_transactions)}"
            for topic in self.incarnations
            for partition in topic.partitions
            if partition.log.open_transactions
        ]

    def ends(self, topic: str) -> dict[int, int]:
        """End offset of every partition of a topic; empty if there is none."""
        found = self.state.topics.get(topic)
        return {} if found is None else {item.index: item.log.end_offset for item in found.partitions}

    def first_offsets(self, topic: str) -> dict[int, int]:
        """First offset of every partition of a topic; empty if there is none."""
        found = self.state.topics.get(topic)
        return {} if found is None else {item.index: item.log.start_offset for item in found.partitions}


def _record_commits(state: ClusterState, history: History) -> None:
    """Have each offset that the coordinator takes written into the history."""
    groups = state.groups
    take = groups.commit

    def commit(group_id: str, *arguments: Any, **others: Any) -> Any:
        if group_id == PIPES:  # its offsets count with its transactions: another checker looks at these
            return take(group_id, *arguments, **others)
        before = dict(groups.groups[group_id].offsets) if group_id in groups.groups else {}
        result = take(group_id, *arguments, **others)
        after = groups.groups[group_id].offsets if group_id in groups.groups else {}
        link = LINK.get()
        for key, entry in after.items():
            if before.get(key) is not entry:
                if link is not None and link.forsaken:  # it was on its way when the client gave the connection up
                    history.add("held", group_id, [(key[1], entry.offset)])
                history.add("committed", group_id, key[0], key[1], entry.offset)
        return result

    cast(Any, groups).commit = commit


def _record_generations(state: ClusterState, history: History) -> None:
    """Have each generation's members and assignments written into the history."""
    groups = state.groups
    assign = groups._assign

    def record(group: Any, assignments: Any) -> None:
        assign(group, assignments)
        history.add("generation", group.group_id, group.generation, dict(assignments))

    cast(Any, groups)._assign = record


def _record_grants(state: ClusterState, history: History) -> None:
    """Have what each member of a KIP-848 group may read, and has still to give up, written into the history."""
    groups = state.consumer_groups
    beat = groups.heartbeat
    last: dict[str, Any] = {}

    def heartbeat(call: Any) -> Any:
        if call.epoch == 0:
            history.add("joins", call.group_id, call.member_id)
        answer = beat(call)
        group = groups.groups.get(call.group_id)
        if group is not None:
            names = {topic.topic_id: name for name, topic in state.topics.items()}
            grants = {
                member.member_id: tuple(
                    sorted(
                        (names[topic_id], number)
                        for topic_id, number in (*member.assigned, *member.revoking)
                        if topic_id in names
                    )
                )
                for member in group.members.values()
            }
            if last.get(call.group_id) != grants:
                last[call.group_id] = grants
                history.add("granted", call.group_id, group.target_epoch, grants)
        return answer

    cast(Any, groups).heartbeat = heartbeat


def _record_shares(state: ClusterState, history: History) -> None:
    """Have what members of share groups are given, what they say of it and what is taken from them written down."""
    state.set_group_config(SHARED, GroupConfig(state.config, {"share.auto.offset.reset": "earliest"}))
    parts = cast(Any, state.share_partitions)
    begin = parts.begin
    known: set[SharePartition] = set()

    def begun(group_id: str, partition: Any) -> SharePartition:
        part: SharePartition = begin(group_id, partition)
        if part not in known:
            known.add(part)
            _record_share(part, history)
        return part

    parts.begin = begun


def _record_share(part: SharePartition, history: History) -> None:
    """One partition. That another broker leads, or that locks end, is told when the group comes to know of it."""
    place = (part.partition.topic.name, part.partition.index)
    known, acquire, acknowledge = part.records, part.acquire, part.acknowledge
    release, look_at_locks = part.release, part._look_at_locks
    written = part._written
    epoch = part.partition.leader_epoch
    taken: list[tuple[Any, ...]] = []

    def records() -> ShareRecords:
        nonlocal epoch
        if epoch != part.partition.leader_epoch:
            epoch = part.partition.leader_epoch
            history.add("led", *place)
        return known()

    def acquired(member_id: str, *arguments: Any, **others: Any) -> Given:
        given = acquire(member_id, *arguments, **others)
        if given.acquired:
            items = tuple((item.first, item.last, item.delivery_count) for item in given.acquired)
            history.add("acquired", member_id, *place, items)
        return given

    def acked(member_id: str, acknowledgements: list[Acknowledgement]) -> Refusal | None:
        said = tuple(
            (item.first, tuple(int(item.type_at(offset)) for offset in range(item.first, item.last + 1)))
            for item in acknowledgements
        )
        taken.append((member_id, *place, said))
        refusal = acknowledge(member_id, acknowledgements)
        if refusal is not None:
            history.add("acked", *taken.pop(), int(refusal.code))
        return refusal

    def has_written(start_offset: int) -> None:
        """Told before others are given what came back."""
        if taken:
            history.add("acked", *taken.pop(), 0)
        written(start_offset)

    def freed(member_id: str) -> None:
        history.add("freed", member_id, *place)
        release(member_id)

    def unlocked() -> None:
        history.add("unlocked", *place)
        look_at_locks()

    faces = {"records": records, "acquire": acquired, "acknowledge": acked, "release": freed}
    vars(part).update(faces, _look_at_locks=unlocked, _written=has_written)


class WatchedTelemetry(Telemetry):
    """Writes each push, what it says it covers and the broker's word of it into the history."""

    history: History

    def take(self, context: Context, request: PushTelemetryRequest) -> Code:
        """As the broker does."""
        wanted = self.instance(context, request.client_instance_id).metrics
        code = super().take(context, request)
        metrics = self.pushed[-1].metrics if not code and request.metrics else []
        covers = next(((item.start_ms, item.time_ms) for item in metrics if item.kind == "delta"), None)
        made = next((int(item.value) for item in metrics if item.name.endswith(".connection.creation.total")), None)
        strays = [item.name for item in metrics if not any(item.name.startswith(one.strip("*")) for one in wanted)]
        self.history.add("pushed", context.client_id, int(code), request.terminating, covers, made, strays)
        return code


def _record_pushes(state: ClusterState, history: History) -> None:
    """Have the pushes of clients written into the history."""
    state.telemetry = watched = WatchedTelemetry(state.config, state.clock)
    watched.history = history
