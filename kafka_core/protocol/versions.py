"""The choice of each API's version for a broker.

Knows version ranges only; the ApiVersions exchange itself is in wire/handshake.py.
Spec: KIP-35 (ApiVersions), KIP-511.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, TypeVar

from kafka_core.errors import UnsupportedVersionError
from kafka_core.protocol.api import api_name
from kafka_core.protocol.schema import ApiMessage, Versions

if TYPE_CHECKING:
    from kafka_core.protocol.messages.api_versions import ApiVersionsResponse

KeyT = TypeVar("KeyT")


@dataclass(frozen=True, slots=True)
class BrokerVersions:
    """One broker's version ranges by API key, and its features by name."""

    ranges: Mapping[int, Versions]
    supported_features: Mapping[str, Versions] = field(default_factory=dict)
    finalized_features: Mapping[str, Versions] = field(default_factory=dict)

    @classmethod
    def from_response(cls, response: ApiVersionsResponse) -> BrokerVersions:
        """Takes the ranges out of an ApiVersions response (the caller has looked at its error code)."""
        return cls(
            _ranges((item.api_key, item.min_version, item.max_version) for item in response.api_keys),
            _ranges((item.name, item.min_version, item.max_version) for item in response.supported_features),
            _ranges(
                (item.name, item.min_version_level, item.max_version_level) for item in response.finalized_features
            ),
        )

    def supports(self, request: type[ApiMessage], version: int | None = None) -> bool:
        """Whether the broker knows the API (in that version, or in any that we know)."""
        try:
            chosen = negotiate(request, self, max_version=version)
        except UnsupportedVersionError:
            return False
        return version is None or chosen == version


def _ranges(items: Iterable[tuple[KeyT, int, int]]) -> Mapping[KeyT, Versions]:
    return MappingProxyType({key: (first, last) for key, first, last in items})


def negotiate(request: type[ApiMessage], broker: BrokerVersions, *, max_version: int | None = None) -> int:
    """The newest version that both sides know.

    Args:
        request: class of the request.
        broker: its ranges.
        max_version: an upper bound of the caller's; also the only way to get an unstable newest version.

    Raises:
        UnsupportedVersionError: no common version; names the API and both ranges.
    """
    first, last = request.VALID_VERSIONS
    if max_version is not None:
        last = min(last, max_version)
    elif request.LATEST_VERSION_UNSTABLE:
        last -= 1
    name = f"{api_name(request.API_KEY)}"
    theirs = broker.ranges.get(request.API_KEY)
    if theirs is None:
        raise UnsupportedVersionError(f"the broker does not support {name}; this client has versions {first} to {last}")
    version = min(last, theirs[1])
    if version < max(first, theirs[0]):
        text = f"no common version of {name}: this client has {first} to {last}, the broker {theirs[0]} to {theirs[1]}"
        raise UnsupportedVersionError(text)
    return version
