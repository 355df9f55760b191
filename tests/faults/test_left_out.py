"""Answers that leave out what was asked for: nobody takes silence for success.

Each piece of work runs once against whole answers. Then, for every array in them, it runs against answers that lack an
entry. Left out once, what was asked for must come out as before (it was asked again) or as an error; left out of every
answer, something must be an error. No result may differ in another way, or be missing.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any

import pytest

from kafka_core import (
    Consumer,
    ConsumerGroupTopicPartitions,
    ElectionType,
    KafkaError,
    KafkaException,
    Message,
    Producer,
    ShareConsumer,
    TopicCollection,
    TopicPartition,
)
from kafka_core.admin import (
    AclBinding,
    AclBindingFilter,
    AdminClient,
    AlterConfigOpType,
    ConfigEntry,
    ConfigResource,
    NewPartitions,
    NewTopic,
    OffsetSpec,
    ScramCredentialInfo,
    ScramMechanism,
    UserScramCredentialUpsertion,
)
from kafka_core.broker import EmbeddedCluster
from tests.faults.consumer_cluster import fill
from tests.faults.omission import Omission, Place, omitting

TIMEOUT_S = 0.4
"""Of calls that go on asking after something was left out; when it is over, that is an error as good as any."""
HANG_S = 60.0
QUICK: dict[str, Any] = {"retry.backoff.ms": 1, "retry.backoff.max.ms": 20, "reconnect.backoff.ms": 1}
PROPERTIES = {"authorizer.class.name": "any", "super.users": "User:ANONYMOUS"}
ERROR = "error"
FIRST_PROTOCOL = "transaction of the first protocol"
T0, T1 = TopicPartition("t", 0, 3), TopicPartition("t", 1, 5)
GROUP = ConsumerGroupTopicPartitions("g", [T0, T1])
ACLS = [AclBinding("topic", name, "literal", "User:u", "*", "read", "allow") for name in ("a", "b")]
FILTERS = [AclBindingFilter("topic", name, "literal", None, None, "any", "any") for name in ("a", "b")]
USERS = [
    UserScramCredentialUpsertion(name, ScramCredentialInfo(ScramMechanism.SCRAM_SHA_256, 4096), b"secret", b"salt")
    for name in ("u", "v")
]
CONFIGS = [ConfigResource("topic", name) for name in ("t", "u")]

Result = dict[str, str]
Limit = dict[str, float]
Work = Callable[[EmbeddedCluster, Omission], Result]

UNASKED = {
    ("DescribeConfigsResponse", "results.configs"),
    ("DescribeConfigsResponse", "results.configs.synonyms"),
    ("DescribeUserScramCredentialsResponse", "results.credential_infos"),
    ("DeleteAclsResponse", "filter_results.matching_acls"),
    ("ListGroupsResponse", "groups"),
    ("CreateTopicsResponse", "topics.configs"),
    ("JoinGroupResponse", "members"),
}
"""Values that were not asked for by name, so that nobody can miss them."""
UNNEEDED = {"ApiVersionsResponse", "FindCoordinatorResponse", "MetadataResponse", "ConsumerGroupDescribeResponse"}
"""Answers that help on the way: what they leave out may be known already, or be found in another way."""


def settled(result: Any) -> Result:
    """Results by their keys, as text; one error is as good as another."""
    if isinstance(result, Future):
        result = result.result(HANG_S)
    if not isinstance(result, dict):
        return {"": str(result)}
    return {str(key): text_of(value) for key, value in result.items()}


def text_of(value: Any) -> str:
    if isinstance(value, Future):
        failure = value.exception(HANG_S)
        value = failure if failure is not None else value.result()
    if isinstance(value, KafkaException):
        return "led as preferred" if value.code == KafkaError.ELECTION_NOT_NEEDED else ERROR
    if isinstance(value, ConsumerGroupTopicPartitions):
        return str([str(item) for item in value.topic_partitions or ()])
    return str(value)


def parts_of(result: list[TopicPartition]) -> Result:
    return {f"{item.topic}[{item.partition}]": ERROR if item.error else str(item.offset) for item in result}


def by_place(found: dict[TopicPartition, Any]) -> dict[str, Any]:
    return {f"{item.topic}[{item.partition}]": value for item, value in found.items()}


# ---- what is asked


def limit_s(omission: Omission) -> float:
    """Of calls that go on asking: where nothing is left out, they must succeed."""
    return HANG_S if omission.place is None else TIMEOUT_S


def asks(call: Callable[[AdminClient, Limit], Any]) -> Work:
    def work(cluster: EmbeddedCluster, omission: Omission) -> Result:
        admin = AdminClient({"bootstrap.servers": cluster.bootstrap_servers, **QUICK})
        try:
            return settled(call(admin, {"request_timeout": limit_s(omission)}))
        finally:
            admin.close()

    return work


def in_parts(call: Callable[[AdminClient, Limit], Any]) -> Work:
    """The one result of a call, partition by partition."""

    def work(cluster: EmbeddedCluster, omission: Omission) -> Result:
        admin = AdminClient({"bootstrap.servers": cluster.bootstrap_servers, **QUICK})
        try:
            (future,) = call(admin, {"request_timeout": limit_s(omission)}).values()
            value = future.result(HANG_S)
            if isinstance(value, ConsumerGroupTopicPartitions):
                return parts_of(value.topic_partitions or [])
            return {str(key): ERROR if item.error else str(item) for key, item in value.items()}
        finally:
            admin.close()

    return work


def consumes(call: Callable[[Consumer, float], list[TopicPartition]]) -> Work:
    def work(cluster: EmbeddedCluster, omission: Omission) -> Result:
        made = Consumer({"bootstrap.servers": cluster.bootstrap_servers, "group.id": "g", **QUICK})
        try:
            return parts_of(call(made, limit_s(omission)))
        finally:
            made.close()

    return work


def commits(cluster: EmbeddedCluster, omission: Omission) -> Result:
    """Commits in a group, with a time-out for the answer."""
    conf = {"bootstrap.servers": cluster.bootstrap_servers, "group.id": "g", **QUICK}
    conf["socket.timeout.ms"] = round(limit_s(omission) * 1000)
    made = Consumer(conf)
    try:
        return parts_of(made.commit(offsets=[T0, T1], asynchronous=False))
    finally:
        made.close()


def reads(cluster: EmbeddedCluster, omission: Omission) -> Result:
    """All records of the group's partitions, once each; a group without a commit begins at their start."""
    conf = {"bootstrap.servers": cluster.bootstrap_servers, "group.id": "new", "auto.offset.reset": "earliest"}
    made = Consumer({**conf, **QUICK, "fetch.wait.max.ms": 10, "heartbeat.interval.ms": 50})
    made.subscribe(["t"])
    found: list[str] = []
    try:
        while len(found) < 20:
            message = made.poll(HANG_S)
            assert message is not None, f"only {found}"
            found.append(f"{message.error() or message.value()!r}")
    finally:
        made.close()
    return {"": str(sorted(found))}


def produces(cluster: EmbeddedCluster, omission: Omission) -> Result:
    conf = {"bootstrap.servers": cluster.bootstrap_servers, **QUICK, "linger.ms": 5}
    conf["message.timeout.ms"] = round(limit_s(omission) * 1000)
    found: Result = {}
    with Producer(conf) as made:
        for number in range(2):
            made.produce(
                "t",
                b"new",
                partition=number,
                on_delivery=lambda error, message: found.update(
                    {str(message.partition()): ERROR if error else str(message.offset())}
                ),
            )
        made.flush(HANG_S)
    for number in range(2):
        copies = [item.value() for item in cluster.records("t", number)].count(b"new")
        assert copies == 1 or found[str(number)] == ERROR
    return found


def transacts(cluster: EmbeddedCluster, omission: Omission) -> Result:
    """Records and positions of two partitions; what is committed is committed whole."""
    conf = {"bootstrap.servers": cluster.bootstrap_servers, **QUICK, "transactional.id": "x", "linger.ms": 5}
    limit = limit_s(omission)
    made = Producer(
        {**conf, "message.timeout.ms": round(limit * 1000), "transaction.timeout.ms": max(1000, round(limit * 1000))}
    )
    reader = Consumer({"bootstrap.servers": cluster.bootstrap_servers, "group.id": "g"})
    try:
        made.init_transactions(HANG_S)
        made.begin_transaction()
        for number in range(2):
            made.produce("t", b"new", partition=number)
        made.send_offsets_to_transaction([T0, T1], reader.consumer_group_metadata(), limit)
        made.commit_transaction(limit)
    finally:
        reader.close()
        made.close()
    return {
        **{f"records {number}": str(cluster.records("t", number)[-1].value()) for number in range(2)},
        **{f"position {number}": str(cluster.committed("g", "t", number)) for number in range(2)},
    }


def shares(cluster: EmbeddedCluster, omission: Omission) -> Result:
    """The result of a share consumer's commits: acknowledged records stay acknowledged."""
    conf = {"bootstrap.servers": cluster.bootstrap_servers, "group.id": "s", **QUICK}
    made = ShareConsumer({**conf, "share.acknowledgement.mode": "explicit"})
    made.subscribe(["t"])
    given: list[Message] = []
    try:
        omission.paused = True
        while len({message.partition() for message in given}) < 2:
            given += made.poll(HANG_S)
        omission.paused = False
        for message in given:
            made.acknowledge(message)
        done = made.commit_sync(HANG_S)
    finally:
        made.close()
    return {str(key): ERROR if error else "acknowledged" for key, error in done.items()}


ALTERED = [
    ConfigResource(
        "topic",
        name,
        incremental_configs=[ConfigEntry("retention.ms", "1", incremental_operation=AlterConfigOpType.SET)],
    )
    for name in ("t", "u")
]
S = "s"
SHARED = ConsumerGroupTopicPartitions(S, [TopicPartition("t", 0, 1), TopicPartition("t", 1, 2)])


def listed(admin: AdminClient, limit: float) -> Result:
    """States by group; a share group has none, for it is described by another request."""
    groups = admin.list_groups(timeout=limit)
    unknown = KafkaError.GROUP_ID_NOT_FOUND
    return {
        item.id: "of another kind"
        if item.error and item.error.code() == unknown
        else ERROR
        if item.error
        else item.state
        for item in groups
    }


def asked(group: ConsumerGroupTopicPartitions) -> ConsumerGroupTopicPartitions:
    """The group's partitions without offsets, as questions have them."""
    parts = [TopicPartition(item.topic, item.partition) for item in group.topic_partitions or ()]
    return ConsumerGroupTopicPartitions(group.group_id, parts)


WORK: dict[str, Work] = {
    "create_topics": asks(lambda admin, soon: admin.create_topics([NewTopic("a", 1), NewTopic("b", 1)], **soon)),
    "delete_topics": asks(lambda admin, soon: admin.delete_topics(["t", "u"], **soon)),
    "create_partitions": asks(
        lambda admin, soon: admin.create_partitions([NewPartitions("t", 3), NewPartitions("u", 3)], **soon)
    ),
    "describe_topics": asks(
        lambda admin, soon: {
            name: bool(future.result(HANG_S).partitions)
            for name, future in admin.describe_topics(TopicCollection(["t", "u"]), **soon).items()
        }
    ),
    "describe_configs": asks(lambda admin, soon: admin.describe_configs(CONFIGS, **soon)),
    "alter_configs": asks(lambda admin, soon: admin.alter_configs(CONFIGS, **soon)),
    "incremental_alter_configs": asks(lambda admin, soon: admin.incremental_alter_configs(ALTERED, **soon)),
    "delete_records": asks(lambda admin, soon: admin.delete_records([T0, T1], **soon)),
    "elect_leaders": asks(
        lambda admin, soon: by_place(admin.elect_leaders(ElectionType.PREFERRED, [T0, T1], **soon).result(HANG_S))
    ),
    "create_acls": asks(lambda admin, soon: admin.create_acls(ACLS, **soon)),
    "delete_acls": asks(lambda admin, soon: admin.delete_acls(FILTERS, **soon)),
    "alter_users": asks(lambda admin, soon: admin.alter_user_scram_credentials(USERS, **soon)),
    "describe_users": asks(lambda admin, soon: admin.describe_user_scram_credentials(["u", "v"], **soon)),
    "describe_groups": asks(lambda admin, soon: admin.describe_consumer_groups(["g", "h"], **soon)),
    "delete_groups": asks(lambda admin, soon: admin.delete_consumer_groups(["g", "h"], **soon)),
    "list_groups": asks(lambda admin, soon: listed(admin, soon["request_timeout"])),
    "describe_share_groups": asks(lambda admin, soon: admin.describe_share_groups(["s", "z"], **soon)),
    "delete_share_groups": asks(lambda admin, soon: admin.delete_share_groups(["s", "z"], **soon)),
    "list_share_group_offsets": in_parts(lambda admin, soon: admin.list_share_group_offsets([asked(SHARED)], **soon)),
    "alter_share_group_offsets": in_parts(lambda admin, soon: admin.alter_share_group_offsets([SHARED], **soon)),
    "delete_share_group_offsets": asks(lambda admin, soon: admin.delete_share_group_offsets("s", ["t", "u"], **soon)),
    "list_consumer_group_offsets": in_parts(
        lambda admin, soon: admin.list_consumer_group_offsets([asked(GROUP)], **soon)
    ),
    "alter_consumer_group_offsets": in_parts(lambda admin, soon: admin.alter_consumer_group_offsets([GROUP], **soon)),
    "list_offsets": asks(
        lambda admin, soon: admin.list_offsets({T0: OffsetSpec.latest(), T1: OffsetSpec.latest()}, **soon)
    ),
    "commit": commits,
    "committed": consumes(lambda made, limit: made.committed([T0, T1], limit)),
    "offsets_for_times": consumes(lambda made, limit: made.offsets_for_times([T0, T1], limit)),
    "read": reads,
    "produce": produces,
    "transaction": transacts,
    FIRST_PROTOCOL: transacts,
    "share": shares,
}

ENDLESS = {"read"}
"""Goes on until it succeeds: nothing is left out of every answer."""


def prepared(cluster: EmbeddedCluster) -> None:
    """Two topics with records, two groups with positions, two users, two bindings, two share groups."""
    for topic in ("t", "u"):
        cluster.create_topic(topic, 2)
    for partition in range(2):
        fill(cluster, "t", partition, [b"%d" % n for n in range(10)])
    admin = AdminClient({"bootstrap.servers": cluster.bootstrap_servers})
    for group in ("g", "h"):
        admin.alter_consumer_group_offsets([ConsumerGroupTopicPartitions(group, [T0, T1])])[group].result(HANG_S)
    for group in ("s", "z"):
        places = [TopicPartition("t", 0, 1), TopicPartition("t", 1, 2), TopicPartition("u", 0, 0)]
        admin.alter_share_group_offsets([ConsumerGroupTopicPartitions(group, places)])[group].result(HANG_S)
    for future in admin.create_acls(ACLS).values():
        future.result(HANG_S)
    for done in admin.alter_user_scram_credentials(USERS).values():
        done.result(HANG_S)
    admin.close()


def run(name: str, omission: Omission, place: Place | None) -> Result:
    properties = {**PROPERTIES, "transaction.version": "0"} if name == FIRST_PROTOCOL else PROPERTIES
    with EmbeddedCluster(brokers=1, properties=properties, seed=1) as cluster:
        prepared(cluster)
        omission.place, omission.count, omission.seen = place, 0, {}
        try:
            found = WORK[name](cluster, omission)
        except KafkaException as error:
            found = {ERROR: ERROR if str(error) else "an error without a sentence"}
        finally:
            omission.place = None
        port = cluster.bootstrap_servers.partition(":")[2]
        return {key: re.sub(port, "PORT", text) for key, text in found.items()}


def verdict(place: Place, whole: Result, found: Result) -> str | None:
    """The error in the result, if there is one."""
    if found == {ERROR: ERROR}:
        return None
    if found.keys() != whole.keys() or any(text not in (ERROR, whole[key]) for key, text in found.items()):
        return f"{place}: {found} instead of {whole}"
    if place.always and ERROR not in found.values():
        return f"{place}: no error"
    return None


@pytest.mark.parametrize("name", WORK)
def test_what_an_answer_leaves_out_is_asked_again_or_an_error(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with omitting(monkeypatch) as omission:
        whole = run(name, omission, None)
        assert ERROR not in whole.values(), whole
        places = [
            Place(answer, path, last, always)
            for (answer, path), length in omission.seen.items()
            if (answer, path) not in UNASKED
            for last in (False, True)[: 1 + (length > 1)]
            for always in (False, True)[: 1 + (name not in ENDLESS and answer not in UNNEEDED)]
        ]
        assert places
        wrong = []
        for place in places:
            found = run(name, omission, place)
            if omission.count:
                wrong.append(verdict(place, whole, found))
    assert not any(wrong), "\n".join(filter(None, wrong))
