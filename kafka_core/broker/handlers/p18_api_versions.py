"""ApiVersions v0-4: which requests this broker takes, and in which versions.

Must not know: other handlers' logic (only their version ranges). Versions: v1 throttle, v2 quota order, v3 flexible,
client software (KIP-511) and features (KIP-584), v4 features from version 0. Spec: KIP-35, KIP-511.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from kafka_core.broker.cluster import ClusterState
from kafka_core.broker.codes import Code
from kafka_core.broker.context import Context
from kafka_core.broker.handlers.api import Api, announced
from kafka_core.protocol.messages.api_versions import (
    ApiVersion,
    ApiVersionsRequest,
    ApiVersionsResponse,
    FinalizedFeatureKey,
    SupportedFeatureKey,
)

_FIRST_VERSION_WITH_ZERO = 4
_FEATURES_EPOCH = 1
_SOFTWARE = re.compile(r"[a-zA-Z0-9](?:[a-zA-Z0-9\-.]*[a-zA-Z0-9])?")


def api_ranges(cluster: ClusterState) -> Iterator[ApiVersion]:
    """One entry per API that this cluster announces."""
    from kafka_core.broker.handlers import APIS  # the table holds this module

    for api_key, api in sorted(APIS.items()):
        versions = announced(cluster, api)
        if versions is not None:
            yield ApiVersion(api_key, versions[0], versions[1])


def handle(cluster: ClusterState, context: Context, request: ApiVersionsRequest) -> ApiVersionsResponse:
    """Answer with the table; remember the client's software."""
    if context.api_version >= 3:
        if not _SOFTWARE.fullmatch(request.client_software_name) or not _SOFTWARE.fullmatch(
            request.client_software_version
        ):
            return fail(request, Code.INVALID_REQUEST)
        context.connection.software_name = request.client_software_name
        context.connection.software_version = request.client_software_version
    return ApiVersionsResponse(
        api_keys=list(api_ranges(cluster)),
        supported_features=[
            SupportedFeatureKey(name, feature.first, feature.last)
            for name, feature in cluster.features.items()
            if feature.first > 0 or context.api_version >= _FIRST_VERSION_WITH_ZERO
        ],
        finalized_features_epoch=_FEATURES_EPOCH,
        finalized_features=[
            FinalizedFeatureKey(name, feature.level, feature.level)
            for name, feature in cluster.features.items()
            if feature.level > 0
        ],
    )


def unsupported(cluster: ClusterState) -> ApiVersionsResponse:
    """The answer (always in v0) to a version of ApiVersions this broker does not know (KIP-511)."""
    return ApiVersionsResponse(error_code=Code.UNSUPPORTED_VERSION, api_keys=list(api_ranges(cluster)))


def fail(request: ApiVersionsRequest, code: int) -> ApiVersionsResponse:
    """An answer that is the error."""
    del request
    return ApiVersionsResponse(error_code=code)


API = Api(ApiVersionsRequest, handle, fail, needs_login=False)
