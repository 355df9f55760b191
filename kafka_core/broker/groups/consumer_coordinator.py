"""The coordinator of consumer groups (KIP-848): heartbeats, sessions, revocations that take too long, commits.

Must not know: request versions (handlers translate), sockets, the wall clock (timers are passed in).
Spec: KIP-848; `GroupMetadataManager.consumerGroupHeartbeat` of Apache Kafka 4, whose sentences the errors repeat.

A consumer group lies over the classic group of the same name, which keeps the committed positions and has no members
while this one has any; groups that change their protocol with their members in them: `consumer_migration.py`.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from kafka_core.broker.codes import Code
from kafka_core.broker.configs import GroupConfig
from kafka_core.broker.groups.classic_groups import Group
from kafka_core.broker.groups.consumer_groups import (
    STATIC_LEAVE_EPOCH,
    ConsumerGroup,
    ConsumerGroupState,
    ConsumerMember,
    Id,
    MemberState,
    Topics,
)
from kafka_core.broker.groups.epoch_groups import EpochGroups, stop_watching
from kafka_core.broker.parking import Timers

logger: Final = logging.getLogger(__name__)

LEAVE_EPOCH: Final = -1
_NOT_RE2 = re.compile(r"\(\?(=|!|<=|<!|>|\()|\\[1-9]")


@dataclass(frozen=True, slots=True)
class ConsumerGroupSettings:
    """The broker's properties for these groups (`group.consumer.*`) that groups have none of their own for."""

    max_size: int
    assignors: Sequence[str]
    upgrades: bool
    downgrades: bool


@dataclass(frozen=True, slots=True)
class HeartbeatCall:
    """The facts of one ConsumerGroupHeartbeat; None: as the member said before."""

    group_id: str
    member_id: str
    epoch: int
    instance_id: str | None = None
    rack_id: str | None = None
    client_id: str = ""
    client_host: str = ""
    rebalance_timeout_ms: int = -1
    topics: frozenset[str] | None = None
    regex: str | None = None
    assignor: str | None = None
    owned: frozenset[Id] | None = None

    @property
    def is_whole(self) -> bool:
        """Whether the member says everything, so that it must be told everything."""
        says_topics = self.topics is not None or self.regex is not None
        return self.epoch == 0 or (says_topics and self.rebalance_timeout_ms != -1 and self.owned is not None)


@dataclass(frozen=True, slots=True)
class HeartbeatResult:
    """The answer; `assigned` is None if the member has been told that already."""

    code: Code
    text: str | None = None
    member_id: str | None = None
    epoch: int = 0
    heartbeat_interval_ms: int = 0
    assigned: frozenset[Id] | None = None


class ConsumerGroups(EpochGroups[ConsumerGroup, ConsumerMember]):
    """All consumer groups of the cluster (their state is shared; which broker answers for one is the cluster's).

    Args:
        config_of: the properties of a group.
        all_topics: the cluster's topics as they are now.
        classic: the classic groups by name, where the positions are.
        upgrade: makes a consumer group of a classic group with members, or says why not; None without members.
        downgrade: called when the last member that speaks this protocol is gone and classic ones are left.
    """

    def __init__(
        self,
        timers: Timers,
        settings: ConsumerGroupSettings,
        config_of: Callable[[str], GroupConfig],
        all_topics: Callable[[], Topics],
        classic: dict[str, Group],
    ) -> None:
        super().__init__(timers)
        self.settings = settings
        self._config_of = config_of
        self.all_topics = all_topics
        self.classic = classic
        self.upgrade: Callable[[str], ConsumerGroup | Code | None] = lambda group_id: None
        self.downgrade: Callable[[ConsumerGroup], None] = lambda group: None

    # ---- heartbeats ----------------------------------------------------------------------------------------------

    def heartbeat(self, call: HeartbeatCall) -> HeartbeatResult:
        """ConsumerGroupHeartbeat: joins (epoch 0), stays, leaves (-1), leaves for a while (-2, static members)."""
        if (refusal := self._refuse(call)) is not None:
            return refusal
        if call.epoch < 0:
            return self._leave(call)
        group, refusal = self._group_for(call)
        if group is None:
            return refusal
        member, refusal = self._member_for(group, call)
        if member is None:
            return refusal
        before = member.assigned
        if refused := self._update(group, member, call):
            return HeartbeatResult(Code.INVALID_REGULAR_EXPRESSION, refused)
        self.bring_up_to_date(group)
        group.reconcile(member, call.owned)
        config = self._config_of(group.group_id)
        self.watch_session(group, member, config.integer("consumer.session.timeout.ms"))
        self.watch_revocation(group, member)
        told = call.is_whole or member.assigned != before
        return HeartbeatResult(
            Code.NONE,
            None,
            member.member_id,
            member.epoch,
            config.integer("consumer.heartbeat.interval.ms"),
            member.assigned if told else None,
        )

    def _refuse(self, call: HeartbeatCall) -> HeartbeatResult | None:
        text = None
        if not call.group_id:
            text = "GroupId can't be empty."
        elif call.instance_id == "":
            text = "InstanceId can't be empty."
        elif call.rack_id == "":
            text = "RackId can't be empty."
        elif not call.member_id:
            text = "MemberId can't be empty."
        elif call.epoch == 0:
            if call.rebalance_timeout_ms == -1:
                text = "RebalanceTimeoutMs must be provided in first request."
            elif call.owned is None or call.owned:
                text = "TopicPartitions must be empty when (re-)joining."
            elif call.topics is None and call.regex is None:
                text = "Either SubscribedTopicNames or SubscribedTopicRegex must be non-null when (re-)joining."
        elif call.epoch == STATIC_LEAVE_EPOCH and call.instance_id is None:
            text = "InstanceId can't be null."
        elif call.epoch < STATIC_LEAVE_EPOCH:
            text = "MemberEpoch is invalid."
        if text is not None:
            return HeartbeatResult(Code.INVALID_REQUEST, text)
        if call.assignor is not None and call.assignor not in self.settings.assignors:
            known = ", ".join(self.settings.assignors)
            text = f"ServerAssignor {call.assignor} is not supported. Supported assignors: {known}."
            return HeartbeatResult(Code.UNSUPPORTED_ASSIGNOR, text)
        return None

    def _group_for(self, call: HeartbeatCall) -> tuple[ConsumerGroup | None, HeartbeatResult]:
        group = self.groups.get(call.group_id)
        if group is None:
            if call.epoch > 0:
                text = f"Consumer group {call.group_id} not found."
                return None, HeartbeatResult(Code.GROUP_ID_NOT_FOUND, text)
            made = self.upgrade(call.group_id)
            if isinstance(made, Code):
                return None, HeartbeatResult(made, f"Cannot upgrade classic group {call.group_id} to consumer group.")
            group = made or ConsumerGroup(call.group_id)
            self.groups[call.group_id] = group
            self.classic.setdefault(call.group_id, Group(call.group_id))
        new = call.member_id not in group.members
        if new and call.epoch == 0 and len(group.members) >= self.settings.max_size:
            text = f"The consumer group has reached its maximum capacity of {self.settings.max_size} members."
            return None, HeartbeatResult(Code.GROUP_MAX_SIZE_REACHED, text)
        return group, HeartbeatResult(Code.NONE)

    def _member_for(self, group: ConsumerGroup, call: HeartbeatCall) -> tuple[ConsumerMember | None, HeartbeatResult]:
        member = group.members.get(call.member_id)
        if call.instance_id is not None:
            holder = group.static_member(call.instance_id)
            if holder is not None and holder.member_id != call.member_id:
                return self._other_holder(group, holder, call)
            member = holder
        if member is None:
            if call.epoch > 0:
                text = f"Member {call.member_id} is not a member of group {call.group_id}."
                return None, HeartbeatResult(Code.UNKNOWN_MEMBER_ID, text)
            member = group.members[call.member_id] = ConsumerMember(
                call.member_id, call.instance_id, client_id=call.client_id, client_host=call.client_host
            )
            group.epoch += 1
        elif call.epoch == 0:
            member.classic = None  # a member of the classic protocol may come back with this one
        elif (code := member.epoch_problem(call.epoch, call.owned)) is not Code.NONE:
            text = (
                f"The consumer group member has a {'smaller' if call.epoch < member.epoch else 'larger'} member epoch "
                f"({call.epoch}) than the one known by the group coordinator ({member.epoch}). The member must abandon "
                "all its partitions and rejoin."
            )
            return None, HeartbeatResult(code, text)
        return member, HeartbeatResult(Code.NONE)

    @staticmethod
    def _other_holder(
        group: ConsumerGroup, holder: ConsumerMember, call: HeartbeatCall
    ) -> tuple[ConsumerMember | None, HeartbeatResult]:
        """The instance id is another member's: its former self's, or really somebody else's."""
        if call.epoch > 0:
            text = (
                f"Static member {call.member_id} with instance id {call.instance_id} was fenced by member "
                f"{holder.member_id}."
            )
            return None, HeartbeatResult(Code.FENCED_INSTANCE_ID, text)
        if holder.epoch != STATIC_LEAVE_EPOCH and holder.classic is None:
            text = (
                f"Static member {call.member_id} with instance id {call.instance_id} cannot join the group because the "
                f"instance id is owned by {holder.member_id} member."
            )
            return None, HeartbeatResult(Code.UNRELEASED_INSTANCE_ID, text)
        group.replace(holder, call.member_id)
        holder.classic = None
        return holder, HeartbeatResult(Code.NONE)

    def _update(self, group: ConsumerGroup, member: ConsumerMember, call: HeartbeatCall) -> str | None:
        """Takes over what the heartbeat says; the text of what is wrong with its regular expression."""
        if call.regex and (problem := regex_problem(call.regex)) is not None:
            if member.epoch == 0 and not member.assigned:
                group.remove(member)
            return f"SubscribedTopicRegex `{call.regex}` is not a valid regular expression: {problem}."
        member.client_id, member.client_host = call.client_id, call.client_host
        if call.rebalance_timeout_ms != -1:
            member.rebalance_timeout_ms = call.rebalance_timeout_ms
        if call.rack_id is not None:
            member.rack_id = call.rack_id
        asked = (member.topics, member.regex, member.assignor)
        if call.topics is not None:
            member.topics = call.topics
        if call.regex is not None:
            member.regex = call.regex or None
        if call.assignor is not None:
            member.assignor = call.assignor
        if call.epoch == 0:
            member.epoch = 0
            member.state = MemberState.STABLE if not member.revoking else member.state
        if asked != (member.topics, member.regex, member.assignor) and member.epoch > 0:
            group.epoch += 1
        return None

    def bring_up_to_date(self, group: ConsumerGroup) -> None:
        """Looks at subscriptions and topics as they are now, and has the assignor run if anything changed.

        It runs no sooner than `consumer.assignment.interval.ms` after it last ran; what changes meanwhile it takes
        together then, and members hear of it in their next heartbeats.
        """
        topics = self.all_topics()
        subscriptions = {member.member_id: subscribed(member, topics) for member in group.members.values()}
        wanted = {name for names in subscriptions.values() for name in names}
        group.changed({name: topics[name] for name in sorted(wanted)})
        if group.rest is not None:
            return
        epoch = group.target_epoch
        group.assign(subscriptions, self.settings.assignors[0])
        interval_s = self._config_of(group.group_id).assignment_interval_s("consumer")
        if interval_s and group.target_epoch != epoch:
            self._rest(group, interval_s)

    # ---- leaving -------------------------------------------------------------------------------------------------

    def _leave(self, call: HeartbeatCall) -> HeartbeatResult:
        group = self.groups.get(call.group_id)
        if group is None:
            return HeartbeatResult(Code.GROUP_ID_NOT_FOUND, f"Consumer group {call.group_id} not found.")
        member = group.members.get(call.member_id)
        if call.instance_id is not None:
            holder = group.static_member(call.instance_id)
            if holder is not None and holder.member_id != call.member_id:
                text = f"Static member {call.member_id} was fenced by member {holder.member_id}."
                return HeartbeatResult(Code.FENCED_INSTANCE_ID, text)
            member = holder
        if member is None:
            text = f"Member {call.member_id} is not a member of group {call.group_id}."
            return HeartbeatResult(Code.UNKNOWN_MEMBER_ID, text)
        if call.epoch == STATIC_LEAVE_EPOCH:
            member.reach(STATIC_LEAVE_EPOCH, MemberState.STABLE, member.assigned)
            self._stop_watching_revocation(member)
        else:
            self.drop(group, member, "left")
        return HeartbeatResult(Code.NONE, None, call.member_id, call.epoch)

    def drop(self, group: ConsumerGroup, member: ConsumerMember, why: str) -> None:
        """Takes a member out, with its timers."""
        logger.debug("group %s: member %s %s", group.group_id, member.member_id, why)
        stop_watching(member)
        self._stop_watching_revocation(member)
        epoch = group.epoch
        group.remove(member)
        if group.members and all(other.classic is not None for other in group.members.values()):
            group.epoch = epoch  # the generation of those who are left; the rebalance makes the next one
            self.downgrade(group)

    # ---- time ----------------------------------------------------------------------------------------------------

    def watch_revocation(self, group: ConsumerGroup, member: ConsumerMember) -> None:
        """A member that has to give partitions up has its rebalance time-out for it."""
        if member.state is not MemberState.UNREVOKED:
            self._stop_watching_revocation(member)
        elif member.rebalance is None:
            member.rebalance = self._timers.after(
                member.rebalance_timeout_ms / 1000, lambda: self._over(group, member, "did not give partitions up")
            )

    @staticmethod
    def _stop_watching_revocation(member: ConsumerMember) -> None:
        if member.rebalance is not None:
            member.rebalance.cancel()
            member.rebalance = None

    # ---- administration ------------------------------------------------------------------------------------------

    def give_way(self, group_id: str) -> Code:
        """The name is wanted by a classic group, or by nobody: NONE if this group is empty, and gone now."""
        group = self.groups.get(group_id)
        if group is None:
            return Code.NONE
        if group.state is not ConsumerGroupState.EMPTY:
            return Code.NON_EMPTY_GROUP
        del self.groups[group_id]
        return Code.NONE


def regex_problem(pattern: str) -> str | None:
    """Why RE2/J would not take it, None if it would (as far as Python's `re` can tell)."""
    found = _NOT_RE2.search(pattern)
    if found is not None:
        return f"invalid or unsupported Perl syntax: `{found.group()}`"
    try:
        re.compile(pattern)
    except re.error as error:
        return str(error)
    return None


def subscribed(member: ConsumerMember, topics: Mapping[str, object]) -> frozenset[str]:
    """The topics that there are of those which a member wants by name and by pattern (whole names must match)."""
    found = {name for name in member.topics if name in topics}
    if member.regex is not None:
        pattern = re.compile(member.regex)
        found |= {name for name in topics if pattern.fullmatch(name)}
    return frozenset(found)
