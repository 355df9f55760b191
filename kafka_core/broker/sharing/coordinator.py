"""The coordinator of share groups (KIP-932): heartbeats, sessions, and the positions that administrators see.

Must not know: request versions (handlers translate), sockets, the wall clock (timers are passed in).
Spec: KIP-932; `GroupMetadataManager.shareGroupHeartbeat` of Apache Kafka 4.3, whose sentences the errors repeat.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Final

from kafka_core.broker.codes import Code
from kafka_core.broker.configs import GroupConfig
from kafka_core.broker.groups.consumer_groups import Id, Topics
from kafka_core.broker.groups.epoch_groups import EpochGroups, stop_watching
from kafka_core.broker.parking import Timers
from kafka_core.broker.sharing.groups import ShareGroup, ShareGroupState, ShareMember

logger: Final = logging.getLogger(__name__)

JOIN_EPOCH: Final = 0
LEAVE_EPOCH: Final = -1


@dataclass(frozen=True, slots=True)
class ShareHeartbeatCall:
    """The facts of one ShareGroupHeartbeat; None: as the member said before."""

    group_id: str
    member_id: str
    epoch: int
    rack_id: str | None = None
    client_id: str = ""
    client_host: str = ""
    topics: frozenset[str] | None = None


@dataclass(frozen=True, slots=True)
class ShareHeartbeatResult:
    """The answer; `assigned` is None if the member has been told that already."""

    code: Code
    text: str | None = None
    member_id: str | None = None
    epoch: int = 0
    heartbeat_interval_ms: int = 0
    assigned: frozenset[Id] | None = None


class ShareGroups(EpochGroups[ShareGroup, ShareMember]):
    """All share groups of the cluster (their state is shared; which broker answers for one is the cluster's).

    Args:
        max_size: how many members a group may have.
        config_of: the properties of a group.
        all_topics: the cluster's topics as they are now.
        is_other_kind: whether a group of that name is there that is no share group.
        begin: called with the partitions that a group reads, before its members hear of them.
    """

    def __init__(
        self,
        timers: Timers,
        max_size: int,
        config_of: Callable[[str], GroupConfig],
        all_topics: Callable[[], Topics],
        is_other_kind: Callable[[str], bool],
        begin: Callable[[str, Iterable[Id]], None],
    ) -> None:
        super().__init__(timers)
        self.max_size = max_size
        self._config_of = config_of
        self._all_topics = all_topics
        self._is_other_kind = is_other_kind
        self._begin = begin

    # ---- heartbeats ----------------------------------------------------------------------------------------------

    def heartbeat(self, call: ShareHeartbeatCall) -> ShareHeartbeatResult:
        """ShareGroupHeartbeat: joins (epoch 0), stays, leaves (-1)."""
        if (text := _malformed(call)) is not None:
            return ShareHeartbeatResult(Code.INVALID_REQUEST, text or None)
        if call.epoch == LEAVE_EPOCH:
            return self._leave(call)
        group, refusal = self._group_for(call)
        if group is None:
            return refusal
        member = group.members.get(call.member_id)
        if member is None:
            if call.epoch != JOIN_EPOCH:
                return _unknown_member(call)
            if len(group.members) >= self.max_size:
                text = f"The share group has reached its maximum capacity of {self.max_size} members."
                return ShareHeartbeatResult(Code.GROUP_MAX_SIZE_REACHED, text)
            member = group.members[call.member_id] = ShareMember(call.member_id)
            group.epoch += 1
        elif call.epoch != JOIN_EPOCH and (text := member.epoch_problem(call.epoch)) is not None:
            return ShareHeartbeatResult(Code.FENCED_MEMBER_EPOCH, text)
        self.groups[call.group_id] = group
        return self._take_in(group, member, call)

    def _take_in(self, group: ShareGroup, member: ShareMember, call: ShareHeartbeatCall) -> ShareHeartbeatResult:
        member.client_id, member.client_host = call.client_id, call.client_host
        if call.rack_id is not None:
            member.rack_id = call.rack_id
        if call.topics is not None and call.topics != member.topics:
            member.topics = call.topics
            if group.epoch == group.target_epoch:
                group.epoch += 1
        self.bring_up_to_date(group)
        changed = member.reach(group.target_epoch, group.target.get(member.member_id, frozenset()))
        config = self._config_of(group.group_id)
        self.watch_session(group, member, config.integer("share.session.timeout.ms"))
        told = changed or call.topics is not None
        return ShareHeartbeatResult(
            Code.NONE,
            None,
            member.member_id,
            member.epoch,
            config.integer("share.heartbeat.interval.ms"),
            member.assigned if told else None,
        )

    def bring_up_to_date(self, group: ShareGroup) -> None:
        """No sooner than `share.assignment.interval.ms` after the last time; changes until then are taken together."""
        if group.assign(self._all_topics()):
            interval_s = self._config_of(group.group_id).assignment_interval_s("share")
            if interval_s:
                self._rest(group, interval_s)
        self._begin(group.group_id, (key for ids in group.topics.values() for key in ids))

    def _group_for(self, call: ShareHeartbeatCall) -> tuple[ShareGroup | None, ShareHeartbeatResult]:
        group = self.groups.get(call.group_id)
        if group is None and self._is_other_kind(call.group_id):
            text = f"Group {call.group_id} is not a share group."
            return None, ShareHeartbeatResult(Code.GROUP_ID_NOT_FOUND, text)
        if group is None and call.epoch != JOIN_EPOCH:
            text = f"Share group {call.group_id} not found."
            return None, ShareHeartbeatResult(Code.GROUP_ID_NOT_FOUND, text)
        return group or ShareGroup(call.group_id), ShareHeartbeatResult(Code.NONE)

    def _leave(self, call: ShareHeartbeatCall) -> ShareHeartbeatResult:
        code, text = self.group_problem(call.group_id)
        if code is not Code.NONE:
            return ShareHeartbeatResult(code, text)
        group = self.groups[call.group_id]
        member = group.members.get(call.member_id)
        if member is None:
            return _unknown_member(call)
        self.drop(group, member, "left")
        return ShareHeartbeatResult(Code.NONE, None, call.member_id, LEAVE_EPOCH)

    def drop(self, group: ShareGroup, member: ShareMember, why: str) -> None:
        """Takes a member out, with its timer."""
        logger.debug("group %s: member %s %s", group.group_id, member.member_id, why)
        stop_watching(member)
        group.remove(member)

    # ---- administration ------------------------------------------------------------------------------------------

    def group_problem(self, group_id: str) -> tuple[Code, str | None]:
        """Why there is no share group of that name; NONE if there is."""
        if group_id in self.groups:
            return Code.NONE, None
        other = self._is_other_kind(group_id)
        return Code.GROUP_ID_NOT_FOUND, f"Group {group_id} {'is not a share group' if other else 'not found'}."

    def position_problem(self, group_id: str) -> tuple[Code, str | None]:
        """Why positions of the group can't be changed; NONE if they can. A group that is not there will be made."""
        if not group_id:
            return Code.INVALID_GROUP_ID, "The group id is invalid."
        group = self.groups.get(group_id)
        if group is None:
            if self._is_other_kind(group_id):
                return self.group_problem(group_id)
            group = self.groups[group_id] = ShareGroup(group_id)
        full = group.state is not ShareGroupState.EMPTY
        return (Code.NON_EMPTY_GROUP, "The group is not empty.") if full else (Code.NONE, None)

    def delete(self, group_id: str) -> Code:
        """DeleteGroups of one group: it must be empty."""
        group = self.groups.get(group_id)
        if group is None:
            return Code.GROUP_ID_NOT_FOUND
        if group.state is not ShareGroupState.EMPTY:
            return Code.NON_EMPTY_GROUP
        del self.groups[group_id]
        return Code.NONE


def _malformed(call: ShareHeartbeatCall) -> str | None:
    """The error in a call by itself (empty if there are no words for it), None if there is none."""
    if not call.group_id:
        return "GroupId can't be empty."
    if not call.member_id:
        return ""
    if call.rack_id == "":
        return "RackId can't be empty."
    if call.epoch == JOIN_EPOCH and not call.topics:
        return "SubscribedTopicNames must be set in first request."
    return "MemberEpoch is invalid." if call.epoch < LEAVE_EPOCH else None


def _unknown_member(call: ShareHeartbeatCall) -> ShareHeartbeatResult:
    text = f"Member {call.member_id} is not a member of group {call.group_id}."
    return ShareHeartbeatResult(Code.UNKNOWN_MEMBER_ID, text)
