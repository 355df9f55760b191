"""State of the whole virtual cluster: brokers, topics, groups, producer ids, and the operations on them.

Must not know: sockets, threads, request bytes. Everything runs on one thread; time and random are passed in.
Spec: https://kafka.apache.org/protocol; a `ClusterState` plays all brokers and the controller of a KRaft cluster.
"""

from __future__ import annotations

import base64
import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

from kafka_core.broker.codes import Code
from kafka_core.broker.configs import BrokerConfig, GroupConfig, TopicConfig, topic_config_problem
from kafka_core.broker.faults import Faults
from kafka_core.broker.groups.classic_coordinator import GroupCoordinator, GroupSettings
from kafka_core.broker.groups.classic_groups import CommittedOffset
from kafka_core.broker.groups.consumer_coordinator import ConsumerGroups, ConsumerGroupSettings
from kafka_core.broker.groups.migration import Migration
from kafka_core.broker.parking import Timers
from kafka_core.broker.partitions.appending import append_marker
from kafka_core.broker.partitions.cutting import lose_tail
from kafka_core.broker.partitions.fetch_sessions import FetchSessions
from kafka_core.broker.partitions.topics import NO_LEADER, Partition, Topic, spread_replicas, topic_name_problem
from kafka_core.broker.security.acls import Authorizer
from kafka_core.broker.security.sasl import SaslSettings, scram_users
from kafka_core.broker.sharing.coordinator import ShareGroups
from kafka_core.broker.sharing.partitions import SharePartitions
from kafka_core.broker.sharing.sessions import ShareSession, ShareSessions
from kafka_core.broker.telemetry.subscriptions import Telemetry
from kafka_core.broker.transactions import TransactionCoordinator
from kafka_core.clock import Clock
from kafka_core.protocol import ZERO_UUID
from kserdes_base.java_hash import java_hash

_COORDINATOR_PARTITIONS = 50


class Refused(Exception):
    """An operation on the cluster is not possible; `code` and the text go into the answer."""

    def __init__(self, code: Code, text: str) -> None:
        super().__init__(text)
        self.code = code


@dataclass(frozen=True, slots=True)
class Feature:
    """A feature of the cluster (KIP-584): the levels that brokers support, and the one that is in force (0: none)."""

    first: int
    last: int
    level: int


@dataclass(slots=True, eq=False)
class Node:
    """One virtual broker. `alive` is False while it is stopped; its port stays its own."""

    node_id: int
    host: str
    port: int
    sessions: FetchSessions
    share_sessions: ShareSessions
    rack: str | None = None
    alive: bool = True


class ClusterState:
    """Brokers, topics and groups.

    Args:
        node_ids: ids of the brokers.
        clock: monotonic and wall time.
        rng: source of ids.
        properties: broker properties by their names in server.properties; the same for all brokers.
        sasl: None for a cluster without authentication.
        max_versions: upper bound per API key, to play an older broker; None hides the API.
    """

    def __init__(
        self,
        node_ids: Sequence[int],
        clock: Clock,
        rng: random.Random,
        properties: Mapping[str, str] | None = None,
        sasl: SaslSettings | None = None,
        max_versions: Mapping[int, int | None] | None = None,
        host: str = "127.0.0.1",
    ) -> None:
        if not node_ids:
            raise ValueError("a cluster needs at least one broker")
        self.clock = clock
        self.rng = rng
        self.config = BrokerConfig(properties or {})
        self.sasl = sasl
        self.scram = scram_users(sasl, rng)
        self.authorizer = Authorizer(self.config)
        self.max_versions = dict(max_versions or {})
        self.timers = Timers(clock)
        self.faults = Faults()
        self.cluster_id = base64.urlsafe_b64encode(rng.getrandbits(128).to_bytes(16, "big")).decode().rstrip("=")
        slots = self.config.integer("max.incremental.fetch.session.cache.slots")
        most = self.config.integer("group.share.max.share.sessions")
        self.nodes = {
            node_id: Node(node_id, host, 0, FetchSessions(rng, slots), ShareSessions(most)) for node_id in node_ids
        }
        self.topics: dict[str, Topic] = {}
        self.topics_by_id: dict[UUID, Topic] = {}
        self.groups = GroupCoordinator(clock, self.timers, rng, _group_settings(self.config))
        self.group_configs: dict[str, GroupConfig] = {}
        self.consumer_groups = ConsumerGroups(
            self.timers,
            _consumer_group_settings(self.config),
            self.group_config,
            self._topic_facts,
            self.groups.groups,
        )
        self.share_partitions = SharePartitions(self.group_config, self.timers, clock)
        self.share_groups = ShareGroups(
            self.timers,
            self.config.integer("group.share.max.size"),
            self.group_config,
            self._topic_facts,
            lambda group_id: group_id in self.groups.groups,
            self._begin_sharing,
        )
        self.features = _features(self.config)
        longest_ms = self.config.integer("transaction.max.timeout.ms")
        self.transactions = TransactionCoordinator(clock, self.timers, self, longest_ms)
        self.migration = Migration(
            self.consumer_groups, self.groups, lambda name: f"{name}-{UUID(int=rng.getrandbits(128), version=4)}"
        )
        self.telemetry = Telemetry(self.config, clock)
        self._next_producer_id = 0
        self._next_leader = 0
        #: Errors inside the broker itself (a handler, an interceptor); the shell shows them.
        self.failures: list[Exception] = []

    # ---- brokers -------------------------------------------------------------------------------------------------

    def alive_nodes(self) -> list[Node]:
        """Brokers that run, by id."""
        return [node for node in self.nodes.values() if node.alive]

    @property
    def controller_id(self) -> int:
        """The broker named as controller (any broker takes controller requests), -1 when none runs."""
        alive = self.alive_nodes()
        return alive[0].node_id if alive else -1

    def node_down(self, node_id: int) -> None:
        """A broker stopped: others lead its partitions, its fetch sessions are gone."""
        node = self.nodes[node_id]
        node.alive = False
        node.sessions = FetchSessions(self.rng, self.config.integer("max.incremental.fetch.session.cache.slots"))
        node.share_sessions.clear()
        for partition in self.partitions():
            partition.node_down(node_id)

    def node_up(self, node_id: int) -> None:
        """A stopped broker runs again and is in sync."""
        self.nodes[node_id].alive = True
        for partition in self.partitions():
            partition.node_up(node_id)

    def coordinator_of(self, key: str) -> Node | None:
        """The coordinator of a group or transactional id: fixed by its name, the next living one if that is down."""
        nodes = list(self.nodes.values())
        slot = (java_hash(key) & 0x7FFFFFFF) % _COORDINATOR_PARTITIONS
        turns = [nodes[(slot + step) % len(nodes)] for step in range(len(nodes))]
        return next((node for node in turns if node.alive), None)

    def coordinates(self, node_id: int, key: str) -> bool:
        """Whether this broker answers for the group or transactional id."""
        node = self.coordinator_of(key)
        return node is not None and node.node_id == node_id

    def disconnected(self, node_id: int, connection_id: int) -> None:
        """A client's connection is gone, and with it its share sessions there: others get what it had."""
        self.telemetry.disconnected(node_id, connection_id)
        sessions = self.nodes[node_id].share_sessions
        for session in sessions.of_connection(connection_id):
            self.end_share_session(node_id, session)

    def end_share_session(self, node_id: int, session: ShareSession) -> None:
        """A member reads no more at a broker: what it had of the session's partitions comes back."""
        self.nodes[node_id].share_sessions.remove(session)
        for topic_id, index in session.partitions:
            part = self.share_partitions.get(session.group_id, topic_id, index)
            if part is not None:
                part.release(session.member_id)

    # ---- groups --------------------------------------------------------------------------------------------------

    def group_config(self, group_id: str) -> GroupConfig:
        """The properties of a group, whether it has any of its own or not."""
        return self.group_configs.get(group_id) or GroupConfig(self.config)

    def set_group_config(self, group_id: str, config: GroupConfig) -> None:
        """Gives a group properties of its own, or takes the last of them away."""
        if config.own:
            self.group_configs[group_id] = config
        else:
            self.group_configs.pop(group_id, None)

    def delete_share_group(self, group_id: str) -> Code:
        """Forget an empty share group and all it knows of its partitions."""
        code = self.share_groups.delete(group_id)
        if code is Code.NONE:
            self.share_partitions.forget(group_id=group_id)
        return code

    def _begin_sharing(self, group_id: str, keys: Iterable[tuple[UUID, int]]) -> None:
        for topic_id, index in keys:
            self.share_partitions.begin(group_id, self.topics_by_id[topic_id].partitions[index])

    # ---- topics --------------------------------------------------------------------------------------------------

    def partitions(self) -> list[Partition]:
        """All partitions of all topics."""
        return [partition for topic in self.topics.values() for partition in topic.partitions]

    def topic(self, name: str | None, topic_id: UUID = ZERO_UUID) -> Topic | None:
        """By id if there is one, else by name."""
        return self.topics_by_id.get(topic_id) if topic_id != ZERO_UUID else self.topics.get(name or "")

    def create_topic(
        self,
        name: str,
        partitions: int = -1,
        replication_factor: int = -1,
        configs: Mapping[str, str | None] | None = None,
        assignments: Sequence[Sequence[int]] = (),
        *,
        validate_only: bool = False,
    ) -> Topic:
        """Create a topic (or say whether one could be). -1 takes the broker's default.

        Raises:
            Refused: with the code a real controller answers.
        """
        problem = topic_name_problem(name)
        if problem is not None:
            raise Refused(Code.INVALID_TOPIC_EXCEPTION, problem)
        if name in self.topics:
            raise Refused(Code.TOPIC_ALREADY_EXISTS, f"Topic '{name}' already exists.")
        own = self._checked_configs(configs or {})
        replicas = self._checked_replicas(partitions, replication_factor, assignments)
        topic = Topic(name, self._uuid(), TopicConfig(self.config, own))
        topic.add_partitions(replicas, [node.node_id for node in self.alive_nodes()])
        if not validate_only:
            self.topics[name] = topic
            self.topics_by_id[topic.topic_id] = topic
        return topic

    @staticmethod
    def _checked_configs(configs: Mapping[str, str | None]) -> dict[str, str]:
        own: dict[str, str] = {}
        for name, value in configs.items():
            problem = topic_config_problem(name, value)
            if problem is not None or value is None:
                raise Refused(Code.INVALID_CONFIG, problem or f"Null value not supported for topic configs: {name}")
            own[name] = value
        return own

    def _checked_replicas(
        self, partitions: int, replication_factor: int, assignments: Sequence[Sequence[int]]
    ) -> list[list[int]]:
        if assignments:
            for what, number in (("replication factor", replication_factor), ("number of partitions", partitions)):
                if number != -1:
                    text = f"A manual partition assignment was specified, but {what} was not set to -1."
                    raise Refused(Code.INVALID_REQUEST, text)
            return [self._checked_assignment(replicas) for replicas in assignments]
        if partitions == 0 or partitions < -1:
            text = "Number of partitions was set to an invalid non-positive value."
            raise Refused(Code.INVALID_PARTITIONS, text)
        if replication_factor == 0 or replication_factor < -1:
            text = "Replication factor must be larger than 0, or -1 to use the default value."
            raise Refused(Code.INVALID_REPLICATION_FACTOR, text)
        count = self.config.integer("num.partitions") if partitions == -1 else partitions
        return self._spread(
            count, self.config.integer("default.replication.factor") if replication_factor == -1 else replication_factor
        )

    def _checked_assignment(self, replicas: Sequence[int]) -> list[int]:
        if not replicas:
            raise Refused(
                Code.INVALID_REPLICA_ASSIGNMENT, "The manual partition assignment includes an empty replica list."
            )
        if len(set(replicas)) != len(replicas):
            text = f"The manual partition assignment includes the broker {replicas[0]} more than once."
            raise Refused(Code.INVALID_REPLICA_ASSIGNMENT, text)
        unknown = [node_id for node_id in replicas if node_id not in self.nodes]
        if unknown:
            text = f"The manual partition assignment includes broker {unknown[0]}, but no such broker is registered."
            raise Refused(Code.INVALID_REPLICA_ASSIGNMENT, text)
        return list(replicas)

    def _spread(self, count: int, replication_factor: int) -> list[list[int]]:
        alive = [node.node_id for node in self.alive_nodes()]
        if replication_factor > len(alive):
            text = (
                f"Unable to replicate the partition {replication_factor} time(s): The target replication factor of "
                f"{replication_factor} cannot be reached because only {len(alive)} broker(s) are registered or some "
                "brokers have all their log directories cordoned."
            )
            raise Refused(Code.INVALID_REPLICATION_FACTOR, text)
        first, self._next_leader = self._next_leader, (self._next_leader + count) % max(len(alive), 1)
        return spread_replicas(alive, first, count, replication_factor)

    def add_partitions(
        self, name: str, total: int, assignments: Sequence[Sequence[int]] | None = None, *, validate_only: bool = False
    ) -> None:
        """Grow a topic to `total` partitions.

        Raises:
            Refused: unknown topic, not more than there are, impossible replicas.
        """
        topic = self.topics.get(name)
        if topic is None:
            raise Refused(Code.UNKNOWN_TOPIC_OR_PARTITION, "")
        current = len(topic.partitions)
        if total == current:
            raise Refused(Code.INVALID_PARTITIONS, f"Topic already has {current} partition(s).")
        if total < current:
            text = f"The topic {name} currently has {current} partition(s); {total} would not be an increase."
            raise Refused(Code.INVALID_PARTITIONS, text)
        if assignments is not None:
            if len(assignments) != total - current:
                text = (
                    f"Attempted to add {total - current} additional partition(s), but only {len(assignments)} "
                    "assignment(s) were specified."
                )
                raise Refused(Code.INVALID_REPLICA_ASSIGNMENT, text)
            replicas = [self._checked_assignment(item) for item in assignments]
        else:
            replicas = self._spread(total - current, len(topic.partitions[0].replicas))
        if not validate_only:
            topic.add_partitions(replicas, [node.node_id for node in self.alive_nodes()])

    def delete_topic(self, topic: Topic) -> None:
        """Remove a topic, its records and the positions committed in it; parked fetches hear of it."""
        del self.topics[topic.name]
        del self.topics_by_id[topic.topic_id]
        self.groups.forget_topic(topic.name)
        self.share_partitions.forget(topic_id=topic.topic_id)
        for partition in topic.partitions:
            partition.changed()

    def move_leader(self, name: str, index: int, node_id: int, *, end_offset: int | None = None) -> None:
        """Make another living broker lead a partition; it joins the replicas if it is none of them.

        Args:
            end_offset: the election is unclean: the new leader's log ends here, or at the start of the batch around it.

        Raises:
            Refused: no such topic, partition or living broker.
        """
        topic = self.topics.get(name)
        partition = topic.partition(index) if topic is not None else None
        if partition is None:
            raise Refused(Code.UNKNOWN_TOPIC_OR_PARTITION, f"there is no partition {name}-{index}")
        node = self.nodes.get(node_id)
        if node is None or not node.alive:
            raise Refused(Code.INVALID_REQUEST, f"there is no living broker {node_id}")
        for members in (partition.replicas, partition.isr):
            if node_id not in members:
                members.append(node_id)
        if end_offset is not None:
            lose_tail(partition, end_offset)
        if partition.leader != node_id or end_offset is not None:
            partition.lead(node_id)

    def reassign(self, name: str, index: int, replicas: Sequence[int] | None, *, same_count: bool = False) -> None:
        """Give a partition other replicas, at once; None would cancel a move, and there is never one.

        Raises:
            Refused: no such topic, partition or broker, or another number of replicas with `same_count`.
        """
        topic = self.topics.get(name)
        if topic is None:
            raise Refused(Code.UNKNOWN_TOPIC_OR_PARTITION, f"Unable to find a topic named {name}.")
        partition = topic.partition(index)
        if partition is None:
            raise Refused(Code.UNKNOWN_TOPIC_OR_PARTITION, f"Unable to find partition {name}:{index}.")
        if replicas is None:
            raise Refused(Code.NO_REASSIGNMENT_IN_PROGRESS, "")
        checked = self._checked_assignment(replicas)
        if same_count and len(checked) != len(partition.replicas):
            text = f"The replication factor is changed from {len(partition.replicas)} to {len(checked)}"
            raise Refused(Code.INVALID_REPLICATION_FACTOR, text)
        living = [node_id for node_id in checked if self.nodes[node_id].alive]
        partition.replicas, partition.isr = checked, living or checked[:1]
        if partition.leader not in living:
            partition.lead(living[0] if living else NO_LEADER)

    # ---- the rest ------------------------------------------------------------------------------------------------

    def new_producer_id(self) -> int:
        """A producer id nobody had before."""
        self._next_producer_id += 1
        return self._next_producer_id - 1

    def write_marker(self, partition: tuple[str, int], producer_id: int, epoch: int, *, commit: bool) -> None:
        """End a producer's transaction in a partition's log; one that was deleted meanwhile has nothing to end."""
        topic = self.topics.get(partition[0])
        found = topic.partition(partition[1]) if topic is not None else None
        if found is not None:
            append_marker(found, producer_id, epoch, commit=commit, now_ms=self.clock.time_ms())
            found.changed()

    def settle_offsets(self, group_id: str, offsets: dict[tuple[str, int], CommittedOffset]) -> None:
        """Offsets of a committed transaction count from here on."""
        for (topic, index), item in offsets.items():
            if topic in self.topics:
                self.groups.commit(group_id, topic, index, item.offset, item.leader_epoch, item.metadata)

    def later(self, delay_s: float, action: Callable[[], None]) -> None:
        """Run `action` in `delay_s` seconds."""
        self.timers.after(delay_s, action)

    def _topic_facts(self) -> dict[str, tuple[UUID, int]]:
        return {topic.name: (topic.topic_id, len(topic.partitions)) for topic in self.topics.values()}

    def _uuid(self) -> UUID:
        return UUID(int=self.rng.getrandbits(128), version=4)


def _features(config: BrokerConfig) -> dict[str, Feature]:
    return {
        "share.version": Feature(0, 1, config.integer("share.version")),
        "transaction.version": Feature(0, 2, config.integer("transaction.version")),
    }


def _group_settings(config: BrokerConfig) -> GroupSettings:
    return GroupSettings(
        config.integer("group.min.session.timeout.ms"),
        config.integer("group.max.session.timeout.ms"),
        config.integer("group.initial.rebalance.delay.ms"),
        config.integer("group.max.size"),
        config.integer("offset.metadata.max.bytes"),
    )


def _consumer_group_settings(config: BrokerConfig) -> ConsumerGroupSettings:
    policy = config.text("group.consumer.migration.policy")
    return ConsumerGroupSettings(
        config.integer("group.consumer.max.size"),
        config.text("group.consumer.assignors").split(","),
        upgrades=policy in ("bidirectional", "upgrade"),
        downgrades=policy in ("bidirectional", "downgrade"),
    )
