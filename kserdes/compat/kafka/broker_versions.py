"""A broker's abilities, as kafka-python's `KafkaAdminClient.get_broker_version_data` gives them, and its release.

Must not hold any protocol: it is given numbers. Spec: `kafka.protocol.broker_version_data`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

__all__ = ["BrokerVersionData", "release_of"]

FIRST: Final[tuple[tuple[tuple[int, int], tuple[int, int]], ...]] = (
    ((4, 3), (35, 5)),
    ((4, 2), (2, 11)),
    ((4, 1), (1, 18)),
    ((4, 0), (0, 12)),
    ((3, 9), (1, 17)),
    ((3, 8), (0, 11)),
    ((3, 7), (0, 10)),
    ((3, 6), (24, 4)),
    ((3, 5), (1, 15)),
    ((3, 4), (4, 7)),
    ((3, 3), (35, 4)),
    ((3, 2), (11, 9)),
    ((3, 1), (1, 13)),
    ((3, 0), (9, 8)),
    ((2, 8), (0, 9)),
    ((2, 7), (1, 12)),
    ((2, 6), (32, 3)),
    ((2, 5), (22, 3)),
    ((2, 4), (0, 8)),
    ((2, 3), (1, 11)),
    ((2, 2), (2, 5)),
    ((2, 1), (1, 10)),
)
"""Release, newest first, and a version of a request (its number, the version) that no release before it has."""
OLDER: Final = (2, 0)


def release_of(api_versions: Mapping[int, tuple[int, int]]) -> tuple[int, int]:
    """The newest release that a broker can be of, by what it answers; (2, 0) stands for that one and all before it."""
    return next((release for release, (key, last) in FIRST if api_versions.get(key, (0, -1))[1] >= last), OLDER)


class BrokerVersionData:
    """The release of a broker, and the first and last version of each request that it answers.

    Args:
        broker_version: the release; None: found out by the versions.
        api_versions: number of a request to first and last version.

    Raises:
        ValueError: neither is given.
    """

    __slots__ = ("api_versions", "broker_version")

    def __init__(
        self,
        broker_version: tuple[int, ...] | None = None,
        api_versions: Mapping[int, tuple[int, int]] | None = None,
    ) -> None:
        if broker_version is None and api_versions is None:
            raise ValueError("a broker's release, or the versions of its requests, must be given")
        self.api_versions = dict(api_versions or {})
        self.broker_version = broker_version or release_of(self.api_versions)

    @property
    def broker_version_str(self) -> str:
        """The release as text."""
        return ".".join(map(str, self.broker_version))
