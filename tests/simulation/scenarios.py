"""Draws plans from seeds: which clients, which topics, what they do, and what goes wrong.

Must not run anything. A scenario is a function from a random source to a plan; `SCENARIOS` names them all. They are
kept small (a few seconds of virtual time, some hundred records), so that thousands of seeds fit into minutes.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace
from typing import Any, Final

from tests.simulation.plan import Action, Client, Plan

TOPIC: Final = "t"
SHARED: Final = "shared"
"""The share group."""
OTHER: Final = "u"
"""A topic that only admin clients make; nobody writes or reads it."""

PRODUCE, FETCH, LIST_OFFSETS, METADATA, COMMIT, COMMITTED, FIND, JOIN, HEARTBEAT, LEAVE, SYNC, INIT, EPOCH = (
    *(0, 1, 2, 3, 8, 9, 10, 11, 12, 13, 14, 22, 23),
)
CREATE, DELETE, EXTEND = (19, 20, 37)
BEAT = 68
"""ConsumerGroupHeartbeat."""
SHARE_BEAT, SHARE_FETCH, SHARE_ACK = (76, 78, 79)
ADD_PARTITIONS, ADD_OFFSETS, END_TXN, COMMIT_IN_TXN = (24, 25, 26, 28)
SUBSCRIBE_METRICS, PUSH = (71, 72)
"""API keys that brokers may treat badly."""

ERRORS: Final[dict[int, tuple[int, ...]]] = {
    PRODUCE: (5, 6, 7, 19, 56),
    FETCH: (6, 56, 70, 71, 74, 75),
    LIST_OFFSETS: (5, 6, 74),
    COMMIT: (14, 15, 16),
    COMMITTED: (14, 15, 16),
    FIND: (14, 15),
    JOIN: (14, 15, 16),
    HEARTBEAT: (15, 16, 27),
    SYNC: (14, 15, 16, 27),
    INIT: (14, 15),
    EPOCH: (6, 74, 75),
    CREATE: (7, 41),
    DELETE: (7, 41),
    EXTEND: (7, 41),
    ADD_PARTITIONS: (14, 15, 16, 51),
    ADD_OFFSETS: (14, 15, 16, 51),
    END_TXN: (14, 15, 16, 51),
    COMMIT_IN_TXN: (14, 15, 16),
    BEAT: (14, 15, 16, 110),
    SHARE_BEAT: (14, 15, 16, 25, 110),
    SHARE_FETCH: (122, 123),
    SHARE_ACK: (122, 123),
    SUBSCRIBE_METRICS: (89,),
    PUSH: (76, 89, 117, 118),
}
"""Error codes that a real broker may give for an API at any time."""

PRODUCER_APIS: Final = (PRODUCE, PRODUCE, PRODUCE, METADATA, INIT)
READER_APIS: Final = (FETCH, FETCH, FETCH, METADATA, LIST_OFFSETS, EPOCH)
MEMBER_APIS: Final = (*READER_APIS, COMMIT, COMMIT, COMMITTED, FIND, JOIN, HEARTBEAT, LEAVE, SYNC)
EPOCH_APIS: Final = (*READER_APIS, COMMIT, COMMIT, COMMITTED, FIND, *(BEAT,) * 5)
PIPE_APIS: Final = (PRODUCE, INIT, FIND, ADD_PARTITIONS, ADD_OFFSETS, *(END_TXN, COMMIT_IN_TXN) * 3, COMMITTED, FETCH)
SHARE_APIS: Final = (METADATA, FIND, *(SHARE_BEAT, SHARE_FETCH, SHARE_ACK) * 3)
METRICS_APIS: Final = (METADATA, PRODUCE, FETCH, *(SUBSCRIBE_METRICS, PUSH) * 4)
ADMIN_APIS: Final = (CREATE, DELETE, EXTEND, LIST_OFFSETS)


class Draft:
    """A plan in the making."""

    def __init__(self, rng: random.Random, seed: int, name: str, length_s: float) -> None:
        self.rng = rng
        self.seed = seed
        self.name = name
        self.length_s = length_s
        self.brokers = rng.choice((1, 2, 3, 3))
        self.topics = {TOPIC: rng.choice((1, 2, 3, 4))}
        self.clients: list[Client] = []
        self.actions: list[Action] = []

    def at(self, at_s: float, what: str, *args: Any) -> None:
        """Add an action."""
        self.actions.append(Action(round(at_s, 4), what, args))

    def moment(self, least_s: float = 0.0) -> float:
        """A moment of the schedule."""
        return self.rng.uniform(least_s, self.length_s)

    def partition(self) -> int:
        """A partition of the topic."""
        return self.rng.randrange(self.topics[TOPIC])

    def node(self) -> int:
        """A broker."""
        return self.rng.randint(1, self.brokers)

    def plan(self, **others: Any) -> Plan:
        """The drawn plan, in the order of time."""
        rng = self.rng
        return Plan(
            seed=self.seed,
            scenario=self.name,
            brokers=self.brokers,
            topics=self.topics,
            clients=tuple(self.clients),
            actions=tuple(sorted(self.actions, key=lambda action: action.at_s)),
            shuffle=rng.random() < 0.6,
            latency_s=rng.choice((0.0002, 0.001, 0.005, 0.02)),
            split=rng.choice((0.0, 0.05, 0.3)),
            **others,
        )

    # ---- clients

    def base_conf(self) -> dict[str, Any]:
        """Properties that every client has: short time-outs."""
        rng = self.rng
        return {
            "socket.timeout.ms": rng.choice((1000, 2000, 3000)),
            "socket.connection.setup.timeout.ms": rng.choice((1000, 2000)),
            "reconnect.backoff.ms": rng.choice((10, 50)),
            "reconnect.backoff.max.ms": rng.choice((100, 400)),
            "retry.backoff.ms": rng.choice((10, 50)),
            "retry.backoff.max.ms": rng.choice((100, 400)),
            "topic.metadata.refresh.interval.ms": rng.choice((1000, 60000)),
        }

    def producer(self, name: str, *, careful: bool = False) -> None:
        """A producer that starts at once; `careful`: nothing times out, so all its records get into the log."""
        rng = self.rng
        idempotent = careful or rng.random() < 0.8
        conf = {
            **self.base_conf(),
            "enable.idempotence": idempotent,
            "linger.ms": rng.choice((0, 1, 5, 50)),
            "batch.size": rng.choice((120, 400, 2000, 100_000)),
            "max.in.flight.requests.per.connection": rng.choice((1, 2, 5)),
            "message.timeout.ms": 60_000 if careful else rng.choice((1500, 4000, 60_000)),
            "queue.buffering.max.messages": rng.choice((20, 1000, 100_000)),
            "compression.type": rng.choice(("none", "none", "lz4", "gzip")),
        }
        gap_s = rng.choice((0.0, 0.0, 0.001, 0.02))
        self.clients.append(Client(name, "producer", conf, {"gap_s": gap_s}))
        self.at(0.0, "start", name)

    def bursts(self, name: str, count: int, records: int) -> None:
        """Orders for a producer, spread over the schedule."""
        for _ in range(count):
            size_bytes = self.rng.choice((0, 0, 50, 400))
            self.at(self.moment() * 0.9, "send", name, TOPIC, self.rng.randint(1, records), size_bytes)

    def consumer_conf(self) -> dict[str, Any]:
        """Properties of any consumer."""
        rng = self.rng
        return {
            **self.base_conf(),
            "auto.offset.reset": "earliest",
            "fetch.wait.max.ms": rng.choice((50, 200, 500)),
            "fetch.min.bytes": rng.choice((1, 1, 500)),
            "fetch.error.backoff.ms": rng.choice((20, 100)),
            "max.partition.fetch.bytes": rng.choice((200, 1000, 1_048_576)),
            "queued.min.messages": rng.choice((1, 10, 100_000)),
            "auto.commit.interval.ms": rng.choice((200, 1000)),
        }

    def consumer_traits(self) -> dict[str, Any]:
        """The traits of an application that consumes."""
        rng = self.rng
        return {
            "batch": rng.choice((0, 0, 3, 20)),
            "pause_s": rng.choice((0.0, 0.0, 0.002, 0.05)),
            "poll_s": rng.choice((0.25, 0.25, 0.05, 30.0)),
            "commit": rng.choice(("auto", "auto", "auto", "sync", "async")),
        }

    # ---- what goes wrong

    def troubles(self, count: int, apis: tuple[int, ...]) -> None:
        """Faults of the network and of brokers."""
        rng = self.rng
        names = [client.name for client in self.clients]
        for _ in range(count):
            at_s, node = self.moment(), self.node()
            who = rng.choice((None, *names))
            where = rng.choice((None, node))
            match rng.choice(TROUBLES):
                case "cut":
                    self.at(at_s, "cut", who, where)
                case "freeze":
                    self.at(at_s, "freeze", who, where)
                case "stall":
                    self.at(at_s, "stall", who, where, round(rng.choice((0.05, 0.5, 2.5)) * rng.random(), 3))
                case "slow":
                    self.at(at_s, "slow", who, where, rng.choice((5.0, 50.0)), round(rng.random(), 3))
                case "crash":
                    self.at(at_s, "crash", node, round(rng.uniform(0.05, 2.0), 3), rng.random() < 0.3)
                case "lead":
                    for _ in range(rng.choice((1, 1, 3))):
                        self.at(at_s + rng.random() * 0.2, "lead", TOPIC, self.partition(), self.node())
                case "answer":
                    self.answers(at_s, rng.choice(apis), where)
                case "suspend":
                    self.at(at_s, "suspend", round(rng.choice((0.02, 0.3, 3.0)) * rng.random(), 3))
                case "wall":
                    self.at(at_s, "wall", rng.choice(names), rng.choice((-86400.0, -1.0, 5.0, 1800.0)))

    def answers(self, at_s: float, api: int, where: int | None) -> None:
        """Brokers treat some requests badly."""
        rng = self.rng
        kinds = ["late", "slow", "hang_up", "cut_answer", "cut_answer"]
        kinds += ["error"] * 3 if api in ERRORS else []
        kind = rng.choice(kinds)
        value = float(rng.choice(ERRORS[api])) if kind == "error" else round(rng.choice((0.05, 0.5, 3.0)), 3)
        self.at(at_s, "answer", api, kind, where, rng.choice((1, 1, 2, 5)), value)


CLASSIC_ONLY: Final = frozenset({"session.timeout.ms", "heartbeat.interval.ms", "partition.assignment.strategy"})
"""Properties that members have to leave to the coordinator where that assigns."""
SHORT_SHARES: Final = {
    "group.share.min.record.lock.duration.ms": "1000",
    "group.share.min.session.timeout.ms": "100",
    "group.share.min.heartbeat.interval.ms": "100",
}
TROUBLES: Final = (*("cut", "freeze", "stall", "crash", "lead", "answer") * 2, "answer", "slow", "suspend", "wall")


def produce(rng: random.Random, seed: int) -> Plan:
    """Producers alone: bursts, faults, cancelled calls, killed producers."""
    draft = Draft(rng, seed, "produce", rng.choice((1.5, 4.0)))
    for number in range(rng.choice((1, 1, 2))):
        name = f"p{number}"
        draft.producer(name)
        draft.bursts(name, rng.randint(2, 8), 40)
        for _ in range(rng.choice((0, 0, 2))):
            draft.at(draft.moment(), "cancel", name, "produce")
        if rng.random() < 0.15:
            at_s = draft.moment()
            draft.at(at_s, "kill", name)
            draft.at(at_s + rng.random(), "start", name)
            draft.at(at_s + 1.0, "send", name, TOPIC, 20, 0)
        if rng.random() < 0.1:
            draft.at(draft.moment(), "finish", name)
    draft.troubles(rng.randint(0, 8), PRODUCER_APIS)
    return draft.plan(probe=True)


def read(rng: random.Random, seed: int) -> Plan:
    """A producer, and readers that assign, seek and pause while leaders move and connections break."""
    draft = Draft(rng, seed, "read", rng.choice((2.0, 4.0)))
    draft.producer("p0", careful=True)
    draft.at(0.0, "send", "p0", TOPIC, 60, 0)
    draft.bursts("p0", rng.randint(1, 5), 40)
    for number in range(rng.choice((1, 1, 2))):
        name = f"r{number}"
        start = [(TOPIC, partition, 0) for partition in range(draft.topics[TOPIC])]
        draft.clients.append(
            Client(
                name,
                "reader",
                {**draft.consumer_conf(), "group.id": f"g-{name}"},
                {**draft.consumer_traits(), "start": start},
            )
        )
        draft.at(rng.choice((0.0, draft.moment())), "start", name)
        for _ in range(rng.randint(0, 10)):
            reader_action(draft, name)
    draft.troubles(rng.randint(0, 6), READER_APIS)
    return draft.plan()


def reader_action(draft: Draft, name: str) -> None:
    """Something a reader does beside polling."""
    rng = draft.rng
    at_s = draft.moment()
    match rng.choice(
        ("assign", "assign", "assign", "seek", "seek", "pause", "resume", "commit", "look", "cancel", "hold")
    ):
        case "assign":
            count = draft.topics[TOPIC]
            chosen = sorted(rng.sample(range(count), rng.randint(1, count)))
            items = [(TOPIC, partition, rng.choice((0, 1, 5, 12, 30))) for partition in chosen]
            for _ in range(rng.choice((1, 2, 4))):  # again, while the first is under way
                draft.at(at_s, "call", name, "assign", *items)
                at_s += rng.choice((0.0, 0.003, 0.03))
        case "seek":
            draft.at(at_s, "call", name, "seek", TOPIC, draft.partition(), rng.choice((0, 3, 10, 25)))
        case "pause":
            draft.at(at_s, "call", name, "pause", TOPIC, draft.partition())
            draft.at(at_s + rng.random() * 0.5, "call", name, "resume")
        case "resume":
            draft.at(at_s, "call", name, "resume")
        case "commit":
            draft.at(at_s, "call", name, "commit", rng.random() < 0.5)
        case "look":
            draft.at(at_s, "call", name, "look")
        case "cancel":
            draft.at(at_s, "cancel", name, rng.choice(("poll", "poll", "commit", "look", "seek")))
        case "hold":
            draft.at(at_s, "call", name, "hold", True)
            draft.at(at_s + rng.random(), "call", name, "hold", False)


def group(rng: random.Random, seed: int) -> Plan:
    """A producer, and members of a group that come, go, die, stall and are rebalanced."""
    draft = Draft(rng, seed, "group", rng.choice((3.0, 6.0)))
    draft.topics[TOPIC] = rng.choice((2, 3, 5))
    draft.producer("p0", careful=True)
    draft.at(0.0, "send", "p0", TOPIC, 40, 0)
    draft.bursts("p0", rng.randint(1, 4), 40)
    strategy = rng.choice(("range", "roundrobin", "cooperative-sticky", "cooperative-sticky"))
    for number in range(rng.choice((1, 2, 2, 3))):
        draft_member(draft, f"m{number}", strategy)
    draft.troubles(rng.randint(0, 5), MEMBER_APIS)
    return draft.plan()


def heartbeats(rng: random.Random, seed: int) -> Plan:
    """As `group`, in the consumer group protocol (KIP-848): the coordinator assigns, heartbeats say and hear it all."""
    draft = Draft(rng, seed, "heartbeats", rng.choice((3.0, 6.0)))
    draft.topics[TOPIC] = rng.choice((2, 3, 5))
    draft.producer("p0", careful=True)
    draft.at(0.0, "send", "p0", TOPIC, 40, 0)
    draft.bursts("p0", rng.randint(1, 4), 40)
    for number in range(rng.choice((1, 2, 2, 3))):
        draft_member(draft, f"m{number}", "range")
    for number, client in enumerate(draft.clients):
        if client.role == "member":
            conf = {name: value for name, value in client.conf.items() if name not in CLASSIC_ONLY}
            conf |= {"group.protocol": "consumer", "group.remote.assignor": rng.choice(("uniform", "uniform", "range"))}
            draft.clients[number] = replace(client, conf=conf)
    for _ in range(rng.choice((0, 0, 1, 3))):
        draft.at(draft.moment(), "coordinate", "g", draft.node())
    draft.troubles(rng.randint(0, 5), EPOCH_APIS)
    properties = {
        "group.consumer.session.timeout.ms": rng.choice(("1000", "2000")),
        "group.consumer.heartbeat.interval.ms": rng.choice(("100", "300")),
    }
    return draft.plan(properties=properties)


def unclean(rng: random.Random, seed: int) -> Plan:
    """Leaders are elected that lack the end of the log, while a reader and a group read it and a producer goes on."""
    draft = Draft(rng, seed, "unclean", rng.choice((3.0, 6.0)))
    draft.brokers = rng.choice((1, 2, 3))
    draft.topics[TOPIC] = rng.choice((1, 1, 2))
    draft.producer("p0", careful=True)
    draft.at(0.0, "send", "p0", TOPIC, 40, 0)
    draft.bursts("p0", rng.randint(2, 6), 60)
    if rng.random() < 0.5:
        start = [(TOPIC, partition, 0) for partition in range(draft.topics[TOPIC])]
        conf = {**draft.consumer_conf(), "group.id": "g-r0"}
        draft.clients.append(Client("r0", "reader", conf, {**draft.consumer_traits(), "start": start}))
        draft.at(0.0, "start", "r0")
    strategy = rng.choice(("range", "cooperative-sticky"))
    for number in range(rng.choice((1, 1, 2))):
        draft_member(draft, f"m{number}", strategy)
    for _ in range(rng.choice((1, 1, 2, 3))):
        at_s = draft.moment(0.3)
        draft.at(at_s, "lose", TOPIC, draft.partition(), draft.node(), rng.choice((1, 5, 20, 1000)))
        draft.at(at_s + rng.choice((0.0, 0.05)), "send", "p0", TOPIC, rng.choice((1, 30, 80)), 0)
    draft.troubles(rng.choice((0, 0, 1, 3)), MEMBER_APIS)
    return draft.plan()


def draft_member(draft: Draft, name: str, strategy: str) -> None:
    """A member of the group, and what becomes of it."""
    rng = draft.rng
    conf = {
        **draft.consumer_conf(),
        "group.id": "g",
        "partition.assignment.strategy": strategy,
        "session.timeout.ms": rng.choice((1000, 2000)),
        "heartbeat.interval.ms": rng.choice((100, 300)),
        "max.poll.interval.ms": rng.choice((3000, 10_000)),
    }
    traits = {**draft.consumer_traits(), "topics": [TOPIC], "callback_s": rng.choice((0.0, 0.0, 0.01, 0.3))}
    draft.clients.append(Client(name, "member", conf, traits))
    draft.at(rng.choice((0.0, 0.0, draft.moment())), "start", name)
    for _ in range(rng.choice((0, 0, 1, 3))):
        at_s = draft.moment()
        match rng.choice(("kill", "kill", "finish", "hold", "resubscribe", "commit", "look", "cancel", "cancel")):
            case "kill":
                draft.at(at_s, "kill", name)
                draft.at(at_s + rng.choice((0.0, 1.5)) * rng.random(), "start", name)
            case "finish":
                draft.at(at_s, "finish", name)
                if rng.random() < 0.3:
                    draft.at(at_s + 0.001, "cancel", name, "close")
                draft.at(at_s + rng.random(), "start", name)
            case "hold":
                draft.at(at_s, "call", name, "hold", True)
                draft.at(at_s + rng.choice((0.3, 4.0)), "call", name, "hold", False)
            case "resubscribe":
                draft.at(at_s, "call", name, "unsubscribe")
                draft.at(at_s + rng.random(), "call", name, "subscribe")
            case "cancel":
                draft.at(at_s, "cancel", name, rng.choice(("poll", "poll", "commit", "begin")))
            case other:
                draft.at(at_s, "call", name, other, *((rng.random() < 0.5,) if other == "commit" else ()))


def topics(rng: random.Random, seed: int) -> Plan:
    """Topics get more partitions, are deleted and made anew, while a reader and a group read them."""
    draft = Draft(rng, seed, "topics", rng.choice((3.0, 5.0)))
    draft.producer("p0", careful=True)
    draft.at(0.0, "send", "p0", TOPIC, 40, 0)
    draft.bursts("p0", rng.randint(2, 5), 40)
    if rng.random() < 0.5:
        start = [(TOPIC, partition, 0) for partition in range(draft.topics[TOPIC])]
        conf = {**draft.consumer_conf(), "group.id": "g-r0"}
        draft.clients.append(Client("r0", "reader", conf, {**draft.consumer_traits(), "start": start}))
        draft.at(0.0, "start", "r0")
    for number in range(rng.choice((1, 2))):
        draft_member(draft, f"m{number}", "cooperative-sticky")
    clients = [
        replace(client, conf={**client.conf, "topic.metadata.refresh.interval.ms": 1000}) for client in draft.clients
    ]
    draft.clients[:] = clients
    for _ in range(rng.choice((1, 1, 2))):
        at_s = draft.moment(0.2)
        if rng.random() < 0.3:
            draft.at(at_s, "extend", TOPIC, draft.topics[TOPIC] + rng.randint(1, 2))
        else:
            draft.at(at_s, "delete", TOPIC)
            draft.at(at_s + rng.choice((0.0, 0.05, 1.5)) * rng.random(), "create", TOPIC, draft.topics[TOPIC])
    draft.troubles(rng.randint(0, 2), MEMBER_APIS)
    return draft.plan()


def admin(rng: random.Random, seed: int) -> Plan:
    """An admin client makes, deletes and extends topics that are written and read, and coordinators move."""
    draft = Draft(rng, seed, "admin", rng.choice((3.0, 5.0)))
    draft.producer("p0", careful=True)
    draft.at(0.0, "send", "p0", TOPIC, 40, 0)
    draft.bursts("p0", rng.randint(1, 4), 40)
    for number in range(rng.choice((1, 2, 2))):
        draft_member(draft, f"m{number}", "cooperative-sticky")
    draft.clients[:] = [
        replace(client, conf={**client.conf, "topic.metadata.refresh.interval.ms": 1000}) for client in draft.clients
    ]
    draft.clients.append(Client("a0", "admin", draft.base_conf()))
    draft.at(0.0, "start", "a0")
    for _ in range(rng.choice((0, 1, 3, 6))):
        draft.at(draft.moment(), "coordinate", "g", draft.node())
    count = draft.topics[TOPIC]
    for _ in range(rng.randint(1, 6)):
        at_s = draft.moment()
        match rng.choice(("other", "other", "delete", "extend", "offsets", "offsets", "cancel")):
            case "other":
                draft.at(at_s, "admin", "a0", "create", OTHER, rng.randint(1, 3))
                draft.at(at_s + rng.random(), "admin", "a0", rng.choice(("delete", "offsets", "create")), OTHER, 1)
            case "delete":
                draft.at(at_s, "admin", "a0", "delete", TOPIC, 0)
                draft.at(at_s + rng.choice((0.0, 0.5)) * rng.random(), "admin", "a0", "create", TOPIC, count)
            case "extend":
                draft.at(at_s, "admin", "a0", "extend", TOPIC, count + rng.randint(1, 2))
            case "offsets":
                draft.at(at_s, "admin", "a0", "offsets", TOPIC, count)
            case "cancel":
                draft.at(at_s, "cancel", "a0", "admin")
    draft.troubles(rng.randint(0, 4), (*MEMBER_APIS, *ADMIN_APIS, *ADMIN_APIS))
    return draft.plan()


def anew(rng: random.Random, seed: int) -> Plan:
    """A topic is deleted and made anew while a broker stands still that has requests for the old one."""
    draft = Draft(rng, seed, "anew", rng.choice((3.0, 5.0)))
    draft.brokers = rng.choice((2, 3))
    draft.producer("p0", careful=True)
    often = {"topic.metadata.refresh.interval.ms": 100, "socket.timeout.ms": 3000, "linger.ms": rng.choice((0, 5))}
    draft.clients[:] = [replace(client, conf={**client.conf, **often}) for client in draft.clients]
    draft.at(0.0, "send", "p0", TOPIC, 20, 0)
    draft.bursts("p0", rng.randint(1, 4), 20)
    at_s = draft.moment(0.3)
    draft.at(at_s, "stall", "p0", draft.node(), round(rng.uniform(0.5, 1.5), 3))
    for number in range(8):
        draft.at(at_s + 0.001 + number * 0.1, "send", "p0", TOPIC, rng.randint(2, 8), 0)
    draft.at(at_s + 0.1 * rng.random(), "delete", TOPIC)
    draft.at(at_s + 0.1 + 0.2 * rng.random(), "create", TOPIC, draft.topics[TOPIC])
    draft.troubles(rng.randint(0, 1), PRODUCER_APIS)
    return draft.plan()


def pipe(rng: random.Random, seed: int) -> Plan:
    """A topic is written, and one or two applications carry it over into another one, in transactions."""
    draft = Draft(rng, seed, "pipe", rng.choice((2.0, 4.0)))
    draft.topics["out"] = draft.topics[TOPIC]
    draft.producer("p0", careful=True)
    draft.at(0.0, "send", "p0", TOPIC, 20, 0)
    draft.bursts("p0", rng.randint(1, 4), 30)
    strategy = rng.choice(("range", "cooperative-sticky"))
    for number in range(rng.choice((1, 1, 2))):
        name = f"x{number}"
        traits = {
            "base": draft.base_conf(),
            "batch": rng.choice((1, 5, 20)),
            "abort": rng.choice((0.0, 0.2, 0.4)),
            "pause_s": rng.choice((0.0, 0.01)),
            "poll_s": rng.choice((0.05, 0.2)),
        }
        conf = {
            "session.timeout.ms": rng.choice((1000, 3000)),
            "heartbeat.interval.ms": 100,
            "max.poll.interval.ms": 30_000,
            "partition.assignment.strategy": strategy,
        }
        draft.clients.append(Client(name, "pipe", conf, traits))
        draft.at(0.05 * number, "start", name)
        for _ in range(rng.choice((0, 0, 1, 2))):
            at_s = draft.moment(0.2)
            draft.at(at_s, "kill", name)
            draft.at(at_s + rng.choice((0.01, 0.5)) * rng.random(), "start", name)
    for _ in range(rng.choice((0, 1, 3))):
        draft.at(draft.moment(), "coordinate", rng.choice(("pipes", "x0", "x1")), draft.node())
    draft.troubles(rng.randint(0, 4), PIPE_APIS)
    version = rng.choice(("1", "2", "2"))
    return draft.plan(properties={"transaction.version": version})


def share(rng: random.Random, seed: int) -> Plan:
    """A producer, and members of a share group (KIP-932): they say this and that, stall, die, leave and come again."""
    draft = Draft(rng, seed, "share", rng.choice((2.0, 4.0)))
    draft.producer("p0", careful=True)
    draft.at(0.0, "send", "p0", TOPIC, 30, 0)
    draft.bursts("p0", rng.randint(1, 4), 30)
    is_calm = rng.random() < 0.25
    for number in range(rng.choice((1, 2, 2, 3))):
        draft_sharer(draft, f"s{number}", is_calm=is_calm)
    if not is_calm:
        for _ in range(rng.choice((0, 0, 1, 3))):
            draft.at(draft.moment(), "coordinate", SHARED, draft.node())
        draft.troubles(rng.randint(0, 5), SHARE_APIS)
    properties = {
        "group.share.record.lock.duration.ms": "10000" if is_calm else rng.choice(("1000", "2000")),
        "group.share.delivery.count.limit": rng.choice(("3", "5", "10")),
        "group.share.session.timeout.ms": rng.choice(("1000", "2000")),
        "group.share.heartbeat.interval.ms": rng.choice(("100", "300")),
    }
    return draft.plan(properties=SHORT_SHARES | properties)


def draft_sharer(draft: Draft, name: str, *, is_calm: bool) -> None:
    """A member of the share group, and what becomes of it; `is_calm`: only its calls are cancelled."""
    rng = draft.rng
    conf = {
        **draft.base_conf(),
        "fetch.wait.max.ms": rng.choice((50, 200, 500)),
        "max.poll.records": rng.choice((1, 5, 500)),
        "share.acquire.mode": rng.choice(("batch_optimized", "record_limit")),
        "max.poll.interval.ms": rng.choice((3000, 10_000)),
    }
    traits = {
        "topics": [TOPIC],
        "mode": rng.choice(("implicit", "explicit", "explicit")),
        "words": rng.choice((("ACCEPT",), ("ACCEPT", "ACCEPT", "RELEASE"), ("ACCEPT", "REJECT", "RENEW", "RELEASE"))),
        "work_s": 0.0 if is_calm else rng.choice((0.0, 0.0, 0.01, 0.2)),
        "poll_s": rng.choice((0.05, 0.25, 1.0)),
        "commit": rng.choice(("none", "none", "sync", "async")),
    }
    draft.clients.append(Client(name, "sharer", conf, traits))
    draft.at(rng.choice((0.0, 0.0, draft.moment())), "start", name)
    for _ in range(rng.choice((0, 1, 3))):
        at_s = draft.moment()
        match "cancel" if is_calm else rng.choice(("kill", "finish", "hold", "hold", "rest", "cancel", "cancel")):
            case "kill":
                draft.at(at_s, "kill", name)
                draft.at(at_s + rng.choice((0.0, 1.5)) * rng.random(), "start", name)
            case "finish":
                draft.at(at_s, "finish", name)
                if rng.random() < 0.3:
                    draft.at(at_s + 0.001, "cancel", name, "close")
                draft.at(at_s + rng.random(), "start", name)
            case "cancel":
                draft.at(at_s, "cancel", name, rng.choice(("poll", "poll", "poll", "commit", "subscribe")))
            case stops:
                draft.at(at_s, "call", name, stops, True)
                draft.at(at_s + rng.choice((0.3, 2.5)) * rng.random(), "call", name, stops, False)


def telemetry(rng: random.Random, seed: int) -> Plan:
    """Clients push metrics (KIP-714) while subscriptions change; in calm plans nothing else happens to them."""
    draft = Draft(rng, seed, "telemetry", rng.choice((3.0, 6.0)))
    draft.at(0.0, "want", rng.choice(EVERYTHING), rng.choice((100, 200, 500)))
    draft.producer("p0", careful=True)
    draft.at(0.0, "send", "p0", TOPIC, 40, 0)
    draft.bursts("p0", rng.randint(1, 4), 40)
    start = [(TOPIC, partition, 0) for partition in range(draft.topics[TOPIC])]
    conf = {**draft.consumer_conf(), "group.id": "g-r0"}
    draft.clients.append(Client("r0", "reader", conf, {**draft.consumer_traits(), "start": start}))
    draft.at(0.0, "start", "r0")
    is_calm = rng.random() < 0.3
    for _ in range(rng.choice((0, 1, 2, 4))):
        draft.at(draft.moment(), "want", rng.choice(EVERYTHING if is_calm else WANTED), rng.choice((100, 200, 500)))
    if not is_calm:
        if rng.random() < 0.5:
            draft_member(draft, "m0", rng.choice(("range", "cooperative-sticky")))
        draft.troubles(rng.randint(0, 6), METRICS_APIS)
    return draft.plan(properties={"metric.reporters": "A"}, probe=True)


EVERYTHING: Final = ("*", "org.apache.kafka.producer.,org.apache.kafka.consumer.")
WANTED: Final = (
    *EVERYTHING,
    "*",
    "org.apache.kafka.consumer.coordinator.",
    "org.apache.kafka.producer.connection.",
    "",
)
"""The metrics of subscriptions; the last is none."""

SCENARIOS: Final[dict[str, Callable[[random.Random, int], Plan]]] = {
    "produce": produce,
    "read": read,
    "group": group,
    "topics": topics,
    "admin": admin,
    "anew": anew,
    "pipe": pipe,
    "heartbeats": heartbeats,
    "unclean": unclean,
    "share": share,
    "telemetry": telemetry,
}
WEIGHTS: Final = {"produce": 4, "read": 4, "group": 4, "topics": 2}
SHARES: Final = {
    "admin": 1 / 15,
    "anew": 1 / 20,
    "pipe": 1 / 12,
    "heartbeats": 1 / 12,
    "unclean": 1 / 12,
    "share": 1 / 12,
    "telemetry": 1 / 20,
}
"""Of all seeds; drawn from sources of their own, so that the plans of all others stay what they were."""


def plan_for(seed: int, scenario: str | None = None) -> Plan:
    """The plan of a seed; of a certain scenario, if one is named."""
    rng = random.Random(seed)
    if scenario is None:
        drawn_first = (name for name, share in SHARES.items() if random.Random(f"{name} {seed}").random() < share)
        scenario = next(drawn_first, None)
    drawn = rng.choices(list(WEIGHTS), list(WEIGHTS.values()))[0]
    return SCENARIOS[scenario or drawn](rng, seed)
