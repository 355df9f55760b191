"""The common part of coordinators whose members have epochs: consumer groups (KIP-848) and share groups (KIP-932).

Must not know how members join, or what is assigned to them.
"""

from __future__ import annotations

import abc
from collections.abc import Iterable, Mapping
from enum import Enum
from typing import Any, Generic, Protocol, TypeVar

from kafka_core.broker.parking import Timer, Timers


class EpochMember(Protocol):
    """A member, by its id, with the timer of its session."""

    member_id: str
    session: Timer | None


class EpochGroup(Protocol):
    """A group of such members; `rest` is the timer until its assignor may run again."""

    rest: Timer | None

    @property
    def members(self) -> Mapping[str, Any]:
        """The members by id."""
        ...

    @property
    def state(self) -> Enum:
        """The state; its value is the name that administrators see."""
        ...


GroupT = TypeVar("GroupT", bound=EpochGroup)
MemberT = TypeVar("MemberT", bound=EpochMember)


class EpochGroups(abc.ABC, Generic[GroupT, MemberT]):
    """Groups by name, sessions of their members, and the time between two runs of an assignor.

    Attributes:
        groups: group id → group.
    """

    def __init__(self, timers: Timers) -> None:
        self.groups: dict[str, GroupT] = {}
        self._timers = timers

    @abc.abstractmethod
    def drop(self, group: GroupT, member: MemberT, why: str) -> None:
        """Takes a member out, with its timers."""

    @abc.abstractmethod
    def bring_up_to_date(self, group: GroupT) -> None:
        """Assigns partitions anew if subscriptions or topics have changed."""

    def get(self, group_id: str) -> GroupT | None:
        """The group of that name, if it is one of these."""
        return self.groups.get(group_id)

    def list(self, states: Iterable[str] = ()) -> list[GroupT]:
        """Groups in one of `states` (names, any case); all without states."""
        wanted = {state.lower() for state in states}
        return [group for group in self.groups.values() if not wanted or group.state.value.lower() in wanted]

    def watch_session(self, group: GroupT, member: MemberT, timeout_ms: int) -> None:
        """A member gave a sign of life."""
        stop_watching(member)
        member.session = self._timers.after(timeout_ms / 1000, lambda: self._over(group, member, "timed out"))

    def _over(self, group: GroupT, member: MemberT, why: str) -> None:
        if group.members.get(member.member_id) is member:
            self.drop(group, member, why)

    def _rest(self, group: GroupT, interval_s: float) -> None:
        """The assignor has run: it runs no sooner than after an interval again."""
        group.rest = self._timers.after(interval_s, lambda: self._rested(group))

    def _rested(self, group: GroupT) -> None:
        group.rest = None
        if group.members:
            self.bring_up_to_date(group)


def stop_watching(member: EpochMember) -> None:
    """Cancels the timer of a member's session."""
    if member.session is not None:
        member.session.cancel()
