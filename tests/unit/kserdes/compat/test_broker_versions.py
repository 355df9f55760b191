"""Releases of brokers by what they answer, for kafka-python's dialect."""

from __future__ import annotations

import pytest

from kserdes.compat.kafka.broker_versions import FIRST, OLDER, BrokerVersionData, release_of


def test_the_newest_release_whose_version_is_there() -> None:
    assert release_of({0: (0, 11), 1: (0, 16)}) == (3, 8)
    assert release_of({1: (4, 18), 35: (1, 5)}) == (4, 3)
    assert release_of({}) == release_of({0: (0, 3)}) == OLDER
    assert [release for release, _ in FIRST] == sorted((release for release, _ in FIRST), reverse=True)


def test_a_release_may_be_given() -> None:
    data = BrokerVersionData((2, 8), {3: (0, 11)})
    assert (data.broker_version, data.broker_version_str, data.api_versions) == ((2, 8), "2.8", {3: (0, 11)})
    with pytest.raises(ValueError, match="must be given"):
        BrokerVersionData()
