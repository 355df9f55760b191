"""ACLs and SCRAM users, on the embedded and the real cluster: who administers them, and what they then forbid."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from concurrent.futures import Future
from dataclasses import dataclass, field

import pytest

from kafka_core import Consumer, KafkaError, KafkaException, Producer, TopicPartition
from kafka_core.admin import (
    AclBinding,
    AclBindingFilter,
    AclOperation,
    AdminClient,
    NewPartitions,
    NewTopic,
    ScramCredentialInfo,
    ScramMechanism,
    UserScramCredentialAlteration,
    UserScramCredentialDeletion,
    UserScramCredentialUpsertion,
)
from kafka_core.broker import EmbeddedCluster, SaslSettings
from tests.contract.clusters import LIMIT_S, Reports, take, take_error, unique, wait_for
from tests.fix_kafka import start_real
from tools.real_kafka import Security

E = KafkaError
ROOT, ALICE = "root", "alice"
PASSWORDS = {ROOT: "first of all", ALICE: "wonder land"}
PROPERTIES = {
    "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
    "super.users": "User:ANONYMOUS;User:root",
}
SHA_256, SHA_512 = ScramMechanism.SCRAM_SHA_256, ScramMechanism.SCRAM_SHA_512
EVERY = AclBindingFilter("any", None, "any", None, None, "any", "any")


@dataclass
class Guarded:
    """A cluster with an authorizer. `root` may do everything, others what ACLs say."""

    servers: str
    _admins: dict[str, AdminClient] = field(default_factory=dict)

    def login(self, user: str, mechanism: str = "SCRAM-SHA-256", password: str = "") -> dict[str, object]:
        return {
            "bootstrap.servers": self.servers,
            "security.protocol": "SASL_PLAINTEXT",
            "sasl.mechanism": mechanism,
            "sasl.username": user,
            "sasl.password": password or PASSWORDS[user],
        }

    def admin(self, user: str = ROOT) -> AdminClient:
        if user not in self._admins:
            self._admins[user] = AdminClient(self.login(user))
        return self._admins[user]

    def close(self) -> None:
        for admin in self._admins.values():
            admin.close()

    def topic(self) -> str:
        name = unique("topic")
        self.admin().create_topics([NewTopic(name, 1, 1)])[name].result(LIMIT_S)
        return name

    def grant(self, *acls: AclBinding) -> None:
        for future in self.admin().create_acls(list(acls)).values():
            assert future.result(LIMIT_S) is None
        wait_for(lambda: set(acls) <= set(self.find(EVERY)), "the ACLs are in force")

    def find(self, acl: AclBindingFilter) -> list[AclBinding]:
        return self.admin().describe_acls(acl).result(LIMIT_S)


@pytest.fixture(scope="module", params=["embedded", pytest.param("real", marks=pytest.mark.broker)])
def clusters(request: pytest.FixtureRequest) -> Iterator[Guarded]:
    if request.param == "embedded":
        with EmbeddedCluster(properties=PROPERTIES, sasl=SaslSettings(PASSWORDS)) as embedded:
            guarded = Guarded(embedded.bootstrap_servers)
            yield guarded
            guarded.close()
        return
    request.getfixturevalue("kafka_jars")
    for kafka in start_real(security=Security(users=PASSWORDS), extra=PROPERTIES):
        guarded = Guarded(kafka.sasl_bootstrap_servers)
        yield guarded
        guarded.close()


@pytest.fixture
def guarded(clusters: Guarded) -> Iterator[Guarded]:
    """The cluster; the ACLs of a test are gone after it."""
    yield clusters
    for future in clusters.admin().delete_acls([EVERY]).values():
        future.result(LIMIT_S)
    wait_for(lambda: not clusters.find(EVERY), "the ACLs are gone")


def refused(future: Future[object]) -> KafkaError:
    with pytest.raises(KafkaException) as caught:
        future.result(LIMIT_S)
    return caught.value.error


def refused_one(futures: Mapping[object, Future[object]]) -> KafkaError:
    (future,) = futures.values()
    return refused(future)


def allow(operation: str, kind: str, name: str, pattern: str = "literal", user: str = ALICE) -> AclBinding:
    return AclBinding(kind, name, pattern, f"User:{user}", "*", operation, "allow")


def deny(operation: str, kind: str, name: str, pattern: str = "literal") -> AclBinding:
    return AclBinding(kind, name, pattern, f"User:{ALICE}", "*", operation, "deny")


def produced(conf: Mapping[str, object], topic: str, **more: object) -> KafkaError | None:
    """The verdict on one record."""
    reports = Reports()
    with Producer({**conf, "message.timeout.ms": 20_000, **more}) as writer:
        writer.produce(topic, b"value", on_delivery=reports)
        assert writer.flush(LIMIT_S) == 0
    return reports.failed[0][0] if reports.failed else None


# ---- ACLs are administered


def test_acls_are_created_found_and_deleted(guarded: Guarded) -> None:
    name = unique("orders")
    exact = allow("read", "topic", name)
    prefixed = allow("write", "topic", name[:-2], "prefixed")
    everywhere = deny("delete", "topic", "*")
    others = [
        allow("read", "group", name),
        allow("alter", "broker", "kafka-cluster"),
        allow("describe", "transactional_id", name),
    ]
    guarded.grant(exact, prefixed, everywhere, *others)
    assert sorted(guarded.find(EVERY)) == sorted([exact, prefixed, everywhere, *others])
    assert guarded.find(AclBindingFilter("topic", name, "literal", None, None, "any", "any")) == [exact]
    matching = guarded.find(AclBindingFilter("topic", name, "match", None, None, "any", "any"))
    assert sorted(matching) == sorted([exact, prefixed, everywhere])
    assert guarded.find(AclBindingFilter("any", None, "any", None, None, "any", "deny")) == [everywhere]
    assert guarded.find(AclBindingFilter("any", None, "any", None, None, "write", "any")) == [prefixed]
    assert guarded.find(AclBindingFilter("any", None, "any", "User:nobody", None, "any", "any")) == []

    by_name = AclBindingFilter("any", name, "literal", None, None, "any", "any")
    nothing = AclBindingFilter("topic", "no such", "literal", None, None, "any", "any")
    gone = guarded.admin().delete_acls([by_name, nothing])
    assert sorted(gone[by_name].result(LIMIT_S)) == sorted([exact, others[0], others[2]])
    assert gone[nothing].result(LIMIT_S) == []
    left = sorted([prefixed, everywhere, others[1]])
    wait_for(lambda: sorted(guarded.find(EVERY)) == left, "the deleted ACLs are gone")


def test_an_acl_that_is_there_already_is_no_error(guarded: Guarded) -> None:
    acl = allow("read", "topic", unique("again"))
    guarded.grant(acl)
    guarded.grant(acl)
    assert guarded.find(EVERY) == [acl]


@pytest.mark.parametrize(
    "acl",
    [
        allow("read", "topic", ""),
        allow("alter", "broker", "1"),
        AclBinding("topic", "t", "literal", "no colon", "*", "read", "allow"),
    ],
    ids=["no name", "another cluster", "a principal without a type"],
)
def test_an_acl_that_cannot_be_is_refused_and_the_others_are_made(guarded: Guarded, acl: AclBinding) -> None:
    good = allow("read", "topic", unique("good"))
    made = guarded.admin().create_acls([acl, good])
    assert refused(made[acl]).code() == E.INVALID_REQUEST
    assert made[good].result(LIMIT_S) is None
    wait_for(lambda: guarded.find(EVERY) == [good], "the good one is there")


def test_acls_and_users_need_the_right_to_alter_the_cluster(guarded: Guarded) -> None:
    guarded.grant(allow("describe", "topic", "x"))
    admin = guarded.admin(ALICE)
    assert refused(admin.describe_acls(EVERY)).code() == E.CLUSTER_AUTHORIZATION_FAILED
    assert refused_one(admin.create_acls([allow("all", "topic", "*")])).code() == E.CLUSTER_AUTHORIZATION_FAILED
    assert refused_one(admin.delete_acls([EVERY])).code() == E.CLUSTER_AUTHORIZATION_FAILED
    upsertion = UserScramCredentialUpsertion(ALICE, ScramCredentialInfo(SHA_256, 4096), b"new")
    assert refused_one(admin.alter_user_scram_credentials([upsertion])).code() == E.CLUSTER_AUTHORIZATION_FAILED
    # Kafka 4.3.1 never answers the same about all users: its own answer cannot be made (users is null there).
    assert refused_one(admin.describe_user_scram_credentials([ALICE])).code() == E.CLUSTER_AUTHORIZATION_FAILED
    assert guarded.find(EVERY) == [allow("describe", "topic", "x")]


# ---- and do what they say


def test_a_producer_needs_the_right_to_write(guarded: Guarded) -> None:
    topic, conf = guarded.topic(), guarded.login(ALICE)
    verdict = produced(conf, topic, **{"enable.idempotence": False})
    assert verdict is not None
    assert verdict.code() == E.TOPIC_AUTHORIZATION_FAILED
    guarded.grant(allow("write", "topic", topic[:9], "prefixed"))
    assert produced(conf, topic) is None
    guarded.grant(deny("write", "topic", topic))
    verdict = produced(conf, topic, **{"enable.idempotence": False})
    assert verdict is not None
    assert verdict.code() == E.TOPIC_AUTHORIZATION_FAILED


def test_a_consumer_needs_its_group_and_its_topic(guarded: Guarded) -> None:
    topic, group = guarded.topic(), unique("group")
    assert produced(guarded.login(ROOT), topic) is None
    conf = {**guarded.login(ALICE), "group.id": group, "auto.offset.reset": "earliest"}
    guarded.grant(allow("read", "topic", topic))
    with Consumer(conf) as reader:
        reader.subscribe([topic])
        assert take_error(reader).code() == E.GROUP_AUTHORIZATION_FAILED
    guarded.grant(allow("read", "group", group))
    with Consumer(conf) as reader:
        reader.subscribe([topic])
        assert [item.value() for item in take(reader, 1)] == [b"value"]
    guarded.grant(deny("read", "topic", topic))
    with Consumer(conf) as reader:
        reader.assign([TopicPartition(topic, 0, 0)])
        error = take_error(reader)
        assert error.code() == E.TOPIC_AUTHORIZATION_FAILED
        assert topic in error.str()


def test_metadata_shows_what_may_be_described(guarded: Guarded) -> None:
    seen, hidden = guarded.topic(), guarded.topic()
    guarded.grant(allow("describe", "topic", seen))
    admin = guarded.admin(ALICE)
    topics = admin.list_topics(timeout=LIMIT_S).topics
    assert seen in topics
    assert hidden not in topics
    assert refused_one(admin.describe_topics([hidden])).code() == E.TOPIC_AUTHORIZATION_FAILED
    unknown = unique("unknown")
    assert refused_one(admin.describe_topics([unknown])).code() == E.TOPIC_AUTHORIZATION_FAILED


def test_administration_needs_rights_topic_by_topic(guarded: Guarded) -> None:
    mine, theirs = guarded.topic(), guarded.topic()
    own = unique("own")
    admin = guarded.admin(ALICE)
    guarded.grant(
        allow("alter", "topic", mine), allow("delete", "topic", mine), allow("create", "topic", own[:6], "prefixed")
    )
    grown = admin.create_partitions([NewPartitions(mine, 2), NewPartitions(theirs, 2)])
    assert grown[mine].result(LIMIT_S) is None
    assert refused(grown[theirs]).code() == E.TOPIC_AUTHORIZATION_FAILED
    made = admin.create_topics([NewTopic(own, 1, 1), NewTopic(unique("foreign"), 1, 1)])
    assert made.pop(own).result(LIMIT_S) is None
    assert refused_one(made).code() == E.TOPIC_AUTHORIZATION_FAILED
    cut = admin.delete_records([TopicPartition(mine, 0, 0)])
    assert [future.result(LIMIT_S).low_watermark for future in cut.values()] == [0]
    gone = admin.delete_topics([mine, theirs])
    assert gone[mine].result(LIMIT_S) is None
    assert refused(gone[theirs]).code() == E.TOPIC_AUTHORIZATION_FAILED
    assert theirs in guarded.admin().list_topics(timeout=LIMIT_S).topics


def test_authorized_operations_are_those_of_the_asker(guarded: Guarded) -> None:
    guarded.grant(allow("describe", "broker", "kafka-cluster"), allow("alter", "broker", "kafka-cluster"))
    found = guarded.admin(ALICE).describe_cluster(include_authorized_operations=True).result(LIMIT_S)
    assert set(found.authorized_operations or ()) == {AclOperation.DESCRIBE, AclOperation.ALTER}
    found = guarded.admin().describe_cluster(include_authorized_operations=True).result(LIMIT_S)
    assert {AclOperation.CREATE, AclOperation.CLUSTER_ACTION} <= set(found.authorized_operations or ())


# ---- SCRAM users


def test_a_scram_user_is_made_changed_and_removed(guarded: Guarded) -> None:
    admin, user, topic = guarded.admin(), unique("user"), guarded.topic()
    guarded.grant(allow("write", "topic", topic, user=user))

    def alter(alteration: UserScramCredentialAlteration) -> None:
        assert admin.alter_user_scram_credentials([alteration])[user].result(LIMIT_S) is None

    alter(UserScramCredentialUpsertion(user, ScramCredentialInfo(SHA_256, 8192), b"pass", b"salt"))
    alter(UserScramCredentialUpsertion(user, ScramCredentialInfo(SHA_512, 4096), b"word"))

    def infos() -> dict[ScramMechanism, int]:
        found = admin.describe_user_scram_credentials([user])[user].result(LIMIT_S)
        assert found.user == user
        return {info.mechanism: info.iterations for info in found.scram_credential_infos}

    wait_for(lambda: infos() == {SHA_256: 8192, SHA_512: 4096}, "the user is there")
    assert produced(guarded.login(user, "SCRAM-SHA-256", "pass"), topic) is None
    assert produced(guarded.login(user, "SCRAM-SHA-512", "word"), topic) is None
    alter(UserScramCredentialUpsertion(user, ScramCredentialInfo(SHA_256, 4096), b"other"))
    alter(UserScramCredentialDeletion(user, SHA_512))
    wait_for(lambda: infos() == {SHA_256: 4096}, "the user has changed")
    assert produced(guarded.login(user, "SCRAM-SHA-256", "other"), topic) is None
    everybody = admin.describe_user_scram_credentials().result(LIMIT_S)
    assert {user, ROOT, ALICE} <= set(everybody)
    alter(UserScramCredentialDeletion(user, SHA_256))

    def removed() -> bool:
        return user not in admin.describe_user_scram_credentials().result(LIMIT_S)

    wait_for(removed, "the user is gone")
    assert refused_one(admin.describe_user_scram_credentials([user])).code() == E.RESOURCE_NOT_FOUND


@pytest.mark.parametrize(
    ("alterations", "code"),
    [
        ([UserScramCredentialDeletion("nobody", SHA_256)], E.RESOURCE_NOT_FOUND),
        ([UserScramCredentialUpsertion("x", ScramCredentialInfo(SHA_256, 4095), b"p")], E.UNACCEPTABLE_CREDENTIAL),
        ([UserScramCredentialUpsertion("x", ScramCredentialInfo(SHA_256, 16385), b"p")], E.UNACCEPTABLE_CREDENTIAL),
        (
            [UserScramCredentialUpsertion("x", ScramCredentialInfo(ScramMechanism.UNKNOWN, 4096), b"p")],
            E.UNSUPPORTED_SASL_MECHANISM,
        ),
        (
            [
                UserScramCredentialUpsertion("x", ScramCredentialInfo(SHA_256, 4096), b"p"),
                UserScramCredentialUpsertion("x", ScramCredentialInfo(SHA_512, 4096), b"p"),
            ],
            E.DUPLICATE_RESOURCE,
        ),
        (
            [
                UserScramCredentialUpsertion("x", ScramCredentialInfo(SHA_256, 4096), b"p"),
                UserScramCredentialDeletion("x", SHA_256),
            ],
            E.RESOURCE_NOT_FOUND,
        ),
    ],
    ids=["not there", "few iterations", "many iterations", "unknown mechanism", "twice", "deleted before made"],
)
def test_a_change_of_users_that_cannot_be_is_refused(guarded: Guarded, alterations: list, code: int) -> None:  # type: ignore[type-arg]
    good = UserScramCredentialUpsertion(unique("good"), ScramCredentialInfo(SHA_256, 4096), b"p")
    results = guarded.admin().alter_user_scram_credentials([*alterations, good])
    assert results.pop(good.user).result(LIMIT_S) is None
    assert refused_one(results).code() == code


def test_without_an_authorizer_acls_are_refused() -> None:
    with EmbeddedCluster() as cluster, AdminClient({"bootstrap.servers": cluster.bootstrap_servers}) as admin:
        assert refused(admin.describe_acls(EVERY)).code() == E.SECURITY_DISABLED
        assert refused_one(admin.create_acls([allow("read", "topic", "t")])).code() == E.SECURITY_DISABLED
        assert refused_one(admin.delete_acls([EVERY])).code() == E.SECURITY_DISABLED
