"""The group coordinator: JoinGroup to DeleteGroups of the classic protocol, with their time-outs, and the offsets.

Must not know: requests and versions (handlers translate), sockets, the wall clock (clock, timers, random passed in).
Spec: KIP-62, KIP-134, KIP-345, KIP-394, KIP-814; `GroupMetadataManager`'s classic paths in Apache Kafka 4.
"""

from __future__ import annotations

import logging
import random
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from kafka_core.broker.codes import Code
from kafka_core.broker.groups.classic_groups import (
    CommittedOffset,
    Group,
    GroupState,
    JoinResult,
    Member,
    Protocols,
    SyncResult,
)
from kafka_core.broker.parking import Pending, Timers
from kafka_core.clock import Clock

logger: Final = logging.getLogger(__name__)

#: A member that joins for the first time has this long to take the answer (`ClassicGroup` calls it the same).
NEW_MEMBER_JOIN_TIMEOUT_MS = 5 * 60 * 1000


@dataclass(frozen=True, slots=True)
class GroupSettings:
    """The broker's bounds for groups (`group.*` and `offset.metadata.max.bytes`)."""

    min_session_timeout_ms: int
    max_session_timeout_ms: int
    initial_rebalance_delay_ms: int
    max_size: int
    metadata_max_bytes: int


@dataclass(frozen=True, slots=True)
class JoinCall:
    """The facts of one JoinGroup request."""

    group_id: str
    member_id: str
    instance_id: str | None
    client_id: str
    client_host: str
    session_timeout_ms: int
    rebalance_timeout_ms: int
    protocol_type: str
    protocols: Protocols
    requires_known_id: bool
    supports_skipping_assignment: bool


class GroupCoordinator:
    """All classic groups of the cluster (their state is shared; which broker answers for one is the cluster's)."""

    def __init__(self, clock: Clock, timers: Timers, rng: random.Random, settings: GroupSettings) -> None:
        self.groups: dict[str, Group] = {}
        self.settings = settings
        self._clock = clock
        self._timers = timers
        self._rng = rng

    # ---- joining -------------------------------------------------------------------------------------------------

    def join(self, call: JoinCall) -> Pending[JoinResult]:
        """JoinGroup: answered when the rebalance it belongs to completes."""
        code = self._refuse_join(call)
        if code is not Code.NONE:
            return Pending.ready(JoinResult(code, call.member_id))
        group = self.groups.get(call.group_id)
        if group is None:
            if call.member_id:
                return Pending.ready(JoinResult(Code.UNKNOWN_MEMBER_ID, call.member_id))
            group = self.groups[call.group_id] = Group(call.group_id)
        if not group.supports(call.protocol_type, call.protocols):
            return Pending.ready(JoinResult(Code.INCONSISTENT_GROUP_PROTOCOL, call.member_id))
        if not call.member_id and len(group.members) >= self.settings.max_size:
            return Pending.ready(JoinResult(Code.GROUP_MAX_SIZE_REACHED, ""))
        return self._join_new(group, call) if not call.member_id else self._join_known(group, call)

    def _refuse_join(self, call: JoinCall) -> Code:
        if not call.group_id:
            return Code.INVALID_GROUP_ID
        bounds = range(self.settings.min_session_timeout_ms, self.settings.max_session_timeout_ms + 1)
        return Code.NONE if call.session_timeout_ms in bounds else Code.INVALID_SESSION_TIMEOUT

    def _join_new(self, group: Group, call: JoinCall) -> Pending[JoinResult]:
        prefix = call.client_id if call.instance_id is None else call.instance_id
        member_id = f"{prefix}-{self._uuid()}"
        if call.instance_id is not None:
            old_id = group.static_ids.get(call.instance_id)
            if old_id is not None:
                return self._replace_static(group, group.members[old_id], member_id, call)
        elif call.requires_known_id:
            expiry = self._timers.after(call.session_timeout_ms / 1000, lambda: self._forget_promise(group, member_id))
            group.promised_ids[member_id] = expiry
            return Pending.ready(JoinResult(Code.MEMBER_ID_REQUIRED, member_id))
        return self._add_and_rebalance(group, member_id, call)

    def _join_known(self, group: Group, call: JoinCall) -> Pending[JoinResult]:
        promise = group.promised_ids.get(call.member_id)
        if promise is not None and call.instance_id is None:
            promise.cancel()
            return self._add_and_rebalance(group, call.member_id, call)
        member, code = self._find_member(group, call.member_id, call.instance_id)
        if member is None:
            return Pending.ready(JoinResult(code, call.member_id))
        changed = member.protocols != call.protocols
        if group.state is GroupState.STABLE:
            unchanged = not changed and member.member_id != group.leader_id
        else:
            unchanged = group.state is GroupState.COMPLETING and not changed
        if unchanged:
            self._update(member, call)
            return Pending.ready(group.join_result(member))
        if group.state is GroupState.EMPTY:
            return Pending.ready(JoinResult(Code.UNKNOWN_MEMBER_ID, call.member_id))
        self._update(member, call)
        return self._await_join(group, member, f"member {member.member_id} joins again")

    def _add_and_rebalance(self, group: Group, member_id: str, call: JoinCall) -> Pending[JoinResult]:
        member = Member(
            member_id,
            call.instance_id,
            call.client_id,
            call.client_host,
            call.session_timeout_ms,
            call.rebalance_timeout_ms,
            call.protocols,
        )
        if not group.members:
            group.protocol_type = call.protocol_type
        group.add(member)
        group.newcomers = group.initial_limit_s is not None
        self._restart_session(group, member, NEW_MEMBER_JOIN_TIMEOUT_MS)
        return self._await_join(group, member, f"member {member_id} is new")

    def _await_join(self, group: Group, member: Member, reason: str) -> Pending[JoinResult]:
        answer: Pending[JoinResult] = Pending()
        if member.waiting_join is not None:  # the client sent JoinGroup again, on a new connection after losing one
            member.waiting_join.resolve(JoinResult(Code.REBALANCE_IN_PROGRESS, member.member_id))
        member.waiting_join = answer
        self._prepare_rebalance(group, reason)
        return answer

    def _replace_static(self, group: Group, member: Member, member_id: str, call: JoinCall) -> Pending[JoinResult]:
        """A static member came back without its id: it takes the place of its old self (KIP-345, KIP-814)."""
        old_leader = group.leader_id or ""
        if member.waiting_join is not None:
            waiting_join, member.waiting_join = member.waiting_join, None
            waiting_join.resolve(JoinResult(Code.FENCED_INSTANCE_ID, member.member_id))
        if member.waiting_sync is not None:
            waiting_sync, member.waiting_sync = member.waiting_sync, None
            waiting_sync.resolve(SyncResult(Code.FENCED_INSTANCE_ID))
        group.rename(member, member_id)
        self._update(member, call)
        self._restart_session(group, member)
        if group.state is not GroupState.STABLE or group.select_protocol() != group.protocol_name:
            return self._await_join(group, member, f"static member {call.instance_id} comes back")
        if call.supports_skipping_assignment:
            return Pending.ready(group.join_result(member, skip_assignment=member_id == group.leader_id))
        # An older client that found itself leader would assign anew while nobody else rejoins: name the old leader.
        return Pending.ready(
            JoinResult(Code.NONE, member_id, group.generation, group.protocol_type, group.protocol_name, old_leader)
        )

    @staticmethod
    def _update(member: Member, call: JoinCall) -> None:
        member.protocols = call.protocols
        member.session_timeout_ms = call.session_timeout_ms
        member.rebalance_timeout_ms = call.rebalance_timeout_ms

    # ---- the rebalance -------------------------------------------------------------------------------------------

    def _prepare_rebalance(self, group: Group, reason: str) -> None:
        logger.debug("group %s rebalances: %s", group.group_id, reason)
        if group.state is GroupState.PREPARING:
            self._complete_if_ready(group)
            return
        if group.state is GroupState.COMPLETING:
            self._cancel_syncs(group)
        was_empty = group.state is GroupState.EMPTY
        group.move_to(GroupState.PREPARING)
        delay_ms = self.settings.initial_rebalance_delay_ms
        if was_empty and delay_ms > 0:
            group.initial_limit_s = self._clock.monotonic() + group.rebalance_timeout_ms / 1000
            group.newcomers = False
            group.rebalance = self._timers.after(delay_ms / 1000, lambda: self._initial_delay_over(group))
            return
        group.initial_limit_s = None
        group.rebalance = self._timers.after(group.rebalance_timeout_ms / 1000, lambda: self._complete_join(group))
        self._complete_if_ready(group)

    def _initial_delay_over(self, group: Group) -> None:
        """More members came while the first rebalance of a group was held back: wait once more, within the limit."""
        left_s = (group.initial_limit_s or 0.0) - self._clock.monotonic()
        if group.newcomers and left_s > 0:
            group.newcomers = False
            delay_s = min(self.settings.initial_rebalance_delay_ms / 1000, left_s)
            group.rebalance = self._timers.after(delay_s, lambda: self._initial_delay_over(group))
            return
        group.initial_limit_s = None
        self._complete_join(group)

    def _complete_if_ready(self, group: Group) -> None:
        if group.state is GroupState.PREPARING and group.initial_limit_s is None and group.everyone_joined:
            self._complete_join(group)

    def _complete_join(self, group: Group) -> None:
        """The join phase ends: everyone is here, or the rebalance time-out is over."""
        if group.rebalance is not None:
            group.rebalance.cancel()
        for member in [m for m in group.members.values() if m.waiting_join is None and m.instance_id is None]:
            self._drop(group, member)
        if group.members and not group.elect_joined_leader():
            # Only static members, and none is back yet: keep their places and wait one more time-out.
            delay_s = group.rebalance_timeout_ms / 1000
            group.rebalance = self._timers.after(delay_s, lambda: self._complete_join(group))
            return
        group.next_generation()
        if group.state is GroupState.EMPTY:
            group.leader_id = None
            return
        for member in list(group.members.values()):
            if member.waiting_join is not None:
                answer, member.waiting_join = member.waiting_join, None
                answer.resolve(group.join_result(member))
            member.is_new = False
            self._restart_session(group, member)
        generation = group.generation
        group.sync_deadline = self._timers.after(
            group.rebalance_timeout_ms / 1000, lambda: self._sync_overdue(group, generation)
        )

    def _sync_overdue(self, group: Group, generation: int) -> None:
        """Members that did not send SyncGroup within the rebalance time-out are dropped."""
        if group.generation != generation or group.state is not GroupState.COMPLETING:
            return
        for member in [m for m in group.members.values() if m.waiting_sync is None]:
            self._drop(group, member)
        self._prepare_rebalance(group, "members did not sync in time")

    def _cancel_syncs(self, group: Group) -> None:
        for member in list(group.members.values()):
            member.assignment = b""
            if member.waiting_sync is not None:
                answer, member.waiting_sync = member.waiting_sync, None
                answer.resolve(SyncResult(Code.REBALANCE_IN_PROGRESS))
                self._restart_session(group, member)

    def sync(
        self,
        group_id: str,
        member_id: str,
        instance_id: str | None,
        generation: int,
        protocol_type: str | None,
        protocol_name: str | None,
        assignments: Mapping[str, bytes],
    ) -> Pending[SyncResult]:
        """SyncGroup: the leader's carries the assignments, the others wait for it."""
        group = self.groups.get(group_id)
        member, code = self._find_member(group, member_id, instance_id)
        if group is None or member is None:
            return Pending.ready(SyncResult(code))
        if generation != group.generation:
            return Pending.ready(SyncResult(Code.ILLEGAL_GENERATION))
        if protocol_type not in (None, group.protocol_type) or protocol_name not in (None, group.protocol_name):
            return Pending.ready(SyncResult(Code.INCONSISTENT_GROUP_PROTOCOL))
        if group.state is GroupState.PREPARING:
            return Pending.ready(SyncResult(Code.REBALANCE_IN_PROGRESS))
        if group.state is GroupState.STABLE:
            self._restart_session(group, member)
            return Pending.ready(self._sync_result(group, member))
        answer: Pending[SyncResult] = Pending()
        if member.waiting_sync is not None:
            member.waiting_sync.resolve(SyncResult(Code.REBALANCE_IN_PROGRESS))
        member.waiting_sync = answer
        if member.member_id == group.leader_id:
            self._assign(group, assignments)
        return answer

    def _assign(self, group: Group, assignments: Mapping[str, bytes]) -> None:
        group.move_to(GroupState.STABLE)
        if group.sync_deadline is not None:
            group.sync_deadline.cancel()
        for member in list(group.members.values()):
            member.assignment = assignments.get(member.member_id, b"")
            if member.waiting_sync is not None:
                answer, member.waiting_sync = member.waiting_sync, None
                self._restart_session(group, member)
                answer.resolve(self._sync_result(group, member))

    @staticmethod
    def _sync_result(group: Group, member: Member) -> SyncResult:
        return SyncResult(Code.NONE, group.protocol_type, group.protocol_name, member.assignment)

    # ---- staying and leaving -------------------------------------------------------------------------------------

    def heartbeat(self, group_id: str, member_id: str, instance_id: str | None, generation: int) -> Code:
        """Heartbeat: keeps the session alive and tells of a rebalance."""
        group = self.groups.get(group_id)
        member, code = self._find_member(group, member_id, instance_id)
        if group is None or member is None:
            return code
        if generation != group.generation:
            return Code.ILLEGAL_GENERATION
        self._restart_session(group, member)
        return Code.REBALANCE_IN_PROGRESS if group.state is GroupState.PREPARING else Code.NONE

    def leave(self, group_id: str, member_id: str, instance_id: str | None) -> Code:
        """LeaveGroup of one member; a static one may be named by its instance id alone."""
        group = self.groups.get(group_id)
        if group is None:
            return Code.UNKNOWN_MEMBER_ID
        if not member_id and instance_id is not None:
            member_id = group.static_ids.get(instance_id, "")
        promise = group.promised_ids.get(member_id)
        if promise is not None:
            promise.cancel()
            self._forget_promise(group, member_id)
            return Code.NONE
        member, code = self._find_member(group, member_id, instance_id)
        if member is None:
            return code
        self._expel(group, member, "left")
        return Code.NONE

    def _forget_promise(self, group: Group, member_id: str) -> None:
        group.promised_ids.pop(member_id, None)
        self._complete_if_ready(group)

    def _expel(self, group: Group, member: Member, reason: str) -> None:
        self._drop(group, member)
        if group.state in (GroupState.STABLE, GroupState.COMPLETING):
            self._prepare_rebalance(group, f"member {member.member_id} {reason}")
        else:
            self._complete_if_ready(group)

    @staticmethod
    def _drop(group: Group, member: Member) -> None:
        group.remove(member)
        if member.session is not None:
            member.session.cancel()
        if member.waiting_join is not None:
            join, member.waiting_join = member.waiting_join, None
            join.resolve(JoinResult(Code.UNKNOWN_MEMBER_ID, member.member_id))
        if member.waiting_sync is not None:
            sync, member.waiting_sync = member.waiting_sync, None
            sync.resolve(SyncResult(Code.UNKNOWN_MEMBER_ID))

    def dissolve(self, group: Group) -> None:
        """The group is another coordinator's now: its members are told to join again; its positions stay."""
        for member in list(group.members.values()):
            if member.session is not None:
                member.session.cancel()
            if member.waiting_join is not None:
                join, member.waiting_join = member.waiting_join, None
                join.resolve(JoinResult(Code.REBALANCE_IN_PROGRESS, member.member_id))
            if member.waiting_sync is not None:
                sync, member.waiting_sync = member.waiting_sync, None
                sync.resolve(SyncResult(Code.REBALANCE_IN_PROGRESS))
        for timer in (group.rebalance, group.sync_deadline, *group.promised_ids.values()):
            if timer is not None:
                timer.cancel()
        empty = self.groups[group.group_id] = Group(group.group_id, generation=group.generation)
        empty.offsets = group.offsets

    def restore(self, group: Group) -> None:
        """An empty group got its members from another coordinator: they join again, each with what it has."""
        for member in group.members.values():
            self._restart_session(group, member)
        group.protocol_name = group.select_protocol()
        group.state = GroupState.STABLE
        self._prepare_rebalance(group, "the group is classic again")

    def _restart_session(self, group: Group, member: Member, timeout_ms: int | None = None) -> None:
        if member.session is not None:
            member.session.cancel()
        delay_ms = member.session_timeout_ms if timeout_ms is None else timeout_ms
        member.session = self._timers.after(delay_ms / 1000, lambda: self._session_over(group, member))

    def _session_over(self, group: Group, member: Member) -> None:
        """No sign of life. A member whose JoinGroup or SyncGroup is parked here can't send any: it lives on."""
        if group.members.get(member.member_id) is not member:
            return
        if not member.is_new and (member.waiting_join is not None or member.waiting_sync is not None):
            self._restart_session(group, member)
            return
        self._expel(group, member, "timed out")

    @staticmethod
    def _find_member(group: Group | None, member_id: str, instance_id: str | None) -> tuple[Member | None, Code]:
        if group is None:
            return None, Code.UNKNOWN_MEMBER_ID
        if instance_id is not None:
            current_id = group.static_ids.get(instance_id)
            if current_id is None:
                return None, Code.UNKNOWN_MEMBER_ID
            if current_id != member_id:
                return None, Code.FENCED_INSTANCE_ID
        member = group.members.get(member_id)
        return member, Code.NONE if member is not None else Code.UNKNOWN_MEMBER_ID

    def _uuid(self) -> str:
        digits = f"{self._rng.getrandbits(128):032x}"
        return "-".join((digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:]))

    # ---- offsets -------------------------------------------------------------------------------------------------

    def admit_commit(
        self, group_id: str, member_id: str, instance_id: str | None, generation: int, *, unknown: Code
    ) -> Code:
        """Whether this member may commit now; a commit also counts as a sign of life. Makes the group if needed.

        `unknown` is the answer to a member of a group there is not: it differs by version of the request.
        """
        group = self.groups.get(group_id)
        if group is None:
            if generation >= 0:
                return unknown
            self.groups[group_id] = Group(group_id)
            return Code.NONE
        if generation < 0 and group.state is GroupState.EMPTY:
            return Code.NONE
        member, code = self._find_member(group, member_id, instance_id)
        if member is None:
            return code
        if generation != group.generation:
            return Code.ILLEGAL_GENERATION
        if group.state is GroupState.COMPLETING:
            return Code.REBALANCE_IN_PROGRESS
        self._restart_session(group, member)
        return Code.NONE

    def commit(
        self, group_id: str, topic: str, partition: int, offset: int, leader_epoch: int, metadata: str | None
    ) -> Code:
        """Store one position; the group was admitted before."""
        if metadata is not None and len(metadata) > self.settings.metadata_max_bytes:
            return Code.OFFSET_METADATA_TOO_LARGE
        entry = CommittedOffset(offset, leader_epoch, metadata or "", self._clock.time_ms())
        self.groups[group_id].offsets[topic, partition] = entry
        return Code.NONE

    def committed(self, group_id: str, topic: str, partition: int) -> CommittedOffset | None:
        """The stored position, None when there is none."""
        group = self.groups.get(group_id)
        return None if group is None else group.offsets.get((topic, partition))

    def forget_topic(self, topic: str) -> None:
        """The topic was deleted: so are its committed positions."""
        for group in self.groups.values():
            for key in [key for key in group.offsets if key[0] == topic]:
                del group.offsets[key]

    # ---- administration ------------------------------------------------------------------------------------------

    def delete(self, group_id: str) -> Code:
        """DeleteGroups of one group: it must be empty."""
        group = self.groups.get(group_id)
        if group is None:
            return Code.GROUP_ID_NOT_FOUND
        if group.state is not GroupState.EMPTY:
            return Code.NON_EMPTY_GROUP
        group.move_to(GroupState.DEAD)
        for promise in group.promised_ids.values():
            promise.cancel()
        del self.groups[group_id]
        return Code.NONE

    def list(self, states: Iterable[str] = ()) -> list[Group]:
        """Groups in one of `states` (names, any case); all without states."""
        wanted = {state.lower() for state in states}
        return [group for group in self.groups.values() if not wanted or group.state.value.lower() in wanted]
