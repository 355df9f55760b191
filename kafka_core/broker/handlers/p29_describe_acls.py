"""DescribeAcls v1-3: the ACLs that a filter stands for.

Must not know: how ACLs decide. Versions: v1 prefixed patterns (KIP-290), v2 flexible, v3 user resources (none here).
Spec: KIP-140.
"""

from __future__ import annotations

from kafka_core.broker.cluster import ClusterState
from kafka_core.broker.codes import Code
from kafka_core.broker.context import Context
from kafka_core.broker.handlers.api import Api
from kafka_core.broker.security.acls import AclFilter
from kafka_core.protocol.messages.acls import (
    AclDescription,
    DescribeAclsRequest,
    DescribeAclsResource,
    DescribeAclsResponse,
)

NO_AUTHORIZER = "No Authorizer is configured."


def handle(cluster: ClusterState, context: Context, request: DescribeAclsRequest) -> DescribeAclsResponse:
    """The ACLs found, by resource."""
    del context
    if not cluster.authorizer.enabled:
        return DescribeAclsResponse(error_code=Code.SECURITY_DISABLED, error_message=NO_AUTHORIZER)
    wanted = AclFilter(
        request.resource_type_filter,
        request.resource_name_filter,
        request.pattern_type_filter,
        request.principal_filter,
        request.host_filter,
        request.operation,
        request.permission_type,
    )
    resources: dict[tuple[int, str, int], DescribeAclsResource] = {}
    for acl in cluster.authorizer.find(wanted):
        key = (acl.resource, acl.name, acl.pattern)
        resource = resources.setdefault(key, DescribeAclsResource(*key))
        resource.acls.append(AclDescription(acl.principal, acl.host, acl.operation, acl.permission))
    return DescribeAclsResponse(error_message=None, resources=list(resources.values()))


def fail(request: DescribeAclsRequest, code: int) -> DescribeAclsResponse:
    """An answer that is the error."""
    del request
    return DescribeAclsResponse(error_code=code, error_message=None)


API = Api(DescribeAclsRequest, handle, fail)
