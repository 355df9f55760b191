"""DescribeUserScramCredentials v0: mechanisms and iterations of SCRAM users.

Must not know: passwords. Spec: KIP-554.
"""

from __future__ import annotations

from collections import Counter

from kafka_core.broker.cluster import ClusterState
from kafka_core.broker.codes import Code
from kafka_core.broker.context import Context
from kafka_core.broker.handlers.api import Api
from kafka_core.broker.security.scram import NUMBERS
from kafka_core.protocol.messages.user_scram_credentials import (
    CredentialInfo,
    DescribeUserScramCredentialsRequest,
    DescribeUserScramCredentialsResponse,
    DescribeUserScramCredentialsResult,
)


def handle(
    cluster: ClusterState, context: Context, request: DescribeUserScramCredentialsRequest
) -> DescribeUserScramCredentialsResponse:
    """The users named, or all."""
    del context
    names = [item.name for item in request.users or []] or list(cluster.scram)
    times = Counter(names)
    return DescribeUserScramCredentialsResponse(
        error_message=None, results=[_described(cluster, name, times[name]) for name in times]
    )


def _described(cluster: ClusterState, user: str, times: int) -> DescribeUserScramCredentialsResult:
    if times > 1:
        text = f"Cannot describe SCRAM credentials for the same user twice in a single request: {user}"
        return DescribeUserScramCredentialsResult(user, Code.DUPLICATE_RESOURCE, text)
    found = cluster.scram.iterations(user)
    if not found:
        text = f"Attempt to describe a user credential that does not exist: {user}"
        return DescribeUserScramCredentialsResult(user, Code.RESOURCE_NOT_FOUND, text)
    infos = [CredentialInfo(NUMBERS[mechanism], iterations) for mechanism, iterations in sorted(found.items())]
    return DescribeUserScramCredentialsResult(user, Code.NONE, None, infos)


def fail(request: DescribeUserScramCredentialsRequest, code: int) -> DescribeUserScramCredentialsResponse:
    """An answer that is the error."""
    del request
    return DescribeUserScramCredentialsResponse(error_code=code, error_message=None)


API = Api(DescribeUserScramCredentialsRequest, handle, fail)
