"""The faults: what each needs of topic and settings, and what is done to the cluster or the clients."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from tools.faults.cluster import NODES, FaultCluster
from tools.faults.processes import Worker

PARTITIONS = 6
HOLD_S = 15.0


@dataclass(slots=True)
class Stage:
    """The stage of a fault.

    Attributes:
        victim: the node that it is about.
        members: the second member of every group.
        new_topic_s: when the topic was created again.
    """

    cluster: FaultCluster
    topic: str
    victim: int
    members: Sequence[Worker]
    new_topic_s: float | None = None


def spread(nodes: Sequence[int], copies: int, shift: int = 0) -> list[list[int]]:
    """Replicas for every partition, leaders in turn; other nodes follow where `nodes` are not enough."""
    plan = []
    for number in range(PARTITIONS):
        first = (number + shift) % len(nodes)
        ring = [*nodes[first:], *nodes[:first]]
        plan.append([*ring, *(node for node in NODES if node not in ring)][:copies])
    return plan


@dataclass(frozen=True, slots=True)
class Fault:
    """One row of the table.

    Attributes:
        name: as `FAULTS=` selects it.
        title: as the table says it.
        story: what happens, for the page.
        act: does it; returns when it is over, except what only the clients can end.
        limit_s: how long the clients have to recover, after that.
        proxied: clients go through the proxies.
        coordinator: the victim is the coordinator of the groups: yes, no, or does not matter.
        leads: the victim leads a third of the partitions, else none.
        copies: replicas of a partition.
        conf: further settings of all clients.
    """

    name: str
    title: str
    story: str
    act: Callable[[Stage], None]
    limit_s: float = 60.0
    proxied: bool = False
    coordinator: bool | None = None
    leads: bool = True
    copies: int = 3
    conf: Mapping[str, object] = field(default_factory=dict)

    def replicas(self, victim: int) -> list[list[int]]:
        """The topic's replicas."""
        return spread(NODES if self.leads else [node for node in NODES if node != victim], self.copies)


def kill_node(stage: Stage) -> None:
    stage.cluster.kafka.kill_node(stage.victim)


def kill_members(stage: Stage) -> None:
    for worker in stage.members:
        worker.tell("die")


def suspend(stage: Stage) -> None:
    stage.cluster.kafka.suspend_node(stage.victim)
    try:
        time.sleep(HOLD_S)
    finally:
        stage.cluster.kafka.continue_node(stage.victim)


def roll(stage: Stage) -> None:
    for node_id in NODES:
        stage.cluster.kafka.terminate_node(node_id)
        stage.cluster.kafka.start_node(node_id)
        stage.cluster.wait_in_sync()


def freeze(stage: Stage) -> None:
    proxy = stage.cluster.proxies[stage.victim]
    proxy.freeze()
    time.sleep(HOLD_S)
    proxy.resume()


def blackhole(stage: Stage) -> None:
    proxy = stage.cluster.proxies[stage.victim]
    proxy.swallow()
    time.sleep(HOLD_S)
    proxy.resume()


def reset(stage: Stage) -> None:
    for _ in range(3):
        for proxy in stage.cluster.proxies.values():
            proxy.cut()
        time.sleep(1.0)


def slow(stage: Stage) -> None:
    proxy = stage.cluster.proxies[stage.victim]
    proxy.delay(0.5)
    time.sleep(HOLD_S)
    proxy.resume()


def half_open(stage: Stage) -> None:
    stage.cluster.proxies[stage.victim].half_open()


def extend(stage: Stage) -> None:
    stage.cluster.extend(stage.topic, PARTITIONS + 3)


def create_again(stage: Stage) -> None:
    stage.cluster.delete(stage.topic)
    time.sleep(2.0)
    stage.cluster.create(stage.topic, spread(NODES, 3))
    stage.new_topic_s = time.monotonic()


def move(stage: Stage) -> None:
    """Two copies each: both go to other nodes in two steps, and back."""
    for shift in (1, 2, 0):
        stage.cluster.move(stage.topic, spread(NODES, 2, shift))


FAULTS = (
    Fault(
        "leader",
        "kill -9 of a leader",
        "it led a third of the partitions, and its successors are elected when its session of 9 s has run out.",
        kill_node,
        coordinator=False,
    ),
    Fault(
        "coordinator",
        "kill -9 of the group coordinator",
        "it led no partition of the topic.",
        kill_node,
        coordinator=True,
        leads=False,
    ),
    Fault(
        "member",
        "kill -9 of a group member",
        "one of two, in every group; its partitions are free when its session of 45 s has run out.",
        kill_members,
        limit_s=120.0,
    ),
    Fault(
        "suspend",
        "SIGSTOP of a broker for 15 s",
        "the leader of a third of the partitions and coordinator; others lead after 9 s, then it wakes up.",
        suspend,
        coordinator=True,
    ),
    Fault("rolling", "rolling restart", "SIGTERM, start, wait until all copies are in sync; one by one.", roll),
    Fault(
        "freeze",
        "connections to a broker freeze for 15 s",
        "of a leader and coordinator; nothing is lost on the way, only late. New connections freeze too.",
        freeze,
        proxied=True,
        coordinator=True,
    ),
    Fault(
        "blackhole",
        "a black hole for 15 s",
        "all bytes from and to a leader and coordinator vanish, and those connections are reset at the end.",
        blackhole,
        proxied=True,
        coordinator=True,
    ),
    Fault(
        "reset",
        "connections are reset",
        "all connections to all brokers, three times, a second apart.",
        reset,
        proxied=True,
    ),
    Fault(
        "slow",
        "a broker is 0.5 s late for 15 s",
        "every piece of an answer of a leader and coordinator comes half a second later.",
        slow,
        proxied=True,
        coordinator=True,
    ),
    Fault(
        "half-open",
        "half-open connections",
        "a leader and coordinator forgets its connections and the clients are not told; new ones work at once.",
        half_open,
        limit_s=180.0,
        proxied=True,
        coordinator=True,
    ),
    Fault(
        "extend",
        "partitions are added",
        "six to nine; each client looks for them every 5 s, from the moment on at which all of them were made.",
        extend,
        conf={"topic.metadata.refresh.interval.ms": 5000},
    ),
    Fault(
        "recreate",
        "the topic is deleted and created again",
        "two seconds apart; judged is the new one: all that was handed to produce() since it exists, and its commits.",
        create_again,
        limit_s=90.0,
    ),
    Fault(
        "reassign",
        "partitions move to other brokers",
        "all of them, three times, each time with another leader.",
        move,
        copies=2,
    ),
)
