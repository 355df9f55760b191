"""Every API asks for its permission, what is refused does nothing, and ACLs decide as StandardAuthorizer does."""

from __future__ import annotations

from itertools import product
from typing import Any

import pytest

from kafka_core.broker.authorizing import OWN_RULES, RULES, UNRESTRICTED
from kafka_core.broker.codes import Code
from kafka_core.broker.configs import BrokerConfig
from kafka_core.broker.groups.classic_groups import Group
from kafka_core.broker.handlers import APIS
from kafka_core.broker.handlers.api import Special
from kafka_core.broker.security.acls import Acl, Authorizer, Operation, Pattern, Permission, Resource
from kafka_core.protocol import ApiKey, ApiRequest
from kafka_core.protocol.messages import alter_configs
from kafka_core.protocol.messages import describe_topic_partitions as topic_partitions
from kafka_core.protocol.messages import incremental_alter_configs as incremental
from kafka_core.protocol.messages.acls import (
    AclCreation,
    CreateAclsRequest,
    DeleteAclsFilter,
    DeleteAclsRequest,
    DescribeAclsRequest,
)
from kafka_core.protocol.messages.add_offsets_to_txn import AddOffsetsToTxnRequest
from kafka_core.protocol.messages.add_partitions_to_txn import AddPartitionsToTxnRequest, AddPartitionsToTxnTopic
from kafka_core.protocol.messages.consumer_group_describe import ConsumerGroupDescribeRequest
from kafka_core.protocol.messages.consumer_group_heartbeat import ConsumerGroupHeartbeatRequest
from kafka_core.protocol.messages.create_partitions import CreatePartitionsRequest, CreatePartitionsTopic
from kafka_core.protocol.messages.create_topics import CreatableTopic, CreateTopicsRequest
from kafka_core.protocol.messages.delete_groups import DeleteGroupsRequest
from kafka_core.protocol.messages.delete_records import (
    DeleteRecordsPartition,
    DeleteRecordsRequest,
    DeleteRecordsTopic,
)
from kafka_core.protocol.messages.delete_topics import DeleteTopicsRequest, DeleteTopicState
from kafka_core.protocol.messages.describe_configs import DescribeConfigsRequest, DescribeConfigsResource
from kafka_core.protocol.messages.describe_groups import DescribeGroupsRequest
from kafka_core.protocol.messages.describe_producers import DescribeProducersRequest, TopicRequest
from kafka_core.protocol.messages.describe_quorum import DescribeQuorumRequest
from kafka_core.protocol.messages.describe_topic_partitions import DescribeTopicPartitionsRequest
from kafka_core.protocol.messages.elect_leaders import ElectLeadersRequest, TopicPartitions
from kafka_core.protocol.messages.end_txn import EndTxnRequest
from kafka_core.protocol.messages.fetch import FetchPartition, FetchRequest, FetchTopic
from kafka_core.protocol.messages.find_coordinator import FindCoordinatorRequest
from kafka_core.protocol.messages.heartbeat import HeartbeatRequest
from kafka_core.protocol.messages.init_producer_id import InitProducerIdRequest
from kafka_core.protocol.messages.join_group import JoinGroupRequest
from kafka_core.protocol.messages.leave_group import LeaveGroupRequest, MemberIdentity
from kafka_core.protocol.messages.list_config_resources import ListConfigResourcesRequest
from kafka_core.protocol.messages.list_groups import ListGroupsRequest
from kafka_core.protocol.messages.list_offsets import ListOffsetsPartition, ListOffsetsRequest, ListOffsetsTopic
from kafka_core.protocol.messages.log_dirs import (
    AlterReplicaLogDir,
    AlterReplicaLogDirsRequest,
    AlterReplicaLogDirTopic,
    DescribeLogDirsRequest,
)
from kafka_core.protocol.messages.metadata import MetadataRequest, MetadataRequestTopic
from kafka_core.protocol.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from kafka_core.protocol.messages.offset_delete import (
    OffsetDeleteRequest,
    OffsetDeleteRequestPartition,
    OffsetDeleteRequestTopic,
)
from kafka_core.protocol.messages.offset_fetch import OffsetFetchRequest, OffsetFetchRequestGroup
from kafka_core.protocol.messages.offset_for_leader_epoch import (
    OffsetForLeaderEpochRequest,
    OffsetForLeaderPartition,
    OffsetForLeaderTopic,
)
from kafka_core.protocol.messages.partition_reassignments import (
    AlterPartitionReassignmentsRequest,
    ListPartitionReassignmentsRequest,
    ReassignablePartition,
    ReassignableTopic,
)
from kafka_core.protocol.messages.produce import PartitionProduceData, ProduceRequest, TopicProduceData
from kafka_core.protocol.messages.share_acknowledge import (
    AcknowledgementBatch,
    AcknowledgePartition,
    AcknowledgeTopic,
    ShareAcknowledgeRequest,
)
from kafka_core.protocol.messages.share_fetch import FetchPartition as ShareFetchPartition
from kafka_core.protocol.messages.share_fetch import FetchTopic as ShareFetchTopic
from kafka_core.protocol.messages.share_fetch import ShareFetchRequest
from kafka_core.protocol.messages.share_group_describe import ShareGroupDescribeRequest
from kafka_core.protocol.messages.share_group_heartbeat import ShareGroupHeartbeatRequest
from kafka_core.protocol.messages.share_group_offsets import (
    AlterShareGroupOffsetsRequest,
    AlterShareGroupOffsetsRequestTopic,
    DeleteShareGroupOffsetsRequest,
    DeleteShareGroupOffsetsRequestTopic,
    DescribeShareGroupOffsetsRequest,
    DescribeShareGroupOffsetsRequestGroup,
    DescribeShareGroupOffsetsRequestTopic,
)
from kafka_core.protocol.messages.sync_group import SyncGroupRequest
from kafka_core.protocol.messages.transactions import DescribeTransactionsRequest
from kafka_core.protocol.messages.txn_offset_commit import (
    TxnOffsetCommitRequest,
    TxnOffsetCommitRequestPartition,
    TxnOffsetCommitRequestTopic,
)
from kafka_core.protocol.messages.update_features import FeatureUpdateKey, UpdateFeaturesRequest
from kafka_core.protocol.messages.user_scram_credentials import (
    AlterUserScramCredentialsRequest,
    DescribeUserScramCredentialsRequest,
    ScramCredentialDeletion,
    UserName,
)
from kafka_core.protocol.messages.write_txn_markers import (
    WritableTxnMarker,
    WritableTxnMarkerTopic,
    WriteTxnMarkersRequest,
)
from tests.unit.kafka_core.broker.harness import Bench

GUARDED = {"authorizer.class.name": "some.Authorizer"}
ME, HOST = "User:ANONYMOUS", "10.0.0.1"


def rule(
    operation: Operation,
    resource: Resource = Resource.TOPIC,
    name: str = "t",
    *,
    pattern: Pattern = Pattern.LITERAL,
    permission: Permission = Permission.ALLOW,
    principal: str = ME,
    host: str = "*",
) -> Acl:
    return Acl(resource, name, pattern, principal, host, operation, permission)


def guarded(*acls: Acl, brokers: int = 1, **properties: str) -> Bench:
    bench = Bench(brokers, {**GUARDED, **{name.replace("_", "."): value for name, value in properties.items()}})
    for acl in acls:
        bench.cluster.authorizer.add(acl)
    return bench


# ---- the table


def test_every_api_has_a_rule_or_a_reason() -> None:
    assert set(APIS) == set(RULES) | UNRESTRICTED | OWN_RULES
    assert not set(RULES) & (UNRESTRICTED | OWN_RULES)


def codes(answer: Any) -> list[int]:
    """All error codes in an answer, in its order."""
    found = []
    for name in answer.__slots__:
        value = getattr(answer, name)
        if name in ("error_code", "partition_error_code"):
            found.append(value)
        elif isinstance(value, list):
            found += [code for item in value if hasattr(item, "__slots__") for code in codes(item)]
    return found


def test_a_request_is_cut_into_what_is_allowed_and_what_is_not() -> None:
    bench = guarded(
        rule(Operation.CREATE, name="mine", pattern=Pattern.PREFIXED), rule(Operation.DELETE, name="mine-1")
    )
    made = bench.ask(CreateTopicsRequest([CreatableTopic(name, 1, 1) for name in ("mine-1", "theirs", "mine-2")]))
    assert {item.name: item.error_code for item in made.topics} == {
        "mine-1": Code.NONE,
        "mine-2": Code.NONE,
        "theirs": Code.TOPIC_AUTHORIZATION_FAILED,
    }
    assert set(bench.cluster.topics) == {"mine-1", "mine-2"}
    ids = {name: topic.topic_id for name, topic in bench.cluster.topics.items()}
    gone = bench.ask(DeleteTopicsRequest([DeleteTopicState(None, topic_id) for topic_id in ids.values()]))
    assert sorted(codes(gone)) == [Code.NONE, Code.TOPIC_AUTHORIZATION_FAILED]
    assert set(bench.cluster.topics) == {"mine-2"}


TOPIC, GROUP = Code.TOPIC_AUTHORIZATION_FAILED, Code.GROUP_AUTHORIZATION_FAILED
CLUSTER = Code.CLUSTER_AUTHORIZATION_FAILED
TRANSACTION = Code.TRANSACTIONAL_ID_AUTHORIZATION_FAILED
REQUESTS: list[tuple[ApiRequest[Any], Code]] = [
    (ProduceRequest(topic_data=[TopicProduceData("t", partition_data=[PartitionProduceData(0, b"")])], acks=-1), TOPIC),
    (FetchRequest(topics=[FetchTopic("t", partitions=[FetchPartition(0)])], session_epoch=-1), TOPIC),
    (ListOffsetsRequest(topics=[ListOffsetsTopic("t", [ListOffsetsPartition(0)])]), TOPIC),
    (MetadataRequest([MetadataRequestTopic(name="t")]), TOPIC),
    (MetadataRequest([MetadataRequestTopic(name="not there")]), TOPIC),
    (
        OffsetCommitRequest(
            "g", topics=[OffsetCommitRequestTopic("t", partitions=[OffsetCommitRequestPartition(0, 5)])]
        ),
        GROUP,
    ),
    (ConsumerGroupHeartbeatRequest("g", "m", subscribed_topic_names=["t"]), GROUP),
    (ConsumerGroupDescribeRequest(["g"]), GROUP),
    (ShareGroupHeartbeatRequest("g", "m", subscribed_topic_names=["t"]), GROUP),
    (ShareGroupDescribeRequest(["g"]), GROUP),
    (ShareFetchRequest("g", "m"), GROUP),
    (ShareAcknowledgeRequest("g", "m", 1), GROUP),
    (FindCoordinatorRequest(key_type=2, coordinator_keys=["g:AAAAAAAAAAAAAAAAAAAAAA:0"]), CLUSTER),
    (DescribeShareGroupOffsetsRequest([DescribeShareGroupOffsetsRequestGroup("g", None)]), GROUP),
    (AlterShareGroupOffsetsRequest("g", [AlterShareGroupOffsetsRequestTopic("t")]), GROUP),
    (DeleteShareGroupOffsetsRequest("g", [DeleteShareGroupOffsetsRequestTopic("t")]), GROUP),
    (OffsetFetchRequest(groups=[OffsetFetchRequestGroup("g", topics=None)]), GROUP),
    (FindCoordinatorRequest(key_type=0, coordinator_keys=["g"]), GROUP),
    (JoinGroupRequest("g", 10_000, protocol_type="consumer"), GROUP),
    (HeartbeatRequest("g", 1, "member"), GROUP),
    (LeaveGroupRequest("g", members=[MemberIdentity("member")]), GROUP),
    (SyncGroupRequest("g", 1, "member"), GROUP),
    (DescribeGroupsRequest(["g"]), GROUP),
    (CreateTopicsRequest([CreatableTopic("new", 1, 1)]), TOPIC),
    (DeleteTopicsRequest([DeleteTopicState("t")]), TOPIC),
    (DeleteRecordsRequest([DeleteRecordsTopic("t", [DeleteRecordsPartition(0, 0)])]), TOPIC),
    (InitProducerIdRequest(transactional_id=None), CLUSTER),
    (InitProducerIdRequest(transactional_id="tx", transaction_timeout_ms=1000), TRANSACTION),
    (FindCoordinatorRequest(key_type=1, coordinator_keys=["tx"]), TRANSACTION),
    (
        AddPartitionsToTxnRequest(
            v3_and_below_transactional_id="tx", v3_and_below_topics=[AddPartitionsToTxnTopic("t", [0])]
        ),
        TRANSACTION,
    ),
    (AddOffsetsToTxnRequest("tx", 1, 0, "g"), TRANSACTION),
    (EndTxnRequest("tx", 1, 0, True), TRANSACTION),
    (
        TxnOffsetCommitRequest(
            "tx", "g", 1, 0, topics=[TxnOffsetCommitRequestTopic("t", [TxnOffsetCommitRequestPartition(0, 5)])]
        ),
        TRANSACTION,
    ),
    (DescribeProducersRequest([TopicRequest("t", [0])]), TOPIC),
    (DescribeTransactionsRequest(["tx"]), TRANSACTION),
    (OffsetForLeaderEpochRequest(topics=[OffsetForLeaderTopic("t", [OffsetForLeaderPartition(0)])]), TOPIC),
    (DescribeAclsRequest(1, None, 1, None, None, 1, 1), CLUSTER),
    (CreateAclsRequest([AclCreation(2, "t", 3, ME, "*", 3, 3)]), CLUSTER),
    (DeleteAclsRequest([DeleteAclsFilter(1, None, 1, None, None, 1, 1)]), CLUSTER),
    (DescribeConfigsRequest([DescribeConfigsResource(4, "1")]), CLUSTER),
    (DescribeConfigsRequest([DescribeConfigsResource(2, "t")]), TOPIC),
    (DescribeConfigsRequest([DescribeConfigsResource(32, "g")]), GROUP),
    (alter_configs.AlterConfigsRequest([alter_configs.AlterConfigsResource(2, "t")]), TOPIC),
    (incremental.IncrementalAlterConfigsRequest([incremental.AlterConfigsResource(4, "")]), CLUSTER),
    (CreatePartitionsRequest([CreatePartitionsTopic("t", 3)]), TOPIC),
    (DeleteGroupsRequest(["g"]), GROUP),
    (ElectLeadersRequest(0, [TopicPartitions("t", [0])]), CLUSTER),
    (OffsetDeleteRequest("g", [OffsetDeleteRequestTopic("t", [OffsetDeleteRequestPartition(0)])]), GROUP),
    (DescribeUserScramCredentialsRequest([UserName("me")]), CLUSTER),
    (AlterUserScramCredentialsRequest([ScramCredentialDeletion("me", 1)]), CLUSTER),
    (DescribeLogDirsRequest(None), CLUSTER),
    (AlterReplicaLogDirsRequest([AlterReplicaLogDir("/", [AlterReplicaLogDirTopic("t", [0])])]), CLUSTER),
    (DescribeQuorumRequest(), CLUSTER),
    (DescribeTopicPartitionsRequest([topic_partitions.TopicRequest("t")]), TOPIC),
    (WriteTxnMarkersRequest([WritableTxnMarker(1, 0, False, [WritableTxnMarkerTopic("t", [0])])]), CLUSTER),
    (AlterPartitionReassignmentsRequest(topics=[ReassignableTopic("t", [ReassignablePartition(0, [1])])]), CLUSTER),
    (ListPartitionReassignmentsRequest(), CLUSTER),
    (UpdateFeaturesRequest(feature_updates=[FeatureUpdateKey("share.version", 1)]), CLUSTER),
    (ListConfigResourcesRequest(), CLUSTER),
]


@pytest.mark.parametrize(("request_", "code"), REQUESTS, ids=lambda value: type(value).__name__)
def test_the_answer_says_which_permission_lacks(request_: Any, code: Code) -> None:
    bench = guarded()
    topic = bench.cluster.create_topic("t")
    bench.cluster.groups.groups["g"] = Group("g")
    for item in (*getattr(request_, "topic_data", ()), *(getattr(request_, "topics", None) or ())):
        if hasattr(item, "topic_id") and getattr(item, "name", getattr(item, "topic", None)) == "t":
            item.topic_id = topic.topic_id
            if isinstance(request_, MetadataRequest | DeleteTopicsRequest):
                item.name = None
    of_clients = 3 if isinstance(request_, AddPartitionsToTxnRequest) else None
    found = codes(bench.ask(request_, of_clients))
    assert code in found
    assert set(found) <= {code, Code.NONE}
    assert bench.cluster.topics == {"t": topic}
    assert len(topic.partitions) == 1
    assert set(bench.cluster.groups.groups) == {"g"}


def test_a_member_of_a_share_group_needs_its_topics_too() -> None:
    mine = [rule(operation, Resource.GROUP, "g") for operation in (Operation.READ, Operation.DELETE)]
    bench = guarded(*mine, rule(Operation.READ, name="t"))
    for name in ("t", "theirs"):
        bench.cluster.create_topic(name)
    ids = {name: topic.topic_id for name, topic in bench.cluster.topics.items()}

    def join(*names: str) -> list[int]:
        return codes(bench.ask(ShareGroupHeartbeatRequest("g", "m", 0, None, list(names))))

    assert join("t", "theirs") == [TOPIC]
    assert join("t") == [Code.NONE]
    connection = bench.connect()
    topics = [ShareFetchTopic(topic_id, [ShareFetchPartition(0)]) for topic_id in ids.values()]
    fetched = bench.ask(ShareFetchRequest("g", "m", 0, max_records=5, topics=topics), connection=connection)
    assert [part.error_code for topic in fetched.responses for part in topic.partitions] == [Code.NONE, TOPIC]
    said = [AcknowledgeTopic(ids["theirs"], [AcknowledgePartition(0, [AcknowledgementBatch(0, 0, [1])])])]
    answer = bench.ask(ShareAcknowledgeRequest("g", "m", 1, topics=said), connection=connection)
    assert codes(answer) == [Code.NONE, TOPIC]
    named = [DescribeShareGroupOffsetsRequestTopic(name, [0]) for name in ids]
    described = bench.ask(DescribeShareGroupOffsetsRequest([DescribeShareGroupOffsetsRequestGroup("g", named)]))
    assert sorted(codes(described)) == [Code.NONE, Code.NONE, TOPIC]
    bench.ask(ShareGroupHeartbeatRequest("g", "m", -1))
    forgotten = [DeleteShareGroupOffsetsRequestTopic(name) for name in ids]
    assert sorted(codes(bench.ask(DeleteShareGroupOffsetsRequest("g", forgotten)))) == [Code.NONE, Code.NONE, TOPIC]


def test_each_api_with_a_rule_is_among_the_requests() -> None:
    tried = {type(request).API_KEY for request, _ in REQUESTS}
    assert tried == set(RULES) | OWN_RULES - {ApiKey.LIST_GROUPS, ApiKey.LIST_TRANSACTIONS}


def test_a_producer_without_acks_that_may_not_write_is_cut_off() -> None:
    bench = guarded()
    topic = bench.cluster.create_topic("t")
    data = TopicProduceData("t", topic.topic_id, [PartitionProduceData(0, b"")])
    assert bench.send(ProduceRequest(acks=0, topic_data=[data])).answer() is Special.HANG_UP


def test_a_session_hears_that_its_topic_is_forbidden_now() -> None:
    bench = guarded(rule(Operation.READ))
    topic = bench.cluster.create_topic("t")
    connection = bench.connect()
    asked = [FetchTopic("t", topic.topic_id, [FetchPartition(0, partition_max_bytes=1000)])]
    first = bench.ask(FetchRequest(max_wait_ms=0, topics=asked, session_epoch=0), connection=connection)
    assert first.session_id
    bench.cluster.authorizer.remove(rule(Operation.READ))
    again = FetchRequest(max_wait_ms=0, session_id=first.session_id, session_epoch=1)
    assert Code.TOPIC_AUTHORIZATION_FAILED in codes(bench.ask(again, connection=connection))


def test_groups_that_may_not_be_described_are_not_listed() -> None:
    bench = guarded(rule(Operation.DESCRIBE, Resource.GROUP, "mine"))
    for name in ("mine", "theirs"):
        bench.cluster.groups.groups[name] = Group(name)
    assert [group.group_id for group in bench.ask(ListGroupsRequest()).groups] == ["mine"]
    bench.cluster.authorizer.add(rule(Operation.DESCRIBE, Resource.CLUSTER, "kafka-cluster"))
    assert {group.group_id for group in bench.ask(ListGroupsRequest()).groups} == {"mine", "theirs"}


# ---- decisions


def authorizer(*acls: Acl, **properties: str) -> Authorizer:
    config = {**GUARDED, **{name.replace("_", "."): value for name, value in properties.items()}}
    made = Authorizer(BrokerConfig(config))
    for acl in acls:
        made.add(acl)
    return made


def ask(
    of: Authorizer, operation: Operation, name: str = "t", resource: Resource = Resource.TOPIC, who: str = ME
) -> bool:
    return of.allows(who, HOST, operation, resource, name)


@pytest.mark.parametrize(
    ("acl", "allowed"),
    [
        (rule(Operation.READ), True),
        (rule(Operation.ALL), True),
        (rule(Operation.READ, name="*"), True),
        (rule(Operation.READ, principal="User:*"), True),
        (rule(Operation.READ, host=HOST), True),
        (rule(Operation.READ, name="", pattern=Pattern.PREFIXED), True),
        (rule(Operation.WRITE), False),
        (rule(Operation.READ, name="u"), False),
        (rule(Operation.READ, name="*", pattern=Pattern.PREFIXED), False),
        (rule(Operation.READ, host="10.0.0.2"), False),
        (rule(Operation.READ, principal="User:other"), False),
        (rule(Operation.READ, Resource.GROUP), False),
    ],
)
def test_one_permission_is_enough_if_it_speaks_of_the_case(acl: Acl, allowed: bool) -> None:
    assert ask(authorizer(acl), Operation.READ) is allowed


@pytest.mark.parametrize(("first", "second"), list(product((0, 1), repeat=2)))
def test_a_denial_wins_whatever_came_first(first: int, second: int) -> None:
    denial = rule(Operation.ALL if first else Operation.READ, name="*", permission=Permission.DENY)
    acls = [rule(Operation.READ), denial]
    made = authorizer(*(reversed(acls) if second else acls))
    assert not ask(made, Operation.READ)
    assert ask(made, Operation.DESCRIBE) is (first == 0)


def test_describing_is_implied_and_a_denied_implication_stays_allowed() -> None:
    for operation in (Operation.READ, Operation.WRITE, Operation.DELETE, Operation.ALTER):
        assert ask(authorizer(rule(operation)), Operation.DESCRIBE)
    assert not ask(authorizer(rule(Operation.CREATE)), Operation.DESCRIBE)
    assert ask(authorizer(rule(Operation.ALTER_CONFIGS)), Operation.DESCRIBE_CONFIGS)


def test_super_users_and_open_brokers_need_no_acl() -> None:
    assert ask(authorizer(super_users="User:a; User:ANONYMOUS"), Operation.DELETE)
    made = Authorizer(BrokerConfig({**GUARDED, "allow.everyone.if.no.acl.found": "true"}))
    assert ask(made, Operation.DELETE)
    made.add(rule(Operation.READ, principal="User:other"))
    assert not ask(made, Operation.DELETE), "a resource that has ACLs is closed to all others"
    assert ask(made, Operation.DELETE, "u")


def test_the_right_to_write_somewhere_is_outweighed_by_denials() -> None:
    def somewhere(*acls: Acl) -> bool:
        return authorizer(*acls).allows_somewhere(ME, HOST, Operation.WRITE, Resource.TOPIC)

    write = rule(Operation.WRITE, name="team-a")
    denied = {"permission": Permission.DENY}
    assert not somewhere()
    assert somewhere(write)
    assert not somewhere(write, rule(Operation.WRITE, name="team-a", **denied))  # type: ignore[arg-type]
    assert not somewhere(write, rule(Operation.ALL, name="*", **denied))  # type: ignore[arg-type]
    assert not somewhere(write, rule(Operation.WRITE, name="team", pattern=Pattern.PREFIXED, **denied))  # type: ignore[arg-type]
    assert somewhere(write, rule(Operation.WRITE, name="team-b", **denied))  # type: ignore[arg-type]
