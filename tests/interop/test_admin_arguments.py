"""Administrators take and refuse the same arguments as confluent_kafka's, and find the same on the embedded broker."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any

import pytest

import kafka_core
import kafka_core.admin as our_admin
from kafka_core.broker import EmbeddedCluster, SaslSettings

pytestmark = pytest.mark.interop
confluent = pytest.importorskip("confluent_kafka")
their_admin = pytest.importorskip("confluent_kafka.admin")

LIMIT_S = 30.0
PROPERTIES = {"authorizer.class.name": "any", "super.users": "User:root"}
Build = Callable[[ModuleType, ModuleType], Any]


def binding(*changes: tuple[str, Any], filters: bool = False) -> Build:
    """A binding (or a filter) in which some arguments are others."""
    arguments: dict[str, Any] = {
        "restype": "topic",
        "name": "t",
        "resource_pattern_type": "literal",
        "principal": "User:a",
        "host": "*",
        "operation": "read",
        "permission_type": "allow",
        **dict(changes),
    }
    return lambda core, admin: (admin.AclBindingFilter if filters else admin.AclBinding)(**arguments)


BINDINGS: list[Build] = [
    binding(),
    *(binding((name, value)) for name in ("restype", "operation") for value in ("ANY", "unknown", "foo", 77, 2, None)),
    *(binding(("resource_pattern_type", value)) for value in ("any", "match", "prefixed", 4)),
    *(binding(("permission_type", value)) for value in ("any", "deny", 0)),
    *(binding((name, value)) for name in ("name", "principal", "host") for value in (None, 3)),
    binding(filters=True),
    *(binding((name, None), filters=True) for name in ("name", "principal", "host")),
    *(binding((name, "any"), filters=True) for name in ("restype", "operation", "permission_type")),
    *(binding((name, "unknown"), filters=True) for name in ("restype", "operation", "permission_type")),
    binding(("resource_pattern_type", "match"), filters=True),
    binding(("name", 3), filters=True),
]


def made(build: Build, core: ModuleType, admin: ModuleType) -> object:
    """The values of the built object, or the class of the refusal."""
    try:
        acl = build(core, admin)
    except (TypeError, ValueError) as error:
        return type(error)
    names = ("restype", "name", "resource_pattern_type", "principal", "host", "operation", "permission_type")
    values = [getattr(acl, name) for name in names]
    numbers = [acl.restype_int, acl.resource_pattern_type_int, acl.operation_int, acl.permission_type_int]
    return str(acl), [getattr(value, "name", value) for value in values], numbers


@pytest.mark.parametrize("build", BINDINGS)
def test_bindings_are_made_and_refused_alike(build: Build) -> None:
    assert made(build, kafka_core, our_admin) == made(build, confluent, their_admin)


def test_bindings_are_compared_and_sorted_alike() -> None:
    builds = [
        binding(),
        binding(("name", "u")),
        binding(("restype", "group")),
        binding(("operation", "write")),
        binding(("permission_type", "deny")),
        binding(("host", "1.2.3.4")),
        binding(filters=True),
    ]

    def order(admin: ModuleType) -> list[int]:
        acls = [build(kafka_core, admin) for build in builds]
        return sorted(range(len(acls)), key=lambda at: acls[at])

    assert order(our_admin) == order(their_admin)
    for admin in (our_admin, their_admin):
        first, same = binding()(kafka_core, admin), binding()(kafka_core, admin)
        assert first == same
        assert hash(first) == hash(same)


def info(admin: ModuleType, **changes: Any) -> Any:
    return admin.ScramCredentialInfo(**{"mechanism": admin.ScramMechanism.SCRAM_SHA_256, "iterations": 4096, **changes})


def upsertion(**changes: Any) -> Build:
    return lambda core, admin: [
        admin.UserScramCredentialUpsertion(
            **{"user": "u", "scram_credential_info": info(admin), "password": b"p", **changes}
        )
    ]


CALLS: list[tuple[str, Build]] = [
    *(("create_acls", lambda core, admin, value=value: (value,)) for value in (None, [], ["a"], [None], 3)),
    ("create_acls", lambda core, admin: ([binding()(core, admin)] * 2,)),
    *(("describe_acls", lambda core, admin, value=value: (value,)) for value in (None, "x", 3)),
    ("describe_acls", lambda core, admin: (binding()(core, admin),)),
    *(("delete_acls", lambda core, admin, value=value: (value,)) for value in (None, [], ["a"])),
    ("delete_acls", lambda core, admin: ([binding()(core, admin)],)),
    ("delete_acls", lambda core, admin: ([binding(filters=True)(core, admin)] * 2,)),
    *(("delete_records", lambda core, admin, value=value: (value,)) for value in (None, ["a"], "x")),
    ("delete_records", lambda core, admin: ([core.TopicPartition("t", -1, 1)],)),
    *(("elect_leaders", lambda core, admin, value=value: (value,)) for value in (None, "PREFERRED", 0)),
    ("elect_leaders", lambda core, admin: (core.ElectionType.PREFERRED, ["a"])),
    ("elect_leaders", lambda core, admin: (core.ElectionType.PREFERRED, "a")),
    ("elect_leaders", lambda core, admin: (core.ElectionType.PREFERRED, [core.TopicPartition("t", -1)])),
    *(
        ("describe_user_scram_credentials", lambda core, admin, value=value: (value,))
        for value in ("x", [None], [""], [1], ("a",))
    ),
    *(("alter_user_scram_credentials", lambda core, admin, value=value: (value,)) for value in (None, [], ["x"], "x")),
    *(
        ("alter_user_scram_credentials", lambda core, admin, build=build: (build(core, admin),))
        for build in (
            upsertion(user=None),
            upsertion(user=""),
            upsertion(password=""),
            upsertion(password=b""),
            upsertion(password="p"),
            upsertion(salt=b""),
            upsertion(salt="s"),
            upsertion(scram_credential_info=None),
            lambda core, admin: upsertion(scram_credential_info=info(admin, iterations=0))(core, admin),
            lambda core, admin: upsertion(scram_credential_info=info(admin, mechanism="x"))(core, admin),
            lambda core, admin: [admin.UserScramCredentialAlteration("u")],
            lambda core, admin: [admin.UserScramCredentialDeletion("u", "x")],
        )
    ),
]


@pytest.mark.parametrize(("method", "build"), CALLS)
def test_invalid_admin_arguments_are_refused_as_by_confluent_kafka(method: str, build: Build) -> None:
    refusals = []
    for core, admin in ((confluent, their_admin), (kafka_core, our_admin)):
        client = admin.AdminClient({"bootstrap.servers": "127.0.0.1:1"})
        with pytest.raises((TypeError, ValueError)) as caught:
            getattr(client, method)(*build(core, admin))
        refusals.append(caught.type)
    assert issubclass(refusals[1], refusals[0])


# ---- the reference client on the embedded broker


@pytest.fixture(scope="module")
def servers() -> Iterator[str]:
    with EmbeddedCluster(properties=PROPERTIES, sasl=SaslSettings({"root": "pw", "bob": "pw"})) as cluster:
        yield cluster.bootstrap_servers


def life(core: ModuleType, admin: ModuleType, servers: str, tag: str) -> list[object]:
    """Everything once; what came of it, in words that both packages share."""
    seen: list[object] = []
    conf = {
        "bootstrap.servers": servers,
        "security.protocol": "SASL_PLAINTEXT",
        "sasl.mechanism": "SCRAM-SHA-512",
        "sasl.username": "root",
        "sasl.password": "pw",
    }
    client = admin.AdminClient(conf)
    acl = binding(("name", tag))(core, admin)
    bad = binding(("name", tag), ("restype", "broker"))(core, admin)
    for future in client.create_acls([acl, bad]).values():
        error = future.exception(LIMIT_S)
        seen.append(error and error.args[0].name())
    match = binding(("name", tag), ("resource_pattern_type", "match"), ("principal", None), filters=True)(core, admin)
    seen.append([str(item) for item in client.describe_acls(match).result(LIMIT_S)])
    seen.append([str(item) for item in client.delete_acls([match])[match].result(LIMIT_S)])
    seen.append(client.describe_acls(match).result(LIMIT_S))

    user = f"user-{tag}"
    sha = admin.ScramMechanism.SCRAM_SHA_512
    change = admin.UserScramCredentialUpsertion(user, admin.ScramCredentialInfo(sha, 5000), b"new", b"salt")
    seen.append(client.alter_user_scram_credentials([change])[user].result(LIMIT_S))
    found = client.describe_user_scram_credentials([user])[user].result(LIMIT_S)
    seen.append([(item.mechanism.name, item.iterations) for item in found.scram_credential_infos])
    seen.append(user in client.describe_user_scram_credentials().result(LIMIT_S))
    theirs = admin.AdminClient({**conf, "sasl.username": user, "sasl.password": "new"})
    # Not describe_acls: confluent_kafka takes the broker's refusal of that for an empty list.
    seen.append(theirs.create_acls([acl])[acl].exception(LIMIT_S).args[0].name())
    gone = [admin.UserScramCredentialDeletion(user, sha)]
    seen.append(client.alter_user_scram_credentials(gone)[user].result(LIMIT_S))
    seen.append(client.alter_user_scram_credentials(gone)[user].exception(LIMIT_S).args[0].name())

    topic = f"topic-{tag}"
    client.create_topics([admin.NewTopic(topic, 2, 1)])[topic].result(LIMIT_S)
    parts = [core.TopicPartition(topic, at, offset) for at, offset in ((0, 0), (1, core.OFFSET_END))]
    seen.append([item.result(LIMIT_S).low_watermark for item in client.delete_records(parts).values()])
    beyond = client.delete_records([core.TopicPartition(topic, 0, 7)])
    seen.append([item.exception(LIMIT_S).args[0].name() for item in beyond.values()])
    elected = client.elect_leaders(core.ElectionType.PREFERRED, parts).result(LIMIT_S)
    for item in parts:
        error = elected[item]
        seen.append(getattr(error, "args", [error])[0].name())
    return [str(item).replace(tag, "TAG") for item in seen]


def test_the_reference_client_finds_the_same_on_the_embedded_broker(servers: str) -> None:
    theirs = life(confluent, their_admin, servers, "theirs")
    ours = life(kafka_core, our_admin, servers, "ours")
    assert ours == theirs
