"""CreateAcls v1-3: add ACLs.

Must not know: how ACLs decide. Versions: v1 prefixed patterns (KIP-290), v2 flexible, v3 user resources (none here).
Spec: KIP-140.
"""

from __future__ import annotations

from kafka_core.broker.cluster import ClusterState
from kafka_core.broker.codes import Code
from kafka_core.broker.context import Context
from kafka_core.broker.handlers.api import Api
from kafka_core.broker.handlers.p29_describe_acls import NO_AUTHORIZER
from kafka_core.broker.security.acls import CLUSTER_NAME, Acl, Operation, Pattern, Permission, Resource
from kafka_core.protocol.messages.acls import (
    AclCreation,
    AclCreationResult,
    CreateAclsRequest,
    CreateAclsResponse,
)


def handle(cluster: ClusterState, context: Context, request: CreateAclsRequest) -> CreateAclsResponse:
    """Add each ACL on its own; one that is there is no error."""
    del context
    return CreateAclsResponse(results=[_create(cluster, item) for item in request.creations])


def _create(cluster: ClusterState, item: AclCreation) -> AclCreationResult:
    if not cluster.authorizer.enabled:
        return AclCreationResult(Code.SECURITY_DISABLED, NO_AUTHORIZER)
    problem = _problem(item)
    if problem is not None:
        return AclCreationResult(Code.INVALID_REQUEST, problem)
    cluster.authorizer.add(
        Acl(
            item.resource_type,
            item.resource_name,
            item.resource_pattern_type,
            item.principal,
            item.host,
            item.operation,
            item.permission_type,
        )
    )
    return AclCreationResult(error_message=None)


def _problem(item: AclCreation) -> str | None:
    """Why it can't be an ACL, None if it can. The sentences are those of the real broker."""
    if item.resource_type not in set(Resource) - {Resource.ANY}:
        return f"Invalid resourceType {item.resource_type}"
    if item.resource_pattern_type not in (Pattern.LITERAL, Pattern.PREFIXED):
        return f"Invalid patternType {item.resource_pattern_type}"
    if item.operation not in set(Operation) - {Operation.ANY}:
        return f"Invalid operation {item.operation}"
    if item.permission_type not in (Permission.ALLOW, Permission.DENY):
        return f"Invalid permissionType {item.permission_type}"
    if not item.resource_name:
        return "Resource name should not be empty"
    if item.resource_type == Resource.CLUSTER and item.resource_name != CLUSTER_NAME:
        return f"The only valid name for the CLUSTER resource is {CLUSTER_NAME}."
    if not item.principal.partition(":")[1] or not item.principal.partition(":")[0]:
        return f"Could not parse principal from `{item.principal}` (no colon is present separating the principal type"
    return None


def fail(request: CreateAclsRequest, code: int) -> CreateAclsResponse:
    """The error for every ACL of the request."""
    return CreateAclsResponse(results=[AclCreationResult(code, None) for _ in request.creations])


API = Api(CreateAclsRequest, handle, fail)
