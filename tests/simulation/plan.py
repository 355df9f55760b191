"""The plan of a simulation: clients, topics, and a schedule of actions and faults, all of it drawn from a seed.

Must not run anything. A plan is plain data: it can be printed, kept as JSON, cut down by the shrinker and run again.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any


@dataclass(frozen=True, slots=True)
class Action:
    """One entry of the schedule: what happens at a time (seconds since the beginning), to whom, and how."""

    at_s: float
    what: str
    args: tuple[Any, ...] = ()

    def __str__(self) -> str:
        return f"{self.at_s:8.3f}  {self.what} {' '.join(map(str, self.args))}".rstrip()


@dataclass(frozen=True, slots=True)
class Client:
    """One application and its configuration.

    Attributes:
        role: "producer", "reader" (assigned by hand), "member" (of a group), "sharer" (of a share group), "admin" or
            "pipe".
        conf: what the client is made with, beside bootstrap.servers and client.id.
        traits: how the application behaves; each role has its own (see apps).
    """

    name: str
    role: str
    conf: dict[str, Any]
    traits: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Plan:
    """A whole run.

    Attributes:
        topics: name → partitions, there from the beginning.
        shuffle: whether task steps of one round run in any order.
        split: share of writes that arrive in two pieces.
        probe: once all is mended and dead connections are found out, producers send some more, which must succeed.
        drain_s: how long, once all is mended, everything may take to be delivered.
    """

    seed: int
    scenario: str
    brokers: int
    topics: dict[str, int]
    clients: tuple[Client, ...]
    actions: tuple[Action, ...]
    shuffle: bool = True
    latency_s: float = 0.001
    split: float = 0.1
    drain_s: float = 60.0
    probe: bool = False
    properties: dict[str, str] = field(default_factory=dict)

    def with_actions(self, actions: Sequence[Action]) -> Plan:
        """The same run with another schedule."""
        return replace(self, actions=tuple(actions))

    def client(self, name: str) -> Client:
        """The client of that name; KeyError if there is none."""
        for client in self.clients:
            if client.name == name:
                return client
        raise KeyError(name)

    def to_json(self) -> str:
        """The plan as text."""
        return json.dumps(asdict(self), indent=1)

    @classmethod
    def from_json(cls, text: str) -> Plan:
        """A plan from `to_json`."""
        raw = json.loads(text)
        raw["clients"] = tuple(Client(**item) for item in raw["clients"])
        raw["actions"] = tuple(
            Action(item["at_s"], item["what"], tuple(_frozen(value) for value in item["args"]))
            for item in raw["actions"]
        )
        return cls(**raw)


def _frozen(value: Any) -> Any:
    return tuple(_frozen(item) for item in value) if isinstance(value, list) else value
