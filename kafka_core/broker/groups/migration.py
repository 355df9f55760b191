"""Groups that change their protocol with their members in them: classic to consumer, and back.

Must not know: requests, sockets. A classic group that gets its first member of KIP-848 becomes a consumer group, in
which its members go on with the classic protocol: their JoinGroup takes part in reconciliation, SyncGroup hands out
what they have, Heartbeat tells them to join again. When the last member of KIP-848 is gone it becomes classic again.
Spec: KIP-848, "Online migration"; `classicGroupJoinToConsumerGroup` and its neighbours in Apache Kafka 4.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Final

from kafka_core.broker.codes import Code
from kafka_core.broker.groups.classic_coordinator import GroupCoordinator, JoinCall
from kafka_core.broker.groups.classic_groups import Group, JoinResult, Member, Protocols, SyncResult
from kafka_core.broker.groups.consumer_coordinator import ConsumerGroups
from kafka_core.broker.groups.consumer_groups import ClassicPart, ConsumerGroup, ConsumerMember, Id, MemberState
from kafka_core.errors import ProtocolError
from kafka_core.protocol import decode, encode_bytes
from kafka_core.protocol.messages.consumer_protocol_assignment import ConsumerProtocolAssignment, TopicPartition
from kafka_core.protocol.messages.consumer_protocol_subscription import ConsumerProtocolSubscription

PROTOCOL_TYPE: Final = "consumer"
_VERSION_BYTES: Final = 2


class Migration:
    """Joins both coordinators: changes groups, and answers members of the classic protocol in consumer groups.

    Args:
        new_id: a member id for a client of that name.
    """

    def __init__(self, consumers: ConsumerGroups, classic: GroupCoordinator, new_id: Callable[[str], str]) -> None:
        self._consumers = consumers
        self._classic = classic
        self._new_id = new_id
        self._promised: set[str] = set()
        consumers.upgrade = self.upgrade
        consumers.downgrade = self.downgrade

    # ---- changing a group

    def upgrade(self, group_id: str) -> ConsumerGroup | Code | None:
        """The consumer group that a classic group becomes; None if that has no members, a code if it can't be."""
        group = self._classic.groups.get(group_id)
        if group is None or not group.members:
            return None
        if not self._consumers.settings.upgrades or group.protocol_type != PROTOCOL_TYPE:
            return Code.GROUP_ID_NOT_FOUND
        try:
            members = [self._as_consumer(group, member) for member in group.members.values()]
        except ProtocolError:
            return Code.GROUP_ID_NOT_FOUND
        made = ConsumerGroup(group_id, group.generation, group.generation)
        for member in members:
            made.members[member.member_id] = member
            made.target[member.member_id] = member.assigned
        self._classic.dissolve(group)
        for member in members:
            self._sign_of_life(made, member)
        return made

    def _as_consumer(self, group: Group, member: Member) -> ConsumerMember:
        subscription = subscription_of(member.protocols)
        made = ConsumerMember(
            member.member_id,
            member.instance_id,
            subscription.rack_id or None,
            client_id=member.client_id,
            client_host=member.client_host,
            rebalance_timeout_ms=member.rebalance_timeout_ms,
            topics=frozenset(subscription.topics),
            classic=ClassicPart(member.session_timeout_ms, member.protocols),
        )
        made.reach(group.generation, MemberState.STABLE, self._ids(assignment_of(member.assignment)))
        return made

    def _ids(self, keys: Iterable[tuple[str, int]]) -> set[Id]:
        topics = self._consumers.all_topics()
        return {(topics[name][0], number) for name, number in keys if name in topics}

    def downgrade(self, group: ConsumerGroup) -> None:
        """Only members of the classic protocol are left: the group is theirs again, and rebalances."""
        if not self._consumers.settings.downgrades:
            return
        del self._consumers.groups[group.group_id]
        classic = self._classic.groups[group.group_id]
        classic.generation, classic.protocol_type = group.epoch, PROTOCOL_TYPE
        for member in group.members.values():
            part = member.classic
            assert part is not None
            for timer in (member.session, member.rebalance):
                if timer is not None:
                    timer.cancel()
            back = Member(
                member.member_id,
                member.instance_id,
                member.client_id,
                member.client_host,
                part.session_timeout_ms,
                member.rebalance_timeout_ms,
                part.protocols,
                self._encoded(member.assigned),
                is_new=False,
            )
            classic.add(back)
        self._classic.restore(classic)

    def _encoded(self, keys: Iterable[Id]) -> bytes:
        names = {topic_id: name for name, (topic_id, _) in self._consumers.all_topics().items()}
        topics: dict[str, list[int]] = {}
        for topic_id, number in sorted(keys):
            if topic_id in names:
                topics.setdefault(names[topic_id], []).append(number)
        message = ConsumerProtocolAssignment([TopicPartition(name, numbers) for name, numbers in topics.items()])
        version = ConsumerProtocolAssignment.VALID_VERSIONS[1]
        return version.to_bytes(_VERSION_BYTES, "big") + encode_bytes(message, version)

    # ---- members of the classic protocol in a consumer group

    def join(self, group: ConsumerGroup, call: JoinCall) -> JoinResult:
        """JoinGroup: answered at once, with the member epoch as the generation; the member never leads."""
        consumers = self._consumers
        if call.protocol_type != PROTOCOL_TYPE or not call.protocols:
            return JoinResult(Code.INCONSISTENT_GROUP_PROTOCOL, call.member_id)
        try:
            subscription = subscription_of(call.protocols)
        except ProtocolError:
            return JoinResult(Code.INCONSISTENT_GROUP_PROTOCOL, call.member_id)
        member = group.members.get(call.member_id)
        held = group.static_member(call.instance_id) if call.instance_id is not None else None
        if held is not None and held.member_id != call.member_id:
            if call.member_id:
                return JoinResult(Code.FENCED_INSTANCE_ID, call.member_id)
            group.replace(held, self._new_id(call.instance_id or ""))
            member = held
        elif member is None:
            if call.member_id and call.member_id not in self._promised:
                return JoinResult(Code.UNKNOWN_MEMBER_ID, call.member_id)
            member_id = call.member_id or self._new_id(call.instance_id or call.client_id)
            if not call.member_id and call.instance_id is None and call.requires_known_id:
                self._promised.add(member_id)
                return JoinResult(Code.MEMBER_ID_REQUIRED, member_id)
            self._promised.discard(member_id)
            member = group.members[member_id] = ConsumerMember(member_id, call.instance_id)
            group.epoch += 1
        topics = frozenset(subscription.topics)
        if member.topics != topics and member.epoch > 0:
            group.epoch += 1
        member.topics, member.rebalance_timeout_ms = topics, call.rebalance_timeout_ms
        member.rack_id = subscription.rack_id or None
        member.client_id, member.client_host = call.client_id, call.client_host
        member.classic = ClassicPart(call.session_timeout_ms, call.protocols)
        consumers.bring_up_to_date(group)
        owned = self._ids((item.topic, number) for item in subscription.owned_partitions for number in item.partitions)
        group.reconcile(member, owned)
        self._sign_of_life(group, member)
        consumers.watch_revocation(group, member)
        name = member.classic.protocol_name
        return JoinResult(Code.NONE, member.member_id, member.epoch, PROTOCOL_TYPE, name)

    def sync(self, group: ConsumerGroup, member_id: str, instance_id: str | None, generation: int) -> SyncResult:
        """SyncGroup: what the member may have now."""
        member, code = self._find(group, member_id, instance_id, generation)
        if member is None or member.classic is None:
            return SyncResult(code or Code.UNKNOWN_MEMBER_ID)
        if group.epoch > member.epoch and member.state is not MemberState.UNREVOKED:
            return SyncResult(Code.REBALANCE_IN_PROGRESS)
        self._sign_of_life(group, member)
        return SyncResult(Code.NONE, PROTOCOL_TYPE, member.classic.protocol_name, self._encoded(member.assigned))

    def heartbeat(self, group: ConsumerGroup, member_id: str, instance_id: str | None, generation: int) -> Code:
        """Heartbeat: tells the member to join again if there is anything new for it."""
        member, code = self._find(group, member_id, instance_id, generation)
        if member is None or member.classic is None:
            return code or Code.UNKNOWN_MEMBER_ID
        self._sign_of_life(group, member)
        waits = member.state is MemberState.UNRELEASED and group.waits_for_others(member)
        settled = member.state is MemberState.STABLE or waits
        return Code.NONE if settled and member.epoch == group.epoch else Code.REBALANCE_IN_PROGRESS

    def leave(self, group: ConsumerGroup, member_id: str, instance_id: str | None) -> Code:
        """LeaveGroup; a static member may be named by its instance id alone."""
        member = group.members.get(member_id)
        if instance_id is not None:
            member = group.static_member(instance_id)
            if member is not None and member_id and member.member_id != member_id:
                return Code.FENCED_INSTANCE_ID
        if member is None:
            return Code.UNKNOWN_MEMBER_ID
        self._consumers.drop(group, member, "left")
        return Code.NONE

    @staticmethod
    def _find(
        group: ConsumerGroup, member_id: str, instance_id: str | None, generation: int
    ) -> tuple[ConsumerMember | None, Code]:
        holder = group.static_member(instance_id) if instance_id is not None else None
        if holder is not None and holder.member_id != member_id:
            return None, Code.FENCED_INSTANCE_ID
        member = group.members.get(member_id)
        if member is None or member.classic is None:
            return None, Code.UNKNOWN_MEMBER_ID
        return (member, Code.NONE) if generation == member.epoch else (None, Code.ILLEGAL_GENERATION)

    def _sign_of_life(self, group: ConsumerGroup, member: ConsumerMember) -> None:
        if member.classic is not None:
            self._consumers.watch_session(group, member, member.classic.session_timeout_ms)


def subscription_of(protocols: Protocols) -> ConsumerProtocolSubscription:
    """The topics that a member of the classic protocol subscribes to, and the partitions it owns.

    Raises:
        ProtocolError: it speaks no protocol, or that is no consumers' one.
    """
    if not protocols or len(protocols[0][1]) < _VERSION_BYTES:
        raise ProtocolError("there is no subscription")
    metadata = protocols[0][1]
    version = min(int.from_bytes(metadata[:_VERSION_BYTES], "big"), ConsumerProtocolSubscription.VALID_VERSIONS[1])
    return decode(ConsumerProtocolSubscription, version, metadata[_VERSION_BYTES:], exact=False)


def assignment_of(data: bytes) -> list[tuple[str, int]]:
    """The partitions in an assignment of the classic protocol; no bytes mean none."""
    if not data:
        return []
    version = min(int.from_bytes(data[:_VERSION_BYTES], "big"), ConsumerProtocolAssignment.VALID_VERSIONS[1])
    message = decode(ConsumerProtocolAssignment, version, data[_VERSION_BYTES:], exact=False)
    return [(item.topic, number) for item in message.assigned_partitions for number in item.partitions]
