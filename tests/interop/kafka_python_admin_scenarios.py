"""Programs that administer a cluster with kafka-python, each a function that is given the package (theirs, or ours).

Must not know which one it has. Whoever is not logged in may do everything on the broker, and ACLs are enforced there.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tests.interop.kafka_python_scenarios import LIMIT_S, Kit, kind, until

SCENARIOS: dict[str, Callable[[Kit], Any]] = {}


def scenario(function: Callable[[Kit], Any]) -> Callable[[Kit], Any]:
    SCENARIOS[function.__name__] = function
    return function


def plain(kit: Kit, value: Any) -> Any:
    """A value with the texts of its parts, without the name of the topic and of the modules that classes are in."""
    if isinstance(value, dict):
        return {str(plain(kit, key)): plain(kit, each) for key, each in value.items()}
    if isinstance(value, list | set):
        return [plain(kit, each) for each in value]
    if isinstance(value, tuple):
        return (type(value).__name__, *(plain(kit, each) for each in value))
    if isinstance(value, type):
        return value.__name__
    return repr(value).replace(kit.topic, "TOPIC")


def acl(kit: Kit, operation: str = "READ", principal: str = "User:somebody") -> Any:
    here = kit.package.admin
    pattern = here.ResourcePattern(here.ResourceType.TOPIC, kit.topic)
    return here.ACL(principal, "*", here.ACLOperation[operation], here.ACLPermissionType.ALLOW, pattern)


def acl_filter(kit: Kit, operation: str = "ANY") -> Any:
    here = kit.package.admin
    pattern = here.ResourcePatternFilter(here.ResourceType.TOPIC, kit.topic, here.ACLResourcePatternType.ANY)
    return here.ACLFilter(None, None, here.ACLOperation[operation], here.ACLPermissionType.ANY, pattern)


# ---- ACLs and users


@scenario
def acls_are_made_found_and_deleted(kit: Kit) -> Any:
    admin, wanted = kit.admin(), [acl(kit), acl(kit, "WRITE")]
    seen = [plain(kit, admin.create_acls(wanted))]
    found, error = until(lambda: len((a := admin.describe_acls(acl_filter(kit)))[0]) == 2 and a)
    seen += [sorted(plain(kit, found)), error.__name__, set(found) == set(wanted)]
    (first, deleted, error) = admin.delete_acls([acl_filter(kit, "READ")])[0]
    seen += [plain(kit, first), plain(kit, deleted), error.__name__]
    seen.append(plain(kit, admin.delete_acls([acl_filter(kit, "READ"), acl_filter(kit)])))
    return seen


@scenario
def an_acl_that_brokers_refuse(kit: Kit) -> Any:
    return plain(kit, kit.admin().create_acls([acl(kit), acl(kit, principal="nobody in particular")]))


@scenario
def acls_of_wrong_types(kit: Kit) -> Any:
    admin = kit.admin()
    return [
        kind(admin.create_acls, ["x"]),
        kind(admin.create_acls, [acl_filter(kit)]),
        kind(admin.delete_acls, ["x"]),
        kind(admin.describe_acls, "x")[0],
        plain(kit, admin.create_acls([])),
        admin.delete_acls([]),
    ]


@scenario
def users_are_made_described_and_deleted(kit: Kit) -> Any:
    here, admin, name = kit.package.admin, kit.admin(), kit.topic
    sha256, sha512 = here.ScramMechanism.SCRAM_SHA_256, here.ScramMechanism.SCRAM_SHA_512
    seen = [
        admin.alter_user_scram_credentials([here.UserScramCredentialUpsertion(name, sha256, "secret")]),
        admin.alter_user_scram_credentials([here.UserScramCredentialUpsertion(name, "scram-sha-512", b"s", 5000)]),
        admin.alter_user_scram_credentials([here.UserScramCredentialUpsertion(name, sha256, "secret", 7, b"salt")]),
        admin.alter_user_scram_credentials([here.UserScramCredentialDeletion(name + "-no", sha256)]),
    ]
    until(lambda: len(admin.describe_user_scram_credentials([name])[name]["credential_infos"]) == 2)
    seen += [admin.describe_user_scram_credentials([name, name + "-no"])]
    seen += [admin.describe_user_scram_credentials()[name]]
    seen += [admin.alter_user_scram_credentials([here.UserScramCredentialDeletion(name, sha512)])]
    return plain(kit, seen)


# ---- groups


@scenario
def offsets_of_a_group_are_deleted(kit: Kit) -> Any:
    kit.fill()
    admin, place, group = kit.admin(), kit.place(), kit.topic
    consumer = kit.consumer(kit.topic, group_id=group, auto_offset_reset="earliest")
    kit.take(consumer, 10)
    consumer.commit()
    seen = [admin.delete_group_offsets(group, [place])]
    consumer.close()
    until(lambda: admin.describe_groups([group])[group]["group_state"] == "Empty")
    seen.append(admin.delete_group_offsets(group, [place, kit.place(9)]))
    seen.append(sorted(each.partition for each in admin.list_group_offsets([group])[group]))
    seen.append(admin.delete_group_offsets(group, []))
    seen.append(kind(admin.delete_group_offsets, group + "-no", [place]))
    return [sorted(plain(kit, each).items()) if isinstance(each, dict) else each for each in seen]


@scenario
def members_are_made_to_leave(kit: Kit) -> Any:
    here, admin, group = kit.package.admin, kit.admin(), kit.topic
    consumer = kit.consumer(kit.topic, group_id=group, group_instance_id="fixed")
    until(lambda: consumer.poll(100) or consumer.assignment())
    gone = here.MemberToRemove(group_instance_id="fixed", reason="we need the seat")
    seen = [
        admin.remove_group_members(group, [here.MemberToRemove("nobody")]),
        admin.remove_group_members(group, [gone]),
        admin.remove_group_members(group, []),
        (repr(gone), gone == here.MemberToRemove(None, "fixed", "we need the seat"), gone == here.MemberToRemove("a")),
    ]
    return plain(kit, [list(each.values()) if isinstance(each, dict) else each for each in seen])


# ---- transactions


@scenario
def transactions_are_listed_and_described(kit: Kit) -> Any:
    admin, name = kit.admin(), kit.topic
    producer = kit.producer(transactional_id=name)
    producer.init_transactions()
    producer.begin_transaction()
    producer.send(kit.topic, b"v", partition=1).get(LIMIT_S)
    producer.flush()

    def ours(**filters: Any) -> list[Any]:
        listed = admin.list_transactions(**filters)
        return [(each.transactional_id, each.state) for found in listed.values() for each in found if each[0] == name]

    described = admin.describe_transactions([name])[name]
    seen = [
        ours(),
        ours(state_filters=["Ongoing"], transactional_id_pattern=".*-x"),
        ours(state_filters=["Empty"]),
        ours(duration_filter_ms=3_600_000),
        ours(producer_id_filters=[2**40]),
        ours(broker_ids=[1]),
        kind(admin.list_transactions, broker_ids=[99]),
        type(described)._fields,
        (described.state, described.producer_epoch >= 0, described.transaction_timeout_ms, described.topic_partitions),
        kind(admin.describe_transactions, [name, name + "-no"]),
        admin.describe_transactions([]),
    ]
    hanging = admin.find_hanging_transactions(max_transaction_timeout_ms=-300_000)
    mine = [each for each in hanging if each["transactional_id"] == name]
    seen.append([(list(each), each["state"], each["topic_partitions"]) for each in mine])
    seen.append([each for each in admin.find_hanging_transactions() if each["transactional_id"] == name])
    states = admin.describe_producers([kit.place(1), kit.place(0)])
    (state,) = states[kit.place(1)].active_producers
    seen.append([type(state)._fields, state.last_sequence, state.coordinator_epoch])
    seen.append([state.current_transaction_start_offset, states[kit.place(0)]])
    seen.append(len(admin.describe_producers([kit.place(1)], broker_id=1)[kit.place(1)].active_producers))
    seen.append(kind(admin.describe_producers, [kit.place(9)])[0])
    producer.abort_transaction()
    until(lambda: ours(state_filters=["CompleteAbort"]))
    return plain(kit, seen)


# ---- what the cluster is made of


@scenario
def leaders_are_elected(kit: Kit) -> Any:
    admin = kit.admin()

    def codes(answer: Any) -> list[Any]:
        return sorted(
            (each.partition_id, each.error_code, each.error_message)
            for topic in answer.replica_election_results
            if topic.topic == kit.topic
            for each in topic.partition_result
        )

    return [
        codes(admin.elect_leaders(0, {kit.topic: [0]})),
        codes(admin.elect_leaders(1, [kit.topic])),
        codes(admin.elect_leaders(0)),
        kind(admin.elect_leaders, 0, {kit.topic: [7]})[0],
        plain(kit, codes(admin.elect_leaders(0, {kit.topic: [7]}, raise_errors=False))),
        kind(admin.elect_leaders, 7, {kit.topic: [0]}),
        admin.elect_leaders(0, {kit.topic: [0]}).error_code,
    ]


@scenario
def partitions_get_other_replicas(kit: Kit) -> Any:
    admin, place = kit.admin(), kit.place()
    seen = [
        admin.alter_partition_reassignments({place: [1], kit.place(7): [1]}),
        admin.alter_partition_reassignments({place: [99]}),
        admin.alter_partition_reassignments({place: None}),
        admin.list_partition_reassignments(),
        admin.list_partition_reassignments({kit.topic: [0]}),
        admin.list_partition_reassignments([place]),
    ]
    return [sorted(plain(kit, each).items()) for each in seen]


@scenario
def disks_are_described(kit: Kit) -> Any:
    kit.fill()
    admin = kit.admin()

    def shape(found: list[Any]) -> list[Any]:
        return [
            (list(each), each["broker"], list(disk), disk["error_code"], disk["is_cordoned"], disk["total_bytes"] > 0)
            for each in found
            for disk in each["log_dirs"]
        ]

    (topic,) = admin.describe_log_dirs([kit.topic])[0]["log_dirs"][0]["topics"]
    # Of how many batches they are made, and so their size, is a matter of luck.
    partitions = sorted(
        ({**each, "partition_size": each["partition_size"] > 0} for each in topic["partitions"]), key=str
    )
    return [
        shape(admin.describe_log_dirs()),
        shape(admin.describe_log_dirs({kit.topic: [1]}, brokers=[1])),
        (topic["name"] == kit.topic, sorted(partitions, key=str)),
        kind(admin.describe_log_dirs, brokers=[99]),
    ]


@scenario
def features_are_described_and_moved(kit: Kit) -> Any:
    here, admin = kit.package.admin, kit.admin()
    described = admin.describe_features()
    return [
        {name: {part: described[name][part] for part in described[name] if part != "finalized_epoch"}
         for name in sorted(described)},
        described.keys() == admin.describe_features(send_request_to_controller=True).keys(),
        admin.update_features({"share.version": 1}, validate_only=True),
        admin.update_features({"share.version": ("safe-downgrade", 0)}, validate_only=True),
        kind(admin.update_features, {"share.version": 99}, validate_only=True)[0],
        kind(admin.update_features, {"share.version": ("NOPE", 1)}),
        plain(kit, [here.UpdateFeatureType.build_from("upgrade"), here.UpdateFeatureType.value_for(2)]),
    ]  # fmt: skip


@scenario
def versions_of_requests_are_told(kit: Kit) -> Any:
    return {(key.name, int(key)): versions for key, versions in kit.admin().api_versions().items() if key < 27}


@scenario
def resources_with_configurations_are_listed(kit: Kit) -> Any:
    here, admin = kit.package.admin, kit.admin()
    every = admin.list_config_resources()
    return [
        sorted(every),
        every["broker"],
        kit.topic in every["topic"],
        sorted(admin.list_config_resources(["TOPIC", "broker"])),
        admin.list_config_resources([here.ConfigResourceType.CLIENT_METRICS]),
        kind(admin.list_config_resources, ["nope"]),
    ]


@scenario
def records_before_offsets_are_deleted(kit: Kit) -> Any:
    kit.fill()
    admin = kit.admin()
    return [
        plain(kit, admin.delete_records({kit.place(): 2, kit.place(1): -1})),
        kind(admin.delete_records, {kit.place(): 99})[0],
        kind(admin.delete_records, {kit.place(9): 1})[0],
    ]


# ---- pages of partitions, directories, the quorum


@scenario
def partitions_come_in_pages(kit: Kit) -> Any:
    admin = kit.admin()

    def page(*given: Any) -> Any:
        found = admin.describe_topic_partitions(*given)
        shapes = [(list(each), *map(list, each["partitions"])) for each in found["topics"]]
        for each in found["topics"]:
            each["topic_id"] = type(each["topic_id"]).__name__
        return found, [sorted(map(sorted, each)) for each in shapes]

    seen = [page([kit.topic]), page([kit.topic, "A-nope"]), page([kit.topic], 1)]
    seen.append(page([kit.topic], 5, seen[-1][0]["next_cursor"]))
    seen.append(page([kit.topic], 5, {"topic_name": "another", "partition_index": 0}))
    seen.append(kind(admin.describe_topic_partitions, [kit.topic], 5, {"topic_name": kit.topic}))
    return plain(kit, seen)


@scenario
def replicas_go_to_directories(kit: Kit) -> Any:
    admin, replica = kit.admin(), kit.package.TopicPartitionReplica
    (disk,) = admin.describe_log_dirs()[0]["log_dirs"]
    path = disk["log_dir"]
    seen = [
        admin.alter_replica_log_dirs({replica(kit.topic, 0, 1): path, (kit.topic, 1, 1): "/nope"}),
        admin.alter_replica_log_dirs({(kit.topic, 9, 1): path, (kit.topic, 0, 1): 7}),
        admin.alter_replica_log_dirs({}),
    ]
    return [
        *(plain(kit, sorted(each.items())) for each in seen),
        kind(admin.alter_replica_log_dirs, {(kit.topic, 0, 99): path}),
        kind(admin.alter_replica_log_dirs, {"x": path})[0],
    ]


@scenario
def the_quorum_is_described(kit: Kit) -> Any:
    found = kit.admin().describe_metadata_quorum()
    ((partition,),) = [topic["partitions"] for topic in found["topics"]]
    (voter,) = partition["current_voters"]
    (node,) = found["nodes"]
    return [
        (sorted(found), [topic["topic_name"] for topic in found["topics"]]),
        {name: partition[name] for name in sorted(partition) if name not in ("current_voters", "high_watermark")},
        (sorted(voter), voter["replica_id"], voter["replica_directory_id"]),
        (sorted(node), node["node_id"], [(sorted(each), each["name"]) for each in node["listeners"]]),
    ]


@scenario
def a_hanging_transaction_is_ended(kit: Kit) -> Any:
    admin, spec = kit.admin(), kit.package.admin.AbortTransactionSpec
    producer = kit.producer(transactional_id=kit.topic)
    producer.init_transactions()
    producer.begin_transaction()
    producer.send(kit.topic, b"v", partition=1).get(LIMIT_S)
    producer.flush()
    place = kit.place(1)

    def state() -> Any:
        return admin.describe_producers([place])[place].active_producers[0]

    mine = state()
    who = mine.producer_id, mine.producer_epoch
    seen = [
        kind(admin.abort_transaction, spec(kit.place(9), *who))[0],
        kind(admin.abort_transaction, spec(place, who[0], who[1] - 1))[0],
        admin.abort_transaction(spec(place, *who, 2)),
        (state().coordinator_epoch, state().current_transaction_start_offset),
        kind(admin.abort_transaction, spec(place, *who))[0],
        kind(admin.abort_transaction, (place, *who))[0],
    ]
    producer.close(0)
    return plain(kit, seen)


@scenario
def a_broker_tells_its_release(kit: Kit) -> Any:
    admin = kit.admin()
    found = admin.get_broker_version_data(1)
    return [
        (found.broker_version, found.broker_version_str),
        {key: versions for key, versions in found.api_versions.items() if key < 27},
        kind(admin.get_broker_version_data, 99),
    ]
