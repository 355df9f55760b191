"""Scenarios of aiokafka's administrator, as those of its clients in `aiokafka_scenarios`."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import Any

from tests.interop.aiokafka_scenarios import LIMIT_S, Api, Scenario

SCENARIOS: dict[str, Scenario] = {}


def scenario(work: Scenario) -> Scenario:
    """Registers one."""
    SCENARIOS[work.__name__] = work
    return work


@scenario
async def topics_are_made_and_deleted(api: Api) -> Any:
    admin = await api.administrator()
    topic, new = f"{api.topic}-made", api.admin.NewTopic
    made = await admin.create_topics([new(topic, 2, 1, topic_configs={"retention.ms": "100000"})])
    again = await admin.create_topics([new(topic, 2, 1)])
    checked = await admin.create_topics([new(f"{topic}-not", 1, 1)], validate_only=True)
    grown = await admin.create_partitions({topic: api.admin.NewPartitions(4)})
    async with asyncio.timeout(LIMIT_S):  # what was changed is not known everywhere at once
        while len((described := await admin.describe_topics([topic, "none"]))[0]["partitions"]) != 4:
            pass
    deleted = await admin.delete_topics([topic, "never-there"])
    again_codes, checked_codes = ([row[:2] for row in found.topic_errors] for found in (again, checked))
    listed = await admin.list_topics()
    return [
        made.topic_errors,
        made.to_object(),
        again_codes,
        checked_codes,
        grown.topic_errors,
        sorted(described[0]),
        described[0]["error_code"],
        sorted(described[0]["partitions"][0]),
        described[1]["error_code"],
        sorted(deleted.topic_error_codes),
        api.topic in listed,
        f"{topic}-not" in listed,
    ]


@scenario
async def configurations(api: Api) -> Any:
    admin = await api.administrator()
    resource, kind = api.resources.ConfigResource, api.resources.ConfigResourceType.TOPIC
    altered = await admin.alter_configs([resource(kind, api.topic, {"retention.ms": "123456"})])
    wanted = [resource(kind, api.topic, {"retention.ms": None, "cleanup.policy": None})]
    found = await admin.describe_configs(wanted)
    async with asyncio.timeout(LIMIT_S):  # what was changed is not known everywhere at once
        while "123456" not in [entry[1] for entry in found[0].resources[0][4]]:
            found = await admin.describe_configs(wanted)
    rows = found[0].resources[0]
    missing = await admin.describe_configs([resource("topic", "none")])
    return [
        [tuple(row) for row in altered[0].resources],
        len(found),
        rows[2:4],
        sorted((entry[0], entry[1], entry[2], entry[3]) for entry in rows[4]),
        missing[0].resources[0][0],
        sorted(found[0].to_object()["resources"][0]["config_entries"][0]),
    ]


@scenario
async def the_cluster(api: Api) -> Any:
    admin = await api.administrator()
    found = await admin.describe_cluster()
    return (
        sorted(found),
        len(found["brokers"]),
        sorted(found["brokers"][0]),
        found["cluster_id"],
        found["controller_id"],
    )


@scenario
async def deleted_records(api: Api) -> Any:
    await api.fill(b"a", b"b", b"c")
    admin = await api.administrator()
    return await admin.delete_records({api.partition(): api.admin.RecordsToDelete(2)})


@scenario
async def groups_are_described(api: Api) -> Any:
    reader = await api.consumer(api.topic, group_id=api.group)
    admin = await api.administrator()
    described = await admin.describe_consumer_groups([api.group])
    group = described[0].to_object()["groups"][0]
    listed = [tuple(item) for item in await admin.list_consumer_groups() if item[0] == api.group]
    coordinator = await admin.find_coordinator(api.group)
    await reader.stop()
    return (
        sorted(group),
        sorted(group["members"][0]),
        type(group["members"][0]["member_metadata"]).__name__,
        listed,
        coordinator,
    )


@scenario
async def topics_that_cannot_be_made(api: Api) -> Any:
    admin = await api.administrator()
    new = api.admin.NewTopic
    wrong = [new("not a name", 1, 1), new(f"{api.topic}-thrice", 1, 3)]
    wrong += [new(f"{api.topic}-odd", 1, 1, topic_configs={"no.such.property": "1"}), new(api.topic, 1, 1)]
    return sorted(row[:2] for row in (await admin.create_topics(wrong)).topic_errors)


@scenario
async def topics_whose_replicas_are_placed(api: Api) -> Any:
    admin = await api.administrator()
    broker = (await admin.describe_cluster())["brokers"][0]["node_id"]
    placed = api.admin.NewTopic(f"{api.topic}-placed", -1, -1, replica_assignments={0: [broker], 1: [broker]})
    made = await admin.create_topics([placed])
    async with asyncio.timeout(LIMIT_S):  # a new topic is not known everywhere at once
        while (described := await admin.describe_topics([placed.name]))[0]["error_code"]:
            pass
    partitions = sorted(described[0]["partitions"], key=lambda each: each["partition"])
    await admin.delete_topics([placed.name])
    return made.topic_errors, [(each["partition"], each["replicas"] == [broker]) for each in partitions]


@scenario
async def partitions_that_cannot_be_added(api: Api) -> Any:
    admin = await api.administrator()
    new = api.admin.NewPartitions
    wrong = ({api.topic: new(2)}, {api.topic: new(3)}, {f"{api.topic}-none": new(5)})
    return [await api.fails(partial(admin.create_partitions, each)) for each in wrong]


@scenario
async def partitions_that_are_only_tried(api: Api) -> Any:
    admin = await api.administrator()
    tried = await admin.create_partitions({api.topic: api.admin.NewPartitions(5)}, validate_only=True)
    return tried.topic_errors, len((await admin.describe_topics([api.topic]))[0]["partitions"])


@scenario
async def topics_that_cannot_be_deleted(api: Api) -> Any:
    admin = await api.administrator()
    return sorted((await admin.delete_topics([f"{api.topic}-none", f"{api.topic}-nor"])).topic_error_codes)


@scenario
async def all_topics_are_described(api: Api) -> Any:
    admin = await api.administrator()
    found = {topic["topic"]: topic for topic in await admin.describe_topics()}
    mine = found[api.topic]
    return mine["error_code"], mine["is_internal"], sorted(each["partition"] for each in mine["partitions"])


@scenario
async def wrong_values_of_configurations(api: Api) -> Any:
    admin = await api.administrator()
    resource, kind = api.resources.ConfigResource, api.resources.ConfigResourceType.TOPIC
    wrong = ({"retention.ms": "soon"}, {"no.such.property": "1"})
    return [
        [row[0] for answer in await admin.alter_configs([resource(kind, api.topic, each)]) for row in answer.resources]
        for each in wrong
    ]


@scenario
async def configurations_of_a_broker(api: Api) -> Any:
    admin = await api.administrator()
    broker = (await admin.describe_cluster())["brokers"][0]["node_id"]
    resource, kinds = api.resources.ConfigResource, api.resources.ConfigResourceType
    names = {"log.retention.hours": None, "num.partitions": None}
    found = await admin.describe_configs([resource(kinds.BROKER, str(broker), names)])
    rows = found[0].resources[0]
    return rows[0], rows[2], sorted((entry[0], entry[1], entry[2]) for entry in rows[4])


@scenario
async def configurations_with_synonyms(api: Api) -> Any:
    admin = await api.administrator()
    resource, kind = api.resources.ConfigResource, api.resources.ConfigResourceType.TOPIC
    wanted = [resource(kind, api.topic, {"segment.bytes": None})]
    found = await admin.describe_configs(wanted, include_synonyms=True)
    (entry,) = found[0].resources[0][4]
    return entry[0], entry[1], [tuple(each) for each in entry[5]]


@scenario
async def records_that_are_not_there_to_delete(api: Api) -> Any:
    await api.fill(b"a", b"b")
    admin = await api.administrator()
    to = api.admin.RecordsToDelete
    beyond = await api.fails(lambda: admin.delete_records({api.partition(): to(9)}))
    everything = await admin.delete_records({api.partition(): to(-1)})
    reader = await api.consumer()
    return beyond, everything, await reader.beginning_offsets([api.partition()])


@scenario
async def a_group_that_nobody_knows(api: Api) -> Any:
    admin = await api.administrator()
    described = (await admin.describe_consumer_groups([api.group]))[0].to_object()["groups"][0]
    offsets = await admin.list_consumer_group_offsets(api.group)
    return described["group"], described["state"], described["members"], offsets


@scenario
async def a_group_without_members(api: Api) -> Any:
    await api.fill(b"a", b"b")
    reader = await api.consumer(api.topic, group_id=api.group, enable_auto_commit=False)
    await asyncio.wait_for(reader.getone(), LIMIT_S)
    await reader.commit()
    await reader.stop()
    admin = await api.administrator()
    described = (await admin.describe_consumer_groups([api.group]))[0].to_object()["groups"][0]
    return (
        described["state"],
        described["protocol_type"],
        described["members"],
        [tuple(item) for item in await admin.list_consumer_groups() if item[0] == api.group],
    )


@scenario
async def offsets_of_some_partitions(api: Api) -> Any:
    reader = await api.consumer(group_id=api.group, enable_auto_commit=False)
    reader.assign([api.partition(0), api.partition(1)])
    metadata = api.structs.OffsetAndMetadata
    await reader.commit({api.partition(0): metadata(3, "three"), api.partition(1): metadata(1, "")})
    admin = await api.administrator()
    some = await admin.list_consumer_group_offsets(api.group, partitions=[api.partition(0), api.partition(2)])
    return some, await admin.list_consumer_group_offsets(api.group)


@scenario
async def an_administrator_is_closed_twice(api: Api) -> Any:
    admin = await api.administrator()
    there = api.topic in await admin.list_topics()
    await admin.close()
    return there, await api.fails(admin.close)


@scenario
async def an_administrator_is_asked_for_wrong_things(api: Api) -> Any:
    admin = await api.administrator()
    return [
        await api.fails(lambda: admin.describe_configs([api.resources.ConfigResource("nonsense", "x")])),
        await api.fails(lambda: api.resources.ConfigResource(7, "x")),
        await api.fails(lambda: api.admin.NewTopic("t", 2, 1, replica_assignments={0: [1]})),
        await api.fails(lambda: api.admin.NewTopic("t", -1, 1)),
        await api.fails(lambda: api.admin.NewTopic("t", -1, -1, {0: [1]})),
    ]
