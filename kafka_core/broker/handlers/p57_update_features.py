"""UpdateFeatures v0-2: move features of the cluster to other levels; all that are named, or none.

Must not know: what a feature does. Versions: v1 type of the change and validation only (KIP-778), v2 one answer for
all (KIP-1022). Spec: KIP-584. The sentences are those of the real broker.
"""

from __future__ import annotations

from dataclasses import replace

from kafka_core.broker.cluster import ClusterState
from kafka_core.broker.codes import Code
from kafka_core.broker.context import Context
from kafka_core.broker.handlers.api import Api
from kafka_core.protocol.messages.update_features import (
    FeatureUpdateKey,
    UpdatableFeatureResult,
    UpdateFeaturesRequest,
    UpdateFeaturesResponse,
)

_UPGRADE, _SAFE, _UNSAFE = 1, 2, 3
_FIRST_VERSION_WITH_TYPE = 1
_FIRST_VERSION_WITH_ONE_ANSWER = 2


def handle(cluster: ClusterState, context: Context, request: UpdateFeaturesRequest) -> UpdateFeaturesResponse:
    """Check all, then change all."""
    typed = context.api_version >= _FIRST_VERSION_WITH_TYPE
    for update in request.feature_updates:
        kind = update.upgrade_type if typed else _SAFE if update.allow_downgrade else _UPGRADE
        problem = _problem(cluster, update, kind)
        if problem is not None:
            text = f"Invalid update version {update.max_version_level} for feature {update.feature}. {problem}"
            return _refused(request, context, text)
    if not request.validate_only:
        for update in request.feature_updates:
            feature = cluster.features[update.feature]
            cluster.features[update.feature] = replace(feature, level=update.max_version_level)
    if context.api_version >= _FIRST_VERSION_WITH_ONE_ANSWER:
        return UpdateFeaturesResponse(error_message=None)
    results = [UpdatableFeatureResult(item.feature, Code.NONE, None) for item in request.feature_updates]
    return UpdateFeaturesResponse(error_message=None, results=results)


def _problem(cluster: ClusterState, update: FeatureUpdateKey, kind: int) -> str | None:
    level, feature = update.max_version_level, cluster.features.get(update.feature)
    if kind not in (_UPGRADE, _SAFE, _UNSAFE):
        return "The controller does not support the given upgrade type."
    if level < 0:
        return "A feature version cannot be less than 0."
    controller = f"Local controller {cluster.controller_id}"
    if feature is None:
        return f"{controller} does not support this feature."
    if not feature.first <= level <= feature.last:
        return f"{controller} only supports versions {feature.first}-{feature.last}"
    if level < feature.level and kind == _UPGRADE:
        return (
            "Can't downgrade the version of this feature without setting the upgrade type to either safe or unsafe "
            "downgrade."
        )
    return None


def _refused(request: UpdateFeaturesRequest, context: Context, text: str) -> UpdateFeaturesResponse:
    if context.api_version >= _FIRST_VERSION_WITH_ONE_ANSWER:
        text = f"The update failed for all features since the following feature had an error: {text}"
        return UpdateFeaturesResponse(error_code=Code.INVALID_UPDATE_VERSION, error_message=text)
    results = [
        UpdatableFeatureResult(item.feature, Code.INVALID_UPDATE_VERSION, text) for item in request.feature_updates
    ]
    return UpdateFeaturesResponse(error_message=None, results=results)


def fail(request: UpdateFeaturesRequest, code: int) -> UpdateFeaturesResponse:
    """An answer that is the error."""
    del request
    return UpdateFeaturesResponse(error_code=code, error_message=None)


API = Api(UpdateFeaturesRequest, handle, fail)
