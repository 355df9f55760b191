"""AlterUserScramCredentials v0: set and remove credentials of SCRAM users.

Must not know: passwords; they are hashed by the client. Spec: KIP-554.
"""

from __future__ import annotations

from collections.abc import Sequence

from kafka_core.broker.cluster import ClusterState, Refused
from kafka_core.broker.codes import Code
from kafka_core.broker.context import Context
from kafka_core.broker.handlers.api import Api
from kafka_core.broker.security.scram import MECHANISMS, Credential
from kafka_core.protocol.messages.user_scram_credentials import (
    AlterUserScramCredentialsRequest,
    AlterUserScramCredentialsResponse,
    AlterUserScramCredentialsResult,
    ScramCredentialDeletion,
    ScramCredentialUpsertion,
)

_MIN_ITERATIONS = 4096
_MAX_ITERATIONS = 16384

Alteration = ScramCredentialDeletion | ScramCredentialUpsertion


def handle(
    cluster: ClusterState, context: Context, request: AlterUserScramCredentialsRequest
) -> AlterUserScramCredentialsResponse:
    """Change each user once; who is named twice is not changed."""
    del context
    users: dict[str, list[Alteration]] = {}
    for item in _alterations(request):
        users.setdefault(item.name, []).append(item)
    return AlterUserScramCredentialsResponse(results=[_alter(cluster, name, items) for name, items in users.items()])


def _alterations(request: AlterUserScramCredentialsRequest) -> list[Alteration]:
    return [*request.deletions, *request.upsertions]


def _alter(cluster: ClusterState, user: str, items: Sequence[Alteration]) -> AlterUserScramCredentialsResult:
    try:
        _check(cluster, user, items)
    except Refused as refusal:
        return AlterUserScramCredentialsResult(user, refusal.code, str(refusal))
    (item,) = items
    mechanism = MECHANISMS[item.mechanism]
    if isinstance(item, ScramCredentialDeletion):
        cluster.scram.remove(user, mechanism)
    else:
        credential = Credential(bytes(item.salt), item.iterations, bytes(item.salted_password))
        cluster.scram.put(user, mechanism, credential)
    return AlterUserScramCredentialsResult(user, error_message=None)


def _check(cluster: ClusterState, user: str, items: Sequence[Alteration]) -> None:
    """Refused, with the code of the real broker: the first item's own fault comes before that there is a second."""
    if not user:
        raise Refused(Code.UNACCEPTABLE_CREDENTIAL, "Username must not be empty")
    first = items[0]
    mechanism = MECHANISMS.get(first.mechanism)
    if mechanism is None:
        raise Refused(Code.UNSUPPORTED_SASL_MECHANISM, "Unknown SCRAM mechanism")
    if isinstance(first, ScramCredentialUpsertion):
        _check_iterations(first.iterations)
    elif cluster.scram.get(user, mechanism) is None:
        raise Refused(Code.RESOURCE_NOT_FOUND, "Attempt to delete a user credential that does not exist")
    if len(items) > 1:
        raise Refused(Code.DUPLICATE_RESOURCE, "A user credential cannot be altered twice in the same request")


def _check_iterations(iterations: int) -> None:
    if iterations < _MIN_ITERATIONS:
        raise Refused(Code.UNACCEPTABLE_CREDENTIAL, "Too few iterations")
    if iterations > _MAX_ITERATIONS:
        raise Refused(Code.UNACCEPTABLE_CREDENTIAL, "Too many iterations")


def fail(request: AlterUserScramCredentialsRequest, code: int) -> AlterUserScramCredentialsResponse:
    """The error for every user of the request."""
    names = dict.fromkeys(item.name for item in _alterations(request))
    return AlterUserScramCredentialsResponse(
        results=[AlterUserScramCredentialsResult(name, code, None) for name in names]
    )


API = Api(AlterUserScramCredentialsRequest, handle, fail)
