"""The interface of an API's handler, and the kinds of answers it may give.

Must not know: any single API, sockets. Each `pNN_name.py` beside this file holds one `API = Api(...)`.
Spec: https://kafka.apache.org/protocol#protocol_api_keys.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import Any, Generic, TypeAlias, TypeVar

from kafka_core.broker.cluster import ClusterState
from kafka_core.broker.context import Context
from kafka_core.broker.parking import Pending
from kafka_core.protocol import ApiMessage, ApiRequest

RequestT = TypeVar("RequestT", bound=ApiRequest[Any])


class Special(Enum):
    """Answers that are no message."""

    NO_ANSWER = "no answer"
    HANG_UP = "hang up"


Outcome: TypeAlias = ApiMessage | Special
Handler: TypeAlias = Callable[[ClusterState, Context, RequestT], Outcome | Pending[Outcome]]


@dataclass(frozen=True, slots=True)
class Api(Generic[RequestT]):
    """One API the broker serves.

    Attributes:
        request: class of the request; its valid versions are announced, without an unstable newest one.
        handle: the logic.
        fail: an answer in which every part carries the given error code (what `getErrorResponse` is in Java).
        max_version: a bound below the newest version of the message definitions.
        needs_login: False for the few APIs a client may call before it has authenticated.
        offered: whether a cluster has the API at all; None: every one has.
        announced_from: first version announced, where that is lower than the first one served.
    """

    request: type[RequestT]
    handle: Handler[RequestT]
    fail: Callable[[RequestT, int], ApiMessage]
    max_version: int | None = None
    needs_login: bool = True
    announced_from: int | None = None
    offered: Callable[[ClusterState], bool] | None = None

    @property
    def versions(self) -> tuple[int, int]:
        """First and last version this broker knows, before any cap of the cluster."""
        first, last = self.request.VALID_VERSIONS
        if self.request.LATEST_VERSION_UNSTABLE:
            last -= 1
        return first, last if self.max_version is None else min(last, self.max_version)


def announced(cluster: ClusterState, api: Api[Any]) -> tuple[int, int] | None:
    """Version range this cluster announces for an API, None if it hides it."""
    first, last = served(cluster, api) or (0, -1)
    if last < first:
        return None
    return first if api.announced_from is None else api.announced_from, last


def served(cluster: ClusterState, api: Api[Any]) -> tuple[int, int] | None:
    """Version range this cluster answers, None if it hides the API."""
    first, last = api.versions
    cap = cluster.max_versions.get(api.request.API_KEY, last)
    if cap is None or cap < first or not (api.offered is None or api.offered(cluster)):
        return None
    return first, min(last, cap)
