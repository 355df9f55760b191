"""Administration of ACLs and SCRAM users: arguments → requests, responses → results.

Must not know connections, time or random numbers. Spec: KIP-140 and KIP-290 (ACL requests), KIP-554 (SCRAM users);
RFC 5802 §3 (the salted password).
"""

import hashlib
from collections.abc import Callable, Sequence
from typing import Any

from kafka_core.admin_model import Outcome
from kafka_core.admin_security import (
    DIGESTS,
    AclBinding,
    AclBindingFilter,
    ScramCredentialInfo,
    ScramMechanism,
    UserScramCredentialAlteration,
    UserScramCredentialDeletion,
    UserScramCredentialsDescription,
    UserScramCredentialUpsertion,
)
from kafka_core.errors import BrokerError
from kafka_core.protocol.messages.acls import (
    AclCreation,
    CreateAclsRequest,
    CreateAclsResponse,
    DeleteAclsFilter,
    DeleteAclsRequest,
    DeleteAclsResponse,
    DescribeAclsRequest,
    DescribeAclsResponse,
)
from kafka_core.protocol.messages.user_scram_credentials import (
    AlterUserScramCredentialsRequest,
    AlterUserScramCredentialsResponse,
    DescribeUserScramCredentialsRequest,
    DescribeUserScramCredentialsResponse,
    DescribeUserScramCredentialsResult,
    ScramCredentialDeletion,
    ScramCredentialUpsertion,
    UserName,
)

# ---- ACLs


def create_acls_request(acls: Sequence[AclBinding]) -> CreateAclsRequest:
    """One request for all bindings; the answer has no names, its results are in this order."""
    return CreateAclsRequest(
        [
            AclCreation(
                acl.restype.value,
                acl.name or "",
                acl.resource_pattern_type.value,
                acl.principal or "",
                acl.host or "",
                acl.operation.value,
                acl.permission_type.value,
            )
            for acl in acls
        ]
    )


def created_acls(acls: Sequence[AclBinding], response: CreateAclsResponse) -> dict[AclBinding, Outcome[None]]:
    """The outcome for each binding.

    Results have no names: where their number is wrong, nobody knows which is whose, and all are left out.
    """
    if len(response.results) != len(acls):
        return {}
    return {
        acl: Outcome.of(item.error_code, item.error_message) for acl, item in zip(acls, response.results, strict=True)
    }


def describe_acls_request(acl: AclBindingFilter) -> DescribeAclsRequest:
    """The bindings that one filter stands for."""
    return DescribeAclsRequest(*_filter(acl))


def described_acls(response: DescribeAclsResponse) -> list[AclBinding]:
    """The bindings found.

    Raises:
        BrokerError: the request was refused.
    """
    if response.error_code:
        raise BrokerError(response.error_code, response.error_message or None)
    return [
        AclBinding.from_wire(resource.resource_type, resource.resource_name, resource.pattern_type, acl)
        for resource in response.resources
        for acl in resource.acls
    ]


def delete_acls_request(filters: Sequence[AclBindingFilter]) -> DeleteAclsRequest:
    """One request for all filters; the answer's results are in this order."""
    return DeleteAclsRequest([DeleteAclsFilter(*_filter(acl)) for acl in filters])


def deleted_acls(
    filters: Sequence[AclBindingFilter], response: DeleteAclsResponse
) -> dict[AclBindingFilter, Outcome[list[AclBinding]]]:
    """The bindings that each filter removed. One that could not be removed fails its filter.

    Where the number of results is wrong, all are left out, as with `created_acls`.
    """
    found: dict[AclBindingFilter, Outcome[list[AclBinding]]] = {}
    if len(response.filter_results) != len(filters):
        return found
    for acl, item in zip(filters, response.filter_results, strict=True):
        problem = next((match for match in item.matching_acls if match.error_code), item)
        gone = [
            AclBinding.from_wire(match.resource_type, match.resource_name, match.pattern_type, match)
            for match in item.matching_acls
        ]
        found[acl] = Outcome.of(problem.error_code, problem.error_message, gone)
    return found


def _filter(acl: AclBindingFilter) -> tuple[Any, ...]:
    return (
        acl.restype.value,
        acl.name,
        acl.resource_pattern_type.value,
        acl.principal,
        acl.host,
        acl.operation.value,
        acl.permission_type.value,
    )


# ---- SCRAM users


def describe_users_request(users: Sequence[str] | None) -> DescribeUserScramCredentialsRequest:
    """The users named; None for all."""
    return DescribeUserScramCredentialsRequest(None if users is None else [UserName(user) for user in users])


def described_users(
    response: DescribeUserScramCredentialsResponse,
) -> dict[str, Outcome[UserScramCredentialsDescription]]:
    """The credentials of each user.

    Raises:
        BrokerError: the request as a whole was refused.
    """
    if response.error_code:
        raise BrokerError(response.error_code, response.error_message or None)
    return {item.user: Outcome.of(item.error_code, item.error_message, _description(item)) for item in response.results}


def _description(item: DescribeUserScramCredentialsResult) -> UserScramCredentialsDescription:
    infos = [
        ScramCredentialInfo(ScramMechanism.from_wire(info.mechanism), info.iterations) for info in item.credential_infos
    ]
    return UserScramCredentialsDescription(item.user, infos)


def alter_users_request(
    alterations: Sequence[UserScramCredentialAlteration], new_salt: Callable[[], bytes]
) -> AlterUserScramCredentialsRequest:
    """One request for all alterations. Hashes the passwords, which takes time: about 1 ms for 4096 iterations.

    Args:
        alterations: what to set and to remove.
        new_salt: gives a random salt for an upsertion that has none.
    """
    deletions, upsertions = [], []
    for item in alterations:
        if isinstance(item, UserScramCredentialUpsertion):
            upsertions.append(_upsertion(item, item.salt or new_salt()))
        elif isinstance(item, UserScramCredentialDeletion):
            deletions.append(ScramCredentialDeletion(item.user, item.mechanism.value))
    return AlterUserScramCredentialsRequest(deletions, upsertions)


def _upsertion(item: UserScramCredentialUpsertion, salt: bytes) -> ScramCredentialUpsertion:
    info = item.scram_credential_info
    # A mechanism without a hash (UNKNOWN) is the broker's to refuse, as in librdkafka.
    digest = DIGESTS.get(info.mechanism)
    salted = b"" if digest is None else hashlib.pbkdf2_hmac(digest, item.password, salt, info.iterations)
    return ScramCredentialUpsertion(item.user, info.mechanism.value, info.iterations, salt, salted)


def altered_users(response: AlterUserScramCredentialsResponse) -> dict[str, Outcome[None]]:
    """The outcome for each user."""
    return {item.user: Outcome.of(item.error_code, item.error_message) for item in response.results}
