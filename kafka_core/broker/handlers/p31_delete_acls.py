"""DeleteAcls v1-3: remove the ACLs that filters stand for, and tell them.

Must not know: how ACLs decide. Versions: v1 prefixed patterns (KIP-290), v2 flexible, v3 user resources (none here).
Spec: KIP-140.
"""

from __future__ import annotations

from kafka_core.broker.cluster import ClusterState
from kafka_core.broker.codes import Code
from kafka_core.broker.context import Context
from kafka_core.broker.handlers.api import Api
from kafka_core.broker.handlers.p29_describe_acls import NO_AUTHORIZER
from kafka_core.broker.security.acls import AclFilter
from kafka_core.protocol.messages.acls import (
    DeleteAclsFilter,
    DeleteAclsFilterResult,
    DeleteAclsMatchingAcl,
    DeleteAclsRequest,
    DeleteAclsResponse,
)


def handle(cluster: ClusterState, context: Context, request: DeleteAclsRequest) -> DeleteAclsResponse:
    """Removes the ACLs that the filters match; one that two filters match is in the answers of both."""
    del context
    if not cluster.authorizer.enabled:
        results = [DeleteAclsFilterResult(Code.SECURITY_DISABLED, NO_AUTHORIZER) for _ in request.filters]
        return DeleteAclsResponse(filter_results=results)
    found = [cluster.authorizer.find(_wanted(item)) for item in request.filters]
    for acl in {acl for acls in found for acl in acls}:
        cluster.authorizer.remove(acl)
    return DeleteAclsResponse(
        filter_results=[
            DeleteAclsFilterResult(
                error_message=None,
                matching_acls=[
                    DeleteAclsMatchingAcl(
                        Code.NONE,
                        None,
                        acl.resource,
                        acl.name,
                        acl.pattern,
                        acl.principal,
                        acl.host,
                        acl.operation,
                        acl.permission,
                    )
                    for acl in acls
                ],
            )
            for acls in found
        ]
    )


def _wanted(item: DeleteAclsFilter) -> AclFilter:
    return AclFilter(
        item.resource_type_filter,
        item.resource_name_filter,
        item.pattern_type_filter,
        item.principal_filter,
        item.host_filter,
        item.operation,
        item.permission_type,
    )


def fail(request: DeleteAclsRequest, code: int) -> DeleteAclsResponse:
    """The error for every filter of the request."""
    return DeleteAclsResponse(filter_results=[DeleteAclsFilterResult(code, None) for _ in request.filters])


API = Api(DeleteAclsRequest, handle, fail)
