"""Administration of share groups on asyncio: each coordinator is asked about its own groups.

Must not know how requests are filled (engine/administering/share_groups.py) or how connections work. Spec: KIP-932.
"""

from collections.abc import Sequence

from kafka_core.admin_model import Outcome, ShareGroupDescription
from kafka_core.aio.administering.routing import Deadline, Outcomes, Router
from kafka_core.engine.administering import share_groups
from kafka_core.engine.administering import topics as admin_topics
from kafka_core.engine.administering.checks import check_flag, check_group_offsets, check_names
from kafka_core.errors import KafkaException
from kafka_core.listings import ConsumerGroupTopicPartitions
from kafka_core.model import TopicPartition
from kafka_core.protocol.messages.delete_groups import DeleteGroupsRequest
from kafka_core.protocol.messages.share_group_describe import ShareGroupDescribeRequest


async def describe(
    router: Router, group_ids: Sequence[str], include_authorized_operations: bool, request_timeout: float | None
) -> Outcomes[str, ShareGroupDescription]:
    """Share groups with their members."""
    wanted = check_names(group_ids, "group ids")
    operations = check_flag(include_authorized_operations, "include_authorized_operations")

    async def one(node_id: int, part: Sequence[str], deadline: Deadline) -> Outcomes[str, ShareGroupDescription]:
        return await _described(router, node_id, part, deadline, operations=operations)

    return await router.by_coordinator("describe_share_groups", wanted, one, request_timeout)


async def _described(
    router: Router, node_id: int, part: Sequence[str], deadline: Deadline, *, operations: bool = False
) -> Outcomes[str, ShareGroupDescription]:
    response = await router.send_to(node_id, ShareGroupDescribeRequest(list(part), operations), deadline)
    coordinator = admin_topics.node(router.client.metadata.brokers, node_id)
    return {item.group_id: share_groups.describe_share_group(item, coordinator) for item in response.groups}


async def delete(router: Router, group_ids: Sequence[str], request_timeout: float | None) -> Outcomes[str, None]:
    """Deletes share groups without members.

    DeleteGroups takes groups of every kind, so that the coordinator is asked first which of them are share groups.
    """
    wanted = check_names(group_ids, "group ids")

    async def one(node_id: int, part: Sequence[str], deadline: Deadline) -> Outcomes[str, None]:
        described = await _described(router, node_id, part, deadline)
        found: Outcomes[str, None] = {
            name: Outcome(error=outcome.error) for name, outcome in described.items() if outcome.error is not None
        }
        if shared := [name for name, outcome in described.items() if outcome.error is None]:
            response = await router.send_to(node_id, DeleteGroupsRequest(shared), deadline)
            found |= {item.group_id: Outcome.of(item.error_code, None) for item in response.results}
        return found

    return await router.by_coordinator("delete_share_groups", wanted, one, request_timeout)


async def list_offsets(
    router: Router, request: Sequence[ConsumerGroupTopicPartitions], request_timeout: float | None
) -> Outcomes[str, share_groups.Offsets]:
    """The positions of share groups in partitions."""
    groups = check_group_offsets(request, offsets_needed=False)

    async def one(node_id: int, part: Sequence[str], deadline: Deadline) -> Outcomes[str, share_groups.Offsets]:
        named = {name: groups[name].topic_partitions for name in part}
        topics = {item.topic for items in named.values() for item in items or ()}
        view = router.client.metadata
        if topics:
            view = await router.client.refresh_metadata(topics, timeout_s=deadline.left_s(), allow_auto_create=False)
        asked: dict[str, list[TopicPartition] | None] = {}
        missing: dict[str, share_groups.Offsets] = {}
        for name, items in named.items():
            if items is None:
                asked[name] = None
                continue
            known, missing[name] = share_groups.known_partitions(view, items)
            if known:
                asked[name] = known
        found: Outcomes[str, share_groups.Offsets] = {name: Outcome({}) for name in part if name not in asked}
        if asked:
            response = await router.send_to(node_id, share_groups.describe_offsets_request(asked), deadline)
            found |= {item.group_id: share_groups.described_offsets(item) for item in response.groups}
        return {name: _whole(named.get(name), outcome, missing.get(name, {})) for name, outcome in found.items()}

    return await router.by_coordinator("list_share_group_offsets", list(groups), one, request_timeout)


def _whole(
    asked: Sequence[TopicPartition] | None, outcome: Outcome[share_groups.Offsets], missing: share_groups.Offsets
) -> Outcome[share_groups.Offsets]:
    """The broker's answer for the requested partitions, completed by those that the request left out."""
    if asked is None or outcome.value is None:
        return outcome
    return Outcome(share_groups.in_order(asked, {**outcome.value, **missing}))


async def alter_offsets(
    router: Router, request: Sequence[ConsumerGroupTopicPartitions], request_timeout: float | None
) -> Outcomes[str, ConsumerGroupTopicPartitions]:
    """Sets the start offsets of share groups without members."""
    groups = check_group_offsets(request, offsets_needed=True)

    async def one(node_id: int, part: Sequence[str], deadline: Deadline) -> Outcomes[str, ConsumerGroupTopicPartitions]:
        async def group(name: str) -> Outcome[ConsumerGroupTopicPartitions]:
            response = await router.send_to(node_id, share_groups.alter_offsets_request(groups[name]), deadline)
            return share_groups.altered_offsets(groups[name], response)

        return {name: await group(name) for name in part}

    return await router.by_coordinator("alter_share_group_offsets", list(groups), one, request_timeout)


async def delete_offsets(
    router: Router, group_id: str, topics: Sequence[str], request_timeout: float | None
) -> Outcomes[str, None]:
    """Forgets where a share group without members is in topics; an outcome per topic."""
    (group,) = check_names([group_id], "group ids")
    names = check_names(topics, "topic names")

    async def one(node_id: int, part: Sequence[str], deadline: Deadline) -> Outcomes[str, share_groups.Deleted]:
        response = await router.send_to(node_id, share_groups.delete_offsets_request(group, names), deadline)
        return {group: share_groups.deleted_offsets(names, response)}

    outcome = (await router.by_coordinator("delete_share_group_offsets", [group], one, request_timeout))[group]
    if outcome.error is not None:
        return {name: Outcome(error=outcome.error) for name in names}
    errors: dict[str, KafkaException | None] = outcome.value or {}
    return {name: Outcome(error=errors[name]) for name in names}
